"""Every kind of column goes in as it is, and comes out with its type, in every library."""

from __future__ import annotations

import datetime
import pickle

import numpy as np
import pytest

from factorstream import LowRankImputer, load, moved
from mixed_problems import LIBRARIES, as_lists, columns, gappy, gaps, table, types_of

FILLED = ("number", "sum", "category", "text", "truth", "whole", "moment", "day", "zoned", "lasted")
CARRIED = "Columns that are returned as they are"


@pytest.fixture(scope="module")
def complete():
    return columns()


@pytest.fixture(scope="module")
def missing(complete):
    return gaps(160, complete)


@pytest.fixture(scope="module", params=LIBRARIES)
def fitted(request, complete, missing):
    X = table(request.param, gappy(complete, missing))
    with pytest.warns(UserWarning, match=CARRIED):
        return LowRankImputer(random_state=0).fit(X), X


def test_gaps_are_filled_and_types_stay(fitted, complete, missing):
    model, X = fitted
    for out in (model.transform(X), model.impute(X), *model.sample_imputations(X, 2, random_state=0)):
        assert type(out) is type(X)
        assert types_of(out) == types_of(X)
        assert not hasattr(X, "index") or out.index.equals(X.index)
        found, given = as_lists(out), as_lists(X)
        for name in complete:
            kept = [a for a, gap in zip(found[name], missing[name], strict=True) if not gap]
            assert kept == [a for a, gap in zip(given[name], missing[name], strict=True) if not gap], name
            if name in FILLED:
                assert None not in found[name], name
            else:
                assert found[name] == given[name], name


def test_fills_are_near_the_truth(fitted, complete, missing):
    model, X = fitted
    found = as_lists(model.transform(X))
    for name in ("text", "truth"):
        right = [a == b for a, b, gap in zip(found[name], complete[name], missing[name], strict=True) if gap]
        assert np.mean(right) > 0.9, name
    off = [abs(a - b) for a, b, gap in zip(found["whole"], complete["whole"], missing["whole"], strict=True) if gap]
    assert np.median(off) <= 2
    for name in ("moment", "zoned"):
        pairs = zip(found[name], complete[name], missing[name], strict=True)
        assert np.median([abs((a - b).total_seconds()) for a, b, gap in pairs if gap]) < 6 * 3600, name
    pairs = zip(found["day"], complete["day"], missing["day"], strict=True)
    assert np.median([abs((_day(a) - b).days) for a, b, gap in pairs if gap]) <= 1


def _day(value):
    return value.date() if isinstance(value, datetime.datetime) else value


def test_bounds_and_sets(fitted, complete, missing):
    model, X = fitted
    lower, upper = model.predict_interval(X, 0.9)
    low, high, filled = as_lists(lower), as_lists(upper), as_lists(model.transform(X))
    for name in ("number", "whole", "moment", "day", "zoned", "lasted"):
        assert types_of(lower)[name] == types_of(X)[name], name
        assert all(a <= b <= c for a, b, c in zip(low[name], filled[name], high[name], strict=True)), name
        inside = zip(low[name], complete[name], high[name], missing[name], strict=True)
        held = [_same(a) <= _same(b) <= _same(c) for a, b, c, gap in inside if gap]
        assert np.mean(held) > 0.75, name
    for name in ("category", "text", "truth"):
        assert [list(one) for one in low[name]] == [list(one) for one in high[name]]
        held = [truth in some for some, truth, gap in zip(low[name], complete[name], missing[name], strict=True) if gap]
        assert np.mean(held) > 0.75, name
        assert all(some[0] == best for some, best in zip(low[name], filled[name], strict=True)), name
        assert all(len(some) == 1 for some, gap in zip(low[name], missing[name], strict=True) if not gap)


def _same(value):
    """Dates of columns of objects beside those of other types."""
    return value.replace(tzinfo=None) if isinstance(value, datetime.datetime) else value


