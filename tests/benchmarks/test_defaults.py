"""Benchmarks that vary what is set: every constant is changed where it is used, put back, and told by its name."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import defaults, pictures, rare_columns, sequence_defaults, sequence_runs, variational_defaults
from factorstream.core.dynamics import choose

pytestmark = pytest.mark.long  # benchmarks, if small ones


def test_the_grids_of_the_filters_defaults_are_printed(rng, monkeypatch, capsys):
    kept = defaults.starting.NOISE_SHARE, defaults.starting.START_SHARE, defaults._filter_run.MIN_OBSERVED
    X = rng.standard_normal((30, 2)) @ rng.standard_normal((2, 8)) + 0.1 * rng.standard_normal((30, 8))
    monkeypatch.setattr(defaults, "data_sets", lambda: {"tiny": (X, 2)})
    for name, values in (("NOISE_SHARES", (0.03, 0.3)), ("START_SHARES", (0.5,)), ("MIN_OBSERVED", (2, 8))):
        monkeypatch.setattr(defaults, name, values)
    defaults.main()
    told = capsys.readouterr().out
    for line in ("0.03 / 0.5", "0.3 / 0.5", "observed entries per component", "1.000"):
        assert line in told
    assert kept == (defaults.starting.NOISE_SHARE, defaults.starting.START_SHARE, defaults._filter_run.MIN_OBSERVED)
    assert all(len(X) >= r for X, r in defaults.data_sets().values())


def test_every_constant_of_the_variational_fit_is_varied(rng, monkeypatch, capsys):
    """A constant that was renamed would fail here."""
    X = rng.standard_normal((25, 2)) @ rng.standard_normal((2, 8)) + 0.3 * rng.standard_normal((25, 8))
    monkeypatch.setattr(variational_defaults, "data_sets", lambda: {"tiny": X})
    fast = {"max_sweeps": 3}
    monkeypatch.setattr(variational_defaults, "PLAIN", variational_defaults.PLAIN._replace(**fast))
    monkeypatch.setattr(variational_defaults, "ROBUST", variational_defaults.ROBUST._replace(**fast))
    variational_defaults.main()
    told = capsys.readouterr().out
    for name in variational_defaults.CHANGES | variational_defaults.ROBUST_CHANGES:
        assert f"\n{name} " in told
    assert "nan" not in told


CHANGES = {change.label: change for group in sequence_defaults.GROUPS.values() for change in group.changes}


def looked_up(change):
    """The constant as the functions that use it find it now."""
    found = [vars(sys.modules[name])[change.name] for name in change.modules]
    return found + [inspect.signature(function).parameters[name].default for function, name in change.defaults]


@pytest.mark.parametrize("label", CHANGES)
def test_a_constant_of_the_sequence_model_is_changed_and_put_back(label):
    """One that was renamed would fail here."""
    change = CHANGES[label]
    before = looked_up(change)
    assert before
    assert not any(np.array_equal(value, change.value) for value in before)
    with sequence_defaults.made(change):
        assert all(value is change.value for value in looked_up(change))
    assert all(now is then for now, then in zip(looked_up(change), before, strict=True))


def test_constants_of_the_sequence_model_that_are_not_tuned_are_varied():
    varied = {change.name for change in CHANGES.values()}
    for path in Path(choose.__file__).parent.glob("*.py"):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for one, words in itertools.pairwise(body):
            if isinstance(one, ast.Assign) and isinstance(words, ast.Expr) and "Not tuned" in ast.unparse(words):
                names = {node.id for target in one.targets for node in ast.walk(target) if isinstance(node, ast.Name)}
                assert names <= varied, path.name


def test_changes_of_the_sequence_model_are_printed(monkeypatch, capsys):
    monkeypatch.setattr(sequence_runs, "SIZES", sequence_runs.Sizes(fitted=30, stream=40, first=20, quiet=60, shifts=1))
    once = {name: group._replace(seeds=1) for name, group in sequence_defaults.GROUPS.items()}
    monkeypatch.setattr(sequence_defaults, "GROUPS", once)
    monkeypatch.delenv("FACTORSTREAM_DATA", raising=False)
    sequence_defaults.main(["--only", "ABOVE_EDGE", "decay", "CUT"])
    told = capsys.readouterr().out
    for words in ("\nfits\n", "\nstreams\n", "\nalarms\n", "ABOVE_EDGE=1.3 ", "decay=0.8 ", "CUT=6 ", "not found"):
        assert words in told
    assert "nan" not in told
    assert np.isfinite(sequence_runs.moved(0)).all()
    with pytest.raises(SystemExit):
        sequence_defaults.main(["--only", "NO_SUCH_CONSTANT"])


def test_rarely_seen_columns_are_judged(monkeypatch, capsys):
    monkeypatch.setattr(rare_columns, "PROBLEMS", {"30 of 500": rare_columns.problem})
    changes = {name: rare_columns.CHANGES[name] for name in ("shared", "counted", "ROOM=0")}
    monkeypatch.setattr(rare_columns, "CHANGES", changes)
    assert set(rare_columns.COMPONENTS) >= {"30 of 500"}
    held = {name: rare_columns.judged(name, "30 of 500", 0)[0] for name in changes}
    assert held["shared"] < 0.8 < 0.9 < held["counted"]
    assert held["ROOM=0"] != held["counted"]
    tables = {"wine": defaults.data_sets()["wine"]}
    monkeypatch.setattr(rare_columns, "data_sets", lambda: tables)
    monkeypatch.setattr(rare_columns, "UNIT_COMPONENTS", (3,))
    monkeypatch.setattr(rare_columns.silent_sensors, "SILENT", (20,))
    monkeypatch.setattr(rare_columns, "FEW", (5, 30))
    rare_columns.main(["--seeds", "1"])
    told = capsys.readouterr().out
    assert all(name in told for name in changes | rare_columns.UNIT_CHANGES)
    assert "| counted, silent for 20 rows |" in told
    assert "| column mean |" in told
    assert "| `LowRankImputer`, spread × 10 |" in told
    assert "nan" not in told


def test_every_constant_of_counted_covariances_is_varied():
    """One that was renamed would fail here."""
    for name, change in (rare_columns.CHANGES | rare_columns.UNIT_CHANGES).items():
        with rare_columns.changed(name):
            for path, value in change.items():
                module, _, constant = path.rpartition(".")
                assert vars(sys.modules[module])[constant] == value


def test_settings_of_pictures_are_what_their_names_say(monkeypatch):
    """Numbers of groups and steps between patches, of a part of 160 × 160 pixels; nothing is learned."""
    models, seen = pictures._models, {}

    def watch(grid, stack, groups, settings, rng, tell):
        step = int(np.diff(np.unique(grid.corners[:, 1]))[0])
        seen["now"] = (step, len(groups), settings.n_components, models.TO_LEARN, models._weights(4.0, 1.0))
        return models.Filled(np.nan_to_num(stack), np.ones_like(stack))

    monkeypatch.setattr(models, "_fill_groups", watch)
    monkeypatch.setattr(pictures, "CORNERS", {"china.jpg": ((100, 10),)})
    monkeypatch.setattr(pictures, "DAMAGES", {"holes": pictures.holes})
    rows = {line.method: seen["now"] for line in pictures.settings(256, 0)}
    usual = (2, 23, 16, 2000, 0.25)
    assert rows.pop("as it is") == usual
    assert usual not in rows.values()
    assert len(set(rows.values())) == len(rows)
    for name, (step, n_groups, n_components, to_learn, weight) in rows.items():
        said = {what: int(n) for n, what in re.findall(r"(\d+) (groups|pixels|components|patches)", name)}
        assert step == said.get("pixels", 2), name
        assert n_groups == (1 if "one group" in name else said.get("groups", 23)), name
        assert n_components == said.get("components", 16), name
        assert to_learn == (500 if "at most 500" in name else 2000), name
        assert weight == (1.0 if "alike" in name else 0.0625 if "1/std²" in name else 0.25), name
