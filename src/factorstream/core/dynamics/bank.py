"""Which of its candidates a stream answers by, and how wide they say that intervals are: by what they foretold.

Every candidate filters each row twice: as it is, and without a fifth of its entries, which it has then to fill. So the
score of a candidate is about both questions that a stream is asked: what comes next, and what stands in a gap.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..linalg import Array
from .choose import HIDDEN_PERIOD, HIDDEN_RUN
from .few import FEWEST_ROWS
from .filter import entry
from .model import Innovation
from .pieces import hidden_at
from .stream import Candidate, filter_row
from .widths import compared, foretell, held_by

SCORE_MEMORY = 256.0
"""Rows that a score remembers, once there are twice as many; until then the later half of them. Not tuned: as many as
the warm-up has; errors move by at most 0.6% between 64 and 1024 (``benchmarks/sequence_defaults.py``)."""
ODDS = float(np.log(20.0))
"""By how much another candidate's score must be ahead before it answers. Derived: odds of twenty to one, so that two
that are as good as each other do not take turns."""


def passed(
    c: Candidate, z: Array, row: int, keep: int, wide: Array | None, beside: Array | float = 0.0, held: bool = False
) -> tuple[Candidate, Innovation]:
    """The candidate after the standardised row z (m,), number `row`, scored and calibrated by it. O(m r²).

    `wide`, `held`: see `advance`; `beside`: standardised variance of what was taken off the row before. The innovation
    is standardised, and about the prediction before z was seen.
    """
    hide = hidden_at(row, len(z))
    c, innovation = filter_row(c, z, hide, keep)
    model, asked = c.fitted.now, hide & np.isfinite(z)
    signal, var = entry(model, c.shadow)
    var = var + beside
    total = var + model.noise.variance
    size = model.noise.normal_size(np.where(asked, z - signal, 0.0), var, model.noise.R)
    filled = -0.5 * float((np.log(total) + size * size)[asked].sum())
    memory = min(max(0.5 * row, 1.0), SCORE_MEMORY)
    score = (1.0 - 1.0 / memory) * c.score + innovation.logp + HIDDEN_PERIOD / HIDDEN_RUN * filled
    c = c._replace(score=score, calm=c.calm if held else c.score)
    return (c if wide is None else _calibrated(c, z, size, asked, wide, beside)), innovation


def _calibrated(c: Candidate, z: Array, size: Array, asked: Array, wide: Array, beside: Array | float) -> Candidate:
    """The candidate whose widths have learned from a row; it forecasts anew when its last forecast has come."""
    model, known = c.fitted.now, np.isfinite(wide).all(0)
    held = held_by(model.noise)
    gaps = compared(c.gaps, size / wide[0], asked & known, held)
    ahead, told = c.ahead, c.foretold
    if told is not None:
        seen = np.isfinite(z) & known
        off, signal = np.where(seen, z - told.mean[told.age], 0.0), told.var[told.age] + beside - model.noise.variance
        ahead = compared(ahead, model.noise.normal_size(off, signal, model.noise.R) / wide[1], seen, held)
        told = told._replace(age=told.age + 1) if told.age + 1 < len(told.mean) else None
    if told is None:
        told = foretell(model, c.fitted.belief)
    return c._replace(gaps=gaps, ahead=ahead, foretold=told)


def best(bank: Sequence[Candidate], leader: int, rows: int) -> int:
    """The candidate that answers after so many rows: the leader, unless another one is clearly ahead of it.

    It is the first one until a score, which remembers half of the rows, remembers as many as it takes to compare kinds
    of models (FEWEST_ROWS).
    """
    if rows < 2 * FEWEST_ROWS:
        return leader
    scores = [c.score for c in bank]
    first = int(np.argmax(scores))
    return first if scores[first] > scores[leader] + ODDS else leader
