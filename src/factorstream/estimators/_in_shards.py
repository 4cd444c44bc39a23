"""Dask arrays whose features stay in shards, with the workers that have their chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_feature_names, _check_n_features

from ..arrays import is_dask
from ..core.place import Place
from ..tall.placed_rows import PlacedRows
from ._elsewhere import home_of


class InShards:
    """A Dask array for ``fit`` and ``partial_fit``, made by :func:`in_shards`: every chunk of features is a shard."""

    def __init__(self, array: Any, place: Any) -> None:
        self.array, self.place = array, place

    def __repr__(self) -> str:
        n, m = self.array.shape
        return f"InShards({n} rows, {m} features in {len(self.place.lengths)} shards)"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        n, m = self.array.shape
        return int(n), int(m)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the numbers."""
        kind: np.dtype[Any] = self.array.dtype
        return kind

    def blocks(self) -> Iterator[tuple[int, PlacedRows]]:
        """The chunks of rows with the numbers of their first rows; the next one is made while this one is used."""
        from ..cluster.chunks import started
        from ..tall.dask_place import Shards

        tasks = [row for row, n in zip(self.array.to_delayed(), self.array.chunks[0], strict=True) if n]
        coming = started(*tasks[0])
        for i, (first, n) in enumerate(self.row_chunks()):
            tall = Shards(self.place, coming)
            coming = started(*tasks[i + 1]) if i + 1 < len(tasks) else ()
            yield first, PlacedRows(self.place, tall, (n, self.shape[1]), self.dtype)

    def row_chunks(self) -> list[tuple[int, int]]:
        """The number of the first row of every chunk, and how many it has; those without rows are left out."""
        ends = np.cumsum(self.array.chunks[0]).tolist()
        return [(end - n, int(n)) for end, n in zip(ends, self.array.chunks[0], strict=True) if n]

    def rows(self, numbers: Any) -> PlacedRows:
        """Some rows by their numbers, which are in order."""
        some = self.array[numbers].rechunk({0: -1})
        return next(InShards(some, self.place).blocks())[1]


def in_shards(X: Any) -> InShards:
    """A Dask array whose features stay where its chunks are: pass it to ``fit`` or ``partial_fit``.

    Every chunk of columns becomes a shard. The model keeps what it learns of a feature in the feature's shard, on the
    workers, for dictionaries that do not fit into one machine; only sums over all features come to this process. The
    numbers are those of one process to rounding. ``moved(model)`` brings the model into this process.

    For :class:`DictionaryFilter` and :class:`BayesianFactorization`. Without ``in_shards`` the features of a row are
    brought together, however the chunks cut them, which is faster where a worker has room for all of them.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from factorstream import DictionaryFilter, in_shards, moved
    >>> X = da.from_array(np.random.default_rng(0).normal(size=(60, 8)), chunks=(30, 4))
    >>> model = DictionaryFilter(2, random_state=0).fit(in_shards(X))
    >>> moved(model).components_.shape
    (2, 8)
    """
    if isinstance(X, InShards):
        return X
    if not is_dask(X):
        raise TypeError(
            f"in_shards takes an array of Dask, and X is of type {type(X).__name__}; pass dask.array.from_array(X, "
            "chunks=...), whose chunks of columns become the shards."
        )
    from ..cluster.chunks import checked
    from ..tall.dask_place import DaskPlace

    X = checked(X, "in_shards")
    return _cut(X, DaskPlace([int(length) for length in X.chunks[1] if length]))


def shards_for(estimator: Any, X: Any) -> InShards | None:
    """X in the shards of the model, where it has some, or in those that it asks for; None where neither is so."""
    home = home_of(estimator)
    if not isinstance(X, InShards) and not (is_dask(X) and is_in_shards(home)):
        return None
    wanted = in_shards(X)
    if not is_in_shards(home) or home.lengths is None or sum(home.lengths) != wanted.shape[1]:  # type: ignore[attr-defined]
        return wanted
    return _cut(wanted.array, home)


def take_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    """Remember how many columns there are, or refuse another number than the model has."""
    _check_feature_names(estimator, X, reset=reset)
    _check_n_features(estimator, X, reset=reset)


def is_in_shards(place: Place) -> bool:
    """Whether this is a place of shards; Dask is not imported to tell."""
    return place.far


def _cut(X: Any, place: Any) -> InShards:
    same = tuple(X.chunks[1]) == place.lengths
    return InShards(X if same else X.rechunk({1: place.lengths}), place)
