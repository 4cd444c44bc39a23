"""Choose compiled loops or NumPy, and call the compiled ones.

Compiled code is used where ``numba`` works (the extra ``fast``) and a call has enough rows to pay for loading it,
which takes a third of a second once per process, and about half a minute once per installation. The size of the call
alone decides, not what was called before. ``FACTORSTREAM_COMPILED=0`` in the environment says never, ``=1`` always.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.filter import groups as grouping
from ..core.filter.groups import Groups, level_bounds, one_group, room, sizes_of, stack
from ..core.filter.groups import covariances as covariances_of
from ..core.filter.model import FilterModel
from ..core.filter.recursion import belief
from ..core.filter.state import FilterRecord, FilterState, SmallState
from ..core.linalg import Array, SparseRows
from ..cores import compiling

if TYPE_CHECKING:
    from .compiled_groups import Grouped
    from .compiled_steps import Rules

MODULES = tuple(
    f"factorstream.tall.{name}"
    for name in ("compiled", "compiled_between", "compiled_counted_rows", "compiled_pieces", "compiled_projecting")
)
"""Where the loops are."""

CALLS = 500
"""Features that NumPy could work on in the time that its calls take per sample: fifty microseconds, at a
tenth of a microsecond per feature. Measured on one machine; speed only."""
CALLS_WITH_DOUBT = 900
"""The same where every feature has its own doubt: 1.8 times as long (2000 rows of 20 features, one tenth missing)."""
WORTH_LOADING = 4_000_000
"""Rows times (features + CALLS) of a call from which on NumPy takes longer than loading compiled code does.

Derived: at a tenth of a microsecond each they take 0.4 seconds, and loading about as long; speed only."""
WIDE = 32
"""Components beyond which LAPACK is quicker at the coefficients of a row than loops are.

Not tuned, speed only: LAPACK was seen to be quicker from some 50 on (docs/performance.md, "Where not")."""


def applies(model: FilterModel, n: int, m: int) -> bool:
    """Whether n rows of m features go through compiled code."""
    by_prior = m < model.min_observed  # three matrices of r × r to factorise and invert for every sample, not one
    if not known(model) or (by_prior and model.r > 2 * WIDE):
        return False
    calls = CALLS_WITH_DOUBT if model.step.doubts else CALLS
    return compiling.applies(n * (m + calls) >= WORTH_LOADING, *MODULES)


def import_failure() -> Exception | None:
    """Why compiled code cannot be used; None where it can."""
    return compiling.import_failure(*MODULES)


def known(model: FilterModel) -> bool:
    """Whether the loops have this model's coefficient step and gain."""
    return model.step.compiled is not None and model.gain.facts.compiled is not None


Taken = tuple[SmallState, FilterRecord, int]
"""The state, the record, and how many rows were done: where not all, the next one is handed back to NumPy."""

CountedTaken = tuple[FilterState, FilterRecord, int, int]
"""The same with the whole state, and why the loops stopped where not all were done (``compiled_counted_rows``)."""


def filter_rows(state: SmallState, model: FilterModel, C: Array, Y: Array) -> Taken:
    """Filter the rows of Y (NaN = missing); C and the matrices of ``state`` change in place."""
    from . import compiled, divided_rows

    rows = divided_rows.filter_rows if divided_rows.is_worth_it(C) else compiled.filter_rows
    return _filter(state, model, len(Y), rows, C, compiling.plain(Y))


def filter_counted_rows(state: FilterState, model: FilterModel, Y: Array, first: int, looked: bool) -> CountedTaken:
    """The same where every feature has its own doubt, for the rows from ``first`` on; ``groups.seen`` changes as well.

    ``looked``: the first row has all the room that it gets (``counted_rows.with_room``).
    """
    from . import compiled_counted_rows, divided_rows

    Y = compiling.plain(Y[first:])
    divided = divided_rows.is_worth_it(state.C)
    rows = divided_rows.filter_counted_rows if divided else compiled_counted_rows.filter_rows
    return _counted(state, model, len(Y), rows, state.C, Y, looked)


def filter_counted_sparse_rows(
    state: FilterState, model: FilterModel, Y: SparseRows, first: int, looked: bool
) -> CountedTaken:
    """The same for rows whose stored entries are the observed ones."""
    from . import compiled_counted_rows

    data = state.C, Y.indptr[first:], Y.indices, Y.data, state.origin, looked
    return _counted(state, model, Y.shape[0] - first, compiled_counted_rows.filter_sparse_rows, *data)


def _counted(state: FilterState, model: FilterModel, n: int, samples: Callable[..., int], *data: Any) -> CountedTaken:
    groups = state.groups
    assert groups is not None  # for the type checker
    own, why = _grouped(state, groups, model), np.zeros(1, dtype=np.intp)
    numbers = np.array([*_numbers(state.small), groups.n, 1.0, 0.0])
    small, record, done = _filter(state.small, model, n, samples, *data, own, why, numbers=numbers)
    roots = own.covariances[0].transpose(0, 2, 1)
    small.S[...] = roots[0]
    groups = groups._replace(roots=roots[1:], n=float(numbers[4]))
    return state._replace(small=small, groups=groups), record, done, int(why[0])


