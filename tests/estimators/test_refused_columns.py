"""Columns of tables that are no numbers are named, with what to do; nothing is changed."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

from factorstream import (
    BayesianFactorization,
    DictionaryFilter,
    LowRankImputer,
    MaskedNMF,
    SequenceFilter,
    SGDFactorization,
)

NUMBERS = np.random.default_rng(0).uniform(1.0, 2.0, size=(12, 3))
MOMENTS = [datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=k) for k in range(12)]

MODELS = [
    DictionaryFilter(2, random_state=0),
    BayesianFactorization(2, max_iter=3, random_state=0),
    LowRankImputer(2, calibrate=False, max_iter=3),
    MaskedNMF(2, max_iter=3, random_state=0),
    SGDFactorization(2, random_state=0),
    SequenceFilter(2, calibrate=False, drift="none", max_iter=3),
]
OF_ROWS = MODELS[:-1]
OF_NUMBERS = [model for model in MODELS if not isinstance(model, LowRankImputer)]  # which takes all kinds of columns
ROWS_OF_NUMBERS = OF_NUMBERS[:-1]


def name(model):
    return type(model).__name__


def table(library, more=None):
    frames = pytest.importorskip(library)
    columns = {f"x{k}": NUMBERS[:, k] for k in range(3)}
    return frames.DataFrame(columns | ({} if more is None else {"more": more}))


def in_zone(library, moments):
    frames = pytest.importorskip(library)
    if library == "pandas":
        return frames.DatetimeIndex(moments).tz_localize("Europe/Madrid")
    return frames.Series(moments).dt.replace_time_zone("Europe/Madrid")


def question(model):
    return model.transform if isinstance(model, LowRankImputer) else model.impute


DATES = {
    "datetimes": lambda library: MOMENTS,
    "of a time zone": lambda library: in_zone(library, MOMENTS),
    "dates": lambda library: [moment.date() for moment in MOMENTS],
}


@pytest.mark.parametrize("model", ROWS_OF_NUMBERS, ids=name)
@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("kind", DATES)
def test_dates_are_no_numbers(model, library, kind):
    before = vars(model).copy()
    with pytest.raises(ValueError, match=r"Column 'more' of X holds dates, which are no numbers; drop it.*SequenceF"):
        model.fit(table(library, DATES[kind](library)))
    assert vars(model) == before


@pytest.mark.parametrize("model", OF_NUMBERS, ids=name)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_durations_have_no_unit(model, library):
    lasted = [moment - MOMENTS[0] for moment in MOMENTS]
    sentence = r"Column 'more' of X holds durations.*X\['more'\]\.dt\.total_seconds\(\)"
    with pytest.raises(ValueError, match=sentence):
        model.fit(table(library, lasted))
    converted = table(library, lasted)["more"].dt.total_seconds()  # as the sentence says
    assert np.asarray(converted, dtype=float)[1] == 3600.0


@pytest.mark.parametrize("model", OF_NUMBERS, ids=name)
def test_periods_and_times_of_day(model):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("polars")
    if model in OF_ROWS:
        with pytest.raises(ValueError, match="Column 'more' of X holds dates"):
            model.fit(table("pandas", pandas.PeriodIndex(MOMENTS, freq="h")))
    with pytest.raises(ValueError, match=r"Column 'more' of X holds times of day.*drop it"):
        model.fit(table("polars", [moment.time() for moment in MOMENTS]))


@pytest.mark.parametrize("model", OF_NUMBERS, ids=name)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_text_is_no_number(model, library):
    sentence = "Column 'more' of X holds values that are no numbers; drop it, or turn it into numbers"
    with pytest.raises(ValueError, match=sentence):
        model.fit(table(library, ["low", "high"] * 6))
    with pytest.raises(ValueError, match=sentence):
        model.fit(table(library, [[1.0, 2.0]] * 12))


@pytest.mark.parametrize("model", MODELS, ids=name)
def test_a_lazy_table_is_learned_from_in_blocks_or_has_no_values_yet(model):
    if not isinstance(model, MaskedNMF | SequenceFilter):
        assert model.fit(table("polars", [1.0, 2.0] * 6).lazy()).n_features_in_ == 4
        return
    with pytest.raises(TypeError, match=r"X is a lazy table of polars.*pass X\.collect\(\)"):
        model.fit(table("polars").lazy())


@pytest.mark.parametrize("model", OF_ROWS, ids=name)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_questions_too(model, library):
    fitted = type(model)(**model.get_params()).fit(table(library, [float(k) for k in range(12)]))
    with pytest.raises(ValueError, match="Column 'more' of X holds dates"):
        question(fitted)(table(library, MOMENTS))


@pytest.mark.parametrize("unit", ["datetime64[ns]", "timedelta64[s]"])
@pytest.mark.parametrize("model", MODELS, ids=name)
def test_arrays_of_times(model, unit):
    X = np.arange(36).reshape(12, 3).astype(unit)
    with pytest.raises(ValueError, match=r"X holds (dates|durations).*turn them into numbers"):
        model.fit(X)
    with pytest.raises(ValueError, match=r"X holds (dates|durations).*turn them into numbers"):
        model.fit(np.ma.masked_array(X))


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    "more", [[str(k) for k in range(12)], [True, False] * 6, [None, *range(11)]], ids=["text", "truth", "gap"]
)
def test_what_says_numbers_is_taken(library, more):
    model = DictionaryFilter(2, random_state=0).fit(table(library, more))
    assert model.components_.shape == (2, 4)
