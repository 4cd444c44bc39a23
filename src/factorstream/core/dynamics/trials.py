"""Which shifts are taken out of a stream: those of features that tend to stay where they have moved.

What looks like a shift may be an episode that ends, as of bad air, and a stream whose units have moved with it is then
wrong. So every shift that is taken out is on trial for REACH rows. Whenever one goes back within these, twice as many
of the next ones are left as they are before another is tried; whenever one stays, half as many.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..linalg import Array
from .lookout import Happening
from .shifts import REACH

BACK = 0.5
"""Part of a shift by which a feature must move the other way to have gone back."""
MOST_RETURNS = 30
"""Returns that count; keeps the number of shifts that are left bounded."""


class Trials(NamedTuple):
    """What is remembered of shifts that were taken out."""

    by: Array  # (m,) by how much features moved in one that is on trial; 0: in none
    rows: Array  # (m,) since then
    returns: int = 0  # by which shifts that went back are more than those that stayed, of late
    left: int = 0  # shifts that are left as they are before another is tried


def no_trials(m: int) -> Trials:
    """Before the first shift."""
    return Trials(np.zeros(m), np.zeros(m))


def after_row(t: Trials) -> Trials:
    """After a row: a shift that has stayed for REACH rows is no longer on trial."""
    rows = t.rows + (t.by != 0.0)
    stayed = rows > REACH
    if not stayed.any():
        return t._replace(rows=rows)
    returns = max(t.returns - 1, 0)
    return Trials(np.where(stayed, 0.0, t.by), np.where(stayed, 0.0, rows), returns, min(t.left, 2**returns - 1))


def tried(t: Trials, shift: Happening) -> tuple[Trials, Array]:
    """What is to be taken out of a shift (m,): what goes back on one that is on trial, by more than half; or else what
    of it surely stays, if it is not to be left."""
    by = np.zeros(len(t.by))
    by[shift.which] = shift.size
    back = (t.by * by < 0.0) & (np.abs(by) > BACK * np.abs(t.by))
    if back.any():
        over = np.isin(t.rows, t.rows[back])  # the others that had moved with them are no longer on trial
        returns = min(t.returns + 1, MOST_RETURNS)
        t = Trials(np.where(over, 0.0, t.by), np.where(over, 0.0, t.rows), returns, 2**returns - 1)
        return t, np.where(back, by, 0.0)
    by[shift.which[~shift.stays]] = 0.0
    if t.left and by.any():
        return t._replace(left=t.left - 1), np.zeros(len(by))
    return t._replace(by=np.where(by != 0.0, by, t.by), rows=np.where(by != 0.0, 0.0, t.rows)), by
