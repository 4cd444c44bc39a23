"""Which columns of a file hold no numbers and are used as well."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.jobs.choice import Choice
from factorstream.jobs.other_kinds import SAME_NAMES
from factorstream.jobs.reading import Reading, read_given
from factorstream.sources.table import TableError

N = 40


def written(path, header="id,word,flag,day,word2,x"):
    rng = np.random.default_rng(0)
    rows = [
        f"n{k},{'' if k == 3 else 'uvw'[k % 3]},{'Yes' if k % 2 else ''},2024-0{k % 9 + 1}-1{k % 7},{'pq'[k % 2]}"
        f",{x:.3f}"
        for k, x in enumerate(rng.normal(size=N))
    ]
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_which_are_used_and_why_the_others_are_not(tmp_path):
    given = read_given(written(tmp_path / "x.csv"), Reading(), all_kinds=True)
    assert given.kinds.positions == [1, 3, 4, 5]
    assert given.kinds.what == {1: "3 labels", 3: "dates", 4: "2 labels"}
    assert given.carried == {"id": "seldom the same value twice", "flag": "one value only"}
    assert (given.kinds.n_gaps, given.kinds.n_columns) == (1, 1)
    assert np.flatnonzero(given.kinds.gaps[1]).tolist() == [3]


def test_only_where_they_are_asked_for(tmp_path):
    given = read_given(written(tmp_path / "x.csv"), Reading())
    assert given.kinds is None
    assert given.carried == {}


def test_columns_are_chosen_by_name(tmp_path):
    path = written(tmp_path / "x.csv")
    given = read_given(path, Reading(choice=Choice(("word", "x"))), all_kinds=True)
    assert given.kinds.positions == [1, 5]
    given = read_given(path, Reading(choice=Choice((), ("word", "day"), "word2")), all_kinds=True)
    assert given.kinds is None
    with pytest.raises(TableError, match="column word holds no numbers"):
        read_given(path, Reading(choice=Choice(("word",))))


def test_columns_of_one_name_are_left(tmp_path):
    given = read_given(written(tmp_path / "x.csv", "id,word,flag,day,word,x"), Reading(), all_kinds=True)
    assert given.kinds is None
    assert given.carried["word"] == SAME_NAMES
