"""What a rule reports: the finding, the places that explain it, and the fix it proposes.

Vocabulary: *finding* (one report), *related* (another place that belongs to its story), *fix* (text edits that
mend it), *edit* (replace the text of one span), *safety* (what applying a fix may change).
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import NamedTuple

from torchlayout.program.nodes import Span
from torchlayout.rules.drawing import Drawing


class Safety(enum.Enum):
    """What applying a fix may change."""

    SAFE = "safe"
    """The program computes the same values, raises no less and no more, and keeps every comment."""
    UNSAFE = "unsafe"
    """What the program does may change (a copy more, a write that no longer reaches the original)."""
    DISPLAY = "display"
    """To be read and applied by hand only."""


class Edit(NamedTuple):
    """Replace the text of `span` by `text`; an empty span inserts."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    title: str
    edits: tuple[Edit, ...]
    safety: Safety


@dataclass(frozen=True, slots=True)
class Related:
    """A place that explains a finding: "transposed here, by `q.transpose(1, 2)`"."""

    span: Span
    message: str
    path: str | None = None
    """None where it is in the finding's own file."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One report, at the operation's own name token.

    `message` is one line, without the code. `layout` is LAY900's machine-readable answer: {"shape": [...],
    "stride": [...], "contiguous": "yes" | "no" | "unknown", "proved": bool}, strings for sizes and strides,
    "?" for unknown ones, null for an unknown rank.
    """

    code: str
    message: str
    span: Span
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    layout: dict[str, object] | None = None
    drawing: Drawing | None = None
    """The memory before and after the operation, for front ends that draw."""

    def sort_key(self) -> tuple[Span, str, str]:
        return (self.span, self.code, self.message)
