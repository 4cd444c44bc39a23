"""The skeletons in CONTRIBUTING.md are true: every one runs where its section says that it belongs."""

from __future__ import annotations

import importlib
import json
import re
import sys
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import factorstream
from conftest import low_rank
from contracts import test_arrays, test_copies, test_failed_calls, test_parameters, test_streams, test_tables
from contracts.estimators import Case
from factorstream import BayesianFactorization, DictionaryFilter, load
from factorstream.cli import main
from factorstream.completion import Settings, complete_file
from factorstream.core.filter import coefficients
from factorstream.core.filter.coefficients import Belief, Sample
from factorstream.core.place import HERE
from factorstream.estimators import _variational
from factorstream.jobs.forecasting import ForecastSettings, forecast_file
from factorstream.sources import tables
from factorstream.sources.tables import TableError
from factorstream.tall import places
from factorstream.tall.filtering import filter_rows
from factorstream.tall.places import using
from factorstream.tall.projecting import predict
from factorstream.tall.starting import measure, start
from filter_problems import paper_model

ROOT = Path(__file__).parents[1]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def code_below(heading):
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", CONTRIBUTING, flags=re.M | re.S)
    assert found, heading
    (code,) = re.findall(r"^```python\n(.*?)^```", found.group(1), flags=re.M | re.S)
    return found.group(1), code


@pytest.fixture
def new_file(monkeypatch):
    """The skeleton below a heading as a module of the package, under the name of the file that its section gives."""

    def make(heading, path):
        text, code = code_below(heading)
        assert f"`{path}`" in text
        assert not (ROOT / "src" / "factorstream" / path).exists()
        name = "factorstream." + path.removesuffix(".py").replace("/", ".")
        module = module_from_spec(ModuleSpec(name, None))
        module.__package__ = name.rpartition(".")[0]
        monkeypatch.setitem(sys.modules, name, module)
        exec(compile(code, path, "exec"), vars(module))
        return module

    return make


def gappy_rows(rng, n=120, m=20, missing=0.2):
    truth = low_rank(rng, n, m, 3, noise=0.2, offset=2.0)
    return truth, np.where(rng.random(truth.shape) < missing, np.nan, truth)


# ------------------------------------------------------------------ a coefficient step


@pytest.fixture
def step():
    """The skeleton is a part of an existing file."""
    names = dict(vars(coefficients))
    exec(compile(code_below("How to add a coefficient step")[1], "coefficients.py", "exec"), names)
    return names["step"]


def test_the_coefficient_step_fits(rng, step):
    """Complete runs, gaps, and rows with too few entries; it restores what was hidden."""
    truth = low_rank(rng, 400, 20, 3, noise=0.2, offset=2.0)
    missing = rng.random(truth.shape) < 0.2
    missing[::4] = False
    missing[1::4, 2:] = True
    X = np.where(missing, np.nan, truth)
    settings = {"noise_variance": None, "V0": None, "C0": "random", "seed": 0, "dtype": X.dtype}
    state = start(measure(X, True), r=3, fit_mean=True, **settings)
    model = paper_model(3, 4)._replace(step=step, learn_noise=True, min_observed=6)
    state, record = filter_rows(state, model, X, 16)
    assert len(record.innovation) == np.count_nonzero(~missing.all(axis=1)) > 390
    filled, _ = predict(state, model, X, 16)
    thin = missing.sum(axis=1) > 10
    assert np.std((filled - truth)[missing & ~thin[:, None]]) < 0.4 * np.std(truth)
    assert np.isfinite(filled).all()


