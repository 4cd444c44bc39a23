"""One posterior per feature under missing data, and the variational sweeps that fit it.

Read in this order: ``packed`` (stacks of symmetric matrices), ``observed`` (rows and their weights), ``posterior`` (the
exact posterior of C for given coefficients, and the coefficients for a given posterior), ``noise`` (its law and its
variance), ``relevance`` (the learned prior and the bound), ``factors`` (what a fit finds), ``sweep`` and ``fit``, then
what surrounds them: ``start``, ``sparse_start`` and ``spectrum``, ``freedom``, ``predictive``, ``conformal``, ``auto``.
"""
