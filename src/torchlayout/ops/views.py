"""Operators whose result is always a view: transposes, permutes, narrowing, expanding."""

from __future__ import annotations

from torchlayout.layouts import Layout
from torchlayout.ops.table import Args, op
from torchlayout.ops.values import Alias, Outcome, Result, Unknowable
from torchlayout.sizes import YES

VIEW = Alias.VIEW


def view_of(args: Args, layout: Layout, name: str = "self") -> Result:
    """A result in the storage of a parameter."""
    operand = args.operand(name)
    return Result(layout, operand.dtype, YES, operand.numpy, of=name)


def wrap_dim(dim: int, rank: int) -> int:
    """The dimension counted from the front. Raises `Unknowable` where it is out of range."""
    if not -max(rank, 1) <= dim < max(rank, 1):
        raise Unknowable(f"dimension {dim} is out of range for rank {rank}")
    return dim + rank if dim < 0 else dim


def swapped(args: Args) -> Outcome:
    """sizes and strides of two dimensions swapped"""
    first, second = args.integer("dim0"), args.integer("dim1")
    layout = args.reaching(args.layout(), first, second)
    dims = list(layout.dims)
    if dims:
        dims[first], dims[second] = dims[second], dims[first]
    return view_of(args, layout.replace(dims))


def permuted(args: Args) -> Outcome:
    """sizes and strides in the given order"""
    order = args.integers("dims")
    assert order is not None
    layout = args.ranked(rank=len(order))
    order = tuple(wrap_dim(dim, len(order)) for dim in order)
    if sorted(order) != list(range(len(order))):
        raise Unknowable("not a permutation")
    return view_of(args, layout.replace(layout.dims[dim] for dim in order))


# fmt: off
op("transpose(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", alias=VIEW, layout=swapped, example="x.transpose(0, -1)")
op("permute(Tensor(a) self, int[] dims) -> Tensor(a)", alias=VIEW, layout=permuted, example="x.permute(*reversed(range(x.dim())))")
# fmt: on
