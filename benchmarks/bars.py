"""What the benchmark is held to, judged from its own table: one function per case."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import NamedTuple

from . import counted, masked, peers, small, streams, sweeps
from .rows import Row, readable

GOOD = 18.9
"""dB over the removed pixels that a method must reach to be compared by its time: what one automatic pass of this
package reaches on the faces, rounded down (docs/performance.md)."""

_SIGNS: dict[str, Callable[[float, float], bool]] = {
    "≥": operator.ge,
    "≤": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}

_MASKED_LIMIT = (
    "the Gram matrix of a sample's missing rows is too narrow for BLAS to reach its full rate, "
    "and three passes over C wait for one another"
)
_LOOP_LIMIT = (
    "products with as few columns as C do not reach the rate of a large one, "
    "and between them the small recursion goes sample by sample"
)
_GROUPS_LIMIT = "the small step is made for every group of features, in calls from Python where it is not compiled"
_KINDS = counted.SHARED, counted.COUNTED
_SWEEP_LIMIT = "many small matrices, one after another"
_CALLS_LIMIT = "calls from Python, not arithmetic"


class Bar(NamedTuple):
    """One requirement of the project, with its bound; docs/performance.md says which are met."""

    what: str
    measured: float | None
    """None where it was not measured."""
    sign: str
    bound: float
    unit: str = "×"
    against: str = ""
    """What it is compared with."""
    limit: str = ""
    """Where the bar is not met, what limits it; where nothing was measured, why."""
    unmeasured: str = "not run"
    """The verdict where nothing was measured."""

    @property
    def met(self) -> bool | None:
        """None where nothing was measured."""
        return None if self.measured is None else _SIGNS[self.sign](self.measured, self.bound)


def faster(what: str, ours: Row | None, other: Row | None, least: float, why: str, sign: str = "≥") -> Bar:
    """Time of another over ours, at least ``least``."""
    return _compared(Bar(what, None, sign, least), ours, other, 1.0 / least, why)


def within(what: str, ours: Row | None, other: Row | None, most: float, why: str) -> Bar:
    """Our time over that of another, at most ``most``."""
    return _compared(Bar(what, None, "≤", most), ours, other, most, why)


def _compared(bar: Bar, ours: Row | None, other: Row | None, share: float, why: str) -> Bar:
    """The bar with its ratio; ours may take ``share`` times the time of the other."""
    if ours is None or other is None or not ours.seconds or not other.seconds:
        return bar._replace(limit=other.note if other else "")
    ratio = ours.seconds / other.seconds
    bar = bar._replace(measured=ratio if bar.sign == "≤" else 1.0 / ratio)
    return bar if bar.met else bar._replace(limit=_limit(ours.seconds, ours.floor, share * other.seconds, why))


def _limit(taken: float, floor: float | None, needed: float, why: str) -> str:
    """How far the bar is from what the machine's rates allow."""
    text = f"ours takes {readable(taken)} and would need {readable(needed)}"
    if floor is None:
        return f"{text}: {why}"
    if needed < floor:
        return f"{text}, less than the floor of its algorithm as arranged here, {readable(floor)}: {why}"
    return f"{text}; the floor of its algorithm as arranged here is {readable(floor)}: {why}"


def _find(rows: Sequence[Row], method: str) -> Row | None:
    return next((row for row in rows if row.method == method), None)


def complete_stream(rows: Sequence[Row]) -> list[Bar]:
    """The recursion beside its own products and the textbook loop."""
    ours = _find(rows, streams.EXACT)
    found = [faster("complete: textbook loop / ours", ours, _find(rows, streams.LOOP), 10.0, _LOOP_LIMIT)]
    for ending in ("", streams.WITH_MEAN):
        ours, products = (_find(rows, name + ending) for name in (streams.EXACT, streams.PRODUCTS))
        found.append(within(f"complete{ending}: ours / its products", ours, products, 2.0, _LOOP_LIMIT))
    return found


