"""Applying text edits: which fixes go together, and what a fix may cost.

Vocabulary: *edit* (replace the text of one span), *piece* (an edit in offsets into the text as given),
*plan* (the findings whose fixes can be applied in one go, because no two of them touch the same text).
"""

from __future__ import annotations

import io
import itertools
import re
import tokenize
from collections.abc import Iterable
from typing import NamedTuple

from torchlayout.program.source import Source
from torchlayout.rules.finding import Edit, Finding, Fix, Safety

# Python's own idea of a line break; str.splitlines() also breaks at form feeds and others.
_LINE_BREAK = re.compile(r"\r\n|\n|\r")

_RANK = {Safety.SAFE: 0, Safety.UNSAFE: 1, Safety.DISPLAY: 2}


class Piece(NamedTuple):
    """Replace text[start:end] by `text`; also a comment found there."""

    start: int
    end: int
    text: str


def split_lines(text: str) -> list[str]:
    """The lines of a text without their ends; the last is "" where the text ends with a line break."""
    return _LINE_BREAK.split(text)


def line_end(text: str) -> str:
    """The line end that the text uses most; "\\n" for a text of one line."""
    found = _LINE_BREAK.findall(text)
    return max(("\n", "\r\n", "\r"), key=found.count)


def piece(source: Source, edit: Edit) -> Piece:
    """The edit in offsets; ValueError where its span lies outside the text or ends before it starts."""
    span = edit.span
    start, end = _offset(source, span.line, span.column), _offset(source, span.end_line, span.end_column)
    if end < start:
        raise ValueError(f"{span} ends before it starts")
    return Piece(start, end, edit.text)


def _offset(source: Source, line: int, column: int) -> int:
    if not 1 <= line <= source.line_count or not 0 <= column <= len(source.line(line)):
        raise ValueError(f"the text has no line {line}, column {column}")
    return source.text_offset(line, column)


def comments(source: Source) -> list[Piece] | None:
    """All comments of a Python text, in order; None where it cannot be tokenised."""
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.clean).readline):
            if token.type == tokenize.COMMENT:
                start = source.text_offset(*token.start)
                found.append(Piece(start, start + len(token.string), token.string))
    except (tokenize.TokenError, SyntaxError):
        return None
    return found


def real_safety(fix: Fix, source: Source, known: list[Piece] | None) -> Safety:
    """The fix's safety, but at most UNSAFE where it would delete a comment along with code.

    `known` are the text's comments; where they are None, any "#" counts as one. An edit that deletes nothing but a
    comment means to.
    """
    if fix.safety is not Safety.SAFE:
        return fix.safety
    for edit in fix.edits:
        start, end, text = piece(source, edit)
        replaced = source.text[start:end]
        if known is None:
            lost = ["#"] if "#" in replaced else []
        else:
            lost = [comment.text for comment in known if start < comment.end and comment.start < end]
        if any(comment not in text for comment in lost) and lost != [replaced.strip()]:
            return Safety.UNSAFE
    return Safety.SAFE


def _allowed(fix: Fix, limit: Safety) -> bool:
    return fix.safety is not Safety.DISPLAY and _RANK[fix.safety] <= _RANK[limit]


def plan(findings: Iterable[Finding], source: Source, limit: Safety) -> list[Finding]:
    """The findings whose fixes, of safety `limit` at most, can be applied together, in order of their places.

    A fix is applied whole or not at all. The first of two that touch the same text wins; the other gets its
    turn after the text was checked again. A fix with a span outside the text is left out.
    """
    chosen: list[Finding] = []
    taken: list[Piece] = []
    known: list[Piece] | None = None
    for finding in sorted(findings, key=Finding.sort_key):
        fix = finding.fix
        if fix is None or not fix.edits or not _allowed(fix, limit):
            continue
        try:
            pieces = [piece(source, edit) for edit in fix.edits]
        except ValueError:
            continue
        if limit is Safety.SAFE:
            known = known or comments(source)
            if real_safety(fix, source, known) is not Safety.SAFE:
                continue
        if not _overlap(taken + pieces):
            taken += pieces
            chosen.append(finding)
    return chosen


def _overlap(pieces: list[Piece]) -> bool:
    """Whether two pieces touch the same text. Two insertions at one place do; so does one at a piece's edge:
    which of them comes first would be chance."""
    for left, right in itertools.pairwise(sorted(pieces)):
        insertion = left.start == left.end or right.start == right.end
        if right.start < left.end or (insertion and right.start == left.end):
            return True
    return False


def apply_edits(source: Source, edits: Iterable[Edit]) -> str:
    """The text after the edits; ValueError where two of them overlap or one lies outside the text.

    Line ends inside the edits become the ones that the text uses.
    """
    newline = line_end(source.text)
    parts = []
    position = 0
    for start, end, text in sorted(piece(source, edit) for edit in edits):
        if start < position:
            raise ValueError("two edits touch the same text")
        parts += [source.text[position:start], _LINE_BREAK.sub(newline, text)]
        position = end
    return "".join(parts) + source.text[position:]
