"""Reinterpreting memory: `x.view(dtype)` and `view_as_complex`, which need a last dimension of stride 1."""

from __future__ import annotations

from torchlayout.layouts import Dim, Layout
from torchlayout.ops.table import Args, op
from torchlayout.ops.values import Alias, DType, Outcome, Refused, Result, Unknowable
from torchlayout.ops.views import WHOLES
from torchlayout.sizes import MAYBE, NO, YES, Facts, Size, Truth, exact_quotient


def reinterpreted(args: Args) -> Outcome:
    """the same bytes as elements of another dtype; with another item size the last dimension needs stride 1"""
    dtype = args.known("dtype")
    operand, layout = args.operand(), args.layout()
    old = operand.dtype.itemsize if operand.dtype else None
    new = dtype.itemsize
    if old is None or new is None:
        raise Unknowable("an item size is not known")
    if old == new:
        return Result(layout, dtype, YES)
    if layout.rank == 0:
        raise Unknowable("a number cannot be split")
    layout = args.reaching(layout, -1)
    exists = _last_is_packed(layout, args.facts, f"self.stride(-1) must be 1 to view elements of {old} bytes as {new}")
    if new < old:
        return Result(_split(layout, old // new), dtype, YES, exists=exists)
    return _joined(args, layout, new // old, exists, dtype)


def _last_is_packed(layout: Layout, facts: Facts, message: str) -> Truth:
    """Whether the last stride is 1. Raises `Refused` where it is not, in a dimension long enough to tell.

    torch looks at the stride of a last dimension of size 1 as well, but such strides are not known well enough.
    """
    last = layout.dims[-1]
    if last.stride is None:
        return MAYBE
    answer = facts.equal(last.stride, 1)
    if answer is NO:
        if facts.above_one(last.size) is YES:
            raise Refused("dtype-view", message)
        return MAYBE
    return answer


def _split(layout: Layout, ratio: int) -> Layout:
    *outer, last = layout.dims
    dims = [dim._replace(stride=None if dim.stride is None else dim.stride * ratio) for dim in outer]
    offset = None if layout.offset is None else layout.offset * ratio
    return Layout((*dims, Dim(last.size * ratio, 1)), offset)


def _joined(args: Args, layout: Layout, ratio: int, exists: Truth, dtype: DType | None) -> Outcome:
    """Several old elements make a new one: sizes, strides and offset have to be divisible."""
    facts = args.facts
    *outer, last = layout.dims
    if isinstance(last.size, int) and last.size % ratio:
        raise Unknowable("the last size is not divisible")
    dims = []
    for dim in outer:
        stride = _divided(dim.stride, ratio)
        if isinstance(dim.stride, int) and stride is None and facts.above_one(dim.size) is YES:
            raise Refused("dtype-view", f"a stride of {dim.stride} is not divisible by {ratio}")
        exists = exists & (MAYBE if stride is None else YES)
        dims.append(dim._replace(stride=stride))
    offset = _divided(layout.offset, ratio)
    if isinstance(layout.offset, int) and offset is None:
        raise Refused("dtype-view", f"a storage offset of {layout.offset} is not divisible by {ratio}")
    exists = exists & (MAYBE if offset is None else YES)
    joined = Layout((*dims, Dim(facts.quotient(last.size, ratio), 1)), offset)
    return Result(joined, dtype, YES, exists=exists)


def _divided(size: Size | None, ratio: int) -> Size | None:
    return None if size is None else exact_quotient(size, ratio)


def as_complex(args: Args) -> Outcome:
    """the last dimension, of size 2, read as complex numbers; needs stride 1 there, even strides elsewhere"""
    operand = args.operand()
    layout = args.layout()
    if layout.rank == 0:
        raise Unknowable("a number has no parts")
    layout = args.reaching(layout, -1)
    if args.facts.equal(layout.dims[-1].size, 2) is NO:
        raise Unknowable("the last dimension is not of size 2")
    exists = _last_is_packed(layout, args.facts, "Tensor must have a last dimension with stride 1")
    name = operand.dtype.name if operand.dtype else ""
    dtype = DType(WHOLES[name]) if name in WHOLES else None
    pairs = Layout((*layout.dims[:-1], Dim(2, 1)), layout.offset)
    outcome = _joined(args, pairs, 2, exists, dtype)
    assert isinstance(outcome, Result)
    return Result(Layout(outcome.layout.dims[:-1], outcome.layout.offset), dtype, YES, exists=outcome.exists)


# fmt: off
op("view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)", alias=Alias.VIEW, layout=reinterpreted, example="x.view(torch.uint8)", unknown="item sizes may not be known; torch reads the stride of a last dimension of size 1 too")
op("view_as_complex(Tensor(a) self) -> Tensor(a)", alias=Alias.VIEW, layout=as_complex, example="torch.view_as_complex(x[..., :2])", unknown="torch reads the strides of dimensions of size 1 too")
# fmt: on
