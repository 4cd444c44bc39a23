"""LowRankImputer on tables with categories: what is filled, what is carried, and how sure it is."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from contracts.asking import fingerprint
from factorstream import LowRankImputer
from mixed_problems import LIBRARIES, as_lists, columns, gappy, gaps, table

pandas = pytest.importorskip("pandas")


CENTRES, SPREAD = np.array([[0.0, 0.0], [2.0, 1.0], [0.5, 2.5]]), 0.8


def blobs(n=400, seed=0, share=0.25):
    """Three groups of points in a plane, which is a category, and what is missing of it."""
    rng = np.random.default_rng(seed)
    g = rng.integers(0, 3, n)
    xy = CENTRES[g] + SPREAD * rng.standard_normal((n, 2))
    labels = np.array(["a", "b", "c"])[g]
    gone = rng.random(n) < share
    X = pandas.DataFrame(
        {"x": xy[:, 0], "y": xy[:, 1], "z": xy.sum(axis=1) + rng.standard_normal(n), "group": labels}
    ).mask(np.column_stack([np.zeros((n, 3), bool), gone]))
    return X.astype({"group": "category"}), labels, gone


def known_probabilities(X):
    """Those of someone who knows how the points of ``blobs`` came about, by Bayes' rule."""
    far = ((X[["x", "y"]].to_numpy()[:, None] - CENTRES) ** 2).sum(axis=2)
    density = np.exp(-0.5 * far / SPREAD**2)
    return density / density.sum(axis=1, keepdims=True)


PLANS = {
    "table": {},
    "factorisation": {"marginals": "linear", "residual": None},
    "robust": {"robust": True},
    "uncalibrated": {"calibrate": False},
    "few components": {"n_components": 2},
}


@pytest.mark.parametrize("how", PLANS)
def test_probabilities_and_sets_can_be_believed(how):
    """Nearly those of someone who knows the law, in probabilities and in how many labels it takes to hold 90%."""
    X, truth, gone = blobs()
    model = LowRankImputer(random_state=0, **PLANS[how]).fit(X)
    P, Q = model.predict_proba(X)["group"].to_numpy()[gone], known_probabilities(X)[gone]
    right = model.transform(X)["group"].to_numpy()[gone] == truth[gone]
    best = np.array(["a", "b", "c"])[Q.argmax(axis=1)] == truth[gone]
    assert right.mean() > best.mean() - 0.06
    assert np.sqrt(np.mean((P - Q) ** 2)) < 0.12  # 0.077 to 0.093; the labels' shares alone have 0.4
    assert P.max(axis=1).mean() == pytest.approx(right.mean(), abs=0.1)
    lower, _ = model.predict_interval(X, 0.9)
    sets = lower["group"][gone]
    held = np.array([label in some for label, some in zip(truth[gone], sets, strict=True)])
    assert held.mean() > 0.9 - 3 * np.sqrt(0.9 * 0.1 / gone.sum())
    falling = -np.sort(-Q, axis=1)
    needed = (np.cumsum(falling, axis=1) - falling < 0.9).sum(axis=1)  # labels until 90% are reached
    assert sets.map(len).mean() < 1.2 * needed.mean()


@pytest.mark.long
def test_probabilities_in_short_tables_are_not_learned_from_what_the_model_was_fitted_to():
    """A model that has seen an entry tells it too well: probabilities would be hardly better than shares of labels."""
    loss = of_shares = 0.0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        f = rng.standard_normal((45, 2))
        X = pandas.DataFrame(f @ rng.standard_normal((2, 8)) + rng.standard_normal((45, 8))).add_prefix("x")
        labels = np.argmax(f @ rng.standard_normal((2, 3)) + rng.gumbel(size=(45, 3)), axis=1)
        X = X.assign(label=np.array(list("abc"))[labels])
        gappy = X.mask(rng.random(X.shape) < 0.25)
        P = LowRankImputer(random_state=0).fit(gappy).predict_proba(gappy)["label"][list("abc")].to_numpy()
        gone = gappy["label"].isna().to_numpy()
        shares = gappy["label"].value_counts(normalize=True)[list("abc")].to_numpy()
        loss -= np.log(P[gone, labels[gone]]).sum()
        of_shares -= np.log(shares[labels[gone]]).sum()
    assert loss < 0.97 * of_shares


