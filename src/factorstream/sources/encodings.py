"""Bytes as text: in which encoding, found where nobody says it, at once or line by line."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from .table import TableError

__all__ = ["Decoded", "LineDecoder", "decoded", "decoded_lines", "known_encoding"]

GUESS = "cp1252"
"""What a text is taken for that is no UTF-8: the encoding of Windows in western Europe and America. Latin-1 is the same
but for bytes that are never in a text; bytes that cp1252 does not have show that it is another one."""

_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_WIDE = {"utf-16": "utf-16-le", "utf-32": "utf-32-le", "utf-8-sig": "utf-8"}
"""Encodings whose names would write a byte-order mark with every line, and those that do not."""
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x19\x1b-\x1f]")

NO_TEXT = "it is not a text file"
MIXED = "some of it is UTF-8 text and some is not; pass --encoding NAME, such as cp1252, to read it all in one encoding"
UNKNOWN = "it is neither UTF-8 nor Windows-1252 text; pass --encoding NAME, such as cp1250, cp850 or mac_roman"


class Decoded(NamedTuple):
    """A text."""

    text: str
    encoding: str
    remark: str = ""
    """A sentence where the encoding was guessed."""


def known_encoding(name: str) -> str:
    """The name of an encoding as Python has it.

    >>> known_encoding("Latin1"), known_encoding("UTF-8")
    ('iso8859-1', 'utf-8')
    """
    try:
        found = codecs.lookup(name)
        "".encode(found.name)  # some codecs are for other things than text
    except LookupError:
        raise ValueError(f"{name!r} is no encoding; utf-8, utf-16, cp1252, latin-1 and cp1250 are some") from None
    return found.name


def decoded(raw: bytes, encoding: str | None = None) -> Decoded:
    """A text and its encoding: the one given; or UTF-8, UTF-16 where it begins with the mark of this, or a guess.

    >>> decoded("größe".encode("cp1252")).encoding
    'cp1252'
    """
    found = _encoding_of(raw[:4], encoding)
    if found is not None:
        return Decoded(_strictly(raw, found), found)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return Decoded(_by_guess(raw), GUESS, _guess_said(raw))
    if "\x00" in text:
        raise TableError(_why_zeros(raw))
    return Decoded(text, "utf-8")


class LineDecoder:
    """Lines of text from lines of bytes, each as soon as it is there.

    As long as all is ASCII, nothing is decided. The first other byte decides between UTF-8 and the guess.
    """

    def __init__(self, lines: Iterable[bytes], encoding: str | None = None) -> None:
        self._lines, self._given = lines, encoding
        self.encoding = "utf-8"
        """Of what has been read so far, as the rest will be."""
        self.remark = ""
        """A sentence where the encoding was guessed."""
        self._decided = False

    def __iter__(self) -> Iterator[str]:
        lines = iter(self._lines)
        first = next(lines, None)
        if first is None:
            return
        found = _encoding_of(first[:4], self._given)
        if found is not None:
            self.encoding = found
            yield from decoded_lines(chain([first], lines), found, whole=True)
            return
        yield self._line(first)
        yield from map(self._line, lines)

    def _line(self, line: bytes) -> str:
        if line.isascii():
            if b"\x00" in line:
                raise TableError(_why_zeros(line))
            return line.decode("ascii")
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            if self._decided and self.encoding == "utf-8":
                raise TableError(MIXED) from None
            if not self._decided:
                self.encoding, self.remark, self._decided = GUESS, _guess_said(line), True
            return _by_guess(line)
        if self.encoding != "utf-8":
            raise TableError(MIXED)
        self._decided = True
        return text


def _encoding_of(start: bytes, given: str | None) -> str | None:
    """The encoding that is given, or that the first bytes say; None where it has to be found."""
    marked = _MARKS.get(start[:2])
    if given is None:
        return marked
    if given in ("utf-16", "utf-32") and start[:2] == codecs.BOM_UTF16_BE:
        return "utf-16-be"
    return _WIDE.get(given, given)


def _strictly(raw: bytes, encoding: str) -> str:
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        raise TableError(_not_in(encoding)) from None
    if "\x00" in text:
        raise TableError(NO_TEXT)
    return text


def decoded_lines(chunks: Iterable[bytes], encoding: str, *, whole: bool = False) -> Iterator[str]:
    """Lines in an encoding whose line ends may be of several bytes.

    A character that is cut off at the end is none; of a text that is said to be ``whole`` it is refused.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    waiting = ""
    for chunk in chunks:
        try:
            waiting += decoder.decode(chunk)
        except UnicodeDecodeError:
            raise TableError(_not_in(encoding)) from None
        if "\x00" in waiting:
            raise TableError(NO_TEXT)
        *complete, waiting = waiting.split("\n")
        yield from (f"{line}\n" for line in complete)
    if whole:
        try:
            waiting += decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            raise TableError(_not_in(encoding)) from None
    if waiting:
        yield waiting


def _by_guess(raw: bytes) -> str:
    """A text that is no UTF-8; bytes of other encodings, or none of text, are refused."""
    if _CONTROLS.search(raw):
        raise TableError(NO_TEXT)
    if any(ord(char) > 127 and not 0xDC80 <= ord(char) <= 0xDCFF for char in _odd(raw)):
        raise TableError(MIXED)
    try:
        return raw.decode(GUESS)
    except UnicodeDecodeError:
        raise TableError(UNKNOWN) from None


def _odd(raw: bytes) -> set[str]:
    """The characters of a text as UTF-8, with surrogates for bytes that are none."""
    return set(raw.decode("utf-8", errors="surrogateescape"))


def _guess_said(raw: bytes) -> str:
    """What is said of the guess, with the first word by which a reader can judge it."""
    word = re.search(rb"[^\s,;|\"\x80-\xff]{0,20}[\x80-\xff][^\s,;|\"]{0,20}", raw)
    shown = word[0].decode(GUESS, errors="replace") if word else ""
    return (
        f"The text is no UTF-8, and was read as Windows-1252 (a word in it is {shown!r}); pass --encoding NAME if that "
        "is wrong."
    )


def _why_zeros(raw: bytes) -> str:
    """What to say of zero bytes: UTF-16 without its mark has one in every other place."""
    even, odd = raw[:4096:2].count(0), raw[1:4096:2].count(0)
    if max(even, odd) * 4 > len(raw[:4096]):
        return f"it is UTF-16 without a byte-order mark; pass --encoding {'utf-16-be' if even > odd else 'utf-16-le'}"
    return NO_TEXT


def _not_in(encoding: str) -> str:
    return f"it is not {encoding} text; pass another --encoding, or none to have it found"
