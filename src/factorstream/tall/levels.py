"""Which level every feature is in, found where the features are: nothing with a feature axis comes to this process."""

from __future__ import annotations

import numpy as np

from ..core.filter.groups import LOWEST, STEPS_PER_HALF, Counts, Groups, level_root, numbers
from ..core.linalg import Array
from ..core.place import Place, Tall
from . import counted_products as products


def in_levels(place: Place, groups: Groups, S: Array) -> Groups:
    """Every feature in the level of its share, where none has a group of its own: as ``groups.releveled`` does it.

    S is the square root of the covariance of group 0. Where nothing changes, the groups are returned as they were.
    """
    seen, n = groups.seen, groups.n
    if place.total(products.n_misplaced, seen, n, groups.group, numbers(groups.shares)) == 0:
        return groups
    level = place.each(products.levels, seen, n)
    levels = 1 + np.flatnonzero(place.total(products.group_sizes, level, LOWEST + 1)[1:])
    shares = 2.0 ** (-levels / STEPS_PER_HALF)
    known = dict(zip(groups.shares.tolist(), groups.roots, strict=True))
    roots = [known[share] if share in known else level_root(S, groups.prior, share) for share in shares.tolist()]
    return groups._replace(
        group=place.each(products.numbered, level, numbers(shares)),
        roots=np.array(roots).reshape(-1, *S.shape),
        shares=shares,
    )


def sizes_by_group(place: Place, group: Tall, n_groups: int) -> tuple[Counts, int]:
    """How many features each group has, and the number of the largest one."""
    sizes = place.total(products.group_sizes, group, n_groups)
    largest, n = int(sizes.argmax()), int(sizes.sum())
    return Counts(sizes, n, largest if sizes[largest] == n else None), largest