def test_probabilities(fitted, complete, missing):
    model, X = fitted
    found = model.predict_proba(X)
    assert list(found) == ["category", "text", "truth"] == list(model.categories_)
    filled = as_lists(model.transform(X))
    for name, P in found.items():
        labels = model.categories_[name]
        assert type(P) is type(X)
        values = np.column_stack([np.asarray(column, dtype=float) for column in as_lists(P).values()])
        np.testing.assert_allclose(values.sum(axis=1), 1.0)
        assert [labels[k] for k in values.argmax(axis=1)] == filled[name]
        assert (values.max(axis=1)[~missing[name]] == 1.0).all()
    _, std = model.impute(X, return_std=True)
    doubt = as_lists(std)
    assert all((value > 0) == gap for value, gap in zip(doubt["category"], missing["category"], strict=True))
    assert all((value > 0) == gap for value, gap in zip(doubt["moment"], missing["moment"], strict=True))


def test_files_pickles_and_copies_answer_as_before(fitted, tmp_path):
    model, X = fitted
    before = as_lists(model.transform(X)), as_lists(model.predict_interval(X)[0])
    model.save(tmp_path / "mixed.factorstream")
    for again in (load(tmp_path / "mixed.factorstream"), pickle.loads(pickle.dumps(model)), moved(model)):
        assert as_lists(again.transform(X))["category"] == before[0]["category"]
        assert again.transform(X).equals(model.transform(X))
        assert as_lists(again.predict_interval(X)[0])["text"] == before[1]["text"]
        assert again.categories_ == model.categories_


def test_the_libraries_agree(complete, missing):
    filled = {}
    for library in LIBRARIES:
        X = table(library, gappy(complete, missing))
        with pytest.warns(UserWarning, match=CARRIED):
            filled[library] = as_lists(LowRankImputer(random_state=0).fit(X).transform(X))
    for name in ("text", "truth", "whole", "lasted"):
        assert filled["polars"][name] == filled["arrow"][name], name
    assert filled["pandas"]["whole"] == filled["polars"]["whole"]
    assert filled["pandas"]["text"] == filled["polars"]["text"]
    np.testing.assert_allclose(filled["pandas"]["sum"], filled["polars"]["sum"], rtol=1e-6)


@pytest.mark.parametrize("library", LIBRARIES)
def test_single_rows_and_rows_of_gaps(library, complete, missing):
    some = {name: complete[name] for name in FILLED}
    model = LowRankImputer(random_state=0).fit(table(library, some))
    for row in ({name: values[:1] for name, values in some.items()}, {name: [None] for name in some}):
        asked = table(library, row)
        assert None not in [value for (value,) in as_lists(model.transform(asked)).values()]


def in_text(library, values):
    """The table with its whole numbers as text."""
    texts = [f"number {value}" for value in values["whole"]]
    if library == "pandas":
        return table(library, values).assign(whole=texts)
    if library == "polars":
        polars = pytest.importorskip("polars")
        return table(library, values).with_columns(polars.Series("whole", texts))
    arrow = pytest.importorskip("pyarrow")
    X = table(library, values)
    return X.set_column(X.column_names.index("whole"), "whole", arrow.array(texts))


@pytest.mark.parametrize("library", LIBRARIES)
def test_names_have_to_be_those_of_the_fit(library, complete):
    some = {name: complete[name] for name in ("number", "text", "whole")}
    model = LowRankImputer(random_state=0).fit(table(library, some))
    assert list(model.feature_names_in_) == list(some)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(table(library, {"number": some["number"], "other": some["text"], "whole": some["whole"]}))
    with pytest.raises(ValueError, match="same order"):
        model.transform(table(library, dict(reversed(some.items()))))
    with pytest.raises(ValueError, match="Column 'whole' of X holds text, and held whole numbers in fit"):
        model.transform(in_text(library, some))


