"""Excerpts of source: numbered lines with carets under a span, and what a fix would change."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from torchlayout.cli.output import Segment, visible, width
from torchlayout.program.nodes import Span

Line = tuple["Segment | str", ...]

CONTEXT = 2
"""Lines shown before and after the one that is meant."""

MAX_WIDTH = 160
"""Columns of one source line that are shown; a longer line is cut around what is meant."""


def excerpt(
    lines: Sequence[str], span: Span, first: int, last: int, numbers: int = 0, context: int = CONTEXT
) -> Iterator[Line]:
    """The lines around a span with carets under it.

    `first` and `last` bound what may be shown (1-based, a notebook's cell); `numbers` is what to take from a line's
    number to show it.
    """
    begin = max(first, span.line - context)
    end = min(last, span.line + context, len(lines))
    while begin < span.line and not lines[begin - 1].strip():
        begin += 1
    while end > span.line and not lines[end - 1].strip():
        end -= 1
    digits = len(str(end - numbers))
    yield _gutter(digits)
    for line in range(begin, end + 1):
        text = lines[line - 1] if line <= len(lines) else ""
        if line != span.line:
            shown = _cut(visible(text), 0)
            yield (*_gutter(digits, line - numbers), f" {shown}" if shown.strip() else "")
            continue
        stop = span.end_column if span.end_line == span.line else len(text)
        before = visible(text[: span.column])
        marked = visible(text[span.column : stop])
        shift = max(0, width(before) + width(marked) + 20 - MAX_WIDTH)
        yield (*_gutter(digits, line - numbers), " ", _cut(visible(text), shift))
        blank = " " * (width(before) - shift + (1 if shift else 0))
        yield (*_gutter(digits), " ", blank, Segment("^" * max(1, width(marked)), "caret"))
    yield _gutter(digits)


def change(before: Sequence[str], after: Sequence[str], first: int, digits: int) -> Iterator[Line]:
    """What changed between two runs of lines, the first of which has the number `first`."""
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        for i in range(i1, i2):
            yield _changed(digits, first + i, "-", before[i], "removed")
        for j in range(j1, j2):
            yield _changed(digits, first + j, "+", after[j], "added")


def _changed(digits: int, number: int, sign: str, text: str, style: str) -> Line:
    return (Segment(f"{number:>{digits}} ", "gutter"), Segment(f"{sign} {_cut(visible(text), 0)}", style))


def _gutter(digits: int, number: int | None = None) -> Line:
    return (Segment(f"{'' if number is None else number:>{digits}} |", "gutter"),)


def _cut(text: str, shift: int) -> str:
    """At most MAX_WIDTH characters of the text, starting at `shift`, with an ellipsis where something is missing."""
    start = "…" if shift else ""
    rest = text[shift:]
    return start + (rest if len(rest) <= MAX_WIDTH else rest[:MAX_WIDTH] + "…")
