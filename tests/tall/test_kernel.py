"""When compiled code is asked, what it hands back, and what happens where it does not work."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from compiled_problems import assert_same, with_gaps
from factorstream import SGDFactorization
from factorstream.cores import compiling
from factorstream.tall import kernel
from filter_problems import paper_filter

pytest.importorskip("numba")
from factorstream.tall import compiled, compiled_projecting

pytestmark = pytest.mark.here(reason="compiled loops need the features in one array")


def test_steps_and_gains_that_the_loops_do_not_have(rng, monkeypatch):
    X = with_gaps(rng, 200, 20, 3, 0.2)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "1")
    assert kernel.applies(paper_filter(3).fit(X).state_.settings.model, 10**6, 20)
    assert not kernel.applies(SGDFactorization(3).fit(X).state_.settings.model, 10**6, 20)  # its steps are any function
    assert not kernel.applies(paper_filter(3, coefficients="marginal").fit(X).state_.settings.model, 10**6, 20)


def test_rows_without_information_are_not_handed_back(rng, monkeypatch):
    """The degrees of freedom they take are zero but for rounding, which may be negative."""
    X = with_gaps(rng, 400, 15, 4, 0.3)
    X[::2] = np.nan
    handed_back = []
    real = compiling.call
    monkeypatch.setattr(compiling, "call", lambda f, C, Y, *a: handed_back.append(len(Y)) or real(f, C, Y, *a))
    for seed in range(20):
        model = paper_filter(4, random_state=seed).fit(X)
        monkeypatch.setenv("FACTORSTREAM_COMPILED", "1")
        handed_back.clear()
        model.transform(X)
        assert sorted(handed_back) == [144, 256]  # threads may take the blocks in any order
        monkeypatch.setenv("FACTORSTREAM_COMPILED", "0")


def test_the_size_of_a_call_decides(rng, monkeypatch):
    model = paper_filter(3).fit(with_gaps(rng, 50, 20, 3, 0.2)).state_.settings.model
    for unset in ("", "auto"):
        monkeypatch.setenv("FACTORSTREAM_COMPILED", unset)
        assert not kernel.applies(model, 7000, 20)
        assert kernel.applies(model, 8000, 20)
        assert kernel.applies(model, 1000, 4096)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "yes")
    with pytest.raises(ValueError, match="must be 0, 1 or auto; it is 'yes'"):
        kernel.applies(model, 1, 1)


@pytest.mark.parametrize("kind", ["fit", "shuffled fit", "stream", "other dtype", "late", "sparse", "late sparse"])
def test_a_large_call_is_compiled_however_it_is_cut(rng, monkeypatch, kind):
    """Shuffled rows are gathered, other dtypes converted, and new features settled a part at a time."""
    X = with_gaps(rng, 9000, 20, 3, 0.2)
    if "late" in kind:
        X[:5000, 0] = X[:, 1] = np.nan
    rows = sparse.csr_array(np.nan_to_num(X)) if "sparse" in kind else X
    taken = []
    real = compiling.call
    monkeypatch.setattr(compiling, "call", lambda *a: taken.append(real(*a)) or taken[-1])
    model = paper_filter(3, random_state=0, shuffle=kind == "shuffled fit")
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "auto")
    if "fit" in kind:
        model.fit(rows)
    else:
        first = model.partial_fit(rows[:40])
        first.partial_fit(rows.astype(np.float32) if "dtype" in kind else rows)
    assert sum(taken) > 8000  # of 8182 with data


@pytest.fixture
def another_process(monkeypatch):
    """As if compiled code had not been loaded yet."""
    monkeypatch.setattr(compiling, "_failure", None)
    monkeypatch.delattr(sys.modules["factorstream.tall"], "compiled", raising=False)


@pytest.mark.usefixtures("another_process")
def test_without_numba(rng, monkeypatch):
    """NumPy takes over without a word; who insists is told what to install."""
    X = with_gaps(rng, 9000, 20, 3, 0.2)
    monkeypatch.delitem(sys.modules, "factorstream.tall.compiled", raising=False)
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "auto")
    paper_filter(3).fit(X).impute(X)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "1")
    with pytest.raises(ImportError, match=r'needs a working numba, pip install "factorstream\[fast\]"'):
        paper_filter(3).fit(X)


@pytest.mark.usefixtures("another_process")
def test_with_a_numba_that_does_not_load(rng, monkeypatch):
    X = with_gaps(rng, 9000, 20, 3, 0.2)
    monkeypatch.setitem(sys.modules, "factorstream.tall.compiled", None)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "auto")
    with pytest.warns(RuntimeWarning, match="NumPy takes over: compiled code cannot be used") as said:
        paper_filter(3).fit(X).impute(X)
    assert len(said) == 1


@pytest.mark.usefixtures("another_process")
@pytest.mark.parametrize("work", ["fit", "transform", "sparse"])
def test_with_a_compiler_that_fails(rng, monkeypatch, work):
    """No room for its cache, say: the call goes on with NumPy, from where it was, and says so once."""
    X = with_gaps(rng, 9000, 20, 3, 0.2)
    rows = sparse.csr_array(np.nan_to_num(X)) if work == "sparse" else X
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "0")
    expected = paper_filter(3, random_state=0).fit(rows)

    def fails(*_):
        raise OSError("no space left")

    for name in ("filter_rows", "filter_sparse_rows"):
        monkeypatch.setattr(compiled, name, fails)
    monkeypatch.setattr(compiled_projecting, "project_rows", fails)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "auto")
    with pytest.warns(RuntimeWarning, match="OSError: no space left.*NUMBA_CACHE_DIR") as said:
        found = expected.transform(X) if work == "transform" else paper_filter(3, random_state=0).fit(rows)
    assert len(said) == 1
    if work == "transform":
        monkeypatch.setenv("FACTORSTREAM_COMPILED", "0")
        np.testing.assert_allclose(found, expected.transform(X), rtol=1e-12, atol=1e-12)
    else:
        assert_same(expected, found)


COMPILES = """
import time
import numpy as np
from numba import njit
from factorstream import progress
from factorstream.tall import kernel, loops

progress.DELAY, progress.LINES_EVERY = 0.0, 0.01
assert kernel.import_failure() is None
for name, function in (("ours", loops.cholesky), ("theirs", njit(lambda *x: x[2]))):
    with progress.progress(name, 100) as step:
        function(np.eye(3), np.zeros((3, 3)), 3, 1e-9)
        step(50)
        time.sleep(0.1)
"""


def test_progress_says_that_code_is_being_compiled(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", COMPILES], env=environment, capture_output=True, text=True, check=True)
    lines = done.stderr.splitlines()
    assert any(line.startswith("ours, compiling, once per installation: 0%") for line in lines)
    assert any(line.startswith("ours: 50%") for line in lines)
    assert not any(line.startswith("theirs, ") for line in lines)
