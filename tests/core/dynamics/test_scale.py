"""The units in which a sequence is modelled."""

from __future__ import annotations

import numpy as np

from factorstream.core.dynamics.scale import standards


def test_standards_survive_columns_of_any_size():
    Y = np.array([[1e300, 1.0, 5.0, np.nan], [-1e300, 2.0, 5.0, np.nan], [1e300, 3.0, 5.0, np.nan]])
    shift, scale = standards(Y)
    assert np.isfinite((Y - shift)[:, :3] / scale[:3]).all()
    assert shift[1] == 2.0
    assert shift[2] == 5.0
    assert (scale > 0).all()
    assert np.array_equal(standards(Y[:1, 1:3])[1], [1.0, 5.0])  # one row: the size of the values
