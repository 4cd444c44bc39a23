"""Features in the shards that chunks of a Dask array make: the numbers of one process, on any scheduler."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import threading
import time
import warnings

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client
from numpy.testing import assert_allclose

import factorstream
from cluster_problems import cut_from_file, gappy, made_cut, two_processes
from factorstream import BayesianFactorization, DictionaryFilter, LowRankImputer, in_shards, moved, open_rows
from factorstream.estimators import _filter_shards, _source_rows
from factorstream.estimators._absurd import AbsurdValueWarning
from factorstream.tall import dask_place

pytestmark = pytest.mark.here(reason="says itself where the features are")

FILTERS = {
    "counted": {},
    "shared": {"covariance": "shared"},
    "given": {"noise_variance": 0.1, "prior_covariance": 1.0, "scale": False},
    "row means": {"fit_row_mean": True},
    "map, without a mean": {"coefficients": "map", "fit_mean": False},
}

FITS = {
    "components given": {"n_components": 3},
    "one noise per feature": {"n_components": 3, "noise_variance": "per_feature"},
    "calibrated": {"n_components": 3, "calibrate": True},
    "row means": {"n_components": 3, "fit_row_mean": True},
    "robust": {"n_components": 3, "robust": True},
}


@pytest.fixture
def _here():
    with dask.config.set(scheduler="sync"):
        yield


@pytest.fixture
def few(monkeypatch):
    """Fits begin with a small part of the rows."""
    monkeypatch.setattr(_source_rows, "SOME_VALUES", 2000)
    monkeypatch.setattr(_source_rows, "SOME_ROWS", 50)


def rows(gaps=False, n=120, m=20, seed=0):
    """Complete rows; with ``gaps``, all but the first 30 have some: every one of them waits for the shards."""
    X = gappy(seed, n, m)
    filled = np.where(np.isnan(X), 5.0 + np.random.default_rng(seed).normal(size=X.shape), X)
    if gaps:
        filled[30:] = X[30:]
    return filled


def assert_same(found, want, X, rtol=1e-10):
    found = moved(found)
    for name in ("components_", "covariance_", "mean_", "noise_variance_"):
        expected = np.asarray(getattr(want, name))
        assert_allclose(getattr(found, name), expected, rtol=rtol, atol=rtol * np.abs(expected).max(), err_msg=name)
    assert_allclose(found.predict_interval(X)[0], want.predict_interval(X)[0], rtol=100 * rtol)
    assert found.n_samples_seen_ == want.n_samples_seen_


# ------------------------------------------------------------------ the stream


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize("gaps", [True, False], ids=["gaps", "complete"])
@pytest.mark.parametrize("parameters", FILTERS.values(), ids=FILTERS)
@pytest.mark.parametrize(
    "chunks", [(50, 7), pytest.param((7, (1, 19)), marks=pytest.mark.long)], ids=["shards", "uneven"]
)
def test_a_stream_in_shards_is_the_stream(parameters, gaps, chunks):
    X = rows(gaps, n=40)
    X[33] = np.nan  # a row without data
    want = DictionaryFilter(3, random_state=0, **parameters).partial_fit(X)
    found = DictionaryFilter(3, random_state=0, **parameters).fit(in_shards(da.from_array(X, chunks=chunks)))
    assert_same(found, want, X)


@pytest.mark.usefixtures("_here")
def test_late_columns_and_float32():
    X = rows(n=40).astype(np.float32)
    X[:20, 3] = np.nan
    X[:, 11] *= 1000.0
    X[:30, 12] = np.nan
    want = DictionaryFilter(3, random_state=0).partial_fit(X)
    found = DictionaryFilter(3, random_state=0).fit(in_shards(da.from_array(X, chunks=(25, 6))))
    assert found.components_.dtype == np.float32
    assert_same(found, want, X, rtol=2e-4)


@pytest.mark.usefixtures("_here")
def test_a_model_in_shards_goes_on_with_any_rows(monkeypatch):
    monkeypatch.setattr(_filter_shards, "ANCHOR", 50)
    X, Y, Z = rows(seed=0), rows(seed=1), rows(seed=2)
    want = DictionaryFilter(3, random_state=0).partial_fit(X).partial_fit(Y).partial_fit(Z).partial_fit(X)
    found = DictionaryFilter(3, random_state=0).partial_fit(in_shards(da.from_array(X, chunks=(40, 5))))
    found.partial_fit(Y)  # of this process
    found.partial_fit(da.from_array(Z, chunks=(60, 9)))  # cut anew
    found = moved(found)
    assert "Shards" not in str(found.state_)
    assert_same(found.partial_fit(X), want, X)


@pytest.mark.usefixtures("_here")
def test_passes_over_shards():
    X = rows(n=50)
    want = DictionaryFilter(3, n_passes=2, random_state=0).fit(open_rows(X))
    found = DictionaryFilter(3, n_passes=2, random_state=0).fit(in_shards(da.from_array(X, chunks=(50, 7))))
    assert_same(found, want, X)


@pytest.mark.usefixtures("_here")
def test_one_reduction_for_each_block_of_complete_rows(monkeypatch):
    X, asked = rows(n=400), []
    model = DictionaryFilter(3, covariance="shared", scale=False, batch_size=40, random_state=0)
    model.partial_fit(in_shards(da.from_array(X, chunks=(400, 10))))
    results = dask_place.results

    def noted(*tasks):
        asked.append(results(*tasks))
        return asked[-1]

    monkeypatch.setattr(dask_place, "results", noted)
    model.partial_fit(in_shards(da.from_array(X, chunks=(400, 10))))
    assert len(asked) == 400 // 40 + 1  # and one that looks for absurd values
    q, B = 4, 40
    sizes = [sum(np.size(part) for part in found[0]) for found in asked[1:]]
    assert max(sizes) <= B * B + q * B + q * q + 2  # whatever the number of features


# ------------------------------------------------------------------ values that cannot be used


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize("first", [2, 90], ids=["at the start", "later"])
def test_absurd_values_are_found_in_shards(first):
    X = rows(seed=4)
    X[first, 13] = 1e12
    with pytest.warns(AbsurdValueWarning, match=r"column 13"):
        want = DictionaryFilter(3, random_state=0).partial_fit(X)
    with pytest.warns(AbsurdValueWarning, match=r"column 13"):
        found = DictionaryFilter(3, random_state=0).fit(in_shards(da.from_array(X, chunks=(120, 7))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AbsurdValueWarning)
        assert_same(found, want, X)


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize("model", [DictionaryFilter(3), BayesianFactorization(3)], ids=["filter", "fit"])
@pytest.mark.parametrize("where", [(2, 3), (90, 13)])
def test_infinities_are_refused_where_they_are(model, where):
    X = rows()
    X[where] = -np.inf
    with pytest.raises(ValueError, match=f"column {where[1]}"):
        model.fit(in_shards(da.from_array(X, chunks=(60, 7))))
    assert not hasattr(model, "state_")


@pytest.mark.usefixtures("_here")
def test_a_refused_chunk_leaves_the_stream_as_it_was():
    X = rows()
    model = DictionaryFilter(3, random_state=0).partial_fit(in_shards(da.from_array(X, chunks=(60, 7))))
    before = model.components_
    X[100, 3] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.partial_fit(da.from_array(X, chunks=(60, 7)))
    np.testing.assert_array_equal(model.components_, before)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(da.from_array(X[:, :5], chunks=(60, 5)))


def test_what_cannot_be_used_is_refused_in_a_sentence(tmp_path):
    X = da.from_array(rows(), chunks=(60, 7))
    with pytest.raises(TypeError, match=r"from_array"):
        in_shards(np.ones((3, 3)))
    with pytest.raises(ValueError, match="dim 2"):
        in_shards(X[0])
    for model in (DictionaryFilter(2), BayesianFactorization(2)):
        with pytest.raises(TypeError, match="checkpoint"):
            model.fit(in_shards(X), checkpoint=tmp_path / "c")
    with pytest.raises(TypeError, match="Dask array itself"):
        LowRankImputer(2).fit(in_shards(X))
    with pytest.raises(TypeError, match="Dask array itself"):
        BayesianFactorization(2).partial_fit(in_shards(X))
    assert repr(in_shards(X)) == "InShards(120 rows, 20 features in 3 shards)"


# ------------------------------------------------------------------ fits


@pytest.mark.usefixtures("_here", "few")
@pytest.mark.parametrize(
    "chunks", [(90, 7), pytest.param((250, (1, 19)), marks=pytest.mark.long)], ids=["shards", "uneven"]
)
@pytest.mark.parametrize("parameters", FITS.values(), ids=FITS)
def test_a_fit_to_shards_is_the_fit_to_chunks(parameters, chunks):
    X = rows(gaps=True, n=300)
    X[123] = np.nan
    want = BayesianFactorization(**parameters, max_iter=4, random_state=0).fit(da.from_array(X, chunks=(300, 20)))
    found = BayesianFactorization(**parameters, max_iter=4, random_state=0).fit(
        in_shards(da.from_array(X, chunks=chunks))
    )
    assert found.n_iter_ == want.n_iter_
    assert_same(found, want, X)


@pytest.mark.usefixtures("_here")
def test_few_rows_are_fitted_at_once():
    X = rows(gaps=True)
    X[3] = np.nan
    X[7, 5] = 1e12
    with pytest.warns(AbsurdValueWarning):
        want = BayesianFactorization(3, random_state=0).fit(X)
    with pytest.warns(AbsurdValueWarning, match="row 7, column 5"):
        found = BayesianFactorization(3, random_state=0).fit(in_shards(da.from_array(X, chunks=(50, 7))))
    Y = rows(seed=1)
    assert_same(found, want, Y)
    assert_same(found.partial_fit(Y), want.partial_fit(Y), Y)


# ------------------------------------------------------------------ a plain estimator


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize("Model", [DictionaryFilter, BayesianFactorization])
def test_files_and_copies_of_a_model_in_shards_are_plain(Model, tmp_path):
    X, Y = rows(), gappy(1, 10)
    found = Model(3, random_state=0).fit(in_shards(da.from_array(X, chunks=(50, 7))))
    want = found.impute(Y)
    found.save(tmp_path / "model.factorstream")
    copies = [moved(found), factorstream.load(tmp_path / "model.factorstream"), copy.deepcopy(found)]
    copies.append(pickle.loads(pickle.dumps(found)))
    assert b"dask" not in pickle.dumps(found)
    for one in copies:
        assert not one.state_.home.far
        assert_allclose(one.impute(Y), want, rtol=1e-10)


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize("Model", [DictionaryFilter, BayesianFactorization])
def test_answers_of_a_model_in_shards_are_lazy_too(Model):
    X, Y = rows(), gappy(1, 60)
    found = Model(3, random_state=0).fit(in_shards(da.from_array(X, chunks=(50, 7))))
    asked = da.from_array(Y, chunks=(50, 7))
    lower, upper = found.predict_interval(asked, level=0.9)
    assert isinstance(lower, da.Array)
    for found_bound, want in zip((lower, upper), found.predict_interval(Y, level=0.9), strict=True):
        assert_allclose(found_bound.compute(), want, rtol=1e-9)
    assert_allclose(found.impute(in_shards(asked)).compute(), found.impute(Y), rtol=1e-9)


# ------------------------------------------------------------------ schedulers and real workers


@pytest.mark.parametrize("scheduler", ["threads", pytest.param("processes", marks=pytest.mark.long)])
def test_any_scheduler(scheduler):
    X = rows(n=40)
    want = DictionaryFilter(2, covariance="shared", random_state=0).partial_fit(X)
    with dask.config.set(scheduler=scheduler, num_workers=2):
        found = DictionaryFilter(2, covariance="shared", random_state=0).fit(
            in_shards(da.from_array(X, chunks=(40, 10)))
        )
        assert_same(found, want, X)


@pytest.fixture(scope="module")
def client():
    with two_processes() as cluster, Client(cluster) as client:
        yield client


@pytest.mark.long
@pytest.mark.usefixtures("client", "few")
def test_two_processes_find_what_one_does(tmp_path):
    X = rows(n=300)
    X[200:210, ::3] = np.nan  # a few rows with gaps: each waits for the workers
    np.save(tmp_path / "rows.npy", X)
    there = in_shards(cut_from_file(tmp_path / "rows.npy", 100, 9))
    assert_same(DictionaryFilter(3, random_state=0).fit(there), DictionaryFilter(3, random_state=0).partial_fit(X), X)
    want = BayesianFactorization(3, max_iter=3).fit(open_rows(X))
    found = BayesianFactorization(3, max_iter=3).fit(there)
    assert_same(found, want, X)
    assert_allclose(found.impute(da.from_array(X, chunks=(100, 9))).compute(), want.impute(X), rtol=1e-10)


@pytest.mark.long
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("kind", ["stream", "fit"])
def test_a_worker_that_is_killed_in_the_middle_changes_nothing(kind, client, tmp_path, monkeypatch):
    monkeypatch.setattr(_filter_shards, "ANCHOR", 250)
    X, log = rows(n=600), tmp_path / "log"
    log.mkdir()
    np.save(tmp_path / "rows.npy", X)
    stream = DictionaryFilter(3, random_state=0, n_passes=2)
    model = stream if kind == "stream" else BayesianFactorization(3, max_iter=3, tol=0.0)
    want = copy.deepcopy(model).fit(open_rows(X))
    killed = []

    def kill():
        while len(list(log.iterdir())) < 15:  # of 24 or more
            time.sleep(0.01)
        pid = next(iter(client.run(os.getpid).values()))
        os.kill(pid, signal.SIGKILL)
        killed.append(len(list(log.iterdir())))

    killer = threading.Thread(target=kill)
    killer.start()
    found = model.fit(in_shards(cut_from_file(tmp_path / "rows.npy", 100, 10, log, pause=0.1)))
    killer.join()
    assert_same(found, want, X)
    assert killed[0] < 24, "the fit was over"


@pytest.mark.long
def test_workers_with_less_memory_than_the_data():
    n, m, limit = 6000, 10_000, 440 * 2**20  # of which a worker that does nothing has half
    X = da.map_blocks(made_cut, m=m, seed=1, chunks=((200,) * 30, (5000,) * 2), dtype=np.float64, meta=np.empty((0, 0)))
    assert X.nbytes > limit
    with two_processes(memory_limit=limit) as cluster, Client(cluster):
        model = moved(DictionaryFilter(3, covariance="shared", scale=False, batch_size=200).fit(in_shards(X)))
    truth = np.concatenate([np.random.default_rng([1, k]).standard_normal((3, 5000)) for k in (0, 5000)], axis=1)
    angle = np.linalg.svd(np.linalg.qr(truth.T)[0].T @ np.linalg.qr(model.components_.T)[0])[1]
    assert angle.min() > 0.999
    assert model.n_samples_seen_ == n
