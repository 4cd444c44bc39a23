"""Fits that go on after a kill: what is saved of them, when, and whether it belongs to the call that finds it."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from numbers import Real
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from sklearn.utils.metadata_routing import UNUSED

from ..core.linalg import is_sparse
from ..core.memory import Forgetful, Memory
from ..files import check_folder, follow_links, naming, put_in_place
from ..persist.content import from_file, to_parts
from ..persist.tree import Decoder, Encoded, Encoder
from ..sources.rows.source import Block, Source

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "CheckpointLike",
    "FitMemory",
    "Resumable",
    "described",
    "digest",
    "refuse_checkpoint",
    "remembering",
]

Found = TypeVar("Found")
Part = TypeVar("Part")

CHECKPOINT = 1
"""The format of checkpoints; increase it when those of the previous one can no longer be read."""

SECONDS = 60.0
"""Between two saves. Not tuned: at most a minute of work is lost."""

SHAPES_NOTHING = ("verbose",)
"""Parameters that may be changed when a fit goes on. Derived: those that shape nothing that is learned."""


IN_EVERY_ONE = b'{\\"checkpoint\\":'
"""How the description of a checkpoint begins, as its file has it: a text of JSON in JSON."""


class CheckpointError(ValueError):
    """A checkpoint that a call cannot go on from; the message says what to do."""


class Checkpoint(NamedTuple):
    """Where ``fit`` saves how far it has come, and how often. A path alone stands for ``Checkpoint(path)``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from factorstream import Checkpoint, DictionaryFilter
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.save(folder / "rows.npy", np.random.default_rng(0).normal(size=(300, 5)))
    >>> model = DictionaryFilter(2, random_state=0)
    >>> model.fit(folder / "rows.npy", checkpoint=Checkpoint(folder / "fit.checkpoint", seconds=10)).n_samples_seen_
    300
    """

    path: str | os.PathLike[str]
    """The file. It stays when the fit is finished, with what was learned."""
    seconds: float = SECONDS
    """Save after a block of rows when so many seconds have passed since the last save."""
    rows: int | None = None
    """Save when so many rows have passed, too; None: go by the seconds alone."""


CheckpointLike: TypeAlias = str | os.PathLike[str] | Checkpoint | None


class Resumable:
    """Base of the estimators whose ``fit`` takes a checkpoint. scikit-learn has no part in that."""

    __metadata_request__fit: ClassVar[dict[str, str]] = {"checkpoint": UNUSED}


class FitMemory(Memory, Protocol):
    """What a call of ``fit`` remembers."""

    def blocks(self, source: Source) -> Iterator[Block]:
        """The rows that the present pass has still to read."""

    def finished(self, fit: Callable[[], Found]) -> Found:
        """What was learned, by an earlier call or by this one."""


class _Nothing(Forgetful):
    """The memory of a call without a checkpoint."""

    def blocks(self, source: Source) -> Iterator[Block]:
        """All rows."""
        return source.blocks()

    def finished(self, fit: Callable[[], Found]) -> Found:
        """What this call learns."""
        return fit()


NOTHING = _Nothing()
"""What a call without a checkpoint remembers. Not a setting: it has no state."""


def remembering(
    checkpoint: CheckpointLike, estimator: Any, source: Source | None, types: tuple[type, ...] = ()
) -> FitMemory:
    """What a call of ``fit`` remembers: what its checkpoint has.

    ``types`` are the NamedTuples that it may find besides those of the estimator's state.
    """
    if checkpoint is None:
        return NOTHING
    if source is None:
        raise ValueError("A checkpoint is for rows that are read from a file; give its path as X, or no checkpoint.")
    if not source.rewinds:
        raise ValueError(
            "These rows can be read only once, and a checkpoint has to go on in the middle of them; give a file, or a "
            "function that returns their blocks."
        )
    return _Kept(_where(checkpoint), estimator, source, types)


def _where(checkpoint: str | os.PathLike[str] | Checkpoint) -> Checkpoint:
    where = checkpoint if isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint)
    if not isinstance(where.path, str | os.PathLike):
        raise TypeError(f"checkpoint must be a path or a Checkpoint; got {checkpoint!r}.")
    for name, value, least in (("seconds", where.seconds, 0), ("rows", where.rows, 1)):
        if value is not None and not (isinstance(value, Real) and value >= least):
            raise ValueError(f"{name} of a Checkpoint must be a number from {least} on; got {value!r}.")
    if Path(where.path).is_dir():
        raise CheckpointError(f"{os.fspath(where.path)} is a folder; give the name of a file as checkpoint.")
    return where


def refuse_checkpoint(checkpoint: CheckpointLike) -> None:
    """Refuse a checkpoint of chunks of Dask: work on them does not come one block after another to this process."""
    if checkpoint is not None:
        raise TypeError("checkpoint is for rows that are read block by block, not for Dask arrays; leave it out.")


class _Kept:
    """What is saved in the file of a checkpoint. Rows are read through it, so that it knows which come next."""

    def __init__(self, where: Checkpoint, estimator: Any, source: Source, types: tuple[type, ...]) -> None:
        self._where, self._source = where, source
        self._path = follow_links(Path(where.path))
        check_folder(self._path)
        self._types = (*estimator._state_types, *types)
        parameters = estimator.get_params(deep=False)
        self._functions = {name: value for name, value in parameters.items() if callable(value)}
        self._call = _call(estimator, parameters, source)
        self._names: dict[str, Any] = {}
        self._pass: str | None = None
        self._sums: Any = None
        self._row = 0  # the next one to read; of a finished fit, how many there were
        self._state: Any = None
        self._saved_at, self._rows_since = monotonic(), 0
        if self._path.exists():
            self._read()

    def once(self, name: str, find: Callable[[], Found]) -> Found:
        """What has that name; it is found where nothing has."""
        if name not in self._names:
            self._names[name] = find()
        found: Found = self._names[name]
        return found

    def put(self, name: str, value: Found) -> Found:
        """Let a value have that name from now on."""
        self._names[name] = value
        return value

    def over(
        self, name: str, parts: Callable[[], Iterable[Part]], add: Callable[[Found, Part], Found], start: Found
    ) -> Found:
        """One pass, from where it was stopped; saved when it is time to."""
        if self._pass == name:
            start = self._sums
        else:
            self._pass, self._sums, self._row = name, start, 0
        for part in parts():
            self._sums = start = add(start, part)
            if self._is_time():
                self._save()
        return start

    def blocks(self, source: Source) -> Iterator[Block]:
        """The rows that the present pass has still to read."""
        for block in source.blocks(self._row):
            n = int(block.values.shape[0])
            self._row, self._rows_since = block.first + n, self._rows_since + n
            yield block

    def finished(self, fit: Callable[[], Found]) -> Found:
        """What was learned, by an earlier call or by this one."""
        if self._state is None:
            found = fit()
            self._names, self._pass, self._sums, self._state = {}, None, None, found
            self._save()
        elif next(iter(self._source.blocks(self._row)), None) is not None:
            raise self._foreign("more rows than there were")
        state: Found = self._state
        return state

    # ---------------------------------------------------------------- the file

    def _is_time(self) -> bool:
        enough = self._where.rows is not None and self._rows_since >= self._where.rows
        return enough or monotonic() - self._saved_at >= self._where.seconds

    def _save(self) -> None:
        encoder = Encoder(self._types)
        kept = {"names": self._names, "pass": self._pass, "sums": self._sums, "row": self._row, "state": self._state}
        tree = {"checkpoint": CHECKPOINT, "call": self._call, "kept": encoder.encode(kept)}
        if not self._functions.items() >= encoder.objects.items():
            raise TypeError(
                f"What a fit has found cannot be saved ({', '.join(encoder.objects)}); leave out checkpoint."
            )
        draft = self._path.with_name(f".{self._path.name}.draft")  # one name: a kill leaves one of it at most
        try:
            with naming(self._path), draft.open("wb") as file:
                file.writelines(to_parts(Encoded(tree, encoder.arrays, {})))
            put_in_place(draft, self._path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        self._saved_at, self._rows_since = monotonic(), 0

    def _read(self) -> None:
        with self._path.open("rb") as file:
            if IN_EVERY_ONE not in file.read(200):  # it may be anything, and is not to be removed
                raise CheckpointError(f"{self._path} is there already, and is no checkpoint; give another path.")
        try:
            found = from_file(self._path)
            format_, call = found.tree["checkpoint"], found.tree["call"]
            if format_ == CHECKPOINT and call == self._call:
                records = {one.__name__: one for one in self._types}
                kept = Decoder(found.arrays, self._functions, records).decode(found.tree["kept"])
                self._names, self._pass, self._sums = kept["names"], kept["pass"], kept["sums"]
                self._row, self._state = kept["row"], kept["state"]
                return
        except OSError:
            raise
        except Exception as problem:
            raise CheckpointError(
                f"{self._path} is a damaged checkpoint; remove it to begin anew, or give another path."
            ) from problem
        raise self._foreign(
            "another version of factorstream" if format_ != CHECKPOINT else _difference(call, self._call)
        )

    def _foreign(self, what: str) -> CheckpointError:
        return CheckpointError(
            f"{self._path} is the checkpoint of another fit ({what}); remove it to begin anew, or give another path."
        )


# ------------------------------------------------------------------ whose checkpoint it is


def _call(estimator: Any, parameters: dict[str, Any], source: Source) -> dict[str, Any]:
    """What has to be the same in two calls, as JSON: one fit goes on from what the other has saved."""
    return {
        "class": type(estimator).__name__,
        **{name: digest(value, name) for name, value in parameters.items() if name not in SHAPES_NOTHING},
        **described(source),
    }


def described(source: Source) -> dict[str, Any]:
    """What tells rows from others, as JSON. They are read from their beginning for it."""
    package = importlib.import_module("factorstream")  # when it is needed: it imports this file
    first = next(iter(source.blocks()), None)
    return {
        "version of factorstream": package.__version__,
        "names of columns": None if source.names is None else list(source.names),
        "number of columns": source.n_columns,
        "type of numbers": source.dtype.name,
        "number of rows": source.n_rows,
        "rows of a block": None if first is None else int(first.values.shape[0]),
        "first rows": None if first is None else digest(_parts_of(first.values), "first rows"),
    }


def _difference(one: Any, other: dict[str, Any]) -> str:
    """The first thing in which two calls differ, as "other n_components"."""
    names = [name for name in other if not isinstance(one, dict) or one.get(name) != other[name]]
    return f"other {names[0]}" if names else "other parameters"


def _parts_of(values: Any) -> Any:
    if is_sparse(values):
        return (values.data, values.indices, values.indptr, list(values.shape))
    return np.ascontiguousarray(values)


def digest(value: Any, name: str, types: tuple[type, ...] = ()) -> str:
    """A checksum of a value, in which NamedTuples of these types may be; functions count by their names."""
    encoder = Encoder(types)
    tree = encoder.encode(value, name)
    found = hashlib.sha256(json.dumps(tree, sort_keys=True).encode())
    for array in encoder.arrays:
        found.update(f"{array.dtype.str}{array.shape}".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    for one in encoder.objects.values():
        found.update(getattr(one, "__qualname__", type(one).__qualname__).encode())
    return found.hexdigest()[:32]
