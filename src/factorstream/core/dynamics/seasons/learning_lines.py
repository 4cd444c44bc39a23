"""The layer of trends and known columns, learned a piece at a time (see `relearning`): the steps of `learn_trends`."""

from __future__ import annotations

import numpy as np

from ...linalg import Array
from ..noise import GaussianSpec
from ..scale import standards
from ..stream import StreamOptions
from .anew import Anew, Lines
from .lines import predicted, updated
from .trends import followed_on, layer_of, opened, search, searched, units_of, without_outliers_beside

SEARCHED_AT_ONCE = 48_000
"""Features and their variances, times rows, that one row of a stream searches, but for what any row costs. Derived:
some 3 milliseconds."""
ROW_COSTS = 900
"""What any row costs in a search, in the same units. Measured."""
PASSED_AT_ONCE = 48
"""Rows that the filter passes at one row. Derived: as above."""


def next_lines(anew: Anew, m: int, opt: StreamOptions) -> Anew:
    """One piece more: outliers, if the noise has some, are made missing in one feature after the other, variances are
    searched for, and the rows are filtered."""
    lines, W = anew.lines, anew.rest[_first_seen(anew.rest) :]
    if not isinstance(opt.noise, GaussianSpec) and len(lines.clean) < m:
        own = without_outliers_beside(np.hstack([W[:, [len(lines.clean)]], W[:, m:]]), opt.noise, 1)
        return anew._replace(lines=lines._replace(clean=(*lines.clean, own[:, :1])))
    Y, K = np.hstack(lines.clean) if lines.clean else W[:, :m], W[:, m:]
    trended = np.full(m, anew.trends != "none")
    if lines.units is None:
        units = (standards(Y)[1], *units_of(K))
        return anew._replace(lines=lines._replace(units=units, search=search(trended, K.shape[1])))
    unit, shift, scale = lines.units
    X = (K - shift) / scale
    if lines.variances is None:
        return anew._replace(lines=_search(lines, trended, Y, X))
    if lines.at < len(Y):
        return anew._replace(lines=_pass(lines, Y, X))
    assert lines.running is not None  # for the type checker: variances have been found
    damping = np.where(trended, 1.0, np.nan)
    layer = followed_on(layer_of(damping, lines.variances, lines.running, unit, shift, scale), len(Y))
    return anew._replace(lines=Lines(), trend=layer, layers=(*anew.layers, layer))


def _first_seen(W: Array) -> int:
    """The first row that is still needed: seasons of a long stream are learned from its last rows."""
    return int(np.isfinite(W).any(axis=1).argmax())


def _search(lines: Lines, trended: Array, Y: Array, X: Array) -> Lines:
    """Some more rows have been searched; after the last one the variances are known."""
    assert lines.search is not None  # for the type checker
    assert lines.units is not None
    size = len(lines.search.seen) * (1 + X.shape[1]) + ROW_COSTS
    stop = min(lines.at + max(SEARCHED_AT_ONCE // size, 1), len(Y))
    found = searched(lines.search, trended, Y[lines.at : stop], X[lines.at : stop])
    if stop < len(Y):
        return lines._replace(search=found, at=stop)
    variances, running = opened(found, trended, lines.units[0])
    return lines._replace(search=None, variances=variances, running=running, at=0)


def _pass(lines: Lines, Y: Array, X: Array) -> Lines:
    """Some more rows have been filtered."""
    assert lines.variances is not None  # for the type checker
    assert lines.running is not None
    s, stop = lines.running, min(lines.at + PASSED_AT_ONCE, len(Y))
    for y, x in zip(Y[lines.at : stop], X[lines.at : stop], strict=True):
        s = predicted(updated(s, lines.variances.R, y, x), lines.variances.q, lines.variances.qb)
    return lines._replace(running=s, at=stop)