def test_draws_have_the_probabilities():
    X, _, gone = blobs(150)
    model = LowRankImputer(random_state=0).fit(X)
    draws = model.sample_imputations(X, 300, random_state=0)
    P = model.predict_proba(X)["group"]
    for label in "abc":
        often = np.mean([(one["group"] == label).to_numpy() for one in draws], axis=0)
        p = P[label].to_numpy()[gone]
        off, deviation = np.abs(often[gone] - p), np.sqrt(p * (1.0 - p) / 300)
        assert (off < 4.0 * deviation + 1 / 300).all()
        assert np.sqrt(np.mean(off**2)) < 1.3 * np.sqrt(np.mean(deviation**2))
    again = model.sample_imputations(X, 300, random_state=0)
    pandas.testing.assert_frame_equal(draws[7], again[7])


@pytest.mark.parametrize("how", ["table", "factorisation"])
def test_a_category_and_a_number_are_drawn_together(how):
    """Where both are missing and nothing else tells of them, draws of a label come with numbers that belong to it."""
    rng = np.random.default_rng(1)
    high = rng.random(300) < 0.5
    number = np.where(high, 2.0, -2.0) + rng.standard_normal(300)
    X = pandas.DataFrame({"number": number, "z": rng.standard_normal(300)})
    X["level"] = pandas.Categorical(np.where(high, "high", "low"))
    holes = rng.random((300, 3)) < 0.3
    model = LowRankImputer(random_state=0, **PLANS[how]).fit(X.mask(holes))
    asked = X.assign(number=np.nan, level=pandas.Categorical([None] * 300, categories=["high", "low"]))
    draws = model.sample_imputations(asked, 40, random_state=0)
    label = np.concatenate([one["level"] == "high" for one in draws])
    drawn = np.concatenate([one["number"] for one in draws])
    assert label.mean() == pytest.approx(model.predict_proba(asked)["level"]["high"].mean(), abs=0.02)
    assert np.corrcoef(label, drawn)[0, 1] > 0.3


def test_categories_help_numbers_and_are_left_out_whole():
    """A number that only the category tells is filled by it, and a category is not told by its own columns."""
    rng = np.random.default_rng(3)
    g = rng.integers(0, 4, 300)
    number = np.array([0.0, 5.0, -3.0, 8.0])[g] + 0.3 * rng.standard_normal(300)
    noise = rng.standard_normal((300, 2))
    gone = rng.random(300) < 0.2
    X = pandas.DataFrame({"number": np.where(gone, np.nan, number), "n1": noise[:, 0], "n2": noise[:, 1]})
    X["group"] = pandas.Categorical(np.array(["p", "q", "r", "s"])[g])
    filled = LowRankImputer(random_state=0).fit_transform(X)["number"]
    assert np.sqrt(np.mean((filled - number)[gone] ** 2)) < 0.8
    told_by_nothing = X[["n1", "n2", "group"]].copy()
    told_by_nothing.loc[gone, "group"] = np.nan
    sure = LowRankImputer(random_state=0).fit(told_by_nothing).predict_proba(told_by_nothing)["group"]
    assert sure.to_numpy()[gone].max() < 0.6


def test_what_is_no_category_is_named_and_carried_through():
    n = 100
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(
        {
            "x": rng.standard_normal(n),
            "name": [f"n{k}" for k in range(n)],
            "flag": [None if k % 2 else "x" for k in range(n)],
            "empty": pandas.Series([None] * n, dtype=object),
            "period": pandas.period_range("2024-01", periods=n, freq="M"),
            "colour": ["red", "blue"] * 50,
        }
    )
    with pytest.warns(UserWarning, match="^Columns that are returned as they are, gaps included: 'name'") as said:
        model = LowRankImputer(random_state=0).fit(X)
    assert len(said) == 1
    words = str(said[0].message)
    reasons = ("'name' (seldom the same value twice)", "'flag' (one value only)", "'empty' (no value)", "'period' (val")
    assert all(part in words for part in reasons)
    pandas.testing.assert_frame_equal(model.transform(X), X)
    assert list(model.get_feature_names_out()) == list(X)
    assert model.n_observed_.tolist() == [n, 0, 0, 0, 0, n]
    assert np.isnan(model.statistics_).tolist() == [False, True, True, True, True, True]


