"""A line on standard error that tells how far a long run is; on terminals only."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from torchlayout.cli.output import is_terminal

SHOW_AFTER = 1.0
"""Seconds a run may take without telling how far it is."""

REDRAW_AFTER = 0.1

T = TypeVar("T")


def progress(items: Iterable[T], what: str, *, wanted: bool = True) -> Iterator[T]:
    """The items, with a line that counts them once they take long.

    The line is there while the next item is worked on, and gone while an item is looked at, which may print.
    """
    if not (wanted and is_terminal(sys.stderr)):
        yield from items
        return
    started = drawn = time.monotonic()
    shown = ""
    try:
        for count, item in enumerate(items, 1):
            now = time.monotonic()
            due = now - started > SHOW_AFTER and now - drawn > REDRAW_AFTER
            _erase(shown)
            yield item
            if due:
                shown, drawn = f"checked {count} {what}", now
            if shown:
                print(f"\r{shown}", end="", file=sys.stderr, flush=True)
    finally:
        _erase(shown)


def _erase(shown: str) -> None:
    if shown:
        print(f"\r{' ' * len(shown)}\r", end="", file=sys.stderr, flush=True)
