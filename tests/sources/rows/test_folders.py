"""Folders that hold one table."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import DictionaryFilter, fill, open_rows, open_sink
from factorstream.sources.table import TableError
from row_files import NAMES, WRITERS, gathered, in_parts, numbers


def test_a_zarr_store_of_any_name(rng, tmp_path):
    pytest.importorskip("zarr")
    X = numbers(rng)
    WRITERS[".zarr"](tmp_path / "store", X)
    np.testing.assert_array_equal(gathered(open_rows(tmp_path / "store")), X)


@pytest.mark.parametrize("name", ["parts", "parts.parquet"])
def test_a_folder_of_parquet_parts(rng, tmp_path, name):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    X = numbers(rng)
    (tmp_path / name).mkdir()
    in_parts(X, tmp_path / name, ".parquet")
    (tmp_path / name / "_SUCCESS").touch()
    (tmp_path / name / "_old").mkdir()
    in_parts(X, tmp_path / name / "_old", ".parquet")
    source = open_rows(tmp_path / name, block_bytes=400)
    assert (source.names, source.n_rows) == (NAMES, len(X))
    np.testing.assert_array_equal(gathered(source), X)
    with pytest.warns(UserWarning, match="Columns without numbers were left out: town"):
        model = DictionaryFilter(2, random_state=0).fit(tmp_path / name)
    fill(model, tmp_path / name, tmp_path / "filled.parquet")  # with the towns
    filled = pandas.read_parquet(tmp_path / "filled.parquet")
    assert filled.columns.tolist() == ["town", *NAMES]
    np.testing.assert_allclose(filled[NAMES], model.impute(pandas.DataFrame(X, columns=NAMES)), rtol=1e-12)


def test_keys_of_folders_are_carried_along(rng, tmp_path):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    X = numbers(rng)
    frame = pandas.DataFrame(X, columns=NAMES).assign(year=np.repeat([2023, 2024], 50))
    frame.to_parquet(tmp_path / "parts", partition_cols=["year"])
    source = open_rows(tmp_path / "parts")
    assert source.names == NAMES
    np.testing.assert_array_equal(gathered(source), X)
    with open_sink(tmp_path / "copy.parquet", source) as sink:
        for block in source.blocks():
            sink.write(block)
    assert pandas.read_parquet(tmp_path / "copy.parquet").year.astype(int).tolist() == frame.year.tolist()


def test_parts_with_other_columns_are_refused(tmp_path):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    (tmp_path / "parts").mkdir()
    pandas.DataFrame({"a": [1.0]}).to_parquet(tmp_path / "parts" / "0.parquet")
    pandas.DataFrame({"a": [1.0], "b": [2.0]}).to_parquet(tmp_path / "parts" / "1.parquet")
    with pytest.raises(
        TableError, match=r"parts cannot be used: its parts 0\.parquet and 1\.parquet have other columns"
    ):
        open_rows(tmp_path / "parts")
    (tmp_path / "parts" / "1.parquet").write_bytes(b"no")
    with pytest.raises(TableError, match="parts cannot be used: it has a Parquet file that cannot be read"):
        open_rows(tmp_path / "parts")