def test_the_coefficient_step_is_what_its_docstring_says(rng, step):
    C, y = rng.standard_normal((12, 3)), rng.standard_normal(12)
    belief = Belief(0.5, np.zeros(3), np.eye(3), np.eye(3), 1.0, 3, 1e-14)
    found = step.find(Sample(C.T @ C, C.T @ y, float(y @ y), 12), belief)
    ridged = C.T @ C + 0.005 * np.eye(3)
    np.testing.assert_allclose(found.x, np.linalg.solve(ridged, C.T @ y), rtol=1e-10)
    np.testing.assert_allclose(found.root() @ found.root().T, 0.5 * np.linalg.inv(ridged), rtol=1e-10)
    assert found.fitted == pytest.approx(np.trace(C @ np.linalg.solve(ridged, C.T)))
    too_few = Sample(C[:2].T @ C[:2], C[:2].T @ y[:2], float(y[:2] @ y[:2]), 2)
    singular = Sample(np.ones((3, 3)), np.ones(3), 1.0, 12)
    assert step.find(too_few, belief).from_prior
    assert step.find(singular, belief._replace(noise=1e-20)).from_prior


# ------------------------------------------------------------------ a noise law


@pytest.fixture
def law(new_file, monkeypatch):
    """Laplace noise, named where the section says: ``robust=True`` asks for it in these tests."""
    Laplace = new_file("How to add a noise law", "core/variational/noise/laplace.py").LaplaceNoise
    gaussian = _variational.noise_law(False)
    monkeypatch.setattr(_variational, "noise_law", lambda robust: Laplace() if robust else gaussian)
    types = (*BayesianFactorization._state_types, Laplace)
    monkeypatch.setattr(BayesianFactorization, "_state_types", types)
    return Laplace


@pytest.mark.here(reason="models elsewhere are not saved")
def test_the_noise_law_fits_streams_and_is_saved(rng, law, tmp_path):
    truth, X = gappy_rows(rng)
    outliers = rng.random(X.shape) < 0.05
    X = np.where(outliers & ~np.isnan(X), 50.0 * rng.standard_normal(X.shape), X)
    gaps = np.isnan(X)
    model = BayesianFactorization(3, robust=True, random_state=0).fit(X)
    assert isinstance(model.state_.current.factors.noise, law)
    bound = [record["bound"] for record in model.history_]
    assert len(bound) > 2
    assert (np.diff(bound) > -1e-9 * np.abs(bound[-1])).all()
    error = np.std((model.impute(X) - truth)[gaps])
    assert error < 0.5
    assert error < 0.5 * np.std((BayesianFactorization(3, random_state=0).fit(X).impute(X) - truth)[gaps])
    model.partial_fit(X[:30])
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert isinstance(again.state_.current.factors.noise, law)
    np.testing.assert_array_equal(again.impute(X), model.impute(X))
    np.testing.assert_array_equal(again.partial_fit(X[30:]).impute(X), model.partial_fit(X[30:]).impute(X))


def test_the_noise_law_is_what_its_docstring_says(rng, law):
    """The bound of an entry is log ∫ p(u) √u exp(-ud/2) du, and of the weight E[u], by sampling 1/u ~ Exp(1)."""
    u = 1.0 / rng.standard_exponential(2_000_000)
    for d in (0.3, 1.0, 4.0):
        share = np.sqrt(u) * np.exp(-0.5 * u * d)
        w = np.sqrt(2.0 / d)
        assert np.average(u, weights=share) == pytest.approx(w, rel=0.02)
        _, bound = law().learn(np.array([1.0, 1.0 / w]))
        assert bound - 0.5 * w * d == pytest.approx(np.log(share.mean()), abs=0.01)
    e = rng.laplace(scale=1.0 / np.sqrt(2.0), size=200_000)
    assert np.mean(np.abs(e) < 1.96 * np.sqrt(law().normal_variance(1.0))) == pytest.approx(0.95, abs=0.003)


# ------------------------------------------------------------------ a place for the features


@pytest.fixture
def place(new_file, monkeypatch):
    monkeypatch.setattr(places, "_place_by_type", dict(places._place_by_type))
    return new_file("How to add a place for the features", "tall/pieces.py")


