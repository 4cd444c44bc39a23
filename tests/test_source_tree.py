"""What the source says of itself is true: files it names exist, tests mirror it, and nothing is there for tests."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import factorstream
from factorstream import images, plot

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "factorstream"
MODULES = sorted(path for path in SRC.rglob("*.py") if path.name != "__init__.py")
WRITTEN_BY_USERS = {"table.md", "benchmark.md"}
"""Files that a command makes."""


def known_files():
    folders = [ROOT / name for name in ("src", "tests", "benchmarks", "docs", "examples")]
    return {path.name for folder in folders for path in folder.rglob("*")} | {path.name for path in ROOT.iterdir()}


@pytest.mark.parametrize("folder", ["src", "benchmarks", "examples"])
def test_files_that_comments_name_are_there(folder):
    known = known_files() | WRITTEN_BY_USERS
    for path in [*(ROOT / folder).rglob("*.py"), *(ROOT / folder).rglob("*.md")]:
        named = re.findall(r"[\w/.-]*\w\.(?:md|py|toml|cff)\b", path.read_text(encoding="utf-8"))
        missing = {name for name in named if name.rpartition("/")[2] not in known}
        assert not missing, path


def test_the_readme_of_the_core_names_every_part_of_it():
    text = (SRC / "core" / "README.md").read_text(encoding="utf-8")
    parts = [path for path in (SRC / "core").iterdir() if path.is_dir() and path.name != "__pycache__"]
    assert {path.name for path in parts if f"{path.name}/" not in text} == set()


TESTED_BY = {
    "__main__": "cli/test_main",
    "baselines/broyden": "contracts/test_streams",
    "baselines/sgd": "contracts/test_streams",
    "cli/_caveats": "cli/test_forecast",
    "cli/_command": "cli/test_main",
    "cli/_job": "cli/test_detect",
    "jobs/reporting": "cli/test_report",
    "cli/_files": "cli/test_impute_bad_input",
    "cli/_impute_notes": "cli/test_impute",
    "cli/_options": "cli/test_impute_bad_input",
    "cli/_pictures": "cli/test_restore",
    "cli/_tables": "cli/test_detect",
    "core/dynamics/seasons/anew": "core/dynamics/seasons/test_relearning",
    "core/absurd_limits": "core/test_absurd",
    "core/absurd_rows": "core/test_absurd",
    "core/entries": "core/test_absurd",
    "core/filter/model": "core/filter/test_recursion",
    "core/place": "tall/test_places",
    "core/telling": "estimators/test_telling",
    "core/variational/noise/gaussian": "core/variational/test_sweep",
    "core/variational/noise/law": "core/variational/noise/test_student",
    "core/variational/noise/medians": "core/variational/noise/test_student",
    "core/variational/observed": "core/variational/test_fit",
    "tall/starting_rows": "tall/test_starting",
    "core/variational/squares": "core/variational/test_sweep",
    "core/variational/relevance": "core/variational/test_factors",
    "estimators/_absurd": "contracts/test_absurd_values",
    "estimators/_answers": "contracts/test_intervals",
    "estimators/_bayesian_run": "estimators/test_bayesian_factorization",
    "estimators/_chunked_rows": "cluster/test_sweeps",
    "estimators/_columns": "estimators/test_low_rank_imputer",
    "estimators/_factorizer": "contracts/test_arrays",
    "estimators/_elsewhere": "contracts/test_array_api",
    "estimators/_filter_answers": "estimators/test_dictionary_filter_units",
    "estimators/_filter_run": "estimators/test_dictionary_filter",
    "estimators/_column_units": "estimators/test_filter_columns",
    "estimators/_gaps": "estimators/test_sequence_gaps",
    "estimators/_given_numbers": "estimators/test_bad_input",
    "estimators/_infinity": "estimators/test_bad_input",
    "estimators/_imputer_answers": "estimators/test_low_rank_imputer",
    "estimators/_table_elsewhere": "contracts/test_array_api",
    "estimators/_imputer_fits": "estimators/test_low_rank_imputer",
    "estimators/_imputer_source": "estimators/test_source_rows",
    "estimators/_imputer_state": "estimators/test_low_rank_imputer",
    "estimators/_observing": "estimators/test_bayesian_factorization",
    "estimators/_reported": "report/test_model_report",
    "estimators/_kept_rows": "estimators/test_filter_columns",
    "estimators/_known_factorizer": "estimators/test_known_errors",
    "estimators/_known_imputer": "estimators/test_known_errors",
    "estimators/_lazily": "cluster/test_answers",
    "estimators/_sequence": "estimators/test_sequence_settings",
    "estimators/_sequence_watching": "estimators/test_sequence_events",
    "estimators/_sequence_attributes": "estimators/test_sequence_settings",
    "estimators/_sequence_reading": "estimators/test_sequence_answers",
    "estimators/_sequence_blend_fit": "estimators/test_sequence_blend",
    "estimators/_sequence_fit": "estimators/test_sequence_seasons",
    "estimators/_sequence_logs": "estimators/test_sequence_logarithms",
    "estimators/_sequence_places": "estimators/test_sequence_seasons",
    "estimators/_sequence_units": "estimators/test_sequence_logarithms",
    "core/dynamics/pieces": "core/dynamics/test_spread",
    "core/dynamics/seasons/hidden": "core/dynamics/seasons/test_judge",
    "core/dynamics/seasons/season": "core/dynamics/seasons/test_layers",
    "estimators/_sizes": "estimators/test_bad_input",
    "estimators/_stateful": "contracts/test_parameters",
    "estimators/_stored_times": "estimators/test_sequence_stored_times",
    "estimators/_stored_zones": "estimators/test_sequence_stored_times",
    "estimators/_streaming": "estimators/test_dictionary_filter",
    "estimators/_times": "estimators/test_sequence_tables",
    "estimators/_types": "contracts/test_arrays",
    "estimators/_validation": "estimators/test_bad_input",
    "estimators/_variational": "estimators/test_bayesian_factorization",
    "estimators/_variational_fits": "estimators/test_source_rows",
    "estimators/_variational_answers": "core/variational/test_places",
    "estimators/sequence": "estimators/test_sequence_quality",
    "experiments/methods": "experiments/test_restoration",
    "experiments/restoration_text": "experiments/test_restoration_report",
    "experiments/sequences_report": "experiments/test_sequences",
    "experiments/tuning": "experiments/test_restoration",
    "jobs/demonstration": "cli/test_demo",
    "jobs/filling": "test_completion",
    "jobs/inspection": "cli/test_info",
    "jobs/large_factors": "cli/test_large_files",
    "jobs/large_files": "cli/test_large_files",
    "jobs/large_surveys": "cli/test_large_files",
    "jobs/completed": "test_completion",
    "jobs/quiet": "test_completion",
    "jobs/reading": "jobs/test_forecasting",
    "persist/content": "test_persist",
    "persist/moving": "contracts/test_array_api",
    "persist/tree": "test_persist",
    "plot/_answers": "plot/test_series",
    "report/figures": "experiments/test_restoration_report",
    "report/parts": "report/test_model_report",
    "report/series": "report/test_document",
    "report/words": "report/test_model_report",
    "sources/cells": "sources/test_delimited",
    "sources/lines": "sources/test_stream",
    "sources/endings": "sources/test_tables",
    "sources/rows/arrow_datasets": "sources/rows/test_arrow",
    "sources/rows/arrow_tables": "sources/rows/test_arrow",
    "sources/rows/lazy_frames": "sources/rows/test_frames",
    "sources/rows/pandas_frames": "sources/rows/test_frames",
    "sources/rows/polars_frames": "sources/rows/test_frames",
    "sources/rows/array_output": "sources/rows/test_outputs",
    "sources/rows/batch_output": "sources/rows/test_outputs",
    "sources/rows/text_output": "sources/rows/test_outputs",
    "sources/rows/numbers": "sources/rows/test_arrays",
    "sources/rows/problems": "sources/rows/test_npy",
    "sources/rows/source": "sources/rows/test_arrays",
    "sources/table": "sources/test_tables",
    "sources/writing": "sources/test_tables",
    "jobs/filling_kinds": "cli/test_impute_kinds",
    "estimators/_mixed/text_frame": "cli/test_impute_kinds",
    "cores/compiling": "tall/test_kernel",
    "cores/compiling_said": "tall/test_kernel",
    "cores/loops": "tall/test_kernel",
    "tall/within_limit": "cores/test_limit",
    "arrays/where": "arrays/test_functions",
    "core/filter/block_work": "core/filter/test_recursion",
    "core/filter/compiled_whitened": "core/filter/test_whitened",
    "core/variational/compiled_inverse": "core/variational/test_packed",
    "tall/array_columns": "tall/test_array_products",
    "tall/array_counted": "tall/test_array_products",
    "tall/array_projecting": "tall/test_array_products",
    "core/variational/compiled_moments": "core/variational/test_packed_moments",
    "tall/column_products": "tall/test_columns",
    "tall/compiled_between": "tall/test_divided_rows",
    "core/tables/forest": "estimators/test_table_trees",
    "estimators/_filter_shards": "cluster/test_shards",
    "estimators/_in_shards": "cluster/test_shards",
    "estimators/_placed_absurd": "cluster/test_shards",
    "estimators/_sharded_rows": "cluster/test_shards",
    "tall/placed_rows": "cluster/test_shards",
    "sources/text_remarks": "sources/rows/test_text",
    "sources/rows/text_columns": "sources/rows/test_text",
    "estimators/_category_columns": "estimators/test_mixed_tables",
    "estimators/_mixed/answers": "estimators/test_mixed_tables",
    "estimators/_mixed/arrow_frame": "estimators/test_mixed_types",
    "estimators/_mixed/cells": "estimators/test_mixed_types",
    "estimators/_mixed/encoding": "estimators/test_mixed_tables",
    "estimators/_mixed/kinds": "estimators/test_mixed_tables",
    "estimators/_mixed/pandas_frame": "estimators/test_mixed_types",
    "estimators/_mixed/polars_frame": "estimators/test_mixed_types",
    "estimators/_table_groups": "estimators/test_mixed_tables",
    "estimators/_table_fit": "estimators/test_low_rank_imputer_tables",
    "estimators/_table_stream": "estimators/test_imputer_stream",
    "estimators/_table_model": "estimators/test_low_rank_imputer_tables",
    "core/dynamics/arrow": "core/dynamics/test_levels",
    "core/dynamics/compiled_levels": "core/dynamics/test_levels",
    "core/dynamics/forward_levels": "core/dynamics/test_levels",
    "core/dynamics/level_rows": "core/dynamics/test_levels",
    "core/variational/compiled_sparse": "core/variational/test_sparse_products",
    "tall/compiled_counted": "tall/test_counted_compiled",
    "tall/compiled_counted_rows": "tall/test_counted_compiled",
    "tall/compiled_groups": "tall/test_counted_compiled",
    "tall/compiled_gaps": "tall/test_gap_products",
    "tall/compiled_pieces": "tall/test_divided_rows",
    "tall/compiled_projecting": "tall/test_compiled",
    "tall/compiled_steps": "tall/test_compiled",
    "tall/loops": "tall/test_compiled",
    "tall/projecting_compiled": "tall/test_projecting",
    "tall/projecting_noises": "tall/test_projecting",
    "tall/projecting_numpy": "tall/test_projecting",
    "tall/projecting_products": "tall/test_projecting",
    "tall/round_products": "tall/test_rounds",
    "tall/rows_compiled": "tall/test_compiled",
    "tall/starting_products": "tall/test_starting",
    "tall/sparse_compiled": "tall/test_compiled",
    "tall/sparse_numpy": "tall/test_rows",
    "tall/sparse_products": "tall/test_products",
    "tall/triton_round_kernels": "tall/test_triton_rounds",
}
"""Modules without a test file of their name: their users' tests are theirs."""


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(SRC).as_posix())
def test_every_module_has_its_tests(path):
    module = path.relative_to(SRC).with_suffix("")
    own = f"{module.parent}/test_{module.stem.lstrip('_')}".removeprefix("./")
    listed = TESTED_BY.get(module.as_posix())
    there = [name for name in (own, listed) if name and (ROOT / "tests" / f"{name}.py").exists()]
    assert len(there) == 1, "a test file of the module's name, or a line in TESTED_BY"


FOR_ANOTHER_PLACE = {"register", "using"}
"""What whoever adds a place for the data calls."""


def test_nothing_is_there_for_tests_alone():
    """Every function and class is used somewhere in the package itself, or in its benchmark."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in SRC.rglob("*.py")]
    others = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "benchmarks").rglob("*.py")]
    nodes = [node for tree in trees + others for node in ast.walk(tree)]
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    used |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    kinds = (ast.FunctionDef, ast.ClassDef)
    defined = {node.name for tree in trees for node in tree.body if isinstance(node, kinds)}
    public = {name for name in defined if name.startswith("__")} | FOR_ANOTHER_PLACE
    public |= {*factorstream.__all__, *images.__all__, *plot.__all__, "StreamFactorization"}
    assert defined - used - public == set()
