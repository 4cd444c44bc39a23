"""The benchmark: this package and its peers side by side, on the same data, in one process on one thread."""