@pytest.mark.parametrize(
    "estimator",
    [DictionaryFilter(3, random_state=0), BayesianFactorization(3), BayesianFactorization(3, robust=True)],
    ids=["filter", "variational", "robust"],
)
@pytest.mark.parametrize("kind", ["complete", "gappy", "sparse"])
def test_the_place_gives_the_same_numbers(rng, place, estimator, kind, tmp_path):
    if kind == "sparse":  # which a robust fit does not take
        estimator = clone(estimator).set_params(**{"robust": False} if hasattr(estimator, "robust") else {})
    X = gappy_rows(rng, missing=0.0 if kind == "complete" else 0.3)[1]
    rows = X
    if kind == "sparse":
        row, column = np.nonzero(~np.isnan(X))
        rows = sparse.csr_array((X[row, column], (row, column)), shape=X.shape)
    models = []
    for where in (HERE, place.PIECES):
        with using(where):
            model = clone(estimator).fit(rows[:80])
        models.append(model.partial_fit(rows[80:]))
    state = models[1].state_
    C = state.filter.C if isinstance(estimator, DictionaryFilter) else state.current.factors.post.C
    assert isinstance(C, place.Pieces)
    assert [len(part) for part in C.parts] == [6, 7, 7]
    with pytest.raises(TypeError, match="C of type Pieces cannot be saved: features must be in this process"):
        models[1].save(tmp_path / "model")
    X[::2, 0] = np.nan
    here, there = (model.impute(X, return_std=True) for model in models)
    for a, b in zip(here, there, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-8, atol=1e-8)


