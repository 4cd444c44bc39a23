"""Drafts of files: one file that grows, or numbered parts that are joined at the end."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple, Protocol, Self

from ...files import check_folder, follow_links, naming, put_in_place
from ...text import counted
from ..table import Array, Bounds, TableError, rounded
from .sink import Filled, filled_block
from .source import Block

__all__ = ["Appender", "GrowingSink", "Joiner", "PartsSink", "SinkOptions", "Whole"]

PLAN = "plan"
"""The file among the parts that says how they were written. Parts have numbers as names."""


class SinkOptions(NamedTuple):
    """How to write."""

    bounds: tuple[int, ...] = ()
    """Which of the source's columns of numbers have bounds behind them."""
    resume: bool = False
    """Whether to go on with a draft that is there, and to keep it when there is an error."""
    rows_missing: Callable[[int], bool] = lambda n_rows: False
    """Whether a file with so many rows lacks some of the source."""
    whole: Callable[[], frozenset[int]] = frozenset
    """Which of the source's columns of numbers get whole numbers only; asked when the first fill is written."""


class Whole(NamedTuple):
    """How much of a draft is complete."""

    rows: int
    size: int
    """In bytes."""


class Appender(Protocol):
    """A format to which rows are appended."""

    def begin(self) -> bytes:
        """What stands before the first row."""

    def encode(self, block: Block, filled: Filled) -> bytes:
        """The rows of a block."""

    def whole(self, draft: Path) -> Whole:
        """What is complete in a draft that begins as it should."""

    def finish(self, file: BinaryIO, rows: int) -> None:
        """Complete a draft that has this number of rows."""


class Joiner(Protocol):
    """A format whose files are joined from parts."""

    def plan(self) -> bytes:
        """What is the same for parts that can be joined."""

    def write_part(self, path: Path, block: Block, filled: Filled) -> None:
        """Write the rows of a block to a file."""

    def join(self, parts: Sequence[Path], rows: int, path: Path) -> None:
        """Write the file, or the folder, which has this number of rows."""


class _DraftSink:
    """What both kinds of drafts have in common."""

    def __init__(self, path: Path, options: SinkOptions) -> None:
        self.path = follow_links(path)
        check_folder(self.path)
        self._options = options
        token = "draft" if options.resume else secrets.token_hex(4)
        self._draft = self.path.with_name(f".{self.path.name}.{token}")
        self.written = 0

    def _filled(self, block: Block, filled: Array | None, bounds: Bounds | None) -> Filled:
        if block.first != self.written:
            raise TableError(f"The next block must begin at row {self.written}, and this one begins at {block.first}.")
        if filled is not None:
            filled, bounds = rounded(filled, bounds, self._options.whole())
        return filled_block(block, filled, bounds, bool(self._options.bounds))

    def close(self) -> Path:
        """Finish the file and put it in its place; if rows of the source are missing, it is refused."""
        if self._options.rows_missing(self.written):
            goes_on = "" if not self._options.resume else "; its draft stays, and the next run goes on with it"
            raise TableError(
                f"{self.path} was not written, because only {counted(self.written, 'row')} of the source came{goes_on}."
            )
        with naming(self.path):
            return self._publish()

    def _publish(self) -> Path:
        raise NotImplementedError

    def discard(self) -> None:
        """Remove the draft."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, where: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.close()
                return
        except BaseException:
            self._give_up()
            raise
        self._give_up()

    def _give_up(self) -> None:
        if not self._options.resume:
            self.discard()


class GrowingSink(_DraftSink):
    """A file to which rows are appended; it is open only while that is done."""

    def __init__(self, path: Path, appender: Appender, options: SinkOptions) -> None:
        super().__init__(path, options)
        self._appender = appender
        begin = appender.begin()
        self._size = len(begin)
        if self._begins_with(begin):
            self.written, self._size = appender.whole(self._draft)
        else:
            self._draft.write_bytes(begin)

    def write(self, block: Block, filled: Array | None = None, bounds: Bounds | None = None) -> None:
        """Write a block, with the numbers of ``filled`` in its gaps, or as it is."""
        numbers = self._filled(block, filled, bounds)
        content = self._appender.encode(block, numbers)
        with naming(self.path), self._draft.open("r+b") as file:
            file.truncate(self._size)  # what a write that failed has left
            file.seek(self._size)
            file.write(content)
        self._size += len(content)
        self.written += len(numbers.values)

    def _publish(self) -> Path:
        with self._draft.open("r+b") as file:
            file.truncate(self._size)
            self._appender.finish(file, self.written)
        return put_in_place(self._draft, self.path)

    def discard(self) -> None:
        """Remove the draft."""
        self._draft.unlink(missing_ok=True)

    def _begins_with(self, begin: bytes) -> bool:
        if not self._draft.exists():
            return False
        with self._draft.open("rb") as file:
            return file.read(len(begin)) == begin


class PartsSink(_DraftSink):
    """A folder of numbered parts, each of them a block, which become one file at the end."""

    def __init__(self, path: Path, joiner: Joiner, options: SinkOptions) -> None:
        super().__init__(path, options)
        self._joiner = joiner
        plan = self._draft / PLAN
        if not (plan.exists() and plan.read_bytes() == joiner.plan()):
            shutil.rmtree(self._draft, ignore_errors=True)
            self._draft.mkdir()
            plan.write_bytes(joiner.plan())
        self._parts: list[Path] = []
        for part in sorted(self._draft.glob("[0-9]*-[0-9]*")):
            first, _, end = part.name.partition("-")
            if int(first) == self.written:
                self.written = int(end)
                self._parts.append(part)

    def write(self, block: Block, filled: Array | None = None, bounds: Bounds | None = None) -> None:
        """Write a block, with the numbers of ``filled`` in its gaps, or as it is."""
        content = self._filled(block, filled, bounds)
        end = self.written + len(content.values)
        begun = self._draft / "begun"
        with naming(self.path):
            self._joiner.write_part(begun, block, content)
        part = self._draft / f"{self.written:015d}-{end:015d}"
        os.replace(begun, part)
        self._parts.append(part)
        self.written = end

    def _publish(self) -> Path:
        joined = self._draft / "joined"
        if joined.is_dir():  # of a process that was killed
            shutil.rmtree(joined)
        self._joiner.join(self._parts, self.written, joined)
        put_in_place(joined, self.path)
        self.discard()
        return self.path

    def discard(self) -> None:
        """Remove the draft."""
        shutil.rmtree(self._draft, ignore_errors=True)
