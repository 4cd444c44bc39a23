"""The components of a file that is too large to be read at once. Prints nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..estimators._source_rows import checked
from ..estimators.low_rank_imputer import LowRankImputer
from ..files import make_folder
from ..rotation import axes_along, standardised
from ..sources.columns import take_names
from ..sources.endings import ending_of
from ..sources.rows.opening import format_of
from ..sources.rows.source import Block, Source
from ..sources.table import Array
from ..tall.rows import dense
from .factors import FACTORS_ALONE
from .large_files import LargeSettings, copy_rows, fit_source, problem_said
from .large_surveys import names_of, open_measured, remarks_on
from .quiet import quietly
from .reading import FITTING, Steps

__all__ = ["LargeFactors", "factorize_large_file"]

WITHOUT_NAMES = ("npy", "npz", "hdf5", "zarr")
"""Formats whose columns have no names."""


class LargeFactors(NamedTuple):
    """Files of factors that were written, and what there is to say about them."""

    files: list[Path]
    components: Array
    """(k, m) along their principal axes, in the data's units; the one that explains most first."""
    explained: Array
    """(k,) The share of the variance of all columns, each divided by its own, that each component explains."""
    model: Any
    names: list[str]
    counting: list[str]
    remarks: list[str]
    """Sentences about columns that were taken as text, or have no values."""


def factorize_large_file(
    path: Path, folder: Path, settings: LargeSettings, tell: Steps = lambda what: None, model: Any = None
) -> LargeFactors:
    """Write the components of a file and their mean, and block by block how much of each is in every row.

    One pass over the rows finds the axes of their coefficients, another one writes these. Columns of text are not
    copied.

    Raises
    ------
    TableError
        When the file cannot be read or factorised; the message says why in one sentence.
    """
    try:
        source, found = open_measured(path, settings.reading, tell, model)
        if model is None:
            tell(FITTING)
            model = fit_source(source, settings, **FACTORS_ALONE)
        tell("asking")
        parts = _parts(model, found.deviation, source)
        numbers = [f"component {k + 1}" for k in range(len(parts.components))]
        rows = _Made(source, numbers, parts.ask)
        names, files = names_of(source), []
        shares = [float(f"{share:.4g}") for share in parts.explained]
        about = np.column_stack([np.arange(1.0, len(numbers) + 1), shares])
        bare = format_of(path) in WITHOUT_NAMES
        table = parts.components if bare else np.hstack([about, parts.components])
        contents: dict[str, Source] = {
            "components": _Rows(table, names if bare else ["component", "explained", *names]),
            "coefficients": rows,
            "mean": _Rows(parts.mean[None], names),
        }
        make_folder(folder)
        for name, content in contents.items():
            if content.n_columns and (content.n_rows or name == "coefficients"):
                files.append(folder / f"{name}{ending_of(path)}")
                copy_rows(content, files[-1])
    except (ValueError, TypeError, MemoryError) as problem:
        raise problem_said(path, problem) from None
    return LargeFactors(
        files, parts.components, parts.explained, model, names, found.counting, remarks_on(source, found)
    )


class _Parts(NamedTuple):
    components: Array
    mean: Array
    explained: Array
    ask: Any
    """The coefficients of some rows, as a function."""


def _parts(model: Any, deviation: Array, source: Source) -> _Parts:
    take_names(model)  # it is asked about arrays
    if not isinstance(model, LowRankImputer):
        unit = np.where(deviation > 0, deviation, 1.0)
        axes = axes_along(model, _covariance(source, model.transform), unit)
        share = axes.explained_variance / max(1, int(np.sum(deviation > 0)))
        mean = np.asarray(model.mean_, dtype=np.float64)
        return _Parts(axes.components, mean, share, lambda X: np.asarray(model.transform(X)) @ axes.rotation)
    mean, factorization = np.array(model.statistics_, dtype=np.float64), model.factorization_
    if factorization is None or not model.n_components_:
        return _Parts(np.empty((0, len(mean))), mean, np.empty(0), lambda X: np.empty((len(X), 0)))
    axes = axes_along(factorization, _covariance(source, lambda X: factorization.transform(standardised(model, X))))
    varies = model.scale_ > 0
    components = np.zeros((len(axes.components), len(mean)))
    components[:, varies] = axes.components * model.scale_[varies]
    mean[varies] += model.scale_[varies] * factorization.mean_
    return _Parts(
        components,
        mean,
        axes.explained_variance / int(np.sum(varies)),
        lambda X: factorization.transform(standardised(model, X)) @ axes.rotation,
    )


def _covariance(source: Source, ask: Any) -> Array:
    """That of the coefficients of all rows, which ``ask`` finds for some."""
    n = 0
    total: Array = np.zeros(())
    products: Array = np.zeros(())
    for block in source.blocks():
        x = _asked(block, ask)
        n, total, products = n + len(x), total + x.sum(axis=0), products + x.T @ x
    mean = total / n
    return np.asarray(products / n - np.outer(mean, mean))


def _asked(block: Block, ask: Any) -> Array:
    with quietly():
        return np.asarray(ask(dense(checked(block))), dtype=np.float64)


class _Rows:
    """A table in memory as a source, with names."""

    rewinds = True
    dtype = np.dtype(np.float64)

    def __init__(self, values: Array, names: Sequence[str]) -> None:
        self._values, self.names = values, list(names)
        self.n_rows: int | None
        self.n_rows, self.n_columns = values.shape

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """All rows at once."""
        yield Block(self._values[start:], start)


class _Made:
    """What a function makes of the rows of a source, as a source."""

    rewinds = True
    dtype = np.dtype(np.float64)

    def __init__(self, source: Source, names: Sequence[str], make: Any) -> None:
        self._source, self.names, self._make = source, list(names), make
        self.n_rows, self.n_columns = source.n_rows, len(names)

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """The rows from number ``start`` on."""
        for block in self._source.blocks(start):
            yield Block(_asked(block, self._make), block.first)
