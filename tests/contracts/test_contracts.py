"""What every estimator promises beyond its numbers. The list of estimators is in ``estimators.py``."""

from __future__ import annotations

import copy
import pickle

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from contracts.estimators import CASES, named, rows
from factorstream import load
from factorstream.core.filter.coefficients import COEFFICIENT_STEPS

EVERY = [pytest.param(case, id=named(case)) for case in CASES]
STREAMS = [pytest.param(case, id=named(case)) for case in CASES if hasattr(case.estimator, "partial_fit")]
INTERVALS = [pytest.param(case, id=named(case)) for case in CASES if hasattr(case.estimator, "predict_interval")]
DRAWS = [pytest.param(case, id=named(case)) for case in CASES if hasattr(case.estimator, "sample_imputations")]


def fingerprint(model):
    """Every attribute, deep into its arrays; whether two of them are one object does not count."""
    return parts(vars(model))


def parts(value):
    if isinstance(value, tuple | list):
        return type(value).__name__, [parts(part) for part in value]
    if isinstance(value, dict):
        return sorted((key, parts(part)) for key, part in value.items())
    if sparse.issparse(value):
        return value.shape, parts([value.data, value.indices, value.indptr])
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.shape, value.dtype.str, value.flags.f_contiguous, value.tobytes()
    return repr(value)


def filled(model, X):
    return model.impute(X) if hasattr(model, "impute") else model.transform(X)


def answers(model, X):
    """Everything the model can be asked about X, by name."""
    out = {"transform": model.transform(X), "filled": filled(model, X)}
    if hasattr(model, "inverse_transform"):
        out["inverse_transform"] = model.inverse_transform(out["transform"])
    if hasattr(model, "predict_interval"):
        out["lower"], out["upper"] = model.predict_interval(X, level=0.5)
        if hasattr(model, "impute"):
            out["std"] = model.impute(X, return_std=True)[1]
    if hasattr(model, "sample_imputations"):
        out["draws"] = model.sample_imputations(X, n_draws=2, random_state=0)
    if hasattr(model, "score_samples"):
        out["score_samples"] = model.score_samples(X)
    if hasattr(model, "forecast"):
        out["forecast"], out["forecast std"] = model.forecast(3, return_std=True)
        out["recent"], out["alarms"] = model.recent(), model.alarms(X).up
        out["denoise"] = model.denoise(X)
    return {name: np.asarray(value) for name, value in out.items()}


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


def assert_close(found, expected, rtol):
    for name in expected:
        size = np.abs(expected[name]).max()
        np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=rtol * size, err_msg=name)


# ------------------------------------------------------------------ calls that fail

BAD = {
    "infinite": lambda X: np.where(np.arange(X.size).reshape(X.shape) == 7, np.inf, X),
    "complex": lambda X: X + 1j,
    "words": lambda X: np.full(X.shape, "a", dtype=object),
    "one row": lambda X: X[0],
    "empty": lambda X: X[:0],
}


@pytest.mark.parametrize("case", EVERY)
@pytest.mark.parametrize("kind", [*BAD, "all missing"])
def test_a_failed_fit_changes_nothing(case, kind):
    X = rows()
    bad = np.full_like(X, np.nan) if kind == "all missing" else BAD[kind](X)
    for model in (clone(case.estimator), clone(case.estimator).fit(X)):
        before = fingerprint(model)
        with pytest.raises((ValueError, TypeError)):
            model.fit(bad)
        assert fingerprint(model) == before


@pytest.mark.parametrize("case", STREAMS)
@pytest.mark.parametrize("kind", [*BAD, "narrow"])
@pytest.mark.parametrize("seen", [3, 40])
def test_a_failed_partial_fit_changes_nothing(case, kind, seen):
    X = rows()
    model = clone(case.estimator).partial_fit(X[:seen])
    before = fingerprint(model)
    with pytest.raises((ValueError, TypeError)):
        model.partial_fit(X[:, 1:] if kind == "narrow" else BAD[kind](X))
    assert fingerprint(model) == before


@pytest.mark.parametrize("case", EVERY)
def test_questions_change_nothing_and_bad_ones_are_refused(case):
    X = rows()
    model = clone(case.estimator).fit(X)
    before = fingerprint(model)
    answers(model, X)
    for spoil in (*BAD.values(), lambda X: X[:, 1:]):
        with pytest.raises((ValueError, TypeError)):
            model.transform(spoil(X))
    assert fingerprint(model) == before


