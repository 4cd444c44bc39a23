"""Arrays of another library where no rows are expected, or of a kind that a device does not have."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

from contracts.estimators import rows
from factorstream import DictionaryFilter, moved
from strict_place import DEVICE, STRICT

pytestmark = [pytest.mark.here(reason="rows say themselves where they are"), pytest.mark.uncompiled]


def there(values):
    return STRICT.put(np.asarray(values), 0)


# ------------------------------------------------------------------ between host and device


@pytest.mark.parametrize("like", ["cuda", DEVICE, [1.0, 2.0], 0, DictionaryFilter()], ids=lambda like: type(like).__name__)
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
