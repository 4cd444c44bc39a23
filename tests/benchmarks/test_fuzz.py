"""Random calls find nothing; and what the run looks for, it would find."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from benchmarks import fuzz
from factorstream import DictionaryFilter

pytestmark = pytest.mark.long  # benchmarks, if small ones


@pytest.mark.once
def test_random_calls_break_nothing(capsys):
    assert fuzz.main(["--cases", "150", "--seed", "1"]) == 0, capsys.readouterr().out


def raw(model, X):
    np.linalg.cholesky(-np.eye(2))


def noisy(model, X):
    warnings.warn("overflow", RuntimeWarning, stacklevel=1)


def forgetful(model, X):
    model.n_components = 1
    raise ValueError("A sentence.")


@pytest.mark.parametrize(("broken", "words"), [(raw, "LinAlgError"), (noisy, "overflow"), (forgetful, "changed")])
def test_what_must_not_happen_is_found(broken, words, monkeypatch, capsys):
    monkeypatch.setattr(fuzz, "_make_model", lambda rng: DictionaryFilter(2, random_state=0))
    for name in ("fit", "partial_fit"):
        monkeypatch.setattr(DictionaryFilter, name, broken)
    assert fuzz.main(["--cases", "1"]) == 1
    assert words in capsys.readouterr().out
