"""Rows that do not fit into memory: fitted from a source as from an array."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from factorstream import BayesianFactorization, DictionaryFilter, LowRankImputer, load, open_rows
from factorstream.estimators import _source_rows
from factorstream.estimators._absurd import AbsurdValueWarning
from factorstream.estimators._source_rows import look, reading, source_of
from factorstream.sources.columns import take_names
from factorstream.sources.table import TableError
from row_files import WRITERS, numbers

N, M, R = 3000, 12, 3


@pytest.fixture(scope="module")
def table():
    """True values, and the same with gaps, around means of different sizes and with a trend in the rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, R)) @ rng.normal(size=(R, M)) + 10.0 * np.arange(M) + 0.3 * rng.normal(size=(N, M))
    X += 2.0 * np.linspace(-1.0, 1.0, N)[:, None] * rng.normal(size=M)
    return X, np.where(rng.random(X.shape) < 0.3, np.nan, X)


@pytest.fixture
def few(monkeypatch):
    """A fit begins with few of the rows."""
    monkeypatch.setattr(_source_rows, "SOME_VALUES", 400 * M)


def blocks_of(X, size=250):
    return open_rows(X, block_bytes=8 * M * size)


def error(model, table):
    X, gappy = table
    gaps = np.isnan(gappy)
    return float(np.sqrt(np.mean((model.impute(gappy) - X)[gaps] ** 2)))


def coverage(model, table, level=0.9):
    X, gappy = table
    gaps = np.isnan(gappy)
    lower, upper = model.predict_interval(gappy, level=level)
    return float(np.mean(((lower <= X) & (upper >= X))[gaps]))


# ---------------------------------------------------------------- what is a source


def test_what_is_in_memory_is_no_source(table, tmp_path):
    X = table[1]
    pandas = pytest.importorskip("pandas")
    for rows in (X, X.tolist(), sparse.csr_array(X), pandas.DataFrame(X), None, 3.0):
        assert source_of(rows) is None
    np.save(tmp_path / "X.npy", X)
    assert source_of(np.load(tmp_path / "X.npy", mmap_mode="r")) is None  # it is small


def test_what_need_not_be_in_memory_is_a_source(table, tmp_path, monkeypatch):
    X = table[1]
    monkeypatch.setattr(_source_rows, "MAPPED", X.nbytes - 1)
    np.save(tmp_path / "X.npy", X)
    kinds = (
        tmp_path / "X.npy",
        str(tmp_path / "X.npy"),
        np.load(tmp_path / "X.npy", mmap_mode="r"),
        (row for row in X),
        lambda: iter([X]),
        blocks_of(X),
    )
    for rows in kinds:
        source = source_of(rows)
        assert source is not None
        assert_array_equal(np.concatenate([block.values for block in source.blocks()]), X)


ARRAYS = (".npy", ".npy.gz", ".npz", ".h5", ".zarr")
"""Endings of files that have no texts."""


@pytest.mark.parametrize("ending", WRITERS)
def test_every_format_is_fitted(ending, tmp_path):
    X = numbers(np.random.default_rng(0), n=200)
    path = tmp_path / f"x{ending}"
    WRITERS[ending](path, X)
    for model in (LowRankImputer(1, random_state=0), BayesianFactorization(1), DictionaryFilter(1, random_state=0)):
        want = clone(model).partial_fit(X) if isinstance(model, DictionaryFilter) else clone(model).fit(X)
        with nullcontext() if ending in ARRAYS else pytest.warns(UserWarning, match="left out: town. They are carried"):
            found = model.fit(path)
        take_names(found)
        assert_allclose(found.impute(X), want.impute(X), rtol=0, atol=1e-12)


def test_datasets_and_lazy_frames_are_fitted(table, tmp_path):
    X = table[1][:300]
    want = BayesianFactorization(R).fit(X).impute(X)
    h5py, polars = pytest.importorskip("h5py"), pytest.importorskip("polars")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["X"] = X
        assert_array_equal(BayesianFactorization(R).fit(file["X"]).impute(X), want)
    found = BayesianFactorization(R).fit(polars.LazyFrame(X))
    take_names(found)
    assert_array_equal(found.impute(X), want)


