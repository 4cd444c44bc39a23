import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from factorstream.files import check_writable, write_atomic


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = write_atomic(tmp_path / "a.txt", "old")

    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        write_atomic(path, "new")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a.txt", "old")]


def test_permissions_are_those_of_an_ordinary_file(tmp_path):
    (tmp_path / "plain").write_text("x")
    assert write_atomic(tmp_path / "a", b"x").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_asking_whether_a_file_can_be_written_changes_nothing(tmp_path):
    path = write_atomic(tmp_path / "a", "old")
    check_writable(path)
    check_writable(tmp_path / "new")
    check_writable(Path(os.devnull))
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a", "old")]
    for nowhere in (tmp_path / "no" / "folder", path / "below a file", tmp_path / ("long" * 100)):
        with pytest.raises(OSError):
            check_writable(nowhere)


def test_a_device_that_must_not_be_written(monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError):
        check_writable(Path(os.devnull))


def test_a_file_that_is_replaced_keeps_its_permissions_and_its_link(tmp_path):
    target = tmp_path / "real"
    target.write_text("old")
    target.chmod(0o640)
    (tmp_path / "link").symlink_to(target)
    assert write_atomic(tmp_path / "link", "new") == target.resolve()
    assert (tmp_path / "link").is_symlink()
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("new", 0o640)


def test_a_link_to_nothing_gets_its_file(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "new")
    write_atomic(tmp_path / "link", "x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "new").read_text() == "x"


def test_links_that_lead_in_a_circle_are_refused_and_stay(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.symlink_to(two)
    two.symlink_to(one)
    for call in (lambda: write_atomic(one, "x"), lambda: check_writable(one)):
        with pytest.raises(OSError, match="symbolic links") as caught:
            call()
        assert caught.value.errno == errno.ELOOP
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_symlink()) == ["one", "two"]


def test_file_and_folder_are_synced_around_the_rename(tmp_path, monkeypatch):
    done = []
    sync, replace = os.fsync, os.replace

    def fsync(descriptor):
        done.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", lambda *paths: (done.append("rename"), replace(*paths)))
    write_atomic(tmp_path / "a", "x")
    assert done == ["file", "rename", "folder"]


def test_a_system_that_opens_no_folders_is_enough(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError("a folder")

    monkeypatch.setattr(os, "open", refuse)
    assert write_atomic(tmp_path / "a", "x").read_text() == "x"


def test_nobody_else_can_read_the_temporary_file_of_a_private_one(tmp_path):
    path = tmp_path / "private"
    path.touch(mode=0o600)
    seen = []

    def parts():
        seen.extend(stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir())
        yield b"a"
        yield memoryview(b"b")

    assert write_atomic(path, parts()).read_bytes() == b"ab"
    assert seen == [0o600, 0o600]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=f"^There is no folder {tmp_path / 'no'} to write a to; make it first.$"
    ):
        write_atomic(tmp_path / "no" / "a", "x")


KILLED = """
import os, signal, sys
from pathlib import Path
from factorstream.files import write_atomic

def parts():
    yield b"half"
    os.kill(os.getpid(), signal.SIGKILL)

write_atomic(Path(sys.argv[1]), parts())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="files are locked otherwise there")
def test_what_a_killed_process_has_left_is_removed_by_the_next_one(tmp_path):
    path = tmp_path / "[a] model"
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert len(list(tmp_path.iterdir())) == 1
    other = tmp_path / ".other.0123abcd.new"
    other.touch()

    def parts():
        yield b"first "
        write_atomic(path, b"second")  # by somebody else, meanwhile: what is in use stays
        yield b"whole"

    write_atomic(path, parts())
    assert path.read_bytes() == b"first whole"
    assert sorted(tmp_path.iterdir()) == [other, path]
