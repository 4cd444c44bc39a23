"""Optional dependencies, imported late."""

from __future__ import annotations

import importlib

__all__ = ["MissingExtraError", "require"]


class MissingExtraError(ImportError):
    """A feature needs packages of an optional extra; the message names the command that installs them."""


def require(*modules: str, extra: str = "report") -> None:
    """Raise a one-sentence `MissingExtraError` unless every module can be imported.

    >>> require("json")
    >>> require("no_such_module")
    Traceback (most recent call last):
    factorstream.extras.MissingExtraError: This needs no_such_module; run `pip install ...`.
    """
    missing = []
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError:
            missing.append(module)
    if missing:
        raise MissingExtraError(f'This needs {" and ".join(missing)}; run `pip install "factorstream[{extra}]"`.')
