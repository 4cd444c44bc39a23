"""Whole periods that differ by a few shapes, whose weights move from period to period: shared states of long rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...linalg import Array
from ...telling import Tell, silent
from ..filter import entry, forecast, initial, predict, update
from ..fit import STATES, fit, smoothed
from ..model import Belief, SequenceModel
from ..noise import NoiseSpec
from ..scale import standards
from .folding import fold, unfold
from .season import Season


class ShapeLayer(NamedTuple):
    """The model of k features folded to P k, and where it stands after the last row."""

    period: int
    columns: Array  # (k,) numbers of the features among all
    shift: Array  # (P k,) raw = shift + scale · standardised
    scale: Array  # (P k,)
    model: SequenceModel  # of the standardised long rows
    belief: Belief  # about the long row under way, given all rows so far
    place: int  # rows of it that have come

    def smoothed(self, Y: Array, place: int) -> Season:
        """What all of Y (T, k) says of its season, the first row at this place of the period."""
        answer = smoothed(self.model, (fold(Y, self.period, place) - self.shift) / self.scale)
        return self._season(answer.signal, answer.var, place, len(Y))

    def restarted(self, place: int) -> ShapeLayer:
        """The layer before the first row of another sequence, which begins at this place."""
        return self._replace(belief=initial(self.model), place=place)

    def now(self) -> tuple[Array, Array]:
        """Mean and variance (k,) of the next row's season, before it is seen."""
        signal, var = entry(self.model, self.belief)
        part = self._part
        return self.shift[part] + self.scale[part] * signal[part], self.scale[part] ** 2 * var[part]

    def taken(self, y: Array) -> ShapeLayer:
        """The layer after the next row y (k,)."""
        z = np.full(len(self.shift), np.nan)
        z[self._part] = (y - self.shift[self._part]) / self.scale[self._part]
        belief = update(self.model, self.belief, z)[0] if np.isfinite(y).any() else self.belief
        if self.place + 1 < self.period:
            return self._replace(belief=belief, place=self.place + 1)
        return self._replace(belief=predict(self.model, belief), place=0)

    def ahead(self, steps: int) -> Season:
        """Mean and variance (steps, k) of the season of the rows to come."""
        signal, var = entry(self.model, self.belief)
        mean, more = forecast(self.model, self.belief, -(-steps // self.period))
        signal, var = np.vstack([signal[None], mean]), np.vstack([var[None], more - self.model.noise.variance])
        return self._season(signal, var, self.place, steps)

    @property
    def _part(self) -> slice:
        """Where the next row stands in its long row."""
        k = len(self.columns)
        return slice(self.place * k, (self.place + 1) * k)

    def _season(self, signal: Array, var: Array, place: int, T: int) -> Season:
        """T rows of long rows of standardised means and variances, in the units of the data."""
        var = self.scale**2 * np.maximum(var, 0.0)  # rounding
        return Season(
            unfold(self.shift + self.scale * signal, self.period, T, place), unfold(var, self.period, T, place)
        )


def learn_shapes(
    Y: Array, period: int, columns: Array, r: int, noise: NoiseSpec, sweeps: int, tol: float, tell: Tell = silent
) -> tuple[ShapeLayer, Season]:
    """At most r shapes of raw rows Y (T, k), which begin at place 0, and what they say of these rows."""
    F = fold(Y, period)
    shift, scale = standards(F, noise)
    Z = (F - shift) / scale
    found = fit(Z, min(r, max(len(F) // 2, 1), F.shape[1]), STATES, noise=noise, sweeps=sweeps, tol=tol, tell=tell)
    place, end = len(Y) % period, found.smoothed.end
    belief = end if place else predict(found.model, end)
    layer = ShapeLayer(period, columns, shift, scale, found.model, belief, place)
    return layer, layer._season(found.smoothed.signal, found.smoothed.var, 0, len(Y))
