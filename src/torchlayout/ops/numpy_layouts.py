"""NumPy's own stride arithmetic: the K order, its iterator's order of axes, and arrays as arguments.

Strides are in elements, as everywhere here, and may be negative. NumPy ignores the strides of dimensions of size 1
where it asks whether an array is packed, and keeps them as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchlayout.layouts import Layout, contiguous, is_contiguous, settle, unknown_strides
from torchlayout.ops.table import Args
from torchlayout.ops.transfers import broadcast_shape
from torchlayout.ops.values import UNKNOWN, DType, Operand, Outcome, Result, Unknowable, is_unknown
from torchlayout.sizes import MAYBE, NO, YES, Facts, Poly, Rest, Shape, Size, Truth


def array(args: Args, name: str = "self") -> Operand:
    """An argument that is a NumPy array. Raises `Unknowable` for anything else."""
    operand = args.operand(name)
    if not operand.numpy:
        raise Unknowable("no NumPy array")
    return operand


def array_result(layout: Layout, dtype: DType | None = None, shares: Truth = NO) -> Outcome:
    """An array, or UNKNOWN for what NumPy gives without dimensions: a scalar."""
    return UNKNOWN if layout.rank == 0 else Result(layout, dtype, shares, numpy=True)


def packed(shape: Shape, order: Any = "C") -> Layout:
    """A new array in C or Fortran order. Raises `Unknowable` for another order."""
    if order == "F":
        if any(isinstance(extent, Rest) for extent in shape):
            return contiguous(shape) if len(shape) == 1 and not isinstance(shape[0], Rest) else unknown_strides(shape)
        return Layout(tuple(reversed(contiguous(tuple(reversed(shape))).dims)))
    if order != "C":
        raise Unknowable("an order that is not known")
    return contiguous(shape)


def is_fortran(layout: Layout, facts: Facts) -> Truth:
    """Whether the array is packed in Fortran order."""
    return is_contiguous(Layout(tuple(reversed(layout.dims))), facts)


def magnitude(stride: Size | None, facts: Facts) -> Size | None:
    """A stride without its sign; None where that is not known."""
    if stride is None or isinstance(stride, int):
        return stride if stride is None else abs(stride)
    low, high = facts.bounds(stride)
    if low is not None and low >= 0:
        return stride
    return -stride if high is not None and high <= 0 else None


def kept_order(layout: Layout, facts: Facts) -> Layout:
    """`order='K'`: packed in the order of the strides' magnitudes (`PyArray_NewLikeArray`, multiarray/ctors.c)."""
    layout = settle(layout, facts)
    if len(layout.dims) <= 1 or is_contiguous(layout, facts) is YES:
        return contiguous(layout.shape)
    if layout.rank is None:
        return unknown_strides(layout.shape)
    if is_fortran(layout, facts) is YES:
        return packed(layout.shape, "F")
    strides = [magnitude(dim.stride, facts) for dim in layout.dims]
    order: list[int] = []
    for dim in range(len(strides)):
        place = len(order)
        while place > 0:
            further = _exceeds(strides[dim], strides[order[place - 1]], facts)
            if further is MAYBE:
                if (
                    facts.is_one(layout.dims[dim].size) is YES
                    or facts.is_one(layout.dims[order[place - 1]].size) is YES
                ):
                    further = NO
                else:
                    return unknown_strides(layout.shape)
            if further is NO:
                break
            place -= 1
        order.insert(place, dim)
    return dense(layout.shape, order)


def _exceeds(a: Size | None, b: Size | None, facts: Facts) -> Truth:
    return MAYBE if a is None or b is None else facts.less(b, a)


def dense(shape: Shape, order: Sequence[int]) -> Layout:
    """Packed, with the dimensions lying in memory in this order, outermost first."""
    result = list(contiguous(shape).dims)
    for place, dim in zip(order, contiguous([shape[place] for place in order]).dims, strict=True):
        result[place] = dim
    return Layout(tuple(result))


def in_order(layout: Layout, order: Any, facts: Facts) -> Layout:
    """A new array of the same sizes, in the order that an `order` argument asks for."""
    if order in ("K", None):
        return kept_order(layout, facts)
    if order == "A":
        fortran = is_fortran(layout, facts) & ~is_contiguous(layout, facts)
        if fortran is MAYBE:
            return unknown_strides(layout.shape)
        return packed(layout.shape, "F" if fortran is YES else "C")
    return packed(layout.shape, order)


# ---------------------------------------------------------------- the iterator
def iterated(layouts: Sequence[Layout], shape: Shape, facts: Facts) -> Layout:
    """The layout that NumPy's iterator gives an operand that it allocates (`npyiter_find_best_axis_ordering`).

    Where operands disagree, C order wins: unlike in torch, the first one does not.
    """
    layouts = [settle(layout, facts) for layout in layouts]
    if all(is_contiguous(layout, facts) is YES for layout in layouts) and all(
        layout.shape == shape or not layout.dims for layout in layouts
    ):
        return contiguous(shape)
    if any(isinstance(extent, Rest) for extent in shape) or any(layout.rank is None for layout in layouts):
        return unknown_strides(shape)
    if len(shape) <= 1:
        return contiguous(shape)
    strides = [_iterator_strides(layout, shape, facts) for layout in layouts]
    if any(row is None for row in strides):
        return unknown_strides(shape)
    order = iteration_order([row for row in strides if row is not None], len(shape), facts)
    return unknown_strides(shape) if order is None else dense(shape, order)