def masked_stream(rows: Sequence[Row]) -> list[Bar]:
    """Quality and time of the paper's filter on faces with gaps, beside the peers; the quality of the default."""
    both, fit = _find(rows, masked.FIT_AND_FILL), _find(rows, masked.FIT)
    quality = both.quality if both else None
    default = _find(rows, masked.DEFAULT)
    found = [
        Bar("faces: quality of one automatic pass", quality, "≥", GOOD, "dB"),
        Bar("faces: the same with counted covariances", default.quality if default else None, "≥", 19.05, "dB"),
    ]

    good = [row for row in rows if row.role == "peer" and row.seconds and (row.quality or 0.0) >= GOOD]
    best = min(good, key=lambda row: row.seconds or 0.0, default=None)
    against, verdict = "", "not run"
    if best is not None:
        against = f"the fastest is {best.method}: {best.quality:.2f} dB in {readable(best.seconds)} ({best.note})"
    elif both is not None:
        against, verdict = f"no peer reached {GOOD} dB on these data ({both.case})", "nothing to compare"
    fast = _find(rows, masked.FIT_AND_FILL + masked.COMPILED)
    for what, ours in (("fit and fill", both), ("fit alone", fit), ("fit and fill, compiled", fast)):
        bar = faster(f"faces: fastest peer of {GOOD} dB / {what}", ours, best, 10.0, _MASKED_LIMIT)
        bar = bar._replace(against=against, unmeasured=verdict)
        found.append(bar if ours is not fast else _needs_numba(bar, both, fast))

    pca = [_find(rows, method) for method in (peers.PCA_DEFAULT, peers.PCA_BEST)]
    for how, ours in (("ours", both), ("ours, compiled", fast)):
        for what, other in zip(("filling timed", "filled before"), pca, strict=True):
            bar = faster(f"faces: IncrementalPCA, {what} / {how}", ours, other, 1.0, _MASKED_LIMIT)
            found.append(bar if ours is not fast else _needs_numba(bar, both, fast))
    theirs = [row.quality for row in pca if row and row.quality is not None]
    gain = quality - max(theirs) if quality is not None and theirs else None
    return [*found, Bar("faces: ours better than IncrementalPCA by", gain, "≥", 1.5, "dB")]


def small_table(rows: Sequence[Row]) -> list[Bar]:
    """Compiled rows beside NumPy where the calls from Python dominate."""
    plain, fast = _find(rows, small.TABLE), _find(rows, small.TABLE_COMPILED)
    return [_needs_numba(faster("narrow table: NumPy / compiled", fast, plain, 1.5, _CALLS_LIMIT), plain, fast)]


def _needs_numba(bar: Bar, plain: Row | None, fast: Row | None) -> Bar:
    """The reason where only the compiled row is missing."""
    return bar._replace(limit="needs numba, which does not work here") if plain and not fast else bar


def counted_covariances(rows: Sequence[Row]) -> list[Bar]:
    """The default filter beside the paper's: complete rows within 15%, rows with gaps within half as much again."""
    found = []
    for ending in ("", counted.COMPILED):
        for table in counted.TABLES:
            shared, own = (_find(rows, counted.method(kind, table.name) + ending) for kind in _KINDS)
            what, most = f"{table.name}{ending}: counted / shared", 1.5 if table.missing else 1.15
            found.append(within(what, own, shared, most, _GROUPS_LIMIT))
    return found


def variational_sweep(rows: Sequence[Row]) -> list[Bar]:
    """A posterior per feature beside a sweep without any."""
    ours, als = _find(rows, sweeps.VARIATIONAL), _find(rows, sweeps.ALS)
    return [within("variational sweep: ours / plain ALS", ours, als, 4.0, _SWEEP_LIMIT)]


def sequence_sweep(rows: Sequence[Row]) -> list[Bar]:
    """EM beside a textbook and statsmodels."""
    ours = _find(rows, sweeps.EM)
    return [
        faster("EM sweep: textbook / ours", ours, _find(rows, sweeps.TEXTBOOK_EM), 4.0, _SWEEP_LIMIT),
        faster("EM sweep: DynamicFactorMQ / ours", ours, _find(rows, sweeps.STATSMODELS), 1.0, _SWEEP_LIMIT, ">"),
    ]


def one_row(rows: Sequence[Row]) -> list[Bar]:
    """The price of one call, and of the import."""
    ours, pca, imported = (_find(rows, name) for name in (small.ONE_ROW, small.ONE_ROW_PCA, small.IMPORT))
    seconds = imported.seconds if imported else None
    return [
        within("partial_fit of one row: ours / IncrementalPCA", ours, pca, 0.5, _CALLS_LIMIT),
        Bar("import after sklearn.decomposition", seconds, "<", 0.3, "s"),
    ]


def memory(rows: Sequence[Row]) -> list[Bar]:
    """Memory that does not grow with the rows."""
    peaks = [row.peak for row in rows if row.peak]
    extras = [peak.extra for peak in peaks]
    growth = max(extras) / min(extras) if extras else None
    copies = max((peak.copies for peak in peaks), default=None)
    lengths = "n = " + ", ".join(str(peak.rows) for peak in peaks) if peaks else ""
    return [
        Bar("memory of partial_fit: largest / smallest", growth, "≤", 1.05, against=lengths),
        Bar("memory of partial_fit, less one block", copies, "≤", 3.0, "C"),
    ]
