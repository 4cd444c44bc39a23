"""Rows that need not fit into memory are filled block by block, as they would be all at once."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from factorstream import (
    BayesianFactorization,
    DictionaryFilter,
    LowRankImputer,
    SequenceFilter,
    SGDFactorization,
    fill,
    open_rows,
)

NAMES = [f"x{j}" for j in range(5)]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 5)) + 5.0 + 0.1 * rng.normal(size=(300, 5))
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 0] = np.nan_to_num(X[:, 0], nan=5.0)  # no gaps
    return X


@pytest.fixture(scope="module")
def model(table):
    """Its answers to a row have the same bits whatever rows are asked with it, so that files can be compared
    exactly."""
    return LowRankImputer(marginals="linear", residual=None, random_state=0).fit(table)


def write(path, X, names=NAMES):
    if path.suffix == ".npy":
        np.save(path, X)
        return path
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=names)
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    return path


def read(path):
    if path.suffix == ".npy":
        return np.load(path), None
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(path) if path.suffix == ".csv" else pandas.read_parquet(path)
    return frame.to_numpy(), frame.columns.tolist()


@pytest.mark.parametrize("ending", [".npy", ".csv", ".parquet"])
def test_files_are_filled_in_their_format(ending, model, table, tmp_path):
    path, out = write(tmp_path / f"X{ending}", table), tmp_path / f"filled{ending}"
    written = fill(model, open_rows(path, block_bytes=800), out)
    values, names = read(out)
    assert_allclose(values, model.impute(table), rtol=1e-9 if ending == ".csv" else 0)  # texts have ten digits
    assert names in (None, NAMES)
    assert written == (out, 300, np.isnan(table).sum(), 0, (), ())


def test_blocks_are_filled_as_a_table_is_with_curves_and_scores(table, tmp_path):
    """Products over other numbers of rows round differently."""
    path, out = write(tmp_path / "X.npy", table), tmp_path / "filled.npy"
    model = LowRankImputer(random_state=0).fit(table)
    fill(model, open_rows(path, block_bytes=800), out)
    assert_allclose(read(out)[0], model.impute(table), rtol=1e-9)


@pytest.mark.parametrize("ending", [".npy", ".csv", ".parquet"])
def test_bounds_stand_behind_columns_with_gaps(ending, model, table, tmp_path):
    path, out = write(tmp_path / f"X{ending}", table), tmp_path / f"filled{ending}"
    fill(model, open_rows(path, block_bytes=800), out, level=0.9)
    values, names = read(out)
    lower, upper = model.predict_interval(table, 0.9)
    want = np.column_stack(
        [table[:, 0], *(part[:, j] for j in range(1, 5) for part in (model.impute(table), lower, upper))]
    )
    assert_allclose(values, want, rtol=1e-9 if ending == ".csv" else 0)
    assert names is None or names[:4] == ["x0", "x1", "x1_lower", "x1_upper"]


def test_columns_are_found_by_their_names(table, tmp_path):
    pandas = pytest.importorskip("pandas")
    model = DictionaryFilter(2, random_state=0).fit(pandas.DataFrame(table, columns=NAMES))
    path = write(tmp_path / "X.csv", table[:, ::-1], NAMES[::-1])
    fill(model, path, tmp_path / "filled.csv")
    values, names = read(tmp_path / "filled.csv")
    assert names == NAMES[::-1]
    want = model.impute(pandas.DataFrame(table, columns=NAMES)).to_numpy()
    assert_allclose(values[:, ::-1], want, rtol=1e-9)
    assert hasattr(model, "feature_names_in_")  # still there
    with pytest.raises(ValueError, match=r"columns=model.feature_names_in_"):
        fill(model, open_rows(path), tmp_path / "filled.csv")


def test_a_file_is_replaced_by_itself(model, table, tmp_path):
    path = write(tmp_path / "X.npy", table)
    fill(model, path, path)
    assert_array_equal(np.load(path), model.impute(table))
    assert [one.name for one in tmp_path.iterdir()] == ["X.npy"]


def test_rows_that_pass_once_get_bounds_in_all_columns(model, table, tmp_path):
    fill(model, iter(np.split(table, 5)), tmp_path / "filled.npy", level=0.9)
    values = np.load(tmp_path / "filled.npy")
    assert values.shape == (300, 15)
    assert_array_equal(values[:, 1], table[:, 0])  # known values are their own bounds
    assert_array_equal(values[:, ::3], model.impute(table))


def test_sparse_rows(table, tmp_path):
    seen = ~np.isnan(table)
    rows = sparse.csr_array((table[seen], np.nonzero(seen)), shape=table.shape)
    model = BayesianFactorization(2).fit(table)
    fill(model, rows, tmp_path / "filled.npy")
    assert_allclose(np.load(tmp_path / "filled.npy"), model.impute(table), rtol=1e-12)


def test_columns_of_which_nothing_is_known_stay(table, tmp_path):
    X = table.copy()
    X[:, 2] = np.nan
    with pytest.warns(UserWarning, match="Dropping"):
        model = LowRankImputer(random_state=0).fit(X)
    X[:3, 2] = 1.0
    written = fill(model, X, tmp_path / "filled.npy", level=0.9)
    values = np.load(tmp_path / "filled.npy")
    assert (written.n_left, written.left) == (297, (2,))
    assert_array_equal(values[:, 4], X[:, 2])
    assert np.isnan(values).sum() == 3 * 297


def test_infinite_bounds_are_left_empty(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    X[:, 3] = np.nan
    X[0, 3] = 2.0  # one value says nothing of others
    X[5, 1] = np.nan
    model = LowRankImputer(random_state=0).fit(X)
    fill(model, X, tmp_path / "filled.npy", level=0.8)
    values = np.load(tmp_path / "filled.npy")
    assert_array_equal(values[0, -3:], 2.0)
    assert np.isnan(values[1:, -2:]).all()
    assert np.isfinite(values[:, :-2]).all()


def test_models_that_cannot_fill_blocks_are_refused(table, tmp_path):
    out = tmp_path / "filled.npy"
    with pytest.raises(NotFittedError):
        fill(LowRankImputer(), table, out)
    with pytest.raises(TypeError, match="SequenceFilter fills a sequence as a whole"):
        fill(SequenceFilter(2, max_iter=2).fit(table[:30]), table, out)
    with pytest.raises(TypeError, match="SGDFactorization gives no intervals; leave out level"):
        fill(SGDFactorization(2).fit(table), table, out, level=0.9)
    marked = LowRankImputer(2, missing_values=-1.0).fit(np.nan_to_num(table, nan=-1.0))
    with pytest.raises(ValueError, match=r"takes -1.0 for missing; fit it to open_rows\(..., missing=\['-1.0'\]\)"):
        fill(marked, table, out)
    fill(SGDFactorization(2).fit(table), table, out)
    assert np.isfinite(np.load(out)).all()


def test_what_cannot_be_filled_leaves_no_file(model, table, tmp_path):
    infinite = table.copy()
    infinite[250, 1] = np.inf
    with pytest.raises(ValueError, match="infinity at row 250, column 1"):
        fill(model, open_rows(infinite, block_bytes=800), tmp_path / "filled.npy")
    with pytest.raises(ValueError, match="rows have 4 columns of numbers, and the model knows 5"):
        fill(model, table[:, :4], tmp_path / "filled.npy")
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        fill(model, table, tmp_path / "filled.npy", level=95)
    assert not list(tmp_path.iterdir())
