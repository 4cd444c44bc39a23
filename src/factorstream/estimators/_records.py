"""What happened while fitting, record by record: what ``history_`` shows."""

from __future__ import annotations

from collections.abc import Callable

from ..core.filter.model import FilterModel
from ..core.filter.state import FilterRecord, FilterState
from ..core.linalg import Array
from ..tall.products import square_sum

HISTORY = 1000
"""Records of ``history_``; older ones are dropped so that an endless stream stays bounded. A round number."""

LOT = 32
"""Records that are kept together. A row of a stream adds one, and to copy a thousand for it took a tenth of the time
of the row. Not tuned; speed only."""

Record = dict[str, float]
Tell = Callable[[Record], None]
"""Is given every record as it is made; prints it, or does nothing."""

Lots = tuple[tuple[Record, ...], ...]
"""The records of a stream, oldest first, in lots of LOT; a few more than HISTORY."""


def with_record(lots: Lots, record: Record) -> Lots:
    """One record more."""
    if lots and len(lots[-1]) < LOT:
        return (*lots[:-1], (*lots[-1], record))
    return (*lots[-(HISTORY // LOT + 1) :], (record,))


def latest(lots: Lots) -> tuple[Record, ...]:
    """The last HISTORY records, oldest first."""
    return tuple(record for lot in lots for record in lot)[-HISTORY:]


def filter_record(state: FilterState, model: FilterModel, info: FilterRecord) -> Record:
    """What a pass, or a call of ``partial_fit``, was like."""
    small = state.small
    facts = {
        "n_samples": float(len(info.innovation)),
        "innovation": _sum(info.innovation) / _sum(info.n_observed),
        "noise": float(small.noise),
    }
    if model.gain.facts.posterior:
        facts["trace"] = float(square_sum(small.S) * small.noise / small.lam)
        facts["dictionary_share"] = _sum(info.dictionary_share) / len(info.dictionary_share)
    return facts


def _sum(values: Array) -> float:
    """A call of a stream often has one row, and NumPy takes ten times as long for the sum of its one value."""
    return float(values[0] if len(values) == 1 else values.sum())
