"""Filling row by row: the same numbers as a loop over `partial_fit`, and constant memory."""

from __future__ import annotations

import csv
import io
import tracemalloc
import warnings

import numpy as np
import pytest

from factorstream import DictionaryFilter
from factorstream.jobs.choice import Choice
from factorstream.jobs.filling import n_beyond
from factorstream.jobs.online import OnlineFilling, settle_form
from factorstream.jobs.suspects import Suspect
from factorstream.sources.delimited import parse_delimited
from factorstream.sources.number_form import Asked
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


WHOLE = (np.rint, np.floor, np.ceil)


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
                known = X[: k + 1, j][~np.isnan(X[: k + 1, j])]
                whole = len(known) >= 3 and not np.any(known % 1.0)  # so far
                expected = [values[j], lower[0, j], upper[0, j]]
                if whole:
                    expected = [to_whole(one) for to_whole, one in zip(WHOLE, expected, strict=True)]
                for cell, value in zip(cells, expected, strict=True):
                    assert cell == "" if np.isinf(value) else float(cell) == pytest.approx(value, rel=1e-9)
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


def test_suspected_marks_are_known_in_the_end():
    lines = [b"a,b\n", *(f"{'-999' if k % 9 == 0 else k % 7},{k * 3 % 5}.5\n".encode() for k in range(60))]
    filling = OnlineFilling(TextStream(lines), level=None, components=1, seed=0)
    list(filling.lines())
    assert filling.suspects == [Suspect("a", -999.0, 7)]


def test_columns_that_are_chosen():
    lines = [b"n,a,b,c\n", *(f"{k},{k % 5}.5,{'' if k % 4 == 3 else k * 7 % 11},x\n".encode() for k in range(20))]
    for choice in (Choice(("a", "3")), Choice((), ("c",), "n")):
        filling = OnlineFilling(TextStream(lines), level=None, components=1, seed=0, choice=choice)
        rows = [line.decode().strip().split(",") for line in filling.lines()]
        assert filling.names == ["a", "b"]
        assert filling.set_aside == (["n", "c"] if choice.columns else ["c"])
        assert filling.counting == []
        assert [row[0] for row in rows[1:]] == [str(k) for k in range(20)]
        assert all(row[2].lstrip("-").isdecimal() for row in rows[1:])
    with pytest.raises(TableError, match=r"column c holds no numbers \(line 2 has 'x'\)"):
        OnlineFilling(TextStream(lines), level=None, components=1, seed=0, choice=Choice(("c",)))


def test_decimal_commas_of_the_first_row_are_read_unless_points_leave_a_doubt():
    stream = TextStream([b"a;b\n", b"1;3,14\n", b"3;2,5\n", b"4;\n", b";1.200\n"])
    assert settle_form(stream, Asked()).startswith("Commas were taken as decimal commas: line 2 of column b has '3,14'")
    filling = OnlineFilling(stream, level=None, components=1, seed=0)
    rows = [line.decode().strip().split(";") for line in filling.lines()]
    assert (rows[1], rows[4][1]) == (["1", "3,14"], "1.200")  # a text: never read as 1.2, nor as 1200
    assert rows[4][0].isdecimal()  # whole, as three numbers of its column were
    assert float(rows[3][1].replace(",", ".")) == pytest.approx(2.8, abs=0.5)
    assert filling.counts.texts == 1
    for first in (b"1.200;3,14\n", b"1.5;3,14\n"):
        with pytest.raises(TableError, match=r"first row has a decimal comma \(3,14\).* pass --decimal comma or"):
            settle_form(TextStream([b"a;b\n", first]), Asked())
    assert settle_form(TextStream([b"a;b\n", b"1.5;3,14\n"]), Asked(".")) == ""


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
    ours = [tracemalloc.Filter(True, f"*/factorstream/{part}/*.py") for part in ("jobs", "sources")]

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


def counted_text(cells):
    X = rows_of(n=len(cells))
    numbers = (",".join("" if np.isnan(value) else f"{value:.3f}" for value in row) for row in X)
    return "id,a,b,c,d,e\n" + "".join(f"{cell},{rest}\n" for cell, rest in zip(cells, numbers, strict=True))


@pytest.mark.parametrize(("first", "step"), [(70, 1), (130, -1)])
def test_a_mark_of_gaps_that_is_the_number_of_a_row_stays(first, step):
    cells = [str(first + step * k) for k in range(60)]
    stream = TextStream(io.BytesIO(counted_text(cells).encode()), missing=["99"])
    filling = OnlineFilling(stream, level=None, components=2, seed=0)
    out = [row[0] for row in csv.reader(io.StringIO(b"".join(filling.lines()).decode()))]
    assert out == ["id", *cells]
    assert filling.counting == ["id"]
    assert filling.counts.counting == 0


def test_a_gap_in_a_column_that_counts_stays_unless_the_column_was_asked_for():
    cells = ["" if k == 30 else str(k) for k in range(60)]
    for choice, stays in ((Choice(), True), (Choice(columns=("id", "a")), False)):
        stream = TextStream(io.BytesIO(counted_text(cells).encode()))
        filling = OnlineFilling(stream, level=None, components=2, seed=0, choice=choice)
        out = [row[0] for row in csv.reader(io.StringIO(b"".join(filling.lines()).decode()))]
        assert (out == ["id", *cells]) == stays
        assert filling.counts.counting == stays
