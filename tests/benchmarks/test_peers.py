"""A peer that does not work is reported, not fatal."""

from __future__ import annotations

from benchmarks import peers


def test_a_peer_that_is_not_there_or_fails_is_a_line_of_the_table(rng):
    absent = peers.Peer("absent", "no_such_module", lambda X, r: X)
    assert not peers.installed(absent)
    broken = peers.Peer("broken", "json", lambda X, r: 1 / 0)
    filled, why = peers.attempt(broken, rng.standard_normal((3, 3)), 1)
    assert filled is None
    assert "ZeroDivisionError" in why
