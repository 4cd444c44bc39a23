"""`factorstream.river` on real streams, and River's own checks."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

river = pytest.importorskip("river")
pd = pytest.importorskip("pandas")

from river import checks, compose, datasets, linear_model, metrics, preprocessing  # noqa: E402
from sklearn.datasets import load_breast_cancer  # noqa: E402

from factorstream import DictionaryFilter  # noqa: E402
from factorstream.river import StreamFactorization  # noqa: E402

CHECKS = list(checks.yield_checks(StreamFactorization()))


@pytest.mark.parametrize("number", range(len(CHECKS)), ids=lambda number: f"{number}-{CHECKS[number].__name__}")
def test_the_checks_of_river(number):
    CHECKS[number](StreamFactorization())


def test_the_checks_are_those_of_a_transformer_in_batches():
    names = {check.__name__ for check in CHECKS}
    assert {"check_emerging_features", "check_transform_one", "check_learn_many_matches_learn_one"} <= names


def approval():
    return [x for x, _ in datasets.TrumpApproval()]


def test_a_feature_that_comes_late_is_filled():
    """The perimeter of tumours: a filter that had a column for it from the first row does no better."""
    table = load_breast_cancer(as_frame=True).data
    late = table.assign(**{"mean perimeter": table["mean perimeter"].where(table.index >= 200)})
    model = StreamFactorization(n_components=5)
    for row in late[:400].to_dict("records"):
        model.learn_one(row)
    assert model.features[-1] == "mean perimeter"
    hidden, truth = table[400:].drop(columns="mean perimeter"), table["mean perimeter"][400:]
    filled = [model.impute_one(row)["mean perimeter"] for row in hidden.to_dict("records")]
    error = np.sqrt(np.mean((filled - truth) ** 2))
    knew = DictionaryFilter(5, random_state=0).partial_fit(late[:400])
    at_once = knew.impute(table[400:].assign(**{"mean perimeter": np.nan}))["mean perimeter"]
    assert error < 1.01 * np.sqrt(np.mean((at_once - truth) ** 2))
    assert error < truth.std() / 3


def test_features_that_go_do_not_matter_to_the_others():
    stream = approval()
    with_extra, without = StreamFactorization(2), StreamFactorization(2)
    for k, x in enumerate(stream[:600]):
        without.learn_one(x)
        with_extra.learn_one(x | {"fleeting": 1.0} if k == 100 else x)
    answers = [model.impute_one({"rasmussen": 40.0})["gallup"] for model in (with_extra, without)]
    assert answers[0] == pytest.approx(answers[1], abs=0.05)


def test_batches_are_rows_one_after_another_where_features_begin_within_them():
    X = pd.DataFrame(approval()[:200])
    X.loc[:50, "gallup"] = np.nan
    X.loc[:120, "rasmussen"] = np.nan
    X.loc[::3, "ipsos"] = np.nan
    one, many = StreamFactorization(2), StreamFactorization(2)
    for row in X.to_dict("records"):
        one.learn_one(row)
    for first in range(0, 200, 45):
        many.learn_many(X.iloc[first : first + 45])
    assert one.features == many.features
    np.testing.assert_allclose(one.model.components_, many.model.components_, rtol=1e-6, atol=1e-9)
    answers = pd.DataFrame([one.transform_one(row) for row in X.to_dict("records")], index=X.index)
    pd.testing.assert_frame_equal(many.transform_many(X), answers, rtol=1e-6)


def test_strange_samples_score_higher():
    model, ordinary = StreamFactorization(2), []
    for k, x in enumerate(approval()):
        if k > 500:
            ordinary.append(model.score_one(x))
        model.learn_one(x)
    strange = x | {"rasmussen": 100.0 - x["rasmussen"], "gallup": 100.0 - x["gallup"]}
    assert model.score_one(strange) > np.quantile(ordinary, 0.99)


def test_in_a_pipeline():
    """With gaps, which a scaler before the model could not take."""
    model = compose.Pipeline(
        StreamFactorization(3), preprocessing.StandardScaler(), linear_model.LinearRegression(intercept_lr=0.1)
    )
    error = metrics.MAE()
    for k, (x, y) in enumerate(datasets.TrumpApproval().take(300)):
        x |= {name: (None, math.nan)[k % 2] for name in x if (k + len(name)) % 5 == 0}
        error.update(y, model.predict_one(x))
        model.learn_one(x, y)
    assert error.get() < 2


def test_what_is_missing_and_what_is_no_number():
    model = StreamFactorization(1)
    model.learn_one({})
    model.learn_one({"a": None, "b": math.nan})
    assert model.features == []
    assert model.score_one({"a": 1.0}) == 0.0
    assert model.impute_one({"a": 1.0}) == {"a": 1.0}
    for k in range(20):
        model.learn_one({"a": float(k), "b": 2.0 * k})
    assert model.transform_one({"unknown": 3.0}).keys() == {0}
    assert model.score_one({"unknown": 3.0}) == 0.0
    with pytest.raises(ValueError, match="'c' is no number"):
        model.learn_one({"c": "text", "a": 1.0})
    with pytest.raises(ValueError, match="no numbers"):
        model.learn_many(pd.DataFrame({"c": ["text"], "a": [1.0]}))


def test_a_failed_call_changes_nothing():
    model = StreamFactorization(1)
    for k in range(20):
        model.learn_one({"a": float(k), "b": 2.0 * k})
    before = model.impute_one({"a": 3.0})
    for learn, x in ((model.learn_one, {"a": 1.0, "new": math.inf}), (model.score_one, {"new": -math.inf})):
        with pytest.raises(ValueError, match="The feature 'new' is infinite; give None"):
            learn(x)
    with pytest.raises(ValueError, match="The feature 'new' is infinite; give NaN"):
        model.learn_many(pd.DataFrame({"a": [1.0, 2.0], "new": [1.0, math.inf]}))
    assert model.features == ["a", "b"]
    assert model.impute_one({"a": 3.0}) == before


def test_new_features_of_one_sample_are_sorted_behind_the_others():
    model = StreamFactorization(1)
    model.learn_one({"c": 1.0})
    model.learn_one({"b": 1.0, "a": 2.0})
    assert model.features == ["c", "a", "b"]


def test_looking_for_a_feature_takes_no_longer_the_more_there_are():
    class Name(str):
        compared = 0
        __hash__ = str.__hash__

        def __eq__(self, other):
            Name.compared += 1
            return str.__eq__(self, other)

    model = StreamFactorization(1)
    model.learn_one({Name(k): 1.0 + k for k in range(200)})
    sample, table = {Name(k): 2.0 + k for k in range(200)}, pd.DataFrame({Name(k): [2.0 + k] for k in range(200)})
    for learn in (lambda: model.learn_one(sample), lambda: model.learn_many(table)):
        Name.compared = 0
        learn()
        assert Name.compared < 200 * 20  # a list: 200 * 100


def test_an_empty_batch_changes_nothing_before_and_after_the_first_sample():
    model = StreamFactorization(2)
    empty = pd.DataFrame({"a": [], "b": []}, dtype=float)
    for _ in range(2):
        before = model.features, model.impute_one({"a": 3.0})
        for table in (empty, pd.DataFrame(index=[0, 1]), pd.DataFrame({"z": [math.nan]})):
            model.learn_many(table)
            coefficients = model.transform_many(table)
            assert coefficients.shape == (len(table), 2)
            assert list(coefficients.columns) == [0, 1]
        assert (model.features, model.impute_one({"a": 3.0})) == before
        model.learn_many(pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [2.0, 4.0, 6.0]}))


def test_numbers_of_other_kinds():
    ours, plain = StreamFactorization(1), StreamFactorization(1)
    for k in range(20):
        ours.learn_one({"a": np.bool_(k % 2), "b": np.float32(k), "c": np.int8(k), "d": Fraction(k, 2)})
        plain.learn_one({"a": float(k % 2), "b": float(k), "c": float(k), "d": k / 2})
    assert ours.impute_one({"b": 3.0}) == plain.impute_one({"b": 3.0})
    with pytest.raises(ValueError, match="'b' is too large a number"):
        ours.learn_one({"b": 10**400})


def test_two_columns_of_one_name_are_refused():
    model = StreamFactorization(1)
    table = pd.DataFrame([[1.0, 2.0, 3.0]], columns=["a", "b", "a"])
    for ask in (model.learn_many, model.transform_many):
        with pytest.raises(ValueError, match="Two columns are called 'a'; give every column a name of its own"):
            ask(table)


def test_without_river_one_sentence_says_what_to_do():
    code = "import sys; sys.modules['river'] = None\nimport factorstream.river"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 'pip install "factorstream[river]"' in result.stderr.splitlines()[-1]


def test_a_sample_costs_no_copy_of_the_model(monkeypatch):
    """A copy would encode all records of the stream, and every sample would cost more than the one before."""
    model = StreamFactorization(1)
    for number in range(20):
        model.learn_one({"a": float(number), "b": 2.0 * number})
    monkeypatch.setattr(type(model.model), "__getstate__", None)
    model.learn_one({"a": 3.0, "b": 6.0})
    before = model.model.n_samples_seen_
    with pytest.raises(ValueError, match="infinite"):
        model.learn_one({"a": math.inf, "b": 1.0})
    assert model.model.n_samples_seen_ == before
