"""Arrays of another library where no rows are expected, or of a kind that a device does not have."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

from contracts.estimators import rows
from factorstream import BayesianFactorization, DictionaryFilter, load, missingness, moved, plot, principal_axes
from factorstream.arrays import dtype_of, is_here, to_host
from factorstream.estimators._variational import check_rows, fit_options
from factorstream.metrics import coverage, interval_coverage, rmse, snr
from strict_place import DEVICE, STRICT

pytestmark = [pytest.mark.here(reason="rows say themselves where they are"), pytest.mark.uncompiled]


def there(values):
    return STRICT.put(np.asarray(values), 0)


# ------------------------------------------------------------------ between host and device


@pytest.mark.parametrize("like", ["cuda", DEVICE, [1.0, 2.0], 0, DictionaryFilter()], ids=lambda k: type(k).__name__)
def test_only_an_array_says_where_a_model_goes(like):
    model = DictionaryFilter(2, random_state=0).fit(rows())
    with pytest.raises(TypeError, match=r"^like must be an array .* or None for the host; got .*\.$"):
        moved(model, like)


@pytest.mark.parametrize("model", [None, rows(), DictionaryFilter, PCA(2), "model"], ids=lambda one: type(one).__name__)
def test_only_models_of_the_library_are_moved(model):
    for like in (None, there(rows())):
        with pytest.raises(TypeError, match=r"^model must be a fitted estimator of factorstream, .*; got .*\.$"):
            moved(model, like)


def test_of_a_pipeline_the_steps_are_moved():
    pipeline = make_pipeline(DictionaryFilter(2, random_state=0)).fit(rows())
    with pytest.raises(TypeError, match=r"^A pipeline cannot be moved as a whole; move the steps"):
        moved(pipeline, there(rows()))


PARAMETERS = {
    "init": np.linspace(-1.0, 1.0, 2 * rows().shape[1]).reshape(2, -1),
    "prior_covariance": np.array([2.0, 1.0]),
    "drift": np.array(1e-3),
}


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("device", [True, False])
def test_parameters_on_a_device_come_to_the_host_with_the_model(name, device, tmp_path):
    X = rows()
    model = DictionaryFilter(2, random_state=0, **{name: there(PARAMETERS[name])}).fit(there(X) if device else X)
    plain = DictionaryFilter(2, random_state=0, **{name: PARAMETERS[name]}).fit(X)
    model.save(tmp_path / "model")
    assert not is_here(getattr(model, name))  # the model itself stays as it is
    for found in (load(tmp_path / "model"), moved(model)):
        assert isinstance(getattr(found, name), np.ndarray)
        np.testing.assert_array_equal(getattr(found, name), PARAMETERS[name])
        np.testing.assert_allclose(found.impute(X), plain.impute(X), rtol=1e-8)
        found.partial_fit(X)
    np.testing.assert_allclose(to_host(moved(model, there(X)).impute(there(X))), plain.impute(X), rtol=1e-8)


# ------------------------------------------------------------------ types of numbers


@pytest.mark.parametrize(("fitted", "asked"), [(np.float64, np.float32), (np.float32, np.float64)])
def test_coefficients_of_another_type_than_the_model(fitted, asked):
    """Both become the wider type before they are multiplied, which not every library does itself."""
    X = rows().astype(fitted)
    here, model = (DictionaryFilter(2, random_state=0).fit(one) for one in (X, there(X)))
    x = here.transform(X).astype(asked)
    found, expected = model.inverse_transform(there(x)), here.inverse_transform(x)
    assert dtype_of(found) == expected.dtype == np.float64
    np.testing.assert_allclose(to_host(found), expected, rtol=1e-6 if fitted == np.float64 else 1e-3, atol=1e-6)


def test_a_column_may_be_named_as_an_attribute_of_tensors():
    """Sparse tensors are told by their layout: a table may have a column of that name, and the word among its rows."""
    pd = pytest.importorskip("pandas")
    X = rows()
    names = ["layout", "device", *map(str, range(X.shape[1] - 2))]
    table = pd.DataFrame(X, columns=names, index=[f"sparse {k}" for k in range(len(X))])
    expected = DictionaryFilter(2, random_state=0).fit(X).impute(X)
    np.testing.assert_array_equal(DictionaryFilter(2, random_state=0).fit(table).impute(table), expected)


@pytest.mark.parametrize("kind", [BayesianFactorization, DictionaryFilter])
def test_a_stream_may_begin_with_a_row_without_values(kind):
    X = rows()
    X[0] = np.nan
    found, plain = kind(2, random_state=0), kind(2, random_state=0)
    for some in (slice(0, 1), slice(1, None)):
        found.partial_fit(there(X[some]))
        plain.partial_fit(X[some])
    np.testing.assert_allclose(to_host(found.components_), plain.components_, rtol=1e-8, atol=1e-10)


def test_a_device_without_float64_is_one_sentence():
    try:
        device = array_api_strict.Device("no_float64")
    except ValueError:
        pytest.skip("this version of array-api-strict has no such device")
    X = array_api_strict.asarray(rows().astype(np.float32), device=device)
    words = r"^factorstream computes with float64, which arrays of .*no_float64.* cannot have; pass NumPy rows, .*\.$"
    for method in ("fit", "partial_fit"):
        with pytest.raises(TypeError, match=words):
            getattr(DictionaryFilter(2), method)(X)
    model = DictionaryFilter(2, random_state=0).fit(rows())
    for ask in (model.impute, lambda X: moved(model, X)):
        with pytest.raises(TypeError, match=words):
            ask(X)


# ------------------------------------------------------------------ scores, tests, pictures


def test_scores_of_arrays_elsewhere():
    X, removed = rows(missing=0.0), np.isnan(rows())
    found, width = X + np.where(np.arange(X.shape[1]) % 2, 0.5, 2.0), np.full(X.shape, 0.75)
    for score, arrays in (
        (rmse, (X, found)),
        (snr, (X, found)),
        (coverage, (X, found, width)),
        (interval_coverage, (X, found - width, found + width)),
    ):
        assert score(*map(there, arrays), where=there(removed)) == score(*arrays, where=removed)


def test_missingness_of_rows_elsewhere():
    X = rows(200)
    assert str(missingness(there(X))) == str(missingness(X))


def test_units_of_axes_elsewhere():
    X = rows()
    model, unit = DictionaryFilter(2, random_state=0).fit(X), np.linspace(1.0, 2.0, X.shape[1])
    np.testing.assert_array_equal(
        principal_axes(model, unit=there(unit)).components, principal_axes(model, unit=unit).components
    )


def test_colours_and_places_of_pictures_elsewhere():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    X = rows()
    model, colours, places = DictionaryFilter(2, random_state=0).fit(X), np.arange(float(len(X))), np.arange(X.shape[1])
    drawn = plot.coefficients(model, X, color=there(colours)).collections[0]
    np.testing.assert_array_equal(drawn.get_array(), colours)
    panel = plot.components(model, x=there(places + 0.5))[0]
    line = next(one for one in panel.lines if one.get_label() == "component")
    np.testing.assert_array_equal(line.get_xdata(), places + 0.5)
    pyplot.close("all")


# ------------------------------------------------------------------ memory


def test_the_memory_of_the_host_does_not_limit_a_device():
    X, options = np.zeros((1, 100_000), np.float32), fit_options(10_000)  # 80 TB of covariances
    with pytest.raises(MemoryError, match="this machine has"):
        check_rows(X, options)
    check_rows(there(X), options)
