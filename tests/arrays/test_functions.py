"""Arrays of other libraries, with array-api-strict as one of them."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
from scipy import sparse

from factorstream.arrays import (
    add_outer,
    add_product,
    as_type,
    at_least,
    beside,
    column_products,
    combined,
    copied,
    count_by_number,
    counted,
    device_of,
    divided_less,
    dtype_of,
    empty_beside,
    factored,
    full_like,
    is_here,
    is_torch_on_host,
    namespace,
    picked,
    positions,
    raising_as_numpy,
    read_only,
    set_entries,
    set_rows,
    stays,
    taken,
    to_host,
    total,
    widened,
    within,
    words_for,
    zeros_beside,
)
from strict_place import DEVICE

VALUES = np.arange(6.0).reshape(2, 3)


def there(values=VALUES):
    return array_api_strict.asarray(values, device=DEVICE)


@pytest.mark.parametrize("values", [VALUES, sparse.csr_array(VALUES), 1.5, None, [1.0], np.float64(2.0)])
def test_what_is_no_array_of_another_library_is_here(values):
    assert is_here(values)
    assert to_host(values) is values
    assert device_of(values) is None


def test_an_array_of_another_library_is_elsewhere():
    assert not is_here(there())
    assert device_of(there()) == DEVICE
    assert namespace(there()) is array_api_strict


def test_numbers_go_there_and_back():
    moved = beside(VALUES, there())
    assert device_of(moved) == DEVICE
    np.testing.assert_array_equal(to_host(moved), VALUES)
    assert beside(VALUES, VALUES) is VALUES


def test_numpy_has_the_names_of_the_standard():
    assert namespace(VALUES).permute_dims(VALUES, (1, 0)).shape == (3, 2)


def test_errors_of_linear_algebra_are_those_of_numpy():
    class _LinAlgError(RuntimeError):
        """As PyTorch names it."""

    with pytest.raises(np.linalg.LinAlgError, match="singular"), raising_as_numpy():
        raise _LinAlgError("singular")
    with pytest.raises(RuntimeError, match="other"), raising_as_numpy():
        raise RuntimeError("other")


@pytest.mark.parametrize("put", [lambda values: values, there], ids=["numpy", "strict"])
def test_what_the_standard_has_no_name_for(put):
    values = put(VALUES)
    found = {
        "zeros": (zeros_beside(values, 2, 3), np.zeros((2, 3))),
        "empty": (0.0 * full_like(empty_beside(values, 2), 1.0), np.zeros(2)),
        "full": (full_like(values, 2.5), np.full((2, 3), 2.5)),
        "total": (total(values), np.float64(15.0)),
        "number": (at_least(values, 2.0), np.maximum(VALUES, 2.0)),
        "array": (at_least(values, put(VALUES[:1])), np.maximum(VALUES, VALUES[:1])),
        "columns": (column_products(values, values), (VALUES**2).sum(axis=0)),
        "picked": (picked(values, put(np.array([2, 0])), 1), VALUES[:, [2, 0]]),
        "copied": (copied(values), VALUES),
        "factored": (factored(put(np.eye(3)[None] * 4.0)), 2.0 * np.eye(3)[None]),
    }
    for name, (one, two) in found.items():
        assert device_of(one) == device_of(values), name
        np.testing.assert_array_equal(to_host(one), two, err_msg=name)
    copied(values)[0, 0] = 7.0
    np.testing.assert_array_equal(to_host(values), VALUES)


def test_types_of_numbers_have_the_names_of_numpy():
    single = there(VALUES.astype(np.float32))
    assert dtype_of(single) == dtype_of(to_host(single)) == np.float32
    assert dtype_of(there(VALUES > 2.0)).name == "bool"
    assert dtype_of(as_type(there(), np.dtype(np.float32))) == dtype_of(as_type(VALUES, np.float32)) == np.float32


@pytest.mark.parametrize("put", [there, np.asarray])
def test_numbers_are_counted(put):
    """By the library's own function, and by the standard's where it has none."""
    numbers, weights = np.array([3, 0, 3, 1, 3]), np.array([0.5, 1.0, 2.0, 4.0, 8.0])
    assert to_host(count_by_number(put(numbers), 5)).tolist() == [1.0, 1.0, 0.0, 3.0, 0.0]
    assert to_host(count_by_number(put(numbers), 5, put(weights))).tolist() == [1.0, 4.0, 0.0, 10.5, 0.0]
    assert to_host(count_by_number(put(numbers[:0]), 2)).tolist() == [0.0, 0.0]


def test_what_the_standard_lacks():
    idx, mask = np.array([1]), np.array([False, True])
    np.testing.assert_array_equal(to_host(picked(there(), there(idx), axis=1)), VALUES[:, [1]])
    g, unit = np.array([1.0, 2.0, 4.0]), np.array([2.0, 4.0, 8.0])
    np.testing.assert_array_equal(
        to_host(add_outer(there(VALUES.copy()), there(g[:2]), there(g))), VALUES + np.outer(g[:2], g)
    )
    square = VALUES @ VALUES.T
    summed = add_product(there(square.copy()), there(), there(VALUES.T))
    np.testing.assert_array_equal(to_host(summed), 2.0 * square)
    np.testing.assert_array_equal(to_host(divided_less(there(), there(unit), there(g))), VALUES / unit - g)
    changed = set_rows(there(VALUES.copy()), there(mask), there(idx), there(g[None]))
    np.testing.assert_array_equal(to_host(changed), [VALUES[0], g])


@pytest.mark.parametrize("put", [lambda values: values, there], ids=["numpy", "strict"])
def test_entries_by_number_and_by_mask(put):
    values = put(VALUES)
    np.testing.assert_array_equal(to_host(taken(values, np.array([1, 0, 1]))), VALUES[[1, 0, 1]])
    np.testing.assert_array_equal(to_host(taken(values, np.array([2]), axis=1)), VALUES[:, [2]])
    mask = put(np.array([False, True, False, True]))
    assert positions(mask).tolist() == [1, 3]
    assert counted(mask) == 2
    assert to_host(counted(values > 1.0, axis=0)).tolist() == [1, 1, 2]
    changed = copied(values)
    set_entries(changed, np.array([0, 1]), np.array([2, 0]), np.nan)
    np.testing.assert_array_equal(to_host(changed), [[0.0, 1.0, np.nan], [np.nan, 4.0, 5.0]])
    assert as_type(values, np.float64) is values
    told = read_only(values)
    if is_here(told):
        assert not told.flags.writeable
    else:
        told[0, 0] = 7.0
    np.testing.assert_array_equal(to_host(values), VALUES)


def test_which_arrays_stay_where_they_are():
    assert stays(there())
    assert not any(map(stays, (VALUES, sparse.csr_array(VALUES), None, [1.0])))
    assert not is_torch_on_host(there())
    assert words_for(VALUES) == "NumPy arrays"
    assert words_for(there()) == f"arrays of array_api_strict on {DEVICE}"


def test_numbers_that_are_wide_enough_stay_as_they_are():
    for values in (VALUES.astype(np.float16), there(), there(VALUES.astype(np.float32))):
        assert widened(values) is values


def test_numbers_are_pythons_beside_an_array_elsewhere():
    for number in (2.5, np.float64(2.5), np.array(2.5)):
        assert type(beside(number, there())) is float
    assert to_host(within(there(), 3.0)).max() == within(VALUES, 3.0).max() == 3.0


@pytest.mark.parametrize("q", [3, 32, 33, 65])
def test_tensors_are_combined_column_by_column_alike(rng, q):
    """Also where the last column is multiplied by itself, and where rows have room for more columns than they have."""
    torch = pytest.importorskip("torch")
    C, A, Y, D = (rng.standard_normal(shape) for shape in ((20, q), (q, q), (4, 20), (4, q)))
    found = torch.as_tensor(C)
    for _ in range(2):  # the second time C is what came out the first time
        found, C = combined(found, torch.as_tensor(A), torch.as_tensor(Y), torch.as_tensor(D)), C @ A + Y.T @ D
        np.testing.assert_allclose(found.numpy(), C, rtol=1e-10, atol=1e-10)
