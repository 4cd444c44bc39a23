"""The mathematics: pure functions, arrays in and arrays out, in the letters of the paper.

Start with ``README.md`` in this folder for the notation.
"""
