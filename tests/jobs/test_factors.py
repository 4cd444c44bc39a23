"""Components and coefficients of files."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from cli_problems import table, write
from factorstream import BayesianFactorization, DictionaryFilter, LowRankImputer, SequenceFilter
from factorstream.jobs.factors import FactorSettings, factorize_file


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "in.csv", *table()[:2])


def test_the_parts_make_up_what_the_model_says(path):
    found = factorize_file(path, FactorSettings())
    model = LowRankImputer(marginals="linear", residual=None, calibrate=False, random_state=0).fit(found.given.X)
    gaps = np.isnan(found.given.X)
    together = found.coefficients @ found.components + found.mean
    np.testing.assert_allclose(together[gaps], model.transform(found.given.X)[gaps], rtol=1e-6)


@pytest.mark.parametrize(
    "model",
    [DictionaryFilter(2, random_state=0), BayesianFactorization(2), SequenceFilter(2, drift="none", calibrate=False)],
)
def test_models_that_were_fitted_before(path, model):
    X = factorize_file(path, FactorSettings()).given.X
    found = factorize_file(path, FactorSettings(), model=model.fit(X))
    together = found.coefficients @ found.components + found.mean
    reached = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(together, reached, rtol=1e-6, atol=1e-6 * np.abs(reached).max())


def test_components_are_canonical(path):
    found = factorize_file(path, FactorSettings())
    unit = np.nanstd(found.given.X, axis=0)
    axes = found.components / unit
    np.testing.assert_allclose(axes @ axes.T, np.eye(len(axes)), atol=0.02)  # units are rounded differently
    assert (np.diff(found.explained) <= 0).all()
    assert found.explained.sum() <= 1.0
    assert (found.components[np.arange(len(axes)), np.abs(axes).argmax(axis=1)] > 0).all()


def test_files(path):
    found = factorize_file(path, FactorSettings(components=2))
    files = {name: list(csv.reader(io.StringIO(text.decode()))) for name, text in found.files().items()}
    assert files["components"][0] == ["component", "explained", "a", "b", "c", "d"]
    assert files["coefficients"][0] == ["id", "date", "comment", "component 1", "component 2"]
    assert files["coefficients"][1][:3] == ["00001", "2024-01-01", "fine 0"]
    assert [len(rows) for rows in files.values()] == [3, 121, 2]
    coefficients = np.array([row[3:] for row in files["coefficients"][1:]], dtype=float)
    np.testing.assert_allclose(coefficients, found.coefficients, rtol=1e-8)


def test_arrays_are_numbers_alone(tmp_path):
    X = table()[2]
    np.save(tmp_path / "x.npy", X)
    files = factorize_file(tmp_path / "x.npy", FactorSettings(components=2)).files()
    shapes = {name: np.load(io.BytesIO(content)).shape for name, content in files.items()}
    assert shapes == {"components": (2, 4), "coefficients": (120, 2), "mean": (1, 4)}


def test_columns_that_do_not_vary(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,7\n1,7\n,7\n")
    found = factorize_file(tmp_path / "x.csv", FactorSettings())
    assert found.components.shape == (0, 2)
    assert found.mean.tolist() == [1.0, 7.0]


def test_names_that_could_be_gaps_stay_beside_coefficients(tmp_path):
    lines = [
        "code,a,b",
        *(f"{code},{k * k % 11},{k * k % 7}" for k, code in enumerate(["NA", "none", '"A, B"', "DE"] * 5, 1)),
    ]
    (tmp_path / "x.csv").write_text("\n".join(lines) + "\n")
    files = factorize_file(tmp_path / "x.csv", FactorSettings(components=1)).files()
    codes = [line.rpartition(",")[0] for line in files["coefficients"].decode().splitlines()[1:5]]
    assert codes == ["NA", "none", '"A, B"', "DE"]
