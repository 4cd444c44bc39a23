"""Numbers and sentences of a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.fill_values import meaning
from ..diagnostics import missingness
from ..estimators.bayesian_factorization import BayesianFactorization
from ..estimators.dictionary_filter import DictionaryFilter
from ..estimators.low_rank_imputer import LowRankImputer
from ..estimators.sequence import SequenceFilter
from ..text import counted, listed, without_components
from .given import Answers, Given
from .lines import settings_of
from .measure import Measured
from .page import plain

Array = NDArray[Any]

MOST_COMPARED = 1_000_000_000
"""Comparisons, n m², up to which gaps are held against the other columns: seconds."""

METHODS: dict[type, str] = {
    DictionaryFilter: "A `DictionaryFilter` went over the rows and described each by {k} that all rows share.",
    BayesianFactorization: "A `BayesianFactorization` took all rows together and described each by {k} that all rows "
    "share.",
    LowRankImputer: "A `LowRankImputer` put all columns into standard units and described every row by {k} that all "
    "rows share.",
    SequenceFilter: "A `SequenceFilter` took the rows in the order of time and described them by {k} that {change} "
    "from row to row.",
}

WHO_WAS_ASKED = {
    True: "This model was fitted to this table and so has seen them. Therefore a new model with the same settings was "
    "fitted without them, and its fills were compared with what was hidden: these are the errors of the new model.",
    False: "This model was fitted to other rows than these. So it was asked itself, and its fills were compared with "
    "what was hidden: these are its own errors. (Should it have seen some of these rows before, then it would do worse "
    "on new ones.)",
}
"""By whether a copy was fitted, whose errors a report has."""


def many(count: int, thing: str) -> str:
    """A number of things, with commas between thousands.

    >>> many(1, "gap"), many(12345, "gap")
    ('1 gap', '12,345 gaps')
    """
    return counted(count, thing).replace(str(count), f"{count:,}", 1)


def percent(share: float) -> str:
    """A share in words that never say none or all where there is some, or some left.

    >>> percent(0.0), percent(0.00001), percent(0.123), percent(0.99999), percent(1.0)
    ('0%', '< 0.1%', '12.3%', '> 99.9%', '100%')
    """
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    return "< 0.1%" if share < 0.0005 else "> 99.9%" if share > 0.9995 else f"{share:.1%}"


def decimals(scale: float) -> int:
    """Digits after the point that show three figures of a deviation of this size.

    >>> decimals(123.0), decimals(1.5), decimals(0.02), decimals(0.0)
    (0, 2, 4, 2)
    """
    if not (scale > 0.0 and math.isfinite(scale)):
        return 2
    return min(max(2 - math.floor(math.log10(scale)), 0), 12)


def number(value: float, digits: int) -> str:
    """A number of a column, or what it means that there is none.

    >>> number(1234.5678, 1), number(float("inf"), 2), number(float("nan"), 2), number(1.5e20, 2), number(-2.0, 0)
    ('1,234.6', '∞', '–', '1.5e+20', '−2')
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.4g}" if abs(value) >= 1e9 else f"{value:,.{digits}f}"
    return text.replace("-", "−", 1) if text.startswith("-") else text


def the_model(found: Given, what: str = "entry") -> list[str]:
    """The table, and how the model describes it; ``what`` it says where it has found no components."""
    gap, model = found.gap, found.model
    n, m = gap.shape
    holes, k = int(gap.sum()), int(model.n_components_)
    entries = "entry is" if holes == 1 else "entries are"
    texts = [
        f"The table has {many(n, 'row')} and {many(m, 'column')} of numbers; {holes:,} {entries} missing "
        f"({percent(holes / gap.size)})."
    ]
    how = {"k": many(k, "component"), "change": "changes" if k == 1 else "change"}
    texts += [said.format(**how) for kind, said in METHODS.items() if isinstance(model, kind)]
    if not k:
        texts.append(without_components(type(model).__name__, what, robust=bool(settings_of(model).get("robust"))))
    return texts


def what_was_done(found: Given, level: float, has_bounds: bool) -> list[str]:
    """How the gaps were filled."""
    gap, model = found.gap, found.model
    holes, texts = int(gap.sum()), the_model(found, "gap")
    if isinstance(model, SequenceFilter):
        around = "before and after" if model.state_.parameters["smooth"] else "before"
        texts.append(f"What fills a gap is what it says, given the other columns and the rows {around}.")
    elif model.n_components_:
        says = "this says" if model.n_components_ == 1 else "these say"
        texts.append(f"What fills a gap is what {says}, given the observed values of its row.")
    if has_bounds and holes:
        texts.append(
            f"Every fill has an interval that should hold the true value in {100 * level:g} of 100 cases. Observed "
            "values are as they were."
        )
    alone = int(gap.all(axis=1).sum())
    if alone and not isinstance(model, SequenceFilter):
        texts.append(
            f"{many(alone, 'row')} without any value: what fills {'it' if alone == 1 else 'them'} says what rows are "
            "like in general."
        )
    return texts


def why_gaps(found: Given) -> list[str]:
    """Whether gaps depend on what is observed; nothing where rows follow one another, or for very wide tables."""
    n, m = found.gap.shape
    if found.in_time or not found.gap.any() or n * m * m > MOST_COMPARED:
        return []
    said = missingness(found.panel.values)
    names: dict[object, str] = dict(enumerate(found.names))
    related = tuple(names.get(one) for one in said.related)
    return [plain(str(said._replace(columns=found.names, related=related)))]


