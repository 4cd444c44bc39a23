"""Whether rows go through compiled loops (``compiled``) or through NumPy, and the way to the former.

Compiled code is used where ``numba`` works (the extra ``fast``) and a call has enough rows to pay for loading it,
which takes half a second once per process, and ten seconds once per installation. The size of the call alone
decides, not what was called before. ``FACTORSTREAM_COMPILED=0`` in the environment says never, ``=1`` always.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ..core.coefficients import least_squares, maximum_a_posteriori
from ..core.covariance import broyden_gain, kalman_gain
from ..core.linalg import Array, SparseRows
from ..core.recursion import belief
from ..core.state import Model, SmallState, StepInfo

if TYPE_CHECKING:
    from .compiled import Rules

CALLS = 500
"""Features that NumPy could work on in the time that its calls take per sample."""
WORTH_LOADING = 10**6
"""Rows times (features + CALLS) of a call from which on compiled code is worth loading: some 0.1 s of NumPy."""


def applies(model: Model, n: int, m: int) -> bool:
    """Whether n rows of m features are taken in by compiled code."""
    wanted = os.environ.get("FACTORSTREAM_COMPILED", "auto")
    if wanted not in ("0", "1", "auto"):
        raise ValueError(f"FACTORSTREAM_COMPILED must be 0, 1 or auto; it is {wanted!r}.")
    if wanted == "0" or not _knows(model):
        return False
    if wanted == "1":
        failure = why_not()
        if failure is not None:
            raise ImportError(
                'FACTORSTREAM_COMPILED=1 needs a working numba: pip install "factorstream[fast]".'
            ) from failure
        return True
    return n * (m + CALLS) >= WORTH_LOADING and why_not() is None


@cache
def why_not() -> Exception | None:
    """Why compiled code cannot be loaded: no numba, one that does not know this NumPy, nowhere to keep its cache."""
    try:
        from . import compiled  # noqa: F401
    except (ImportError, RuntimeError) as failure:
        return failure
    return None


def _knows(model: Model) -> bool:
    step, gain = model.coefficients, model.gain
    known = step is least_squares or (step is maximum_a_posteriori and not model.learn_prior)
    return known and (gain is kalman_gain or gain is broyden_gain)


Taken = tuple[SmallState, StepInfo, int]
"""The state, the facts, and how many rows were taken in: where not all, the next one is for NumPy to do."""


def filter_rows(state: SmallState, model: Model, C: Array, Y: Array) -> Taken:
    """Take in the rows of Y (NaN = missing); C and the matrices of ``state`` change in place (``recursion.own``)."""
    from . import compiled

    return _take_in(state, model, len(Y), compiled.filter_rows, C, Y)


def filter_sparse_rows(state: SmallState, model: Model, C: Array, Y: SparseRows, origin: Array) -> Taken:
    """The same for rows whose stored entries are the observed ones, not centred."""
    from . import compiled

    data = (Y.indptr, Y.indices, Y.data, origin)
    return _take_in(state, model, Y.shape[0], compiled.filter_sparse_rows, C, *data)


def project_rows(
    state: SmallState, model: Model, C: Array, Y: Array, X: Array, variance: Array, everywhere: bool
) -> int:
    """Coefficients of the rows of Y under a fixed C into X (n × r); how many rows were done.

    G in ``state`` must be CᵀC. Into ``variance`` (n × m, or without rows) the predictive variance of the missing
    entries, or of all of them.
    """
    from . import compiled

    known = belief(state, model)
    small, xbar = _matrices(state, model), state.xbar.copy()
    numbers = known.noise, known.doubt
    return int(compiled.project_rows(C, Y, small, xbar, *numbers, _rules(model), X, variance, everywhere))


def _rules(model: Model) -> Rules:
    from .compiled import Rules

    return Rules(
        r=model.r,
        ridge=model.coefficients is maximum_a_posteriori,
        kalman=model.gain is kalman_gain,
        drifts=model.Q is not None,
        learn_noise=model.learn_noise,
        learn_prior=model.learn_prior,
        track_noise=model.track_noise,
        enough=model.enough,
        rcond=model.rcond,
    )


def _matrices(state: SmallState, model: Model) -> Array:
    r, q = model.r, model.q
    small = np.zeros((4, q, q))
    small[0], small[1], small[2, :r, :r] = state.G, state.S.T, state.T
    if model.Q is not None:
        small[3] = model.Q
    return small


def _take_in(state: SmallState, model: Model, n: int, samples: Callable[..., int], *data: Array) -> Taken:
    r, small = model.r, _matrices(state, model)
    numbers = np.array([state.lam, state.noise_sum, state.noise_dof, state.k], dtype=np.float64)
    innovation, n_observed, share = np.empty(n), np.empty(n), np.empty(n)
    done = int(samples(*data, small, state.xbar, numbers, _rules(model), innovation, n_observed, share))
    state.G[...], state.S[...], state.T[...] = small[0], small[1].T, small[2, :r, :r]
    lam, noise_sum, noise_dof, k = numbers.tolist()
    age = state.age + int(k) - state.k
    state = state._replace(lam=lam, noise_sum=noise_sum, noise_dof=noise_dof, k=int(k), age=age)
    taken = np.flatnonzero(n_observed[:done])
    return state, StepInfo(innovation[taken], n_observed[taken], share[taken]), done
