"""Several fits as one share of the work."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from contracts.estimators import rows
from factorstream import BayesianFactorization, LowRankImputer, SequenceFilter
from factorstream.core.dynamics import choose, few
from factorstream.core.dynamics import fit as sequence_fit
from factorstream.core.telling import Sweep
from factorstream.core.variational import fit as variational_fit
from factorstream.estimators._telling import SweepProgress


def test_the_share_is_what_was_done_of_what_may_be_left():
    steps = []
    shown = SweepProgress("Model", lambda done, note="": steps.append(done), [(4, 10), (4, 10), (2, 40)])
    shown(Sweep(1, 4, 10, None, 3))
    shown(Sweep(2, 4, 10, 0.1, 3))
    shown(Sweep(1, 2, 40, None, 3))  # the second fit was not needed
    shown(Sweep(2, 2, 40, 0.1, 3))
    assert steps == [10 / 160, 20 / 160, 60 / 100, 1.0]


def test_words():
    steps = []
    shown = SweepProgress("Model", lambda done, note="": steps.append(note), [(4, 10)])
    shown(Sweep(1, 4, 10, None, 3))
    shown(Sweep(2, 4, 10, -0.0123, 1))
    assert steps == [
        "Model, sweep 1 of at most 4, 3 components",
        "Model, sweep 2 of at most 4, bound -0.012 nats per entry, 1 component",
    ]


def fits_made(monkeypatch, modules, action):
    """How many sweeps each fit may make and over how many rows, in the order in which they are made."""
    made = []
    original = modules[0].fit

    def counted(*given, **named):
        told = named.pop("tell") if "tell" in named else given[4]

        def told_and_noted(sweep):
            if sweep.number == 1:
                made.append((sweep.most, sweep.n_rows))
            told(sweep)

        return original(*given[:4], **named, tell=told_and_noted)

    for module in modules:
        monkeypatch.setattr(module, "fit", counted)
    action()
    return made


SEQUENCES = [(12, {}), (60, {}), (60, {"drift": "none"}), (150, {}), (150, {"drift": "level"}), (300, {}),
             (300, {"drift": "none"}), (60, {"calibrate": False}), (1100, {"max_iter": 5})]  # fmt: skip


@pytest.mark.parametrize(("n", "how"), SEQUENCES)
def test_the_plan_of_a_sequence_is_what_it_does(n, how, monkeypatch):
    from factorstream.core.dynamics import cycles_ahead, forecasts
    from factorstream.estimators import _sequence_fit
    from factorstream.estimators._sequence import options, plain_parameters, planned_sweeps

    rng = np.random.default_rng(1)
    state = lfilter([1.0], [1.0, -0.7], rng.standard_normal(n))  # no cycle, and no walk, which makes no sweeps
    X = state[:, None] * [1.0, 0.5, -1.0] + rng.standard_normal((n, 3))
    model = SequenceFilter(2, **how)
    given = plain_parameters(model)
    plan = planned_sweeps(n, options(given, 3), given)
    made = fits_made(
        monkeypatch, [sequence_fit, choose, few, forecasts, cycles_ahead, _sequence_fit], lambda: model.fit(X)
    )
    assert made == plan


@pytest.mark.parametrize("n", [90, 150, 300])
@pytest.mark.parametrize("how", [{}, {"drift": "none"}, {"calibrate": False}])
def test_the_plan_of_a_sequence_with_cycles_is_what_it_does(n, how, monkeypatch):
    from factorstream.core.dynamics import cycles_ahead, forecasts
    from factorstream.estimators import _sequence_fit
    from factorstream.estimators._sequence import options, plain_parameters, planned_sweeps

    rng = np.random.default_rng(0)
    X = 3 * np.cos(2 * np.pi * np.arange(n)[:, None] / 12 + np.arange(3)) + rng.normal(size=(n, 3))
    model = SequenceFilter(4, **how)
    given = plain_parameters(model)
    plan = planned_sweeps(n, options(given, 3), given, turning=True)
    made = fits_made(
        monkeypatch, [sequence_fit, choose, few, forecasts, cycles_ahead, _sequence_fit], lambda: model.fit(X)
    )
    assert model.state_.options.dynamics.cycles is not None
    assert made == plan


TOGETHER = [(60, {"marginals": "normal"}), (300, {"marginals": "normal"}), (2100, {"marginals": "auto", "max_iter": 5})]


@pytest.mark.parametrize(("n", "how"), TOGETHER)
def test_the_plan_of_models_that_fill_gaps_together_is_what_they_do(n, how, monkeypatch):
    from factorstream.estimators import _sequence_blend_fit
    from factorstream.estimators._sequence import options, plain_parameters

    X = np.exp(rows(n, 3) + np.random.default_rng(1).standard_normal((n, 3)))
    model = SequenceFilter(2, drift="none", **how)
    given = plain_parameters(model)
    plan = _sequence_blend_fit.planned_trials((n, 3), options(given, 3), given)
    assert fits_made(monkeypatch, [_sequence_blend_fit], lambda: model.fit(X)) == plan


@pytest.mark.parametrize("Estimator", [BayesianFactorization, LowRankImputer])
@pytest.mark.parametrize("how", [{}, {"n_components": 2}, {"n_components": 2, "calibrate": True}, {"max_iter": 3}])
def test_the_plan_of_a_factorisation_is_what_it_does(Estimator, how, monkeypatch):
    from factorstream.core.variational import auto
    from factorstream.estimators import _variational_fits
    from factorstream.estimators._variational import fit_options
    from factorstream.estimators._variational_fits import planned_sweeps

    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3)) @ rng.standard_normal((3, 9)) + rng.standard_normal((80, 9))
    alone = {"marginals": "linear", "residual": None} if Estimator is LowRankImputer else {}
    model = Estimator(**how, **alone, random_state=0)
    plan = planned_sweeps(80, fit_options(model.n_components, max_iter=model.max_iter), model.calibrate)
    made = fits_made(monkeypatch, [variational_fit, auto, _variational_fits], lambda: model.fit(X))
    assert made[-1] == plan[-1]
    assert made in (plan, plan[1:])  # a second reading of the data is not always tried
