"""The benchmark's yardsticks are right and its report is complete."""

from __future__ import annotations

import json
import os
from types import SimpleNamespace

import numpy as np
import pytest

import reference
import reference_sequences
from factorstream.cli import main
from factorstream.datasets import DatasetNotFoundError, OlivettiFaces
from factorstream.experiments.bench import floors, masked, peers, small, textbook
from factorstream.experiments.bench.bars import bars
from factorstream.experiments.bench.cases import CASES, EXACT, LOOP, PRODUCTS, PUBLIC, _complete, low_rank, scaling
from factorstream.experiments.bench.choices import CHOICES
from factorstream.experiments.bench.masked import FIT, FIT_AND_FILL, Problem, _trial
from factorstream.experiments.bench.plots import memory_figure, scaling_figure
from factorstream.experiments.bench.report import bar_table
from factorstream.experiments.bench.rows import Peak, Row
from factorstream.experiments.bench.timing import Machine, Timing, compiled_code, race

HERE = Machine("a machine", 1, {}, flops=1e10, bandwidth=1e10, cache=4e10)


def test_textbook_loops_are_the_references(rng):
    Y, C, V = rng.standard_normal((15, 12)), rng.standard_normal((12, 3)), np.eye(3)
    expected = reference.mf_rlf(Y.T, C, V, 0.5)
    for ours, theirs in zip(textbook.filter_loop(Y, C, V, 0.5), expected, strict=False):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)
    seen, X = rng.random(Y.shape) < 0.8, rng.standard_normal((15, 3))
    for ours, theirs in zip(
        textbook.als_sweep(Y, seen, X, C, 0.1), reference.als_sweep(Y, seen, X, C, 0.1), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)


def test_textbook_em_learns_from_the_smoother(rng):
    r, m = 2, 5
    A, Q, C = 0.9 * np.eye(r), 0.2 * np.eye(r), rng.standard_normal((m, r))
    R, mean = np.full(m, 0.1), np.zeros(m)
    Y = reference_sequences.simulate(rng, A, Q, np.eye(r), C, R, mean, np.zeros(m), np.zeros(m), np.zeros(m), 60)[2]
    Y[rng.random(Y.shape) < 0.2] = np.nan
    xs, Ps = reference_sequences.kalman_rts(A, Q, np.eye(r), C, R, mean, Y)[2:4]
    new = textbook.em_sweep(Y, textbook.Linear(A, Q, np.eye(r), C, mean, R))
    seen = np.isfinite(Y[:, 0])
    second = (Ps + xs[:, :, None] * xs[:, None, :])[seen].sum(axis=0) + 1e-6 * np.eye(r)
    np.testing.assert_allclose(new.C[0], np.linalg.solve(second, xs[seen].T @ Y[seen, 0]), rtol=1e-8)
    before = reference_sequences.kalman_rts(A, Q, np.eye(r), C, R, mean, Y)[-1].sum()
    after = reference_sequences.kalman_rts(new.A, new.Q, np.eye(r), new.C, new.R, mean, Y)[-1].sum()
    assert after > before


