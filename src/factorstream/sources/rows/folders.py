"""Folders that hold one table: a Zarr store, or Parquet files that are parts of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...extras import require
from ..table import TableError
from .arrow_datasets import DatasetBatches
from .batches import BatchRows
from .source import RowOptions, Source

__all__ = ["is_zarr", "open_folder"]

ZARR = ("zarr.json", ".zarray", ".zgroup")
"""What the folder of a Zarr store has one of, in its versions 3 and 2."""
PARTS = ("*.parquet", "*.pq")
"""Parts of a table, also in folders within the folder."""


def is_zarr(path: Path) -> bool:
    """Whether a folder is a Zarr store."""
    return any((path / name).is_file() for name in ZARR)


def open_folder(path: Path, options: RowOptions) -> Source:
    """The rows of a folder."""
    if is_zarr(path) or path.suffix.lower() == ".zarr":
        from .zarr import open_file

        return open_file(path, options)
    if any(next(path.rglob(pattern), None) is not None for pattern in PARTS):
        return _open_parts(path, options)
    pattern = path / "*.csv"
    raise TableError(
        f"{path} is a folder without a Zarr store or Parquet files in it; pass a file, a list of files, or a pattern "
        f"such as {str(pattern)!r}."
    )


def _open_parts(path: Path, options: RowOptions) -> BatchRows:
    """The rows of Parquet files, in the order of their names. Folders such as "year=2024" make a column, no number."""
    require("pyarrow", extra="frames")
    import pyarrow as pa
    import pyarrow.dataset as ds

    try:
        keys = ds.HivePartitioning.discover(infer_dictionary=True)
        files = [str(file) for pattern in PARTS for file in path.rglob(pattern) if not _is_hidden(file, path)]
        dataset = ds.dataset(sorted(files), format="parquet", partitioning=keys, partition_base_dir=str(path))
        _refuse_other_columns(dataset)
        return BatchRows(DatasetBatches(dataset, str(path)), options)
    except (pa.ArrowException, OSError):
        raise TableError("it has a Parquet file that cannot be read") from None


def _is_hidden(file: Path, folder: Path) -> bool:
    """Whether a file is one of those that programs put beside the parts: its name, or a folder's, begins so."""
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def _refuse_other_columns(dataset: Any) -> None:
    """Refuse parts with other columns than the first: Arrow would leave them out, or take them as gaps."""
    first, *others = dataset.get_fragments()
    for other in others:
        if set(other.physical_schema.names) != set(first.physical_schema.names):
            raise TableError(f"its parts {Path(first.path).name} and {Path(other.path).name} have other columns")
