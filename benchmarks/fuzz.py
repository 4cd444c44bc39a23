"""Random calls of every estimator on random data, most of it unreasonable: nothing may break.

    python -m benchmarks.fuzz --cases 20000 --seed 0 --jobs 16

Every case is an estimator with random parameters and a few calls in random order, on rows of a random kind, type,
layout and container. What is looked for, and counted as a finding:

- an exception other than ValueError and TypeError (NotFittedError is both an AttributeError and a ValueError), or one
  that comes out of NumPy or SciPy instead of a check of ours or of scikit-learn's;
- a warning other than a UserWarning: NumPy's about overflow and invalid values are RuntimeWarnings;
- a call that fails and leaves the estimator changed, by a single byte;
- a model that is not the same after it was saved and loaded;
- an answer with NaN in it, other than scores of rows without data.

A case depends on its number alone: ``--first 4711 --cases 1`` repeats it. The exit code is 1 if there are findings.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.fuzz_rows import Rng, contained, one_of, random_values
from factorstream import (
    BayesianFactorization,
    BroydenFactorization,
    DictionaryFilter,
    LowRankImputer,
    MaskedNMF,
    SequenceFilter,
    SGDFactorization,
    load,
)
from factorstream.estimators._absurd import AbsurdValueWarning


class Finding(NamedTuple):
    """Something that must not happen."""

    case: int
    model: str
    call: str
    what: str


# ------------------------------------------------------------------ estimators


def _filter_settings(rng: Rng) -> dict[str, Any]:
    return {
        "n_components": int(rng.integers(1, 5)),
        "coefficients": one_of(rng, "least_squares", "least_squares", "map", "marginal"),
        "fit_mean": bool(rng.random() < 0.7),
        "init": one_of(rng, "random", "random", "uniform"),
        "n_passes": int(rng.integers(1, 3)),
        "batch_size": one_of(rng, "auto", "auto", 1, 7),
        "random_state": 0,
    }


def _noise(rng: Rng) -> dict[str, Any]:
    given = {
        "noise_variance": one_of(rng, "auto", 0.1, 1e-12, 1e6),
        "prior_covariance": one_of(rng, "auto", 1.0, 1e3),
    }
    return given if rng.random() < 0.4 else {}


def _make_model(rng: Rng) -> Any:
    kind = int(rng.integers(9))
    r = int(rng.integers(1, 5))
    robust = one_of(rng, False, False, True, 3.0)
    if kind <= 1:
        drift = {"drift": one_of(rng, 1e-3, 10.0)} if rng.random() < 0.3 else {}
        believed = {"covariance": one_of(rng, "counted", "counted", "shared"), "scale": bool(rng.random() < 0.7)}
        return DictionaryFilter(**_filter_settings(rng), **_noise(rng), **drift, **believed)
    if kind <= 3:
        return BayesianFactorization(
            one_of(rng, "auto", r, r),
            noise_variance=one_of(rng, "auto", "per_feature", 0.1),
            prior_covariance=one_of(rng, "auto", "auto", 1.0),
            robust=robust,
            calibrate=bool(rng.random() < 0.3),
            max_iter=int(rng.integers(1, 6)),
            random_state=0,
        )
    if kind == 4:
        return LowRankImputer(
            one_of(rng, "auto", r), robust=robust, calibrate=bool(rng.random() < 0.5), max_iter=3, random_state=0,
            add_indicator=bool(rng.random() < 0.3), keep_empty_features=bool(rng.random() < 0.3),
        )  # fmt: skip
    if kind == 5:
        return BroydenFactorization(**_filter_settings(rng), **_noise(rng))
    if kind == 6:
        return SGDFactorization(**_filter_settings(rng), step_size=one_of(rng, "auto", "auto", 1e-3))
    if kind == 7:
        return MaskedNMF(r, max_iter=int(rng.integers(1, 15)), random_state=0)
    return SequenceFilter(
        r, drift=one_of(rng, "auto", "level", "none", 1e-3), robust=robust, lag=one_of(rng, None, 2), max_iter=2,
        smooth=bool(rng.random() < 0.7), calibrate=bool(rng.random() < 0.5),
    )  # fmt: skip


# ------------------------------------------------------------------ calls

ASK = (
    "transform", "impute", "predict_interval", "sample_imputations", "score_samples", "score", "denoise", "alarms",
    "forecast", "recent", "inverse_transform", "impute with std",
)  # fmt: skip
HOLDS_NAN = "the answer holds NaN"
MAY_BE_NAN = ("alarms",)
"""Answers in which a row without data has no number."""


def _knows_all_columns(model: Any) -> bool:
    """Whether the model has seen a value of every column: nothing can be drawn of others."""
    run = vars(model).get("state_")
    return getattr(getattr(run, "filter", None), "unseen", None) is None


def _calls(rng: Rng, model: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Calls in random order. Each is made before the next is chosen, which may depend on the fitted model."""
    m = int(one_of(rng, 1, 2, 5, 8))
    for _ in range(int(rng.integers(2, 6))):
        width = m if rng.random() < 0.95 else m + 1
        X = contained(rng, random_values(rng, width))
        learn = [name for name in ("fit", "partial_fit", "partial_fit") if hasattr(model, name)]
        name = one_of(rng, *learn) if rng.random() < 0.5 or not hasattr(model, "state_") else one_of(rng, *ASK, "save")
        yield name, _call(rng, model, name, X)


