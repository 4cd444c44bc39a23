"""Fill the gaps of rows that need not fit into memory: block by block, into a file of the same format."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..core.variational.conformal import check_level
from ..estimators._checkpoint import described, digest
from ..estimators._columns import means_nan
from ..estimators._source_rows import checked, without_values
from ..estimators._types import SourceLike
from ..estimators.low_rank_imputer import LowRankImputer
from ..estimators.sequence import SequenceFilter
from ..files import follow_links, put_in_place
from ..progress import Step, say_nothing
from ..sources.columns import take_names
from ..sources.rows.opening import keeps_others, open_rows, open_sink
from ..sources.rows.source import Block, Source, others_of, refuse_lost
from ..sources.table import Array, Bounds
from ..tall.rows import dense
from ..text import counted
from .quiet import quietly

__all__ = ["WrittenRows", "columns_of", "fill", "fill_source"]


class WrittenRows(NamedTuple):
    """What was written."""

    path: Path
    n_rows: int
    n_gaps: int
    """Gaps that were filled."""
    n_left: int
    """Gaps that stayed, because the model knows nothing of their columns."""
    left: tuple[str | int, ...] = ()
    """The names of these columns; their positions, counted from 0, where they have no names."""
    carried: tuple[str, ...] = ()
    """The names of the columns that were written as they were: texts, dates, numbers that the model does not know."""


def fill(
    model: Any, source: SourceLike, out: str | PathLike[str], level: float | None = None, *, resume: bool = False
) -> WrittenRows:
    """Fill the gaps of rows that need not fit into memory, and write them to a file as they are read.

    Parameters
    ----------
    model : fitted estimator
        A `LowRankImputer`, `BayesianFactorization`, `DictionaryFilter` or another factorisation.
    source : path, Source, or whatever else `open_rows` takes
        The rows. Columns are those of the model, by name where both have names.
    out : path
        The file to write; its ending says the format. It may be the file that is read. It is there once all of it is.
    level : float, default=None
        Probability of bounds, which are written to columns NAME_lower and NAME_upper behind every column that has gaps;
        both are the value itself where it is known, and empty where they are infinite. The rows are then read twice,
        the first time to find the columns with gaps. Of rows that can be read only once, all columns get bounds.
    resume : bool, default=False
        Go on with what an earlier call has written that was stopped or killed, if it had the same model, rows and
        level. The file is the same as if nothing had happened: no row is lost, and none is there twice.

    Returns
    -------
    WrittenRows
        The path, how many rows were written and gaps filled, which columns stayed empty because the model has seen no
        value of them, and which were carried along as they were.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from factorstream import DictionaryFilter, fill
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 5))
    >>> X[rng.random(X.shape) < 0.2] = np.nan
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.save(folder / "rows.npy", X)
    >>> model = DictionaryFilter(2, random_state=0).fit(folder / "rows.npy")
    >>> fill(model, folder / "rows.npy", folder / "filled.npy").n_rows
    300
    >>> bool(np.isnan(np.load(folder / "filled.npy")).any())
    False
    """
    check_is_fitted(model)
    _check_model(model, level)
    rows = columns_of(model, source)
    if not isinstance(source, Source) and not keeps_others(Path(out)):
        refuse_lost(others_of(rows)._replace(chosen=False))
    bounded: list[int] = []
    if level is not None:
        check_level(level)
        bounded = np.flatnonzero(_gaps_in(rows)).tolist() if rows.rewinds else list(range(rows.n_columns))
    return fill_source(model, rows, Path(out), level, bounded, resume=resume)


def fill_source(
    model: Any,
    source: Source,
    out: Path,
    level: float | None,
    bounded: list[int],
    step: Step = say_nothing,
    *,
    resume: bool = False,
) -> WrittenRows:
    """The same for a source whose columns are the model's; those numbered ``bounded`` get bounds."""
    asked = copy.copy(model)
    take_names(asked)  # it is asked about arrays
    note = begun_note(model, source, out, level) if resume else None
    stays = _nothing_known(asked, source)
    n_rows = n_gaps = n_left = 0
    left = np.zeros(source.n_columns, dtype=bool)
    with open_sink(out, source, bounds=bounded, resume=resume) as sink:
        done = sink.written
        for block in source.blocks():
            values = dense(checked(block))
            gaps, n_rows = np.isnan(values), block.first + len(values)
            if n_rows > done:  # a block that was begun is filled as a whole again: answers do not depend on the kill
                filled, bounds = _answered(asked, values, level if bounded else None)
                if stays.any():
                    filled = np.where(gaps & stays, np.nan, filled)
                sink.write(*_rest(block, filled, bounds, done - block.first))
            left |= gaps.any(axis=0) & stays
            n_left += int(gaps[:, stays].sum())
            n_gaps += int(gaps[:, ~stays].sum())
            step(n_rows)
        path = sink.path
    if note is not None:
        note.unlink(missing_ok=True)
    names: Sequence[str | int] = source.names or range(source.n_columns)
    carried = others_of(source).names if keeps_others(out) else ()
    return WrittenRows(path, n_rows, n_gaps, n_left, tuple(names[int(j)] for j in np.flatnonzero(left)), carried)


