"""What a test tells in the branch behind it: `x is None`, `x.is_contiguous()`, `x.dim() == 4`, `len(x.shape) == 3`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from torchlayout.interp.conditions import MISSING, condition, decided, learn, of_value, read, store
from torchlayout.interp.frame import Frame
from torchlayout.interp.layout_tests import keep_contiguous, keep_stride, stride_asked
from torchlayout.interp.loops import dotted, walk
from torchlayout.interp.state import State, with_operands
from torchlayout.interp.tensors import as_size, as_tensor
from torchlayout.interp.values import (
    Bound,
    Class,
    Container,
    Dictionary,
    Function,
    Instance,
    Module,
    Opaque,
    Path,
    Sequence,
    Tensor,
    Union_,
    Value,
    same,
)
from torchlayout.layouts import settle, unknown_strides, with_rank
from torchlayout.ops import Operand
from torchlayout.program import nodes
from torchlayout.sizes import NO, YES, Poly, Rest

COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
TENSOR_TYPES = frozenset({"torch.Tensor", "Tensor", "torch.nn.Parameter"})


def truth_of(value: Value, st: State) -> bool | None:
    """Whether a value counts as true; None where that is not known."""
    value = st.load(value)
    if isinstance(value, (bool, int, float, str, bytes, type(None))):
        return bool(value)
    if isinstance(value, Sequence):
        return bool(value.items) if not any(isinstance(item, Rest) for item in value.items) else None
    if isinstance(value, (Function, Class, Module, Path, Bound)):
        return True
    if isinstance(value, Union_):
        known = {truth_of(choice, st) for choice in value.choices}
        return known.pop() if len(known) == 1 else None
    if isinstance(value, Poly):
        facts = st.facts.proven_world
        return {YES: False, NO: True}.get(facts.equal(value, 0))
    return decided(of_value(value), st) if st.tests else None


def outcome(test: nodes.Expr, value: Value, st: State, fr: Frame) -> bool | None:
    """How a test with this value comes out; None where that is not known."""
    known = truth_of(value, st)
    return decided(condition(test, st, fr), st) if known is None and st.tests else known


def assume(test: nodes.Expr, wanted: bool, st: State, fr: Frame) -> bool:
    """Take the test's outcome for granted in this state; False where it cannot be."""
    asked = condition(test, st, fr)
    if decided(asked, st) is (not wanted):
        return False
    possible = _narrowed(test, wanted, st, fr)
    learn(asked, wanted, st)
    return possible


def _narrowed(test: nodes.Expr, wanted: bool, st: State, fr: Frame) -> bool:
    """Keep of what is tested that which fits the outcome; False where nothing does."""
    if isinstance(test, nodes.Unary) and test.op == "not":
        return assume(test.operand, not wanted, st, fr)
    if isinstance(test, nodes.BoolOp):
        if (test.op == "and") is wanted:
            return all(assume(value, wanted, st, fr) for value in test.values)
        return True
    if isinstance(test, nodes.Compare) and len(test.rest) == 1:
        return _compare(test.left, test.rest[0][0], test.rest[0][1], wanted, st, fr)
    if isinstance(test, nodes.Call):
        return _call(test, wanted, st, fr)
    if isinstance(test, (nodes.Name, nodes.Attribute)):
        return _narrow(test, st, fr, lambda value: truth_of(value, st) is not (not wanted))
    if isinstance(test, nodes.Walrus):
        return _narrow(test.target, st, fr, lambda value: truth_of(value, st) is not (not wanted))
    return True


# ---------------------------------------------------------------- places that can be narrowed
def _narrow(node: nodes.Expr, st: State, fr: Frame, keep: Any) -> bool:
    """Keep the alternatives that pass; False where none does."""
    value = read(node, st, fr)
    if value is MISSING:
        return True
    if not isinstance(value, Union_):
        return bool(keep(value))
    kept = [choice for choice in value.choices if keep(choice)]
    if not kept:
        return False
    store(node, kept[0] if len(kept) == 1 else Union_(tuple(kept)), st, fr)
    return True


# ---------------------------------------------------------------- comparisons
def _compare(left: nodes.Expr, op: str, right: nodes.Expr, wanted: bool, st: State, fr: Frame) -> bool:
    if op in ("is", "is not", "==", "!=") and isinstance(right, nodes.Const) and right.value is None:
        return _is_none(left, (op in ("is", "==")) is wanted, st, fr)
    if isinstance(left, nodes.Const) and not isinstance(right, nodes.Const):
        mirrored = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(op, op)
        return _compare(right, mirrored, left, wanted, st, fr)
    if not wanted:
        op = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}.get(op, "")
    if op == "":
        return True
    strides = stride_asked(left)
    if strides is not None:
        return keep_stride(*strides, op, right, st, fr)
    rank = _rank_subject(left, st, fr)
    if rank is not None:
        return _rank(rank, left, op, right, st, fr)
    return _sizes(left, op, right, st, fr)


