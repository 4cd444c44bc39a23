"""Bytes become text in the encoding that they are in, at once and line by line."""

from __future__ import annotations

import codecs

import pytest

from factorstream.sources.encodings import LineDecoder, decoded, decoded_lines, known_encoding
from factorstream.sources.table import TableError

TEXT = "name;größe\r\nä;1\r\n€;2\r\n"


def lines_of(raw):
    """As a file gives them: cut behind every byte of a line feed, whatever the encoding."""
    return [part + b"\n" for part in raw.split(b"\n")[:-1]] + [raw.split(b"\n")[-1]] * (not raw.endswith(b"\n"))


@pytest.mark.parametrize(
    ("raw", "given", "encoding", "guessed"),
    [
        (TEXT.encode(), None, "utf-8", False),
        (b"\xef\xbb\xbf" + TEXT.encode(), None, "utf-8", False),
        (codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"), None, "utf-16-le", False),
        (codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), None, "utf-16-be", False),
        (TEXT.encode("utf-16-le"), "utf-16", "utf-16-le", False),
        (codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), "utf-16", "utf-16-be", False),
        (TEXT.encode("cp1252"), None, "cp1252", True),
        (TEXT.encode("cp1252"), "cp1252", "cp1252", False),
        (TEXT.replace("€", "e").encode("cp850"), "cp850", "cp850", False),
        (TEXT.encode(), "utf-8-sig", "utf-8", False),
        (b"a;b\r\n1;2\r\n", None, "utf-8", False),
    ],
)
def test_the_same_text_at_once_and_by_lines_and_back(raw, given, encoding, guessed):
    found = decoded(raw, given)
    assert (found.encoding, bool(found.remark)) == (encoding, guessed)
    assert found.text.encode(encoding) == raw
    by_lines = LineDecoder(lines_of(raw), given)
    assert "".join(by_lines) == found.text
    assert (by_lines.encoding, bool(by_lines.remark)) == (encoding, guessed)
    assert all(line.endswith("\n") for line in LineDecoder(lines_of(raw), given))


def test_the_guess_is_said_with_a_word_to_judge_it_by():
    assert "(a word in it is 'größe'); pass --encoding NAME" in decoded(TEXT.encode("cp1252")).remark


def test_lines_are_there_as_soon_as_they_have_come():
    def lines():
        yield b"a\n"
        yield b"\xe4\n"
        raise AssertionError("nobody has asked for this line")

    coming = iter(LineDecoder(lines(), "cp1252"))
    assert [next(coming), next(coming)] == ["a\n", "ä\n"]


@pytest.mark.parametrize("later", [True, False])
def test_utf_8_and_other_bytes_in_one_text_are_refused(later):
    lines = [b"a\n", b"\xc3\xa4\n", b"\xe4\n"] if later else [b"\xe4\n", b"a\n", b"\xc3\xa4\n"]
    with pytest.raises(TableError, match="some of it is UTF-8 text and some is not; pass --encoding NAME"):
        list(LineDecoder(lines))
    with pytest.raises(TableError, match="some of it is UTF-8 text and some is not"):
        decoded(b"".join(lines))


def test_a_character_that_is_cut_off_is_none():
    assert list(decoded_lines([b"a\n\x00", b"b"], "utf-16-le"))[:1] != ["a\n"]
    assert list(decoded_lines(["ab\n".encode("utf-16-le"), b"c"], "utf-16-le")) == ["ab\n"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "shift_jis"])
def test_a_text_that_is_cut_off_is_refused_at_once_and_line_by_line(encoding):
    raw = "a,b\n1,2\n3,漢".encode(encoding)
    assert "".join(LineDecoder(raw.splitlines(keepends=True), encoding)) == decoded(raw, encoding).text
    with pytest.raises(TableError, match="text; pass another --encoding"):
        decoded(raw[:-1], encoding)
    with pytest.raises(TableError, match="text; pass another --encoding"):
        list(LineDecoder(raw[:-1].splitlines(keepends=True), encoding))


@pytest.mark.parametrize("name", ["foo", "base64", "zip"])
def test_what_is_no_encoding_of_text(name):
    with pytest.raises(ValueError, match=f"'{name}' is no encoding; utf-8, utf-16"):
        known_encoding(name)
