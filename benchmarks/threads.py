"""What a busy neighbour does to the filter, with the library's one BLAS thread and with one per core.

    python benchmarks/threads.py

The filter is the paper's, whose matrix products are the larger share of its time.
Two BLAS pools (NumPy's and SciPy's) that spin while they wait for a core are the worst case: the threads of the
library alternate between them every few microseconds. Times are medians of five passes over the same data.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

PASS = """
import sys
import time
import numpy as np
from factorstream import DictionaryFilter
m, r = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
X = rng.standard_normal((300, r)) @ rng.standard_normal((r, m)) + rng.standard_normal((300, m))
X[rng.random(X.shape) < 0.25 * (np.arange(300)[:, None] % 2)] = np.nan
times = []
for _ in range(6):
    start = time.perf_counter()
    DictionaryFilter(r, covariance="shared", scale=False, random_state=0).fit(X)
    times.append(time.perf_counter() - start)
print(*times[1:])
"""


SIZES = ((4096, 40), (100, 5))
"""Features and components: a dictionary that BLAS would share out among threads, and one that it would not."""


def seconds(threads: int, neighbours: int, m: int, r: int) -> float:
    """Median time of a pass while so many other processes each keep a core busy."""
    free = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    environment = free | {"FACTORSTREAM_THREADS": str(threads)}
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(neighbours)]
    try:
        out = subprocess.run(
            [sys.executable, "-c", PASS, str(m), str(r)], env=environment, capture_output=True, text=True, check=True
        ).stdout
    finally:
        for process in busy:
            process.kill()
            process.wait()
    return statistics.median(map(float, out.split()))


def main() -> None:
    """Print the times with no neighbour, one, and one per core."""
    cores = os.cpu_count() or 1
    for m, r in SIZES:
        print(f"{cores} cores; seconds for one pass over 300 × {m}, r = {r}, every second row with gaps")
        for neighbours in (0, 1, cores):
            times = [seconds(threads, neighbours, m, r) for threads in (1, cores)]
            print(f"{neighbours} busy neighbours: {times[0]:.3f} on one thread, {times[1]:.3f} on {cores}")


if __name__ == "__main__":
    main()
