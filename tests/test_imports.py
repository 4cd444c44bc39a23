"""Importing the package is cheap and brings nothing that a user may not have or want."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("matplotlib", "rich", "pandas", "polars", "pyarrow", "dask", "torch", "numba", "cupy", "nimfa", "statsmodels")


def run(code):
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return result.stdout.split()


def test_nothing_heavy_is_imported():
    code = "import sys, sklearn.decomposition; before = set(sys.modules)\n"
    code += "import factorstream, factorstream.cli; print(*{n.partition('.')[0] for n in set(sys.modules) - before})"
    assert not set(run(code)) & set(HEAVY)


def test_import_adds_little_time():
    code = "import time, sklearn.decomposition; a = time.process_time()\n"
    code += "import factorstream; print(time.process_time() - a)"
    assert min(float(run(code)[0]) for _ in range(5)) < 0.3
