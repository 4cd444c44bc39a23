"""The naive twin of the filter in which every feature has its own doubt: one full V_i per feature, row after row.

It shares no code with ``src`` and keeps no groups: every feature has a matrix and a *place*, which is "own" (exact,
conditioned on the rows in which the feature was seen) or the number of a level (conditioned on all rows, each with
the weight 2^(-level/2), level 0 with the weight 1). A level is carried until places are chosen and nobody is at it.
Rows are rows of Y, NaN = missing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import eigh

from reference import marginal_step

YOUNG, SETTLED, LOWEST = 5, 20, 16


@dataclass
class CountedFilter:
    """The filter and everything that it carries. A mean is the last column of C; V0 has the size of C's columns."""

    C: np.ndarray
    V0: np.ndarray
    lam: float
    r: int
    step: str = "least_squares"
    Q: np.ndarray | None = None
    learn_noise: bool = False
    follow: bool = False
    min_observed: int = 0
    unseen: set = field(default_factory=set)
    room: int = 10**9

    def __post_init__(self):
        self.C, self.m, self.q = self.C.copy(), *self.C.shape
        self.min_observed = self.min_observed or self.r
        self.origin = np.zeros(self.m)
        self.levels = {0: self.V0.copy()}
        self.own = {}
        self.place = [0] * self.m
        self.seen, self.n = np.zeros(self.m), 0.0
        self.squares, self.free = self.lam, 1.0
        self.xbar, self.T, self.k = np.zeros(self.r), np.eye(self.r), 0
        self.x_of_row, self.lam_of_row, self.places_used = [], [], set()

    @property
    def V(self):
        return [self.own[i] if place == "own" else self.levels[place] for i, place in enumerate(self.place)]

    @property
    def noise(self):
        return self.squares / self.free

    def run(self, Y):
        for y in Y:
            if not np.isnan(y).all():
                self.row(y)
        return self

    # ---------------------------------------------------------------- one row

    def row(self, y):
        observed = [i for i in range(self.m) if not math.isnan(y[i])]
        self.welcome([i for i in observed if i in self.unseen], y)
        y = y - self.origin
        if len(observed) < self.m and self.is_time():
            self.give_own(set(range(self.m)) - set(observed))
        kept = self.drift(observed)
        V = self.V
        w = self.trust(observed)
        x, fitted, spread = self.find(self.C[observed], y[observed], [V[i] for i in observed], w)
        z = np.append(x, np.ones(self.q - self.r))
        doubt = {i: z @ V[i] @ z for i in observed}
        middle = sorted(doubt[i] for i in observed)[math.ceil(len(observed) / 2) - 1]
        lam_k = self.lam * (1 + fitted / len(observed)) + middle
        from_noise = known = 0.0
        for i in observed:
            e = y[i] - self.C[i] @ z
            self.C[i] = self.C[i] + e * (V[i] @ z) / (lam_k + doubt[i])
            share = 1 / (1 + doubt[i] / self.lam)  # of the innovation's variance, what is noise
            from_noise += share**3 * e**2
            known += share**2 / len(observed)
        for level in self.levels:
            self.levels[level] = conditioned(self.levels[level], z, lam_k, 2.0 ** (-level / 2))
        for i in set(self.own) & set(observed):
            self.own[i] = conditioned(self.own[i], z, lam_k, 1.0)
        self.n = kept * self.n + self.lam / lam_k
        self.seen = kept * self.seen
        self.seen[observed] += self.lam / lam_k
        self.learn(x, spread, known * (len(observed) - fitted), from_noise)
        self.x_of_row.append(z)
        self.lam_of_row.append(lam_k)
        self.k += 1
        if self.is_time():
            self.relevel()
        self.places_used |= set(self.place)

    def trust(self, observed):
        """What each value counts: features of their own that are known less than the median one count less."""
        V, moment = self.V, np.ones((self.q, self.q))
        moment[: self.r, : self.r] = self.T + np.outer(self.xbar, self.xbar)
        if self.q > self.r:
            moment[-1, :-1] = moment[:-1, -1] = self.xbar
        expected = {i: np.trace(V[i] @ moment) for i in observed}
        middle = sorted(expected.values())[math.ceil(len(observed) / 2) - 1]
        counts = {i: ((self.lam + middle) / (self.lam + max(expected[i], middle))) ** 4 for i in observed}
        return np.array([counts[i] if self.place[i] == "own" else 1.0 for i in observed])

    def find(self, C, y, Vs, w):
        """x, the degrees of freedom it took, and its covariance where a prior was needed."""
        r, n = self.r, len(y)
        V = sum(weight * each for weight, each in zip(w, Vs, strict=True)) / n
        A, t, W = C[:, :r], y - C[:, r:].sum(axis=1), np.diag(w)
        D, v = n * V[:r, :r], n * V[:r, r:].sum(axis=1)
        enough = n >= self.min_observed
        if self.step == "marginal" and enough:
            A, t, V = np.sqrt(W) @ A, np.sqrt(W) @ t, V * self.noise / self.lam
            x = marginal_step(self.noise)(A, t, V)
            z = np.append(x, np.ones(self.q - r))
            alpha = n - np.sum((t - A @ x) ** 2) / (self.noise + z @ V @ z)
            return x, np.trace(np.linalg.solve(A.T @ A + max(alpha, 0.0) * V[:r, :r], A.T @ A)), np.zeros((r, r))
        if self.step == "least_squares" and enough:
            return np.linalg.solve(A.T @ W @ A + D, A.T @ W @ t - v), r, np.zeros((r, r))
        center, T = (np.zeros(r), np.eye(r)) if self.step == "map" else (self.xbar, self.T)
        if self.step == "marginal":
            D, v = 0.0 * D, 0.0 * v
        G, b = A.T @ W @ A + D, A.T @ W @ t - v
        spread = np.linalg.inv(G / self.noise + np.linalg.inv(T))
        return center + spread @ (b - G @ center) / self.noise, np.trace(spread @ G) / self.noise, spread

    def learn(self, x, spread, free, from_noise):
        """Moments in which row j has the weight j + 1 and the start the weight 1."""
        w = 2.0 / (self.k + 3.0)
        if self.learn_noise and free > 0:
            self.squares += w * (from_noise - self.squares)
            self.free += w * (free - self.free)
        if self.step != "map":
            second = self.T + np.outer(self.xbar, self.xbar)
            second = (1 - w) * second + w * (np.outer(x, x) + spread)
            if self.q > self.r:
                self.xbar = (1 - w) * self.xbar + w * x
            self.T = second - np.outer(self.xbar, self.xbar)
        if self.follow:
            self.lam = self.noise

    def drift(self, observed):
        """The share of all counts that is left. Q is for coefficients of unit variance, here they have T."""
        if self.Q is None:
            return 1.0
        unit = np.eye(self.q)
        unit[: self.r, : self.r] = np.linalg.inv(np.linalg.cholesky(self.T))
        Q = unit.T @ self.Q @ unit * self.lam / self.noise
        before = self.levels[0]
        self.levels = {level: V + Q for level, V in self.levels.items()}
        silent = 1 + self.r / len(observed)
        self.own = {i: V + (Q if i in observed else silent * Q) for i, V in self.own.items()}
        return np.trace(before @ np.linalg.inv(before + Q)) / self.q

    # ---------------------------------------------------------------- who is where

    def is_time(self):
        return self.k <= 64 or self.k % 16 == 0

    def free_room(self):
        return self.room - len(self.own)

    def welcome(self, new, y):
        """Features with their first value: it is their origin, and they are exact from the prior on."""
        for i in new:
            self.origin[i], self.C[i] = y[i], 0.0
        self.unseen -= set(new)
        if len(new) <= self.free_room():
            for i in new:
                self.place[i], self.own[i] = "own", self.V0.copy()
                if self.q > self.r:
                    self.own[i][-1, -1] = np.trace(self.V0[: self.r, : self.r]) + self.lam

    def give_own(self, missing):
        """Young features that miss a row become exact, all of them or none."""
        young = [i for i in missing - self.unseen if self.seen[i] < YOUNG * self.r and self.place[i] != "own"]
        if self.own and len(young) > self.free_room():
            self.relevel(mature_too=True)
        if len(young) <= self.free_room():
            for i in young:
                self.own[i] = self.levels[self.place[i]]
                self.place[i] = "own"

    def relevel(self, mature_too=False):
        """All that are not exact go to the level nearest to the share of rows in which they were seen."""
        for i in range(self.m):
            share = max(self.seen[i] / self.n if self.n else 0.0, 2.0**-LOWEST)
            level = min(max(round(-2 * math.log2(share)), 0), LOWEST)
            if self.place[i] == "own":
                young = self.seen[i] < YOUNG * self.r
                if young or not (mature_too or level == 0 or self.settled(i, level)):
                    continue
                del self.own[i]
            self.place[i] = level
            if level not in self.levels:
                self.levels[level] = self.late(2.0 ** (-level / 2))
        self.levels = {level: V for level, V in self.levels.items() if level == 0 or level in self.place}

    def settled(self, i, level):
        """Seen often enough, and known as the level is, but for chance: then a level is right for feature i."""
        if self.seen[i] < SETTLED * self.r:
            return False
        V = self.levels[level] if level in self.levels else self.late(2.0 ** (-level / 2))
        largest = eigh(self.own[i], V, eigvals_only=True)[-1]
        return largest <= 2**0.25 / (1 - math.sqrt(self.q / self.seen[i])) ** 2

    def late(self, share):
        """V of a level that is opened now: as if it had been there from the beginning, and no surer than level 0.

        In the directions in which V is V0 times v, each for itself.
        """
        v, U = eigh(self.levels[0], self.V0)  # UᵀV0U = I, UᵀVU = diag(v)
        W = np.linalg.inv(U).T
        mixed = [1 / (1 + share * (1 / a - 1)) if a < 1 else a for a in v]
        return W @ np.diag(mixed) @ W.T


def conditioned(V, z, lam, weight):
    """(V⁻¹ + weight z zᵀ/λ)⁻¹, written out."""
    return V - np.outer(V @ z, V @ z) / (lam / weight + z @ V @ z)
