"""Noise of the variational fit: its law (``gaussian``, ``student``) and how its variance is found (``variance``).

A new law is a file with a NamedTuple that has the methods of :class:`~.law.NoiseLaw`.
"""