def _nothing_known(model: Any, source: Source) -> Array:
    """Columns that a model drops, or of which it has seen no value and knows no bounds (boolean); their gaps stay."""
    nothing = np.full((1, source.n_columns), np.nan, dtype=source.dtype)
    dropped: Array = np.isnan(_answered(model, nothing, None)[0][0])
    if isinstance(model, LowRankImputer) or getattr(model, "fit_row_mean", False) or not hasattr(model.state_, "seen"):
        return dropped
    return np.logical_or(dropped, without_values(model.state_))


def begun_note(model: Any, source: Source, out: Path, level: float | None) -> Path:
    """The file that says what a draft of ``out`` is filled with; a draft that is filled otherwise is removed."""
    if not source.rewinds:
        raise ValueError("These rows can be read only once, and resume reads them again; give a file, or leave it out.")
    state = digest(model.state_, "state", type(model)._state_types)
    wanted = json.dumps({"model": state, "level": level, **described(source)})
    target = follow_links(out)
    note = target.with_name(f".{target.name}.begun")
    if not note.exists() or note.read_text(encoding="utf-8") != wanted:
        open_sink(out, source, resume=True).discard()
        draft = note.with_name(f"{note.name}.draft")  # one name: after a kill it is written again
        draft.write_text(wanted, encoding="utf-8")
        put_in_place(draft, note)
    return note


def _rest(block: Block, filled: Array, bounds: Bounds | None, done: int) -> tuple[Block, Array, Bounds | None]:
    """A block and its answers without the rows that are written already."""
    if done <= 0:
        return block, filled, bounds
    kept = None if block.kept is None else block.kept[done:]
    sides = None if bounds is None else Bounds(bounds.lower[done:], bounds.upper[done:])
    return Block(block.values[done:], block.first + done, kept), filled[done:], sides


def _check_model(model: Any, level: float | None) -> None:
    """Refuse, in one sentence, a model that cannot fill blocks of rows."""
    name = type(model).__name__
    if isinstance(model, SequenceFilter):
        raise TypeError("SequenceFilter fills a sequence as a whole, and not in blocks; use its impute.")
    if level is not None and not hasattr(model, "predict_interval"):
        raise TypeError(f"{name} gives no intervals; leave out level.")
    mark = model.state_.parameters.get("missing_values", np.nan)
    if not means_nan(mark):
        raise ValueError(
            f"This {name} takes {mark!r} for missing; fit it to open_rows(..., missing=[{str(mark)!r}]) without "
            "missing_values, so that gaps are NaN."
        )


def _gaps_in(source: Source) -> Array:
    """Which columns have gaps (boolean), found in one pass."""
    found = np.zeros(source.n_columns, dtype=bool)
    for values in _values(source):
        found |= np.isnan(values).any(axis=0)
    return found


def _values(source: Source) -> Iterator[Array]:
    for block in source.blocks():
        yield dense(checked(block))


def _answered(model: Any, values: Array, level: float | None) -> tuple[Array, Bounds | None]:
    """The rows with their gaps filled, and bounds; columns that the model has dropped stay as they are."""
    if not np.isnan(values).any():
        return values, None if level is None else Bounds(values, values)
    with quietly():
        filled = _all_columns(model, values, model.impute(values))
        if level is None:
            return filled, None
        bounds = [_all_columns(model, values, bound) for bound in model.predict_interval(values, level)]
    return filled, Bounds(*(np.where(np.isinf(bound), np.nan, bound) for bound in bounds))


def _all_columns(model: Any, values: Array, answer: Array) -> Array:
    if answer.shape == values.shape:
        return answer
    out = values.copy()
    out[:, np.asarray(model.state_.kept)] = answer
    return out


def columns_of(model: Any, what: SourceLike, **how: Any) -> Source:
    """The rows with the columns of a model, in its order; or a sentence about why they are others.

    ``how`` is what ``open_rows`` may need besides.
    """
    names = getattr(model, "feature_names_in_", None)
    source = open_rows(what, **how)
    if names is not None and source.names is not None and list(source.names) != list(names):
        if isinstance(what, Source):
            raise ValueError(
                "The columns of these rows are not those of the model; open them with open_rows(..., "
                "columns=model.feature_names_in_)."
            )
        source = open_rows(what, columns=[str(name) for name in names], **same_form(source, how))
    if source.n_columns != model.n_features_in_:
        raise ValueError(
            f"The rows have {counted(source.n_columns, 'column')} of numbers, and the model knows "
            f"{model.n_features_in_}; choose the columns with open_rows(..., columns=...)."
        )
    return source


def positions_in(source: Source) -> list[int]:
    """The positions of the columns of numbers among all columns, counted from 0."""
    layout = getattr(source, "layout", None)
    found = getattr(source, "positions", None) if layout is None else layout.positions
    return list(range(source.n_columns) if found is None else found)


def same_form(source: Source, how: dict[str, Any]) -> dict[str, Any]:
    """``how`` to open a file again, with what was found out about its numbers when it was opened as a whole."""
    form = getattr(source, "form", None)
    return how if form is None else {**how, "decimal": form.decimal, "thousands": form.thousands}
