"""One checked file as the output formats see it: findings with the places that a reader would look for.

In a notebook a place is a cell and a line in it; elsewhere `cell` is None. Rows and columns are 1-based here, as
people and other tools count; spans (1-based lines, 0-based columns) stay inside the analysis.
"""

from __future__ import annotations

import functools
import os
import re
from dataclasses import replace
from typing import NamedTuple

from torchlayout.check.reading import UnreadableSource, read
from torchlayout.check.results import FileResult
from torchlayout.fixing.edits import Piece, comments, real_safety, split_lines
from torchlayout.notebooks import Notebook
from torchlayout.program.nodes import Span
from torchlayout.program.source import Source
from torchlayout.rules.finding import Finding, Related, Safety

STDIN = "-"

_QUOTED = re.compile(r"(`[^`]*`)")

_LINE = re.compile(r"\bline (\d+)\b(?! of )")
"""How messages name a line of the file itself; one of another file is "line 3 of other.py"."""


class Place(NamedTuple):
    """A 1-based row and column, counted in a notebook's cell (also 1-based) where there is one."""

    cell: int | None
    row: int
    column: int

    def __str__(self) -> str:
        """`12:5`, or `cell 3:12:5`."""
        cell = "" if self.cell is None else f"cell {self.cell}:"
        return f"{cell}{self.row}:{self.column}"


class Report:
    """A file's result, with the notebook it came from where it is one."""

    def __init__(self, result: FileResult, notebook: Notebook | None = None) -> None:
        self.result = result
        self.notebook = notebook

    @property
    def path(self) -> str:
        """As it was given or found: what people read."""
        return self.result.path

    @property
    def filename(self) -> str:
        """The absolute path: what machines read. "-" for standard input without a name."""
        return self.path if self.path == STDIN else os.path.abspath(self.path)

    @functools.cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The findings, with messages that name places as a reader of this file would look for them."""
        return tuple(replace(found, message=self.in_words(found.message)) for found in self.result.findings)

    def in_words(self, message: str) -> str:
        """A message with the lines of a notebook told by cell, and other files' paths written as this one's is."""
        for path in sorted(self.result.reads, key=len, reverse=True):
            message = message.replace(f" of {path}", f" of {self.path_of(path)}")
        if self.notebook is None:
            return message
        parts = _QUOTED.split(message)  # code, which may say "line 3" too, is at the odd places
        parts[::2] = [_LINE.sub(self._line_in_cell, part) for part in parts[::2]]
        return "".join(parts)

    def _line_in_cell(self, match: re.Match[str]) -> str:
        place = self._place(int(match[1]), 0)
        return f"line {place.row} of cell {place.cell}"

    def path_of(self, path: str) -> str:
        """The path of another file: relative to the current folder where this file's path is."""
        if os.path.isabs(self.path) or self.path == STDIN:
            return path
        try:
            return os.path.relpath(path)
        except ValueError:  # another drive
            return path

    @functools.cached_property
    def source(self) -> Source:
        """The text that spans count in."""
        return Source(self.result.source or "")

    @functools.cached_property
    def shown_lines(self) -> list[str]:
        """The text's lines without their ends, as their author wrote them."""
        return split_lines(self.restored(self.result.source or ""))

    def restored(self, text: str) -> str:
        """A text of the same file, before or after a fix, with a notebook's magics as they were written."""
        return self.notebook.restore(text) if self.notebook else text

    @functools.cached_property
    def _comments(self) -> list[Piece] | None:
        return comments(self.source)

    def start(self, span: Span) -> Place:
        return self._place(span.line, span.column)

    def end(self, span: Span) -> Place:
        return self._place(span.end_line, span.end_column)

    def _place(self, line: int, column: int) -> Place:
        if self.notebook is None:
            return Place(None, line, column + 1)
        cell, row = self.notebook.place(line)
        return Place(cell, row, column + 1)

    def noqa_row(self, finding: Finding) -> int:
        """The row at whose end `# noqa` silences a finding: the last of the lines that backslashes join to its own."""
        line = finding.span.line
        while self.source.line(line).endswith("\\"):
            line += 1
        return self._place(line, 0).row

    @property
    def error_message(self) -> str:
        """Why the file could not be checked; "" where it was."""
        return "" if self.result.error is None else self.in_words(self.result.error.message)

    def error_place(self) -> str:
        """Where the file's error is, for a reader; "" where the whole file is meant."""
        error = self.result.error
        if error is None or error.line is None:
            return ""
        place = self._place(error.line, (error.column or 1) - 1)
        return str(place) if error.column is not None else str(place).rpartition(":")[0]

    def bounds(self, line: int) -> tuple[int, int, int]:
        """First and last line that belong with a line (all, or its cell), and what to take from their numbers."""
        if self.notebook is None:
            return 1, len(self.shown_lines), 0
        return self.notebook.bounds(line)

    def line_label(self, line: int) -> str:
        """A line's number as it is shown; with that of its cell in a notebook."""
        place = self._place(line, 0)
        return str(place.row) if place.cell is None else f"{place.cell}:{place.row}"

    def file_place(self, span: Span) -> Place:
        """Where a span starts in the file itself: in a notebook, the line of its JSON."""
        if self.notebook is None:
            return self.start(span)
        return Place(None, self.notebook.raw_line(span.line), 1)

    def related_place(self, related: Related) -> str:
        """Where a related place is, for a reader: `line 3`, `cell 2:3:7`, or `other.py:3:7`."""
        if related.path is not None:
            return f"{self.path_of(related.path)}:{related.span.line}:{related.span.column + 1}"
        place = self.start(related.span)
        return f"line {place.row}" if place.cell is None else str(place)

    def safety(self, finding: Finding) -> Safety | None:
        """What applying the finding's fix may change; None where it has no fix."""
        if finding.fix is None or not finding.fix.edits:
            return None
        try:
            return real_safety(finding.fix, self.source, self._comments)
        except ValueError:  # an edit outside the text is never applied
            return Safety.DISPLAY


@functools.lru_cache(maxsize=64)
def other_file(path: str) -> list[str]:
    """The lines of a file that a finding in another one points to; none where it cannot be read."""
    try:
        return split_lines(read(path).text)
    except UnreadableSource:
        return []
