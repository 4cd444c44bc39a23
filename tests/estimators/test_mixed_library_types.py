"""Types of single libraries, as columns that are filled: each comes out as it went in."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pytest

from factorstream import LowRankImputer
from mixed_problems import LIBRARIES, as_lists, types_of


def sized(library, x, labels, levels):
    """Numbers, and sizes in order whose type has these levels only."""
    if library == "pandas":
        pandas = pytest.importorskip("pandas")
        return pandas.DataFrame({"x": x, "size": pandas.Categorical(labels, categories=levels, ordered=True)})
    arrow = pytest.importorskip("pyarrow")
    codes = arrow.array([None if one is None else levels.index(one) for one in labels], type=arrow.uint8())
    return arrow.table({"x": x, "size": arrow.DictionaryArray.from_arrays(codes, levels, ordered=True)})


@pytest.mark.parametrize("library", ["pandas", "arrow"])
@pytest.mark.parametrize("known", [["high"], ["low"], ["mid"], ["low", "high"], ["other", "high"]])
def test_labels_that_a_type_lacks_are_added_in_the_order_of_the_fit(library, known):
    x = np.repeat([-5.0, 0.0, 5.0], 30) + np.random.default_rng(0).standard_normal(90)
    order = ["low", "mid", "high"]
    model = LowRankImputer(random_state=0).fit(sized(library, x, np.repeat(order, 30).tolist(), order))
    assert model.categories_ == {"size": order}
    asked = sized(library, [-5.0, 0.0, 5.0, 0.0], [None, None, None, known[-1]], known)
    out = model.transform(asked)
    column = out["size"].dtype if library == "pandas" else out["size"].type
    assert column.ordered
    levels = list(column.categories) if library == "pandas" else out["size"].chunk(0).dictionary.to_pylist()
    assert [one for one in levels if one in order] == order
    assert set(levels) == {*order, *known}
    assert as_lists(out)["size"] == [*order, known[-1]]


def priced(library, x, prices):
    """A table of numbers and decimals."""
    if library == "pandas":
        pandas = pytest.importorskip("pandas")
        return pandas.DataFrame({"x": x, "price": pandas.Series(prices, dtype=object)})
    if library == "polars":
        polars = pytest.importorskip("polars")
        return polars.DataFrame({"x": x, "price": polars.Series(prices, dtype=polars.Decimal(12, 2))})
    arrow = pytest.importorskip("pyarrow")
    return arrow.table({"x": x, "price": arrow.array(prices, type=arrow.decimal128(12, 2))})


@pytest.mark.parametrize("library", LIBRARIES)
def test_decimals_stay_decimals(library):
    x = np.random.default_rng(0).standard_normal(80)
    prices = [None if k % 5 == 0 else Decimal(f"{20 + 3 * value:.2f}") for k, value in enumerate(x)]
    X = priced(library, x, prices)
    model = LowRankImputer(random_state=0).fit(X)
    lower, upper = model.predict_interval(X)
    for out in (model.transform(X), model.impute(X), lower, upper, *model.sample_imputations(X, 2, random_state=0)):
        assert types_of(out) == types_of(X)
        found = as_lists(out)["price"]
        assert {(type(value), value.as_tuple().exponent) for value in found} == {(Decimal, -2)}
        assert all(a == b for a, b in zip(prices, found, strict=True) if a is not None)
    off = [abs(float(a) - 20 - 3 * b) for a, b in zip(as_lists(model.transform(X))["price"], x, strict=True)]
    assert max(off) < 0.3
    nothing = priced(library, [np.nan] * 3, [None] * 3)
    assert None not in as_lists(model.transform(nothing))["price"]


def test_numbers_of_pandas_are_read_at_once(monkeypatch):
    """Numbers of NumPy and of pandas' own types do not become objects on the way, nor are labels read twice."""
    pandas = pytest.importorskip("pandas")
    from factorstream.estimators._mixed.pandas_frame import PandasFrame

    x = [1.5, np.nan, 3.0]
    X = pandas.DataFrame(
        {"a": x, "b": pandas.array(x, dtype="Float32"), "c": pandas.array([1, None, 3], dtype="UInt8")}
    )
    X["label"] = ["u", "v", None]
    monkeypatch.setattr(pandas.Series, "astype", None)
    frame = PandasFrame(X)
    assert [frame.cells(j).numbers.tolist()[::2] for j in range(3)] == [[1.5, 3.0], [1.5, 3.0], [1.0, 3.0]]
    assert all(np.isnan(frame.cells(j).numbers[1]) for j in range(3))
    assert frame.cells(3) is frame.cells(3)


