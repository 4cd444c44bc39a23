"""Drafts: whatever is cut off behind the last whole row is written again."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

import numpy as np
import pytest

from factorstream import open_rows, open_sink
from factorstream.sources.rows import drafts

TEXT = 'a,"b, c",n\r\n1,,"x\r\ny"\r\n\r\n,2.50,é\r\n\r\n3,4,"""q"""\r\n\r\n'


def filled(path, source):
    with open_sink(path, source, resume=True) as sink:
        for block in source.blocks(sink.written):
            sink.write(block, np.full(block.values.shape, 9.0))
    return path.read_bytes()


@pytest.mark.parametrize("kind", [".csv", ".npy"])
def test_a_draft_that_ends_at_any_byte(kind, tmp_path):
    path = tmp_path / f"x{kind}"
    if kind == ".csv":
        path.write_bytes(TEXT.encode())
    else:
        np.save(path, np.array([[1, np.nan], [np.nan, 4], [5, 6]]))
    source = open_rows(path, block_bytes=1)
    out, draft = tmp_path / f"y{kind}", tmp_path / f".y{kind}.draft"
    sink = open_sink(out, source, resume=True)
    for block in source.blocks():
        sink.write(block, np.full(block.values.shape, 9.0))
    content = draft.read_bytes()
    wanted = filled(out, source)
    if kind == ".csv":
        assert wanted == TEXT.replace("1,,", "1,9,").replace("\n,2.50", "\n9,2.50").encode()
    begun = set()
    for size in range(len(content) + 1):
        draft.write_bytes(content[:size])
        begun.add(open_sink(out, source, resume=True).written)
        assert filled(out, source) == wanted, size
        assert not draft.exists()
    assert begun == ({0, 1, 2} if kind == ".csv" else {0, 1, 2, 3})  # the last row of a text is written again


def test_a_draft_of_something_else_is_begun_again(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((3, 2)))
    (tmp_path / ".y.npy.draft").write_bytes(b"something else, and longer than the header of an array" * 10)
    filled(tmp_path / "y.npy", open_rows(tmp_path / "x.npy"))
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), np.ones((3, 2)))


def test_a_part_that_is_not_whole_does_not_count(tmp_path):
    np.savez(tmp_path / "x.npz", np.arange(12.0).reshape(6, 2))
    source = open_rows(tmp_path / "x.npz", block_bytes=32)
    sink = open_sink(tmp_path / "y.npz", source, resume=True)
    sink.write(next(source.blocks()))
    (tmp_path / ".y.npz.draft" / "begun").write_bytes(b"half of it")
    (tmp_path / ".y.npz.draft" / "000000000000004-000000000000006").write_bytes(b"behind a gap")
    assert open_sink(tmp_path / "y.npz", source, resume=True).written == 2


@pytest.mark.parametrize("kind", [".csv", ".npz"])
def test_a_failure_at_the_end_removes_the_draft(kind, tmp_path, monkeypatch):
    path = tmp_path / f"y{kind}"
    path.write_text("old")
    source = open_rows(np.ones((3, 2)))

    def full(draft, path):
        raise OSError(28, "No space left on device")

    def write():
        with open_sink(path, source) as sink:
            sink.write(next(source.blocks()))

    monkeypatch.setattr(drafts, "put_in_place", full)
    with pytest.raises(OSError, match="No space"):
        write()
    assert [other.name for other in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "old"


def test_two_runs_do_not_share_a_draft(tmp_path):
    source = open_rows(np.ones((3, 2)))
    first, second = open_sink(tmp_path / "y.npy", source), open_sink(tmp_path / "y.npy", source)
    first.write(next(source.blocks()))
    second.write(next(source.blocks()))
    first.close()
    second.close()
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), np.ones((3, 2)))


def test_links_and_permissions_stay(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((3, 2)))
    (tmp_path / "x.npy").chmod(0o640)
    (tmp_path / "link.npy").symlink_to(tmp_path / "x.npy")
    with open_sink(tmp_path / "link.npy", open_rows(np.zeros((2, 2)))) as sink:
        sink.write(next(open_rows(np.zeros((2, 2))).blocks()))
    assert (tmp_path / "link.npy").is_symlink()
    assert (tmp_path / "x.npy").stat().st_mode & 0o777 == 0o640
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), np.zeros((2, 2)))


@pytest.mark.skipif(sys.platform == "win32", reason="a size that files may have is no thing of Windows")
def test_a_full_disk_is_said_of_the_file_that_is_written(tmp_path):
    pytest.importorskip("h5py")
    pytest.importorskip("zarr")
    pytest.importorskip("pyarrow")
    script = """
    import os, resource, signal
    import numpy as np
    from factorstream import Checkpoint, DictionaryFilter, fill

    X = np.random.default_rng(0).normal(size=(400, 4))
    X[3, 2] = np.nan
    np.save("x.npy", X)
    model = DictionaryFilter(2).fit(X)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    for ending in ("npy", "csv", "npy.gz", "npz", "parquet", "arrow", "h5", "zarr"):
        try:
            fill(model, "x.npy", f"y.{ending}")
        except OSError as problem:
            print(os.path.basename(problem.filename), *sorted(os.listdir(".")))
    try:
        DictionaryFilter(2).fit("x.npy", checkpoint="c")
    except OSError as problem:
        print(os.path.basename(problem.filename), *sorted(os.listdir(".")))
    """
    done = subprocess.run([sys.executable, "-c", dedent(script)], cwd=tmp_path, capture_output=True, text=True)
    endings = ("npy", "csv", "npy.gz", "npz", "parquet", "arrow", "h5", "zarr")
    assert done.stdout.splitlines() == [*(f"y.{ending} x.npy" for ending in endings), "c x.npy"], done.stderr
