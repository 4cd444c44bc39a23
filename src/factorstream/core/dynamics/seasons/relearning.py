"""Seasons, trends and what known columns say, learned again from the rows of a stream: a piece at every row.

A stream goes on by the layers it has while others are learned from all its rows so far, in this order: the slow season
of one feature after the other, for every period; the trends and coefficients; what all these say of every row before
they see it; and then a model of what they leave, by the pieces of `spread`. When that has caught up with the rows that
came meanwhile, the new layers and the new model take the place of the old ones.

How much is done at one row depends on sizes alone, so a stream gives the same bits however it is called, and wherever
it is saved.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...linalg import Array
from ..learning import advance, answered_by_the_best
from ..stream import Outcome, Stream, StreamOptions, new_stream
from .anew import Anew, Trends
from .following import followed
from .layers import restarted, take
from .learning_lines import next_lines
from .phases import learn_phases, put_together

MOST_LONG_ROWS = 64
"""Periods, the last ones, from which a slow season is learned. Speed only, as pieces must be short; a season that is
followed forgets older ones, and variances are known well enough from so many."""
VALUES_AT_ONCE = 768
"""Values of a season that one row learns from, unless one feature has more. Derived: some 3 milliseconds."""


def begun(W: Array, periods: Sequence[int], trends: Trends) -> Anew:
    """Learning from rows W (n, m + p), features and known columns, which begin at place 0 of every period."""
    return Anew(tuple(sorted(periods, reverse=True)), trends, len(W), W.astype(np.float64))


def further(anew: Anew, W: Array, m: int, opt: StreamOptions, keep: int) -> tuple[Anew, Outcome]:
    """Learning one row's work further, when the last of all rows W (k, m + p) of the stream has come.

    `keep`: last rows whose seasons are kept. The outcome is that of the new model. There may be no layers, if features
    turn out to have no trend.
    """
    if not anew.learned:
        return _learned(anew, m, opt), Outcome(None)
    if anew.stream is None:
        anew = followed(anew, W, m, opt, keep)
        return (anew._replace(stream=_primed(anew.left)) if anew.at == len(W) else anew), Outcome(None)
    known = W[-1, m:] if W.shape[1] > m else None
    layers, signal, var = take(anew.layers, W[-1, :m], known)
    stream, outcome = advance(anew.stream, W[-1, :m] - signal, opt, beside=var)
    assert anew.seasons is not None  # for the type checker: a row has been followed
    seasons = np.concatenate([anew.seasons, [[signal, var]]])[-keep:]
    stream = answered_by_the_best(stream)
    return anew._replace(layers=layers, at=anew.at + 1, seasons=seasons, stream=stream), outcome


def _learned(anew: Anew, m: int, opt: StreamOptions) -> Anew:
    """Some more of a layer is known."""
    wanted = anew.trends != "none" or anew.rest.shape[1] > m
    if len(anew.layers) < len(anew.periods):
        anew = _next_season(anew, opt)
    elif wanted and anew.trend is None:
        anew = next_lines(anew, m, opt)
    if len(anew.layers) < len(anew.periods) + wanted:
        return anew
    return anew._replace(rest=anew.rest[:0], layers=restarted(anew.layers), learned=True)


def _next_season(anew: Anew, opt: StreamOptions) -> Anew:
    """Some more features' slow seasons of the period under way."""
    T, columns = anew.rest.shape
    P = anew.periods[len(anew.layers)]
    shorter = max((p for p in anew.periods if p < P and P % p == 0), default=None)
    first = max(T // P - MOST_LONG_ROWS, 0) * P
    parts, signals = list(anew.parts), list(anew.signals)
    for j in range(len(parts), min(len(parts) + max(VALUES_AT_ONCE // (T - first), 1), columns)):
        own = opt.noise.without_outliers(anew.rest[first:, [j]])
        layer, season = learn_phases(own, P, np.array([j]), shorter)
        parts.append(layer)
        signals.append(season.signal)
    if len(parts) < columns:
        return anew._replace(parts=tuple(parts), signals=tuple(signals))
    rest = anew.rest.copy()
    rest[:first] = np.nan
    rest[first:] -= np.hstack(signals)
    return anew._replace(rest=rest, parts=(), signals=(), layers=(*anew.layers, put_together(parts)))


def _primed(left: Array | None) -> Stream:
    """The stream that will learn from these rows as soon as the next one comes."""
    assert left is not None  # for the type checker
    return new_stream(left.shape[1])._replace(rows=len(left), window=left)
