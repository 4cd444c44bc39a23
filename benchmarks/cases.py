"""The one list of cases: the name of each for ``--only``, what measures it, and what it is held to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from . import bars, counted, masked, small, streams, sweeps
from .bars import Bar
from .rows import Found, Row
from .timing import Machine


class Case(NamedTuple):
    """One case."""

    title: str
    words: str
    """What it measures, short enough for a line of a terminal."""
    measure: Callable[[Machine, bool], Found]
    """Takes the machine's rates and whether the run is quick. Makes its data before the clock starts."""
    judge: Callable[[Sequence[Row]], list[Bar]] = lambda rows: []
    """The bars it is held to, from the rows of the table."""
    data: str = ""
    """What it has to load; empty where it makes its data up."""

    @property
    def heading(self) -> str:
        """The case in one line, without the sizes that its rows would give."""
        return f"{self.title}: {self.words}"


CASES = {
    "complete_stream": Case(
        "Complete stream", "nothing missing, beside a textbook loop", streams.complete_stream, bars.complete_stream
    ),
    "masked_stream": Case(
        "Masked stream", "faces, a quarter missing, every peer", masked.masked_stream, bars.masked_stream, "faces"
    ),
    "small_table": Case(
        "Narrow table", "few features, many rows, NumPy and compiled", small.small_table, bars.small_table
    ),
    "variational_sweep": Case(
        "Variational sweep",
        "one posterior per feature, beside ALS",
        sweeps.variational_sweep,
        bars.variational_sweep,
        "faces",
    ),
    "sequence_sweep": Case(
        "Sequence",
        "one EM sweep beside a textbook and statsmodels",
        sweeps.sequence_sweep,
        bars.sequence_sweep,
        "London PM10",
    ),
    "counted": Case("Covariances", "one per feature beside one for all", counted.counted, bars.counted_covariances),
    "one_row": Case("One more row", "a single row in partial_fit, and the import", small.one_row, bars.one_row),
    "memory": Case("Peak extra memory", "partial_fit of more and more rows", streams.memory, bars.memory),
    "scaling": Case("Time per sample", "by features, components, samples and gaps", streams.scaling),
}


def judged(rows: Sequence[Row], absent: Mapping[str, str] = MappingProxyType({})) -> list[Bar]:
    """Every bar, from the rows of the table; ``absent`` has a verdict on every case that did not run."""
    return [
        bar._replace(unmeasured=absent.get(name, bar.unmeasured))
        for name, case in CASES.items()
        for bar in case.judge(rows)
    ]


def listing() -> str:
    """One line for each case."""
    width = max(map(len, CASES))
    return "\n".join(f"  {name:<{width}}  {case.heading}" for name, case in CASES.items())


def unknown(names: Sequence[str]) -> str:
    """One sentence about the names that are no case; empty where there are none."""
    wrong = [name for name in names if name not in CASES]
    return f"--only does not know {', '.join(wrong)}; choose from {', '.join(CASES)}." if wrong else ""
