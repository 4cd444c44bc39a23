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

from ..core.place import HERE
from ..files import write_atomic
from ..tall.places import place_of
from .content import ModelFileError, from_file, to_parts
from .moving import here, moved, together
from .tree import Decoder, Encoded, Encoder

__all__ = ["ModelFileError", "Saved", "here", "load", "moved"]

FORMAT = 7
"""Increase it when files of the previous format can no longer be read."""

ATTRIBUTES = {"n_features_in_", "feature_names_in_", "_sklearn_output_config"}
"""What scikit-learn keeps beside parameters and state; a file has no other attributes."""


class Saved:
    """Base of every estimator: ``save``, and pickles that go through the same state as files do."""

    _state_types: ClassVar[tuple[type, ...]] = ()
    """Every NamedTuple that may occur in ``state_``."""
    _state_dropped: ClassVar[frozenset[str]] = frozenset()
    """Fields of these that files of earlier versions have and nothing needs any more, as "Type.field"."""
    _parameters_added: ClassVar[dict[str, Any]] = {}
    """Parameters that a file of this format may not have yet, with what its model was without them."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the estimator, fitted or in the middle of a stream, to a file that :func:`factorstream.load` reads.

        The file is written beside its place and then moved there, so that ``path`` is never half a file. A function
        among the parameters is left out: ``load(path, name=function)`` takes it again. A model on a device, or
        with its features in shards, is saved as one of the host: :func:`factorstream.moved` brings what ``load``
        returns to a device again.
        """
        if _public_class(type(self).__name__) is not type(self):
            raise TypeError(f"{type(self).__name__} is not a class of factorstream; pickle it, or save its base class.")
        found = _described(here(self))
        for name in found.tree["attributes"]["items"]:
            if name not in ATTRIBUTES:
                raise TypeError(f"The attribute {name} cannot be saved; delete it, or pickle the model.")
        for name, value in found.objects.items():
            _check_left_out(name, value, found)
        write_atomic(Path(path), to_parts(found))

    def __getstate__(self) -> dict[str, Any]:
        return _described(together(self))._asdict()

    def __setstate__(self, pickled: Mapping[str, Any]) -> None:
        name = type(self).__name__
        if not isinstance(pickled, Mapping) or set(pickled) != set(Encoded._fields):
            raise ModelFileError(
                f"This pickle of {name} comes from a version of factorstream that did not number its pickles; "
                "fit again, and keep models with save and load."
            )
        found = Encoded(**pickled)
        where = f"This pickle of {name}"
        _check_format(found.tree, where)
        vars(self).update(_attributes(type(self), found, where))


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
    try:
        found = from_file(path)
        tree = found.tree
        _check_format(tree, str(path))
        name = _plain(tree["class"])
        Estimator = _public_class(name)
        if Estimator is None:
            raise ModelFileError(f"{path} holds a {name}, which this version of factorstream does not have; upgrade.")
        _check_functions(path, tree["functions"], functions)
        if not ATTRIBUTES.issuperset(tree["attributes"]["items"]):
            raise ModelFileError(f"{path} has attributes that no file has; load another copy.")
        estimator = Estimator.__new__(Estimator)
        vars(estimator).update(_attributes(Estimator, found._replace(objects=dict(functions)), str(path)))
    except (ModelFileError, OSError):
        raise
    except ImportError as problem:
        if problem.name != "pandas":
            raise
        raise ModelFileError(f"{path} has pandas.NA among its values; install pandas to load it.") from problem
    except MemoryError as problem:
        raise ModelFileError(f"{path} does not fit into memory; load it on a larger machine.") from problem
    except Exception as problem:  # whatever a made-up file leads to
        raise ModelFileError(f"{path} is damaged or was not written by factorstream; load another copy.") from problem
    return estimator


def _package() -> Any:
    """The package itself, looked up when it is needed: it imports its estimators, and they import this file."""
    return importlib.import_module("factorstream")


