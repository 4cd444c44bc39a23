"""What a fitted sequence model tells about itself: words and the data's units for what ``state_`` holds."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from ..core.dynamics.model import mean_state_covariance
from ..core.dynamics.seasons.phases import PhaseLayer
from ..core.linalg import Array
from ._html import STANDARDISED, STREAMED, Facts, noise_words, observed_words
from ._sequence_events import Event, named, restored
from ._sequence_state import STATE_TYPES, SequenceState
from ._stateful import Stateful


class SequenceAttributes(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Stateful):
    """The fitted attributes of a :class:`SequenceFilter`, all of them views of ``state_``."""

    _state_types: ClassVar[tuple[type, ...]] = STATE_TYPES
    _state_dropped: ClassVar[frozenset[str]] = frozenset({"SequenceState.threshold"})
    state_: SequenceState

    @property
    def n_samples_seen_(self) -> int:
        """Rows taken in, those without data included."""
        return self._fitted().n_rows

    @property
    def alarms_(self) -> list[int]:
        """Rows of the stream at which alarms were raised."""
        return list(self._fitted().alarms)

    @property
    def events_(self) -> list[Event]:
        """What happened in the stream."""
        names = getattr(self, "feature_names_in_", None)
        return [named(restored(event), names) for event in self._fitted().events]

    @property
    def history_(self) -> list[dict[str, float]]:
        """The bound at every sweep of ``fit``."""
        return [{"bound": bound} for bound in self._fitted().history]

    @property
    def n_iter_(self) -> int:
        """Sweeps of ``fit``; 1 in a stream."""
        return self._fitted().n_iter

    @property
    def interval_scale_(self) -> float:
        """Factor on the predictive standard deviations of gaps; in a stream the mean over features."""
        state = self._fitted()
        return float(state.gap_scales.mean()) if state.blend is None else state.blend.spread

    @property
    def forecast_scale_(self) -> float:
        """Factor on the predictive standard deviations of forecasts: the mean over features, with seasons steps too."""
        state = self._fitted()
        return float(state.forecast_scales.mean()) if state.ahead_scale is None else float(state.ahead_scales.mean())

    @property
    def seasons_(self) -> dict[int, Array]:
        """For each period in use, longest first, the slow season (period, n_features) as it is after the last row."""
        phases = [layer for layer in self._fitted().layers if isinstance(layer, PhaseLayer)]
        return {layer.period: layer.mean + layer.level for layer in phases}

    @property
    def in_logarithms_(self) -> Array:
        """Which features (n_features,) are modelled in logarithms."""
        logs = self._fitted().logs
        return np.zeros(self.n_features_in_, dtype=bool) if logs is None else logs.copy()

    @property
    def n_components_(self) -> int:
        """Components in use."""
        return len(self._fitted().model.dynamics.A)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    @property
    def components_(self) -> Array:
        """The dictionary last learned (n_components_, n_features), in the data's units."""
        state = self._fitted()
        return np.asarray((state.stream.scale[:, None] * state.model.emission.C).T)

    @property
    def mean_(self) -> Array:
        """The mean of every feature."""
        state = self._fitted()
        return np.asarray(state.stream.as_learned.shift + state.stream.scale * state.model.emission.mean)

    @property
    def noise_variance_(self) -> Array:
        """The variance of every feature's noise."""
        state = self._fitted()
        return np.asarray(state.stream.scale**2 * state.model.noise.variance)

    @property
    def level_variance_(self) -> Array:
        """What every feature's own level gains per time step; zero where there are no levels."""
        state = self._fitted()
        levels, scale = state.model.levels, state.stream.scale
        return np.zeros_like(scale) if levels is None else np.asarray(scale**2 * levels.q)

    @property
    def dynamics_(self) -> Array:
        """A, by which the states move."""
        return self._fitted().model.dynamics.A.copy()

    @property
    def process_noise_(self) -> Array:
        """Q, the covariance of the states' steps."""
        return self._fitted().model.dynamics.Q.copy()

    @property
    def coefficient_covariance_(self) -> Array:
        """How the states vary: the mean over the rows so far of what the model says before any of a row is seen."""
        state = self._fitted()
        return mean_state_covariance(state.model.dynamics, state.n_rows)

    @property
    def degrees_of_freedom_(self) -> float:
        """Of the noise; infinite if Gaussian."""
        return self._fitted().model.noise.degrees_of_freedom

    def _facts(self) -> Facts:
        state = self._fitted()
        fitted = bool(state.history)
        facts = {
            "time steps": f"{state.n_rows:,}",
            "features": f"{self.n_features_in_:,}",
            "components": f"{self.n_components_}",
            "levels": "none" if state.model.levels is None else "one for each feature",
            **(
                {"in logarithms": f"{np.count_nonzero(state.logs):,} of the features"} if state.logs is not None else {}
            ),
            **({"periods": ", ".join(map(str, self.seasons_))} if state.layers else {}),
            **(
                {"gaps filled by": f"{np.count_nonzero(state.blend.weights.any(axis=0))} models"} if state.blend else {}
            ),
            "sweeps": f"{state.n_iter}" if fitted else STREAMED,
            "noise": noise_words(self.noise_variance_),
        }
        if fitted and np.isfinite(state.counts).all():  # a stream does not count its values for ever
            facts["observed"] = observed_words(state.counts / max(state.n_rows, 1))
        facts["intervals"] = "as the model says, not calibrated"
        if (scales := (self.interval_scale_, self.forecast_scale_)) != (1.0, 1.0):
            words = "calibrated: {:.3g} times as wide as the model says in gaps, {:.3g} times in forecasts"
            facts["intervals"] = words.format(*scales)
        facts["units"] = STANDARDISED
        return facts

    def _fitted(self) -> SequenceState:
        state: SequenceState = self._learned()
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
