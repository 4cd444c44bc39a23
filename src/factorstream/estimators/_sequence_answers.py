"""What a fitted sequence model can be asked."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from ..core.dynamics.alarm import Alarm, threshold, watch
from ..core.dynamics.fit import Answer, filtered, smoothed, steps
from ..core.dynamics.level import smooth_recent
from ..core.dynamics.model import Model, StepInfo, entry, forecast, noise_variance
from ..core.dynamics.stream import Stream, raw_info
from ..core.linalg import Array
from ._gaps import warn_of_gaps
from ._sequence import Alarms, Progress
from ._times import Frame, ahead, dress, follow, stamps, tail, undress
from ._validation import check_data, refuse_one_dimension


class SequenceAnswers(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of :class:`SequenceFilter`: all that a fitted model can be asked.

    A table given to these methods is a sequence of its own, which begins at the prior and not where the fit ended.
    """

    smooth: bool
    dictionary_drift: float
    alarm_rate: float
    interval_scale_: float
    forecast_scale_: float
    _progress: Progress
    _frame: Frame
    _before_drift: Model | None

    # ---------------------------------------------------------------- what was fitted

    @property
    def state_(self) -> Stream:
        """All that is carried from one row to the next."""
        return self._fitted().stream

    @property
    def n_samples_seen_(self) -> int:
        """Rows taken in, those without data included."""
        return self._fitted().seen

    @property
    def alarms_(self) -> list[int]:
        """Rows of the stream at which alarms were raised."""
        return list(self._fitted().alarms)

    @property
    def n_components_(self) -> int:
        """Components in use."""
        self._fitted()
        return len(self._model.A)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    @property
    def components_(self) -> Array:
        """The dictionary (n_components_, n_features), in the data's units."""
        return np.asarray((self.state_.scale[:, None] * self._model.C).T)

    @property
    def mean_(self) -> Array:
        """The mean of every feature."""
        return np.asarray(self.state_.shift + self.state_.scale * self._model.mean)

    @property
    def noise_variance_(self) -> Array:
        """The variance of every feature's noise."""
        return np.asarray(self.state_.scale**2 * noise_variance(self._model))

    @property
    def level_variance_(self) -> Array:
        """What every feature's own level gains per time step; zero where there are no levels."""
        q = self._model.q if self._model.p0.any() else np.zeros_like(self._model.q)
        return np.asarray(self.state_.scale**2 * q)

    @property
    def dynamics_(self) -> Array:
        """A, by which the states move."""
        return self._model.A.copy()

    @property
    def process_noise_(self) -> Array:
        """Q, the covariance of the states' steps."""
        return self._model.Q.copy()

    @property
    def degrees_of_freedom_(self) -> float:
        """Of the noise; infinite if Gaussian."""
        return self._model.nu

    def _fitted(self) -> Progress:
        if not hasattr(self, "_progress"):
            raise AttributeError("This SequenceFilter has not been fitted yet; call fit or partial_fit.")
        return self._progress

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_progress")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # ---------------------------------------------------------------- entries

    def impute(self, X: Any, return_std: bool = False) -> Any:
        """X with its NaN filled in; observed entries are kept. A table comes back as a table, with its time stamps.

        With ``return_std`` also the predictive standard deviation of every filled entry, noise included;
        zero where X was observed.
        """
        values, frame, answer = self._ask(X)
        fill, std = self._in_units(answer)
        missing = np.isnan(values)
        filled = dress(np.where(missing, fill, values).astype(values.dtype), frame)
        if not return_std:
            return filled
        return filled, dress(np.where(missing, std, 0.0).astype(values.dtype), frame)

    def predict_interval(self, X: Any, level: float = 0.95) -> tuple[Any, Any]:
        """Bounds that hold the true value of a missing entry with probability ``level``.

        Where X is observed both are X. The interval is Gaussian with the predictive standard
        deviation, under Student-t noise too.
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must lie strictly between 0 and 1; got {level}.")
        values, frame, answer = self._ask(X)
        fill, std = self._in_units(answer)
        missing = np.isnan(values)
        width = float(ndtri((1.0 + level) / 2.0)) * std
        lower, upper = (np.where(missing, fill + sign * width, values) for sign in (-1.0, 1.0))
        return dress(lower.astype(values.dtype), frame), dress(upper.astype(values.dtype), frame)

    def denoise(self, X: Any, return_std: bool = False) -> Any:
        """The noise-free signal of every entry of X, observed or not; a table comes back as a table.

        Where X is missing this is what ``impute`` fills in. Where it is observed the model's part of the value is
        kept and its noise taken away: with ``robust`` an outlier gives way to what its neighbours say. With
        ``return_std`` also the standard deviation of the signal, without the noise.
        """
        values, frame, answer = self._ask(X)
        signal, std = (dress(part.astype(values.dtype), frame) for part in self._in_units(answer, noise=False))
        return (signal, std) if return_std else signal

    def forecast(self, steps: int, return_std: bool = False) -> Any:
        """The rows to come after the last one taken in (steps, n_features).

        With ``return_std`` also their predictive standard deviations, noise included. After tables the forecast is
        a table, whose time stamps continue at the inferred step, or at their frequency; datetimes, periods and dates
        each continue as what they are.
        """
        check_is_fitted(self)
        if not isinstance(steps, Integral) or isinstance(steps, bool) or steps < 1:
            raise ValueError(f"steps must be a whole number of at least 1; got {steps!r}.")
        frame = ahead(self._frame, int(steps))
        stream = self._progress.stream
        assert stream.model is not None  # for the type checker
        assert stream.state is not None
        mean, var = forecast(stream.model, stream.state, int(steps), float(self.dictionary_drift))
        out = dress(stream.shift + stream.scale * mean, frame)
        return (out, dress(self.forecast_scale_ * stream.scale * np.sqrt(var), frame)) if return_std else out

    def recent(self, return_std: bool = False) -> Any:
        """The last ``lag + 1`` rows taken in, oldest first, with their gaps filled from all rows so far.

        The first of them is the fixed-lag estimate, the last the filtered one. There are fewer while the stream
        is younger than that, and after ``fit``, which leaves one. After tables they are a table, with its time stamps.
        """
        check_is_fitted(self)
        progress = self._progress
        model, shift, scale = progress.stream.model, progress.stream.shift, progress.stream.scale
        assert model is not None  # for the type checker
        beliefs = [entry(model, s) for s in smooth_recent(model, progress.states)]
        answer = Answer(np.empty(0), *(np.array(part) for part in zip(*beliefs, strict=True)))
        rows = progress.rows[-len(beliefs) :]
        missing = np.isnan(rows)
        frame = tail(self._frame, len(rows))
        filled = dress(np.where(missing, shift + scale * answer.signal, rows), frame)
        if not return_std:
            return filled
        std = self.interval_scale_ * scale * np.sqrt(answer.var + noise_variance(model))
        return filled, dress(np.where(missing, std, 0.0), frame)

    # ---------------------------------------------------------------- states

    def transform(self, X: Any) -> Array:
        """The state at every time step (n_steps, n_components_), smoothed or filtered.

        An array, for a table too, as scikit-learn has it; ``set_output(transform="pandas")`` makes it a table with
        the index of X.
        """
        values, _, answer = self._ask(X)
        return answer.x.astype(values.dtype)

    def inverse_transform(self, X: Any) -> Array:
        """The rows that these states stand for (n_steps, n_features), without the features' own levels."""
        check_is_fitted(self)
        X = check_array(X, dtype=[np.float64, np.float32], ensure_min_features=0)
        model, stream = self._model, self._progress.stream
        if X.shape[1] != len(model.A):
            raise ValueError(
                f"X has {X.shape[1]} columns but the model has {len(model.A)} components; pass what transform returned."
            )
        return np.asarray(stream.shift + stream.scale * (model.mean + X @ model.C.T), dtype=X.dtype)

    # ---------------------------------------------------------------- innovations

    def score_samples(self, X: Any) -> Array:
        """Log-density (see the class's notes) of every row's observed entries given the rows before; 0 without data."""
        infos = self._innovations(X)
        return np.array([info.logp for info in infos])

    def score(self, X: Any, y: Any = None) -> float:
        """Mean of :meth:`score_samples`; higher is better."""
        return float(self.score_samples(X).mean())

    def alarms(self, X: Any) -> Alarms:
        """Where the rows stop behaving as the model says: change points, drift, failing sensors.

        A row's innovations e (observed minus predicted) have covariance S under the model, so e'S⁻¹e is
        chi-squared. Its normal score (Wilson and Hilferty), standardised by its own slow mean and variance and cut
        at ±4, is summed by a two-sided CUSUM: ``up = max(0, up + score - 1/2)``, ``down = max(0, down - score - 1/2)``.
        An alarm is raised, and both sums start again, when either exceeds the threshold at which independent
        N(0, 1) scores would raise ``alarm_rate`` alarms per row (Siegmund's approximation; 1e-4 gives 8.0).
        A lasting shift of the score by one standard deviation is found after about 17 rows, by two after 6. A single
        row raises none, however far off: its ``score`` tells.
        Where the model does not hold even without a change, scores are correlated and false alarms more frequent.

        The numbers come as arrays, for a table too; ``when`` has the time stamps of the rows with an alarm.
        """
        infos = self._innovations(X)
        h = threshold(self.alarm_rate)
        state = Alarm()
        rows = []
        for info in infos:
            state, *facts = watch(state, info, h)
            rows.append((*facts, state.up, state.down))
        fired, score, up, down = (np.array(part) for part in zip(*rows, strict=True))
        return Alarms(fired, score, up, down, when=stamps(undress(X)[1], fired))

    # ---------------------------------------------------------------- between X and the core

    @property
    def _model(self) -> Model:
        """The model for passes over X; a drifting dictionary starts such a pass where ``fit`` found it."""
        model = self._progress.stream.model if self._before_drift is None else self._before_drift
        assert model is not None  # for the type checker: a stream has a model from its first row
        return model

    def _read(self, X: Any, *, reset: bool, after: Frame | None = None) -> tuple[Array, Frame]:
        """The numbers of X, and its frame, joined to that of the rows before it in a stream."""
        refuse_one_dimension(X)
        numbers, frame = undress(X)
        values = np.asarray(check_data(self, numbers, reset=reset))
        frame = frame if after is None else follow(after, frame)
        warn_of_gaps(frame, len(values))
        return values, frame

    def _standardised(self, X: Any) -> tuple[Array, Frame, Array]:
        check_is_fitted(self)
        values, frame = self._read(X, reset=False)
        stream = self._progress.stream
        return values, frame, (values - stream.shift) / stream.scale

    def _ask(self, X: Any) -> tuple[Array, Frame, Answer]:
        """X, its frame, and what the model says about its entries, in standardised units."""
        values, frame, Z = self._standardised(X)
        if self.smooth and not self.dictionary_drift:
            return values, frame, smoothed(self._model, Z)
        return values, frame, filtered(self._model, Z, self.dictionary_drift)

    def _innovations(self, X: Any) -> list[StepInfo]:
        """The facts about every row of X as the filter meets it, in the data's units."""
        _, _, Z = self._standardised(X)
        passed = steps(self._model, Z, self.dictionary_drift)
        return [raw_info(info, self._progress.stream) for _, _, info in passed]

    def _in_units(self, answer: Answer, *, noise: bool = True) -> tuple[Array, Array]:
        """Predictive mean and standard deviation of every entry, or of its noise-free part."""
        stream = self._progress.stream
        var = answer.var + noise_variance(self._model) if noise else answer.var
        return stream.shift + stream.scale * answer.signal, self.interval_scale_ * stream.scale * np.sqrt(var)
