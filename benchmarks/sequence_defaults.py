"""How much the constants of the sequence model matter: each at two other values, on data with known gaps and future.

Made-up sequences with and without slow levels, with outliers and jumps, fitted and streamed, and some hours of London's
air where they are found. Printed is by how much the errors of filled gaps and of forecasts move, and what becomes of
the 95% intervals; for the rule of alarms, how often it fires without a change and when it finds one.

    python -m benchmarks.sequence_defaults [--only NAME ...] [--jobs N]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from functools import partial
from typing import NamedTuple

import numpy as np

from factorstream.core.dynamics import alarm, axes, choose, em, forecasts, noise, outliers, spikes, stream
from factorstream.core.dynamics import bank as _bank  # noqa: F401  what is loaded later keeps a change
from factorstream.core.dynamics import cycles_ahead as _cycles_ahead  # noqa: F401
from factorstream.core.dynamics import learning as _learning  # noqa: F401
from factorstream.estimators.sequence import SequenceFilter

from . import sequence_runs as runs
from .changes import Change, Default, made, other
from .sequence_runs import AHEAD, ORIGINS, Array, fitted, london, sequence, streamed


class Group(NamedTuple):
    """Constants that are judged on the same data."""

    columns: tuple[str, ...]
    data: dict[str, Callable[[int], Array]]  # by name: from a seed to the numbers of the columns
    changes: tuple[Change, ...]
    seeds: int = 4


def fit_rows() -> int:
    """Rows of a sequence that is fitted and then forecast."""
    return runs.SIZES.fitted + AHEAD * ORIGINS


ERRORS = ("gaps", "forecasts", "coverage", "width")
OF_WALKS = (
    other("MIN_Z", 1.0, 2.5, module="choose")
    + other("UNIT_ROOT", 10.0, 20.0, module="em")
    + other("UNIT_ROOT_SWEEPS", 2, 8, module="fit")
    + other("NO_NOISE", 1e-3, 0.1, module="start")
    + other("CLEAR_NOISE", 2.0, 8.0, module="start")
)
"""Constants that decide what is taken for a random walk, and what becomes of it."""
OF_CYCLES = (
    other("SHORTEST_CYCLE", 3, 8, module="cycles")
    + other("MOST_CYCLES", 1, 5, module="cycles")
    + other("BESIDE", (2, 5), (5, 11), module="cycles")
    + other("ABOVE_BESIDE", 10.0, 40.0, module="cycles")
    + other("JUDGED_TURNS", 8, 32, module="cycles_ahead")
    + other("LEAST_PARTS", 2, 5, module="cycles_ahead")
)
"""Constants by which cycles are found and judged."""
OF_BLENDS = (
    other("EQUAL_COUNT", 100.0, 1000.0, module="blend")
    + other("COMMON_COUNT", 300.0, 3000.0, module="blend")
    + other("LEAST_SHARE", 0.02, 0.1, module="blend")
    + other("LEAST_GAIN", 3e-4, 3e-3, module="blend")
)
"""Constants by which several models share the filling of gaps."""
OF_EVENTS = (
    other("SHIFT_PART", 0.15, 0.4, module="lookout")
    + other("OUTLIER_PART", 0.3, 0.7, module="lookout")
    + other("SPREAD_PART", 0.15, 0.4, module="lookout")
    + other("TOLD", 4.0, 8.0, module="lookout")
    + other("REACH", 32, 128, module="shifts")
    + other("NEAR", 2.0, 4.0, module="shifts")
    + other("SETTLED", 24, 96, module="shifts")
    + other("CLEARLY", 1.5, 3.0, module="shifts")
    + other("VERDICT", 2, 5, module="suspects")
    + other("SURELY", 2.5, 4.0, module="suspects")
    + other("CHANCE", 0.1, 0.4, module="suspects")
    + other("HELD", 0, 8, module="moved")
    + other("MODERATE", 1.5, 3.0, module="tails")
    + other("LEAN", 1.5, 3.0, module="tails")
    + other("SHARE", 0.005, 0.02, module="tails")
    + other("RETURNED", 0.6, 0.9, module="tails")
    + other("KEPT", 0.05, 0.3, module="heavier")
)
"""Constants by which events are told, and heavy tails are seen."""
GROUPS = {
    "fits": Group(
        ERRORS,
        {
            "factors": lambda seed: fitted(sequence(seed, fit_rows())),
            "levels": lambda seed: fitted(sequence(seed, fit_rows(), step=0.15)),
            "London": lambda seed: fitted(london(seed, fit_rows())),
        },
        other("HORIZON", 5, 20, module="choose")
        + other("HIDDEN_RUN", 5, 20, module="choose")
        + other("HIDDEN_PERIOD", 30, 75, module="choose")
        + other("HIDDEN_SHIFT", 7, 29, module="choose")
        + other("MIN_STRETCH", 0.8, 1.0, module="choose")
        + other("PARTS", 2, 5, module="choose")
        + other("PRIOR_COUNT", 30.0, 300.0, module="choose")
        + other(
            "choose.sweeps",
            4,
            16,
            defaults=(Default(choose.choose, "sweeps"), Default(forecasts.forecast_stretch, "sweeps")),
        )
        + other("MEAN_PRECISION", 1e-8, 1e-4, module="em")
        + other("RELEVANCE_COUNT", 1e-5, 0.1, module="em")
        + other("RIDGE", 1e-8, 1e-4, module="em")
        + other("LoadingPrior.strength", 0.3, 3.0, defaults=[Default(em.LoadingPrior.__new__, "strength")])
        + other("LoadingPrior.scale", 1e-5, 1e-3, defaults=[Default(em.LoadingPrior.__new__, "scale")])
        + other("max_iter", 15, 60, defaults=[Default(SequenceFilter.__init__, "max_iter")])
        + other("tol", 3e-4, 3e-3, defaults=[Default(SequenceFilter.__init__, "tol")])
        + other("LAGS", (1, 2, 4, 8), (1, 2, 4, 8, 16, 32), module="start")
        + other("DECAY_TIMES", 2.0 ** np.arange(-1, 8), 2.0 ** np.arange(-1, 12, 0.5), module="start")
        + other("ABOVE_EDGE", 1.0, 1.3, module="start")
        + other("FACTOR_SWEEPS", 5, 80, module="axes", defaults=[Default(axes.principal_axes, "sweeps")])
        + other("DECAY_OF_STATES", (0.3, 0.999), (0.7, 0.95), module="start")
        + other("DECAY_BESIDE_LEVELS", (0.3, 0.9999), (0.7, 0.99), module="start")
        + other("LEAST_VARIANCE", 1e-4, 1e-2, module="start")
        + other("LEAST_OWN", 0.03, 0.3, module="start")
        + other("LEAST_LEFT", 0.01, 0.2, module="start")
        + OF_WALKS
        + OF_CYCLES
        + OF_BLENDS,
    ),
    "walks": Group(
        ERRORS,
        {
            "no noise": lambda seed: fitted(sequence(seed, fit_rows(), step=3.0)),
            "noise": lambda seed: fitted(sequence(seed, fit_rows(), step=0.5)),
        },
        OF_WALKS,
    ),
    "short": Group(
        ERRORS,
        {
            "80 rows": lambda seed: fitted(sequence(seed, 80 + AHEAD * ORIGINS, step=0.15)),
            "150 rows": lambda seed: fitted(sequence(seed, 150 + AHEAD * ORIGINS, step=0.15)),
        },
        other("MIN_ROWS_TO_CHOOSE", 60, 200, module="few")
        + other("FEW_ROWS", 100, 400, module="few")
        + other("FOLDS", 3, 10, module="few"),
    ),
    "shortest": Group(
        ERRORS,
        {
            "15 rows": lambda seed: fitted(sequence(seed, 15 + AHEAD * ORIGINS)),
            "30 rows": lambda seed: fitted(sequence(seed, 30 + AHEAD * ORIGINS)),
        },
        other("FEWEST_ROWS", 10, 40, module="few"),
        seeds=12,  # few rows, few errors each
    ),
    "long": Group(
        ERRORS,
        {"levels": lambda seed: fitted(sequence(seed, runs.SIZES.long, m=4, step=0.15))},
        other("COMPARED_ROWS", 512, 2048, module="choose", defaults=[Default(choose.choose, "rows")]),
    ),
    "robust fits": Group(
        ERRORS,
        {
            "factors": lambda seed: fitted(sequence(seed, fit_rows(), outliers=True), robust=True, drift="none"),
            "levels": lambda seed: fitted(
                sequence(seed, fit_rows(), outliers=True, jumps=40, step=0.15), robust=True, drift="level"
            ),
            "Student-t": lambda seed: fitted(sequence(seed, fit_rows(), nu=5.0), robust=True, drift="none"),
        },
        other("EARLY", 2, 8, module="fit")
        + other("NU_RANGE", (2.5, 200.0), (4.0, 50.0), module="noise")
        + other("NU_START", 5.0, 20.0, module="noise", defaults=[Default(noise.LearnedStudentSpec.__new__, "start")])
        + other("LEARNING_TURNS", 3, 30, module="noise")
        + other("SURPRISE", 2.0, 9.0, module="noise")
        + other("NODES", 128, 512, module="noise")
        + other("MIXTURE_NODES", 16, 64, module="noise")
        + other("OUT_OF_PROPORTION", 1.25, 2.0, module="noise")
        + other("USUAL", 0.7, 0.9, module="choose")
        + other("WEIGHT_TURNS", 2, 8, module="outliers", defaults=[Default(outliers.weights, "turns")])
        + other("SPIKE", 3.5, 7.0, module="spikes", defaults=[Default(spikes.without_spikes, "most")])
        + other("SPIKE_REACH", 2, 6, module="spikes", defaults=[Default(spikes.without_spikes, "reach")]),
    ),
    "streams": Group(
        ERRORS,
        {
            "levels": lambda seed: streamed(sequence(seed, runs.SIZES.stream, step=0.1), runs.SIZES.first),
            "changing": runs.changing,
        },
        other("warmup", 128, 512, defaults=[Default(stream.StreamOptions.__new__, "warmup")])
        + other("window", 64, 256, defaults=[Default(stream.StreamOptions.__new__, "window")])
        + other("decay", 0.8, 0.95, defaults=[Default(stream.StreamOptions.__new__, "decay")])
        + other("sweeps", 4, 16, defaults=[Default(stream.StreamOptions.__new__, "sweeps")])
        + other("PARTS", 2, 5, module="choose")
        + other("SCORE_MEMORY", 64.0, 1024.0, module="bank")
        + other("CLAIM_ROWS", 10.0, 40.0, module="widths")
        + other("MEMORY_ROWS", 200.0, 2000.0, module="widths")
        + other("WORK", 32, 128, module="spread"),
        seeds=6,  # learning from few rows ends well or badly
    ),
    "late features": Group(
        ERRORS,
        {"levels": partial(runs.late, drift="level"), "states": partial(runs.late, drift="none")},
        other("MIN_VALUES", 4, 16, module="late")
        + other("SETTLED_VALUES", 32, 128, module="pieces")
        + other("NEW_FEATURE_TURNS", 2, 8, module="pieces")
        + other("MIN_SCALE_VALUES", 2, 6, module="scale"),
    ),
    "robust streams": Group(
        ERRORS,
        {
            "jumps": lambda seed: streamed(
                sequence(seed, runs.SIZES.late, outliers=True, jumps=25, step=0.15),
                256,
                robust=True,
                drift="level",
            ),
            "moved": runs.moved,
        },
        other("JUMP", 0.003, 0.03, module="filter")
        + other("FAR", 3.0, 6.0, module="noise")
        + other("ROW_TURNS", 2, 6, module="noise")
        + other("OUTLIER_WEIGHT", 0.05, 0.2, module="late"),
    ),
    "alarms": Group(
        ("alarms", "delay"),
        {"Gaussian": partial(runs.alarms, shift=0.5), "Student-t": partial(runs.alarms, shift=1.2, nu=5.0)},
        other(
            "ALLOWANCE", 0.25, 1.0, module="alarm", defaults=[Default(f, "k") for f in (alarm.threshold, alarm.watch)]
        )
        + other("MEMORY", 200, 2000, module="alarm")
        + other("CLAIM_ROWS", 5, 80, module="alarm")
        + other("CUT", 3.0, 6.0, module="alarm")
        + OF_EVENTS,
    ),
}
Task = tuple[str, int | None, str, int]
"""A group, the number of the change in it (None: the defaults), the name of the data, and a seed."""


def measured(task: Task) -> Array:
    """The numbers of one run."""
    group, k, data, seed = task
    with nullcontext() if k is None else made(GROUPS[group].changes[k]):
        return GROUPS[group].data[data](seed)


def tasks(only: list[str]) -> Iterator[Task]:
    """Every run, those with the defaults first in each group."""
    for name, group in GROUPS.items():
        chosen = [k for k, change in enumerate(group.changes) if not only or change.name in only]
        for k in [None, *chosen] if chosen else []:
            yield from ((name, k, data, seed) for data in group.data for seed in range(group.seeds))


def cells(columns: tuple[str, ...], got: Array, base: Array) -> str:
    """One line: relative changes in percent, averaged over seeds; coverage in points. Arrays: seeds × columns.

    What stays nothing, such as false alarms, has not changed.
    """
    out = ""
    for name, new, old in zip(columns, got.T, base.T, strict=True):
        difference, before = np.mean(new - old), np.mean(old)
        change = difference if name == "coverage" or difference == 0.0 else np.divide(difference, before)
        out += f"{100.0 * change:+10.2f}"
    return out


def report(numbers: Iterable[tuple[Task, Array]]) -> None:
    """Print a table for every group, a line for every change and data set."""
    lines: dict[tuple[str, int | None, str], list[Array]] = {}
    for (name, k, data, _), found in numbers:
        lines.setdefault((name, k, data), []).append(found)
        group, runs_of = GROUPS[name], lines[name, k, data]
        if len(runs_of) < group.seeds:
            continue
        if k is None and data == next(iter(group.data)):
            print(f"\n{name}\n{'':43}" + "".join(f"{column:>10}" for column in group.columns))
        label = "defaults" if k is None else group.changes[k].label
        got = np.array(runs_of)
        if np.isnan(got).all():  # data that are not there
            text = "" if k else "  not found"
        elif k is None:
            text = "".join(f"{value:10.4f}" for value in got.mean(axis=0))
        else:
            text = cells(group.columns, got, np.array(lines[name, None, data]))
        print(f"{label:30} {data:12}{text}", flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="How much the constants of the sequence model matter.")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="constants to vary; all unless given")
    parser.add_argument("--jobs", type=int, default=1, help="processes to use")
    asked = parser.parse_args(arguments)
    unknown = set(asked.only) - {change.name for group in GROUPS.values() for change in group.changes}
    if unknown:
        parser.error(f"no constant that is varied here is called {', '.join(sorted(unknown))}")
    todo = list(tasks(asked.only))
    print("defaults: root mean square errors of standardised entries, coverage and width; below: changes in percent")
    if asked.jobs == 1:
        report((task, measured(task)) for task in todo)
        return
    with ProcessPoolExecutor(asked.jobs) as pool:
        report(zip(todo, pool.map(measured, todo), strict=True))


if __name__ == "__main__":
    main()
