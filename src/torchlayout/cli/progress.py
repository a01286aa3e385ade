"""A bar on standard error that tells how far a long run is; on terminals only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from torchlayout.cli.output import is_terminal

SHOW_AFTER = 1.0
"""Seconds a run may take without telling how far it is."""

REDRAW_AFTER = 0.1

T = TypeVar("T")


BAR = 24
"""Characters of the bar."""


def progress(items: Iterable[T], what: str, total: Callable[[], int], *, wanted: bool = True) -> Iterator[T]:
    """The items, with a bar that tells how many are done once they take long; `total` is asked with the first item.

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
                shown, drawn = bar(count, total(), what), now
            if shown:
                print(f"\r{shown}", end="", file=sys.stderr, flush=True)
    finally:
        _erase(shown)


def bar(count: int, total: int, what: str) -> str:
    """`[#####...................] 40 of 200 files`."""
    filled = BAR * count // max(total, count, 1)
    return f"[{'#' * filled:.<{BAR}}] {count} of {total} {what}"


def _erase(shown: str) -> None:
    if shown:
        print(f"\r{' ' * len(shown)}\r", end="", file=sys.stderr, flush=True)