def _is_none(node: nodes.Expr, wanted: bool, st: State, fr: Frame) -> bool:
    value = read(node, st, fr)
    if value is MISSING:
        return True
    if isinstance(value, Opaque) and wanted:
        store(node, None, st, fr)
        return True
    return _narrow(node, st, fr, lambda v: (v is None) is wanted or isinstance(v, Opaque))


def _rank_subject(node: nodes.Expr, st: State, fr: Frame) -> nodes.Expr | None:
    """x of `x.dim()`, `x.ndim`, `len(x.shape)`, `len(x.size())`, where x is a tensor."""
    if isinstance(node, nodes.Attribute) and node.attr == "ndim":
        return node.value
    if isinstance(node, nodes.Call):
        func = node.func
        if isinstance(func, nodes.Attribute) and func.attr in ("dim", "ndimension") and not node.args:
            return func.value
        if isinstance(func, nodes.Name) and func.id == "len" and len(node.args) == 1:
            inner = node.args[0].value
            if isinstance(inner, nodes.Name):
                return inner if isinstance(read(inner, st, fr), Sequence) else None
            if isinstance(inner, nodes.Attribute) and inner.attr == "shape":
                return inner.value
            if isinstance(inner, nodes.Call) and isinstance(inner.func, nodes.Attribute) and inner.func.attr == "size":
                return inner.func.value
    return None


def _rank(subject: nodes.Expr, left: nodes.Expr, op: str, right: nodes.Expr, st: State, fr: Frame) -> bool:
    """Keep the alternatives of the tensor that have the rank; learn it where it was not known."""
    value = read(subject, st, fr)
    wanted = right.value if isinstance(right, nodes.Const) else None
    if value is MISSING or not isinstance(wanted, int):
        return True
    if isinstance(value, Sequence):
        if op != "==" or not all(isinstance(item, (int, Poly, Rest)) for item in value.items):
            return True
        return with_rank(unknown_strides(tuple(value.items)), wanted, st.facts) is not None
    tensor = as_tensor(value, st.facts) if isinstance(value, (Tensor, Opaque)) else None
    if tensor is None:
        return True
    check = COMPARISONS[op]
    facts = st.facts

    def keep(operand: Operand) -> bool:
        rank = settle(operand.layout, facts).rank
        return rank is None or bool(check(rank, wanted))

    proven = tuple(o for o in tensor.proven if keep(o))
    assumed = tuple(o for o in tensor.assumed if keep(o))
    if not assumed or not proven:
        return False
    if op == "==" and len(assumed) == 1:
        if with_rank(assumed[0].layout, wanted, facts) is None:
            return False
    if isinstance(value, Tensor) and (proven != tensor.proven or assumed != tensor.assumed):
        store(subject, with_operands(tensor, proven, assumed), st, fr)
    return True


def _sizes(left: nodes.Expr, op: str, right: nodes.Expr, st: State, fr: Frame) -> bool:
    """Equalities and bounds of sizes."""
    remainder = _remainder(left, right)
    if remainder is not None and op == "==":
        a, b = (_quick_size(part, st, fr) for part in remainder)
        if a is not None and b is not None:
            st.facts.learn_equal(a, b * st.facts.floor_divide(a, b))
        return True
    a, b = _quick_size(left, st, fr), _quick_size(right, st, fr)
    if a is None or b is None:
        return _constants(left, op, right, st, fr)
    facts = st.facts
    if op == "==":
        return facts.learn_equal(a, b) is not NO
    if isinstance(b, int):
        if op in (">", ">="):
            facts.learn_least(a, b + (op == ">"))
        elif op in ("<", "<="):
            facts.learn_most(a, b - (op == "<"))
        elif op == "!=":
            return facts.proven_world.equal(a, b) is not YES
    return True


def _constants(left: nodes.Expr, op: str, right: nodes.Expr, st: State, fr: Frame) -> bool:
    """`mode == "train"`: keep the alternatives that fit."""
    if op in ("==", "!=") and isinstance(right, nodes.Const) and isinstance(left, (nodes.Name, nodes.Attribute)):
        wanted = op == "=="
        value = read(left, st, fr)
        if wanted and isinstance(right.value, str) and isinstance(value, Opaque) and value.kind in (None, "str"):
            store(left, right.value, st, fr)
            return True

        def keep(value: Value) -> bool:
            if isinstance(value, (str, int, bool, float)) or value is None:
                return same(value, right.value) is wanted
            return True

        return _narrow(left, st, fr, keep)
    return True


