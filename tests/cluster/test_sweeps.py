"""Sweeps over chunks on a real cluster equal those over blocks in one process."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from contextlib import nullcontext

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster, get_worker
from numpy.testing import assert_allclose

import factorstream
from cluster_problems import from_file, gappy, made, two_processes
from factorstream import BayesianFactorization, open_rows
from factorstream.estimators import _source_rows

MODELS = {
    "components given": {"n_components": 3},
    "one noise per feature": {"n_components": 3, "noise_variance": "per_feature"},
    "components to be found": {},
    "calibrated": {"n_components": 3, "calibrate": True},
    "row means": {"n_components": 3, "fit_row_mean": True},
    "robust": {"n_components": 3, "robust": True},
}


@pytest.fixture(scope="module")
def client():
    with two_processes() as cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def few(monkeypatch):
    """Fits begin with a small part of the rows."""
    monkeypatch.setattr(_source_rows, "SOME_VALUES", 2000)
    monkeypatch.setattr(_source_rows, "SOME_ROWS", 50)


def assert_same(found, want, rtol=1e-10):
    assert found.n_iter_ == want.n_iter_
    assert found.n_samples_seen_ == want.n_samples_seen_
    for name in ("components_", "covariance_", "mean_", "noise_variance_"):
        expected = np.asarray(getattr(want, name))
        assert_allclose(getattr(found, name), expected, rtol=rtol, atol=rtol * np.abs(expected).max(), err_msg=name)
    assert_allclose([h["bound"] for h in found.history_], [h["bound"] for h in want.history_], rtol=rtol)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("chunks", [(600, 20), (250, 20), (77, 7)], ids=["one", "rows", "rows and features"])
@pytest.mark.parametrize("parameters", MODELS.values(), ids=MODELS)
def test_a_fit_to_chunks_is_the_fit_to_blocks(parameters, chunks):
    X = gappy()
    X[123] = np.nan  # a row without data
    want = BayesianFactorization(**parameters, random_state=0).fit(open_rows(X, block_bytes=8 * 20 * 90))
    with dask.config.set(scheduler="sync"):
        found = BayesianFactorization(**parameters, random_state=0).fit(da.from_array(X, chunks=chunks))
    assert_same(found, want)
    assert_allclose(found.predict_interval(X)[0], want.predict_interval(X)[0], rtol=1e-8)


@pytest.mark.long
@pytest.mark.usefixtures("few", "client")
def test_two_processes_find_what_one_does(tmp_path):
    X = gappy()
    np.save(tmp_path / "rows.npy", X)
    want = BayesianFactorization(3).fit(open_rows(X))
    found = BayesianFactorization(3).fit(from_file(tmp_path / "rows.npy", 45))
    assert_same(found, want)
    found.save(tmp_path / "model.factorstream")
    for copy in (pickle.loads(pickle.dumps(found)), factorstream.load(tmp_path / "model.factorstream")):
        assert_allclose(copy.impute(X), found.impute(X), rtol=0)
    assert b"dask" not in pickle.dumps(found)


@pytest.mark.long
@pytest.mark.usefixtures("few")
def test_a_worker_that_is_killed_in_the_middle_changes_nothing(client, tmp_path):
    X, log = gappy(), tmp_path / "log"
    log.mkdir()
    np.save(tmp_path / "rows.npy", X)
    want = BayesianFactorization(3, max_iter=6, tol=0.0).fit(open_rows(X))
    n_chunks, killed = 15, []

    def kill():
        while len(list(log.iterdir())) < 4 * n_chunks:  # two looks, and then sweeps
            time.sleep(0.01)
        pid = next(iter(client.run(os.getpid).values()))
        os.kill(pid, signal.SIGKILL)
        killed.append(len(list(log.iterdir())))

    killer = threading.Thread(target=kill)
    killer.start()
    found = BayesianFactorization(3, max_iter=6, tol=0.0).fit(from_file(tmp_path / "rows.npy", 40, log, pause=0.05))
    killer.join()
    assert_same(found, want)
    assert want.n_iter_ == 6
    assert killed[0] < 7 * n_chunks, "the fit was over"
    assert len(list(log.iterdir())) >= 9 * n_chunks  # every chunk was read for every pass


@pytest.mark.long
def test_workers_with_less_memory_than_the_data():
    n, m, limit = 60_000, 1000, 440 * 2**20  # of which a worker that does nothing has half
    X = da.map_blocks(made, m=m, seed=1, chunks=((500,) * 120, (m,)), dtype=np.float64, meta=np.empty((0, 0)))
    assert X.nbytes > limit
    with two_processes(memory_limit=limit) as cluster, Client(cluster):
        model = BayesianFactorization(3, max_iter=2).fit(X)
        filled, rows = dask.compute(model.impute(X[:500]), X[:500])
    assert_allclose(filled, model.impute(rows), rtol=1e-12)
    truth = np.random.default_rng(1).standard_normal((3, m))
    angle = np.linalg.svd(np.linalg.qr(truth.T)[0].T @ np.linalg.qr(model.components_.T)[0])[1]
    assert angle.min() > 0.9999
    assert model.n_samples_seen_ == n


SEEN = []
"""The workers that have read a chunk; they are threads of this process."""


def noted(block):
    SEEN.append(get_worker().address)
    return block


@pytest.mark.usefixtures("few")
def test_of_two_clients_the_current_one_gets_the_work():
    here = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    rows = da.from_array(gappy(), chunks=(250, 20)).map_blocks(noted, dtype=float, meta=np.empty((0, 0)))
    with LocalCluster(**here) as one, LocalCluster(**here) as other, Client(one) as first, Client(other):
        for cluster, chosen in ((one, first.as_current()), (other, nullcontext())):
            SEEN.clear()
            with chosen:
                BayesianFactorization(3, max_iter=2, random_state=0).fit(rows)
            assert set(SEEN) == {worker.address for worker in cluster.workers.values()}