# ---------------------------------------------------------------- a look at all rows


def test_a_look_sees_all_rows_and_keeps_some_of_everywhere(table, few):
    X = table[1].copy()
    X[7], X[-1] = np.nan, np.nan
    found = look(reading(blocks_of(X)), M, X.dtype)
    assert found.whole is None
    assert found.n_rows == N
    assert_array_equal(found.moments.count, (~np.isnan(X)).sum(axis=0))
    assert_allclose(found.moments.mean, np.nanmean(X, axis=0), rtol=1e-12)
    assert_allclose(found.moments.square, N * np.nanvar(X, axis=0) * found.moments.count / N, rtol=1e-10)
    assert_array_equal(found.seen.low, np.nanmin(X, axis=0))
    assert 200 <= len(found.some) <= 400
    place = {row.tobytes(): k for k, row in enumerate(X)}
    kept = np.array([place[row.tobytes()] for row in found.some])
    assert (np.diff(kept) > 0).all()
    assert np.histogram(kept, 4, (0, N))[0].min() > 0.6 * len(kept) / 4


def test_a_look_does_not_depend_on_the_blocks(table, few):
    one, other = (look(reading(blocks_of(table[1], size)), M, np.dtype(float)) for size in (97, 1000))
    assert_array_equal(one.some, other.some)
    assert_allclose(one.moments.square, other.moments.square, rtol=1e-12)


def test_few_rows_are_kept_as_they_are(table):
    X = table[1]
    found = look(reading(blocks_of(X)), M, X.dtype)
    assert_array_equal(found.whole, X)


# ---------------------------------------------------------------- the variational fit


@pytest.mark.parametrize("model", [BayesianFactorization, LowRankImputer])
def test_a_small_source_is_fitted_as_an_array(model, table, tmp_path):
    np.save(tmp_path / "X.npy", table[1])
    want = model(random_state=0).fit(table[1]).impute(table[1])
    assert_array_equal(model(random_state=0).fit(tmp_path / "X.npy").impute(table[1]), want)
    assert_array_equal(model(random_state=0).fit(blocks_of(table[1])).impute(table[1]), want)


@pytest.mark.parametrize(
    "settings", [{}, {"n_components": R + 1}, {"calibrate": True}, {"robust": 5.0}, {"noise_variance": "per_feature"}]
)
def test_a_large_source_is_fitted_as_well_as_an_array(settings, table, few):
    want = BayesianFactorization(random_state=0, **settings).fit(table[1])
    found = BayesianFactorization(random_state=0, **settings).fit(blocks_of(table[1]))
    assert found.n_samples_seen_ == N
    assert found.n_features_in_ == M
    assert found.n_iter_ == len(found.history_)
    assert error(found, table) < 1.02 * error(want, table)
    assert abs(coverage(found, table) - 0.9) < 0.02
    assert_allclose(np.mean(found.noise_variance_), np.mean(want.noise_variance_), rtol=0.1)


def test_all_rows_count_and_not_those_alone_that_a_fit_begins_with(table, few):
    found = BayesianFactorization(R + 1, random_state=0).fit(blocks_of(table[1]))
    want = BayesianFactorization(R + 1, random_state=0).fit(table[1])
    spread = [np.trace(model.covariance_, axis1=1, axis2=2).mean() for model in (found, want)]
    assert_allclose(spread[0], spread[1], rtol=0.1)  # of 400 rows it would be seven times as much


def test_blocks_do_not_matter(table, few):
    one, other = (BayesianFactorization(R, random_state=0).fit(blocks_of(table[1], size)) for size in (97, 1000))
    assert_allclose(one.impute(table[1]), other.impute(table[1]), rtol=0, atol=1e-10)  # of values up to 100


