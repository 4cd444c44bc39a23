"""Run the benchmark: ``python -m benchmarks [--quick] [--only CASE ...] [--output DIR]``."""

from __future__ import annotations

import os
import sys

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before NumPy starts its threads

from .command import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
