"""Answers to questions about values that are only partly known.

A question about unknown sizes has three answers. `MAYBE` never counts as either: code asks `is YES` or `is NO`
and so spells out what it does when nothing is known.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable


class Truth(enum.Enum):
    """The answer to a question about sizes or layouts: NO and YES are proved."""

    NO = 0
    MAYBE = 1
    YES = 2

    def __invert__(self) -> Truth:
        return _NEGATED[self]

    # The other members are compared by identity: in Python 3.11 `value` and an enum's own hash are slow calls.
    def __and__(self, other: Truth) -> Truth:
        return other if self is YES or other is NO else self

    def __or__(self, other: Truth) -> Truth:
        return other if self is NO or other is YES else self

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError("a Truth is not a bool: ask `is YES` or `is NO`")


NO, MAYBE, YES = Truth.NO, Truth.MAYBE, Truth.YES
_NEGATED = {NO: YES, MAYBE: MAYBE, YES: NO}


def truth(known: bool) -> Truth:
    return YES if known else NO


def every(answers: Iterable[Truth]) -> Truth:
    """YES when all are (also when there are none), NO when one is."""
    result = YES
    for answer in answers:
        result = result & answer
        if result is NO:
            return NO
    return result


def some(answers: Iterable[Truth]) -> Truth:
    """YES when one is, NO when all are (also when there are none)."""
    result = NO
    for answer in answers:
        result = result | answer
        if result is YES:
            return YES
    return result


def agree(answers: Iterable[Truth]) -> Truth:
    """The common answer of several cases; MAYBE when they differ or there are none."""
    seen = set(answers)
    return seen.pop() if len(seen) == 1 else MAYBE
