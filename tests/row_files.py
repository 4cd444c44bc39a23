"""A table with gaps in every format, written by the libraries that own the formats."""

from __future__ import annotations

import csv
import gzip

import numpy as np

NAMES = ["heat", "rain", "wind"]


def numbers(rng, n=100, dtype="f8"):
    """Numbers of three columns with a quarter missing; no row and no column is all gaps."""
    X = rng.normal(size=(n, 3)).round(6).astype(dtype)
    gaps = rng.random(X.shape) < 0.25
    gaps[np.arange(n), np.arange(n) % 3] = False
    X[gaps] = np.nan
    return X


def towns(n):
    """A text for every row, some with quotes, delimiters and line ends in them."""
    return [f'town "{k}",\nsouth' if k % 7 == 0 else f"town {k}" for k in range(n)]


def arrow_table(X):
    import pyarrow as pa

    columns = {name: pa.array(X[:, j], from_pandas=True) for j, name in enumerate(NAMES)}
    return pa.table({"town": towns(len(X)), **columns, "id": pa.array(range(len(X)), type=pa.int64())})


def write_npy(path, X):
    with (gzip.open if path.suffix == ".gz" else open)(path, "wb") as file:
        np.save(file, X)


def write_npz(path, X):
    np.savez_compressed(path, X=X)


def write_text(path, X):
    with (gzip.open if path.suffix == ".gz" else open)(path, "wt", newline="", encoding="utf-8") as file:
        out = csv.writer(file, delimiter="\t" if ".tsv" in path.name else ",", lineterminator="\n")
        out.writerow(["town", *NAMES])
        for town, row in zip(towns(len(X)), X.tolist(), strict=True):
            out.writerow([town, *("" if value != value else repr(value) for value in row)])


def write_parquet(path, X):
    import pyarrow.parquet as pq

    pq.write_table(arrow_table(X).drop_columns("id"), path, row_group_size=13)


def write_arrow(path, X):
    import pyarrow as pa

    table = arrow_table(X).drop_columns("id")
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as out:
        out.write_table(table, max_chunksize=11)


def write_feather(path, X):
    from pyarrow import feather

    feather.write_feather(arrow_table(X).drop_columns("id"), path, compression="zstd", chunksize=17)


def write_hdf5(path, X):
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset(
            "measured/X", data=X, chunks=(min(7, len(X)) or 1, 3), maxshape=(None, 3), compression="gzip"
        )
        file["notes"] = "made for a test"


def write_zarr(path, X):
    import zarr

    zarr.create_array(path, data=X, chunks=(7, 3))


WRITERS = {
    ".npy": write_npy,
    ".npy.gz": write_npy,
    ".npz": write_npz,
    ".csv": write_text,
    ".tsv": write_text,
    ".csv.gz": write_text,
    ".parquet": write_parquet,
    ".arrow": write_arrow,
    ".feather": write_feather,
    ".h5": write_hdf5,
    ".zarr": write_zarr,
}
"""How a file with an ending is written."""


def in_parts(X, folder, ending, cuts=(30, 31)):
    """The rows of X in files, in the order of their names."""
    paths = []
    for k, part in enumerate(np.split(X, cuts)):
        paths.append(folder / f"part{k}{ending}")
        WRITERS[ending](paths[-1], part)
    return paths


def gathered(source, start=0):
    """All values of a source."""
    return np.concatenate([block.values for block in source.blocks(start)])
