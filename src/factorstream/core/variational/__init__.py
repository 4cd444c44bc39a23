"""One posterior per feature under missing data, and the variational sweeps that fit it.

Read in this order: ``packed`` (stacks of symmetric matrices), ``posterior`` (the exact posterior of C for given
coefficients, and the coefficients for a given posterior), ``sweep`` (fitting), then what surrounds it: ``start``,
``relevance``, ``robust``, ``predictive``, ``conformal``, ``auto``.
"""
