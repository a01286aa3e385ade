"""What a test asks, in a form that is the same however it is written.

`x is None`, `x == None`, `not (x is not None)` and `none = x is None; if none:` are one condition of one value, so
that where one of them was decided the others are too. A condition is a hashable key and the outcome of the test that
makes it true; values stand in it by their identity, so that a name that is bound anew makes another condition.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from torchlayout.interp.frame import Frame
from torchlayout.interp.names import lookup
from torchlayout.interp.state import State
from torchlayout.interp.text import expression_text
from torchlayout.interp.values import Dictionary, Instance, Opaque, Path, Tensor, Value
from torchlayout.program import nodes
from torchlayout.sizes import Poly

Condition = tuple[Hashable, bool]
"""What is asked, and the answer with which the test is true."""

TEST = "test"
"""Marks the key of an unknown bool that is the outcome of a condition."""

TRUE = "true"
"""Marks the condition that a value counts as true."""

OPPOSITE = {"is not": "is", "!=": "==", "not in": "in", ">=": "<", "<=": ">"}
NONE = ("const", "NoneType", None)
PURE_CALLS = frozenset({"isinstance", "hasattr", "callable", "issubclass"})
PURE_METHODS = frozenset({"dim", "ndimension", "numel", "size", "is_floating_point", "is_complex", "startswith"})


def condition(test: nodes.Expr, st: State, fr: Frame) -> Condition | None:
    """The condition that a test asks; None where it is not known what it depends on."""
    if isinstance(test, nodes.Unary):
        inner = condition(test.operand, st, fr) if test.op == "not" else None
        return None if inner is None else (inner[0], not inner[1])
    if isinstance(test, nodes.Walrus):
        return condition(test.target, st, fr)
    if isinstance(test, nodes.BoolOp):
        parts = [condition(value, st, fr) for value in test.values]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        both = test.op == "and"  # `a or b` is `not (not a and not b)`
        return ("and", frozenset((key, answer is both) for key, answer in known)), both
    if isinstance(test, nodes.Compare) and len(test.rest) == 1:
        return _comparison(test.left, *test.rest[0], st, fr)
    if isinstance(test, nodes.Call):
        token = _token(test, st, fr)
        return None if token is None else (token, True)
    if isinstance(test, (nodes.Name, nodes.Attribute)):
        value = read(test, st, fr)
        token = _token(test, st, fr) if value is MISSING else None
        return of_value(value) if token is None else ((TRUE, token), True)
    return None


def of_value(value: Value) -> Condition | None:
    """The condition that an unknown value counts as true."""
    if not isinstance(value, Opaque):
        return None
    key = value.key
    if isinstance(key, tuple) and len(key) == 3 and key[0] == TEST:
        return key[1], key[2]
    return (TRUE, ("?", key)), True


def is_answer(value: Opaque) -> bool:
    """Whether a value is what a comparison gives, and so no tensor that was there before it."""
    return isinstance(value.key, tuple) and (value.key[0] == TEST or value.key[-1] == "compare")


def as_value(found: Condition, kind: str | None = "bool") -> Opaque:
    """The bool that a condition comes out as; of a comparison of what may be tensors, one of them."""
    return Opaque((TEST, *found), kind=kind)


def decided(found: Condition | None, st: State) -> bool | None:
    """The outcome of a test where its condition was decided on the way here."""
    if found is None or not st.tests:
        return None
    known = st.tests.get(found[0])
    return None if known is None else known is found[1]


def learn(found: Condition | None, wanted: bool, st: State) -> None:
    """Take the outcome of a test for granted from here on."""
    if found is None:
        return
    key, answer = found
    st.tests = {**st.tests, key: wanted is answer}
    if isinstance(key, tuple) and key[0] == TRUE and wanted is answer:
        st.tests[("==", frozenset((key[1], NONE)))] = False


def forget_attribute(name: str, st: State) -> None:
    """An attribute of that name was set on an object of which nothing is known."""
    if st.tests:
        st.tests = {key: answer for key, answer in st.tests.items() if not _mentions(key, name)}


def _mentions(key: Hashable, name: str) -> bool:
    if isinstance(key, (tuple, frozenset)):
        return any(_mentions(part, name) for part in key)
    return key == name


def _comparison(left: nodes.Expr, op: str, right: nodes.Expr, st: State, fr: Frame) -> Condition | None:
    answer = op not in OPPOSITE
    op = OPPOSITE.get(op, op)
    a, b = _token(left, st, fr), _token(right, st, fr)
    if a is None or b is None:
        return None
    if op == "is" and (a[0] == "const" or b[0] == "const"):
        op = "=="  # nobody tells the two apart for None, True and numbers
    if op == ">":
        return ("<", b, a), answer
    return (op, frozenset((a, b)) if op in ("is", "==") else (a, b)), answer


def _token(node: nodes.Expr, st: State, fr: Frame) -> tuple[Hashable, ...] | None:
    """What stands for the value of an expression; None where asking for it twice may give two values."""
    if isinstance(node, nodes.Const):
        return _of_known(node.value)
    if isinstance(node, (nodes.Name, nodes.Attribute)):
        value = read(node, st, fr)
        if value is not MISSING:
            return _of_known(value)
        inner = _token(node.value, st, fr) if isinstance(node, nodes.Attribute) else None
        return None if inner is None or not isinstance(node, nodes.Attribute) else ("attribute", inner, node.attr)
    if isinstance(node, nodes.Subscript) and isinstance(node.index, (nodes.Const, nodes.Unary)):
        inner = _token(node.value, st, fr)
        return None if inner is None else ("item", inner, expression_text(node.index))
    if isinstance(node, nodes.Call):
        return _of_call(node, st, fr)
    return None


def _of_call(node: nodes.Call, st: State, fr: Frame) -> tuple[Hashable, ...] | None:
    """`isinstance(x, T)`, `hasattr(x, "a")`, `x.dim()`: calls that do nothing and give the same each time."""
    func = node.func
    if isinstance(func, nodes.Name) and func.id in PURE_CALLS and node.args:
        subject = _token(node.args[0].value, st, fr)
        others = ", ".join(expression_text(arg.value) for arg in node.args[1:])
        return None if subject is None or "..." in others else (func.id, subject, others)
    if isinstance(func, nodes.Attribute) and func.attr in PURE_METHODS:
        subject = _token(func.value, st, fr)
        if subject is not None and all(isinstance(arg.value, nodes.Const) for arg in node.args):
            return (func.attr, subject, *(expression_text(arg.value) for arg in node.args))
    return None


def _of_known(value: Value) -> tuple[Hashable, ...] | None:
    if isinstance(value, Opaque):
        return ("?", value.key)
    if isinstance(value, (str, int, float, type(None))):
        return ("const", type(value).__name__, value)
    if isinstance(value, Poly):
        return ("size", value)
    if isinstance(value, Tensor):
        return ("tensor", value.ident, value.assumed)  # with its layout, which may change in place
    if isinstance(value, Instance):
        return ("object", value.ref)
    return ("path", value.path) if isinstance(value, Path) else None


MISSING: Any = object()
"""What a node stands for that cannot be read without running something."""


def read(node: nodes.Expr, st: State, fr: Frame) -> Value:
    """The value of a name or of an attribute of a known object, without running anything."""
    if isinstance(node, nodes.Name):
        return lookup(node.id, st, fr)
    if isinstance(node, nodes.Attribute):
        holder = read(node.value, st, fr)
        if isinstance(holder, Instance):
            attributes = st.heap.get(holder.ref)
            if isinstance(attributes, Dictionary) and node.attr not in attributes.maybe:
                return attributes.items.get(node.attr, MISSING)
    return MISSING


def store(node: nodes.Expr, value: Value, st: State, fr: Frame) -> None:
    """Give a name, or an attribute of a known object, the value that is left of it."""
    if isinstance(node, nodes.Name):
        if node.id in st.env:
            st.env[node.id] = value
    elif isinstance(node, nodes.Attribute):
        holder = read(node.value, st, fr)
        if isinstance(holder, Instance):
            attributes = st.heap.get(holder.ref)
            if isinstance(attributes, Dictionary):
                st.heap[holder.ref] = attributes.put(node.attr, value)