@pytest.mark.parametrize("case", EVERY)
def test_before_fitting_every_question_says_so(case):
    model = clone(case.estimator)
    for method in ("transform", "impute", "predict_interval", "sample_imputations", "score_samples", "denoise"):
        if hasattr(model, method):
            with pytest.raises((ValueError, AttributeError), match=r"not fitted yet|not been fitted"):
                getattr(model, method)(rows())


# ------------------------------------------------------------------ rows in, however divided


@pytest.mark.parametrize("case", STREAMS)
@pytest.mark.parametrize(
    "cuts", [range(1, 60), [1, 2, 5, 11, 30], [59], [25]], ids=["singly", "growing", "last", "two"]
)
def test_any_split_of_a_stream_gives_the_same(case, cuts):
    X = rows()
    whole = answers(clone(case.estimator).partial_fit(X), X)
    model = clone(case.estimator)
    for part in np.split(X, list(cuts)):
        model.partial_fit(part)
    if case.exact:
        assert_same(answers(model, X), whole)
    else:
        assert_close(answers(model, X), whole, rtol=1e-9)


@pytest.mark.parametrize("case", [pytest.param(case, id=named(case)) for case in CASES if not case.ordered])
def test_rows_are_answered_one_by_one_as_all_together(case):
    X = rows()
    model = clone(case.estimator).fit(X)
    whole = filled(model, X)
    singly = np.concatenate([filled(model, X[k : k + 1]) for k in range(len(X))])
    np.testing.assert_allclose(singly, whole, rtol=1e-9)
    np.testing.assert_allclose(filled(model, X[::-1]), whole[::-1], rtol=1e-9)


# ------------------------------------------------------------------ parameters


@pytest.mark.parametrize("case", EVERY)
@pytest.mark.parametrize("how", ["fit", "partial_fit"])
def test_answers_survive_every_change_of_parameters(case, how):
    """Nonsense is set in every place: an answer that looked at a parameter could not be given."""
    if not hasattr(case.estimator, how):
        pytest.skip("takes all rows at once")
    X = rows()
    model = getattr(clone(case.estimator), how)(X)
    before = answers(model, X)
    model.set_params(**dict.fromkeys(model.get_params(deep=False), object()))
    assert_same(answers(model, X), before)


@pytest.mark.parametrize("case", STREAMS)
def test_a_stream_does_not_go_on_with_other_parameters(case):
    X = rows()
    model = clone(case.estimator).partial_fit(X[:30])
    before = fingerprint(model)
    began_with = model.n_components
    model.set_params(n_components=5)
    with pytest.raises(ValueError, match="set it back, or call fit to start again"):
        model.partial_fit(X[30:])
    model.set_params(n_components=began_with, verbose=0)
    assert fingerprint(model) == before
    assert_same(answers(model.partial_fit(X[30:]), X), answers(clone(model).partial_fit(X[:30]).partial_fit(X[30:]), X))
    model.set_params(n_components=5).fit(X)


@pytest.mark.parametrize("case", EVERY)
def test_fitting_again_forgets_what_was_before(case):
    X = rows()
    model = clone(case.estimator).fit(rows(seed=1)).fit(X)
    assert_same(answers(model, X), answers(clone(case.estimator).fit(X), X))


@pytest.mark.parametrize("case", EVERY)
def test_the_same_seed_gives_the_same_bits(case):
    X = rows()
    assert fingerprint(clone(case.estimator).fit(X)) == fingerprint(clone(case.estimator).fit(X))


@pytest.mark.parametrize("case", EVERY)
def test_all_that_was_learned_is_in_the_state(case):
    """Beside parameters and what scikit-learn keeps there is one attribute."""
    model = clone(case.estimator).fit(rows())
    kept = set(vars(model)) - set(model.get_params(deep=False))
    assert kept == {"state_", "n_features_in_"}
    assert_plain(model.state_)


