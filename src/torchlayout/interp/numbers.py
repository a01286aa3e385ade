"""Arithmetic and comparison of values that are no tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from typing import Any

from torchlayout.interp.joins import join_all
from torchlayout.interp.state import State
from torchlayout.interp.tensors import as_size, is_number, note_int
from torchlayout.interp.values import (
    MAX_WEIGHT,
    Class,
    Function,
    Many,
    Opaque,
    Sequence,
    Value,
    is_int,
    is_sequence,
    items_of,
)
from torchlayout.sizes import MAYBE, YES, Poly, Rest, product
from torchlayout.sizes.polynomial import MAX_TERMS

_PLAIN: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift,
}  # fmt: skip
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
MAX_MAGNITUDE = 1 << 62
"""Ints beyond this are no sizes; powers and shifts that large are not computed."""
MAX_POWER = 4
"""Powers of unknown ints that are written as products."""
MAX_TEXT = 10_000
"""Characters of strings that are put together."""


def arithmetic(op: str, left: Value, right: Value, st: State, key: Hashable) -> Value | None:
    """`left op right`; None where it is not known."""
    left, right = st.load(left), st.load(right)
    if is_sequence(left) or is_sequence(right):
        return _sequences(op, left, right, st, key)
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return _numbers(op, left, right)
    if isinstance(left, str) and op in "+%":
        short = op == "+" and isinstance(right, str) and len(left) + len(right) <= MAX_TEXT
        return left + right if short else Opaque((key, "text"), kind="str")
    if op in ("+", "-", "*", "//", "%") or (op == "**" and isinstance(right, int) and 1 < right <= MAX_POWER):
        found = _sizes(op, left, right, st)
        if found is not None:
            return found
    if all(is_number(side) or _may_be_int(side) for side in (left, right)):
        if op in ("/", "**") or any(
            isinstance(s, float) or getattr(s, "kind", None) == "number" for s in (left, right)
        ):
            whole = _sizes("//", left, right, st) if op == "/" else None
            kind = "number" if all(map(is_number, (left, right))) else None
            weak = not (isinstance(left, Opaque) and not left.weak)
            return Opaque((key, "number"), None, weak, kind=kind, whole=whole if isinstance(whole, Poly) else None)
    return None


def _numbers(op: str, left: Any, right: Any) -> Value | None:
    if op in ("**", "<<") and (abs(right) > 64 or abs(left) > MAX_MAGNITUDE):
        return None
    try:
        result = _PLAIN[op](left, right)
    except (ArithmeticError, TypeError, ValueError, KeyError):
        return None
    if isinstance(result, int) and abs(result) > MAX_MAGNITUDE:
        return None
    return result if isinstance(result, (int, float)) else None


def _sizes(op: str, left: Value, right: Value, st: State) -> Value | None:
    """Symbolic ints: at least one side is one, and the other may be an unknown used as one."""
    if not all(isinstance(side, Poly) or is_int(side) or _may_be_int(side) for side in (left, right)):
        return None
    a, b = as_size(left, st.facts), as_size(right, st.facts)
    if not all(isinstance(side, (int, Poly)) for side in (a, b)):
        return None
    if op not in "+*" or (op == "+" and (is_int(left) or is_int(right))):  # a tuple has no such operators
        note_int(left, st.facts)
        note_int(right, st.facts)
    if op == "//":
        return None if b == 0 else st.facts.floor_divide(a, b)
    if op == "%":
        return None if b == 0 else st.facts.modulo(a, b)
    result = product([a] * b) if op == "**" else _PLAIN[op](a, b)
    return None if isinstance(result, Poly) and len(result.terms) > MAX_TERMS else result


def _may_be_int(value: Value) -> bool:
    """An unknown that a use beside an int takes for one: a parameter annotated so, or a named attribute."""
    return isinstance(value, Opaque) and value.kind in (None, "int") and (value.kind == "int" or value.name is not None)


def _sequences(op: str, left: Value, right: Value, st: State, key: Hashable) -> Value | None:
    if op == "*":
        sequence, count = (left, right) if is_sequence(left) else (right, left)
        if isinstance(sequence, Sequence) and isinstance(count, int) and len(sequence.items) * max(count, 0) <= 64:
            return _kept(sequence, sequence.items * count, st, key)
        if is_sequence(sequence):
            return Many(join_all(items_of(sequence), (key, "item")), sequence.kind)
        return None
    if op != "+" or not (is_sequence(left) and is_sequence(right)):
        return None
    if isinstance(left, Sequence) and isinstance(right, Sequence) and left.weight + right.weight <= MAX_WEIGHT:
        return _kept(left, left.items + right.items, st, key)
    return Many(join_all([*items_of(left), *items_of(right)], (key, "item")), left.kind)


def _kept(like: Sequence, items: tuple[Value, ...], st: State, key: Hashable) -> Value:
    made = Sequence("tuple" if like.kind == "size" and not _all_sizes(items) else like.kind, items)
    return st.hold(("list", key), made) if like.kind == "list" else made


def _all_sizes(items: tuple[Value, ...]) -> bool:
    return all(isinstance(item, (int, Poly, Rest)) for item in items)


def negate(op: str, value: Value, st: State) -> Value | None:
    if isinstance(value, (int, float)) and op in "+-~":
        return -value if op == "-" else +value if op == "+" else (~value if isinstance(value, int) else None)
    if op == "-" and (isinstance(value, Poly) or _may_be_int(value)):
        size = as_size(value, st.facts)
        return -size if isinstance(size, (int, Poly)) else None
    return None


def compare_values(op: str, left: Value, right: Value, st: State) -> bool | None:
    """The answer of a comparison; None where it is not known."""
    left, right = st.load(left), st.load(right)
    if op in ("is", "is not"):
        known = _identical(left, right)
        return known if known is None or op == "is" else not known
    if op in ("in", "not in"):
        known = _contains(left, right)
        return known if known is None or op == "in" else not known
    if isinstance(left, (int, float, str, bytes, bool)) and isinstance(right, (int, float, str, bytes, bool)):
        try:
            return bool(_COMPARE[op](left, right))
        except TypeError:
            return None
    if (left is None) != (right is None) and not isinstance(left if right is None else right, Opaque):
        return {"==": False, "!=": True}.get(op)
    if isinstance(left, Sequence) and isinstance(right, Sequence) and op in ("==", "!="):
        return _equal_sequences(op, left, right, st)
    if isinstance(left, (int, Poly)) and isinstance(right, (int, Poly)):
        return _compare_sizes(op, left, right, st)
    return None


def _compare_sizes(op: str, left: Any, right: Any, st: State) -> bool | None:
    facts = st.facts.proven_world
    if op in ("==", "!="):
        answer = facts.equal(left, right)
    elif op in ("<", ">="):
        answer = facts.less(left, right)
    else:
        answer = facts.less(right, left)
    if answer is MAYBE:
        return None
    return (answer is YES) is (op in ("==", "<", ">"))


def _equal_sequences(op: str, left: Sequence, right: Sequence, st: State) -> bool | None:
    if any(isinstance(item, Rest) for item in (*left.items, *right.items)):
        return None
    if len(left.items) != len(right.items):
        return op == "!="
    answers = [compare_values("==", a, b, st) for a, b in zip(left.items, right.items, strict=True)]
    if any(answer is False for answer in answers):
        return op == "!="
    return op == "==" if all(answers) else None


def _identical(left: Value, right: Value) -> bool | None:
    if left is None and right is None:
        return True
    for value, other in ((left, right), (right, left)):
        if other is None:
            return None if isinstance(value, Opaque) or type(value).__name__ == "Union_" else False
    if isinstance(left, bool) and isinstance(right, bool):
        return left is right
    if isinstance(left, (Function, Class)) and isinstance(right, (Function, Class)):
        return left is right
    return None


def _contains(item: Value, container: Value) -> bool | None:
    if not isinstance(item, (str, int)):
        return None
    if isinstance(container, Sequence) and all(isinstance(other, (str, int, float)) for other in container.items):
        return item in container.items
    if isinstance(container, str) and isinstance(item, str):
        return item in container
    return None
