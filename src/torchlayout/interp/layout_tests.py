"""What a test of a layout tells in the branch behind it: `x.is_contiguous()`, `x.stride(-1) == 1`."""

from __future__ import annotations

from collections.abc import Callable

from torchlayout.interp.conditions import MISSING, read, store
from torchlayout.interp.frame import Frame
from torchlayout.interp.state import State, with_operands
from torchlayout.interp.tensors import as_tensor
from torchlayout.interp.values import Opaque, Tensor
from torchlayout.layouts import Layout, contiguous, is_contiguous, settle
from torchlayout.ops import Operand
from torchlayout.program import nodes
from torchlayout.sizes import MAYBE, NO, YES, Facts
from torchlayout.structs import replace

Keep = Callable[[Operand, Facts], "Operand | None"]
"""What is left of an alternative where the test came out so; None where it cannot have."""


def keep_contiguous(subject: nodes.Expr, wanted: bool, st: State, fr: Frame) -> bool:
    """After `x.is_contiguous()`: keep the alternatives of x that fit; False where none does."""

    def keep(operand: Operand, facts: Facts) -> Operand | None:
        known = is_contiguous(operand.layout, facts)
        if known is (NO if wanted else YES):
            return None
        layout: Layout = operand.layout
        if wanted and known is MAYBE:
            layout = contiguous(layout.shape, layout.offset)
        return replace(operand, layout=layout)

    return _keep(subject, keep, st, fr)


def stride_asked(node: nodes.Expr) -> tuple[nodes.Expr, int] | None:
    """x and d of `x.stride(d)` and `x.stride()[d]`."""
    if isinstance(node, nodes.Subscript) and isinstance(node.value, nodes.Call) and not node.value.args:
        call, index = node.value, node.index
    elif isinstance(node, nodes.Call) and len(node.args) == 1 and node.args[0].keyword in (None, "dim"):
        call, index = node, node.args[0].value
    else:
        return None
    place = _number(index)
    if place is None or not isinstance(call.func, nodes.Attribute) or call.func.attr != "stride":
        return None
    return call.func.value, place


def _number(node: nodes.Expr) -> int | None:
    if isinstance(node, nodes.Unary) and node.op == "-":
        inner = _number(node.operand)
        return None if inner is None else -inner
    value = node.value if isinstance(node, nodes.Const) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def keep_stride(subject: nodes.Expr, place: int, op: str, right: nodes.Expr, st: State, fr: Frame) -> bool:
    """After `x.stride(d) == 1`: keep the alternatives of x that fit; False where none does."""
    number = _number(right)
    if number is None or op not in ("==", "!="):
        return True

    def keep(operand: Operand, facts: Facts) -> Operand | None:
        dims = list(settle(operand.layout, facts).dims)
        ends = dims[place:] if place < 0 else dims[: place + 1]
        if not -len(dims) <= place < len(dims) or any(dim.rest is not None for dim in ends):
            return operand  # which dimension it is depends on their number
        dim = dims[place]
        known = MAYBE if dim.stride is None else facts.equal(dim.stride, number)
        if known is (NO if op == "==" else YES):
            return None
        if op == "==" and dim.stride is None:
            dims[place] = dim._replace(stride=number)
            return replace(operand, layout=operand.layout.replace(dims))
        return operand

    return _keep(subject, keep, st, fr)


def _keep(subject: nodes.Expr, keep: Keep, st: State, fr: Frame) -> bool:
    value = read(subject, st, fr)
    if value is MISSING or not isinstance(value, (Tensor, Opaque)):
        return True
    tensor = as_tensor(value, st.facts)
    if tensor is None:
        return True
    proven, assumed = (
        tuple(kept for operand in operands if (kept := keep(operand, facts)) is not None)
        for operands, facts in ((tensor.proven, st.facts.proven_world), (tensor.assumed, st.facts.assumed_world))
    )
    if not proven:
        return False
    if not assumed:
        assumed = proven  # against the usual assumption: what is proven remains
    store(subject, with_operands(tensor, proven, assumed), st, fr)
    return True
