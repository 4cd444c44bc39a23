"""The Python lines of a report run, and do what the model did."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import BayesianFactorization, DictionaryFilter, LowRankImputer
from factorstream.report.lines import python_lines
from sequence_problems import quick

MODELS = [
    DictionaryFilter(2, random_state=0, noise_variance=np.float64(0.1)),
    BayesianFactorization("auto", random_state=1, max_iter=5, robust=4.0),
    LowRankImputer(2, random_state=0, add_indicator=True),
    quick(2),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_lines_do_it_again(model, gappy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model.fit(gappy)
    names = {"X": gappy}
    exec(python_lines(model, {"level": 0.8, "fraction": 0.2, "rng": 0}, gappy.shape), names)
    answer = "transform" if isinstance(model, LowRankImputer) else "impute"
    np.testing.assert_array_equal(names["filled"], getattr(model, answer)(gappy))
    np.testing.assert_array_equal(names["upper"], model.predict_interval(gappy, 0.8)[1])
    assert "80% intervals" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_only_what_was_changed_is_written(gappy):
    model = DictionaryFilter(3, random_state=0).fit(gappy)
    lines = python_lines(model, {"level": 0.95, "fraction": 0.2, "length": None}, gappy.shape).splitlines()
    assert lines[3] == "model = DictionaryFilter(n_components=3, random_state=0).fit(X)"
    assert lines[-1] == 'model.report("report.html", X, fraction=0.2)'


def test_arrays_are_named_and_not_written(gappy):
    init = np.ones((2, 6)) + np.eye(2, 6)
    model = DictionaryFilter(2, init=init, random_state=0).fit(gappy)
    lines = python_lines(model, {"level": 0.95}, gappy.shape)
    names = {"X": gappy, "init": init}
    exec("\n".join(line for line in lines.splitlines() if "report(" not in line), names)
    np.testing.assert_array_equal(names["filled"], model.impute(gappy))
    assert "# init: as it was given to the model" in lines


def test_a_model_of_other_rows_is_not_fitted_again(gappy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = DictionaryFilter(2, random_state=0).fit(gappy[:80])
    names = {"X": gappy[80:], "model": model}
    exec(python_lines(model, {"level": 0.8}, gappy[80:].shape, fitted_to_X=False), names)
    np.testing.assert_array_equal(names["filled"], model.impute(gappy[80:]))
