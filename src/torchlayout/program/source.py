"""Source text and positions: the one place that knows code points, UTF-8 bytes, UTF-16 units and line ends.

Lines end at `\\n`, `\\r\\n` or `\\r`, as Python's tokenizer and `ast` count them; a form feed, `\\x0b`, U+2028
and the like are ordinary characters. A byte order mark is no part of line 1. Lines are 1-based, columns
0-based; a column counts code points unless its name says otherwise.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate

from torchlayout.program.spans import Span

_LINE_END = re.compile(r"\r\n?|\n")
_BOM = "\ufeff"


class Source:
    """The text of one file.

    `text` is what was given; `clean` is the same without byte order mark and with `\\n` for every line end,
    which is what `ast` and libcst are given. Both have the same lines and columns. No table is built before
    it is needed, and for ASCII text the column conversions are the identity.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        clean = text[1:] if text.startswith(_BOM) else text
        if "\r" in clean:
            clean = clean.replace("\r\n", "\n").replace("\r", "\n")
        self.clean = clean

    @cached_property
    def is_ascii(self) -> bool:
        return self.clean.isascii()

    @cached_property
    def starts(self) -> list[int]:
        """Offset in `clean` of the start of each line, and of the end of the text."""
        return list(accumulate([len(line) + 1 for line in self.clean.split("\n")], initial=0))

    @property
    def line_count(self) -> int:
        """Number of lines; text that ends in a line end has an empty last line."""
        return len(self.starts) - 1

    def line(self, number: int) -> str:
        """The text of a line without its end; empty outside the file."""
        if not 1 <= number <= self.line_count:
            return ""
        return self.clean[self.starts[number - 1] : self.starts[number] - 1]

    def lines(self, first: int, last: int) -> str:
        """The text of the lines first..last, each with its end (the file's last line may have none)."""
        starts = self.starts
        return self.clean[starts[max(first, 1) - 1] : starts[min(last, self.line_count)]]

    def offset(self, line: int, column: int) -> int:
        """Offset in `clean`."""
        return self.starts[line - 1] + column

    def position(self, offset: int) -> tuple[int, int]:
        """(line, column) of an offset in `clean`."""
        line = min(bisect_right(self.starts, offset), self.line_count)
        return line, offset - self.starts[line - 1]

    def span(self, start: int, end: int) -> Span:
        """The span between two offsets in `clean`."""
        return Span(*self.position(start), *self.position(end))

    def slice(self, span: Span) -> str:
        """The text of a span, with `\\n` line ends."""
        return self.clean[self.offset(span.line, span.column) : self.offset(span.end_line, span.end_column)]

    # -------------------------------------------------------------- offsets into the text as given
    @cached_property
    def _text_starts(self) -> list[int]:
        first = 1 if self.text.startswith(_BOM) else 0
        return [first, *(match.end() for match in _LINE_END.finditer(self.text))]

    def text_offset(self, line: int, column: int) -> int:
        """Offset in `text`: what an edit of the file as given needs."""
        if self.text is self.clean:
            return self.offset(line, column)
        return self._text_starts[line - 1] + column

    # -------------------------------------------------------------- other ways to count columns
    def column_from_utf8(self, line: int, byte_column: int) -> int:
        """Code points, from the bytes that `ast` counts."""
        if self.is_ascii:
            return byte_column
        text = self.line(line)
        if text.isascii():
            return byte_column
        before = text.encode("utf-8", "surrogatepass")[:byte_column]
        return sum(byte & 0xC0 != 0x80 for byte in before)  # bytes that begin a character

    def utf8_column(self, line: int, column: int) -> int:
        """UTF-8 bytes before a column."""
        if self.is_ascii:
            return column
        return len(self.line(line)[:column].encode("utf-8", "surrogatepass"))

    def utf16_column(self, line: int, column: int) -> int:
        """UTF-16 code units before a column, as editors count."""
        if self.is_ascii:
            return column
        return column + sum(character > "\uffff" for character in self.line(line)[:column])

    def column_from_utf16(self, line: int, units: int) -> int:
        """Code points, from UTF-16 code units; a position inside a pair is that of its character."""
        if self.is_ascii:
            return units
        seen = 0
        for column, character in enumerate(self.line(line)):
            seen += 2 if character > "\uffff" else 1
            if seen > units:
                return column
        return len(self.line(line)) + units - seen