def assert_plain(value):
    """Records, tuples, dictionaries, arrays, numbers and text all the way down."""
    if any(value is step for step in COEFFICIENT_STEPS.values()):
        return  # known by its name
    if isinstance(value, tuple | list):
        for part in value:
            assert_plain(part)
    elif isinstance(value, dict):
        assert_plain(list(value.items()))
    elif isinstance(value, np.ndarray):
        assert value.dtype != object
    else:
        plain = (type(None), bool, int, float, str, np.generic, np.dtype)
        assert isinstance(value, plain) or sparse.issparse(value), type(value)


# ------------------------------------------------------------------ copies and files


def saved(model, folder):
    model.save(folder / "model")
    return load(folder / "model")


def through_joblib(model, folder):
    joblib.dump(model, folder / "model")
    return joblib.load(folder / "model")


COPIES = {
    "save": saved,
    "joblib": through_joblib,
    "pickle": lambda model, _: pickle.loads(pickle.dumps(model)),
    "deepcopy": lambda model, _: copy.deepcopy(model),
}


@pytest.mark.parametrize("case", EVERY)
@pytest.mark.parametrize("how", COPIES)
def test_a_copy_answers_as_the_original(case, how, tmp_path):
    X = rows()
    for model in (clone(case.estimator).fit(X), clone(case.estimator).fit(X.astype(np.float32))):
        again = COPIES[how](model, tmp_path)
        assert type(again) is type(model)
        assert fingerprint(again) == fingerprint(model)
        assert_same(answers(again, X), answers(model, X))
    unfitted = COPIES[how](clone(case.estimator), tmp_path)
    assert repr(unfitted) == repr(case.estimator)
    assert "state_" not in vars(unfitted)


@pytest.mark.parametrize("case", STREAMS)
@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("seen", [1, 7, 40])
def test_a_copy_goes_on_bit_for_bit(case, how, seen, tmp_path):
    X = rows()
    model = clone(case.estimator).partial_fit(X[:seen])
    again = COPIES[how](model, tmp_path)
    for part in np.split(X[seen:], [1, 4]):
        assert_same(answers(again.partial_fit(part), X), answers(model.partial_fit(part), X))
    assert fingerprint(again) == fingerprint(model)


@pytest.mark.parametrize("case", STREAMS)
def test_a_copy_and_its_original_do_not_share_anything(case):
    X = rows()
    model = clone(case.estimator).partial_fit(X[:40])
    again, before = copy.deepcopy(model), answers(model, X)
    again.partial_fit(X)
    assert_same(answers(model, X), before)


# ------------------------------------------------------------------ the caller's arrays


@pytest.mark.parametrize("case", EVERY)
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_are_neither_changed_nor_kept(case, order):
    X = rows()
    given = np.array(X, order=order)
    model = clone(case.estimator).fit(given)
    expected = answers(model, X)
    np.testing.assert_array_equal(given, X)
    given[:] = 1e3
    assert_same(answers(model, X), expected)
    for value in answers(model, X).values():
        assert not np.shares_memory(value, X)


