"""Positions: lines as Python counts them, columns in code points, UTF-8 bytes and UTF-16 units."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlayout.program.source import Source
from torchlayout.program.spans import Span

TEXT = st.text(alphabet="ab \t\f\v\r\n\x1c\u2028é𝛼日#'\"", max_size=60)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("a", ["a"]),
        ("a\n", ["a", ""]),
        ("a\r\nb\rc\n\rd", ["a", "b", "c", "", "d"]),
        ("a\fb\vc\u2028d\x1ce\n", ["a\fb\vc\u2028d\x1ce", ""]),
        ("\ufeffa\nb", ["a", "b"]),
    ],
)
def test_lines_end_where_python_ends_them(text: str, lines: list[str]) -> None:
    source = Source(text)
    assert source.line_count == len(lines)
    assert [source.line(number + 1) for number in range(len(lines))] == lines
    assert source.line(0) == source.line(len(lines) + 1) == ""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_numbers_are_those_of_ast(end: str) -> None:
    text = end.join(["x = 1", "\f", "'''a", "b\x1c\u2028'''", "y = 2", ""])
    source = Source(text)
    last = ast.parse(text).body[-1]
    assert source.line(last.lineno) == "y = 2"


@given(TEXT)
def test_offsets_and_positions_are_inverse(text: str) -> None:
    source = Source(text)
    for offset in range(len(source.clean) + 1):
        line, column = source.position(offset)
        assert source.offset(line, column) == offset
        assert source.clean[source.offset(line, 0) : offset] == source.line(line)[:column]


@given(TEXT, st.booleans())
def test_text_offsets_point_at_the_same_characters_in_the_text_as_given(text: str, mark: bool) -> None:
    text = "\ufeff" * mark + text
    source = Source(text)
    for line in range(1, source.line_count + 1):
        for column, character in enumerate(source.line(line)):
            assert text[source.text_offset(line, column)] == character


@given(TEXT)
def test_utf8_columns_are_bytes_and_come_back(text: str) -> None:
    source = Source(text)
    for line in range(1, source.line_count + 1):
        content = source.line(line)
        for column in range(len(content) + 1):
            bytes_before = source.utf8_column(line, column)
            assert bytes_before == len(content[:column].encode())
            assert source.column_from_utf8(line, bytes_before) == column


@given(TEXT)
def test_utf16_columns_are_units_and_come_back(text: str) -> None:
    source = Source(text)
    for line in range(1, source.line_count + 1):
        content = source.line(line)
        for column in range(len(content) + 1):
            units = source.utf16_column(line, column)
            assert units == len(content[:column].encode("utf-16-le")) // 2
            assert source.column_from_utf16(line, units) == column


def test_a_position_inside_a_surrogate_pair_is_that_of_its_character() -> None:
    assert Source("a𝛼b").column_from_utf16(1, 2) == 1


def test_a_lone_surrogate_has_columns_too() -> None:
    source = Source("'\ud800' + x")
    assert source.column_from_utf8(1, source.utf8_column(1, 6)) == 6


@given(TEXT, st.data())
def test_slices_and_spans_are_inverse(text: str, data: st.DataObject) -> None:
    source = Source(text)
    start = data.draw(st.integers(0, len(source.clean)))
    end = data.draw(st.integers(start, len(source.clean)))
    span = source.span(start, end)
    assert isinstance(span, Span)
    assert source.slice(span) == source.clean[start:end]


def test_lines_of_a_range_keep_their_ends() -> None:
    source = Source("a\r\nb\nc")
    assert source.lines(1, 2) == "a\nb\n"
    assert source.lines(2, 99) == "b\nc"
