"""Sequences: coefficients that move by x_t = A x_{t-1} + q_t, and what changes slowly besides them.

Read in this order: ``model`` (the model and the beliefs about it) and ``noise`` (Gaussian or Student-t: a new noise is
one class there); ``filter``, ``smoother`` and ``levels`` (the smoother with levels); ``drift`` (a dictionary that
drifts); ``moments`` and ``em`` (additive sums and their maximiser); ``outliers`` (weights of entries); ``start``,
``cycles`` and ``fit`` (first values, also of what turns for ever, EM until the bound settles, and what a model says
about a sequence); ``choose`` (kinds of models compared on hidden entries), ``cycles_ahead`` (cycles, on forecasts) and
``few`` (intervals where there are few rows); ``scale``, ``stream``, ``bank``,
``widths``, ``learning``, ``late``, ``spread`` and ``pieces`` (one row after another: what is carried, which candidate
answers and how wide, when something is learned, features that start late, and how learning is divided among rows);
``alarm``, ``shifts``, ``suspects``, ``rare`` and ``lookout`` (change points: of the size of rows, of single features,
outliers told from shifts, how rare they are, and all together); ``tails`` and ``heavier`` (whether the noise has heavy
tails, and a stream that goes on with them); ``seasons`` (rows folded to a period).
Data are standardised per feature, except in ``stream`` and ``learning``, which have no scale before they have rows.
"""
