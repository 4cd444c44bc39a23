"""The method ``report`` of the estimators."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..files import check_folder
from ..masks import Seed
from ..progress import progress


class Reported:
    """Base of the estimators with intervals: ``report`` writes a page about what they did to a table."""

    verbose: int

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any,
        *,
        level: float = 0.95,
        fraction: float = 0.1,
        length: int | None = None,
        max_fills: int = 1000,
        rng: Seed = 0,
    ) -> Path:
        """Write a report on X as one HTML file, which needs nothing else and no network.

        It says what was done, shows what is missing and what fills it, with intervals, and measures how good fills and
        intervals are: some observed entries are hidden, and fills are compared with them, beside the column's mean and,
        where rows are in the order of time, straight lines. A model that was fitted to other rows than X is asked
        itself; for one that was fitted to X, a copy with the same settings is fitted without the hidden entries and
        asked. It lists what was left out and why, settings, versions, and the Python lines that do it again. The model
        stays as it is. Needs ``pip install "factorstream[report]"``.

        Parameters
        ----------
        path : str or Path
            The file to write. It is complete or not there.
        X : array or table (n_samples, n_features)
            The table to report on, NaN where a value is missing. Columns of a table that the model was not fitted to
            are listed as left out.
        level : float, default=0.95
            Probability of the intervals.
        fraction : float, default=0.1
            Share of each column's observed entries to hide.
        length : int, default=None
            Rows hidden in a run; above 1 it says that the rows are in the order of time. By default 1 or, where X has
            time stamps or the model is a sequence, as many as gaps of X usually last.
        max_fills : int, default=1000
            Most fills in the table of fills; of more, the least certain are listed.
        rng : int, Generator or None, default=0
            Seeds the choice of the hidden entries.

        Returns
        -------
        pathlib.Path
            The file.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> from factorstream import LowRankImputer
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(80, 5))
        >>> X[rng.random(X.shape) < 0.2] = np.nan
        >>> model = LowRankImputer(random_state=0).fit(X)
        >>> page = model.report(Path(tempfile.mkdtemp()) / "report.html", X)
        >>> "76 gaps filled" in page.read_text()
        True
        """
        from ..report.model_report import STEPS, write_report  # not above: it is a layer that uses this one

        check_folder(Path(path))
        with progress("reporting", STEPS, show=bool(self.verbose)) as step:
            return write_report(
                path, self, X, level=level, fraction=fraction, length=length, max_fills=max_fills, rng=rng, step=step
            )