@pytest.mark.parametrize("case", STREAMS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_of_a_stream_are_neither_changed_nor_kept(case, order):
    X = rows()
    model, twin = clone(case.estimator), clone(case.estimator)
    for part in np.split(X, [1, 3, 12, 40]):
        given = np.array(part, order=order)
        model.partial_fit(given)
        np.testing.assert_array_equal(given, part)
        given[:] = 1e3
        twin.partial_fit(np.array(part, order=order))
        assert fingerprint(model) == fingerprint(twin)


LAYOUTS = {
    "list": lambda X: X.tolist(),
    "by columns": np.asfortranarray,
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": lambda X: X[::-1].copy()[::-1],
    "read-only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "masked": lambda X: np.ma.masked_invalid(X),
}


@pytest.mark.parametrize("case", EVERY)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layout_of_the_rows_does_not_matter(case, layout):
    X = rows()
    model = clone(case.estimator).fit(X)
    other = clone(case.estimator).fit(LAYOUTS[layout](X))
    np.testing.assert_allclose(filled(other, LAYOUTS[layout](X)), filled(model, X), rtol=1e-7)


@pytest.mark.parametrize("case", EVERY)
def test_answers_come_in_the_type_of_the_rows(case):
    X = rows()
    for dtype in (np.float32, np.float64):
        model = clone(case.estimator).fit(X.astype(dtype))
        assert model.transform(X.astype(dtype)).dtype == dtype
        assert filled(model, X.astype(dtype)).dtype == dtype
    whole = np.rint(np.nan_to_num(X, nan=7.0)).astype(int)
    np.testing.assert_array_equal(filled(clone(case.estimator).fit(whole), whole), whole)


@pytest.mark.parametrize("case", EVERY)
def test_what_was_learned_cannot_be_written_through(case):
    X = rows()
    model = clone(case.estimator).fit(X)
    before = answers(model, X)
    for name in ("components_", "mean_", "covariance_", "noise_variance_", "statistics_", "scale_", "dynamics_"):
        value = getattr(model, name, None)
        if isinstance(value, np.ndarray) and value.flags.writeable:
            value[...] = 7.0
    history = getattr(model, "history_", [])
    history.clear()
    assert_same(answers(model, X), before)
    for name, value in answers(model, X).items():
        value[...] = 7.0
        assert_same(answers(model, X), before)
        assert name


# ------------------------------------------------------------------ intervals


@pytest.mark.parametrize("case", INTERVALS)
def test_an_interval_is_that_of_a_missing_entry(case):
    X = rows()
    model = clone(case.estimator).fit(X)
    gaps, fill = np.isnan(X), filled(model, X)[:, : X.shape[1]]  # without indicators
    inner = model.predict_interval(X, level=0.5)
    outer = model.predict_interval(X, level=0.9)
    for lower, upper in (inner, outer):
        np.testing.assert_array_equal(lower[~gaps], X[~gaps])
        np.testing.assert_array_equal(upper[~gaps], X[~gaps])
        assert (lower < fill)[gaps].all()
        assert (fill < upper)[gaps].all()
    assert (outer[0] < inner[0])[gaps].all()
    assert (inner[1] < outer[1])[gaps].all()
    if hasattr(model, "impute"):
        same, std = model.impute(X, return_std=True)
        np.testing.assert_array_equal(same, fill)
        np.testing.assert_array_equal(std[~gaps], 0.0)
        assert (std[gaps] > 0).all()
    for level in (0.0, 1.0, -1, 95, float("nan")):
        with pytest.raises(ValueError, match="strictly between 0 and 1"):
            model.predict_interval(X, level=level)


@pytest.mark.parametrize(
    "case", [pytest.param(c, id=named(c)) for c in CASES if hasattr(c.estimator, "sample_imputations")]
)
def test_draws_keep_what_was_observed(case):
    X = rows()
    model = clone(case.estimator).fit(X)
    draws = model.sample_imputations(X, n_draws=4, random_state=0)
    gaps = np.isnan(X)
    assert draws.shape == (4, *X.shape)
    np.testing.assert_array_equal(draws[:, ~gaps], np.broadcast_to(X[~gaps], (4, (~gaps).sum())))
    assert (np.ptp(draws[:, gaps], axis=0) > 0).all()
    np.testing.assert_array_equal(model.sample_imputations(X, n_draws=4, random_state=0), draws)
    for wrong in (0, -1, 2.7, True, "2"):
        with pytest.raises(ValueError, match="n_draws must be a whole number of at least 1"):
            model.sample_imputations(X, n_draws=wrong)


# ------------------------------------------------------------------ names and tables


@pytest.mark.parametrize("case", EVERY)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_and_names(case, library, tmp_path):
    frames = pytest.importorskip(library)
    X = rows()
    names = [f"sensor {k}" for k in range(X.shape[1])]
    table = frames.DataFrame(X, **{"columns" if library == "pandas" else "schema": names})
    model = clone(case.estimator).set_output(transform=library).fit(table)
    assert list(model.feature_names_in_) == names
    out = model.transform(table)
    assert isinstance(out, frames.DataFrame)
    assert list(out.columns) == list(model.get_feature_names_out())
    plain = clone(case.estimator).fit(X)
    np.testing.assert_allclose(out.to_numpy(), plain.transform(X), rtol=1e-9)
    again = saved(model, tmp_path)
    assert list(again.feature_names_in_) == names
    assert list(again.transform(table).columns) == list(out.columns)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(
            table.rename(columns={names[0]: "other"}) if library == "pandas" else table.rename({names[0]: "other"})
        )
