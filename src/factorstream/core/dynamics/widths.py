"""How wide the intervals of a stream must be, by what it foretold and then saw.

Whether an interval of 95% held a value moves the factor on its width: it grows if not, and shrinks a little if so, so
that in the long run the intervals hold 95% whatever the errors' law (adaptive conformal inference, Gibbs and Candès
2021, on a scale of logarithms, with steps that become smaller as in Robbins and Monro 1951).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from ..linalg import Array
from .choose import HORIZON, USUAL, WIDE
from .filter import forecast
from .model import Belief, SequenceModel
from .noise import GaussianNoise, GaussianSpec, Noise, NoiseSpec

CLAIM_ROWS = 20.0
"""Rows that the model's own width counts as when a stream begins. Not tuned: two of the hidden runs."""
MEMORY_ROWS = 500.0
"""Rows after which a factor no longer becomes more certain, so that it can follow. Not tuned: as the alarms'. Between
200 and 2000 the width of intervals moves by -1.7% to +0.8% and their coverage by at most 0.3 points
(``benchmarks/sequence_defaults.py``)."""
DRAWN = 0.02
"""How strongly the factor of one feature is drawn to that of all, per unit of their logarithms. Derived: a feature that
needs half as much more again (0.4) is then held within 1% of the probability asked for."""
FURTHEST = float(np.log(10.0))
"""Logarithm that no factor exceeds, up or down: a model further off than that is to be learned anew, not widened."""


class Width(NamedTuple):
    """Factors on the standard deviations of the features, as far as errors have shown them; logarithms."""

    common: float
    own: Array  # (m,) of each feature, beside the common one
    rows: float  # compared
    values: Array  # (m,) compared, of each feature

    @property
    def factors(self) -> Array:
        """One factor per feature (m,)."""
        return np.asarray(np.exp(np.clip(self.common + self.own, -FURTHEST, FURTHEST)))


class Foretold(NamedTuple):
    """A forecast that was made, in standardised units, and how many of its rows have come."""

    mean: Array  # (HORIZON, m)
    var: Array  # (HORIZON, m) noise included
    age: int = 0


def begin_width(m: int) -> Width:
    """The model's own width, before anything was compared."""
    return Width(0.0, np.zeros(m), 0.0, np.zeros(m))


def faded(width: Width, share: float) -> Width:
    """The factors for a model that was learned anew, of whose rows the old one knew this share.

    What errors of the old one say is so much less certain, and drawn to the new model's own width.
    """
    return Width(share * width.common, share * width.own, share * width.rows, share * width.values)


def held_by(noise: Noise | NoiseSpec) -> float:
    """The probability at which intervals are compared: under Student-t noise one that few outliers reach."""
    return WIDE if isinstance(noise, GaussianNoise | GaussianSpec) else USUAL


def compared(width: Width, size: Array, seen: Array, held: float) -> Width:
    """The factors after a row whose errors have these sizes (m,) (see `normal_size`), where something was `seen`. O(m).

    With the share p of errors outside, log w ← log w + g (p - (1 - held)) / n after n rows: g is one over the slope of
    p at a normal law, 2 z φ(z), so that with it the steps are those of Newton (the smallest variance there is).
    """
    if not seen.any():
        return width
    z = float(ndtri((1.0 + held) / 2.0))
    gain = 1.0 / (2.0 * z * float(np.exp(-0.5 * z * z)) / np.sqrt(2.0 * np.pi))
    missed = np.where(seen, size > z * width.factors, 0.0)
    share = float(missed.sum()) / int(seen.sum())
    common = width.common + gain / (min(width.rows, MEMORY_ROWS) + CLAIM_ROWS) * (share - (1.0 - held))
    # what all features have in common is for the common factor to learn
    step = gain / (np.minimum(width.values, MEMORY_ROWS) + CLAIM_ROWS) * (missed - share - DRAWN * width.own)
    own = np.where(seen, width.own + step, width.own)
    return Width(float(np.clip(common, -FURTHEST, FURTHEST)), own, width.rows + 1.0, width.values + seen)


def own_factors(size: Array, held: float) -> Array:
    """Factors (m,) of single features beside the common one, by errors of these sizes (rows, m) in turn; NaN: unknown.

    As a stream learns them (`compared`), and then drawn to 1 as if CLAIM_ROWS more rows had shown no difference: what
    one forecast says of its rows is right or wrong in all of them together. O(rows m).
    """
    width = begin_width(size.shape[1])
    for row in size:
        seen = np.isfinite(row)
        width = compared(width, np.where(seen, row, 0.0), seen, held)
    return np.asarray(np.exp(width.values / (width.values + CLAIM_ROWS) * width.own))


def foretell(model: SequenceModel, s: Belief) -> Foretold:
    """The forecast of the next HORIZON rows."""
    return Foretold(*forecast(model, s, HORIZON))
