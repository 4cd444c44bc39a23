"""What is shown of a fit that makes many sweeps."""

from __future__ import annotations

from collections.abc import Iterable

from ..core.telling import Sweep
from ..progress import Step
from ..text import counted


class SweepProgress:
    """How far several fits have come, as a share of the sweeps that they may make together.

    ``plan`` has the sweeps of each fit and the rows they go over. Fits may turn out not to be needed, and most end
    before their last sweep, so that the share is a lower bound and the time that is left an upper one.

    >>> shown = SweepProgress("Model", print, [(30, 100), (30, 100), (6, 100)])
    >>> shown(Sweep(1, 30, 100, None, 5))
    0.015... Model, fit 1 of at most 3, sweep 1 of at most 30, 5 components
    >>> shown(Sweep(1, 6, 100, 0.25, 1))
    0.28... Model, fit 3 of at most 3, sweep 1 of at most 6, bound +0.25 nats per entry, 1 component
    """

    def __init__(self, name: str, step: Step, plan: Iterable[tuple[int, int]]) -> None:
        self._name, self._step, self._plan = name, step, list(plan)
        self._n_fits, self._fit = len(self._plan), 0
        self._done = 0.0

    def __call__(self, sweep: Sweep) -> None:
        if sweep.number == 1:
            self._next_fit(sweep.most)
        self._done += sweep.n_rows
        left = (sweep.most - sweep.number) * sweep.n_rows + sum(most * n_rows for most, n_rows in self._plan)
        self._step(self._done / max(self._done + left, 1.0), self._words(sweep))

    def _next_fit(self, most: int) -> None:
        """Drop the fits of other lengths that were planned before this one."""
        planned = None
        while self._plan and planned != most:
            planned = self._plan.pop(0)[0]
        self._fit = self._n_fits - len(self._plan)

    def _words(self, sweep: Sweep) -> str:
        parts = [self._name]
        if self._n_fits > 1:
            parts.append(f"fit {self._fit} of at most {self._n_fits}")
        parts.append(f"sweep {sweep.number} of at most {sweep.most}")
        if sweep.gain is not None:
            parts.append(f"bound {sweep.gain:+.2g} nats per entry")
        return ", ".join([*parts, counted(sweep.n_components, "component")])
