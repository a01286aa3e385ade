"""Unified diffs of what fixing would change."""

from __future__ import annotations

import difflib
import os
import re

# Lines end where `patch` and git see them end; a carriage return belongs to the line, so that its change shows.
_LINES = re.compile(r"[^\n]*\n|[^\n]+")

_UNSAFE = re.compile(r'[\x00-\x1f\x7f"\\]')
"""What git writes escaped in a file's name, and the name in quotes then."""


def unified_diff(before: str, after: str, old_name: str, new_name: str | None = None) -> str:
    """A diff of two texts, to be read; "" where nothing changed. `patch` makes one to be applied."""
    lines = difflib.unified_diff(_LINES.findall(before), _LINES.findall(after), old_name, new_name or old_name)
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


def patch(before: bytes, after: bytes, path: str) -> bytes:
    """A diff of a file's contents that `patch -p0` and `git apply -p0` take; empty where nothing changed.

    Its bytes are those of the file, whatever its encoding.
    """
    name = os.fsencode(path.replace(os.sep, "/")).decode("latin-1")
    if _UNSAFE.search(name):
        name = f'"{_UNSAFE.sub(lambda match: f"{chr(92)}{ord(match[0]):03o}", name)}"'
    if " " in name:
        name += "\t"  # after which `patch` looks for no more of the name
    # Latin-1 has a character for each byte: nothing is decoded here.
    return unified_diff(before.decode("latin-1"), after.decode("latin-1"), name).encode("latin-1")
