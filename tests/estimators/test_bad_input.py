"""Bad input gets one clear sentence and changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from factorstream import BayesianFactorization, BroydenFactorization, DictionaryFilter, SGDFactorization
from factorstream.estimators._validation import check_size_of
from filter_problems import paper_filter

STREAMS = [DictionaryFilter, BroydenFactorization, SGDFactorization, BayesianFactorization]
GOOD = np.random.default_rng(0).standard_normal((20, 4))


def with_value(value, row=3, column=2):
    X = GOOD.copy()
    X[row, column] = value
    return X


BAD_DATA = [
    (with_value(np.inf), "infinity at row 3, column 2.*NaN"),
    (with_value(-np.inf), "infinity at row 3, column 2"),
    (np.full((5, 4), np.nan), "no observed entry"),
    (np.empty((0, 4)), "0 sample"),
    (np.empty((5, 0)), "0 feature"),
    (GOOD[0], "2D array"),
    (GOOD + 1j, "[Cc]omplex"),
    (np.array([["a", "b"], ["c", "d"]], dtype=object), "convert string to float"),
]


@pytest.mark.parametrize(("X", "message"), BAD_DATA)
def test_bad_data(X, message):
    model = DictionaryFilter(2)
    with pytest.raises(ValueError, match=message):
        model.fit(X)
    assert vars(model) == vars(DictionaryFilter(2))


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("value", [1e12, 1e39, -1e60, 1e200])
@pytest.mark.parametrize("row", [1, 5, 9])
@pytest.mark.parametrize("kind", STREAMS)
def test_a_wider_absurd_value_at_the_start_of_a_float32_stream(kind, row, value, as_rows):
    """It is taken as missing, and named by its size, as in a stream of float64."""
    X = np.random.default_rng(0).standard_normal((15, 4)).astype(np.float32) + 8
    bad = X.astype(np.float64)
    bad[row, 2] = value
    narrow, missing = kind(2, random_state=0), kind(2, random_state=0)
    for k in range(15):
        if k == row:
            with pytest.warns(UserWarning, match=f"absurd value in column 2.*missing: {value:.6g}".replace("+", r"\+")):
                narrow.partial_fit(as_rows(bad[[k]]))
        else:
            narrow.partial_fit(as_rows(X[[k]]))
        bad[row, 2] = np.nan
        missing.partial_fit(as_rows(bad[[k]].astype(np.float32)))
        bad[row, 2] = value
    np.testing.assert_array_equal(narrow.impute(X[:3]), missing.impute(X[:3]))
    np.testing.assert_allclose(narrow.components_, missing.components_, rtol=1e-6)


@pytest.mark.parametrize("kind", STREAMS)
def test_a_value_too_large_for_the_type_of_a_stream_is_refused_by_its_size(kind):
    model = kind(2, random_state=0).partial_fit(np.full((1, 4), np.nan, np.float32))
    for given in (GOOD[:1] * 1e39, GOOD[:3] * 1e200):
        with pytest.raises(ValueError, match=r"X has values of size \d.*e\+\d+, which float32 .* or pass float64"):
            model.partial_fit(given)


BAD_SETTINGS = [
    ({"n_components": 0}, "n_components"),
    ({"n_components": 2.5}, "n_components"),
    ({"noise_variance": 0.0}, "noise_variance"),
    ({"noise_variance": -1.0}, "noise_variance"),
    ({"noise_variance": "loud"}, "noise_variance"),
    ({"prior_covariance": -1.0}, "prior_covariance"),
    ({"prior_covariance": np.ones((2, 3))}, r"prior_covariance.*shape \(2,\) or \(2, 2\)"),
    ({"prior_covariance": np.array([[1.0, 2.0], [2.0, 1.0]])}, "positive definite.*-1"),
    ({"prior_covariance": np.array([[1.0, 0.5], [0.0, 1.0]])}, "symmetric"),
    ({"prior_covariance": np.array([[1.0, np.nan], [np.nan, 1.0]])}, "finite"),
    ({"drift": -0.1}, "drift"),
    ({"drift": [0.1, -0.1]}, "drift.*semi-definite"),
    ({"drift": np.ones(3)}, "drift.*shape"),
    ({"coefficients": "magic"}, "coefficients"),
    ({"init": np.ones((3, 3))}, r"init.*\(2, 4\)"),
    ({"init": np.full((2, 4), np.nan)}, "init must be finite"),
    ({"n_passes": 0}, "n_passes"),
    ({"batch_size": 0}, "batch_size"),
    ({"tol": -1.0}, "tol"),
]


@pytest.mark.parametrize(("settings", "message"), BAD_SETTINGS)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_settings(settings, message, method):
    model = DictionaryFilter(**{"n_components": 2, **settings})
    with pytest.raises(ValueError, match=message):
        getattr(model, method)(GOOD)
    assert not hasattr(model, "state_")
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("model", [SGDFactorization(step_size=-1.0), BroydenFactorization(noise_variance=0)])
def test_bad_settings_of_the_baselines(model):
    with pytest.raises(ValueError, match="must be"):
        model.fit(GOOD)


def test_before_fitting_and_wrong_width():
    model = DictionaryFilter(2)
    for method in ("transform", "impute", "score", "score_samples", "inverse_transform"):
        with pytest.raises(NotFittedError):
            getattr(model, method)(GOOD)
    assert not hasattr(model, "components_")
    model.fit(GOOD)
    with pytest.raises(ValueError, match="expecting 4 features"):
        model.impute(GOOD[:, :2])
    with pytest.raises(ValueError, match="3 columns but the dictionary has 2 components"):
        model.inverse_transform(GOOD[:, :3])


@pytest.mark.parametrize("value", [0.0, 5.0, -1e-30])
def test_constant_data_is_no_reason_to_fail(value):
    X = np.full((30, 4), value)
    model = DictionaryFilter(2, random_state=0).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-6 * abs(value))


@pytest.mark.parametrize(("size", "dtype"), [(1e20, np.float32), (1e-25, np.float32), (1e160, float), (1e-160, float)])
def test_values_that_cannot_be_squared_are_named(size, dtype):
    with pytest.raises(ValueError, match="multiply the data by a constant"):
        DictionaryFilter(2).fit((size * GOOD).astype(dtype))


@pytest.mark.parametrize("model", [DictionaryFilter(2, noise_variance=1.0), BayesianFactorization(2)])
def test_a_starting_stream_refuses_rows_too_narrow_for_what_it_knows(model):
    model.partial_fit([[-3e30, 3e30], [2e30, -3e30]])
    with pytest.raises(ValueError, match=r"size 3e\+30, too large for float32; pass float64"):
        model.impute(np.array([[np.nan, 1.0]], np.float32), return_std=True)


@pytest.mark.parametrize("model", [DictionaryFilter(2, random_state=0), BayesianFactorization(2)])
def test_absurd_values_of_a_starting_stream_do_not_count_as_known(model):
    with pytest.warns(UserWarning, match="absurd value at row 3, column 2"):
        model.partial_fit(with_value(1e30)[:6])
    filled = model.impute(np.where(GOOD > 1, np.nan, GOOD).astype(np.float32))
    assert np.abs(filled).max() < 10


def test_coefficients_too_large_for_the_rows_are_refused():
    tiny = 1e-60 * np.random.default_rng(1).standard_normal((2, 4))
    model = DictionaryFilter(2, init=tiny, prior_covariance=1e-140, fit_mean=False, noise_variance=1.0).fit(GOOD)
    assert np.abs(model.transform(GOOD)).max() > 1e40
    with pytest.raises(ValueError, match=r"coefficients of size .* too large for float32; pass float64"):
        model.transform(GOOD.astype(np.float32))


@pytest.mark.here(reason="rounding decides whether the rows before the question can be taken in")
def test_questions_that_linear_algebra_cannot_answer_end_in_a_sentence():
    X = np.random.default_rng(0).standard_normal((20, 5)) * [1.0, 1e15, 1.0, 1.0, 1.0]
    model = paper_filter(3, coefficients="marginal", noise_variance=1e-12, prior_covariance=1e-300, random_state=0)
    model.partial_fit(X[:6])
    X[:, 0] = np.nan
    for name in ("transform", "impute", "predict_interval", "sample_imputations", "score_samples"):
        with pytest.raises(ValueError, match=r"too far apart.*scale the features") as caught:
            getattr(model, name)(X)
        assert not isinstance(caught.value, np.linalg.LinAlgError)


@pytest.mark.parametrize(
    ("estimator", "allowed"),
    [
        (DictionaryFilter, r"an int in the range \[1, inf\)"),
        (BayesianFactorization, r"a str among \{'auto'\} or an int in the range \[1, inf\)"),
    ],
)
def test_true_is_no_number_of_components(estimator, allowed):
    """The sentence says what this parameter takes, not what any parameter does."""
    sentence = rf"The 'n_components' parameter of {estimator.__name__} must be {allowed}\. Got True instead\."
    with pytest.raises(ValueError, match=sentence):
        estimator(n_components=True).fit(GOOD)


def test_float64_coefficients_of_a_float32_dictionary_are_answered_in_float64():
    """They may be larger than any float32."""
    model = DictionaryFilter(2, random_state=0).fit(GOOD.astype(np.float32))
    rows = model.inverse_transform(np.full((3, 2), 1e50))
    assert rows.dtype == np.float64
    np.testing.assert_allclose(rows / 1e50, np.ones((3, 2)) @ model.components_, rtol=1e-5)
    assert model.inverse_transform(np.ones((3, 2), dtype=np.float32)).dtype == np.float32


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("gaps", [False, True])
def test_large_tables_are_searched_for_infinities_and_values_without_a_square(order, gaps):
    """Large enough to be searched in parts, which do not say where the table is cut."""
    rng = np.random.default_rng(0)
    X = np.asarray(rng.standard_normal((700, 1000)), order=order)
    model = DictionaryFilter(2, random_state=0).partial_fit(GOOD[:, :1] * np.ones(1000))
    if gaps:
        X[rng.random(X.shape) < 0.01] = np.nan
    model.transform(X)
    check_size_of(X, X.dtype)
    X[699, 998] = -1e200
    with pytest.raises(ValueError, match="1e\\+200"):
        check_size_of(X, X.dtype)
    X[698, 997] = -np.inf
    with pytest.raises(ValueError, match="infinity at row 698, column 997"):
        model.transform(X)
