"""All cores of one machine: how many threads may work, and work that is divided among them.

``limit`` keeps the thread pools of BLAS out of the way and says how many threads of our own there may be; ``pool`` has
these threads; ``pieces`` divides work into pieces for them. Whoever works on many numbers calls the functions here.
"""

from .limit import limited, n_threads
from .pieces import (
    MOST,
    MULTIPLICATION,
    PASS,
    TINY,
    Tile,
    accumulate,
    each_of,
    each_piece,
    each_tile,
    pieces,
    product,
    sum_of,
    sum_of_pieces,
    tiles,
    undivided,
)

__all__ = [
    "MOST", "MULTIPLICATION", "PASS", "TINY", "Tile", "accumulate", "each_of", "each_piece", "each_tile", "limited",
    "n_threads", "pieces", "product", "sum_of", "sum_of_pieces", "tiles", "undivided",
]  # fmt: skip
