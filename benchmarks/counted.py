"""What a covariance per feature costs: ``fit`` of the same rows by the default filter and by the paper's, in turns."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from factorstream.estimators.dictionary_filter import DictionaryFilter
from factorstream.tall import kernel

from .peers import PAPER
from .rows import Contestant, Found, Row, compete
from .small import low_rank
from .timing import Machine, compiled

SHARED, COUNTED, COMPILED = "shared", "counted", ", compiled"


class Table(NamedTuple):
    """Rows of one size."""

    name: str
    n: int
    m: int
    r: int
    missing: float

    def few(self) -> Table:
        """A part of it for a quick run."""
        return self._replace(n=self.n // 4, m=max(self.m // 4, 20), r=max(self.r // 2, 3))


TABLES = (
    Table("wide, complete", 400, 4096, 40, 0.0),
    Table("wide, 25% missing", 400, 4096, 40, 0.25),
    Table("narrow, complete", 4000, 20, 3, 0.0),
    Table("narrow, 10% missing", 4000, 20, 3, 0.1),
)
"""Those that have bars."""
STREAMS = (
    Table("stream of 20 features", 20_000, 20, 5, 0.1),
    Table("stream of 1000 features", 2000, 1000, 20, 0.1),
)
"""What docs/jobs/stream.md says how fast it is."""


def counted(machine: Machine, quick: bool) -> Found:
    """Every table, in NumPy and compiled."""
    return Found([row for table in (*TABLES, *STREAMS) for row in _compared(machine, table.few() if quick else table)])


def _compared(machine: Machine, table: Table) -> list[Row]:
    X = low_rank(table.n, table.m, table.r, table.missing)
    paper, default = (DictionaryFilter(table.r, random_state=0, **kind) for kind in (PAPER, {}))
    contestants = {
        method(SHARED, table.name): Contestant(partial(paper.fit, X)),
        method(COUNTED, table.name): Contestant(partial(default.fit, X)),
    }
    if kernel.import_failure() is None:
        contestants |= {name + COMPILED: c._replace(call=compiled(c.call)) for name, c in contestants.items()}
    case = f"Covariances, {table.n}×{table.m}, r={table.r}, {table.name}"
    return compete(case, contestants, machine, repeats=7)


def method(kind: str, table: str) -> str:
    """The line of one filter for one table."""
    return f"{kind} covariance, {table}"
