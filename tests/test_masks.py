import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factorstream.masks import block_mask, fraction_for_initial_snr, random_mask, segment_mask
from factorstream.metrics import snr


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: random_mask((50, 60), 0.3, seed),
        lambda seed: block_mask(9, (10, 12), (3, 4), seed),
        lambda seed: segment_mask((100, 5), 0.3, 7, seed),
    ],
)
def test_seeded(make):
    np.testing.assert_array_equal(make(3), make(3))
    np.testing.assert_array_equal(make(3), make(np.random.default_rng(3)))
    assert (make(3) != make(4)).any()


@pytest.mark.parametrize("fraction", [0.0, 0.1, 0.855, 1.0])
def test_random_fraction(fraction):
    assert random_mask((400, 1000), fraction, 0).mean() == pytest.approx(fraction, abs=0.005)


def test_block_is_one_rectangle_inside_every_image():
    for image in block_mask(200, (9, 7), (4, 3), 0).reshape(200, 9, 7):
        rows, columns = np.nonzero(image.any(axis=1))[0], np.nonzero(image.any(axis=0))[0]
        assert (len(rows), len(columns), image.sum()) == (4, 3, 12)
        assert (np.diff(rows) == 1).all()
        assert (np.diff(columns) == 1).all()


def test_block_reaches_every_place_and_may_fill_the_image():
    assert block_mask(500, (4, 4), (2, 2), 0).any(axis=0).all()
    assert block_mask(2, (4, 4), (4, 4), 0).all()


@given(st.integers(20, 60), st.floats(0, 1), st.integers(1, 20), st.integers(0, 100))
def test_segments_reach_the_fraction_and_overshoot_by_less_than_a_run(n, fraction, length, seed):
    missing = np.random.default_rng(seed).random((n, 3)) < 0.2
    mask = segment_mask((n, 3), fraction, length, seed, missing)
    assert not (mask & missing).any()
    wanted = fraction * (~missing).sum(axis=0)
    assert (mask.sum(axis=0) >= wanted - 1e-9).all()
    assert (mask.sum(axis=0) <= wanted + length).all()


def test_segments_are_runs():
    mask = segment_mask((4000, 1), 0.05, 20, 0)[:, 0]
    edges = np.flatnonzero(np.diff(np.r_[0, mask.astype(int), 0]))
    assert (edges[1::2] - edges[::2] >= 20).all()


def test_initial_snr_is_reached():
    Y = np.random.default_rng(0).uniform(0, 255, (400, 500))
    removed = random_mask(Y.shape, fraction_for_initial_snr(0.68), 1)
    assert snr(Y, np.where(removed, 0, Y)) == pytest.approx(0.68, abs=0.02)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: random_mask((2, 2), 1.5), "between 0 and 1"),
        (lambda: random_mask((2, 2), float("nan")), "between 0 and 1"),
        (lambda: block_mask(1, (8, 8), (9, 2)), "does not fit"),
        (lambda: segment_mask((5, 2), 0.5, 6), "do not fit"),
        (lambda: segment_mask((9, 2), 0.5, 3, missing=np.zeros((2, 9))), "missing has shape"),
        (lambda: fraction_for_initial_snr(-1), "negative"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
