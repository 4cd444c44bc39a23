"""Files are opened by their endings; what cannot be opened is refused in one sentence."""

from __future__ import annotations

import pytest

from factorstream import open_rows
from factorstream.sources.table import TableError


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(TableError, match=r"x\.npy does not exist\.$"):
        open_rows(tmp_path / "x.npy")


def test_an_unknown_ending(tmp_path):
    with pytest.raises(TableError, match=r"ending \.xlsx, which is not read block by block; those are .*\.npy"):
        open_rows(tmp_path / "x.xlsx")


def test_a_folder(tmp_path):
    (tmp_path / "x.npy").mkdir()
    with pytest.raises(TableError, match="cannot be read"):
        open_rows(tmp_path / "x.npy")


@pytest.mark.parametrize("options", [{"columns": "heat"}, {"missing": "-99"}])
def test_a_text_is_no_list(options):
    with pytest.raises(TableError, match="as lists of texts"):
        open_rows([[1.0, 2.0]], **options)
