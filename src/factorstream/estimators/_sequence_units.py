"""Between the data's units and those of the model of a sequence, where some features are modelled in logarithms."""

from __future__ import annotations

import numpy as np

from ..core.dynamics.logarithms import not_positive
from ..core.entries import Entries, without
from ..core.linalg import Array
from ._absurd import AbsurdValueWarning
from ._validation import warn_caller


def without_unfit(Y: Array, logs: Array | None) -> Array:
    """Rows (T, m) whose values are positive where logarithms are modelled; others become missing, with a warning."""
    unfit = not_positive(Y, logs)
    warn_of_unfit(unfit, len(Y))
    return np.asarray(without(Y, unfit))


def warn_of_unfit(entries: Entries, n_rows: int) -> None:
    """Name the first of the entries, which need a logarithm and have none, in a call of ``n_rows``."""
    n = len(entries.row)
    if n:
        where = f"at row {entries.row[0]}, column" if n_rows > 1 else "in column"
        others = f", like {n - 1} more" if n > 1 else ""
        warn_caller(
            f"X has a value that is not positive {where} {entries.column[0]}, whose logarithm is modelled; it is taken "
            f"as missing{others}: {entries.value[0]:.6g}. Put NaN there, or fit with marginals='linear' if it is real.",
            AbsurdValueWarning,
        )
