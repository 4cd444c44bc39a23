"""What goes into the estimators, and what they are made with."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import sparray, spmatrix

MatrixLike: TypeAlias = ArrayLike | sparray | spmatrix
"""Rows of data as people have them: an array, a list of lists, a data frame, or sparse rows."""

Seed: TypeAlias = int | np.random.RandomState | None
"""What scikit-learn calls ``random_state``."""
