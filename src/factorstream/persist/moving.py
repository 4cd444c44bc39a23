"""Estimators between the memory of the host, that of a device and the shards of a cluster.

What lies beside the rows says its type: fields of a state that are ``Tall`` or ``Rows``. Everything else is small, and
is an array of NumPy wherever the model works.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeVar, cast

from ..arrays import is_array, is_here, refuse_without_float64, stays, to_host
from ..core.place import HERE, Placed
from ..tall.array_place import ArrayPlace, place_beside
from ..tall.places import place_of

Estimator = TypeVar("Estimator")
State = TypeVar("State")

BESIDE_THE_ROWS = ("Tall", "Rows")
"""Types, by name, of what is moved."""


def moved(model: Estimator, like: Any = None) -> Estimator:
    """A copy of an estimator that works where an array is: on its device, or without one in the memory of the host.

    It answers and goes on as the model itself does, up to rounding, which every device does in its own way. ``like`` is
    any array of the library and on the device that is wanted; only where it is counts. A model whose features are in
    shards (:func:`factorstream.in_shards`) is brought together.

    Examples
    --------
    >>> import numpy as np
    >>> from factorstream import DictionaryFilter, moved
    >>> X = np.random.default_rng(0).normal(size=(50, 8))
    >>> model = DictionaryFilter(2, random_state=0).fit(X)
    >>> bool((moved(model).impute(X) == model.impute(X)).all())
    True

    With PyTorch, ``moved(model, torch.empty(0, device="cuda"))`` works on the GPU.
    """
    _check_model(model)
    if like is not None and not is_array(like):
        raise TypeError(
            "like must be an array that is where the model is to go, such as torch.empty(0, device='cuda'), or None "
            f"for the host; got {like!r:.50}."
        )
    if stays(like):
        refuse_without_float64(like)
    there = place_beside(like) if stays(like) else None
    if there is not None and not getattr(model, "_takes_devices", False):
        raise TypeError(f"{type(model).__name__} computes in the memory of the host only; use it with NumPy rows.")
    state = vars(model).get("state_")
    copy = copy_without_state(model)
    if state is not None:
        vars(copy)["state_"] = _moved(state, _to_host if there is None else lambda part: there.put(_to_host(part), 0))
    return copy


def state_beside(state: State, like: Any) -> State:
    """A part of a state, in the memory of the host, brought where an array is."""
    there = place_beside(like)
    return state if there is None else cast(State, _moved(state, lambda part: there.put(part, 0)))


def copy_without_state(model: Estimator) -> Estimator:
    """A copy that has learned nothing, with its parameters in the memory of the host."""
    copy = type(model).__new__(type(model))
    vars(copy).update(deepcopy({name: to_host(value) for name, value in vars(model).items() if name != "state_"}))
    return copy


def _check_model(model: Any) -> None:
    """Refuse, in one sentence, what is no estimator of this library."""
    if hasattr(type(model), "_state_types"):  # every estimator of the library has them, for its files
        return
    if hasattr(model, "steps") and not isinstance(model, type):
        raise TypeError("A pipeline cannot be moved as a whole; move the steps of it that are models of factorstream.")
    what = f"the class {model.__name__}" if isinstance(model, type) else f"an object of type {type(model).__name__}"
    raise TypeError(f"model must be a fitted estimator of factorstream, which alone can be moved; got {what}.")


def here(model: Estimator) -> Estimator:
    """The model itself if it works in the memory of the host and has its parameters there; else a copy that does."""
    home = getattr(getattr(model, "state_", None), "home", HERE)
    away = isinstance(home, ArrayPlace) or home.far
    return moved(model) if away or not all(map(is_here, vars(model).values())) else model


def together(model: Estimator) -> Estimator:
    """The model itself, or a copy with its features in one array where they are in shards: no file has these."""
    home = getattr(getattr(model, "state_", None), "home", HERE)
    return moved(model) if home.far else model


def _to_host(value: Any) -> Any:
    """An array of this process, from a device or from shards."""
    return place_of(value).get(value, 0) if isinstance(value, Placed) else to_host(value)


def _moved(value: Any, bring: Callable[[Any], Any], beside_rows: bool = False) -> Any:
    """A state, or a part of one, with what lies beside the rows brought elsewhere."""
    if hasattr(value, "_fields"):
        types = type(value).__annotations__
        marked = {name: any(one in str(types[name]) for one in BESIDE_THE_ROWS) for name in value._fields}
        parts = [_moved(part, bring, marked[name]) for name, part in zip(value._fields, value, strict=True)]
        same = all(part is before for part, before in zip(parts, value, strict=True))
        return value if same else type(value)(*parts)
    return bring(value) if isinstance(value, Placed) or (beside_rows and hasattr(value, "shape")) else value
