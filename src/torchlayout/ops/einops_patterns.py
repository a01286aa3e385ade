"""einops' patterns, read by a parser of our own: `b (h p1) (w p2) c -> b (h w) (p1 p2 c)`.

Vocabulary: an *axis* is a name, or a number for an axis of that length; a *group* is the axes that one dimension is
made of; a *side* is the groups on one side of the arrow. `...` stands for any number of dimensions.
"""

from __future__ import annotations

import re
from functools import lru_cache

from torchlayout.ops.values import Unknowable
from torchlayout.structs import struct

ELLIPSIS = "..."
_TOKEN = re.compile(r"\s*(\.\.\.|[()*]|\w+)")


@struct(frozen=True, slots=True)
class Axis:
    """One axis. `length` is set for a number; two numbers are two axes, told apart by `place`."""

    name: str
    length: int | None = None
    place: int = 0


Group = tuple[Axis, ...]
DOTS = Axis(ELLIPSIS)


@struct(frozen=True, slots=True)
class Side:
    """The groups in order; `dots` is the place of the group that `...` outside of brackets is."""

    groups: tuple[Group, ...]
    dots: int | None = None

    @property
    def axes(self) -> tuple[Axis, ...]:
        return tuple(axis for group in self.groups for axis in group)

    @property
    def has_dots(self) -> bool:
        return DOTS in self.axes

    @property
    def has_numbers(self) -> bool:
        return any(axis.length is not None for axis in self.axes)


@lru_cache(maxsize=1024)
def parse_side(text: str, offset: int = 0) -> Side:
    """One side of a pattern. Raises `Unknowable` where einops would raise. Numbers' places count from `offset`."""
    groups: list[Group] = []
    dots: int | None = None
    inner: list[Axis] | None = None
    for place, token in enumerate(_tokens(text)):
        if token == "(":
            if inner is not None:
                raise Unknowable("brackets inside brackets")
            inner = []
        elif token == ")":
            if inner is None:
                raise Unknowable("brackets are not balanced")
            groups.append(tuple(inner))
            inner = None
        elif token.isdecimal() and int(token) < 2:
            if token != "1":
                raise Unknowable("an axis of length 0")
            if inner is None:
                groups.append(())
        else:
            axis = DOTS if token == ELLIPSIS else _axis(token, place + offset)
            if inner is None:
                dots = len(groups) if axis is DOTS else dots
                groups.append((axis,))
            else:
                inner.append(axis)
    side = Side(tuple(groups), dots)
    if inner is not None or len(set(side.axes)) != len(side.axes):
        raise Unknowable("brackets are not balanced, or an axis stands there twice")
    return side


def _axis(token: str, place: int) -> Axis:
    if token.isdecimal():
        return Axis(token, int(token), place)
    if not token.isidentifier() or token[0] == "_" or token[-1] == "_":
        raise Unknowable(f"no axis name: {token}")
    return Axis(token)


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    position, text = 0, text.strip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match[1] == "*":
            raise Unknowable(f"not a pattern: {text}")
        tokens.append(match[1])
        position = match.end()
    return tokens


@lru_cache(maxsize=1024)
def parse(pattern: str, operation: str) -> tuple[Side, Side]:
    """Both sides of a pattern for "rearrange", "repeat" or "reduce". Raises `Unknowable` where einops would raise."""
    if pattern.count("->") != 1:
        raise Unknowable("a pattern has one arrow")
    before, after = pattern.split("->")
    left, right = parse_side(before), parse_side(after, len(before))
    lost, new = _names(left) - _names(right), _names(right) - _names(left)
    if operation == "rearrange" and (lost or new or left.has_numbers or right.has_numbers):
        raise Unknowable("rearrange keeps all axes")
    if (operation == "repeat" and lost) or (operation == "reduce" and new) or (right.has_dots and not left.has_dots):
        raise Unknowable("an axis is on one side only")
    if left.has_dots and left.dots is None:
        raise Unknowable("an ellipsis in brackets on the left")
    return left, right


def _names(side: Side) -> set[str]:
    return {axis.name for axis in side.axes if axis.length is None}


def parse_packing(pattern: str) -> tuple[int, int]:
    """How many axes stand before and after the `*` of a `pack` pattern."""
    names = pattern.split()
    if names.count("*") != 1 or len(set(names)) != len(names):
        raise Unknowable("a packing pattern has one *")
    before = names.index("*")
    return before, len(names) - before - 1


@lru_cache(maxsize=1024)
def compact(pattern: str) -> str:
    """An einsum pattern of einops as torch writes it: one letter an axis."""
    if pattern.count("->") != 1:
        raise Unknowable("a pattern has one arrow")
    letters: dict[str, str] = {}
    left, right = pattern.split("->")
    sides = [[_letters(part, letters) for part in side.split(",")] for side in (left, right)]
    return "->".join(",".join(side) for side in sides)


def _letters(text: str, letters: dict[str, str]) -> str:
    result = ""
    for name in text.split():
        if name == ELLIPSIS:
            result += name
            continue
        if not name.isidentifier() or len(letters) >= 52:
            raise Unknowable(f"no axis name: {name}")
        if name not in letters:
            letters[name] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[len(letters)]
        result += letters[name]
    return result