def _grouped(state: FilterState, groups: Groups, model: FilterModel) -> Grouped:
    """The groups as the compiled loops need them."""
    from .compiled_groups import Grouped

    m, n_groups, n_levels = len(groups.seen), len(groups.shares) + 1, groups.n_levels
    roots = stack(state.small.S, groups)
    covariances = np.empty((2 if model.drift is None else 4, *roots.shape))
    covariances[0], covariances[1] = roots.transpose(0, 2, 1), covariances_of(roots)
    facts = np.zeros((8, n_groups))  # see ``compiled_groups``
    facts[0] = sizes_of(groups.group, n_groups)
    facts[1, 0], facts[1, 1:] = 1.0, groups.shares
    facts[2], facts[3] = level_bounds(facts[1])
    return Grouped(
        group=compiling.plain(groups.group),
        counts=groups.seen,
        unseen=np.zeros(m, dtype=bool) if state.unseen is None else compiling.plain(state.unseen),
        facts=facts,
        covariances=covariances,
        lines=np.zeros((3, n_groups, model.q)),
        active=np.zeros(n_groups, dtype=np.intp),
        n_own=n_groups - 1 - n_levels,
        most=room(m, model.q, model.row_mean),
        young=float(grouping.YOUNG * model.r),
        settled=float(grouping.SETTLED * model.r),
    )


def filter_sparse_rows(
    state: SmallState, model: FilterModel, C: Array, Y: SparseRows, origin: Array, unseen: Array
) -> Taken:
    """The same for rows whose stored entries are the observed ones; ``origin`` and ``unseen`` change too."""
    from . import compiled

    data = (Y.indptr, Y.indices, Y.data, origin, unseen)
    return _filter(state, model, Y.shape[0], compiled.filter_sparse_rows, C, *data)


def project_rows(
    state: FilterState,
    model: FilterModel,
    Y: Array,
    X: Array,
    variance: Array,
    noises: tuple[Array, Array],
    complete_too: bool,
) -> int:
    """Coefficients of the rows of Y with gaps, or of all, under a fixed C into X (n × r); how many rows were done.

    G in ``state.small`` must be CᵀC. Into ``variance`` (n × m, or without rows) the predictive variance of the missing
    entries; ``noises`` are κ² and ‖c_i‖² of the features (see ``projecting_numpy.Noises``).
    """
    from . import compiled_projecting

    small, prior = state.small, belief(state.small, model)
    groups = one_group(len(state.C), small.S) if state.groups is None else state.groups
    given = _matrices(small, model), small.xbar.copy(), small.lam, prior.noise, prior.dictionary_scale, _rules(model)
    own = _grouped(state, groups, model)
    return compiling.call(compiled_projecting.project_rows, state.C, Y, own, *given, X, variance, *noises, complete_too)


def _rules(model: FilterModel) -> Rules:
    from .compiled_steps import Rules

    return Rules(
        r=model.r,
        ridge=model.step.compiled == "ridge",
        doubts=model.step.doubts,
        kalman=model.gain.facts.compiled == "kalman",
        drifts=model.drift is not None,
        learn_noise=model.learn_noise,
        learn_prior=model.step.learns_prior,
        track_noise=model.track_noise,
        min_observed=model.min_observed,
        rcond=model.rcond,
    )


def _matrices(state: SmallState, model: FilterModel) -> Array:
    r, q = model.r, model.q
    matrices = np.zeros((4, q, q))
    matrices[0], matrices[1], matrices[2, :r, :r] = state.G, state.S.T, state.T
    if model.drift is not None:
        matrices[3] = model.drift
    return matrices


def _numbers(state: SmallState) -> Array:
    return np.array([state.lam, state.noise_sum, state.noise_dof, state.k], dtype=np.float64)


def _filter(
    state: SmallState,
    model: FilterModel,
    n: int,
    samples: Callable[..., int],
    *data: Any,
    numbers: Array | None = None,
) -> Taken:
    r, matrices = model.r, _matrices(state, model)
    if numbers is None:
        numbers = _numbers(state)
    innovation, n_observed, share = np.empty(n), np.empty(n), np.empty(n)
    done = compiling.call(samples, *data, matrices, state.xbar, numbers, _rules(model), innovation, n_observed, share)
    state.G[...], state.S[...], state.T[...] = matrices[0], matrices[1].T, matrices[2, :r, :r]
    lam, noise_sum, noise_dof, k = numbers[:4].tolist()
    age = state.age + int(k) - state.k
    state = state._replace(lam=lam, noise_sum=noise_sum, noise_dof=noise_dof, k=int(k), age=age)
    taken = np.flatnonzero(n_observed[:done])
    return state, FilterRecord(innovation[taken], n_observed[taken], share[taken]), done
