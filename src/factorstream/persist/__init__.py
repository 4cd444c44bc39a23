"""The file of an estimator: its parameters and its state, without pickle.

``tree`` turns them into JSON and a list of arrays, ``content`` these into the bytes of a file. Loading runs no code of
the file: the class must be one of this package, records of the state are made only of the types that the class names,
and a file that was changed in a single bit is refused. docs/files.md describes the format.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..files import write_atomic
from .content import THIS_FILE, ModelFileError, from_bytes, to_bytes
from .tree import Encoded, decode, encode

__all__ = ["ModelFileError", "Saved", "load"]

FORMAT = 1
"""Raised whenever a file of the version before can no longer be read."""


class Saved:
    """Base of every estimator: ``save``, and pickles that go through the same state as files do."""

    _state_types: ClassVar[tuple[type, ...]] = ()
    """Every NamedTuple that may occur in ``state_``."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the estimator, fitted or in the middle of a stream, to a file that :func:`factorstream.load` reads.

        The file is written beside its place and then moved there, so that ``path`` is never half a file. A function
        among the parameters is left out: ``load(path, name=function)`` takes it again.
        """
        if type(self).__name__ not in _public_names():
            raise TypeError(f"{type(self).__name__} is not a class of factorstream; pickle it, or save its base class.")
        found = _described(self)
        for name, value in found.objects.items():
            if not callable(value):
                kind = type(value).__name__
                raise TypeError(f"{name} of type {kind} cannot be saved; use numbers, text or arrays.")
        write_atomic(Path(path), to_bytes(found))

    def __getstate__(self) -> dict[str, Any]:
        return _described(self)._asdict()

    def __setstate__(self, pickled: Mapping[str, Any]) -> None:
        name = type(self).__name__
        if not isinstance(pickled, Mapping) or set(pickled) != set(Encoded._fields):
            raise ModelFileError(
                f"This pickle of {name} comes from a version of factorstream that did not number its pickles; "
                "fit again, and keep models with save and load."
            )
        found = Encoded(**pickled)
        _check_format(found.tree, f"this pickle of {name}")
        vars(self).update(_attributes(found.tree, found, self._state_types))


def load(path: str | os.PathLike[str], **functions: Callable[..., Any]) -> Any:
    """The estimator that was saved in a file; it answers and goes on as the one that was saved, bit for bit.

    A function that was among its parameters is given again by its name, as in ``load(path, step_size=f)``.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np
    >>> from factorstream import DictionaryFilter, load
    >>> X = np.random.default_rng(0).normal(size=(50, 8))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.factorstream"
    >>> model = DictionaryFilter(2, random_state=0).partial_fit(X)
    >>> model.save(path)
    >>> bool((load(path).partial_fit(X).components_ == model.partial_fit(X).components_).all())
    True
    """
    with open(path, "rb") as file:
        content = file.read()
    try:
        found = from_bytes(content)
        tree = found.tree
        _check_format(tree, str(path))
        name = tree["class"]
        if name not in _public_names():
            raise ModelFileError(f"{path} holds a {name}, which this version of factorstream does not have.")
        Estimator = getattr(_package(), name)
        _check_functions(path, tree["functions"], functions)
        estimator = Estimator.__new__(Estimator)
        vars(estimator).update(_attributes(tree, found._replace(objects=dict(functions)), Estimator._state_types))
        if set(Estimator._get_param_names()) != set(tree["parameters"]["items"]):
            raise ModelFileError(f"{path} has other parameters than {name} has in this version of factorstream.")
    except ModelFileError as problem:
        raise ModelFileError(str(problem).replace(THIS_FILE, str(path))) from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as problem:
        raise ModelFileError(f"{path} is damaged or was not written by factorstream; load another copy.") from problem
    return estimator


def _package() -> Any:
    """The package itself, looked up when it is needed: it imports its estimators, and they import this file."""
    return importlib.import_module("factorstream")


def _public_names() -> list[str]:
    return [name for name in _package().__all__ if name != "load"]


def _described(estimator: Any) -> Encoded:
    """Class, parameters, features and state of an estimator."""
    arrays: list[np.ndarray[Any, Any]] = []
    objects: dict[str, Any] = {}
    known = vars(estimator)
    parameters = {name: known[name] for name in type(estimator)._get_param_names()}
    others = {name: value for name, value in known.items() if name not in parameters and name != "state_"}
    tree = {
        "format": FORMAT,
        "version": _package().__version__,
        "class": type(estimator).__name__,
        "parameters": encode(parameters, arrays, objects),
        "attributes": encode(others, arrays, objects),
        "state": encode(known.get("state_"), arrays, objects),
    }
    return Encoded({**tree, "functions": sorted(objects)}, arrays, objects)


def _attributes(tree: Mapping[str, Any], found: Encoded, types: tuple[type, ...]) -> dict[str, Any]:
    """What ``vars`` of the estimator is."""
    records = {one.__name__: one for one in types}
    out: dict[str, Any] = {}
    for part in ("parameters", "attributes"):
        out.update(decode(tree[part], found, records))
    state = decode(tree["state"], found, records)
    return out if state is None else {**out, "state_": state}


def _check_format(tree: Mapping[str, Any], where: str) -> None:
    written = tree["format"]
    if not isinstance(written, int) or written > FORMAT:
        raise ModelFileError(
            f"{where} was written by factorstream {tree['version']}, whose format {written} this version does not "
            "know; upgrade factorstream."
        )


def _check_functions(path: Any, wanted: list[str], given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        if name not in wanted:
            raise ModelFileError(f"{path} needs no function {name}; leave it out, or look for a misspelling.")
        if not callable(value):
            raise ModelFileError(f"{name} must be a function as it was when {path} was saved; got {value!r}.")
    for name in wanted:
        if name not in given:
            raise ModelFileError(f"{path} was saved without its function {name}; pass it: load(path, {name}=...).")
