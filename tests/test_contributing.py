"""The skeletons in CONTRIBUTING.md are true: they run."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from conftest import low_rank
from factorstream.core.filter import coefficients
from factorstream.core.filter.coefficients import Belief, Sample
from factorstream.tall.filtering import filter_rows
from factorstream.tall.projecting import predict
from factorstream.tall.starting import measure, start
from filter_problems import paper_model

CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"


def skeleton(heading):
    """The names that the code below a heading defines, written where its text says: in a file of the package."""
    section = CONTRIBUTING.read_text(encoding="utf-8").partition(heading)[2].partition("\n## ")[0]
    code = re.search(r"```python\n(.*?)```", section, flags=re.S).group(1)
    names = dict(vars(coefficients))
    exec(compile(code, str(CONTRIBUTING), "exec"), names)
    return names


@pytest.fixture
def step():
    return skeleton("## How to add a coefficient step")["step"]


def test_the_coefficient_step_fits(rng, step):
    """Complete runs, gaps, and rows with too few entries; it restores what was hidden."""
    truth = low_rank(rng, 400, 20, 3, noise=0.2, offset=2.0)
    gone = rng.random(truth.shape) < 0.2
    gone[::4] = False
    gone[1::4, 2:] = True
    X = np.where(gone, np.nan, truth)
    settings = {"noise_variance": None, "V0": None, "C0": "random", "seed": 0, "dtype": X.dtype}
    state = start(measure(X, True), r=3, fit_mean=True, **settings)
    model = paper_model(3, 4)._replace(step=step, learn_noise=True, min_observed=6)
    state, record = filter_rows(state, model, X, 16)
    assert len(record.innovation) == np.count_nonzero(~gone.all(axis=1)) > 390
    filled, _ = predict(state, model, X, 16)
    thin = gone.sum(axis=1) > 10
    assert np.std((filled - truth)[gone & ~thin[:, None]]) < 0.4 * np.std(truth)
    assert np.isfinite(filled).all()


def test_the_coefficient_step_is_what_its_docstring_says(rng, step):
    C, y = rng.standard_normal((12, 3)), rng.standard_normal(12)
    belief = Belief(0.5, np.zeros(3), np.eye(3), np.eye(3), 1.0, 3, 1e-14)
    found = step.find(Sample(C.T @ C, C.T @ y, float(y @ y), 12), belief)
    ridged = C.T @ C + 0.005 * np.eye(3)
    np.testing.assert_allclose(found.x, np.linalg.solve(ridged, C.T @ y), rtol=1e-10)
    np.testing.assert_allclose(found.root() @ found.root().T, 0.5 * np.linalg.inv(ridged), rtol=1e-10)
    assert found.fitted == pytest.approx(np.trace(C @ np.linalg.solve(ridged, C.T)))
    too_few = Sample(C[:2].T @ C[:2], C[:2].T @ y[:2], float(y[:2] @ y[:2]), 2)
    singular = Sample(np.ones((3, 3)), np.ones(3), 1.0, 12)
    assert step.find(too_few, belief).from_prior
    assert step.find(singular, belief._replace(noise=1e-20)).from_prior
