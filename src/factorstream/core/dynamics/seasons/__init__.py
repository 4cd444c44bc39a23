"""Seasons: what comes back after a period of rows.

Rows are *folded* to a period P: the rows t, t + 1, ..., t + P - 1 of m features become one long row of P m features, so
that days, weeks or years follow each other as rows do elsewhere, and the models of `dynamics` hold for them. Read in
this order: ``folding`` and ``season``; ``phases`` (a slow level for every place of the period) and ``shapes`` (by which
whole periods differ); ``lines`` and ``trends`` (slopes, and what columns known in every row say); ``layers`` (all of
them, one upon the other); ``hidden``, ``damping``, ``judge`` and ``ahead`` (which features have shapes and slopes,
which model the rest needs, and how wide answers must be, by hidden runs and past forecasts); ``tracking`` (the same in
a stream); ``finding`` (periods that nobody has named).
"""