def test_sparse_blocks(table, few):
    gappy = table[1]
    seen = ~np.isnan(gappy)
    stored = sparse.csr_array((gappy[seen], np.nonzero(seen)), shape=gappy.shape)
    want = BayesianFactorization(R).fit(blocks_of(gappy))
    found = BayesianFactorization(R).fit(blocks_of(stored))
    assert_allclose(error(found, table), error(want, table), rtol=1e-3)


@pytest.mark.parametrize("settings", [{}, {"robust": True}, {"add_indicator": True}])
def test_an_imputer_learns_from_a_large_source(settings, table, few):
    unit = 10.0 ** (np.arange(M) % 5)
    X, gappy = (part * unit for part in table)
    gappy[:, 5], X[:, 5] = 7.0, 7.0  # never varies
    gappy[:N:3, 5] = np.nan
    want = LowRankImputer(random_state=0, **settings).fit(gappy)
    found = LowRankImputer(random_state=0, **settings).fit(blocks_of(gappy))
    assert_array_equal(found.n_observed_, want.n_observed_)
    assert found.scale_[5] == 0.0
    assert found.statistics_[5] == 7.0
    assert_allclose(found.statistics_, want.statistics_, rtol=0.1 if "robust" in settings else 1e-10, atol=1.0)
    gaps = np.isnan(gappy)
    errors = [np.sqrt(np.mean(((model.impute(gappy) - X) / unit)[gaps] ** 2)) for model in (found, want)]
    assert errors[0] < 1.02 * errors[1]
    assert_array_equal(found.get_feature_names_out(), want.get_feature_names_out())
    lower, upper = found.predict_interval(gappy, 0.9)
    assert abs(np.mean(((lower <= X) & (upper >= X))[gaps]) - 0.9) < 0.02
    assert found.factorization_.n_samples_seen_ == N


def test_another_mark_of_missing_values(table, few):
    marked = np.where(np.isnan(table[1]), -1.0, table[1])
    want = LowRankImputer(R, random_state=0).fit(blocks_of(table[1]))
    found = LowRankImputer(R, random_state=0, missing_values=-1.0).fit(blocks_of(marked))
    assert_array_equal(found.impute(marked), want.impute(table[1]))
    with pytest.raises(ValueError, match="contains NaN, but missing_values is -1"):
        LowRankImputer(R, missing_values=-1.0).fit(blocks_of(table[1]))


def test_a_late_column_is_learned(table, few):
    gappy = table[1].copy()
    gappy[: N - 150, 4] = np.nan  # hardly any of it is among the rows that the fit begins with
    found = BayesianFactorization(R + 1, random_state=0).fit(blocks_of(gappy))
    want = BayesianFactorization(R + 1, random_state=0).fit(gappy)
    assert_allclose(found.mean_[4], want.mean_[4], atol=0.5)


def test_absurd_values_are_taken_as_missing(table, few):
    gappy = table[1].copy()
    gappy[2000, 3] = -1e9
    with pytest.warns(AbsurdValueWarning, match="row 2000, column 3"):
        found = BayesianFactorization(R, random_state=0).fit(blocks_of(gappy))
    gappy[2000, 3] = np.nan
    want = BayesianFactorization(R, random_state=0).fit(blocks_of(gappy))
    assert_allclose(found.impute(gappy), want.impute(gappy), rtol=1e-12)


def test_a_model_of_a_source_is_saved_and_goes_on(table, few, tmp_path):
    found = BayesianFactorization(R, random_state=0).fit(blocks_of(table[1]))
    found.save(tmp_path / "model")
    again = load(tmp_path / "model").partial_fit(table[1][:100])
    found.partial_fit(table[1][:100])
    assert_array_equal(again.impute(table[1]), found.impute(table[1]))
    assert found.n_samples_seen_ == N + 100


# ---------------------------------------------------------------- the filter


