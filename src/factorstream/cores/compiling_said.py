"""Say that code is being compiled, wherever progress is shown: the first call takes seconds before any row is done."""

from __future__ import annotations

from numba.core import event

from ..progress import remarks

WORDS = "compiling, once per installation"
"""What is said meanwhile."""


class _Compiling(event.Listener):
    """Hears when numba begins to compile a function, and when it has; of a function in its cache it says neither."""

    def on_start(self, event: event.Event) -> None:
        if _ours(event):
            remarks.append(WORDS)

    def on_end(self, event: event.Event) -> None:
        if _ours(event):
            remarks.pop()


def _ours(event: event.Event) -> bool:
    """Whether the function is one of this package, and not of somebody who uses numba too."""
    return str(event.data["dispatcher"].py_func.__module__).startswith("factorstream.")


event.register("numba:compile", _Compiling())  # type: ignore[no-untyped-call]
