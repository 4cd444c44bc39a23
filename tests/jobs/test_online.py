"""Filling row by row: the same numbers as a loop over `partial_fit`, and constant memory."""

from __future__ import annotations

import csv
import io
import tracemalloc
import warnings

import numpy as np
import pytest

from factorstream import DictionaryFilter
from factorstream.jobs.filling import n_beyond
from factorstream.jobs.online import OnlineFilling
from factorstream.sources.delimited import parse_delimited
from factorstream.sources.stream import TextStream
from factorstream.sources.table import TableError


def rows_of(seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(n, 5)) + [0, 10, 200, 0, 5]
    X[rng.random(X.shape) < 0.2] = np.nan
    X[0] = [1.0, np.nan, 200.0, np.nan, 5.0]
    return X


def lines_of(X):
    yield b"id,a,b,c,d,e\n"
    for k, row in enumerate(X):
        yield (f"r{k}," + ",".join("" if np.isnan(value) else f"{value:.17g}" for value in row) + "\n").encode()


def filled(X, model=None, **options):
    given = {"level": None, "components": 3, "seed": 0, "model": model, **options}
    filling = OnlineFilling(TextStream(lines_of(X)), **given)
    return filling, list(csv.reader(io.StringIO(b"".join(filling.lines()).decode())))


@pytest.mark.parametrize("text", ["a,b\n\n1,2\n3,\n4,5\n", "5,6.5\n\n1,2.5\n3,\n4,5\n", "a,b\n\n\n,2\n3,4\n5,6\n"])
def test_blank_lines_stay_and_are_no_rows(text):
    filling = OnlineFilling(TextStream(io.BytesIO(text.encode())), level=None, components=1, seed=0)
    lines = b"".join(filling.lines()).decode().split("\n")
    assert [not line for line in lines] == [not line for line in text.split("\n")]
    table = parse_delimited(text.encode())
    assert filling.counts.rows == len(table.numbers)
    assert filling.counts.filled + filling.counts.left == np.isnan(table.numbers).sum() == 1


def test_rounding_is_not_beyond_what_was_seen():
    filled, one = np.array([1 - 1e-12, 1 + 1e-12, 0.9, 2.0, 5.0]), np.ones(5)
    assert n_beyond(filled, np.array([True, True, True, True, False]), one, one) == (1, 1)


def test_why_there_are_no_columns_is_said():
    with pytest.raises(TableError, match=r"neither a number nor a gap .the first line was taken as data.*--header"):
        OnlineFilling(TextStream([b"7%,8%\n", b"9%,8%\n"]), level=None, components=1, seed=0)


def test_every_row_is_filled_by_what_the_rows_so_far_say():
    X = rows_of()
    filling, (header, *rows) = filled(X, level=0.9)
    assert header == ["id", *(f"{name}{end}" for name in "abcde" for end in ("", "_lower", "_upper"))]
    twin, seen, n_filled = DictionaryFilter(3, random_state=0), np.zeros(5, dtype=bool), 0
    for k, row in enumerate(X):
        twin.partial_fit(row[None])
        seen |= ~np.isnan(row)
        values, (lower, upper) = twin.impute(row[None])[0], twin.predict_interval(row[None], 0.9)
        for j in range(5):
            cells = rows[k][1 + 3 * j : 4 + 3 * j]
            if not np.isnan(row[j]):
                assert cells == [f"{row[j]:.17g}"] * 3
            elif not seen[j]:
                assert cells == ["", "", ""]
            else:
                n_filled += 1
                np.testing.assert_allclose(float(cells[0]), values[j], rtol=1e-9)
                for cell, bound in ((cells[1], lower[0, j]), (cells[2], upper[0, j])):
                    assert cell == "" if np.isinf(bound) else float(cell) == pytest.approx(bound, rel=1e-9)
    assert (filling.counts.rows, filling.counts.filled) == (60, n_filled)
    assert filling.counts.left == np.isnan(X).sum() - n_filled > 0


def test_a_model_goes_on_where_it_ended():
    X = rows_of()
    _, (_, *whole) = filled(X)
    first, _ = filled(X[:30])
    _, (_, *rest) = filled(X[30:], first.model)
    assert [row[1:] for row in rest] == [row[1:] for row in whole[30:]]