def test_the_place_centres_all_pieces_also_where_the_first_has_mean_zero(rng, place):
    X = low_rank(rng, 40, 9, 2)
    X = np.vstack([X, -X])
    X[:40, 3:] += 5.0
    X[40:, 3:] += 5.0
    X[:, :3] = np.round(64.0 * X[:, :3]) / 64.0  # so that their sums are zero without rounding
    models = []
    for where in (HERE, place.PIECES):
        with using(where):
            models.append(DictionaryFilter(2, random_state=0).fit(X))
    here, there = models
    assert not here.state_.filter.origin[:3].any()
    assert here.state_.filter.origin[3:].all()
    np.testing.assert_allclose(there.mean_, here.mean_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(there.mean_[3:], 5.0, atol=1.0)


# ------------------------------------------------------------------ a file format


@pytest.fixture
def json_lines(new_file, monkeypatch):
    module = new_file("How to add a file format", "sources/json_lines.py")
    monkeypatch.setattr(tables, "FORMATS", (*tables.FORMATS, module.FORMAT))


def test_the_file_format_keeps_what_was_there(rng, json_lines, tmp_path):
    truth, X = gappy_rows(rng, 80, 6)
    rows = [
        {
            "name": f"é{k}",
            **{f"x{j}": None if np.isnan(v) else v for j, v in enumerate(row)},
            "id": 2**60 + k,
            "ok": True,
        }
        for k, row in enumerate(X)
    ]
    del rows[3]["name"]
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    done = complete_file(path, Settings(level=0.9, components=3))
    written = [json.loads(line) for line in done.content.decode().splitlines()]
    assert (done.n_gaps, done.n_columns, done.other_gaps) == (np.isnan(X).sum(), 6, ["name"])
    assert len(written) == len(rows)
    for before, after in zip(rows, written, strict=True):
        assert all(after[name] == value for name, value in before.items() if value is not None)
        assert all(after[f"x{j}_lower"] <= after[f"x{j}"] <= after[f"x{j}_upper"] for j in range(6))
        assert type(after["id"]) is int
    filled = np.array([[row[f"x{j}"] for j in range(6)] for row in written])
    assert np.std((filled - truth)[np.isnan(X)]) < np.std(truth)


def test_the_file_format_takes_forecasts(rng, json_lines, tmp_path):
    path = tmp_path / "in.jsonl"
    rows = [{"day": f"2024-01-{k + 1:02d}", "x": float(x)} for k, x in enumerate(rng.normal(size=30))]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    written = [json.loads(line) for line in forecast_file(path, ForecastSettings(2)).content.decode().splitlines()]
    assert [row["day"] for row in written] == ["2024-01-31", "2024-02-01"]
    assert all(row["x_lower"] < row["x"] < row["x_upper"] for row in written)


@pytest.mark.parametrize(
    "content", ["1\n", "[1, 2]\n", '{"a": 1\n', '"text"\n', "null\n", "[[1, 2]]\n", '{"a": "b"}\n', "\n"]
)
def test_the_file_format_refuses_in_one_sentence(json_lines, tmp_path, content):
    path = tmp_path / "in.jsonl"
    path.write_text(content)
    with pytest.raises(TableError, match=r"in\.jsonl cannot be used: it [^.]*\.$"):
        complete_file(path, Settings())


# ------------------------------------------------------------------ a command


@pytest.mark.here(reason="models elsewhere are not saved")
def test_the_command_runs(rng, new_file, monkeypatch, tmp_path, capsys):
    new_file("How to add a command", "cli/show.py")
    cli = importlib.import_module("factorstream.cli")
    monkeypatch.setattr(cli, "COMMANDS", (*cli.COMMANDS, "show"))
    path = tmp_path / "model"
    DictionaryFilter(3, drift=0.5).fit(gappy_rows(rng)[1]).save(path)
    assert main(["show", str(path)]) == 0
    assert capsys.readouterr().out.strip() == "DictionaryFilter(drift=0.5, n_components=3)"
    path.write_bytes(path.read_bytes()[:-1])
    assert main(["show", str(path)]) == 2
    assert main(["show", str(tmp_path / "nothing")]) == 2
    assert re.fullmatch(r"(factorstream: [^\n]+\n){2}", capsys.readouterr().err)
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    assert "say what a saved model is" in capsys.readouterr().out


# ------------------------------------------------------------------ an estimator


@pytest.fixture
def case(new_file, monkeypatch):
    Estimator = new_file("How to add an estimator", "estimators/additive_means.py").AdditiveMeans
    monkeypatch.setattr(factorstream, "AdditiveMeans", Estimator, raising=False)
    monkeypatch.setattr(factorstream, "__all__", [*factorstream.__all__, "AdditiveMeans"])
    return Case(Estimator(shrinkage=0.5))


def test_the_estimator_keeps_the_contracts(case, tmp_path):
    for kind in (*test_failed_calls.BAD, *test_failed_calls.WITHOUT_DATA):
        test_failed_calls.test_a_failed_fit_changes_nothing(case, kind)
    for order in "CF":
        for missing in (0.0, 0.2):
            test_arrays.test_rows_are_neither_changed_nor_kept(case, order, missing)
    for layout in test_arrays.LAYOUTS:
        test_arrays.test_the_layout_of_the_rows_does_not_matter(case, layout)
    for how in test_copies.COPIES:
        test_copies.test_a_copy_answers_as_the_original(case, how, tmp_path)
    test_failed_calls.test_questions_change_nothing_and_bad_ones_are_refused(case)
    test_failed_calls.test_before_fitting_every_question_says_so(case)
    test_failed_calls.test_a_call_that_is_interrupted_anywhere_changes_nothing(case, "fit", 25)
    test_streams.test_rows_are_answered_one_by_one_as_all_together(case)
    test_streams.test_fitting_again_forgets_what_was_before(case)
    test_parameters.test_answers_survive_every_change_of_parameters(case, "fit")
    test_parameters.test_all_that_was_learned_is_in_the_state(case)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_estimator_takes_tables(case, library, tmp_path):
    test_tables.test_tables_and_names(case, library)
    test_tables.test_a_file_keeps_the_names(case, library, tmp_path)


def test_the_estimator_fills(case, rng):
    truth = rng.standard_normal((200, 1)) + rng.standard_normal(10)
    X = np.where(rng.random(truth.shape) < 0.2, np.nan, truth)
    assert np.std(case.estimator.fit(X).impute(X) - truth) < 0.2
