"""Ranges of source text."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """A range of source text. Lines are 1-based, columns 0-based and count code points."""

    line: int
    column: int
    end_line: int
    end_column: int


NOWHERE = Span(1, 0, 1, 0)