def _call(rng: Rng, model: Any, name: str, X: Any) -> Callable[[], Any]:
    if name == "save":
        return lambda: _check_saved(model)
    if name == "impute with std":
        return lambda: model.impute(X, return_std=True) if hasattr(model, "score_samples") else None
    if not hasattr(model, name):
        return lambda: None
    method = getattr(model, name)
    if name == "predict_interval":
        level = one_of(rng, 0.5, 0.95, 0.95, 0.0, 1.0, np.nan)
        return lambda: method(X, level)
    if name == "sample_imputations":
        return lambda: method(X, n_draws=2, random_state=0)
    if name == "forecast":
        return lambda: method(one_of(rng, 1, 5, 0, 2.5), return_std=True)
    if name == "recent":
        return lambda: method(return_std=True)
    return lambda: method(X)


def _check_saved(model: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        if fingerprint(load(path)) != fingerprint(model):
            raise AssertionError("not the same after it was saved and loaded")


def fingerprint(value: Any) -> Any:
    """Everything that an estimator holds, to the last byte."""
    if hasattr(value, "get_params"):
        return fingerprint(vars(value))
    if isinstance(value, dict):
        return sorted((key, fingerprint(part)) for key, part in value.items())
    if isinstance(value, tuple | list):
        return [fingerprint(part) for part in value]
    if hasattr(value, "indptr"):  # sparse rows
        return value.shape, fingerprint([value.data, value.indices, value.indptr])
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.shape, value.dtype.str, value.tobytes()
    return repr(value)


# ------------------------------------------------------------------ a case


def run_case(number: int, seed: int) -> list[Finding]:
    """The findings of one case."""
    rng = np.random.default_rng([seed, number])
    model = _make_model(rng)
    found: list[Finding] = []
    for name, call in _calls(rng, model):
        before = fingerprint(model)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            failed, what = _outcome(call, name)
        if name == "sample_imputations" and not _knows_all_columns(model):
            what = [one for one in what if one != HOLDS_NAN]
        if failed and fingerprint(model) != before:
            what.append("the call failed and changed the estimator")
        what += [_told(w) for w in caught if w.category not in (UserWarning, AbsurdValueWarning)]
        text = " ".join(repr(model).split())
        found += [Finding(number, text, name, " ".join(one.split())) for one in what]
    return found


def _told(warning: warnings.WarningMessage) -> str:
    return f"{warning.category.__name__}: {warning.message} ({Path(warning.filename).name}:{warning.lineno})"


def _outcome(call: Callable[[], Any], name: str) -> tuple[bool, list[str]]:
    """Returns whether the call raised an error, and a list of what is wrong with its answer, or with that error."""
    try:
        answer = call()
    except Exception as problem:
        text = f"{type(problem).__name__}: {problem}"
        where = traceback.extract_tb(problem.__traceback__)[-1]
        ours = any(part in where.filename for part in ("factorstream", "sklearn", "/fuzz.py"))
        expected = isinstance(problem, ValueError | TypeError) and not isinstance(problem, np.linalg.LinAlgError)
        return True, [] if expected and ours else [f"{text} ({Path(where.filename).name}:{where.lineno})"]
    if name in ("fit", "partial_fit", "save") or name in MAY_BE_NAN or answer is None:
        return False, []
    parts = answer if isinstance(answer, tuple) else (answer,)
    with_nan = any(np.isnan(np.asarray(part, dtype=float)).any() for part in parts if _is_numeric(part))
    return False, [HOLDS_NAN] if with_nan else []


def _is_numeric(part: Any) -> bool:
    return isinstance(part, float) or (isinstance(part, np.ndarray) and part.dtype.kind == "f")


def _run(job: tuple[int, int, int]) -> list[Finding]:
    first, stop, seed = job
    return [one for number in range(first, stop) for one in run_case(number, seed)]


def fuzz(cases: int, seed: int = 0, first: int = 0, jobs: int = 1) -> list[Finding]:
    """The findings of so many cases."""
    step = 25
    lots = [(at, min(at + step, first + cases), seed) for at in range(first, first + cases, step)]
    if jobs == 1:
        return [one for lot in lots for one in _run(lot)]
    with get_context("spawn").Pool(jobs) as pool:
        return [one for part in pool.imap_unordered(_run, lots) for one in part]


def main(arguments: list[str] | None = None) -> int:
    """Run the cases, print the findings, and say how many there are."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    given = parser.parse_args(arguments)
    found = fuzz(given.cases, given.seed, given.first, given.jobs)
    for one in found:
        print(f"case {one.case}: {one.model}.{one.call}: {one.what}")
    print(f"{given.cases} cases, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
