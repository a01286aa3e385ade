"""Rows that follow from others: `f_` in place from `f`, `f_copy` from a view `f`, `f(..., out=y)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torchlayout.layouts import Layout, contiguous, has_overlap, settle, unknown_strides
from torchlayout.ops.values import (
    UNKNOWN,
    Alternatives,
    Fields,
    Many,
    Operand,
    Outcome,
    Refused,
    Result,
    Unknowable,
    is_unknown,
)
from torchlayout.sizes import MAYBE, NO, YES, Facts, Rest, Truth
from torchlayout.structs import replace

if TYPE_CHECKING:
    from torchlayout.ops.table import Args

OVERLAP_WRITE = "more than one element of the written-to tensor refers to a single memory location"

SILENT_ON_OVERLAP = frozenset({
    "addmv", "baddbmm", "conj_physical", "detach", "index_fill", "index_put", "masked_fill", "threshold", "tril", "triu",
})  # fmt: skip
"""Operators that write silently to a tensor whose elements share memory, in place (measured on torch's CPU backend);
all others raise."""

REFUSES_OVERLAPPING_OUT = frozenset({
    "add", "arange", "cat", "cumprod", "cumsum", "div", "gather", "index_select", "matmul", "mm", "mul", "softmax",
    "sort", "stack", "sub",
})  # fmt: skip
"""Operators that refuse such a tensor as `out=` (measured too; many others, like `sum`, write to it silently)."""


def refuse_overlap(operand: Operand, facts: Facts, name: str = "self") -> Truth:
    """Raises `Refused` where the elements of a tensor that is written to share memory. MAYBE where they do unless
    some size is 1; unknown strides raise no suspicion."""
    answer = has_overlap(operand.layout, facts)
    if answer is YES:
        raise Refused("overlap-write", OVERLAP_WRITE, name)
    return MAYBE if answer is MAYBE and any(dim.stride == 0 for dim in operand.layout.dims) else YES


def renormalises(weight: Layout, facts: Facts) -> Truth:
    """Whether rows that are too long can be renormalised in place: rows whose elements share memory refuse it. Which
    are too long is data."""
    return MAYBE if has_overlap(weight.replace(weight.dims[1:]), facts) is YES else YES


def in_place(name: str, transfer: Callable[[Args], Outcome], is_view: bool) -> Callable[[Args], Outcome]:
    """The transfer function of `f_`: the tensor itself. The views among them (`t_`, `squeeze_`) change its layout."""

    def apply(args: Args) -> Outcome:
        first = args.op.signature.parameters[0].name
        operand = args.operand(first)
        if is_view:
            return _itself_as(transfer(args))
        if name == "addbmm":
            return _resizing(args, transfer(args), operand, first)
        exists = YES if name in SILENT_ON_OVERLAP else refuse_overlap(operand, args.facts, first)
        _refuse_other_sizes(transfer, args, first)
        return Result(args.layout(first), operand.dtype, YES, of=first, same_object=True, exists=exists)

    return apply


def _resizing(args: Args, outcome: Outcome, operand: Operand, first: str) -> Outcome:
    """`addbmm_`, the one operator that resizes its tensor where the result has other sizes."""
    refuse_overlap(operand, args.facts, first)
    layout = args.layout(first)
    if not isinstance(outcome, Result):
        return outcome
    if _same_sizes(layout.shape, outcome.layout.shape, args.facts):
        return Result(layout, operand.dtype, YES, of=first, same_object=True)
    return _itself_as(replace(outcome, layout=Layout(outcome.layout.dims, layout.offset)))


def packed_copy(transfer: Callable[[Args], Outcome]) -> Callable[[Args], Outcome]:
    """The transfer function of `f_copy`: what the view `f` gives, packed."""

    def apply(args: Args) -> Outcome:
        return _packed(transfer(args))

    return apply


def _packed(outcome: Outcome) -> Outcome:
    if isinstance(outcome, Result):
        return Result(contiguous(outcome.layout.shape), outcome.dtype)
    if isinstance(outcome, Alternatives):
        return Alternatives(tuple(_packed(one) for one in outcome.outcomes))
    if isinstance(outcome, Many):
        return Many(_packed(outcome.item))
    return tuple(_packed(one) for one in outcome) if isinstance(outcome, tuple) else outcome


def _refuse_other_sizes(transfer: Callable[[Args], Outcome], args: Args, first: str) -> None:
    """Raises `Unknowable` where the result would not fit into the tensor."""
    try:
        outcome = transfer(args)
    except (Unknowable, Refused):
        return
    if isinstance(outcome, Result):
        layout = args.layout(first)
        if layout.rank is not None and outcome.layout.rank is not None:
            sizes = layout.sizes, outcome.layout.sizes
            if len(sizes[0]) != len(sizes[1]) or any(args.facts.equal(a, b) is NO for a, b in zip(*sizes, strict=True)):
                raise Unknowable("a result of another shape")


def _itself_as(outcome: Outcome) -> Outcome:
    """The outcome of the view, as the tensor itself."""
    if isinstance(outcome, Alternatives):
        return Alternatives(tuple(_itself_as(one) for one in outcome.outcomes))
    return replace(outcome, same_object=True, shares=YES) if isinstance(outcome, Result) else outcome


def into(name: str, out: Any, outcome: Outcome, facts: Facts) -> Outcome:
    """What a call with `out=` returns: the tensors given, resized where the sizes differ."""
    if isinstance(out, (tuple, list)):
        results = list(outcome.values.values()) if isinstance(outcome, Fields) else outcome
        if not isinstance(results, (tuple, list)) or len(results) != len(out):
            return UNKNOWN
        filled = [into(name, one, result, facts) for one, result in zip(out, results, strict=True)]
        if isinstance(outcome, Fields):
            return Fields(dict(zip(outcome.values, filled, strict=True)))
        return tuple(filled)
    if out is None:
        return outcome
    if is_unknown(out) or not isinstance(out, Operand):
        return UNKNOWN
    layout = settle(out.layout, facts)
    if not isinstance(outcome, Result):
        return Result(unknown_strides((facts.symbols.fresh_rest("out"),)), out.dtype, YES, of="out", same_object=True)
    exists = refuse_overlap(out, facts, "out") if name in REFUSES_OVERLAPPING_OUT else YES
    wanted = unknown_strides(outcome.layout.shape)
    if layout.shape != wanted.shape and not _same_sizes(layout.shape, wanted.shape, facts):
        layout = wanted
    return Result(layout, out.dtype, YES, of="out", same_object=True, exists=exists)


def _same_sizes(a: tuple[Any, ...], b: tuple[Any, ...], facts: Facts) -> bool:
    if len(a) != len(b):
        return False
    return all(
        one is other if isinstance(one, Rest) or isinstance(other, Rest) else facts.equal(one, other) is YES
        for one, other in zip(a, b, strict=True)
    )
