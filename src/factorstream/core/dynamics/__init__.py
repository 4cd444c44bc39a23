"""Sequences: coefficients that move by x_t = A x_{t-1} + q_t, and a slow level for every feature.

Read in this order: ``model`` (the model, filter, smoother, forecast), ``level`` (the smoother with levels), ``em``
(additive moments and their maximiser), ``start`` (first values), ``fit`` (EM until the bound settles, and what a model
says about a sequence), ``stream`` (one row after another), ``alarm`` (change points). Imports go the other way.
Data are standardised per feature, except in ``stream``, which has no scale before it has rows.
"""
