"""Faces with gaps: this package beside the peers."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.masked import FIT, FIT_AND_FILL, Problem, _trial

from bench_problems import HERE
from benchmarks import masked, peers
from factorstream.datasets import OlivettiFaces

pytestmark = pytest.mark.long  # benchmarks, if small ones


def test_a_peer_is_timed_on_data_prepared_before_and_its_failure_is_a_row(rng):
    X = rng.standard_normal((6, 4))
    gone = rng.random(X.shape) < 0.2
    problem = Problem(np.where(gone, np.nan, X), X, gone, 1)
    given = []
    peer = peers.Peer("mean", "json", lambda Z, r: given.append(Z) or Z, peers.mean_filled, "a note")
    trial = _trial("case", peer, problem)
    assert np.isfinite(given[0]).all()
    assert (trial.row.note, trial.row.quality is not None, trial.contestant.role) == ("a note", True, "peer")
    failed = _trial("case", peer._replace(fill=lambda Z, r: 1 / 0), problem)
    assert failed.row.seconds is None
    assert "ZeroDivisionError" in failed.row.note


@pytest.mark.usefixtures("one_run_each")
def test_one_run_is_said_beside_a_peers_own_note(rng, monkeypatch):
    images = (rng.random((30, 4)) @ rng.random((4, 144))).reshape(30, 12, 12)
    monkeypatch.setattr(masked, "load_olivetti", lambda: OlivettiFaces(images, np.arange(30), "made-up faces"))
    mean = peers.Peer("mean", "json", lambda Z, r: Z, peers.mean_filled, "a note")
    monkeypatch.setattr(peers, "PEERS", (mean,))
    notes = {one.method: one.note for one in masked.masked_stream(HERE, quick=True).rows}
    assert notes.pop("mean") == "one run; a note"
    assert set(notes.values()) == {"one run"}
    assert {FIT_AND_FILL, FIT} <= set(notes)
