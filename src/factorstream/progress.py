"""How far long work has come: a bar in a terminal or a notebook, lines in a log."""

from __future__ import annotations

import contextvars
import importlib.util
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html import escape
from typing import Any, Protocol

__all__ = ["Step", "progress", "remarks", "say_nothing"]

DELAY = 2.0
"""Seconds before anything is shown. Not tuned: whoever waits for less does not ask how far it is. What the estimators
say of ``verbose`` names the same two seconds."""

LINES_EVERY = 10.0
"""Seconds between two lines of a log. Not tuned: 360 lines an hour can still be read."""

DRAWN_EVERY = 0.2
"""Seconds between two drawings of a bar. Not tuned: fast enough to be seen moving."""

SHORT_BAR, LONG_BAR, BESIDE = 8, 40, 5
"""Characters of a bar, at least (by eye) and at most (rich's own), and of spaces and the like beside it (counted)."""

remarks: list[str] = []
"""What takes long besides the work itself, such as compiling; the last one is said after the work's name."""

_SHOWN = threading.Lock()
"""Held while some work is shown: a terminal has room for one bar, and of work inside other work nobody wants lines."""


class Step(Protocol):
    """Says how far the work has come."""

    def __call__(self, done: float, note: str = "") -> None:
        """``done`` in the units of the total; ``note`` is said instead of the work's name until the next call."""


@contextmanager
def progress(what: str, total: float | None = None, show: bool = True) -> Iterator[Step]:
    """Show how far the work inside the ``with`` block has come, on standard error.

    Nothing in the first two seconds. Then a bar with rate and remaining time: in a notebook, or in a terminal where
    rich is installed. Elsewhere, as in a log, a line every ten seconds, and one at the end. A thread of its own does
    this, so that a step costs next to nothing and long work without steps is not silent. While some work is shown, no
    other is: work inside it never, and that of other threads once it is over.

    Parameters
    ----------
    what : str
        The work's name.
    total : number, optional
        What ``done`` will be at the end; a whole number if something is counted. None: nobody knows.
    show : bool, default=True
        Whether to say anything at all.

    Yields
    ------
    step : callable
        ``step(done, note="")``, see `Step`.

    Examples
    --------
    >>> with progress("adding", total=3) as step:
    ...     for done in range(3):
    ...         step(done + 1)
    """
    if not show:
        yield say_nothing
        return
    work, over = _Work(what, total), threading.Event()
    # The context carries which cell of a notebook the output belongs to.
    run = contextvars.copy_context().run
    watcher = threading.Thread(target=run, args=(_watch, work, over), name="progress", daemon=True)
    watcher.start()
    try:
        yield work.step
        work.finished = True
    finally:
        over.set()
        watcher.join()


def say_nothing(done: float, note: str = "") -> None:
    """The step of work that is not shown."""


class _Work:
    """How far something has come, in numbers and words."""

    def __init__(self, what: str, total: float | None) -> None:
        self.what, self.total = what, total
        self.now: tuple[float, str] = (0.0, "")  # one assignment, so that the other thread never reads half a step
        self.finished = False
        self._began = time.monotonic()

    def step(self, done: float, note: str = "") -> None:
        self.now = (done, note)

    @property
    def name(self) -> str:
        return ", ".join([self.now[1] or self.what, *remarks[-1:]])

    @property
    def share(self) -> float | None:
        """Which share of the work is done, from 0 to 1; None where the total is not known."""
        return None if not self.total else min(max(self.now[0] / self.total, 0.0), 1.0)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def facts(self) -> str:
        """Share, count, rate and remaining time, as far as they are known.

        >>> work = _Work("rows", 200)
        >>> work._began -= 10.0  # ten seconds ago
        >>> work.step(50)
        >>> work.facts()
        '25%, 50 of 200, 5.0 per second, 30 s left'
        """
        done, seconds, share = self.now[0], self.seconds, self.share
        parts = [] if share is None else [f"{share:.0%}"]
        if done and (self.total is None or isinstance(self.total, int)):
            parts.append(f"{done:,.0f}" if self.total is None else f"{done:,.0f} of {self.total:,}")
            parts.append(_rate(done / max(seconds, 1e-9)))
        if share:
            parts.append(f"{_duration(seconds / share - seconds)} left")
        else:
            parts.append(f"{_duration(seconds)} so far")
        return ", ".join(parts)

    def ending(self) -> str:
        """The last line of a log."""
        done = self.total if self.finished and self.total is not None else self.now[0]
        count = f" {done:,.0f}" if done and not isinstance(self.total, float) else ""
        return f"{self.what}:{count} {'done' if self.finished else 'stopped'} after {_duration(self.seconds)}"


