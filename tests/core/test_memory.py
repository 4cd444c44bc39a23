"""What long work remembers."""

from __future__ import annotations

from factorstream.core.memory import FORGETFUL


def test_nothing_is_remembered_without_a_checkpoint():
    assert FORGETFUL.over("sum", lambda: [1, 2, 3], lambda total, part: total + part, 10) == 16
    assert FORGETFUL.over("sum", lambda: [1], lambda total, part: total + part, 0) == 1
    assert [FORGETFUL.once("number", lambda k=k: k) for k in (1, 2)] == [1, 2]
    assert FORGETFUL.put("number", 3) == 3
