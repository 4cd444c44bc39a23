"""Other people's ways to fill a matrix, each at its documented best. Imported when they run, never before."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from factorstream.estimators.dictionary_filter import DictionaryFilter

from .textbook import Array


class Peer(NamedTuple):
    """One contestant: a filled copy of a matrix with NaN."""

    name: str
    module: str
    fill: Callable[[Any, int], Array]
    """From the prepared data and the number of components; this is timed."""
    prepare: Callable[[Array], Any] = lambda X: X
    """From the matrix with NaN to what the peer can take; this is not."""
    note: str = ""


class Masked(NamedTuple):
    """Data for a peer that takes a mask."""

    Z: Array
    """X minus ``shift``, zero where missing."""
    seen: Array
    shift: Array | float


PAPER: dict[str, Any] = {"covariance": "shared", "scale": False}
"""Parameters of ``DictionaryFilter`` that make it the paper's filter, MF-RLF."""


def ours(X: Array, r: int, **kind: Any) -> Array:
    """One automatic pass, then the gaps."""
    return np.asarray(DictionaryFilter(r, random_state=0, **kind).fit(X).impute(X))


def mean_filled(X: Array) -> Array:
    """NaN replaced by the feature's mean."""
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X)


def _masked(X: Array, centre: bool) -> Masked:
    seen = ~np.isnan(X)
    shift = np.nanmean(X, axis=0) if centre else 0.0
    return Masked(np.where(seen, X - shift, 0.0), seen, shift)


def _incremental_pca(Z: Array, r: int, batch_size: int | None = None) -> Array:
    from sklearn.decomposition import IncrementalPCA

    model = IncrementalPCA(r, batch_size=batch_size)
    return np.asarray(model.inverse_transform(model.fit_transform(Z)))


def _nmf(Z: Array, r: int) -> Array:
    from sklearn.decomposition import MiniBatchNMF

    model = MiniBatchNMF(r, random_state=0)
    return np.asarray(model.inverse_transform(model.fit_transform(Z)))


def _dictionary(Z: Array, r: int) -> Array:
    from sklearn.decomposition import MiniBatchDictionaryLearning

    mean = Z.mean(axis=0)
    model = MiniBatchDictionaryLearning(r, max_iter=10, fit_algorithm="cd", random_state=0).fit(Z - mean)
    codes = np.linalg.lstsq(model.components_.T, (Z - mean).T, rcond=None)[0]
    return np.asarray(codes.T @ model.components_ + mean)


def _neighbours(X: Array, r: int) -> Array:
    from sklearn.impute import KNNImputer

    return np.asarray(KNNImputer().fit_transform(X))


def _iterative(X: Array, r: int) -> Array:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    return np.asarray(IterativeImputer(n_nearest_features=r, max_iter=2, random_state=0).fit_transform(X))


def _parafac(data: Masked, r: int, **settings: Any) -> Array:
    parafac = importlib.import_module("tensorly.decomposition").parafac
    found = parafac(data.Z, r, mask=data.seen.astype(float), random_state=0, **settings)
    return np.asarray(importlib.import_module("tensorly").cp_to_tensor(found) + data.shift)


def _cmfrec(X: Array, r: int) -> Array:
    imputer = importlib.import_module("cmfrec").CMF_imputer
    return np.asarray(imputer(k=r, lambda_=1.0, nthreads=1).fit_transform(X))


def _petrels(data: Masked, r: int) -> Array:
    Petrels = importlib.import_module("subtracking.petrels").Petrels
    np.random.seed(0)  # noqa: NPY002 - the package draws its start from the global generator
    seen = data.seen
    tracker = Petrels(seen.shape[1], r)
    scale = float(np.abs(data.Z).max())  # its first step size suits data of size 1
    Z = data.Z / scale
    for y, o in zip(Z, seen, strict=True):
        tracker.consume(y[:, None], o.astype(float)[:, None])
    U = tracker.U
    codes = [np.linalg.lstsq(U[o], y[o], rcond=None)[0] for y, o in zip(Z, seen, strict=True)]
    return np.asarray(scale * (np.array(codes) @ U.T) + data.shift)


PCA_DEFAULT = "IncrementalPCA, filling timed too"
PCA_BEST = "IncrementalPCA(batch_size=200)"

_raw, _centred = partial(_masked, centre=False), partial(_masked, centre=True)
_tuned = partial(_parafac, init="random", l2_reg=1e-2)

FILLED = "on mean-filled data"
TUNED = "centred data, init='random', l2_reg=0.01"
STOPPED = "when to stop is not known without the removed entries or a validation set"

PEERS = (
    Peer(PCA_DEFAULT, "sklearn", lambda X, r: _incremental_pca(mean_filled(X), r), note=f"default batches, {FILLED}"),
    Peer(PCA_BEST, "sklearn", partial(_incremental_pca, batch_size=200), mean_filled, FILLED),
    Peer("MiniBatchNMF", "sklearn", _nmf, mean_filled, FILLED),
    Peer("MiniBatchDictionaryLearning, 10 rounds, cd", "sklearn", _dictionary, mean_filled, f"max_iter=10, {FILLED}"),
    Peer("KNNImputer", "sklearn", _neighbours),
    Peer("IterativeImputer, 2 rounds", "sklearn", _iterative, note="n_nearest_features=r, max_iter=2"),
    Peer("parafac, defaults: 100 iterations", "tensorly", _parafac, _raw, "tensorly, with a mask"),
    Peer("parafac, tuned, 50 iterations", "tensorly", partial(_tuned, n_iter_max=50), _centred, TUNED),
    Peer("parafac, tuned, 5 iterations", "tensorly", partial(_tuned, n_iter_max=5), _centred, f"{TUNED}; {STOPPED}"),
    Peer("cmfrec CMF_imputer(lambda_=1)", "cmfrec", _cmfrec),
    Peer("PETRELS, one pass", "subtracking", _petrels, _centred, "pysubtracking"),
)


def installed(peer: Peer) -> bool:
    """Whether the peer can be run here."""
    try:
        importlib.import_module(peer.module)
    except ImportError:
        return False
    return True


def attempt(peer: Peer, data: Any, r: int) -> tuple[Array | None, str]:
    """The filled matrix from the prepared data, or None and the reason in one line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return peer.fill(data, r), ""
    except Exception as problem:  # whatever a peer raises is a result to report
        return None, f"failed: {type(problem).__name__}: {str(problem).partition(chr(10))[0][:80]}"
