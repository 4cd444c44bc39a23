"""Rows in chunks of Dask: the same algorithms on threads, processes or a cluster. Imported with the first of them."""