def _iterator_strides(layout: Layout, shape: Shape, facts: Facts) -> list[Size | None] | None:
    """An operand's strides over the broadcast shape, without signs; 0 where it is stretched or of size 1."""
    missing = len(shape) - len(layout.dims)
    row: list[Size | None] = [0] * missing
    for dim in layout.dims:
        one = facts.is_one(dim.size)
        if one is MAYBE:
            return None
        row.append(0 if one is YES else magnitude(dim.stride, facts))
    return row


def iteration_order(rows: Sequence[Sequence[Size | None]], rank: int, facts: Facts) -> list[int] | None:
    """The axes, outermost first, as NumPy's insertion sort leaves them; None where it cannot be told."""
    perm = list(reversed(range(rank)))
    for i in range(1, rank):
        place, axis = i, perm[i]
        for j in reversed(range(i)):
            verdict = _inside(rows, axis, perm[j], facts)
            if verdict is None:
                return None
            if verdict == "swap":
                place = j
            elif verdict == "stop":
                break
        perm.insert(place, perm.pop(i))
    return perm[::-1]


def _inside(rows: Sequence[Sequence[Size | None]], axis: int, other: int, facts: Facts) -> str | None:
    """ "swap" where `axis` belongs inside `other`, "stop" where outside, "" where no operand can tell."""
    verdict = ""
    for row in rows:
        a, b = row[axis], row[other]
        if a == 0 or b == 0:
            continue
        if a is None or b is None or (facts.equal(a, 0) is not NO) or (facts.equal(b, 0) is not NO):
            return None
        smaller = facts.less(a, b)
        if smaller is MAYBE:
            return None
        if smaller is NO:
            verdict = "stop"
        elif verdict == "":
            verdict = "swap"
    return verdict


def joined_layout(layouts: Sequence[Layout], shape: Shape, facts: Facts) -> Layout:
    """The layout of a concatenation (`PyArray_CreateMultiSortedStrideInfo`): sorted by all arrays' strides, from the
    outermost in, where dimensions of size 1 have no say and C order wins among arrays that disagree."""
    rank = len(shape)
    order = [0]
    for axis in range(1, rank):
        place = axis
        for before in reversed(range(axis)):
            verdict = _outside(layouts, axis, order[before], facts)
            if verdict is None:
                return contiguous(shape) if rank == 1 else unknown_strides(shape)
            if verdict == "swap":
                place = before
            elif verdict == "stop":
                break
        order.insert(place, axis)
    return dense(shape, order)


def _outside(layouts: Sequence[Layout], axis: int, other: int, facts: Facts) -> str | None:
    """ "swap" where `axis` belongs outside of `other`, "stop" where inside, "" where no array can tell."""
    verdict = ""
    for layout in layouts:
        first, second = layout.dims[axis], layout.dims[other]
        ones = facts.is_one(first.size) | facts.is_one(second.size)
        if ones is YES:
            continue
        further = _exceeds(magnitude(first.stride, facts), magnitude(second.stride, facts), facts)
        if ones is MAYBE or further is MAYBE:
            return None
        verdict = "stop" if further is NO else verdict or "swap"
    return verdict


def elementwise_layout(values: Sequence[Any], facts: Facts) -> Layout:
    """The layout of a ufunc's result. Raises `Unknowable`."""
    if any(isinstance(value, Operand) and not value.numpy for value in values):
        raise Unknowable("a tensor among the operands")
    layouts = [settle(value.layout, facts) for value in values if isinstance(value, Operand)]
    if not layouts:
        raise Unknowable("no array among the operands")
    if any(is_unknown(value) or isinstance(value, tuple) for value in values):
        if not facts.assumed:
            raise Unknowable("an operand that is not known")
        return kept_order(layouts[0], facts)
    shape = layouts[0].shape if len(layouts) == 1 else broadcast_shape([layout.shape for layout in layouts], facts)
    if shape is None:
        raise Unknowable("the operands' shapes cannot be compared")
    return iterated(layouts, shape, facts)


def axis_of(axis: int, rank: int) -> int:
    """An axis counted from the front. Raises `Unknowable` where it is out of range."""
    if not -rank <= axis < rank:
        raise Unknowable(f"axis {axis} is out of range for rank {rank}")
    return axis + rank if axis < 0 else axis


def shape_argument(args: Args, name: str) -> tuple[Size, ...]:
    """A shape given as an int or a tuple of ints."""
    value = args.known(name)
    items = value if isinstance(value, (tuple, list)) else (value,)
    if any(isinstance(item, bool) or not isinstance(item, (int, Poly)) for item in items):
        raise Unknowable("a size that is not known")
    return tuple(args.facts.normal(item) for item in items)
