"""How strange rows are under a model, and which of their columns make them so."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from ..core.normal_score import normal_score
from ..estimators._sequence_answers import Alarms
from ..sources.table import Array

__all__ = ["Blame", "blamed_for_alarm", "blamed_in_row", "blamed_in_step", "row_scores"]

Blame = list[tuple[int, float]]
"""Columns by their numbers, the one to blame most first, and by how many standard deviations each is off."""

BLAMED = 3
"""How many columns are named for a strange row, at most. Not tuned: what fits in a line."""
ORDINARY = 0.05
"""Share of ordinary rows that have a column which is named. Not tuned: the usual one in twenty."""
ALONE = 200
"""Most entries of a row that are looked at one by one; wider rows are searched for so many before. Not tuned: it bounds
time and memory."""
SMALL = 1e-3
"""What an entry is made greater by, in its standard deviations or its distance from the mean, to see on which side of
what is expected it lies. Not tuned: only a sign is taken from it, of a quadratic function, which is known to 1e-10."""


def row_scores(model: Any, X: Array) -> Array:
    """How strange every row is (n), about N(0, 1) for ordinary rows whatever their gaps; -inf without data.

    A row's squared distance is twice the difference between the log-density of the likeliest row with the same gaps,
    that of the means, and its own. Under the model it is chi-squared, with as many degrees of freedom as the row has
    known values; the score is what a normal law has at that probability, nearly. A density alone would not do: what an
    ordinary row has depends on how many values it has, and which. Columns of which the model knows nothing do not
    count.

    Examples
    --------
    >>> from factorstream import DictionaryFilter
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 6)) + 0.2 * rng.normal(size=(300, 6))
    >>> X[:100, 1:] = np.nan  # one known value
    >>> X[7, 0] = X[200, 3] = 30.0
    >>> score = row_scores(DictionaryFilter(2, random_state=0).fit(X), X)
    >>> sorted(np.argsort(score)[-2:].tolist())
    [7, 200]
    """
    squared, n = _squared_distances(model, X)
    return np.where(n > 0, normal_score(squared, np.maximum(n, 1)), -np.inf)


def _squared_distances(model: Any, X: Array) -> tuple[Array, Array]:
    """The squared distance of every row (n), and how many values it is about (n)."""
    mean, std = _expected(model)
    known = ~np.isnan(X) & np.isfinite(std)
    likeliest = model.score_samples(np.where(known, mean, np.nan))
    squared = 2.0 * (likeliest - model.score_samples(np.where(known, X, np.nan)))
    return np.maximum(squared, 0.0), np.count_nonzero(known, axis=1)


def _expected(model: Any) -> tuple[Array, Array]:
    """Mean and standard deviation of every column where nothing else is known (1 × m each)."""
    mean, std = model.impute(np.full((1, model.n_features_in_), np.nan), return_std=True)
    return mean, std


def blamed_in_row(model: Any, row: Array) -> Blame:
    """The columns that make a row strange, each told by the columns that are not to blame.

    The first is the one without which the row's squared distance is the least. It is then taken as missing, since it
    also misleads what is expected of the others, and the next is looked for in what is left, as long as one is further
    off than in ordinary rows. Removing an entry lowers the squared distance by the square of how many standard
    deviations it lies from what the others say of it.
    """
    left = row.copy()
    blame: Blame = []
    while len(blame) < BLAMED and not np.isnan(left).all():
        away = _away(model, left)
        j = int(np.argmax(np.abs(away)))
        if not _is_far(away[j], int(np.count_nonzero(~np.isnan(left)))):
            break
        blame.append((j, float(away[j])))
        left[j] = np.nan
    return blame


def blamed_in_step(away: Array) -> Blame:
    """The columns of a time step that are furthest from their forecasts; ``away`` is 0 where a value is missing."""
    known = int(np.count_nonzero(away))
    return [(j, float(away[j])) for j in _furthest(away) if _is_far(away[j], known)]


def blamed_for_alarm(alarms: Alarms, away: Array, row: int) -> Blame:
    """The columns that raised an alarm, by the rows whose scores have added up to it; there is at least one.

    How far a column is off is here the root of the mean of its squared deviations, with the sign of their mean. Where
    rows are too near to their forecasts, the columns that are nearest come first.
    """
    quiet = bool(alarms.down[row] > alarms.up[row])
    total = alarms.down if quiet else alarms.up
    before = np.flatnonzero((total[:row] == 0.0) | alarms.fired[:row])
    first = int(before[-1]) + 1 if before.size else 0
    rows = away[first : row + 1] if total[row] > 0.0 else away[row : row + 1]
    known = np.count_nonzero(rows, axis=0)
    size = np.sqrt(np.sum(rows**2, axis=0) / np.maximum(known, 1))
    size = np.copysign(size, rows.sum(axis=0))
    if quiet:
        order = np.argsort(np.where(known > 0, np.abs(size), np.inf), kind="stable")[:1].tolist()
    else:
        order = _furthest(size)
        order = order[:1] + [j for j in order[1:] if _is_far(size[j], int(np.count_nonzero(known)))]
    return [(j, float(size[j])) for j in order]


def _furthest(away: Array) -> list[int]:
    return [int(j) for j in np.argsort(-np.abs(away), kind="stable")[:BLAMED]]


def _is_far(away: float, n: int) -> bool:
    """Whether the one of n columns that is furthest off is as far only in the share ``ORDINARY`` of ordinary rows.

    >>> [_is_far(2.8, n) for n in (5, 50)]
    [True, False]
    """
    return bool(n) and abs(away) >= -float(ndtri(0.5 * ORDINARY / n))


def _away(model: Any, row: Array) -> Array:
    """How far the entries of a row are from what the others say of them, in standard deviations; 0 where missing.

    The size comes from the squared distance of the row without the entry; the sign from that of the row with a slightly
    greater entry, which is further off where the entry is too great already.
    """
    asked = _suspects(model, row)
    k = np.arange(len(asked))
    without, greater = np.tile(row, (2, len(asked), 1))
    without[k, asked] = np.nan
    mean, std = (part[0, asked] for part in _expected(model))
    greater[k, asked] += SMALL * np.maximum(std, np.abs(row[asked] - mean))
    squared, _ = _squared_distances(model, np.vstack([row, without, greater]))
    whole, (of_rest, of_greater) = squared[0], np.split(squared[1:], 2)
    away = np.zeros(len(row))
    away[asked] = np.sqrt(np.maximum(whole - of_rest, 0.0)) * np.where(of_greater >= whole, 1.0, -1.0)
    return away


def _suspects(model: Any, row: Array) -> Array:
    """The known entries that are looked at one by one: all, or of wide rows those that the others expect least."""
    known = np.flatnonzero(~np.isnan(row))
    if len(known) <= ALONE:
        return known
    groups = np.arange(len(known)) % ALONE
    asked = np.tile(row, (ALONE, 1))
    asked[groups, known] = np.nan
    filled, std = model.impute(asked, return_std=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        away = np.nan_to_num((row[known] - filled[groups, known]) / std[groups, known], nan=0.0)
    return np.sort(known[np.argsort(-np.abs(away), kind="stable")[:ALONE]])
