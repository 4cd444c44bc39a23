"""The experiments of the paper, each from data to report."""
