"""LowRankImputer on data frames of numbers only: arrays come out, unless floats would round what is in them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from factorstream import LowRankImputer, fill

pandas = pytest.importorskip("pandas")


def test_tables_of_floats_are_what_they_were():
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.standard_normal((100, 3)), columns=list("xyz"))
    X["z"] += X["x"] + X["y"]
    model = LowRankImputer(random_state=0).fit(X)
    assert isinstance(model.transform(X), np.ndarray)
    assert model.state_.encoding is None


def test_tables_of_whole_numbers_are_arrays_too(tmp_path):
    """A model of numbers is asked about arrays and files, whatever their type was in the table of its fit."""
    rng = np.random.default_rng(0)
    X = pandas.DataFrame({"a": rng.integers(0, 9, 80), "b": rng.standard_normal(80)})
    X["c"] = X["a"] + X["b"]
    X.loc[::4, "c"] = np.nan
    model = LowRankImputer(random_state=0).fit(X)
    assert model.impute(X).dtypes.equals(X.dtypes)
    assert model.impute(X.convert_dtypes()).dtypes.equals(X.convert_dtypes().dtypes)
    assert isinstance(model.transform(X), np.ndarray)  # as scikit-learn's imputers do it
    assert isinstance(model.transform(X.convert_dtypes()), pandas.DataFrame)
    plain = LowRankImputer(random_state=0).fit(X.to_numpy())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an array has no names
        np.testing.assert_array_equal(model.transform(X.to_numpy()), plain.transform(X.to_numpy()))
    np.testing.assert_array_equal(model.transform(X), plain.transform(X.to_numpy()))
    X.to_csv(tmp_path / "x.csv", index=False)
    fill(model, tmp_path / "x.csv", tmp_path / "out.csv")
    np.testing.assert_allclose(pandas.read_csv(tmp_path / "out.csv"), model.transform(X), rtol=1e-6)


@pytest.mark.parametrize("far", [2**53 + 1, -(2**53) - 1])
def test_whole_numbers_that_floats_would_round_stay(far):
    rng = np.random.default_rng(0)
    X = pandas.DataFrame({"id": far + rng.integers(0, 100, 80), "b": rng.standard_normal(80)})
    X.loc[::4, "b"] = np.nan
    out = LowRankImputer(random_state=0).fit_transform(X)
    assert out.dtypes.equals(X.dtypes)
    assert out["id"].tolist() == X["id"].tolist()
    near = X.assign(id=X["id"] - far + 2**53 - 99)
    assert isinstance(LowRankImputer(random_state=0).fit_transform(near), np.ndarray)
