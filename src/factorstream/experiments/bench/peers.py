"""Other people's ways to fill a matrix, each at its documented best. Imported when they run, never before."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...estimators.dictionary_filter import DictionaryFilter

Array = NDArray[Any]


class Peer(NamedTuple):
    """One contestant: a filled copy of a matrix with NaN."""

    name: str
    module: str
    fill: Callable[[Array, int], Array]


def mean_filled(X: Array) -> Array:
    """NaN replaced by the feature's mean."""
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X)


def ours(X: Array, r: int) -> Array:
    """One automatic pass, then the gaps."""
    return np.asarray(DictionaryFilter(r, random_state=0).fit(X).impute(X))


def _reconstruction(estimator: Callable[[int], Any]) -> Callable[[Array, int], Array]:
    def fill(X: Array, r: int) -> Array:
        Z = mean_filled(X)
        model = estimator(r)
        codes = model.fit_transform(Z)
        return np.asarray(model.inverse_transform(codes))

    return fill


def _incremental_pca(r: int) -> Any:
    from sklearn.decomposition import IncrementalPCA

    return IncrementalPCA(r)


def _nmf(r: int) -> Any:
    from sklearn.decomposition import MiniBatchNMF

    return MiniBatchNMF(r, random_state=0)


def _dictionary(X: Array, r: int) -> Array:
    from sklearn.decomposition import MiniBatchDictionaryLearning

    Z = mean_filled(X)
    mean = Z.mean(axis=0)
    model = MiniBatchDictionaryLearning(r, random_state=0, transform_algorithm="threshold", transform_alpha=0.0)
    model.fit(Z - mean)
    codes = np.linalg.lstsq(model.components_.T, (Z - mean).T, rcond=None)[0]
    return np.asarray(codes.T @ model.components_ + mean)


def _neighbours(X: Array, r: int) -> Array:
    from sklearn.impute import KNNImputer

    return np.asarray(KNNImputer().fit_transform(X))


def _iterative(X: Array, r: int) -> Array:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    return np.asarray(IterativeImputer(n_nearest_features=r, max_iter=2, random_state=0).fit_transform(X))


def _parafac(X: Array, r: int) -> Array:
    tensorly = importlib.import_module("tensorly")
    parafac = importlib.import_module("tensorly.decomposition").parafac
    seen = ~np.isnan(X)
    mean = np.nanmean(X, axis=0)
    Z = np.where(seen, X - mean, 0.0)
    found = parafac(Z, r, n_iter_max=50, init="random", mask=seen.astype(float), random_state=0, l2_reg=1e-2)
    return np.asarray(tensorly.cp_to_tensor(found) + mean)


def _cmfrec(X: Array, r: int) -> Array:
    imputer = importlib.import_module("cmfrec").CMF_imputer
    return np.asarray(imputer(k=r, lambda_=1.0, nthreads=1).fit_transform(X))


def _petrels(X: Array, r: int) -> Array:
    Petrels = importlib.import_module("subtracking.petrels").Petrels
    np.random.seed(0)  # noqa: NPY002 - the package draws its start from the global generator
    mean, seen = np.nanmean(X, axis=0), ~np.isnan(X)
    tracker = Petrels(X.shape[1], r)
    scale = float(np.nanmax(np.abs(X)))  # its first step size suits data of size 1
    Z = np.where(seen, X - mean, 0.0) / scale
    for y, o in zip(Z, seen, strict=True):
        tracker.consume(y[:, None], o.astype(float)[:, None])
    U = tracker.U
    return np.array(
        [mean + scale * (U @ np.linalg.lstsq(U[o], y[o], rcond=None)[0]) for y, o in zip(Z, seen, strict=True)]
    )


PEERS = (
    Peer("IncrementalPCA, mean-filled", "sklearn", _reconstruction(_incremental_pca)),
    Peer("MiniBatchNMF, mean-filled", "sklearn", _reconstruction(_nmf)),
    Peer("MiniBatchDictionaryLearning, mean-filled", "sklearn", _dictionary),
    Peer("KNNImputer", "sklearn", _neighbours),
    Peer("IterativeImputer, nearest features, 2 rounds", "sklearn", _iterative),
    Peer("tensorly parafac(mask=), 50 iterations", "tensorly", _parafac),
    Peer("cmfrec CMF_imputer", "cmfrec", _cmfrec),
    Peer("PETRELS (pysubtracking), one pass", "subtracking", _petrels),
)


def installed(peer: Peer) -> bool:
    """Whether the peer can be run here."""
    try:
        importlib.import_module(peer.module)
    except ImportError:
        return False
    return True


def attempt(peer: Peer, X: Array, r: int) -> tuple[Array | None, str]:
    """The filled matrix, or None and the reason in one line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return peer.fill(X, r), ""
    except Exception as problem:  # whatever a peer raises is a result to report
        return None, f"failed: {type(problem).__name__}: {str(problem).splitlines()[0][:80]}"
