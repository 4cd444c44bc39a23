"""Data for a cluster, and what its tasks call: worker processes import this file."""

from __future__ import annotations

import time
from pathlib import Path
from uuid import uuid4

import dask
import dask.array as da
import numpy as np
from distributed import LocalCluster

from conftest import low_rank


def gappy(seed=0, n=600, m=20, r=3):
    """Rows of low rank around a mean, a fifth of them missing."""
    rng = np.random.default_rng(seed)
    X = low_rank(rng, n, m, r, offset=5.0)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def two_processes(**options):
    """A real cluster: a scheduler here, and two worker processes with one thread each."""
    return LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", **options)


def from_file(path, n_rows, log=None, pause=0.0):
    """The rows of an NPY file in chunks, which tasks read; every task leaves a file in the folder ``log``."""
    n, m = np.load(path, mmap_mode="r").shape
    parts = [
        da.from_delayed(
            dask.delayed(read)(path, first, min(first + n_rows, n), log, pause), (min(n_rows, n - first), m), np.float64
        )
        for first in range(0, n, n_rows)
    ]
    return da.concatenate(parts)


def cut_from_file(path, n_rows, n_columns, log=None, pause=0.0):
    """The same with the features in chunks as well."""
    n, m = np.load(path, mmap_mode="r").shape
    return da.concatenate(
        [
            da.concatenate(
                [
                    da.from_delayed(
                        dask.delayed(read)(
                            path, first, min(first + n_rows, n), log, pause, slice(column, column + n_columns)
                        ),
                        (min(n_rows, n - first), min(n_columns, m - column)),
                        np.float64,
                    )
                    for column in range(0, m, n_columns)
                ],
                axis=1,
            )
            for first in range(0, n, n_rows)
        ]
    )


def read(path, start, stop, log, pause, columns=slice(None)):
    if log is not None:
        (Path(log) / uuid4().hex).touch()
    time.sleep(pause)
    rows = np.array(np.load(path, mmap_mode="r")[start:stop, columns])
    rows.flags.writeable = False  # a task that changed what it is given would be wrong when it is run again
    return rows


def made(block_info, m, seed):
    """Rows of low rank that are made when they are asked for, always the same ones."""
    (first, stop), _ = block_info[None]["array-location"]
    C = np.random.default_rng(seed).standard_normal((3, m))
    rng = np.random.default_rng([seed, first])
    noise = rng.random((stop - first, m))
    rows = rng.standard_normal((stop - first, 3)) @ C + (noise - 0.5)
    return np.where(noise < 0.05, np.nan, rows)


def made_cut(block_info, m, seed):
    """The same in chunks of features, without gaps."""
    (first, stop), (column, end) = block_info[None]["array-location"]
    C = np.random.default_rng([seed, column]).standard_normal((3, end - column))
    x = np.random.default_rng([seed, 1, first]).standard_normal((stop - first, 3))
    noise = np.random.default_rng([seed, 2, first, column]).random((stop - first, end - column))
    return x @ C + (noise - 0.5)
