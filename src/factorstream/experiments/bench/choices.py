"""The cases of the benchmark in words. Imports nothing of the package, so that the command line can list them."""

from __future__ import annotations

from typing import NamedTuple


class Choice(NamedTuple):
    """One case."""

    title: str
    words: str
    """What it measures, short enough for a line of a terminal."""
    data: str = ""
    """What it has to load; empty where it makes its data up."""

    @property
    def heading(self) -> str:
        """The case in one line, without the sizes that its rows would give."""
        return f"{self.title}: {self.words}"


CHOICES = {
    "complete_stream": Choice("Complete stream", "nothing missing, beside a textbook loop"),
    "masked_stream": Choice("Masked stream", "faces, a quarter missing, every peer", "faces"),
    "small_table": Choice("Narrow table", "few features, many rows, NumPy and compiled"),
    "featurewise_sweep": Choice("Featurewise sweep", "one posterior per feature, beside ALS", "faces"),
    "sequence_sweep": Choice("Sequence", "one EM sweep beside a textbook and statsmodels", "London PM10"),
    "one_row": Choice("One more row", "a single row in partial_fit, and the import"),
    "memory": Choice("Peak extra memory", "partial_fit of more and more rows"),
    "scaling": Choice("Time per sample", "by features, components, samples and gaps"),
}
"""By the names of the functions in ``cases``."""


def listing() -> str:
    """One line for each."""
    width = max(map(len, CHOICES))
    return "\n".join(f"  {name:<{width}}  {choice.heading}" for name, choice in CHOICES.items())
