"""How much work something is, told without a clock: by the calls that Python makes, which are the same on every run.

Counted are calls of Python functions and of builtins. One call that does much by itself (`[0] * 10**9`) counts as one;
such a one shows in the memory that the test takes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


class TooMuchWork(KeyboardInterrupt):
    """The limit is reached. A KeyboardInterrupt, for the engine turns any other exception into a finding."""


def calls_of(work: Callable[[], Any], limit: int = sys.maxsize) -> int:
    """How many calls the work takes. Beyond the limit it is broken off."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        if event in ("call", "c_call"):
            count += 1
            if count > limit:
                sys.setprofile(None)
                raise TooMuchWork(f"more than {limit:,} calls")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
