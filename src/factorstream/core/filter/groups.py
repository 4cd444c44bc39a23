"""Which features share a covariance of their loadings, where each has been seen in samples of its own.

Given the coefficients, the exact posterior has one V_i per feature, which differs from those of the others only through
the samples in which the feature was seen. Features that were seen in all samples share one, V = SSᵀ of ``SmallState``:
group 0. The others are in

* a *level*: features seen in about the same share ρ of the samples. Seen often and in samples like all others, they
  have V_i⁻¹ ≈ V0⁻¹ + ρ Σ x xᵀ/λ, so that a level's V is conditioned on every sample with the weight ρ;
* a group of their *own*, with the exact V_i, conditioned on the samples in which the feature was seen. That is for
  features seen too rarely for the level to be right (one sample says nothing about r directions, a share of all
  samples says a little about each of them), while there is room, until they are settled.

Levels come before features of their own. Everything here has K groups or m features and no loop over rows of C.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...cores import PASS, each_piece, sum_of_pieces
from ..linalg import Array, triangular_solve
from ..place import Tall

STEPS_PER_HALF = 2
"""Levels between a share and half of it. Derived: rounding to the nearest is off by less than 19% of a variance."""

IN_ALL = 2.0 ** (-0.5 / STEPS_PER_HALF)
"""Share of the samples in which a feature of group 0 was seen, at least. Derived: half a level below 1."""

LOWEST = 16
"""The last level: features seen in one of 256 samples or fewer. Not tuned: rarer ones are first in line for a group
of their own."""

YOUNG = 5
"""Times n_components in which a feature must have been seen to be known well by a level.

Not tuned: between 2 and 20 coverage of rarely seen columns does not move, held-out entries of small tables by at most
0.5% (``benchmarks/rare_columns.py``)."""

SETTLED = 20
"""Times n_components in which a feature of its own must have been seen to join a level, if its covariance is alike.

Derived: what n samples say about r directions differs from n/N of what all N say by about √(r/n), 22% here, and levels
are 19% apart."""

ROOM, ROOM_PER_ENTRY = 8192, 0.25
"""Entries of matrices that features of their own may take: this many, or this share of the entries of C.

Not tuned: 64 kilobytes, or a quarter of the dictionary; speed and memory against exactness. Without any room the 95%
intervals of a column seen in 30 of 500 rows hold 89% instead of 95% (``benchmarks/rare_columns.py``)."""

CHOOSING = 16 * PASS
"""What it costs to choose a feature's level: a logarithm and some operations on arrays. Rough; speed only."""

EVERY_ROW, EVERY = 64, 16
"""Levels are chosen anew after each of the first 64 samples, then after every 16th. Not tuned: a share changes by less
than two thirds of a level's width between two choices, and by less than a tenth from 450 samples on."""


class Groups(NamedTuple):
    """Who shares a covariance with whom; what a feature's own history adds to ``SmallState``."""

    seen: Tall
    """Weighted number of samples in which each feature was observed (m)."""
    group: Tall
    """The number of each feature's group (m, integer)."""
    roots: Array
    """Square roots of the covariances of the groups 1, 2, … (K × q × q)."""
    shares: Array
    """In which share of the samples the features of these groups are seen (K); 0 for a feature of its own."""
    n: float
    """Weighted number of samples."""
    prior: Array
    """Square root of V0 (q × q)."""

    @property
    def n_levels(self) -> int:
        """How many of the groups are levels, without group 0."""
        return int(np.count_nonzero(self.shares))

    @property
    def alike(self) -> bool:
        """Whether all features share one covariance."""
        return len(self.shares) == 0


def stack(S: Array, groups: Groups) -> Array:
    """The square roots of all groups' covariances, group 0 first (K + 1 × q × q), a copy as in :func:`in_columns`."""
    return in_columns(np.concatenate([S[None], groups.roots]))


def one_group(m: int, prior: Array) -> Groups:
    """All of m features in group 0, before the first sample; ``prior`` is a square root of V0 (q × q)."""
    return Groups(np.zeros(m), np.zeros(m, dtype=np.intp), np.zeros((0, *prior.shape)), np.zeros(0), 0.0, prior)


def in_columns(roots: Array) -> Array:
    """The matrices (K × q × q) with the columns of each one after another in memory.

    So the columns of all of them are one matrix without a copy.
    """
    return np.ascontiguousarray(roots.transpose(0, 2, 1)).transpose(0, 2, 1)


