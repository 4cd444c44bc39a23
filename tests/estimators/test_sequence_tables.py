"""Tables of pandas and polars: columns and time stamps go through, and time stamps are checked."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import SequenceFilter, load
from sequence_problems import gappy, hours, panel, quick, table


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_in_tables_out_with_their_time_stamps(library):
    X, _ = gappy(panel(T=60))
    X32 = table(library, X, hours(library, 60))
    model = SequenceFilter(2).fit(X32)
    filled, std = model.impute(X32, return_std=True)
    ahead, ahead_std = model.forecast(4, return_std=True)
    lower, upper = model.predict_interval(X32)
    signal, signal_std = model.denoise(X32, return_std=True)
    for out in (filled, std, lower, upper, ahead, ahead_std, *model.forecast_interval(4), signal, signal_std):
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
        assert quick(2).fit(table("pandas", X, known)).forecast(3).index.equals(times[n:])
        return
    polars = pytest.importorskip("polars")
    stamps = polars.Series("when", times.to_pydatetime().tolist())
    ahead = quick(2).fit(table("polars", X, stamps[:n])).forecast(3)
    assert ahead["when"].to_list() == stamps[n:].to_list()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_time_stamps_that_are_not_in_order(library):
    X, times = panel(T=60), hours(library, 60)
    order, twice = np.arange(60), np.arange(60)
    order[[10, 11]] = 11, 10
    twice[20] = 19
    model = quick(2)
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
    with pytest.raises(ValueError, match="The stream began with time stamps, and X has none; go on as it began"):
        model.partial_fit(without)
    assert model.n_samples_seen_ == seen
    model.partial_fit(rest)
    with pytest.raises(ValueError, match="not in order"):
        model.impute(table(library, X, times[order]))


def test_a_time_stamp_column_of_pandas_is_carried_too():
    pandas = pytest.importorskip("pandas")
    X = table("pandas", panel(T=40), hours("pandas", 40)).rename_axis("when").reset_index()
    model = quick(2).fit(X)
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
    model = quick(2).set_output(transform="pandas").fit(X)
    assert model.impute(X).index.equals(X.index)
    assert model.transform(X).index.equals(X.index)
    assert list(model.forecast(3).columns) == list("abcdef")


def other_times(kind, n):
    """Days of pandas as periods, or as objects that are dates or datetimes."""
    pandas = pytest.importorskip("pandas")
    days = pandas.date_range("2024-01-01", periods=n, name="when")
    objects = {"dates": days.date, "datetimes": days.to_pydatetime()}
    return days.to_period("D") if kind == "periods" else pandas.Index(objects[kind], dtype=object, name="when")


@pytest.mark.parametrize("column", [False, True])
@pytest.mark.parametrize("kind", ["periods", "dates", "datetimes"])
def test_periods_and_dates_are_checked_and_come_back_as_they_were(kind, column):
    times, values = other_times(kind, 45), panel(T=45)
    values[10:15, 2] = np.nan

    def rows(which):
        X = table("pandas", values[which], None if column else times[which])
        if column:
            X.insert(2, "when", times[which])
        return X

    def stamps(X):
        return X["when"] if column else X.index

    model = quick(2).fit(rows(slice(40)))
    assert list(stamps(model.impute(rows(slice(40))))) == list(times[:40])
    ahead = stamps(model.forecast(5))
    assert list(ahead) == list(times[40:])
    assert ahead.dtype == times.dtype
    assert type(ahead[0]) is type(times[0])
    assert list(model.feature_names_in_) == list("abcdef")
    with pytest.raises(ValueError, match=r"not in order.*rows 1 and 2"):
        model.impute(rows([0, 2, 1]))
    with pytest.raises(ValueError, match=r"duplicate time stamps.*rows 1 and 2"):
        model.impute(rows([0, 1, 1]))
    with pytest.raises(ValueError, match="not after the last time step"):
        model.partial_fit(rows(slice(39, 45)))
    model.partial_fit(rows(slice(40, 45)))
    other = table("pandas", values[:5], hours("pandas", 5).tz_localize("UTC"))
    with pytest.raises(ValueError, match="another kind"):
        model.partial_fit(other)


def test_every_other_period_continues_at_its_stride():
    pandas = pytest.importorskip("pandas")
    months = pandas.period_range("2020-01", periods=86, freq="M")[::2]
    assert quick(2).fit(table("pandas", panel(T=40), months[:40])).forecast(3).index.equals(months[40:])
    pairs = pandas.period_range("2020-01", periods=43, freq="2M")
    assert quick(2).fit(table("pandas", panel(T=40), pairs[:40])).forecast(3).index.equals(pairs[40:])


@pytest.mark.parametrize("how", ["fit", "partial_fit"])
def test_forecasts_go_on_counting(how, tmp_path):
    """Integers at equal steps continue, of a saved model too; any others begin at 0, as ever."""
    pandas = pytest.importorskip("pandas")
    X = panel(T=40)

    def ahead(index, X=X):
        model = getattr(quick(2), how)(pandas.DataFrame(X, index=index, columns=list("abcdef")))
        model.save(tmp_path / "model")
        lower, upper = load(tmp_path / "model").forecast_interval(2, level=0.5)
        out = model.forecast(2)
        assert isinstance(out, pandas.DataFrame)
        assert out.index.equals(lower.index)
        assert out.index.equals(upper.index)
        return out.index

    assert list(ahead(None)) == [40, 41]
    assert list(ahead(pandas.RangeIndex(5, 85, 2, name="week"))) == [85, 87]
    assert ahead(pandas.RangeIndex(5, 85, 2, name="week")).name == "week"
    assert list(ahead(np.arange(100, 140, dtype=np.uint8))) == [140, 141]
    largest = np.iinfo(np.int64).max
    for other in (np.arange(40)[::-1], np.arange(40) ** 2, np.arange(40) / 2, largest - np.arange(40)[::-1]):
        assert list(ahead(other)) == [0, 1]
    stamped = pandas.DataFrame(X, columns=list("abcdef")).assign(when=hours("pandas", 40))
    assert list(getattr(quick(2), how)(stamped).forecast(2).index) == [0, 1]  # the column counts the time


def test_a_stream_of_single_rows_goes_on_counting_where_they_do():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(panel(T=20), columns=list("abcdef"))
    counted, named_alike = quick(2), quick(2)
    for t in range(20):
        counted.partial_fit(X[t : t + 1])
        named_alike.partial_fit(X[t : t + 1].reset_index(drop=True))
        assert list(counted.forecast(2).index) == [t + 1, t + 2]
    assert list(named_alike.forecast(2).index) == [0, 1]


def test_strings_are_not_dates():
    pandas = pytest.importorskip("pandas")
    names = [f"2024-01-{40 - k}" for k in range(30)]
    X = pandas.DataFrame(panel(T=30), index=names, columns=list("abcdef"))
    model = quick(2).fit(X)
    assert list(model.impute(X).index) == names
    assert list(model.forecast(2).index) == [0, 1]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_last_rows_come_with_their_time_stamps(library):
    X, _ = gappy(panel(T=130))
    X = table(library, X, hours(library, 130))
    model = quick(2, lag=99)
    for start, end in ((0, 3), (3, 60), (60, 61), (61, 130)):
        model.partial_fit(X[start:end])
        filled, std = model.recent(return_std=True)
        for out in (filled, std):
            assert list(out.columns) == list(X.columns)
            if library == "pandas":
                assert out.index.equals(X.index[max(end - 100, 0) : end])
            else:
                assert out["when"].equals(X["when"][max(end - 100, 0) : end])
    assert len(model.fit(X).recent()) == 1


def test_the_last_rows_keep_their_labels_as_long_as_all_rows_had_some():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(panel(T=40), columns=list("abcdef"), index=np.arange(100, 140))
    model = quick(2, lag=5).partial_fit(X[:38]).partial_fit(X[38:])
    assert list(model.recent().index) == list(range(134, 140))
    stamped = X.assign(when=hours("pandas", 40))
    last = quick(2, lag=5).partial_fit(stamped[:38]).partial_fit(stamped[38:]).recent()
    pandas.testing.assert_frame_equal(last, stamped[-6:], check_freq=False)
    model = quick(2, lag=5).partial_fit(panel(T=40)[:, :2])
    assert isinstance(model.recent(), np.ndarray)
    assert list(model.partial_fit(panel(T=40)[:1, :2]).recent().shape) == [6, 2]


def test_states_get_the_index_by_set_output():
    X = table("pandas", panel(T=40), hours("pandas", 40))
    model = quick(2).fit(X)
    assert isinstance(model.transform(X), np.ndarray)
    assert model.set_output(transform="pandas").transform(X).index.equals(X.index)


@pytest.mark.parametrize("library", ["pandas", "polars", None])
def test_alarms_say_when(library):
    Y = panel(1, T=500)
    Y[400:] += 3.0
    X = Y if library is None else table(library, Y, hours(library, 500))
    alarms = quick(2).fit(X[:300]).alarms(X)
    rows = np.flatnonzero(alarms.fired)
    assert len(rows)
    expected = rows if library is None else hours(library, 500)[rows]
    assert list(alarms.when) == list(expected)


def test_one_row_is_enough_where_the_step_is_known():
    pandas = pytest.importorskip("pandas")
    X = panel(T=1)
    for freq in ("B", "MS", "h"):
        times = pandas.date_range("2024-01-01", periods=4, freq=freq)
        assert quick(2).partial_fit(table("pandas", X, times[:1])).forecast(3).index.equals(times[1:])
    months = pandas.period_range("2024-01", periods=4, freq="M")
    assert quick(2).partial_fit(table("pandas", X, months[:1])).forecast(3).index.equals(months[1:])
    for library in ("pandas", "polars"):
        pytest.importorskip(library)
        stamp = pandas.DatetimeIndex(["2024-01-01"]) if library == "pandas" else hours(library, 1)
        with pytest.raises(ValueError, match="no step to continue at"):
            quick(2).partial_fit(table(library, X, stamp)).forecast(1)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_time_stamps_as_text_get_a_sentence_that_says_what_to_do(library):
    frames = pytest.importorskip(library)
    days = [f"2024-01-{k + 1:02d}" for k in range(30)]
    X = frames.DataFrame({"when": days, "a": panel(T=30)[:, 0]})
    convert = r"pandas\.to_datetime\(X\['when'\]\)" if library == "pandas" else r"X\['when'\]\.str\.to_datetime\(\)"
    with pytest.raises(
        ValueError, match=f"Column 'when' of X holds text, .* turn it into datetimes, as {convert} does"
    ):
        quick(1).fit(X)
    if library == "pandas":
        X["when"] = frames.to_datetime(X["when"])
    else:
        X = X.with_columns(X["when"].str.to_datetime())
    assert quick(1).fit(X).forecast(2)["when"][1].day == 1  # of February
    names = frames.DataFrame({"name": ["Ann"] * 30, "a": panel(T=30)[:, 0]})
    with pytest.raises(ValueError, match="Column 'name' of X holds values that are no numbers; drop it"):
        quick(1).fit(names)


def test_an_index_of_dates_as_text_is_pointed_out():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(panel(T=30), index=[f"2024-01-{k + 1:02d}" for k in range(30)])
    with pytest.warns(
        UserWarning, match=r"index of X is text, .* pass X\.set_index\(pandas\.to_datetime\(X\.index\)\)"
    ):
        quick(1).fit(X)
    model = quick(1).fit(X.set_index(pandas.to_datetime(X.index)))
    assert model.forecast(2).index[1] == pandas.Timestamp("2024-02-01")
    quick(1).fit(X.set_index(pandas.Index([f"row {k}" for k in range(30)])))  # says nothing


def test_numbers_as_text_are_numbers():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"a": [str(x) for x in panel(T=30)[:, 0]]})
    np.testing.assert_array_equal(quick(1).fit(X).mean_, quick(1).fit(X.astype(float)).mean_)
