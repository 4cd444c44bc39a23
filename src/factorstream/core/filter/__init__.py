"""Algorithm 1 and its relatives: the state of the filter, its recursion, coefficient steps, covariances and gains."""
