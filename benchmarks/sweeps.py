"""One sweep of each iterated fit beside the same sweep as a textbook has it."""

from __future__ import annotations

import importlib
import warnings
from functools import partial

import numpy as np

from factorstream.core.dynamics.em import LoadingPrior, maximise
from factorstream.core.dynamics.noise import GaussianSpec
from factorstream.core.dynamics.outliers import expect
from factorstream.core.dynamics.scale import standards
from factorstream.core.dynamics.start import start_states
from factorstream.core.variational.fit import FitOptions, fit
from factorstream.core.variational.noise.variance import LEAST, PooledVariance
from factorstream.core.variational.observed import observations
from factorstream.core.variational.relevance import KAPPA, Relevance
from factorstream.core.variational.sweep import SweepRules, sweep
from factorstream.datasets import load_london_air, load_olivetti

from . import floors, textbook
from .rows import Contestant, Found, Row, compete, readable, with_ratios
from .textbook import Array
from .timing import Machine, race

VARIATIONAL, ALS = "variational sweep, covariance per feature", "plain ALS sweep, no covariance"
EM, TEXTBOOK_EM = "EM sweep", "textbook filter-smoother sweep"
STATSMODELS = "DynamicFactorMQ, one EM iteration"


def variational_sweep(machine: Machine, quick: bool) -> Found:
    """One variational sweep with a posterior per feature against one plain ALS sweep."""
    faces, r = load_olivetti(), 40
    images = faces.images[:, ::2, ::2] if quick else faces.images
    Y = images.reshape(len(images), -1) / 255.0
    Y = Y - Y.mean()
    n, m = Y.shape
    seen = np.random.default_rng(0).random(Y.shape) > 0.25
    W = seen.astype(np.float64)
    Z = np.where(seen, Y, 0.0)
    data, rules = observations(Z, W), SweepRules(Relevance(KAPPA, 1.0 / r), PooledVariance(), LEAST)
    model = fit(data, FitOptions(r=r, max_sweeps=1, prune=False)).factors
    rng = np.random.default_rng(0)
    X0, C0 = rng.standard_normal((n, r)), rng.standard_normal((m, r))
    contestants = {
        VARIATIONAL: Contestant(lambda: sweep(data, data.W, model, rules), work=floors.variational_sweep(n, m, r + 1)),
        ALS: Contestant(lambda: textbook.als_sweep(Y, seen, X0, C0, 0.1), "yardstick", floors.als_sweep(seen, r)),
    }
    rows = compete(f"Variational sweep, faces {n}×{m}, r={r}", contestants, machine)
    return Found([row._replace(data=f"faces: {faces.source}") for row in rows])


def sequence_sweep(machine: Machine, quick: bool) -> Found:
    """One EM sweep over the London air against a textbook filter-smoother, and statsmodels."""
    air = load_london_air()
    values = air.values[: 800 if quick else None]
    values = values[:, np.isfinite(values).any(axis=0)]  # a station may be silent in the first hours
    shift, scale = standards(values)
    Y, r = (values - shift) / scale, 10
    seen = np.isfinite(Y)
    model = start_states(Y, r, GaussianSpec())
    prior = LoadingPrior(np.ones(len(model.dynamics.A)))
    plain = textbook.Linear(*model.dynamics, model.emission.C, model.emission.mean, model.noise.R)
    contestants = {
        EM: Contestant(lambda: maximise(model, expect(model, Y)[1], prior), work=floors.em_sweep(seen, r)),
        TEXTBOOK_EM: Contestant(lambda: textbook.em_sweep(Y, plain), "yardstick", floors.textbook_em_sweep(seen, r)),
    }
    case = f"Sequence, London PM10 {Y.shape[0]}×{Y.shape[1]}, r={r}"
    rows = compete(case, contestants, machine, limit=60.0)
    rows = with_ratios([*rows, _statsmodels(case, Y, r)])
    return Found([row._replace(data=f"London PM10: {air.source}") for row in rows])


def _statsmodels(case: str, Y: Array, r: int) -> Row:
    """The cost of one EM iteration without that of the start: the difference of four iterations and one."""
    row = Row(case, STATSMODELS, "peer")
    try:
        DynamicFactorMQ = importlib.import_module("statsmodels.tsa.api").DynamicFactorMQ
    except ImportError:
        return row._replace(note="not installed on this machine")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other = DynamicFactorMQ(Y, factors=1, factor_multiplicities=r, idiosyncratic_ar1=False, standardize=False)
            calls = {k: partial(other.fit_em, maxiter=k, disp=False) for k in (1, 4)}
            found = race({str(k): call for k, call in calls.items()}, limit=60.0)  # after a warm-up each
            one, four = found["1"].median, found["4"].median
    except Exception as problem:  # a panel in which some station never reports, for one
        return row._replace(note=f"refuses this panel: {str(problem).partition('.')[0][:80]}")
    each = (four - one) / 3.0
    if each <= 0.0:
        return row._replace(note="four iterations took no longer than one: its start hides them")
    note = f"a third of what four iterations take more than one; its start takes {readable(one - each)} more"
    return row._replace(seconds=each, note=note)
