"""What fills gaps together with the model of a sequence, and what all of them say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from ..core.dynamics.blend import Reading, Told
from ..core.dynamics.model import Answer, SequenceModel, Smoothed
from ..core.dynamics.scale import student_factor
from ..core.dynamics.scores import Scores
from ..core.linalg import Array


class Blend(NamedTuple):
    """What fills gaps, where it is not the first model alone."""

    readings: tuple[Reading, ...]  # beside the first model, which is that of the state
    weights: Array  # (m, 1 + readings), the first model's in front
    width: float  # factor on bounds
    spread: float  # factor on standard deviations
    low: Array  # (m,) what the columns can be, in the data's units
    high: Array


BLEND_TYPES = (Blend, Reading, Scores)
"""Every NamedTuple of a blend, beside those of models and tables."""


Law = tuple[Scores, SequenceModel, Answer | Smoothed]
"""Scores, a model of them, and what it says of rows."""


def told(where: Array, laws: Sequence[Law], *, noise: bool = True) -> Told:
    """What models say of the entries that are marked, with their noise or without."""
    some = where.T
    z = np.array([answer.signal.T[some] for _, _, answer in laws])
    var = np.array([(answer.var + noise * model.noise.variance).T[some] for _, model, answer in laws])
    return Told(np.nonzero(some)[0], tuple(scores for scores, _, _ in laws), z, np.sqrt(np.maximum(var, 0.0)))


class BlendedLaws:
    """What a first model and a blend say together of rows, in the data's units."""

    def __init__(self, blend: Blend, laws: Sequence[Law], units: tuple[Array, Array], counts: Array) -> None:
        self._blend, self._laws, self._counts = blend, laws, counts
        self._shift, self._scale = units

    def filled(self, where: Array) -> tuple[Array, Array]:
        """Means and standard deviations of the entries that are marked (T, m); zero elsewhere."""
        law = told(where, self._laws)
        return self._placed(where, self._fills(law)), self._placed(where, self._spreads(law))

    def bounds(self, where: Array, level: float) -> tuple[Array, Array]:
        """Bounds that hold an entry with this probability, its fill within them."""
        law, blend = told(where, self._laws), self._blend
        wider = blend.width * student_factor(self._counts, level)[law.column]
        sizes = float(ndtri((1.0 + level) / 2.0)) * np.where(np.isinf(wider), 1.0, wider)
        fill, out = self._fills(law), []
        for sign, outer in ((-1.0, np.minimum), (1.0, np.maximum)):
            end = outer(self._in_units(law, law.mixed(law.at(sign * sizes), blend.weights)), fill)
            out.append(self._placed(where, np.where(np.isinf(wider), sign * np.inf, end)))
        return out[0], out[1]

    def denoised(self) -> tuple[Array, Array]:
        """What another value in the place of every entry is expected to be, and how certain that is without noise."""
        everywhere = np.ones(self._laws[0][2].signal.shape, dtype=bool)
        fill = self._fills(told(everywhere, self._laws))
        std = self._spreads(told(everywhere, self._laws, noise=False))
        return self._placed(everywhere, fill), self._placed(everywhere, std)

    def _fills(self, law: Told) -> Array:
        return self._in_units(law, law.mixed(law.means(), self._blend.weights))

    def _spreads(self, law: Told) -> Array:
        """Standard deviations of entries in the data's units."""
        wider = self._blend.spread * student_factor(self._counts)[law.column]
        known = np.isfinite(wider)
        spread = self._scale[law.column] * law.mixed(law.spreads(), self._blend.weights)
        return np.where(known, np.where(known, wider, 1.0) * spread, np.inf)

    def _in_units(self, law: Told, values: Array) -> Array:
        """Standardised values of entries in the data's units, within what their columns can be."""
        j, blend = law.column, self._blend
        within: Array = np.clip(self._shift[j] + self._scale[j] * values, blend.low[j], blend.high[j])
        return within

    def _placed(self, where: Array, values: Array) -> Array:
        """Entries at their places; zero elsewhere."""
        out = np.zeros(where.shape[::-1])
        out[where.T] = values
        return out.T
