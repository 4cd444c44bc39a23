"""Rounds whose launches are recorded: this process asks for what comes before the small step with one call, and with
another for what the device does meanwhile.

What is recorded works on arrays of its own, which take the rows one after another:

    move      before ← after ← following, then ``go`` with these two; its sums are what this process waits for
    products  ``chosen_products`` of the new following row
"""

from __future__ import annotations

from ..arrays import Array, launched, namespace, recorded, zeros_beside
from . import round_products
from .round_products import ends

KERNEL = "factorstream.tall.triton_rounds"
"""Where the kernels of a round are."""


class RepeatedRounds:
    """Rounds of one kind. Whoever has made one puts a row into ``following`` between ``move`` and ``products``."""

    def __init__(
        self, C: Array, q: int, K: int, by_missing: bool, numbers: Array, group: Array | None, seen: Array | None
    ) -> None:
        """``numbers`` must be zeros now. Every round reads its numbers from this array, and counts in ``seen``."""
        xp, (m, _), size = namespace(C), C.shape, ends(q, K)
        self.numbers, self.seen = numbers, seen
        self.before, self.after, self.following = (xp.astype(zeros_beside(C, m), C.dtype) for _ in range(3))
        self.out, self.ahead = (zeros_beside(C, size.pulls) for _ in range(2))
        self._group = None if group is None else xp.zeros_like(group)
        self._group_given: Array | None = None
        room: list[Array] = []  # nothing is made while rounds are recorded: it would stay with the recording
        launch("make_room", C, q, K, room)
        self._room = room

        def move() -> None:
            self.before[...] = self.after
            self.after[...] = self.following
            self.out[: size.last] = self.ahead[: size.last]
            launch("go", C, q, K, self.before, numbers, self._group, seen, self.after, by_missing, self.out, room)

        def products() -> None:
            launch("chosen_products", C, q, self.following, by_missing, self.ahead, room)

        move()  # by nothing: now all kernels are compiled
        products()
        self.move, self.products = recorded(move, C), recorded(products, C)

    def begin(self, before: Array, after: Array, ahead: Array) -> None:
        """Go on after a round that was not recorded: the row that will move C, the next one, and its products."""
        self.after[...], self.following[...], self.ahead[...] = before, after, ahead

    def take(self, numbers: Array, group: Array | None) -> None:
        """What the next round needs beside rows; ``group`` are the numbers of the features' groups."""
        if numbers is not self.numbers:
            self.numbers[...] = numbers
        if group is not None and group is not self._group_given:
            assert self._group is not None  # for the type checker: every round of this kind has groups
            self._group[...] = group
            self._group_given = group


def launch(name: str, C: Array, *arguments: object) -> None:
    """A function of ``round_products`` by its kernels, or else as it stands there."""
    if not launched(C, KERNEL, name, C, *arguments):
        getattr(round_products, name)(C, *arguments)
