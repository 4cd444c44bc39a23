from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.dates import num2date
from scipy import sparse

from factorstream import plot
from factorstream.plot._canvas import BLUE, PALE, VERMILLION
from factorstream.plot._gaps import LEAST_COLOUR, MOST_CELLS
from plot_artists import labels


def colours(ax):
    """The colours of the map, columns downwards."""
    return np.asarray(ax.collections[0].get_array())


def painted(words):
    return np.array([[to_rgb({"o": PALE, "m": VERMILLION, "f": BLUE}[letter]) for letter in row] for row in words])


def test_every_entry_has_the_colour_of_what_it_is():
    X = np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, 3.0]])
    ax = plot.gaps(X)
    np.testing.assert_allclose(colours(ax), painted(["oom", "mmo"]))  # columns downwards, rows to the right
    assert labels(ax) == ["observed 50.0%", "missing 50.0%"]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["0", "1"]
    assert ax.get_ylim() == (1.5, -0.5)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("row", "column")


def test_what_was_filled_is_told_from_what_is_missing():
    X = np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, 3.0]])
    filled = np.array([[9.0, 5.0], [2.0, np.nan], [1.0, 3.0]])
    ax = plot.gaps(X, filled)
    np.testing.assert_allclose(colours(ax), painted(["oof", "fmo"]))
    assert labels(ax) == ["observed 50.0%", "missing 16.7%", "filled 33.3%"]
    with pytest.raises(ValueError, match=r"X has the shape \(3, 2\), and filled \(2, 2\); pass tables of one shape"):
        plot.gaps(X, filled[:2])


def test_tables_name_columns_and_times(frame, model, gappy):
    ax = plot.gaps(frame, model.impute(gappy))
    assert [text.get_text() for text in ax.get_yticklabels()] == list(frame.columns)
    left, right = (num2date(edge).replace(tzinfo=None) for edge in ax.get_xlim())
    assert abs((left - frame.index[0]).total_seconds() + 1800) < 1  # cells reach half an hour to either side
    assert abs((right - frame.index[-1]).total_seconds() - 1800) < 1
    np.testing.assert_allclose(colours(ax)[1, 20], to_rgb(BLUE))


def test_unequal_steps_of_time_are_drawn_as_they_are(frame):
    ax = plot.gaps(frame.iloc[[0, 1, 5]])
    edges = 24 * (ax.collections[0].get_coordinates()[0, :, 0] - ax.get_xlim()[0])
    np.testing.assert_allclose(np.diff(edges), [1.0, 2.5, 4.0], atol=1e-6)


def test_one_gap_in_a_large_table_is_seen():
    n, m = 20 * MOST_CELLS[0], 3 * MOST_CELLS[1]
    X = np.zeros((n, m), dtype=np.float32)
    X[2345, 678] = np.nan
    ax = plot.gaps(X)
    found = colours(ax)
    assert found.shape == (MOST_CELLS[1], MOST_CELLS[0], 3)
    other = np.argwhere(np.abs(found - to_rgb(PALE)).max(axis=2) > 1e-9)
    assert other.tolist() == [[678 // 3, 2345 // 20]]
    expected = np.add(to_rgb(PALE), LEAST_COLOUR * np.subtract(to_rgb(VERMILLION), to_rgb(PALE)))
    np.testing.assert_allclose(found[678 // 3, 2345 // 20], expected)
    assert labels(ax) == ["observed 100.0%", "missing < 0.1%"]


def test_a_block_has_the_mixed_colour_of_its_entries():
    X = np.zeros((4 * MOST_CELLS[0], 1))
    X[:3] = np.nan  # three of the four rows of the first block
    found = colours(plot.gaps(X))[0, 0]
    np.testing.assert_allclose(found, 0.25 * np.array(to_rgb(PALE)) + 0.75 * np.array(to_rgb(VERMILLION)))


def test_sparse_rows_and_masked_arrays_have_gaps_too():
    dense = np.array([[1.0, np.nan], [np.nan, 2.0]])
    stored = sparse.csr_array(([1.0, 2.0], ([0, 1], [0, 1])), shape=(2, 2))
    expected = colours(plot.gaps(dense))
    np.testing.assert_array_equal(colours(plot.gaps(stored)), expected)
    np.testing.assert_array_equal(colours(plot.gaps(np.ma.masked_invalid(dense))), expected)


def test_one_row_and_no_gap_are_tables_too():
    ax = plot.gaps(np.ones((1, 3)))
    np.testing.assert_allclose(colours(ax), painted(["o", "o", "o"]))
    assert labels(ax) == ["observed 100.0%"]
