"""Unified diffs of what fixing would change."""

from __future__ import annotations

import difflib
import re

# Keeps each line's own end, so that a diff shows a change of line ends too.
_LINES = re.compile(r"[^\n\r]*(?:\r\n|\n|\r)|[^\n\r]+")


def unified_diff(before: str, after: str, old_name: str, new_name: str | None = None) -> str:
    """A diff that `patch -p0` and `git apply -p0` take; "" where nothing changed."""
    lines = difflib.unified_diff(_LINES.findall(before), _LINES.findall(after), old_name, new_name or old_name)
    return "".join(line if line.endswith(("\n", "\r")) else line + "\n\\ No newline at end of file\n" for line in lines)