def _rate(per_second: float) -> str:
    """A rate in the words that need no leading zeros.

    >>> _rate(1234.5), _rate(5.04), _rate(0.02)
    ('1,234 per second', '5.0 per second', '50 s each')
    """
    if per_second >= 1.0:
        return f"{per_second:,.{0 if per_second >= 10.0 else 1}f} per second"
    return f"{_duration(1.0 / per_second)} each"


def _duration(seconds: float) -> str:
    """A time span in at most two units.

    >>> _duration(3.21), _duration(75.0), _duration(7384.0)
    ('3 s', '1 min 15 s', '2 h 3 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


# ---------------------------------------------------------------- where it is shown


class _View(Protocol):
    """One way to show work."""

    every: float
    """Seconds between two drawings."""

    def draw(self, work: _Work) -> None:
        """Show how far the work is now."""

    def close(self, work: _Work) -> None:
        """The work is over."""


def _watch(work: _Work, over: threading.Event) -> None:
    """Show the work until it is over; nothing of work that is over soon."""
    if over.wait(DELAY) and work.seconds < DELAY:
        return
    while not _SHOWN.acquire(blocking=False):
        if over.wait(DRAWN_EVERY):
            return
    try:
        with suppress(OSError, ValueError):  # standard error was closed meanwhile: nobody reads it
            _show(work, over, _view())
    finally:
        _SHOWN.release()


def _show(work: _Work, over: threading.Event, view: _View) -> None:
    try:
        view.draw(work)
        while not over.wait(view.every):
            view.draw(work)
    finally:
        view.close(work)


def _view() -> _View:
    """What the surroundings can show."""
    if _in_notebook():
        return _Notebook()
    if _on_terminal() and importlib.util.find_spec("rich") is not None:
        return _Bar()
    return _Lines()


def _in_notebook() -> bool:
    """Whether the code runs in a cell; IPython in a terminal has no kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


class _Lines:
    """Lines on standard error."""

    def __init__(self) -> None:
        self.every = LINES_EVERY

    def draw(self, work: _Work) -> None:
        self._print(f"{work.name}: {work.facts()}")

    def close(self, work: _Work) -> None:
        self._print(work.ending())

    def _print(self, line: str) -> None:
        if sys.stderr is not None:
            print(line, file=sys.stderr, flush=True)


class _Bar:
    """A line of the terminal that is written again and again, and gone at the end; two where one is too short."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
        from rich.table import Column

        self.every = DRAWN_EVERY
        words = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=False, overflow="fold"))
        facts = TextColumn("{task.fields[facts]}", markup=False)
        self._console, self._bar = Console(stderr=True), BarColumn()
        columns = (SpinnerColumn(), words, self._bar, facts)
        self._progress = Progress(*columns, console=self._console, transient=True, auto_refresh=False)
        self._task = self._progress.add_task("", total=None, facts="")
        self._progress.start()

    def draw(self, work: _Work) -> None:
        share, name, facts = work.share, work.name, work.facts()
        total, completed = (None, 0.0) if share is None else (1.0, share)
        room = self._console.width - len(name) - len(facts) - BESIDE
        if room < SHORT_BAR:
            name, facts, room = f"{name}\n{facts}", "", SHORT_BAR
        self._bar.bar_width = min(room, LONG_BAR)
        self._progress.update(self._task, description=name, total=total, completed=completed, facts=facts, refresh=True)

    def close(self, work: _Work) -> None:
        self._progress.stop()


class _Notebook:
    """One output of a cell that is replaced again and again; its last words stay."""

    def __init__(self) -> None:
        self.every = DRAWN_EVERY
        self._handle: Any = None

    def draw(self, work: _Work) -> None:
        share = work.share
        value = "" if share is None else f' value="{share:.4f}"'
        text = f"{work.name}: {work.facts()}"
        self._show(text, f"<progress{value}></progress> {escape(text)}")

    def close(self, work: _Work) -> None:
        self._show(work.ending(), escape(work.ending()))

    def _show(self, text: str, html: str) -> None:
        from IPython import display

        show: Any = display.display  # IPython has no types for it
        content = {"text/plain": text, "text/html": f"<div>{html}</div>"}
        if self._handle is None:
            self._handle = show(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)