def test_objects_of_pandas():
    pandas = pytest.importorskip("pandas")
    x = np.random.default_rng(0).standard_normal(90)
    some = np.arange(90) % 9 == 0
    nothing = [None, np.nan, pandas.NA]

    def holed(values):
        return [nothing[k % 3] if some[k] else value for k, value in enumerate(values)]

    start = datetime.date(2024, 1, 1)
    X = pandas.DataFrame(
        {
            "x": x,
            "text": pandas.Series(holed(np.where(x > 0, "a", "b").tolist()), dtype=object),
            "truth": pandas.Series(holed((x > 0.5).tolist()), dtype=object),
            "number": pandas.Series(holed((3 * x).tolist()), dtype=object),
            "whole": pandas.Series(holed(np.round(9 * x).astype(int).tolist()), dtype=object),
            "cut": pandas.cut(pandas.Series(np.where(some, np.nan, x)), 3),
            "day": pandas.Series([start + datetime.timedelta(days=round(20 * value)) for value in x], dtype=object),
        }
    )
    model = LowRankImputer(random_state=0).fit(X)
    out = model.transform(X)
    assert out.dtypes.equals(X.dtypes)
    assert not out.isna().any(axis=None)
    assert set(out["text"]) == {"a", "b"}
    assert {type(value) for value in out["truth"]} == {bool}
    assert {type(value) for value in out["whole"]} == {int}
    assert model.categories_["cut"] == [str(one) for one in X["cut"].cat.categories]
    assert {type(value) for value in out["day"]} == {datetime.date}


def filled_with_its_types(X):
    """X with its gaps filled by a model of its own; bounds and draws are asked for too."""
    model = LowRankImputer(random_state=0).fit(X)
    lower, upper = model.predict_interval(X)
    draw = model.sample_imputations(X, 1)[0]
    assert type(lower) is type(upper) is type(draw) is type(X)
    return model.transform(X)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_moments_of_pandas_that_are_arrows_in_every_unit(unit):
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    x = np.random.default_rng(0).standard_normal(80)
    start, step = pandas.Timestamp("2024-01-01", tz="UTC"), pandas.to_timedelta(np.round(9 * x), unit="D")
    X = pandas.DataFrame(
        {
            "x": x,
            "moment": (start + step).to_series(index=range(80)).astype(pandas.ArrowDtype(arrow.timestamp(unit, "UTC"))),
            "lasted": pandas.Series(step).astype(pandas.ArrowDtype(arrow.duration(unit))),
        }
    )
    X.loc[::7, ["moment", "lasted"]] = None
    out = filled_with_its_types(X)
    assert out.dtypes.equals(X.dtypes)
    days = ((out["moment"].astype("datetime64[ns, UTC]") - start) / pandas.Timedelta("1D")).to_numpy()
    np.testing.assert_array_equal(days, np.round(days))
    assert np.abs(days - np.round(9 * x)).max() < 4.0


def test_dictionaries_of_arrow_in_pandas_are_categories():
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    x = np.random.default_rng(0).standard_normal(80)
    kind = pandas.ArrowDtype(arrow.dictionary(arrow.int8(), arrow.string()))
    X = pandas.DataFrame({"x": x, "label": pandas.Series(np.where(x > 0, "high", "low")).astype(kind)})
    X.loc[::7, "label"] = None
    out = filled_with_its_types(X)
    assert out.dtypes.equals(X.dtypes)
    assert (out["label"].astype(object) == np.where(x > 0, "high", "low")).mean() > 0.95


