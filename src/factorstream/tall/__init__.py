"""The products over the features, run wherever the data live, and the loop that joins them to the core."""
