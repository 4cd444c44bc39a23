"""Tables of pandas and polars: columns and time stamps go through, and time stamps are checked."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import SequenceFilter
from sequence_problems import gappy, hours, panel, table


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_in_tables_out_with_their_time_stamps(library):
    X, _ = gappy(panel(T=60))
    X32 = table(library, X, hours(library, 60))
    model = SequenceFilter(2).fit(X32)
    filled, std = model.impute(X32, return_std=True)
    ahead, ahead_std = model.forecast(4, return_std=True)
    lower, upper = model.predict_interval(X32)
    signal, signal_std = model.denoise(X32, return_std=True)
    for out in (filled, std, lower, upper, ahead, ahead_std, signal, signal_std):
        assert isinstance(out, type(X32))
        assert list(out.columns) == list(X32.columns)
    plain = SequenceFilter(2).fit(X)
    expected, future = hours(library, 60), hours(library, 4, start=60)
    if library == "pandas":
        assert filled.index.equals(expected)
        assert ahead.index.equals(future)
        numbers, ahead_numbers = filled.to_numpy(), ahead.to_numpy()
    else:
        assert filled["when"].to_list() == expected.to_list()
        assert ahead["when"].to_list() == future.to_list()
        numbers, ahead_numbers = filled.drop("when").to_numpy(), ahead.drop("when").to_numpy()
    np.testing.assert_allclose(numbers, plain.impute(X))
    np.testing.assert_allclose(ahead_numbers, plain.forecast(4))
    assert list(model.feature_names_in_) == list("abcdef")


@pytest.mark.parametrize(("freq", "n"), [("MS", 30), ("ME", 30), ("B", 40), ("15min", 40), ("7D", 40)])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_forecasts_continue_at_the_inferred_step(library, freq, n):
    pandas = pytest.importorskip("pandas")
    times = pandas.date_range("2024-01-01", periods=n + 3, freq=freq)
    X = panel(T=n)
    if library == "pandas":
        known = pandas.DatetimeIndex(times[:n].to_numpy())  # without the frequency
        assert SequenceFilter(2).fit(table("pandas", X, known)).forecast(3).index.equals(times[n:])
        return
    polars = pytest.importorskip("polars")
    if freq == "B":
        return  # polars has no inference of business days: the median step is used
    stamps = polars.Series("when", times.to_pydatetime().tolist())
    ahead = SequenceFilter(2).fit(table("polars", X, stamps[:n])).forecast(3)
    assert ahead["when"].to_list() == stamps[n:].to_list()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_time_stamps_that_are_not_in_order(library):
    X, times = panel(T=60), hours(library, 60)
    order, twice = np.arange(60), np.arange(60)
    order[[10, 11]] = 11, 10
    twice[20] = 19
    model = SequenceFilter(2)
    with pytest.raises(ValueError, match=r"not in order.*rows 10 and 11"):
        model.fit(table(library, X, times[order]))
    with pytest.raises(ValueError, match=r"duplicate time stamps.*rows 19 and 20"):
        model.fit(table(library, X, times[twice]))
    assert not hasattr(model, "state_")
    model.partial_fit(table(library, X[:30], times[:30]))
    seen = model.n_samples_seen_
    with pytest.raises(ValueError, match="not after the last time step"):
        model.partial_fit(table(library, X[29:], times[29:]))
    rest = table(library, X[30:], times[30:])
    without = rest.reset_index(drop=True) if library == "pandas" else rest.drop("when")
    with pytest.raises(ValueError, match="began with some time stamps and X has none"):
        model.partial_fit(without)
    assert model.n_samples_seen_ == seen
    model.partial_fit(rest)
    with pytest.raises(ValueError, match="not in order"):
        model.impute(table(library, X, times[order]))


def test_a_time_stamp_column_of_pandas_is_carried_too():
    pandas = pytest.importorskip("pandas")
    X = table("pandas", panel(T=40), hours("pandas", 40)).rename_axis("when").reset_index()
    model = SequenceFilter(2).fit(X)
    assert model.impute(X)["when"].equals(X["when"])
    assert model.forecast(2)["when"].tolist() == hours("pandas", 2, start=40).tolist()
    X["other"] = X["when"]
    with pytest.raises(ValueError, match="more than one place"):
        model.fit(X)
    X.loc[3, "when"] = pandas.NaT
    with pytest.raises(ValueError, match="missing"):
        model.fit(X.drop(columns="other"))


def test_tables_without_time_stamps():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(panel(T=40), columns=list("abcdef"), index=np.arange(100, 140))
    model = SequenceFilter(2).set_output(transform="pandas").fit(X)
    assert model.impute(X).index.equals(X.index)
    assert model.transform(X).index.equals(X.index)
    assert list(model.forecast(3).columns) == list("abcdef")