class Stacked(NamedTuple):
    """The covariances of all groups, group 0 first, as square roots in one array. They change in place."""

    roots: Array
    """The square roots (K + 1 × q × q), as :func:`stack` has them."""
    lines: Array
    """The same memory as one matrix: the columns of all roots, one below the other ((K + 1) q × q)."""
    shares: Array
    """With which weight the groups are conditioned on every sample (K + 1): 1, a level's share; 0 for one feature."""
    n_levels: int
    """How many of the groups are levels, without group 0."""

    @property
    def n_groups(self) -> int:
        """K + 1."""
        return len(self.shares)


def stacked(roots: Array, shares: Array, n_levels: int) -> Stacked:
    """From the square roots as :func:`stack` has them."""
    return Stacked(roots, roots.transpose(0, 2, 1).reshape(-1, roots.shape[1]), shares, n_levels)


def all_groups(S: Array, groups: Groups) -> Stacked:
    """The covariances of all groups in new memory."""
    return stacked(stack(S, groups), np.concatenate([[1.0], groups.shares]), groups.n_levels)


class Counts(NamedTuple):
    """How many features of each group a sample has."""

    by_group: Array
    """(K + 1)."""
    n: int
    """All of them together."""
    only: int | None
    """The number of their group, where all features are in the same one."""


def mean_root(roots: Array, counts: Array) -> Array:
    """S with SSᵀ the mean covariance of features of which each group has so many (q × columns)."""
    columns = roots.transpose(0, 2, 1)
    used = counts.nonzero()[0]
    if len(used) == 1:
        only: Array = roots[used[0]]
        return only
    if len(used) < len(counts):
        columns, counts = columns[used], counts[used]
    weighted = columns * np.sqrt(counts / counts.sum())[:, None, None]
    return np.asarray(weighted.reshape(-1, columns.shape[2]).T)


def covariances(roots: Array) -> Array:
    """V of each group."""
    return roots @ roots.transpose(0, 2, 1)


def is_young(seen: Array, r: int) -> Array:
    """Which features have been seen too rarely for a level."""
    return seen < YOUNG * r


def chosen_levels(seen: Array, n: float) -> Array:
    """The level of each feature by the share of samples in which it was seen (m); 0 is "in all"."""
    share = np.minimum(np.maximum(seen / max(n, np.finfo(float).tiny), 2.0 ** (-LOWEST / STEPS_PER_HALF)), 1.0)
    levels: Array = np.rint(-STEPS_PER_HALF * np.log2(share)).astype(np.intp)
    return levels


def sizes_of(number: Array, n: int) -> Array:
    """How many features have each of the numbers 0, …, n − 1."""
    m = len(number)
    return np.asarray(sum_of_pieces(lambda some: np.bincount(number[some], minlength=n), m, 4 * PASS * m))


def numbers(shares: Array) -> Array:
    """The number of the group of each level, given the shares of those that are there; −1 for all others."""
    number = np.full(LOWEST + 1, -1)
    number[0] = 0
    number[np.rint(-STEPS_PER_HALF * np.log2(shares)).astype(np.intp)] = 1 + np.arange(len(shares))
    return number


def level_bounds(shares: Array) -> tuple[Array, Array]:
    """Above which share of the samples, and up to which, features belong to the levels of these shares.

    0 stands for a feature of its own: up to the upper one it does not belong to group 0.
    """
    half, lowest = 2.0 ** (0.5 / STEPS_PER_HALF), 2.0 ** (-LOWEST / STEPS_PER_HALF)
    low = np.where(shares > lowest, shares / half, -1.0)
    high = np.where(shares > 0.0, np.where(shares < 1.0, shares * half, np.inf), 1.0 / half)
    return low, high


def level_root(S: Array, prior: Array, share: float) -> Array:
    """Square root of V_l = (V0⁻¹ + ρ (V⁻¹ − V0⁻¹))⁻¹: what is left of the doubt after a share ρ of the samples.

    Where a drift has made V larger than V0, V_l is V in those directions: a share of the samples says no more than all.
    As computed  with V0 = RRᵀ and R⁻¹V R⁻ᵀ = U diag(v) Uᵀ it is R U diag(v/(v + ρ (1 − v))) Uᵀ Rᵀ. Cost O(q³).
    """
    A = triangular_solve(prior, S)
    v, U = np.linalg.eigh(A @ A.T)
    v = np.maximum(v, np.finfo(float).tiny)
    root: Array = (prior @ U) * np.sqrt(v / np.where(v < 1.0, v + share * (1.0 - v), 1.0))
    return root


