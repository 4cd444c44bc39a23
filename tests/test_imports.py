"""Importing the package is cheap and brings nothing that a user may not have or want."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import factorstream

HEAVY = (
    "matplotlib",
    "jinja2",
    "rich",
    "pandas",
    "polars",
    "pyarrow",
    "dask",
    "torch",
    "numba",
    "cupy",
    "nimfa",
    "statsmodels",
    "PIL",
    "river",
)


EXTRAS = ("matplotlib", "jinja2", "rich", "pandas", "polars", "pyarrow", "h5py", "zarr", "numba", "PIL", "river")
"""What the extras install (SciPy looks into the others of HEAVY where they are in sys.modules)."""


def run(code):
    """What the code prints, word by word; modules are compiled once and kept, as those of installed packages are."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    return result.stdout.split()


def test_the_package_itself_imports_nothing_but_the_standard_library():
    loaded = run("import sys, factorstream; dir(factorstream); print(*{n.partition('.')[0] for n in sys.modules})")
    assert not set(loaded) & {"numpy", "scipy", "sklearn", *HEAVY}


def test_nothing_heavy_is_imported():
    code = "import sys, sklearn.decomposition; before = set(sys.modules)\n"
    code += "from factorstream import *\nimport factorstream.cli\n"
    code += "print(*{n.partition('.')[0] for n in set(sys.modules) - before})"
    assert not set(run(code)) & set(HEAVY)


def test_import_adds_little_time():
    """A quarter of what scikit-learn takes in the same process: seconds alone depend on the machine and its neighbours.

    Without passes of the garbage collector over all that scikit-learn has loaded: whether one comes depends on a few
    objects more or less.
    """
    code = "import gc, time; gc.disable(); a = time.process_time(); import sklearn.decomposition\n"
    code += "b = time.process_time()\nfrom factorstream import *\nprint((time.process_time() - b) / (b - a))"
    assert any(float(run(code)[0]) < 0.25 for _ in range(10))


def test_every_public_name_is_there():
    for name in factorstream.__all__:
        assert getattr(factorstream, name).__name__ == name
        assert name in dir(factorstream)
        assert name in vars(factorstream)  # found at once the next time
    with pytest.raises(AttributeError, match="has no attribute 'NoSuchThing'"):
        _ = factorstream.NoSuchThing
    with pytest.raises(ImportError, match="NoSuchThing"):
        from factorstream import NoSuchThing  # noqa: F401


def test_modules_are_there_without_a_line_of_their_own():
    """Also where no extra is installed: `help(factorstream)` asks for every name."""
    code = "import sys, factorstream; assert 'numpy' not in sys.modules\n"
    code += f"sys.modules.update(dict.fromkeys({EXTRAS}))\n"  # importing one of them now raises ImportError
    code += "factorstream.plot.gaps, factorstream.images.restore_picture, factorstream.metrics.rmse\n"
    code += "import inspect\n"
    code += "print(*(value.__name__ for _, value in inspect.getmembers(factorstream, inspect.ismodule)))"
    assert {f"factorstream.{name}" for name in factorstream._PARTS} <= set(run(code))


def test_type_checkers_are_told_the_same_names():
    """What is imported for type checkers alone is what `_MODULES` and `_PARTS` say."""
    tree = ast.parse(Path(factorstream.__file__).read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    told = {alias.name: node.module for node in block.body for alias in node.names}
    assert told == factorstream._MODULES | dict.fromkeys(factorstream._PARTS)


BARE = """
import sys
for name in ("matplotlib", "rich", "pandas", "polars", "pyarrow", "numba"):
    sys.modules[name] = None  # importing it now raises ImportError
import numpy as np
import factorstream
rng = np.random.default_rng(0)
X = np.abs(rng.normal(size=(40, 3)) @ rng.normal(size=(3, 8)) + 5.0)
X[rng.random(X.shape) < 0.2] = np.nan
for name in factorstream.__all__:
    Estimator = getattr(factorstream, name)
    if not hasattr(Estimator, "fit"):
        continue
    model = Estimator(n_components=3).fit(X)
    filled = model.impute(X) if hasattr(model, "impute") else model.transform(X)
    assert np.isfinite(filled).all(), name
    print(name)
"""


def test_the_bare_dependencies_are_enough():
    classes = {name for name in factorstream.__all__ if hasattr(getattr(factorstream, name), "fit")}
    assert set(run(BARE)) == classes
    assert {"DictionaryFilter", "BroydenFactorization", "SGDFactorization", "MaskedNMF"} <= classes
