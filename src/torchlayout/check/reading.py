"""Bytes to text as Python reads them: PEP 263 encodings, byte-order marks, any line ends.

Vocabulary: *text* never holds the byte-order mark, and keeps its line ends as they are in the file, so that
what is written back differs only where a fix touched it.
"""

from __future__ import annotations

import codecs
import io
import tokenize
from typing import NamedTuple

from torchlayout.check.results import FileError


class UnreadableSource(Exception):
    """The file cannot be read as Python source; `error` tells why."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.error = FileError(message, line, column)


class Source(NamedTuple):
    """A decoded file. `encode` gives back its bytes for any new text."""

    text: str
    encoding: str
    bom: bool

    def encode(self, text: str) -> bytes:
        """The bytes to write for `text`; UnicodeEncodeError where the file's encoding lacks a character."""
        return (codecs.BOM_UTF8 if self.bom else b"") + text.encode(self.encoding)


def decode(data: bytes) -> Source:
    """The text of a Python file, or UnreadableSource."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UnreadableSource("the file is UTF-16: Python source is UTF-8, or says its encoding in a comment")
    zero = data.find(b"\0")
    if zero >= 0:
        raise UnreadableSource("the file holds a null byte", *_place(data, zero))
    bom = data.startswith(codecs.BOM_UTF8)
    body = data[len(codecs.BOM_UTF8) :] if bom else data
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        raise UnreadableSource(_encoding_trouble(data, error)) from None
    if encoding == "utf-8-sig":
        encoding = "utf-8"
    try:
        return Source(body.decode(encoding), encoding, bom)
    except UnicodeDecodeError as error:
        place = error.start + (len(data) - len(body))
        shown = body[error.start : error.start + 1].hex()
        raise UnreadableSource(
            f"the file is not {_shown(encoding)}: byte 0x{shown} cannot be decoded", *_place(data, place)
        ) from None
    except (LookupError, ValueError) as error:
        # A codec that is not for text (rot13, hex, idna): Python refuses the file as well.
        raise UnreadableSource(f"the file cannot be decoded as {encoding}: {error}") from None


def read(path: str) -> Source:
    """Read and decode the file at `path`; UnreadableSource also where it cannot be opened."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise UnreadableSource(f"cannot read the file: {error.strerror or error}") from None
    return decode(data)


def split_lines(text: str) -> list[str]:
    """The lines with their ends, split where Python splits them (not at form feeds or U+2028)."""
    return io.StringIO(text, newline="").readlines()


def _encoding_trouble(data: bytes, error: SyntaxError) -> str:
    if "unknown encoding" in str(error):
        return f"the file declares an {str(error).split(' for ')[0]}"
    if "encoding problem" in str(error):
        return "the file starts with a UTF-8 byte-order mark but declares another encoding"
    return "the file is not UTF-8, and declares no other encoding"


def _shown(encoding: str) -> str:
    return "UTF-8" if encoding == "utf-8" else encoding


def _place(data: bytes, offset: int) -> tuple[int, int]:
    """The 1-based line and byte column of an offset."""
    before = data[:offset].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
