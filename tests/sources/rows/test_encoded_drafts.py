"""Drafts of texts in any encoding are gone on with where they end."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.sources.rows.opening import open_rows, open_sink


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_a_draft_that_was_cut_off_is_completed(tmp_path, encoding):
    rows = "".join(f"Straße {k};{k % 7},5;{'' if k % 3 else k * k % 11}\r\n" for k in range(90))
    (tmp_path / "in.csv").write_bytes(f"größe;a;b\r\n{rows}".encode(encoding))
    source = open_rows(tmp_path / "in.csv", block_bytes=500)
    assert (source.names, source.whole_columns) == (["a", "b"], {1})
    with open_sink(tmp_path / "whole.csv", source) as sink:
        for block in source.blocks():
            sink.write(block, np.full(block.values.shape, 2.75))
    expected = (tmp_path / "whole.csv").read_bytes()
    assert ";3\r\n" in expected.decode(encoding)
    for cut in (0, 1, 2, 7):  # bytes of what was written last
        sink = open_sink(tmp_path / "out.csv", source, resume=True)
        first = next(iter(source.blocks()))
        sink.write(first, np.full(first.values.shape, 2.75))
        (draft,) = tmp_path.glob(".out.csv.*")
        draft.write_bytes(draft.read_bytes()[: -cut or None])
        with open_sink(tmp_path / "out.csv", open_rows(tmp_path / "in.csv", block_bytes=500), resume=True) as sink:
            assert 0 < sink.written < len(first.values)
            for block in source.blocks(sink.written):
                sink.write(block, np.full(block.values.shape, 2.75))
        assert (tmp_path / "out.csv").read_bytes() == expected