def test_texts_in_a_column_of_numbers_stay_and_absurd_values_are_counted():
    lines = list(lines_of(rows_of()))
    lines[31] = b"r30,oops,1e30,200,0,\n"
    filling = OnlineFilling(TextStream(lines), level=0.9, components=3, seed=0)
    row = list(filling.lines())[31].decode().strip().split(",")
    assert row[1:4] == ["oops", "", ""]
    assert row[4:7] == ["1e30"] * 3
    assert np.isfinite(float(row[13]))
    assert (filling.counts.texts, filling.counts.absurd) == (1, 1)
    assert filling.first_text == "'oops' in line 32 of column a"


def test_other_warnings_are_no_absurd_values():
    class Warns(DictionaryFilter):
        def partial_fit(self, X, y=None):
            warnings.warn("something else", UserWarning, stacklevel=2)
            return super().partial_fit(X, y)

    model = Warns(3, random_state=0).fit(rows_of()[:, :5])
    with pytest.warns(UserWarning, match="something else"):
        filling, _ = filled(rows_of(), model)
    assert (filling.counts.rows, filling.counts.absurd) == (60, 0)


def test_other_columns_are_refused():
    model, _ = filled(rows_of())
    model.model.feature_names_in_ = np.array(list("abcdz"), dtype=object)
    with pytest.raises(TableError, match="lacks columns that the model knows: z"):
        filled(rows_of(), model.model)
    with pytest.raises(TableError, match=r"neither a number nor a gap"):
        OnlineFilling(TextStream([b"a,b\n", b"x,y\n"]), level=None, components=None, seed=0)
    with pytest.raises(TableError, match="5 numbers or gaps, and the model 2 features"):
        filled(rows_of(), DictionaryFilter(1).partial_fit([[1.0, 2.0]]))


def test_decimal_commas_are_refused():
    with pytest.raises(TableError, match=r"first row has a decimal comma \(3,14\); write 3\.14"):
        OnlineFilling(TextStream([b"a;b\n", b"1;3,14\n"]), level=None, components=None, seed=0)


def test_columns_that_count_and_fills_beyond_the_rows_so_far_are_known_in_the_end():
    X = np.column_stack([np.arange(60.0), np.arange(60.0) ** 2, np.full((60, 2), 7.0), rows_of()[:, 0]])
    X[40:50, 1] = np.nan
    filling, (_, *rows) = filled(X)
    assert filling.counting == ["a"]
    values = np.array([[float(cell or "nan") for cell in row[1:]] for row in rows])
    beyond = [
        (fill > np.nanmax(X[: k + 1, j])) - int(fill < np.nanmin(X[: k + 1, j]))
        for (k, j), fill in np.ndenumerate(values)
        if np.isnan(X[k, j]) and not np.isnan(fill)
    ]
    assert (filling.counts.below, filling.counts.above) == (beyond.count(-1), beyond.count(1))
    assert sum(map(abs, beyond)) > 0


@pytest.mark.parametrize("word", ["--", "#DIV/0!", "N.A.", "#N/A", "–", "1.#IND"])
def test_gap_words_are_those_of_whole_files(word):
    lines = [f"a,b\n5,{word}\n".encode(), b"4,1\n", b"3,2\n"]
    table, stream = parse_delimited(b"".join(lines)), TextStream(b"".join(lines).splitlines(keepends=True))
    assert np.isnan(table.numbers[0]).tolist() == stream.numbers(stream.first, [0, 1])[1] == [False, True]


def test_nothing_is_kept_of_the_rows():
    """The model itself keeps records of its last 1000 calls, and is measured by its own tests."""
    X = rows_of(n=400)
    lines = OnlineFilling(TextStream(lines_of(X)), level=0.9, components=3, seed=0).lines()
    ours = [tracemalloc.Filter(True, f"*/{part}/*.py") for part in ("jobs", "sources")]

    def kept(n):
        for _ in range(n):
            next(lines)
        return sum(one.size for one in tracemalloc.take_snapshot().filter_traces(ours).statistics("filename"))

    tracemalloc.start()
    before = kept(50)
    after = kept(150)
    tracemalloc.stop()
    assert before > 0
    assert after < before + 2000  # a row is 500 bytes