def test_race_takes_turns_and_gives_slow_ones_one_run():
    order = []
    times = race({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, repeats=3)
    assert order == ["a", "b"] * 4
    assert times["a"].repeats == 3
    assert race({"slow": lambda: None}, limit=0.0)["slow"].repeats == 1


def test_a_peer_that_is_not_there_or_fails_is_a_line_of_the_table(rng):
    absent = peers.Peer("absent", "no_such_module", lambda X, r: X)
    assert not peers.installed(absent)
    broken = peers.Peer("broken", "json", lambda X, r: 1 / 0)
    filled, why = peers.attempt(broken, rng.standard_normal((3, 3)), 1)
    assert filled is None
    assert "ZeroDivisionError" in why


def test_report(tmp_path):
    pytest.importorskip("matplotlib")
    from factorstream.experiments.bench.report import run

    (judged, table), paths, measured = run(tmp_path / "out", quick=True, cases=["memory"])
    assert measured
    assert len(table.rows) == 3
    assert {row["verdict"] for row in judged.rows} == {"not judged", "not chosen"}
    assert [path.name for path in paths] == ["benchmark.md", "benchmark.json", "peak_memory.png"]
    data = json.loads(paths[1].read_text())
    assert data["machine"]["flops"] > 0
    assert {bar["met"] for bar in data["bars"]} == {None}
    assert "copies of C" in paths[0].read_text()


def test_the_axes_of_the_plots_are_named(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("factorstream.experiments.bench.cases.low_rank", lambda *_: low_rank(20, 6, 2))
    monkeypatch.setattr(
        "factorstream.experiments.bench.cases.race", lambda calls, **_: dict.fromkeys(calls, Timing(1.0, 1.0, 1))
    )
    figure = scaling_figure(scaling(HERE, quick=True))
    assert [axis.get_xlabel() for axis in figure.axes] == ["features m", "components r", "samples n", "share missing"]
    assert figure.axes[0].get_ylabel() == "µs per sample"
    memory = memory_figure([Peak(100, 3, 1, 1), Peak(200, 3, 1, 1)])
    assert memory.axes[0].get_xlabel() == "rows n of one call"


@pytest.fixture
def nothing_found(monkeypatch):
    """No data set can be reached, and the rates of the machine are made up."""

    def nowhere():
        raise DatasetNotFoundError("It was not found: look elsewhere.")

    for load in ("masked.load_olivetti", "cases.load_olivetti", "cases.load_london_air"):
        monkeypatch.setattr(f"factorstream.experiments.bench.{load}", nowhere)
    monkeypatch.setattr("factorstream.experiments.bench.report.machine", lambda: HERE)


@pytest.mark.usefixtures("nothing_found")
def test_a_case_without_its_data_is_a_line_of_the_table_and_of_its_bars(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    pytest.importorskip("rich")
    needy = ["masked_stream", "featurewise_sweep", "sequence_sweep"]
    assert main(["bench", "--only", *needy, "memory", "--output", str(tmp_path)]) == 0
    data = json.loads((tmp_path / "benchmark.json").read_text())
    lines = {row["case"]: (row["method"], row["note"]) for row in data["rows"]}
    why = "It was not found: look elsewhere."
    for name, missing in zip(needy, ("faces", "faces", "London PM10"), strict=True):
        assert lines[CHOICES[name].heading] == (f"not run: no {missing}", why)
    known = dict.fromkeys(("faces", "featurewise sweep"), "not run: no faces") | {"EM sweep": "not run: no London PM10"}
    verdicts = {bar["what"]: bar["unmeasured"] for bar in data["bars"] if bar["measured"] is None}
    for what, verdict in verdicts.items():
        assert verdict == known.get(what.partition(":")[0], "not chosen")
    page = (tmp_path / "benchmark.md").read_text()
    assert "| faces: quality of one automatic pass | – | ≥ 18.9 | not run: no faces |" in page
    said = capsys.readouterr()
    assert said.err == ""
    assert not [name for name in needy if name in said.out + page]


@pytest.mark.usefixtures("nothing_found")
def test_nothing_measured_is_a_failure(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    pytest.importorskip("rich")
    assert main(["bench", "--only", "featurewise_sweep", "--output", str(tmp_path)]) == 1
    said = capsys.readouterr()
    assert said.err == "factorstream: nothing was measured; the notes of the table say why.\n"
    assert "look elsewhere" in said.out


def test_help_lists_the_cases(capsys):
    with pytest.raises(SystemExit):
        main(["bench", "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert list(CHOICES) == [case.__name__ for case in (*CASES, scaling)]
    for name, choice in CHOICES.items():
        (line,) = [line for line in lines if line.strip().startswith(f"{name} ")]
        assert choice.words in line
        assert len(line) < 80


def row(method, seconds, quality=None, role="ours", floor=0.1):
    return Row("case", method, role, seconds, floor, quality=quality)


def bar_of(rows, what):
    (found,) = [bar for bar in bars(rows) if what in bar.what and "compiled" not in bar.what]
    return found


def test_bars_are_judged_from_the_table():
    rows = [row(EXACT, 1.0), row(PRODUCTS, 0.4), row(LOOP, 12.0)]
    loop, products = bar_of(rows, "textbook loop"), bar_of(rows, "complete: ours / its products")
    assert (loop.measured, loop.met) == (12.0, True)
    assert (products.measured, products.met) == (2.5, False)
    assert "would need 800 ms" in products.limit
    assert "floor" in products.limit
    assert bar_of([], "textbook loop").met is None


def test_the_fastest_peer_must_be_good_enough():
    rows = [
        row(FIT_AND_FILL, 0.3, 18.97, floor=0.03),
        row(FIT, 0.2, 18.97, floor=0.01),
        row("quick and poor", 0.1, 18.0, role="peer"),
        row("slow and good", 9.0, 19.2, role="peer"),
        row("good", 0.24, 19.0, role="peer"),
    ]
    both, fit = (bar_of(rows, f"18.9 dB / {what}") for what in ("fit and fill", "fit alone"))
    assert both.measured == pytest.approx(0.8)
    assert "the fastest is good: 19.00 dB" in both.against
    assert "less than the floor" in both.limit  # 24 ms, below 30 ms
    assert "would need 24 ms; the floor" in fit.limit


def test_without_a_peer_of_the_quality_there_is_nothing_to_compare():
    rows = [row(FIT_AND_FILL, 0.3, 15.0), row(FIT, 0.2, 15.0), row("poor", 0.1, 14.0, role="peer")]
    judged = {line["what"]: line for line in bar_table(bars(rows), quick=True).rows}
    for what in ("fit and fill", "fit alone"):
        line = judged[f"faces: fastest peer of 18.9 dB / {what}"]
        assert (line["measured"], line["verdict"]) == ("–", "nothing to compare")
        assert line["limit"] == "no peer reached 18.9 dB on these data (case)"
    assert judged["complete: textbook loop / ours"]["verdict"] == "not run"


def test_a_race_gives_rows_with_floors():
    rows = _complete(HERE, low_rank(240, 50, 3), 3, fit_mean=False)
    assert [one.method for one in rows] == [EXACT, PRODUCTS, LOOP, PUBLIC]
    for one in rows:
        assert one.seconds > 0
        assert one.floor > 0
    assert rows[0].ratio == 1.0


def test_floors_count_what_the_products_do():
    """Two operations for every number multiplied and added; a product with its own transpose counts half."""
    n, m, q, B = 8, 5, 2, 4
    one_block = 2 * m * q * B + m * B * B + 2 * m * q * q + 2 * m * B * q
    assert floors.complete_stream(n, m, q, B).flops == n / B * one_block
    loop = floors.filter_loop(n, m, q)
    assert (loop.flops, loop.cached) == (n * m * q * q, 3 * n * m * q * 8)
    fit, fill = floors.masked_stream(n, m, q, 0.4), floors.filling(n, m, q, 0.4)
    assert fit.flops == pytest.approx(n * (0.4 * m) * q * q)
    assert (fit.cached, fit.streamed) == (3 * n * m * q * 8, n * m * 8)
    assert fill.flops == pytest.approx(fit.flops + 2 * (2 * n * m * q))
    # n m moments of q (q + 1) / 2 numbers, into the rows' matrices and into the columns'
    assert floors.variational_sweep(n, m, q).flops == 2 * (2 * n * m * q * (q + 1) / 2) + (n + m) * q**3
    seen = np.ones((n, m), dtype=bool)
    assert floors.als_sweep(seen, q).flops == pytest.approx(2 * n * m * q * (q + 1) + (n + m) * q**3 / 3)
    assert floors.em_sweep(seen, q).flops == 2 * n * m * q * (q + 1) + n * 14 * q**3


def test_a_race_reports_the_median(monkeypatch):
    times = iter([9.0, 1.0, 2.0, 3.0, 4.0, 100.0])  # the first is the warm-up
    monkeypatch.setattr("factorstream.experiments.bench.timing._clock", lambda call: next(times))
    found = race({"it": lambda: None}, repeats=5)["it"]
    assert (found.median, found.best, found.repeats) == (3.0, 1.0, 5)


def test_floors_add_up():
    here = Machine("a machine", 1, {}, flops=2.0, bandwidth=4.0, cache=8.0)
    fit, fill = floors.masked_stream(3, 5, 2, 0.25), floors.filling(3, 5, 2, 0.25)
    assert fit == floors.masked_stream(3, 5, 2, 0.75)  # the fewer rows count
    assert floors.both(fit, fill).seconds(here) == pytest.approx(fit.seconds(here) + fill.seconds(here))
    assert floors.Work(flops=2.0, cached=8.0, streamed=4.0).seconds(here) == 3.0


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


@pytest.fixture
def one_run_each(monkeypatch):
    """Everybody is too slow for a second run."""
    monkeypatch.setattr(
        "factorstream.experiments.bench.rows.race", lambda calls, *_: dict.fromkeys(calls, Timing(1.0, 1.0, 1))
    )


@pytest.mark.usefixtures("one_run_each")
def test_one_run_is_said_beside_a_peers_own_note(rng, monkeypatch):
    images = (rng.random((30, 4)) @ rng.random((4, 144))).reshape(30, 12, 12)
    monkeypatch.setattr(masked, "load_olivetti", lambda: OlivettiFaces(images, np.arange(30), "made-up faces"))
    mean = peers.Peer("mean", "json", lambda Z, r: Z, peers.mean_filled, "a note")
    monkeypatch.setattr(peers, "PEERS", (mean,))
    notes = {one.method: one.note for one in masked.masked_stream(HERE, quick=True)}
    assert notes.pop("mean") == "one run; a note"
    assert set(notes.values()) == {"one run"}
    assert {FIT_AND_FILL, FIT} <= set(notes)


def test_compiled_rows_are_compiled_and_the_others_are_not(monkeypatch):
    pytest.importorskip("numba")
    asked = []

    def code():
        return os.environ["FACTORSTREAM_COMPILED"]

    def once(calls, *_):
        return {name: Timing(1.0, 1.0, 5) for name, call in calls.items() if call() or True}

    monkeypatch.setattr("factorstream.experiments.bench.rows.race", once)
    monkeypatch.setattr(small, "DictionaryFilter", lambda *_, **__: SimpleNamespace(fit=lambda X: asked.append(code())))
    with compiled_code("0"):
        rows = small.small_table(HERE, quick=True)
        assert (asked, code()) == (["0", "1"], "0")
    assert [row.role for row in rows] == ["ours", "ours", "peer"]
    plain, fast = row(small.TABLE, 3.0), row(small.TABLE_COMPILED, 1.0)
    (bar,) = [bar for bar in bars([plain, fast]) if bar.what == "narrow table: NumPy / compiled"]
    assert (bar.measured, bar.met) == (3.0, True)


@pytest.mark.usefixtures("one_run_each")
def test_one_run_is_said_beside_the_scaling_of_the_loop():
    notes = {one.method: one.note for one in _complete(HERE, low_rank(240, 50, 3), 3, fit_mean=False)}
    assert notes[LOOP] == "one run; 12 samples, scaled"


def test_unknown_cases_are_refused_in_one_sentence(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    assert main(["bench", "--only", "nonsense", "--output", str(tmp_path / "out")]) == 2
    assert "does not know nonsense; choose from complete_stream" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
