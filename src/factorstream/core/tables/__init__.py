"""Columns with laws of their own, and what a low-rank fit leaves: scores, kernels, trees, and how they are combined."""