def test_labels_that_were_never_seen_stay_and_tell_nothing():
    X, _, _ = blobs(120)
    model = LowRankImputer(random_state=0).fit(X)
    asked = X.head(3).astype({"group": object})
    asked["group"] = ["new", "a", None]
    other = asked.assign(group=[None, "a", None])
    out = model.transform(asked)
    assert out["group"].tolist()[:2] == ["new", "a"]
    assert model.predict_proba(asked)["group"].iloc[0].sum() == 0.0
    assert model.predict_interval(asked)[0]["group"].tolist()[0] == ("new",)
    gappy_numbers = asked.assign(x=np.nan), other.assign(x=np.nan)
    assert model.transform(gappy_numbers[0])["x"].tolist() == model.transform(gappy_numbers[1])["x"].tolist()


def test_few_labels_do_not_cost_the_numbers_what_is_beyond_the_factorisation(rng):
    z = rng.normal(size=300)
    X = pandas.DataFrame({"a": z, "b": z**2 + 0.1 * rng.normal(size=300), "c": np.exp(z)})
    gone = rng.random(X.shape) < 0.2
    label = pandas.Series(np.where(z > 0, "high", "low")).where(np.arange(300) < 20, None)
    filled, alone = (
        LowRankImputer(random_state=0, **how).fit_transform(X.mask(gone).assign(label=label))
        for how in ({}, {"marginals": "linear", "residual": None})
    )
    errors = [np.mean(((one[["a", "b", "c"]] - X) / X.std()).to_numpy()[gone] ** 2) for one in (filled, alone)]
    assert errors[0] < 0.7 * errors[1]
    assert not filled["label"].isna().any()


