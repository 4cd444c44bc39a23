"""Benchmarks that are run by hand still run: on tiny data, in seconds."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from benchmarks.rows import compete
from benchmarks.timing import race

from bench_problems import HERE
from benchmarks import (
    cluster,
    cores,
    coverage,
    gpu_parts,
    large,
    large_fits,
    pictures,
    scale,
    sequence_speed,
    strange_rows,
    sweeps,
    table_sizes,
    table_streams,
)
from factorstream import SequenceFilter
from factorstream.datasets import LondonAir, OlivettiFaces
from factorstream.tall import array_products

pytestmark = pytest.mark.long  # benchmarks, if small ones


@pytest.fixture
def soon(monkeypatch):
    """A few runs of everybody are enough."""
    monkeypatch.setattr(sweeps, "compete", lambda case, who, machine, limit=0.0: compete(case, who, machine, limit=0.0))
    monkeypatch.setattr(sweeps, "race", lambda calls, limit: race(calls, limit=0.0))


@pytest.mark.usefixtures("soon")
def test_a_variational_sweep_is_timed(rng, monkeypatch):
    images = 255.0 * rng.random((60, 16, 16))
    monkeypatch.setattr(sweeps, "load_olivetti", lambda: OlivettiFaces(images, np.arange(60), "made-up faces"))
    rows = sweeps.variational_sweep(HERE, quick=True).rows
    assert {row.method for row in rows} == {sweeps.VARIATIONAL, sweeps.ALS}
    assert all(row.seconds > 0 and row.data == "faces: made-up faces" for row in rows)


@pytest.mark.usefixtures("soon")
def test_a_sweep_over_a_sequence_is_timed(rng, monkeypatch):
    values = rng.standard_normal((80, 12)).cumsum(axis=0)
    values[rng.random(values.shape) < 0.1] = np.nan
    values[:, 3] = np.nan
    monkeypatch.setattr(sweeps, "load_london_air", lambda: LondonAir(values, "made-up air"))
    rows = {row.method: row for row in sweeps.sequence_sweep(HERE, quick=True).rows}
    assert set(rows) == {sweeps.EM, sweeps.TEXTBOOK_EM, sweeps.STATSMODELS}
    assert rows[sweeps.EM].seconds > 0
    assert rows[sweeps.TEXTBOOK_EM].seconds > 0
    assert rows[sweeps.STATSMODELS].seconds or rows[sweeps.STATSMODELS].note


def test_what_cores_give_is_printed(monkeypatch, capsys):
    small = {
        "FEATURES": 500,
        "COMPONENTS": 3,
        "SAMPLES": 60,
        "COLUMNS": 40,
        "SQUARE": 100,
        "GRID": ((30, 8, 2),),
        "RUNS": 2,
    }
    for name, value in small.items():
        monkeypatch.setattr(cores, name, value)
    cores.main(["--threads", "1", "2"])
    told = capsys.readouterr().out
    for words in ("rows with gaps, 500 features, r = 3 |", "variational sweep, 60 × 40", "## grid", "## neighbours"):
        assert words in told
    assert told.count("| 30 × 8, 2 |") == 2
    assert "nan" not in told


def test_coverage_is_measured_and_printed(monkeypatch, capsys):
    monkeypatch.setattr(coverage, "GRID", [coverage.Cell(20, 5, 1, 0.3), coverage.Cell(30, 5, 1, 0.3)])
    coverage.main(["--seeds", "2", "--cells", "--only", "BayesianFactorization(r"])
    told = capsys.readouterr().out
    assert "| estimator | 20 rows | 30 rows | sizes below 0.92 |" in told
    assert told.count("`BayesianFactorization(r)`") == 3
    coverage.main(["--seeds", "1", "--hide-large", "--only", "LowRankImputer()"])
    assert "| all refused |" in capsys.readouterr().out  # too few entries to calibrate
    coverage.main(["--seeds", "1", "--single", "--only", "LowRankImputer()"])
    assert re.search(r"\| `LowRankImputer\(\)` \| 0\.[89]\d to (0\.9\d|1\.00) \|", capsys.readouterr().out)
    coverage.main(["--seeds", "2", "--wine", "--only", "DictionaryFilter("])
    shares = re.findall(r"\| `DictionaryFilter\(\d?\)` \| (0\.\d\d) \|", capsys.readouterr().out)
    assert sorted(shares) == shares  # fewer components, of which a table so small has enough, hold more
    assert len(shares) == 3
    assert all(cell.n_observed >= cell.n_parameters for cell in coverage.GRID)


def test_pictures_are_restored_every_way(rng, monkeypatch, capsys):
    images = 255.0 * rng.random((30, 16, 16))
    monkeypatch.setattr(pictures, "load_olivetti", lambda: OlivettiFaces(images, np.arange(30), "made-up faces"))
    monkeypatch.setattr(pictures, "SPEEDS", {"slow": 0.1})
    monkeypatch.setattr(pictures, "SETTINGS", {"as it is": {}, "no weights": {"power": 0}, "one": {"MOST_GROUPS": 1}})
    small = pictures.moving_camera
    monkeypatch.setattr(pictures, "moving_camera", lambda frames, speed: small(frames, speed, (40, 48)))
    pictures.main(["--only", "settings", "video", "faces", "--size", "40", "--frames", "8"])
    lines = capsys.readouterr().out.splitlines()
    for part in ("half at random", "scratches", "holes", "no weights", "restore_frames", "a square"):
        assert any(part in line for line in lines), part
    assert all(np.isfinite(float(line.split()[-1])) for line in lines)


def test_strange_rows_are_found_with_any_number_of_components(monkeypatch, capsys):
    monkeypatch.setattr(strange_rows, "COMPONENTS", (1, 5))
    monkeypatch.setattr(strange_rows, "SEEDS", 2)
    strange_rows.main()
    _, *lines = (line.split() for line in capsys.readouterr().out.splitlines())
    complete, with_gaps = lines[:2], lines[3:]
    for part in (complete, with_gaps):
        assert [int(line[0]) for line in part] == [1, 5]
        for line in part:
            mean, least, greatest = map(float, line[1:4])
            assert 0.7 < least <= mean <= greatest < 1.0
    assert all(line[1] == line[4] for line in complete)  # densities rank rows without gaps in the same way
    assert all(float(line[1]) > float(line[4]) + 0.05 for line in with_gaps)


def test_a_feature_that_comes_late_is_learned(capsys):
    pytest.importorskip("river")
    from benchmarks import late_features

    late_features.main(["--late", "60", "--learned", "120", "--seeds", "1"])
    *lines, varies = capsys.readouterr().out.splitlines()
    errors = [float(line.partition("error")[2].split()[0]) for line in lines]
    assert len(errors) == len(late_features.KINDS)
    assert max(errors) < float(varies.split()[-1]) / 2


@pytest.mark.parametrize("ending", [".npy", ".csv", ".parquet"])
def test_the_memory_for_a_large_file_is_measured(ending, tmp_path, monkeypatch):
    monkeypatch.chdir(Path(large.__file__).parents[1])
    size, seconds, memory = large.measured(ending, 2 * 2**20, tmp_path)
    assert size > 1
    assert seconds > 0
    assert memory >= 0


def test_the_costs_of_a_large_stream_are_reckoned():
    found = scale.Constants(B=250, value=1e-8, row=1e-5, tasks=1e-3, byte=1e-9)
    cost = scale.reckoned(found, 100)
    assert cost.shards == pytest.approx(1e17 * 1e-8 / 1600 / 3600)
    assert cost.recursion == pytest.approx(1e9 * 1e-5 / 3600)
    assert cost.scheduler == pytest.approx(4e6 * 1600 * 1e-3 / 3600)
    sums, moves = 8 * (250**2 + 41 * 250 + 41**2), 8 * (41**2 + 41 * 250)
    assert cost.transfers == pytest.approx(4e6 * (6 * 3 * sums + 1600 * moves) * 1e-9 / 3600)
    assert cost.total == pytest.approx(sum(cost))
    assert any(line.startswith("| 100 | 250 |") for line in scale.table([found]))


def test_the_constants_of_a_large_stream_are_measured(capsys, monkeypatch):
    monkeypatch.setattr(cluster, "BLOCKS_OF", 2)
    scale.main(["--quick"])
    assert "ns of a core for a value" in capsys.readouterr().out


def test_sweeps_on_a_cluster_are_timed(capsys, monkeypatch):
    monkeypatch.setattr(cluster, "SOME", 60)
    size = ["--rows", "200", "--columns", "12", "--components", "2", "--chunk", "50"]
    cluster.main([*size, "--workers", "1", "--blocks", "100", "--features", "50"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "200 × 12, 2 components, chunks of 50 rows"
    assert re.fullmatch(r"1 workers: [\d.]+ s a sweep, efficiency 1.00; processors .*", lines[2])
    assert re.fullmatch(r"100 rows: .* for each of 2 chunks", lines[3])
    assert re.fullmatch(r"(from 100 rows of a chunk on|for none of these chunks), the sweep itself .*", lines[4])
    assert re.fullmatch(r"50 features: \d+ ms for a block of 80 rows in 1 shards, \d+ ms .* the scheduler", lines[5])


def test_a_single_sweep_on_a_cluster_is_refused(capsys):
    with pytest.raises(SystemExit):
        cluster.main(["--sweeps", "1"])
    assert "--sweeps must be 2 at least" in capsys.readouterr().err


def test_functions_whose_time_is_taken_on_a_gpu_are_there():
    """The device is not needed to see whether one has another name by now."""
    with gpu_parts.timed() as spent:
        assert array_products.summed(lambda some: np.ones(1)[some], 1, 1).shape == (1,)
    assert list(spent) == ["asking for products"]


def test_memory_of_large_fits(capsys, monkeypatch):
    monkeypatch.setattr(large_fits, "MODELS", dict(list(large_fits.MODELS.items())[:3]))
    large_fits.main((1.0,))
    said = capsys.readouterr().out
    assert re.search(r"\| `BayesianFactorization\(3\)` \| \d+ MiB, \d+ s, \d+ s \|", said)


def test_speed_of_sequences(capsys):
    cases = [*sequence_speed.wide((6,), T=30), *sequence_speed.levels(T=40, m=3)[:2], *sequence_speed.long(((40, 3),))]
    sequence_speed.main({"all": cases[:2]})
    head, _, first, second = capsys.readouterr().out.strip().splitlines()
    assert head == "| fit | processor seconds | ratio | peak of memory | sweeps |"
    assert re.fullmatch(r"\| 30 × 6 \| \d+\.\d\d \| 1\.0 \| \d+\.\d\d GiB \| \d+ \|", first)
    assert re.fullmatch(r"\| 40 × 3, without levels \| \d+\.\d\d \| \d+\.\d \| \d+\.\d\d GiB \| \d+ \|", second)
    for case in (*cases, *sequence_speed.air()):
        eval(f"SequenceFilter({case.settings})", {"SequenceFilter": SequenceFilter})  # the settings that there are


def test_streams_of_tables_are_compared(rng, monkeypatch, capsys):
    X = np.exp(rng.standard_normal((240, 2)) @ rng.standard_normal((2, 5)) + 0.1 * rng.standard_normal((240, 5)))
    monkeypatch.setattr(table_streams, "tables", lambda half, most_rows: [("made up", X)])
    monkeypatch.setattr(table_streams, "SPLITS", 5)
    table_streams.main(["--tables", "1", "--columns", "3"])
    told = capsys.readouterr().out
    assert "on the way, 1 tables" in told
    assert all(f"| {name} |" in told for name in (*table_streams.streams(), "fit"))
    by_mean = [float(line.split("|")[2]) for line in told.splitlines() if line.startswith("| column mean |")]
    assert max(by_mean[:2]) < 1.0
    assert "nan" not in told


def test_large_tables_are_filled_and_measured(monkeypatch, capsys):
    small = {
        name: kind._replace(n=min(kind.n, 150), m=min(kind.m, 12)) for name, kind in list(table_sizes.KINDS.items())[:2]
    }
    monkeypatch.setattr(table_sizes, "KINDS", small)
    table_sizes.main(["--only", *small])
    lines = capsys.readouterr().out.splitlines()[2:]
    assert len(lines) == 4
    for line in lines:
        _, _, what, seconds, _, gigabytes, rmse, held, theirs, *_ = (cell.strip() for cell in line.split("|"))
        assert float(seconds) >= 0
        assert 0 < float(gigabytes) < 2
        assert 0 < float(rmse) < 1.2
        assert 0 < float(theirs) < 1.2
        assert (what == "bounds") == bool(held)


def test_seasons_are_measured(capsys):
    from benchmarks import seasons

    seasons.main(["--data", "made-up", "--origins", "1"])
    out = capsys.readouterr().out
    errors = {line[:28].strip(): float(line[28:].split()[0]) for line in out.splitlines() if line.startswith("gaps")}
    assert errors["gaps, with seasons"] < 0.5 * errors["gaps, without seasons"]
    assert "84 steps, with seasons held" in out


def test_trends_are_measured(capsys):
    from benchmarks import sequence_trends

    sequence_trends.main(["--data", "made-up", "--origins", "2", "--no-walks"])
    rows = {
        line[:24].strip(): [float(word) for word in line[24:].split()[:5]]
        for line in capsys.readouterr().out.splitlines()[1:]
    }
    assert rows["random walk with drift"][-1] == 1.0
    assert rows["ours, trend=True"][0] < rows["last value"][0]


def test_marginals_of_sequences_are_measured(capsys):
    from benchmarks import sequence_marginals

    sequence_marginals.main(["--only", "logarithms", "--seeds", "1", "--marginals", "linear", "auto"])
    linear, auto = (line.split()[2:] for line in capsys.readouterr().out.splitlines()[1:])
    assert float(auto[0]) < float(linear[0])
    assert float(auto[3]) < float(linear[3])


def test_cycles_are_measured(capsys):
    from benchmarks import sequence_cycles

    sequence_cycles.main(["--series", "months", "--seeds", "2"])
    told = dict(re.findall(r"([a-z][a-z, ]*?) (\d\.\d+)", capsys.readouterr().out.partition(":")[2]))
    assert float(told["ours"]) < 0.7 * float(told["the mean"])
