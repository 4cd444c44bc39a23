"""``verbose=1`` says how far a fit is, and changes nothing else."""

from __future__ import annotations

import re
import threading

import numpy as np
import pytest
from sklearn.base import clone

from contracts.asking import EVERY, learned, parts, ways
from contracts.estimators import rows
from factorstream import progress

pytestmark = pytest.mark.once  # how rows go through the filter changes nothing here


def without_verbose(model):
    """Everything that was learned; the parameters that are kept with it say what ``verbose`` was."""
    state = model.state_._asdict()
    run = state.get("factorization")
    if run is not None:
        state["factorization"] = run._replace(parameters={**run.parameters, "verbose": 0})
    state["parameters"] = {name: value for name, value in state["parameters"].items() if name != "verbose"}
    return parts(state)


@pytest.mark.parametrize(("case", "how"), ways(("fit",), ("partial_fit",)))
def test_it_changes_nothing_and_says_something_once_it_takes_long(case, how, monkeypatch, capsys):
    X = rows()
    quiet = learned(case, X, how=how)
    capsys.readouterr()
    monkeypatch.setattr(progress, "DELAY", 3600.0)  # on a busy machine short work may take two seconds
    soon = getattr(clone(case.estimator).set_params(verbose=1), how)(X)
    assert capsys.readouterr() == ("", "")  # done before anybody could ask
    monkeypatch.setattr(progress, "DELAY", 0.0)
    late = getattr(clone(case.estimator).set_params(verbose=np.int64(1)), how)(X)  # of NumPy, as ranges of it have them
    said = capsys.readouterr()
    assert said.out == ""
    assert re.search(rf"^{type(late).__name__}:.* done after [0-9]+ s$", said.err, re.MULTILINE)
    assert without_verbose(soon) == without_verbose(late) == without_verbose(quiet)


@pytest.mark.parametrize(("case", "how"), ways(("fit",), ("partial_fit",)))
def test_every_step_is_further_than_the_last_and_within_the_total(case, how, monkeypatch):
    """What the steps of a fit say, whether it is shown or not."""
    steps, totals = [], []

    class Recording:
        def __init__(self, what, total=None, show=True):
            totals.append(total)

        def __enter__(self):
            return lambda done, note="": steps.append((done, note))

        def __exit__(self, *problem):
            return False

    monkeypatch.setattr("factorstream.estimators._stateful.progress", Recording)
    model = getattr(clone(case.estimator), how)(rows())
    (total,) = totals
    done = [step[0] for step in steps]
    assert 0 <= min(done) <= max(done) <= total
    assert done == sorted(done)
    name = type(model).__name__
    assert all(note == "" or note.startswith(f"{name}, ") for _, note in steps)
    if how == "fit":
        kinds = r"pass \d+ of \d+|sweep \d+ of at most \d+|objective \d"
        assert all(re.search(kinds, note) for _, note in steps if note)
        assert any(note for _, note in steps)


@pytest.mark.parametrize("case", EVERY)
def test_nothing_runs_beside_a_quiet_fit(case, monkeypatch):
    def no_thread(*given, **named):
        raise AssertionError("a thread was started")

    monkeypatch.setattr(threading.Thread, "start", no_thread)
    clone(case.estimator).fit(rows())
