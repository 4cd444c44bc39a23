"""Rows that need not fit in memory: blocks of them in, filled blocks out, one file per format."""