@pytest.mark.parametrize("kind", ["file", "generator", "function"])
def test_the_filter_streams_a_source_as_partial_fit_does(kind, table, tmp_path):
    X = table[1][:600]
    np.save(tmp_path / "X.npy", X)
    sources = {"file": tmp_path / "X.npy", "generator": iter(np.split(X, 6)), "function": lambda: np.split(X, 10)}
    want = DictionaryFilter(R + 1, random_state=0).partial_fit(X)
    found = DictionaryFilter(R + 1, random_state=0).fit(sources[kind])
    assert_allclose(found.impute(X), want.impute(X), rtol=0, atol=1e-9)  # of values up to 100
    assert found.n_samples_seen_ == 600
    assert error(found, (table[0][:600], X)) < 0.6


def test_the_filter_passes_again_over_what_rewinds(table):
    found = DictionaryFilter(R, random_state=0, n_passes=2).fit(blocks_of(table[1][:300]))
    assert found.n_samples_seen_ == 600
    with pytest.raises(ValueError, match="n_passes=2 reads them several times; give a file"):
        DictionaryFilter(R, n_passes=2).fit(iter([table[1]]))


# ---------------------------------------------------------------- names and refusals


class Named:
    """A source with names."""

    def __init__(self, X, names):
        self._rows, self.names = blocks_of(X), names
        self.dtype, self.n_rows, self.n_columns, self.rewinds = self._rows.dtype, len(X), X.shape[1], True

    def blocks(self, start=0):
        return self._rows.blocks(start)


@pytest.mark.parametrize("model", [BayesianFactorization(R), LowRankImputer(R), DictionaryFilter(R)])
def test_names_of_columns_are_kept(model, table, few):
    pandas = pytest.importorskip("pandas")
    names = [f"x{j}" for j in range(M)]
    X = table[1][:500]
    model.fit(Named(X, names))
    assert model.feature_names_in_.tolist() == names
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.impute(pandas.DataFrame(X[:5], columns=names)).columns.tolist() == names
    model.fit(blocks_of(X))
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("model", [BayesianFactorization(R), LowRankImputer(R)])
def test_rows_that_pass_once_are_refused_by_what_sweeps(model, table):
    with pytest.raises(
        ValueError,
        match=r"read only once, .* begin them again for DictionaryFilter, .*: the first block has been read",
    ):
        model.fit(iter([table[1]]))
    assert not hasattr(model, "state_")


@pytest.mark.parametrize("model", [BayesianFactorization(R), LowRankImputer(R), DictionaryFilter(R)])
def test_bad_sources_change_nothing(model, table, few):
    model.fit(table[1][:50])
    before = model.impute(table[1][:50])
    infinite = table[1].copy()
    infinite[2500, 2] = np.inf
    with pytest.raises(ValueError, match="infinity at row 2500, column 2"):
        model.fit(blocks_of(infinite))
    with pytest.raises(ValueError, match="no observed entry"):
        model.fit(blocks_of(np.full((N, M + 1), np.nan)))
    with pytest.raises(TableError, match="does not exist"):
        model.fit(Path("nowhere.npy"))
    assert model.n_features_in_ == M
    assert_array_equal(model.impute(table[1][:50]), before)


def test_a_column_without_a_value_is_pointed_out(table, few):
    gappy = table[1].copy()
    gappy[:, 3] = np.nan
    with pytest.warns(UserWarning, match=r"column 3.*filled with the mean of the others, with infinite bounds"):
        model = BayesianFactorization(R, random_state=0).fit(blocks_of(gappy))
    low, high = model.predict_interval(gappy[:5])
    assert (np.isinf(low) & np.isinf(high)).all(axis=0).tolist() == [i == 3 for i in range(M)]
    others = [i for i in range(M) if i != 3]
    plain = BayesianFactorization(R, random_state=0).fit(blocks_of(gappy[:, others]))
    assert_allclose(model.impute(gappy[:5])[:, others], plain.impute(gappy[:5, others]), rtol=1e-2)
    with pytest.warns(UserWarning, match="column 3"):
        want = BayesianFactorization(R).fit(gappy)
    assert_allclose(model.mean_[3], want.mean_[3], rtol=1e-3)
    with pytest.warns(UserWarning, match="Dropping features without any observed value: 3"):
        assert LowRankImputer(R).fit(blocks_of(gappy)).transform(gappy).shape == (N, M - 1)
