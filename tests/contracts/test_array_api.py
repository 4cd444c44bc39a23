"""Arrays of other libraries: the same kind on the same device comes out, with the numbers that NumPy arrays give.

The other library is array-api-strict, on a device that is not the host: what is not brought there, and what is no
function of the array API, is an error.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from contracts.asking import named
from contracts.estimators import CASES, rows
from factorstream.arrays import device_of, dtype_of, to_host
from strict_place import DEVICE, STRICT

pytestmark = [pytest.mark.here(reason="rows say themselves where they are"), pytest.mark.uncompiled]

THERE = [pytest.param(case, id=named(case)) for case in CASES if getattr(case.estimator, "_takes_devices", False)]
STREAMS = [case for case in THERE if hasattr(case.values[0].estimator, "partial_fit")]
DTYPES = [np.float64, np.float32]
METHODS = {
    "transform": {},
    "impute": {"return_std": True},
    "predict_interval": {"level": 0.5},
    "sample_imputations": {"n_draws": 2, "random_state": 0},
    "score_samples": {},
}


def there(X):
    return STRICT.put(X, 1)


def answers(model, X):
    """Every answer about the rows, by the method's name; pairs are two answers."""
    out = {}
    for name, options in METHODS.items():
        if hasattr(model, name):
            if name == "impute" and not hasattr(model, "predict_interval"):
                options = {}
            found = getattr(model, name)(X, **options)
            for k, part in enumerate(found if isinstance(found, tuple) else (found,)):
                out[name, k] = part
    if hasattr(model, "inverse_transform"):
        out["inverse_transform", 0] = model.inverse_transform(out["transform", 0])
    return out


def assert_alike(found, expected, dtype):
    """There, of the same types, and equal up to rounding of the type that was computed in."""
    rtol = 1e-8 if dtype == np.float64 else 2e-3
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert device_of(found[name]) == DEVICE, name
        assert dtype_of(found[name]) == value.dtype, name
        size = np.abs(value[np.isfinite(value)]).max(initial=1.0)
        np.testing.assert_allclose(to_host(found[name]), value, rtol=rtol, atol=rtol * size, err_msg=str(name))


@pytest.mark.parametrize("case", THERE)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_same_kind_on_the_same_device_comes_out(case, dtype, missing):
    X = rows(missing=missing).astype(dtype)
    here, elsewhere = clone(case.estimator).fit(X), clone(case.estimator).fit(there(X))
    asked = rows(20, seed=3).astype(dtype)
    assert_alike(answers(elsewhere, there(asked)), answers(here, asked), dtype)