def are_alike(own: Array, level: Array, seen: Array) -> Array:
    """Whether V_i = RRᵀ of features seen in so many samples exceed the V_l of levels by no more than chance (K).

    ``own`` are the R of the features, ``level`` the square roots of their levels' covariances (both K × q × q).

    Seen in samples like all others, q directions by n samples, the largest eigenvalue of V_l⁻¹V_i, an inverse of sample
    covariances, is at most about (1 − √(q/n))⁻² (Marchenko and Pastur), and the share of the level is off by up to half
    a level. Seen where one coefficient is always small, the feature is known less than the level says.
    """
    excess = np.linalg.norm(np.linalg.solve(level, own), 2, axis=(1, 2)) ** 2
    alike: Array = excess <= 2.0 ** (0.5 / STEPS_PER_HALF) / (1.0 - np.sqrt(own.shape[1] / seen)) ** 2
    return alike


def releveled(seen: Array, groups: Groups, S: Array, r: int, *, mature_too: bool = False) -> tuple[Array, Groups]:
    """Every feature without a group of its own in the level of its share; returns ``group`` and the other fields.

    A feature of its own joins group 0 once that is right for it, and any level once it is settled there. With
    ``mature_too``, every one that is no longer young joins a level: others need the room. Where nothing changes, both
    are returned as they were.
    """
    group = np.asarray(groups.group)
    m = len(seen)
    wanted = np.concatenate(each_piece(lambda some: chosen_levels(seen[some], groups.n), m, CHOOSING * m))
    open_roots = dict(zip(groups.shares[: groups.n_levels].tolist(), groups.roots, strict=False))

    def root_of(level: int) -> Array:
        share = float(2.0 ** (-level / STEPS_PER_HALF))
        if share not in open_roots:
            open_roots[share] = level_root(S, groups.prior, share)
        root: Array = open_roots[share]
        return root

    alone, sizes = np.zeros(0, dtype=np.intp), sizes_of(wanted, LOWEST + 1)
    if len(groups.shares) > groups.n_levels:
        alone = np.flatnonzero(group > groups.n_levels)
        stays = is_young(seen[alone], r) | ((wanted[alone] > 0) & (not mature_too))
        often = np.flatnonzero(stays & (seen[alone] >= SETTLED * r))
        if len(often):
            i = alone[often]
            level_roots = np.array([root_of(level) for level in wanted[i].tolist()])
            stays[often] = ~are_alike(groups.roots[group[i] - 1], level_roots, seen[i])
        alone = alone[stays]
        sizes -= np.bincount(wanted[alone], minlength=LOWEST + 1)
    levels = 1 + np.flatnonzero(sizes[1:])
    number = np.zeros(LOWEST + 1, dtype=np.intp)
    number[levels] = np.arange(1, len(levels) + 1)
    new = number[wanted]
    new[alone] = len(levels) + 1 + np.arange(len(alone))
    shares = 2.0 ** (-levels / STEPS_PER_HALF)
    if np.array_equal(new, group) and np.array_equal(shares, groups.shares[: groups.n_levels]):
        return group, groups
    roots = np.array([root_of(level) for level in levels.tolist()]).reshape(-1, *S.shape)
    return new, groups._replace(
        roots=np.concatenate([roots, groups.roots[group[alone] - 1]]),
        shares=np.concatenate([shares, np.zeros(len(alone))]),
    )


def room(m: int, q: int, for_all: bool = False) -> int:
    """How many features may have a group of their own; ``for_all``: every one, whatever memory it takes."""
    if for_all:
        return m
    return int(max(ROOM, ROOM_PER_ENTRY * m * q) // q**2)


def with_own(group: Array, groups: Groups, features: Array, roots: Array) -> tuple[Array, Groups]:
    """``group`` and the other fields once each of ``features`` has a group of its own, with these covariances."""
    group = np.array(group)
    group[features] = len(groups.shares) + 1 + np.arange(len(features))
    return group, groups._replace(
        roots=np.concatenate([groups.roots, roots]),
        shares=np.concatenate([groups.shares, np.zeros(len(features))]),
    )


def kept_share(S: Array, Q: Array) -> float:
    """Which share of what is known about C is left after V has grown by Q: tr(V (V + Q)⁻¹) / q."""
    V = S @ S.T
    return float(np.trace(np.linalg.solve(V + Q, V))) / len(V)


def weighted_median(values: Array, counts: Counts) -> float:
    """The median of ``values``, one per group, each taken as often as the group has features."""
    if counts.only is not None:
        return float(values[counts.only])
    order = values.argsort()
    below = counts.by_group[order].cumsum()
    return float(values[order[below.searchsorted(0.5 * below[-1])]])
