"""What a report is about, whatever X is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from factorstream import BayesianFactorization, DictionaryFilter, LowRankImputer
from factorstream.report import given as module
from factorstream.report.given import answers, given
from sequence_problems import hours, panel, quick, table


def test_columns_that_the_model_was_not_fitted_to_are_set_aside(gappy):
    frames = pytest.importorskip("pandas")
    frame = frames.DataFrame(gappy, columns=list("abcdef"))
    model = DictionaryFilter(2, random_state=0).fit(frame)
    frame.insert(2, "text", "words")
    frame["when"] = frames.Timestamp("2024-01-01")
    frame["more"] = 1.5
    found = given(model, frame)
    assert found.unused == (
        ("text", "no numbers"),
        ("when", "time stamps"),
        ("more", "numbers that the model was not fitted to"),
    )
    np.testing.assert_array_equal(found.panel.values, gappy)
    np.testing.assert_array_equal(answers(found, 0.9).filled, model.impute(gappy_table(frames, gappy)).to_numpy())


def gappy_table(frames, gappy):
    return frames.DataFrame(gappy, columns=list("abcdef"))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_time_stamps_of_a_sequence_stay(library):
    Y = panel(T=60)
    Y[10:15, 1] = np.nan
    frame = table(library, Y, hours(library, 60))
    model = quick(2).fit(frame)
    found = given(model, frame)
    assert (found.unused, found.in_time, found.panel.dated) == ((), True, True)
    np.testing.assert_array_equal(found.panel.values, Y)
    np.testing.assert_allclose(answers(found, 0.9).filled, quick(2).fit(Y).impute(Y))


def test_other_marks_of_missing_values_become_nan(gappy):
    marked = np.where(np.isnan(gappy), -1.0, gappy)
    found = given(LowRankImputer(2, missing_values=-1.0, random_state=0).fit(marked), marked)
    np.testing.assert_array_equal(found.panel.values, gappy)
    said = answers(found, 0.9)
    expected = LowRankImputer(2, random_state=0).fit(gappy)
    np.testing.assert_array_equal(said.filled, expected.transform(gappy))
    np.testing.assert_array_equal(said.upper, expected.predict_interval(gappy, 0.9)[1])


def test_absurd_values_are_missing_and_named_without_a_warning(gappy):
    model = DictionaryFilter(2, random_state=0).fit(gappy)
    X = gappy.copy()
    X[7, 3] = 9.96921e36
    found = given(model, X)
    assert (found.absurd.row.tolist(), found.absurd.column.tolist()) == ([7], [3])
    X[7, 3] = np.nan
    np.testing.assert_array_equal(found.panel.values, X)
    assert answers(found, 0.9).warned == ()


def test_sparse_rows_are_rows_with_gaps(gappy, monkeypatch):
    row, column = np.nonzero(~np.isnan(gappy))
    stored = sparse.csr_array((gappy[row, column], (row, column)), shape=gappy.shape)
    model = BayesianFactorization(2, random_state=0).fit(stored)
    found = given(model, stored)
    np.testing.assert_array_equal(found.panel.values, gappy)
    np.testing.assert_allclose(answers(found, 0.9).filled, model.impute(gappy))
    monkeypatch.setattr(module, "MOST_ENTRIES", 100)
    with pytest.raises(ValueError, match="X has 720 entries with its gaps; pass fewer of its rows"):
        given(model, stored)


def test_a_small_table_has_no_calibrated_bounds_and_says_so(rng):
    X = rng.normal(size=(8, 3))
    X[0, 0] = np.nan
    said = answers(given(LowRankImputer(1, random_state=0).fit(X), X), 0.95)
    assert said.lower is None
    assert "calibrate" in said.warned[-1]
    assert np.isfinite(said.filled).all()


def test_what_a_model_warns_of_is_kept(rng):
    Y = panel(T=60)
    frame = table("pandas", Y, hours("pandas", 60)).drop(index=hours("pandas", 60)[20:25])
    with pytest.warns(UserWarning, match="time"):
        model = quick(2).fit(frame)
    (sentence,) = answers(given(model, frame), 0.9).warned
    assert "5 step(s) between their time stamps are left out" in sentence
