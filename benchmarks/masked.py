"""Faces with a quarter of the pixels removed: one automatic pass of the paper's filter against every peer.

The default, with counted covariances, is a line for its quality; what it costs is a case of its own (``counted``).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from factorstream.datasets import load_olivetti
from factorstream.estimators.dictionary_filter import DictionaryFilter
from factorstream.metrics import snr
from factorstream.tall import kernel

from . import floors, peers
from .rows import Contestant, Found, Row, compete, joined, with_ratios
from .textbook import Array
from .timing import Machine, compiled, race

MISSING = 0.25  # as in the paper's experiment

FIT_AND_FILL = "MF-RLF, fit and fill"
FIT = "MF-RLF, fit alone"
DEFAULT = "DictionaryFilter as it comes, fit and fill"
COMPILED = ", compiled"


class Problem(NamedTuple):
    """What every contestant is given, and what only the judge sees."""

    X: Array
    truth: Array
    gone: Array
    r: int

    def quality(self, filled: Array) -> float:
        """SNR over the removed entries."""
        return float(snr(self.truth, filled, where=self.gone))


class Trial(NamedTuple):
    """The first run of a peer: its row so far, and what to repeat if it is quick enough for that."""

    row: Row
    contestant: Contestant


def masked_stream(machine: Machine, quick: bool) -> Found:
    """Faces with a quarter of the pixels removed: one automatic pass against every peer."""
    faces = load_olivetti()
    images, r = (faces.images[:200, ::2, ::2], 20) if quick else (faces.images, 40)
    truth = np.ascontiguousarray(images.reshape(len(images), -1), dtype=np.float64)
    (n, m), q = truth.shape, r + 1
    gone = np.random.default_rng(0).random(truth.shape) < MISSING
    problem = Problem(np.where(gone, np.nan, truth), truth, gone, r)
    case = f"Masked stream, faces {n}×{m}, 25% random, r={r}"

    fit, fill = floors.masked_stream(n, m, q, MISSING), floors.filling(n, m, q, MISSING)
    default = partial(peers.ours, problem.X, r)
    ours = partial(peers.ours, problem.X, r, **peers.PAPER)
    contestants = {
        FIT_AND_FILL: Contestant(ours, work=floors.both(fit, fill)),
        DEFAULT: Contestant(default),
        FIT: Contestant(lambda: DictionaryFilter(r, random_state=0, **peers.PAPER).fit(problem.X), work=fit),
    }
    if kernel.import_failure() is None:
        contestants |= {name + COMPILED: c._replace(call=compiled(c.call)) for name, c in contestants.items()}
    trials = [_trial(case, peer, problem) for peer in peers.PEERS]
    slow = 2.0 if quick else 20.0
    again = {t.row.method: t for t in trials if t.row.seconds is not None and t.row.seconds <= slow}
    contestants |= {name: trial.contestant for name, trial in again.items()}
    plain = {call: problem.quality(call()) for call in (ours, default)}
    rows = []
    for row in compete(case, contestants, machine):
        if row.method in again:
            first = again[row.method].row
            rows.append(row._replace(quality=first.quality, note=joined(row.note, first.note)))
        else:
            call, fast = default if row.method.startswith(DEFAULT) else ours, row.method.endswith(COMPILED)
            rows.append(row._replace(quality=problem.quality(compiled(call)()) if fast else plain[call]))
    rows += [_one_run(t.row) for t in trials if t.row.method not in again]
    return Found([row._replace(data=f"faces: {faces.source}") for row in with_ratios(rows)])


def _one_run(row: Row) -> Row:
    return row._replace(note=joined("one run", row.note)) if row.seconds else row


def _trial(case: str, peer: peers.Peer, problem: Problem) -> Trial:
    """Run a peer once, on data that were prepared before the clock started."""
    row = Row(case, peer.name, "peer", note=peer.note)
    if not peers.installed(peer):
        return Trial(row._replace(note="not installed on this machine"), Contestant(lambda: None))
    data = peer.prepare(problem.X)
    attempts: list[tuple[Array | None, str]] = []

    def run() -> None:
        attempts[:] = [peers.attempt(peer, data, problem.r)]

    took = race({peer.name: run}, limit=0.0)[peer.name].median
    filled, why = attempts[0]
    if filled is None:
        return Trial(row._replace(note=why), Contestant(run))
    return Trial(row._replace(seconds=took, quality=problem.quality(filled)), Contestant(run, "peer"))