@pytest.mark.parametrize(("seen", "how"), [(70, {}), (12, {}), (36, {"robust": True})])
def test_of_many_rows_labels_that_are_hardly_ever_seen_have_probabilities(seen, how):
    """Whether the table is more than one factorisation or not."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=40_000)
    X = pandas.DataFrame({"a": z, "b": z + 0.3 * rng.normal(size=len(z)), "c": rng.normal(size=len(z))})
    there = rng.permutation(len(z))[:seen]
    X["label"] = pandas.Series(np.where(z > 0, "high", "low")).where(np.isin(np.arange(len(z)), there), None)
    P = LowRankImputer(random_state=0, **how).fit(X).predict_proba(X[:500])["label"].to_numpy()
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert np.mean((P[:, 0] > 0.5) == (z[:500] > 0)) > 0.6


def test_many_labels_share_a_class():
    rng = np.random.default_rng(0)
    n = 900
    k = np.minimum(rng.geometric(0.06, n), 90)
    X = pandas.DataFrame(
        {"x": k + 0.1 * rng.standard_normal(n), "town": pandas.Categorical([f"town {i:02}" for i in k])}
    )
    gone = rng.random(n) < 0.1
    X.loc[gone, "town"] = np.nan
    model = LowRankImputer(random_state=0).fit(X)
    assert model.state_.scale.shape[0] == 1 + 21  # twenty towns, and all others
    P = model.predict_proba(X)["town"]
    assert P.shape[1] == X["town"].nunique()
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert model.transform(X)["town"].notna().all()


@pytest.mark.parametrize("library", LIBRARIES)
def test_small_and_wide_tables(library):
    """Tables that are one factorisation: too few rows, too many columns; and one with a single category."""
    complete = columns(40)
    some = {name: complete[name] for name in ("number", "text", "truth")}
    for values in (some, {"text": complete["text"]}, {"truth": complete["truth"], "text": complete["text"]}):
        missing = gaps(40, values)
        X = table(library, gappy(values, missing))
        model = LowRankImputer(random_state=0).fit(X)
        for name, column in as_lists(model.transform(X)).items():
            assert None not in column, name
        for P in model.predict_proba(X).values():
            rows = np.column_stack(list(as_lists(P).values()))
            np.testing.assert_allclose(rows.sum(axis=1), 1.0)


def test_more_columns_than_a_table_has():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((80, 120))
    X = pandas.DataFrame({f"c{j}": np.where(x[:, j % 7] + 0.5 * x[:, j] > 0, "u", "v") for j in range(120)})
    holes = rng.random(X.shape) < 0.1
    model = LowRankImputer(random_state=0, max_iter=5).fit(X.mask(holes))
    assert model.state_.table is None
    out = model.transform(X.mask(holes))
    assert np.mean((out == X).to_numpy()[holes]) > 0.7


def test_whole_numbers_have_whole_bounds_and_limits():
    rng = np.random.default_rng(0)
    x = rng.poisson(1.0, 120)
    X = pandas.DataFrame({"count": pandas.array(x, dtype="UInt8"), "x": x + rng.standard_normal(120)})
    X.loc[::5, "count"] = pandas.NA
    model = LowRankImputer(random_state=0, max_value=[4, np.inf]).fit(X)
    lower, upper = model.predict_interval(X, 0.95)
    assert lower["count"].dtype == upper["count"].dtype == "UInt8"
    assert lower["count"].min() == 0
    assert upper["count"][::5].max() <= 4
    assert (model.transform(X)["count"][::5] <= upper["count"][::5]).all()


def test_a_number_marks_gaps_of_numbers():
    X = pandas.DataFrame({"a": [1, 2, -1, 4] * 20, "b": ["u", "v"] * 40, "c": np.arange(80.0)})
    out = LowRankImputer(missing_values=-1, random_state=0).fit_transform(X)
    assert (out["a"] != -1).all()
    assert out["a"].dtype == X["a"].dtype
    with pytest.raises(ValueError, match="Column 'c' of X contains NaN, but missing_values is -1"):
        LowRankImputer(missing_values=-1).fit(X.assign(c=np.nan))


def test_indicators_and_empty_columns():
    X, _, gone = blobs(100)
    X["nothing"] = np.nan
    X["id"] = np.arange(100)
    with pytest.warns(UserWarning, match="Dropping features without any observed value: nothing"):
        model = LowRankImputer(add_indicator=True, random_state=0).fit(X)
    out = model.transform(X)
    assert list(out) == ["x", "y", "z", "group", "id", "missingindicator_group", "missingindicator_nothing"]
    assert list(out) == list(model.get_feature_names_out())
    assert out["missingindicator_group"].tolist() == gone.tolist()
    kept = LowRankImputer(keep_empty_features=True, random_state=0).fit_transform(X)
    assert kept["nothing"].eq(0.0).all()


def test_questions_must_have_the_columns_of_the_fit():
    X, _, _ = blobs(100)
    model = LowRankImputer(random_state=0).fit(X)
    before = fingerprint(model)
    with pytest.raises(ValueError, match="same order"):
        model.transform(X[["group", "x", "y", "z"]])
    with pytest.raises(ValueError, match="feature names"):
        model.transform(X.rename(columns={"x": "other"}))
    with pytest.raises(ValueError, match="Column 'x' of X holds text, and held numbers in fit; pass it as it was then"):
        model.transform(X.assign(x="word"))
    with pytest.raises(TypeError, match="was fitted to a table whose columns are not all floats; pass a table"):
        model.transform(X[["x", "y", "z"]].to_numpy())
    with pytest.raises(ValueError, match="infinity at row 2, column 'y'"):
        model.transform(X.assign(y=np.where(np.arange(100) == 2, np.inf, X["y"])))
    with pytest.raises(ValueError, match=r"0 sample"):
        model.transform(X.head(0))
    assert fingerprint(model) == before


def test_failed_fits_change_nothing():
    X, _, _ = blobs(100)
    model = LowRankImputer(random_state=0).fit(X)
    before = fingerprint(model)
    with pytest.raises(ValueError, match="no column of numbers, times or categories"):
        model.fit(pandas.DataFrame({"name": list("abcdefgh")}))
    with pytest.raises(ValueError, match="more than one column of the same name"):
        model.fit(pandas.concat([X, X[["x"]]], axis=1))
    with pytest.raises(ValueError, match="infinity"):
        model.fit(X.assign(y=np.inf))
    assert fingerprint(model) == before
    floats = LowRankImputer(random_state=0).fit(X[["x", "y", "z"]])
    with pytest.raises(AttributeError, match="a table without categories, and has no probabilities; fit"):
        floats.predict_proba(X[["x", "y", "z"]])
    with pytest.raises(AttributeError, match="has not been fitted yet; call fit"):
        LowRankImputer().predict_proba(X)
    assert hasattr(model, "predict_proba")
    assert not hasattr(floats, "predict_proba")
    assert floats.categories_ == {}


ONLY_NUMBERS = (
    r"for tables of numbers, and not for other columns \('group'\); pass the columns of numbers to an imputer"
)


def test_what_is_for_tables_of_numbers_says_so(tmp_path):
    X, _, _ = blobs(100)
    new, fitted = LowRankImputer(random_state=0), LowRankImputer(random_state=0).fit(X)
    before = fingerprint(fitted)
    with pytest.raises(ValueError, match="partial_fit is " + ONLY_NUMBERS):
        new.partial_fit(X)
    with pytest.raises(ValueError, match="sample_weight and variances are " + ONLY_NUMBERS):
        new.fit(X, sample_weight=np.ones(100))
    with pytest.raises(ValueError, match="sample_weight and variances are " + ONLY_NUMBERS):
        fitted.fit(X, variances=np.ones(X.shape))
    for ask in (fitted.transform, fitted.impute, fitted.predict_interval, fitted.sample_imputations):
        with pytest.raises(ValueError, match="^variances are " + ONLY_NUMBERS):
            ask(X, variances=np.ones(X.shape))
    with pytest.raises(ValueError, match="Reports are " + ONLY_NUMBERS):
        fitted.report(tmp_path / "report.html", X)
    assert fingerprint(fitted) == before
    numbers = X[["x", "y", "z"]].assign(w=X["x"] > 0)
    assert new.partial_fit(numbers).n_samples_seen_ == 100  # true and false are 1 and 0


def test_pictures_are_for_tables_of_numbers():
    pytest.importorskip("matplotlib")
    from factorstream import plot

    X, _, _ = blobs(100)
    model = LowRankImputer(random_state=0).fit(X)
    for draw in (plot.series, plot.calibration, plot.coefficients):
        with pytest.raises(ValueError, match="Pictures of models are " + ONLY_NUMBERS):
            draw(model, X)
    for draw in (plot.components, plot.spectrum):
        with pytest.raises(ValueError, match="Pictures of models are " + ONLY_NUMBERS):
            draw(model)


def test_in_a_pipeline_and_with_set_output():
    from sklearn.ensemble import HistGradientBoostingClassifier

    X, _, _ = blobs(150)
    y = X["x"] > 0
    pipe = make_pipeline(
        LowRankImputer(random_state=0), HistGradientBoostingClassifier(categorical_features="from_dtype")
    )
    assert pipe.fit(X, y).score(X, y) > 0.9
    out = LowRankImputer(random_state=0).set_output(transform="pandas").fit_transform(X)
    pandas.testing.assert_frame_equal(out, LowRankImputer(random_state=0).fit_transform(X))


def test_names_that_are_no_text():
    X, _, _ = blobs(80)
    X.columns = range(4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LowRankImputer(random_state=0).fit(X)
    assert list(model.transform(X).columns) == [0, 1, 2, 3]
    assert list(model.predict_proba(X)) == [3]
