"""What `impute` and `factorize` do with files that are too large to be read at once. Prints nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..estimators._source_rows import checked
from ..estimators.low_rank_imputer import LowRankImputer
from ..progress import Step, say_nothing
from ..rotation import principal_axes, standardised
from ..sources.columns import take_names
from ..sources.endings import ending_of
from ..sources.rows.opening import open_rows, open_sink
from ..sources.rows.source import Block, Source
from ..sources.table import Array, TableError
from ..sources.timeline import EVEN, LEAST_ROWS
from ..tall.rows import dense
from .filling import quietly
from .large import WrittenRows, columns_of, fill_source
from .reading import FITTING, Reading, Steps, named

__all__ = [
    "LARGE",
    "LargeFactors",
    "LargeFilling",
    "LargeSettings",
    "factorize_large_file",
    "fill_large_file",
    "is_large",
]

LARGE = 2**27
"""Bytes from which on a file is read block by block: 128 MiB, which take one or two gigabytes of memory as a text that is
read at once. Not tuned: a machine of today has that, and what is found by blocks is the same up to the choice of the
rows that a fit begins with."""

BY_BLOCKS = (".npy", ".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq")
"""Endings of the files that commands read; packed ones end in .gz besides. Derived: those of ``sources/tables.py``."""


class LargeSettings(NamedTuple):
    """How to read and fit a large file."""

    components: int | str = "auto"
    robust: bool = False
    seed: int = 0
    calibrate: bool = False
    reading: Reading = Reading()
    verbose: int = 0
    """Whether a fit shows how far it is."""


class LargeFilling(NamedTuple):
    """A file that was filled, and what there is to say about it."""

    written: WrittenRows
    n_columns: int
    """Columns that had gaps."""
    model: Any
    """None where there was no gap, and none was to be kept."""
    names: list[str]
    """Of its features."""
    counting: list[str]
    """Columns of numbers that count rows; they had no part in it."""


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


def is_large(path: Path) -> bool:
    """Whether a file is one to be read block by block."""
    try:
        return path.is_file() and path.stat().st_size > LARGE and ending_of(path).removesuffix(".gz") in BY_BLOCKS
    except OSError:  # whoever reads it says what is wrong
        return False


def fill_large_file(
    path: Path,
    out: Path,
    level: float | None,
    settings: LargeSettings,
    tell: Steps = lambda what: None,
    model: Any = None,
    keep_model: bool = False,
    step: Step = say_nothing,
) -> LargeFilling:
    """Fill the gaps in the columns of numbers of a file, and write it as it is read.

    A model that was fitted before fills those columns that it knows; otherwise one is fitted to the file.

    Raises
    ------
    TableError
        When the file cannot be read or filled; the message says why in one sentence.
    """
    try:
        source, found = _opened(path, settings.reading, tell, model)
        columns = np.flatnonzero(found.gaps)
        if model is None and (len(columns) or keep_model):
            tell(FITTING)
            model = _fitted(source, settings)
        tell("filling")
        bounded = columns.tolist() if level is not None else []
        if bounded:
            _check_names(source, bounded)
        written = _copied(source, out) if not len(columns) else fill_source(model, source, out, level, bounded, step)
    except (ValueError, MemoryError) as problem:
        raise _said(path, problem) from None
    return LargeFilling(written, len(columns), model, _names(source), found.counting)


def factorize_large_file(
    path: Path, folder: Path, settings: LargeSettings, tell: Steps = lambda what: None, model: Any = None
) -> LargeFactors:
    """Write the components of a file and their mean, and block by block how much of each is in every row.

    The axes are those of the coefficients as the model has learned their covariance. Columns of text are not copied.

    Raises
    ------
    TableError
        When the file cannot be read or factorised; the message says why in one sentence.
    """
    try:
        source, found = _opened(path, settings.reading, tell, model)
        if model is None:
            tell(FITTING)
            model = _fitted(source, settings)
        tell("asking")
        parts = _parts(model, found.deviation)
        numbers = [f"component {k + 1}" for k in range(len(parts.components))]
        rows = _Made(source, numbers, parts.ask)
        names, files = _names(source), []
        about = np.column_stack([np.arange(1.0, len(numbers) + 1), parts.explained])
        bare = ending_of(path) == ".npy"  # it has no room for names
        table = parts.components if bare else np.hstack([about, parts.components])
        contents: dict[str, Source] = {
            "components": _Rows(table, names if bare else ["component", "explained", *names]),
            "coefficients": rows,
            "mean": _Rows(parts.mean[None], names),
        }
        for name, content in contents.items():
            if content.n_columns and (content.n_rows or name == "coefficients"):
                files.append(_copied(content, folder / f"{name}{ending_of(path)}").path)
    except (ValueError, TypeError, MemoryError) as problem:
        raise _said(path, problem) from None
    return LargeFactors(files, parts.components, parts.explained, model, names, found.counting)


def _said(path: Path, problem: Exception) -> TableError:
    if isinstance(problem, TableError):
        return problem
    return TableError(f"{named(path)} cannot be used: {str(problem).rstrip('.')}.")


# ------------------------------------------------------------------ reading


class _Survey(NamedTuple):
    """What one pass over a file tells of its columns."""

    gaps: Array
    """Which have gaps (boolean)."""
    deviation: Array
    """Of their values, NaN left out."""
    counting: list[str]
    """The names of those that were left out because they count rows."""


def _opened(path: Path, reading: Reading, tell: Steps, model: Any) -> tuple[Source, _Survey]:
    """The rows with the columns that measure something, or that the model knows."""
    tell("reading")
    how: dict[str, Any] = {"missing": reading.missing}
    if not ending_of(path).endswith((".npy", ".parquet", ".pq")):
        how |= {"delimiter": reading.delimiter, "header": reading.header}
    if model is not None:
        source = columns_of(model, path, **how)
        return source, _survey(source)[0]
    source = open_rows(path, **how)
    found, counts = _survey(source)
    if not counts.any():
        return source, found
    stay = np.flatnonzero(~counts)
    if not len(stay):
        raise TableError("it has no column of numbers but those that count its rows")
    names = _names(source)
    source = open_rows(path, columns=[names[j] for j in stay] if source.names else stay.tolist(), **how)
    found = _Survey(found.gaps[stay], found.deviation[stay], [names[j] for j in np.flatnonzero(counts)])
    return source, found


def _survey(source: Source) -> tuple[_Survey, Array]:
    """What the columns are like, and which of them go up by equal steps (boolean)."""
    m = source.n_columns
    gaps, n, total, square = np.zeros(m, dtype=bool), np.zeros(m), np.zeros(m), np.zeros(m)
    first: Array | None = None
    last, least, most, rows = np.zeros(m), np.full(m, np.inf), np.full(m, -np.inf), 0
    for values in _numbers(source):
        gaps |= np.isnan(values).any(axis=0)
        origin = values[0] if first is None else first
        steps = np.diff(values if first is None else np.vstack([last, values]), axis=0)
        first, last, rows = origin, values[-1], rows + len(values)
        least = np.fmin(least, np.min(steps, axis=0, initial=np.inf))
        most = np.fmax(most, np.max(steps, axis=0, initial=-np.inf))
        away = np.where(np.isnan(values), 0.0, values - np.nan_to_num(origin))
        n, total, square = n + (~np.isnan(values)).sum(axis=0), total + away.sum(axis=0), square + (away**2).sum(axis=0)
    if first is None:
        raise TableError("it has no rows")
    step = (last - first) / max(rows - 1, 1)
    with np.errstate(invalid="ignore"):
        off = np.maximum(most - step, step - least)
        counts = (rows >= LEAST_ROWS) & ~gaps & (step > 0.0) & (off <= EVEN * step)
    n = np.maximum(n, 1.0)
    deviation = np.sqrt(np.maximum(square / n - (total / n) ** 2, 0.0))
    return _Survey(gaps, deviation, []), counts


def _numbers(source: Source) -> Iterator[Array]:
    for block in source.blocks():
        yield dense(checked(block)).astype(np.float64, copy=False)


def _names(source: Source) -> list[str]:
    return list(source.names) if source.names else [f"column {j + 1}" for j in range(source.n_columns)]


def _check_names(source: Source, bounded: Sequence[int]) -> None:
    """Refuse to write a second column of a name."""
    names = _names(source)
    taken = {f"{names[j]}_{side}" for j in bounded for side in ("lower", "upper")} & set(names)
    if taken:
        raise TableError(f"There is a column {min(taken)} already; rename it, or leave out --level.")


def _fitted(source: Source, settings: LargeSettings) -> LowRankImputer:
    model = LowRankImputer(
        settings.components,
        robust=settings.robust,
        calibrate=settings.calibrate,
        random_state=settings.seed,
        verbose=settings.verbose,
    )
    with quietly():
        model.fit(source)
    model.verbose = 0  # whoever uses it next decides for themselves
    return model


# ------------------------------------------------------------------ factors


class _Parts(NamedTuple):
    components: Array
    mean: Array
    explained: Array
    ask: Any
    """The coefficients of some rows, as a function."""


def _parts(model: Any, deviation: Array) -> _Parts:
    take_names(model)  # it is asked about arrays
    if not isinstance(model, LowRankImputer):
        unit = np.where(deviation > 0, deviation, 1.0)
        axes = principal_axes(model, unit=unit)
        share = axes.explained_variance / max(1, int(np.sum(deviation > 0)))
        mean = np.asarray(model.mean_, dtype=np.float64)
        return _Parts(axes.components, mean, share, lambda X: np.asarray(model.transform(X)) @ axes.rotation)
    mean, factorization = np.array(model.statistics_, dtype=np.float64), model.factorization_
    if factorization is None or not model.n_components_:
        return _Parts(np.empty((0, len(mean))), mean, np.empty(0), lambda X: np.empty((len(X), 0)))
    axes, varies = principal_axes(model), model.scale_ > 0
    components = np.zeros((len(axes.components), len(mean)))
    components[:, varies] = axes.components * model.scale_[varies]
    mean[varies] += model.scale_[varies] * factorization.mean_
    return _Parts(
        components,
        mean,
        axes.explained_variance / int(np.sum(varies)),
        lambda X: factorization.transform(standardised(model, X)) @ axes.rotation,
    )


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
            with quietly():
                made = self._make(dense(checked(block)))
            yield Block(np.asarray(made, dtype=np.float64), block.first)


def _copied(source: Source, out: Path) -> WrittenRows:
    """Write all rows as they are."""
    n = 0
    with open_sink(out, source) as sink:
        for block in source.blocks():
            sink.write(block)
            n += int(block.values.shape[0])
        return WrittenRows(sink.path, n, 0, 0)