def _public_class(name: str) -> Any:
    """The estimator of that name, or None."""
    package = _package()
    found = getattr(package, name) if name in package.__all__ else None
    return found if isinstance(found, type) else None


def _described(estimator: Any) -> Encoded:
    """Class, parameters, features and state of an estimator."""
    encoder = Encoder(estimator._state_types)
    known = vars(estimator)
    parameters = {name: known[name] for name in type(estimator)._get_param_names()}
    others = {name: value for name, value in known.items() if name not in parameters and name != "state_"}
    tree = {
        "format": FORMAT,
        "version": _package().__version__,
        "class": type(estimator).__name__,
        "parameters": encoder.encode(parameters),
        "attributes": encoder.encode(others),
        "state": encoder.encode(known.get("state_"), "state_"),
    }
    return Encoded({**tree, "functions": sorted(encoder.objects)}, encoder.arrays, encoder.objects)


def _check_left_out(name: str, value: Any, found: Encoded) -> None:
    """Refuse an object that ``load`` could not be given again under the name of a parameter."""
    kind = type(value).__name__ + (f" of {value.dtype}" if isinstance(value, np.ndarray) else "")
    if place_of(value) is not HERE:
        raise TypeError(
            f"{name} of type {kind} cannot be saved: features must be in this process to be saved; "
            "fit rows of this process."
        )
    if isinstance(value, np.random.RandomState):
        raise TypeError(f"{name} cannot be saved: it is not of the kind RandomState(seed) makes (MT19937); use that.")
    if not callable(value):
        raise TypeError(f"{name} of type {kind} cannot be saved; use numbers, text or plain arrays of them.")
    if name not in found.tree["parameters"]["items"]:
        raise TypeError(
            f"Another function than those among the parameters ({name}) cannot be saved; if a parameter was changed "
            "after fit, set it back or fit again."
        )


def _attributes(Estimator: Any, found: Encoded, where: str) -> dict[str, Any]:
    """What ``vars`` of the estimator is."""
    tree = found.tree
    names, there = set(Estimator._get_param_names()), set(tree["parameters"]["items"])
    added = Estimator._parameters_added
    if not names - set(added) <= there <= names:
        raise ModelFileError(
            f"{where} has other parameters than {Estimator.__name__} has in this version of factorstream; fit again."
        )
    if tree["state"] is not None and tree["state"]["!"] != "record":
        raise ValueError("A state is a record.")
    records = {one.__name__: one for one in Estimator._state_types}
    decoder = Decoder(found.arrays, found.objects, records, Estimator._state_dropped)
    out = {name: value for name, value in added.items() if name not in there}
    for part in ("attributes", "parameters"):
        if tree[part]["!"] != "dict":
            raise ValueError(f"The {part} are a dictionary.")
        out.update(decoder.decode(tree[part]))
    return out if tree["state"] is None else {**out, "state_": decoder.decode(tree["state"])}


def _plain(text: Any) -> str:
    """A text of a file that may be shown in a message: one line, and short."""
    if type(text) is not str or not text.isprintable() or len(text) > 100:
        raise ValueError("This is no name.")
    return text


def _check_format(tree: Mapping[str, Any], where: str) -> None:
    written, version = tree["format"], _plain(tree["version"])
    if type(written) is int and written == FORMAT:
        return
    if type(written) is int and written > FORMAT:
        remedy = "upgrade factorstream"
    else:
        remedy = f"fit again, or load it with factorstream {version}"
    raise ModelFileError(
        f"{where} was written by factorstream {version}, whose format {written!r:.20} this version does not know; "
        f"{remedy}."
    )


def _check_functions(path: Any, wanted: list[str], given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        if name not in wanted:
            raise ModelFileError(f"{path} needs no function {name}; leave it out, or look for a misspelling.")
        if not callable(value):
            raise ModelFileError(f"{name} must be a function as it was when {path} was saved; got {value!r}.")
    for name in map(_plain, wanted):
        if name not in given:
            raise ModelFileError(f"{path} was saved without its function {name}; pass it: load(path, {name}=...).")