@pytest.mark.parametrize("gap", [np.nan, -9])
def test_sparse_columns_of_pandas_stay_sparse(gap):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    x = rng.standard_normal(80)
    counts = np.where(rng.random(80) < 0.2, gap, np.round(x.clip(0)))
    if gap == gap:
        counts = counts.astype(int)
    X = pandas.DataFrame({"x": x, "label": np.where(x > 0, "high", "low")})
    X["count"] = pandas.arrays.SparseArray(counts, fill_value=0)
    out = LowRankImputer(missing_values=gap, random_state=0).fit(X).transform(X)
    assert out.dtypes.equals(X.dtypes)
    dense = out["count"].sparse.to_dense()
    assert not dense.isna().any()
    assert not (dense == gap).any()


def test_what_a_schema_of_arrow_says_stays():
    arrow = pytest.importorskip("pyarrow")
    x = np.random.default_rng(0).standard_normal(80)
    gaps = np.arange(80) % 8 == 0
    schema = arrow.schema(
        [
            arrow.field("x", arrow.float64(), nullable=False),
            arrow.field("y", arrow.float32(), metadata={"unit": "metres"}),
            arrow.field("label", arrow.string(), metadata={"of": "x"}),
        ],
        metadata={"made": "by hand"},
    )
    label = arrow.array(np.where(x > 0, "high", "low"), mask=gaps)
    X = arrow.table([arrow.array(x), arrow.array(2 * x, type=arrow.float32(), mask=gaps), label], schema=schema)
    assert filled_with_its_types(X).schema.equals(schema, check_metadata=True)
    model = LowRankImputer(add_indicator=True, random_state=0).fit(X)
    assert model.transform(X).schema.field("y").metadata == {b"unit": b"metres"}
    assert model.predict_interval(X)[0].schema.field("label").metadata is None  # sets are of another type
    assert model.predict_proba(X)["label"].schema.metadata is None


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
def test_text_of_arrow_in_every_type(kind):
    arrow = pytest.importorskip("pyarrow")
    kind = getattr(arrow, kind, arrow.string)()  # older versions have no views
    x = np.random.default_rng(0).standard_normal(80)
    label = arrow.array(np.where(x > 0, "high", "low"), mask=np.arange(80) % 8 == 0).cast(kind)
    X = arrow.table({"x": x, "label": label})
    out = filled_with_its_types(X)
    assert out.schema == X.schema
    assert out["label"].null_count == 0


@pytest.mark.parametrize("kind", ["Int8", "UInt8", "Int64", "Int128"])
def test_whole_numbers_of_polars_in_every_type(kind):
    polars = pytest.importorskip("polars")
    kind = getattr(polars, kind, polars.Int64)  # older versions have none of 128 bits
    x = np.random.default_rng(0).standard_normal(80)
    whole = [None if k % 8 == 0 else round(90 + 9 * value) for k, value in enumerate(x)]
    X = polars.DataFrame({"x": x, "whole": polars.Series(whole, dtype=kind)})
    out = filled_with_its_types(X)
    assert out.schema == X.schema
    assert out["whole"].null_count() == 0
    assert np.abs(out["whole"].cast(polars.Float64).to_numpy() - (90 + 9 * x)).max() < 8.0


def test_types_of_pandas_that_are_arrows():
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    x, start = np.random.default_rng(0).standard_normal(80), datetime.datetime(2024, 1, 1)
    some = np.arange(80) % 8 == 0
    kinds = {
        "whole": (np.round(5 * x).astype(int).tolist(), arrow.int32()),
        "number": (x.tolist(), arrow.float32()),
        "text": (np.where(x > 0, "a", "b").tolist(), arrow.string()),
        "truth": ((x > 0).tolist(), arrow.bool_()),
        "moment": (
            [datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=float(v)) for v in x],
            arrow.timestamp("us"),
        ),
        "lasted": ([datetime.timedelta(hours=float(np.exp(v))) for v in x], arrow.duration("us")),
        "day": ([start.date() + datetime.timedelta(days=round(9 * v)) for v in x], arrow.date32()),
    }
    X = pandas.DataFrame(
        {
            name: pandas.Series(
                [None if gap else value for value, gap in zip(values, some, strict=True)], dtype=pandas.ArrowDtype(kind)
            )
            for name, (values, kind) in kinds.items()
        }
    )
    model = LowRankImputer(random_state=0).fit(X)
    for out in (model.transform(X), model.predict_interval(X)[0][["whole", "number", "moment", "lasted", "day"]]):
        assert out.dtypes.equals(X[list(out)].dtypes)
        assert not out.isna().any(axis=None)