def how_measured(found: Given, measured: Measured) -> list[str]:
    """What was hidden, and what came of it."""
    ours, mean, line = (pooled(measured, errors) for errors in measured.errors)
    runs = f", rounded up to whole runs of {measured.length} rows" if measured.length > 1 else ""
    share = measured.n / max(int((~found.gap).sum()), 1)
    beside = f"the column's mean is off by {mean:.2f}"
    if line is not None:
        beside += f", a straight line in time by {line:.2f}"
    texts = [
        f"{many(measured.n, 'observed value')} ({percent(share)}) were hidden at random: {100 * measured.fraction:g}% "
        f"of every column{runs}. {WHO_WAS_ASKED[measured.refitted]} Nothing was chosen by the outcome.",
        f"Fills are off by **{ours:.2f}** standard deviations of their column (root mean square); {beside}.",
    ]
    best = min(error for error in (mean, line) if error is not None)
    if best < ours:
        texts.append(f"**Here {'the mean' if best == mean else 'a straight line'} does better than this model.**")
    worse = [found.names[j] for j in beaten(measured)]
    if worse:
        simple = "the mean" if line is None else "the mean or a straight line"
        texts.append(f"In {many(len(worse), 'column')} {simple} was better: {plain(listed(worse, 8))}.")
    texts.append(
        "Hidden values tell about the gaps only as far as gaps come about by chance. Where values are missing because "
        "of what they are, as above the end of a scale, fills may be further off."
    )
    return texts


def pooled(measured: Measured, errors: Array | None) -> Any:
    """Root mean square of errors in standard deviations of their columns, over columns that vary; None without any."""
    if errors is None:
        return None
    scale = measured.scale[measured.column]
    varies = scale > 0
    return float(np.sqrt(np.mean((errors[varies] / scale[varies]) ** 2))) if varies.any() else 0.0


def by_column(measured: Measured, errors: Array | None) -> Array:
    """Root mean square of the errors of each column (m,); NaN where none was hidden."""
    m = len(measured.scale)
    if errors is None:
        return np.full(m, np.nan)
    count = np.bincount(measured.column, minlength=m)
    total = np.bincount(measured.column, errors**2, minlength=m)
    return np.asarray(np.sqrt(np.divide(total, count, out=np.full(m, np.nan), where=count > 0)))


def beaten(measured: Measured) -> Array:
    """Columns in which the mean or the straight line was nearer than the model."""
    ours, mean, line = (by_column(measured, errors) for errors in measured.errors)
    return np.flatnonzero(ours > np.fmin(mean, line))


def how_calibrated(measured: Measured, level: float) -> list[str]:
    """Whether intervals hold what they promise."""
    if level not in measured.inside:
        return [f"The table is too small to calibrate intervals of {100 * level:g}%; others are shown."]
    share, n = measured.held(level), int(measured.varies.sum())
    reach = 1.96 * math.sqrt(level * (1.0 - level) / n)
    low, high = 100 * max(level - reach, 0.0), 100 * min(level + reach, 1.0)
    of = "" if n == measured.n else " in columns that vary (an interval of a constant column holds its value anyway)"
    verdict = "about as many as they promise"
    if abs(share - level) > reach:
        verdict = "fewer than they promise" if share < level else "more than they promise"
    return [
        f"The {100 * level:g}% intervals hold **{100 * share:.1f}%** of the {n:,} hidden values{of}: {verdict}. "
        f"Perfect ones would hold between {low:.1f}% and {high:.1f}%, by chance; values of one row or run stray "
        "together, and the share a little further."
    ]


def left_out(found: Given, said: Answers, known: Sequence[str]) -> list[str]:
    """What had no part in the fills, and why; ``known`` are sentences of the caller."""
    texts = [text.removeprefix("- ") for text in known]
    texts += [f"Column “{plain(name)}” holds {what}." for name, what in found.unused]
    empty = found.gap.all(axis=0)
    dropped = empty & np.isnan(said.filled).all(axis=0)
    unknown = "nothing is known that could fill them; their intervals are infinite"
    for which, fate in ((dropped, "they are not in the filled table"), (empty & ~dropped, unknown)):
        if which.any():
            names = listed([found.names[j] for j in np.flatnonzero(which)], 20)
            texts.append(f"Columns without any value ({plain(names)}): {fate}.")
    texts += _absurd(found)
    said_above = ("X has an absurd value", "Dropping features")
    texts += [text for text in said.warned if not text.startswith(said_above)]
    return [f"- {text}" for text in texts] or ["Nothing: all columns and all values were used."]


def repeatable(model: Any) -> list[str]:
    """Whether the lines of code give the very same numbers."""
    if getattr(model, "random_state", 0) is None:
        return ["No `random_state` was given, so that another fit may differ a little; a number makes it repeatable."]
    return []


def _absurd(found: Given) -> list[str]:
    """Absurd values, by columns."""
    texts = []
    for column in np.unique(found.absurd.column).tolist():
        here = found.absurd.column == column
        value, row = float(found.absurd.value[here][0]), int(found.absurd.row[here][0])
        known = meaning(value)
        what = f"{value:.6g}" + (f" ({known})" if known else "")
        others = int(here.sum()) - 1
        more = f", and {many(others, 'more value')} like it" if others else ""
        texts.append(
            f"{_titled(found, column)}: {what} in {found.row_word} {found.label(row)}{more} is out of all proportion "
            "to the other values; it was taken as missing, and a fill stands in its place."
        )
    return texts


def _titled(found: Given, column: int) -> str:
    """A column at the beginning of a sentence."""
    return f"Column “{found.panel.columns[column]}”" if found.panel.named else f"Column {column}"
