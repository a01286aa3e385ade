"""How much work something is, told without a clock: by the calls that Python makes, which are the same on every run.

Counted are calls of Python functions and of builtins. One call that does much by itself (`[0] * 10**9`) counts as one;
such a one shows in the memory that the test takes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


class TooMuchWork(AssertionError):
    """The work takes more calls than it may."""


class _BreakOff(KeyboardInterrupt):
    """Ends the work. A KeyboardInterrupt, for the engine turns any other exception into a finding."""


def calls_of(work: Callable[[], Any], limit: int = sys.maxsize) -> int:
    """How many calls the work takes. Beyond the limit it is broken off."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        if event in ("call", "c_call"):
            count += 1
            if count > limit:  # and so on every further call: what is raised in a destructor is lost
                raise _BreakOff

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    except _BreakOff:
        pass
    finally:
        sys.setprofile(before)
    if count > limit:
        raise TooMuchWork(f"more than {limit:,} calls")
    return count