def _remainder(left: nodes.Expr, right: nodes.Expr) -> tuple[nodes.Expr, nodes.Expr] | None:
    """a and b of `a % b == 0`."""
    if isinstance(left, nodes.Binary) and left.op == "%" and isinstance(right, nodes.Const) and right.value == 0:
        return left.left, left.right
    return None


def _quick_size(node: nodes.Expr, st: State, fr: Frame) -> Any:
    """The size that a simple expression stands for; None for anything else."""
    from torchlayout.interp.expressions import evaluate

    if isinstance(node, nodes.Const):
        return node.value if isinstance(node.value, int) and not isinstance(node.value, bool) else None
    if isinstance(node, nodes.Name) or (isinstance(node, nodes.Attribute) and dotted(node) is not None):
        value = read(node, st, fr)
        if isinstance(value, Opaque) and value.kind not in (None, "int"):
            return None
        size = as_size(value, st.facts) if isinstance(value, (Opaque, Poly, int)) else None
        return size if isinstance(size, (int, Poly)) and not isinstance(size, bool) else None
    if isinstance(node, (nodes.Subscript, nodes.Binary, nodes.Call)) and _is_size_like(node):
        value = evaluate(node, st, fr)
        if isinstance(value, Opaque) and value.size is not None:
            value = as_size(value, st.facts)
        return value if isinstance(value, (int, Poly)) and not isinstance(value, bool) else None
    return None


def _changes_nothing(node: nodes.Expr) -> bool:
    """Whether it holds no call and no assignment."""
    return not any(isinstance(found, (nodes.Call, nodes.Walrus, nodes.Yield, nodes.Await)) for found in walk(node))


def _is_size_like(node: nodes.Expr) -> bool:
    """Whether it is a size that can be asked for again: evaluating it does nothing else."""
    if isinstance(node, nodes.Subscript):
        shape = node.value
        return isinstance(shape, nodes.Attribute) and shape.attr == "shape" and _changes_nothing(shape.value)
    if isinstance(node, nodes.Call):
        func = node.func
        return isinstance(func, nodes.Attribute) and func.attr in ("size", "numel") and _changes_nothing(func.value)
    if isinstance(node, nodes.Binary):
        return all(isinstance(s, (nodes.Const, nodes.Name)) or _is_size_like(s) for s in (node.left, node.right))
    return isinstance(node, (nodes.Name, nodes.Const))


# ---------------------------------------------------------------- calls
def _call(node: nodes.Call, wanted: bool, st: State, fr: Frame) -> bool:
    func = node.func
    if isinstance(func, nodes.Attribute) and func.attr == "is_contiguous" and not node.args:
        return keep_contiguous(func.value, wanted, st, fr)
    if isinstance(func, nodes.Name) and func.id == "isinstance" and len(node.args) == 2:
        return _isinstance(node.args[0].value, node.args[1].value, wanted, st, fr)
    path = dotted(func)
    if path is not None and fr.unit.resolve(path) == "torch.is_tensor" and node.args and wanted:
        return _as_tensor_type(node.args[0].value, st, fr)
    return True


def _isinstance(subject: nodes.Expr, kind: nodes.Expr, wanted: bool, st: State, fr: Frame) -> bool:
    types = kind.items if isinstance(kind, nodes.Sequence) else (kind,)
    paths = [fr.unit.resolve(dotted(t) or "") or dotted(t) or "" for t in types]
    if all(path in TENSOR_TYPES or path.endswith(".Tensor") for path in paths):
        if wanted:
            return _as_tensor_type(subject, st, fr)
        return _narrow(subject, st, fr, lambda v: not isinstance(v, Tensor) or v.numpy)
    plain = {"tuple", "list", "dict", "str", "int", "float", "bool"}
    if all(path in plain for path in paths):
        return _narrow(subject, st, fr, lambda v: _has_plain_type(v, paths, st) is not (not wanted))
    return True


def _has_plain_type(value: Value, names: list[str], st: State) -> bool | None:
    value = st.load(value)
    if isinstance(value, Opaque):
        return None if value.kind != "tensor" else False
    if isinstance(value, Poly):
        return "int" in names
    if isinstance(value, Sequence):
        return ("list" if value.kind == "list" else "tuple") in names
    if isinstance(value, Dictionary):
        return "dict" in names
    if isinstance(value, (Tensor, Module, Instance, Container, Function)):
        return False
    return type(value).__name__ in names if isinstance(value, (str, int, float, bool, type(None))) else None


def _as_tensor_type(subject: nodes.Expr, st: State, fr: Frame) -> bool:
    value = read(subject, st, fr)
    if isinstance(value, Opaque):
        store(subject, Opaque(value.key, value.name, value.weak, value.origin, "tensor"), st, fr)
        return True
    if isinstance(value, Union_):
        return _narrow(subject, st, fr, lambda v: isinstance(v, (Tensor, Opaque)))
    return True