def test_two_columns_of_one_name():
    arrow = pytest.importorskip("pyarrow")
    X = arrow.table([arrow.array(["a", "b"] * 20), arrow.array(np.arange(40.0))], names=["x", "x"])
    with pytest.raises(ValueError, match=r"more than one column of the same name \('x'\)"):
        LowRankImputer().fit(X)


def test_columns_of_polars_with_labels_of_their_own():
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    x = rng.standard_normal(80)
    kind = polars.Enum(["small", "large", "never"])
    labels = [None if k % 7 == 0 else ("large" if value > 0 else "small") for k, value in enumerate(x)]
    X = polars.DataFrame({"x": x, "y": polars.Series(labels, dtype=kind), "z": x + rng.standard_normal(80)})
    out = LowRankImputer(random_state=0).fit(X)
    assert out.categories_ == {"y": ["small", "large"]}
    assert out.transform(X)["y"].dtype == kind
    assert out.transform(X)["y"].null_count() == 0


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("unit", "start"), [("days", 0), ("days", 9), ("hours", 0), ("minutes", 0), ("seconds", 0)])
def test_times_are_filled_in_the_unit_that_they_have(library, unit, start):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(120)
    one, first = datetime.timedelta(**{unit: 1}), datetime.datetime(2024, 3, 1, start)
    gone = np.arange(120) % 6 == 0
    values = {
        "number": (x + 0.3 * rng.standard_normal(120)).tolist(),
        "moment": [None if gap else first + round(40 * value) * one for value, gap in zip(x, gone, strict=True)],
        "lasted": [None if gap else round(90 + 9 * value) * one for value, gap in zip(x, gone, strict=True)],
    }
    X = table(library, values)
    model = LowRankImputer(random_state=0).fit(X)
    moment, lasted = model.state_.encoding.columns[1:]
    lower, upper = map(as_lists, model.predict_interval(X))
    filled = as_lists(model.transform(X))
    for found in (filled, lower, upper, *map(as_lists, model.sample_imputations(X, 2, random_state=0))):
        assert all((value.replace(tzinfo=None) - first) % one == datetime.timedelta() for value in found["moment"])
        assert all(value % one == datetime.timedelta() for value in found["lasted"])
    assert moment.unit == lasted.unit == one.total_seconds()
    for name in ("moment", "lasted"):
        assert all(a <= b <= c for a, b, c in zip(lower[name], filled[name], upper[name], strict=True))
        z = model.state_.encoding.columns[list(values).index(name)]
        ends = [frame_free(z, bound) for bound in (np.array([[1.25 * z.unit]]), np.array([[-1.25 * z.unit]]))]
        assert ends == [(z.unit, 2 * z.unit), (-2 * z.unit, -z.unit)]


class OneCell:
    """A table of one entry, which is whatever it is filled with."""

    def with_numbers(self, j, where, numbers, held):
        return float(numbers[0])


def frame_free(column, Z):
    """Both bounds that a column makes of the model's numbers, from its origin on."""
    gap = np.ones(1, dtype=bool)
    return tuple(column.bound(OneCell(), 0, Z, gap, upper) - column.origin for upper in (False, True))


@pytest.mark.parametrize("index", ["uint8", "uint32", "uint64", "int8"])
def test_dictionaries_of_arrow_with_any_index(index):
    """As polars gives its categories: unsigned indices."""
    arrow = pytest.importorskip("pyarrow")
    x = np.random.default_rng(0).standard_normal(80)
    labels = [None if k % 7 == 0 else ("up" if value > 0 else "down") for k, value in enumerate(x)]
    kind = arrow.dictionary(getattr(arrow, index)(), arrow.large_string())
    X = arrow.table({"x": x, "y": arrow.array(labels).dictionary_encode().cast(kind)})
    out = LowRankImputer(random_state=0).fit(X).transform(X)
    assert out.schema.types == X.schema.types
    found = out["y"].to_pylist()
    assert [one for one, label in zip(found, labels, strict=True) if label] == [one for one in labels if one]
    assert set(found) == {"up", "down"}
