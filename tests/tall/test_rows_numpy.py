"""One row after another, in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.tall.engine import RowBlock
from factorstream.tall.places import place_of
from factorstream.tall.rows_numpy import NumpyRows
from filter_problems import begin, paper_model
from split_place import fetched

NOISE = 0.4
POISON = [1e300, np.inf, -np.inf, 0.0, np.nan]


@pytest.mark.parametrize("poison", POISON)
@pytest.mark.parametrize("n_missing", [1, 5, 12, 18])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("step", ["least_squares", "map", "marginal"])
def test_values_under_the_mask_never_matter(rng, poison, n_missing, dtype, step):
    m, r = 20, 3
    C0, y = rng.standard_normal((m, r)).astype(dtype), rng.standard_normal(m).astype(dtype)
    missing = np.zeros(m, dtype=bool)
    missing[rng.permutation(m)[:n_missing]] = True
    results = []
    for value in (0.123, poison):
        state = begin(C0.copy(), np.eye(r), NOISE, r)
        place = place_of(state.C)
        with np.errstate(over="ignore"):
            Y = np.where(missing, value, y).astype(dtype)[None]
        rows = RowBlock(place.put(Y, 1), 1, place.put(missing[None], 1))
        (C, _, _, small, _), records = NumpyRows(place, paper_model(r, step=step), None).run(state, [rows])
        results.append((fetched(C), small.G, small.S, small.T, small.xbar, np.array(small[4:]), *records[0]))
    assert not np.array_equal(results[0][0], C0)
    np.testing.assert_array_equal(results[0][0][missing], C0[missing])
    for clean, poisoned in zip(*results, strict=True):
        assert np.isfinite(clean).all()
        assert clean.tobytes() == poisoned.tobytes()
