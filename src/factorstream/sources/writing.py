"""A table written again with its gaps filled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from .table import Array, Bounds, Fill, OtherFill, OutputColumn, Table

__all__ = ["NO_OTHERS", "encode", "encode_parts"]

NO_OTHERS: Mapping[int, OtherFill] = {}


def encode(table: Table, filled: Array, bounds: Bounds | None = None) -> bytes:
    """All of `encode_parts`."""
    return b"".join(encode_parts(table, filled, bounds))


def encode_parts(
    table: Table, filled: Array, bounds: Bounds | None = None, others: Mapping[int, OtherFill] = NO_OTHERS
) -> Iterable[bytes]:
    """The file again with ``filled`` (the shape of ``table.numbers``) in its gaps, in parts.

    With bounds, the columns NAME_lower and NAME_upper follow each filled column NAME; both are the value itself
    where it was known. ``others`` are columns that are no numbers, by position.
    """
    columns = []
    places = {position: at for at, position in enumerate(table.numeric)}
    for position, name in enumerate(table.names):
        at = places.get(position)
        if (other := others.get(position)) is not None:
            columns.append(OutputColumn(position, name, Fill(other.gaps, other.values)))
            beside = other.beside.items()
            columns += [OutputColumn(position, f"{name}_{end}", Fill(other.gaps, one)) for end, one in beside]
            continue
        gaps = None if at is None else np.isnan(table.numbers[:, at])
        if gaps is None or not gaps.any():
            columns.append(OutputColumn(position, name))
            continue
        columns.append(OutputColumn(position, name, Fill(gaps, filled[:, at])))
        for side, values in bounds._asdict().items() if bounds else ():
            columns.append(OutputColumn(position, f"{name}_{side}", Fill(gaps, values[:, at])))
    return table.encode(columns)
