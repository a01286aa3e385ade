"""Bytes to text: agreement with Python itself, and one clear sentence for what cannot be read."""

from __future__ import annotations

import ast
import codecs
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlayout.check.reading import UnreadableSource, decode, read, split_lines


@pytest.mark.parametrize(
    ("data", "text", "encoding", "bom"),
    [
        (b"x = 1\n", "x = 1\n", "utf-8", False),
        ("'é'\r\n".encode(), "'é'\r\n", "utf-8", False),
        (codecs.BOM_UTF8 + b"x\n", "x\n", "utf-8", True),
        (b"# -*- coding: latin-1 -*-\n'\xe9'\r", "# -*- coding: latin-1 -*-\n'é'\r", "iso-8859-1", False),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n'\x80'", None, "cp1252", False),
        (codecs.BOM_UTF8 + b"# coding: utf-8\nx\n", "# coding: utf-8\nx\n", "utf-8", True),
        (b"", "", "utf-8", False),
    ],
)
def test_declared_encodings(data: bytes, text: str | None, encoding: str, bom: bool) -> None:
    source = decode(data)
    assert (source.encoding, source.bom) == (encoding, bom)
    assert text is None or source.text == text
    assert source.encode(source.text) == data


@pytest.mark.parametrize(
    ("data", "message", "line"),
    [
        (b"x = 1\ny = '\xff'\n", "not UTF-8", None),
        (b"# coding: utf-8\nok\n'\xff'\n", "not UTF-8: byte 0xff", 3),
        (b"# coding: ascii\n\n\n'\xe9'\n", "not ascii: byte 0xe9", 4),
        (b"# coding: klingon\n", "unknown encoding: klingon", None),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", "byte-order mark but declares another encoding", None),
        (b"# coding: rot13\nk\n", "rot13", None),
        (b"x = 1\r\ny\0 = 2\n", "null byte", 2),
        ("x = 1\n".encode("utf-16"), "UTF-16", None),
    ],
)
def test_what_cannot_be_decoded(data: bytes, message: str, line: int | None) -> None:
    with pytest.raises(UnreadableSource) as raised:
        decode(data)
    assert message in raised.value.error.message
    assert line is None or raised.value.error.line == line


@given(st.binary(max_size=60) | st.text(max_size=40).map(str.encode))
def test_python_reads_what_we_read(data: bytes) -> None:
    try:
        text = decode(data).text
    except UnreadableSource:
        assert b"\0" in data or b"coding" in data or not _is_utf8(data)
        return
    try:
        expected = ast.dump(ast.parse(data))
    except (SyntaxError, ValueError):
        return
    assert ast.dump(ast.parse(text)) == expected


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.py", tmp_path):
        with pytest.raises(UnreadableSource, match="cannot read the file: "):
            read(str(path))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("text", ["a{}b{}c", "a\x0c{}b", "'\u2028'{}b{}", "{}{}b"])
def test_lines_end_where_python_ends_them(text: str, end: str) -> None:
    lines = split_lines(text.replace("{}", end))
    assert "".join(lines) == text.replace("{}", end)
    last = ast.parse(text.replace("{}", end)).body[-1]
    assert last.lineno == len(lines)
