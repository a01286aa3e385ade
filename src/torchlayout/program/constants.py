"""Constants told from their `ast`, without running anything: literals, tuples, and arithmetic on them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from enum import Enum
from typing import Any, Final, TypeAlias, Union


class Unknown(Enum):
    """The type of `UNKNOWN`: no constant, or none that is told."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN
MAX_BITS = 256
"""Integers beyond this are of no use as sizes."""
MAX_LENGTH = 10_000
"""Items or characters of a constant that an operator makes."""
MAX_NESTING = 60

Lookup: TypeAlias = Union[Callable[[str], object], None]

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}


def fold(node: ast.expr, lookup: Lookup = None, nesting: int = 0) -> object | Unknown:
    """The value of an expression of literals; `lookup` gives the value of a name, or `UNKNOWN`.

    Lists are no constants (somebody may change them). Division by zero and the like give `UNKNOWN`.
    """
    if isinstance(node, ast.Constant):
        return node.value
    if nesting > MAX_NESTING:
        return UNKNOWN
    if isinstance(node, ast.Name):
        return lookup(node.id) if lookup is not None else UNKNOWN
    if isinstance(node, ast.Tuple):
        items = tuple(fold(element, lookup, nesting + 1) for element in node.elts)
        return UNKNOWN if any(item is UNKNOWN for item in items) or _items_in(items) > MAX_LENGTH else items
    if isinstance(node, ast.UnaryOp):
        return _unary(node.op, fold(node.operand, lookup, nesting + 1))
    if isinstance(node, ast.BinOp):
        left = fold(node.left, lookup, nesting + 1)
        return UNKNOWN if left is UNKNOWN else _binary(node.op, left, fold(node.right, lookup, nesting + 1))
    return UNKNOWN


def _unary(op: ast.unaryop, value: object) -> object | Unknown:
    if isinstance(op, ast.Not):
        return UNKNOWN if value is UNKNOWN else not value
    if not isinstance(value, (int, float)):
        return UNKNOWN
    if isinstance(op, ast.USub):
        return -value
    if isinstance(op, ast.UAdd):
        return +value
    return ~value if isinstance(value, int) else UNKNOWN


def _binary(op: ast.operator, left: object, right: object) -> object | Unknown:
    function = _BINARY.get(type(op))
    if function is None or not (_moderate(left, op) and _moderate(right, op)):
        return UNKNOWN
    if isinstance(op, (ast.Pow, ast.LShift)) and not (isinstance(right, int) and 0 <= right <= MAX_BITS):
        return UNKNOWN
    try:
        value = function(left, right)
    except (ArithmeticError, TypeError, ValueError):
        return UNKNOWN
    return UNKNOWN if isinstance(value, int) and value.bit_length() > MAX_BITS else value


def _items_in(value: object) -> int:
    """How many items there are in a tuple, and in the tuples in it."""
    return 1 + sum(map(_items_in, value)) if isinstance(value, tuple) else 1


def _moderate(value: object, op: ast.operator) -> bool:
    """Whether an operator over the value stays cheap."""
    if isinstance(value, int):
        return value.bit_length() <= MAX_BITS
    if isinstance(value, float):
        return True
    return isinstance(value, (str, tuple)) and len(value) <= MAX_LENGTH and isinstance(op, ast.Add)
