"""What goes into the estimators, and what they are made with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import sparray, spmatrix

from ..sources.rows.source import Source

MatrixLike: TypeAlias = ArrayLike | sparray | spmatrix
"""Rows of data as people have them: an array, a list of lists, a data frame, or sparse rows."""

SourceLike: TypeAlias = MatrixLike | Source | PathLike[str] | Iterable[Any] | Callable[[], Iterable[Any]]
"""The same, or what :func:`factorstream.open_rows` takes: rows that need not fit into memory."""

Seed: TypeAlias = int | np.random.RandomState | None
"""What scikit-learn calls ``random_state``."""
