"""NumPy's views: transposes, reversals, reshapes, and what packs an array that is not packed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchlayout.layouts import (
    Dim,
    Layout,
    contiguous,
    expand_to,
    is_contiguous,
    settle,
    view,
)
from torchlayout.ops.numpy_layouts import array, axis_of, is_fortran, shape_argument
from torchlayout.ops.table import Args, Transfer, op
from torchlayout.ops.transfers import at_dim
from torchlayout.ops.values import UNKNOWN, Alias, DType, Operand, Outcome, Result, Unknowable
from torchlayout.sizes import MAYBE, NO, YES, Facts, Shape, Size

VIEW, MAYBE_VIEW, FRESH = Alias.VIEW, Alias.MAYBE_VIEW, Alias.FRESH


def viewed(operand: Operand, layout: Layout) -> Result:
    return Result(layout, operand.dtype, YES, numpy=True)


def paths(*names: str) -> tuple[str, ...]:
    return tuple(f"numpy.{name}" for name in names)


def fixed_rank(args: Args) -> Layout:
    """The array's layout, its rank known."""
    array(args)
    return args.ranked()


def transposed(args: Args) -> Outcome:
    """sizes and strides reversed, or in the given order"""
    operand = array(args)
    axes = args.integers("axes")
    if axes is None:
        layout = args.ranked()
        return viewed(operand, layout.replace(reversed(layout.dims)))
    layout = args.ranked(rank=len(axes))
    order = [axis_of(axis, len(axes)) for axis in axes]
    if sorted(order) != list(range(len(order))):
        raise Unknowable("not a permutation")
    return viewed(operand, layout.replace(layout.dims[axis] for axis in order))


def matrix_transposed(args: Args) -> Outcome:
    """the last two dimensions swapped"""
    layout = args.reaching(args.layout(), -2)
    *rest, rows, columns = layout.dims
    return viewed(array(args), layout.replace([*rest, columns, rows]))


def axes_swapped(args: Args) -> Outcome:
    """sizes and strides of two dimensions swapped"""
    operand = array(args)
    first, second = args.integer("axis1"), args.integer("axis2")
    layout = args.reaching(args.layout(), first, second)
    dims = list(layout.dims)
    dims[first], dims[second] = dims[second], dims[first]
    return viewed(operand, layout.replace(dims))


def axes_moved(args: Args) -> Outcome:
    """dimensions moved, the others in order"""
    layout = fixed_rank(args)
    rank = len(layout.dims)
    source, target = args.integers("source") or (), args.integers("destination") or ()
    taken = [axis_of(axis, rank) for axis in source]
    places = [axis_of(axis, rank) for axis in target]
    if len(taken) != len(places) or len(set(taken)) != len(taken) or len(set(places)) != len(places):
        raise Unknowable("axes that do not fit")
    order = [axis for axis in range(rank) if axis not in taken]
    for place, axis in sorted(zip(places, taken, strict=True)):
        order.insert(place, axis)
    return viewed(args.operand(), layout.replace(layout.dims[axis] for axis in order))


def axis_rolled(args: Args) -> Outcome:
    """one dimension moved, the others in order"""
    layout = fixed_rank(args)
    rank = len(layout.dims)
    axis, start = axis_of(args.integer("axis"), rank), args.integer("start")
    start = start + rank if start < 0 else start
    if not 0 <= start <= rank:
        raise Unknowable("a start that is out of range")
    dims = [dim for i, dim in enumerate(layout.dims) if i != axis]
    dims.insert(start - (axis < start), layout.dims[axis])
    return viewed(args.operand(), layout.replace(dims))


def reversed_along(layout: Layout, places: Sequence[int]) -> Layout:
    """The layout read backwards along these dimensions: negative strides."""
    dims, offset = list(layout.dims), layout.offset
    for place in places:
        dim = dims[place]
        if dim.rest is not None:
            raise Unknowable("a dimension that is not known")
        dims[place] = Dim(dim.size, None if dim.stride is None else -dim.stride)
        offset = None if offset is None or dim.stride is None else offset + (dim.size - 1) * dim.stride
    return Layout(tuple(dims), offset)


def flipped(args: Args) -> Outcome:
    """strides negated (no copy, unlike torch's)"""
    axes = args.integers("axis")
    if axes is None:
        layout = settle(args.layout(), args.facts)
        if layout.rank is None and args.facts.assumed:
            return viewed(array(args), _backwards_throughout(args.reaching(layout, 0)))
        layout = fixed_rank(args)
        if not layout.dims:
            return UNKNOWN  # a NumPy scalar
        return viewed(args.operand(), reversed_along(layout, range(len(layout.dims))))
    operand = array(args)
    layout = args.layout()
    places: list[int] = []
    for axis in axes:
        layout, place = at_dim(args, layout, axis)
        if place < 0:
            raise Unknowable("an array without dimensions")
    for axis in axes:
        places.append(at_dim(args, layout, axis)[1])
    return viewed(operand, reversed_along(layout, places))


def _backwards_throughout(layout: Layout) -> Layout:
    """An array read backwards along all its dimensions, of which the first is known."""
    first, *others = reversed_along(layout, (0,)).dims
    return Layout((first, *(Dim(dim.size, None, dim.rest) for dim in others)), None)


def flipped_along(axis: int) -> Transfer:
    def transfer(args: Args) -> Outcome:
        operand = array(args)
        layout = args.reaching(args.layout(), axis)
        return viewed(operand, reversed_along(layout, (axis,)))

    transfer.__doc__ = f"the stride of dimension {axis} negated (no copy, unlike torch's)"
    return transfer


def turned(args: Args) -> Outcome:
    """by quarters: dimensions swapped, strides negated (no copy, unlike torch's)"""
    axes = args.integers("axes") or ()
    if len(axes) != 2 or axes[0] == axes[1]:
        raise Unknowable("rot90 takes two axes")
    operand = array(args)
    first, second = axes
    layout = args.reaching(args.layout(), first, second)
    times = args.integer("k") % 4
    if times == 2:
        layout = reversed_along(layout, (first, second))
    elif times:
        if times == 1:
            layout = reversed_along(layout, (second,))
        dims = list(layout.dims)
        dims[first], dims[second] = dims[second], dims[first]
        layout = layout.replace(dims)
        if times == 3:
            layout = reversed_along(layout, (second,))
    return viewed(operand, layout)


def expanded_dims(args: Args) -> Outcome:
    """dimensions of size 1 put in"""
    layout = fixed_rank(args)
    axes = args.integers("axis") or ()
    rank = len(layout.dims) + len(axes)
    places = {axis_of(axis, rank) for axis in axes}
    left = iter(layout.dims)
    return viewed(args.operand(), layout.replace([Dim(1, 0) if i in places else next(left) for i in range(rank)]))


def squeezed(args: Args) -> Outcome:
    """dimensions of size 1 left out"""
    layout = fixed_rank(args)
    axes = args.integers("axis")
    if axes is not None:
        places = {axis_of(axis, len(layout.dims)) for axis in axes}
        return viewed(args.operand(), layout.replace(dim for i, dim in enumerate(layout.dims) if i not in places))
    answers = [args.facts.is_one(dim.size) for dim in layout.dims]
    if MAYBE in answers:
        raise Unknowable("a size may be 1")
    dims = [dim for dim, one in zip(layout.dims, answers, strict=True) if one is NO]
    return viewed(args.operand(), layout.replace(dims))


def stretched(args: Args) -> Outcome:
    """expanded: stride 0 where it is stretched"""
    operand = array(args)
    found = expand_to(args.layout(), shape_argument(args, "shape"), args.facts)
    if found is None:
        raise Unknowable("the sizes are not known")
    return viewed(operand, found)


def diagonal(args: Args) -> Outcome:
    """a view along the diagonal, its dimension the last"""
    layout = fixed_rank(args)
    rank = len(layout.dims)
    first, second = axis_of(args.integer("axis1"), rank), axis_of(args.integer("axis2"), rank)
    shift = args.integer("offset")
    rows, columns = layout.dims[first], layout.dims[second]
    height, width = (rows.size + min(shift, 0), columns.size - max(shift, 0))
    size = args.facts.extreme("min", height, width)
    stride = None if rows.stride is None or columns.stride is None else rows.stride + columns.stride
    if isinstance(size, int):
        size = max(size, 0)
    dims = [dim for i, dim in enumerate(layout.dims) if i not in (first, second)]
    return viewed(args.operand(), Layout((*dims, Dim(size, stride)), None))


def at_least(count: int) -> Transfer:
    def transfer(args: Args) -> Outcome:
        layout = fixed_rank(args)
        dims = list(layout.dims)
        if count == 3 and len(dims) == 2:
            dims.append(Dim(1, 0))
        elif count == 3 and len(dims) == 1:
            dims = [Dim(1, 0), *dims, Dim(1, 0)]
        else:
            dims = [Dim(1, 0)] * (count - len(dims)) + dims
        return viewed(args.operand(), layout.replace(dims))

    transfer.__doc__ = "dimensions of size 1 put in where there are too few"
    return transfer


# ---------------------------------------------------------------- reshapes
def reordered_view(operand: Operand, shape: Shape, order: Any, facts: Facts) -> Result:
    """`reshape`: a view where the strides allow it, else a packed copy (`_attempt_nocopy_reshape`)."""
    layout = settle(operand.layout, facts)
    if order == "A":
        order = "F" if is_fortran(layout, facts) is YES and is_contiguous(layout, facts) is NO else "C"
    if order not in ("C", "F"):
        raise Unknowable("an order that is not known")
    if order == "F":
        layout = Layout(tuple(reversed(layout.dims)), layout.offset)
        shape = tuple(reversed(shape))
    answer = view(layout, shape, facts)
    if answer is None:
        raise Unknowable("the sizes do not fit")
    if answer.exists is NO or answer.layout is None:
        wanted = view(contiguous(layout.shape), shape, facts)
        if wanted is None or wanted.layout is None:
            raise Unknowable("the sizes do not fit")
        found, shares = wanted.layout, NO
    else:
        found, shares = answer.layout, answer.exists
    if order == "F":
        found = Layout(tuple(reversed(found.dims)), found.offset)
    return Result(found, operand.dtype, shares, numpy=True)


def reshaped(args: Args) -> Outcome:
    """a view where the strides allow it, else packed"""
    return reordered_view(array(args), shape_argument(args, "shape"), args["order"], args.facts)


def raveled(args: Args) -> Outcome:
    """one dimension; a view of a packed array, else a packed copy"""
    operand = array(args)
    layout = args.layout()
    order = args["order"]
    if order in ("C", "F"):
        lies = is_contiguous(layout, args.facts) if order == "C" else is_fortran(layout, args.facts)
    else:
        lies = MAYBE
    one_dimension = len(layout.dims) == 1 and layout.rank is not None
    if one_dimension and lies is not YES:
        lies = NO if lies is NO else MAYBE
    return Result(Layout((Dim(layout.numel, 1),), None), operand.dtype, lies, numpy=True)


def flattened(args: Args) -> Outcome:
    """one dimension, copied"""
    operand = array(args)
    return Result(contiguous((args.layout().numel,)), operand.dtype, numpy=True)


def retyped(args: Args) -> Outcome:
    """the same memory read as another dtype: the last size changes with the width of an element"""
    operand = array(args)
    dtype = args["dtype"]
    if dtype is None:
        return viewed(operand, args.layout())
    if not isinstance(dtype, DType) or operand.dtype is None or not dtype.itemsize or not operand.dtype.itemsize:
        return UNKNOWN
    old, new = operand.dtype.itemsize, dtype.itemsize
    layout = args.layout()
    if old == new:
        return Result(layout, dtype, YES, numpy=True)
    layout = args.reaching(layout, -1)
    last = layout.dims[-1]
    if args.facts.equal(last.stride, 1) is not YES if last.stride is not None else True:
        return UNKNOWN
    size = args.facts.quotient(last.size * old, new)
    dims = [dim._replace(stride=_scaled(dim.stride, old, new, args.facts)) for dim in layout.dims[:-1]]
    return Result(Layout((*dims, Dim(size, 1)), None), dtype, YES, numpy=True)


def _scaled(stride: Size | None, old: int, new: int, facts: Facts) -> Size | None:
    return None if stride is None else facts.quotient(stride * old, new)


# fmt: off
op("transpose(Tensor self, int[]? axes=None) -> Tensor(a)", alias=VIEW, layout=transposed, example="a.transpose(1, 0)", spellings=paths("transpose", "permute_dims"), numpy=True)
op("matrix_transpose(Tensor self) -> Tensor(a)", alias=VIEW, layout=matrix_transposed, example="np.matrix_transpose(a)", spellings=paths("matrix_transpose", "linalg.matrix_transpose"), numpy=True, path_only=True, since="NumPy 2.0")
op("swapaxes(Tensor self, int axis1, int axis2) -> Tensor(a)", alias=VIEW, layout=axes_swapped, example="a.swapaxes(0, -1)", spellings=paths("swapaxes"), numpy=True)
op("moveaxis(Tensor self, Any source, Any destination) -> Tensor(a)", alias=VIEW, layout=axes_moved, example="np.moveaxis(a, 0, -1)", spellings=paths("moveaxis"), numpy=True, path_only=True)
op("rollaxis(Tensor self, int axis, int start=0) -> Tensor(a)", alias=VIEW, layout=axis_rolled, example="np.rollaxis(a, 1)", spellings=paths("rollaxis"), numpy=True, path_only=True)
op("flip(Tensor self, int[]? axis=None) -> Tensor(a)", alias=VIEW, layout=flipped, example="np.flip(a, 0)", spellings=paths("flip"), numpy=True, path_only=True)
op("flipud(Tensor self) -> Tensor(a)", alias=VIEW, layout=flipped_along(0), example="np.flipud(a)", spellings=paths("flipud"), numpy=True, path_only=True)
op("fliplr(Tensor self) -> Tensor(a)", alias=VIEW, layout=flipped_along(1), example="np.fliplr(a)", spellings=paths("fliplr"), numpy=True, path_only=True)
op("rot90(Tensor self, int k=1, int[] axes=[0, 1]) -> Tensor(a)", alias=VIEW, layout=turned, example="np.rot90(a)", spellings=paths("rot90"), numpy=True, path_only=True)
op("expand_dims(Tensor self, int[] axis) -> Tensor(a)", alias=VIEW, layout=expanded_dims, example="np.expand_dims(a, 0)", spellings=paths("expand_dims"), numpy=True, path_only=True)
op("squeeze(Tensor self, int[]? axis=None) -> Tensor(a)", alias=VIEW, layout=squeezed, example="a.squeeze()", spellings=paths("squeeze"), numpy=True, unknown="a size may be 1")
op("broadcast_to(Tensor self, Any shape) -> Tensor(a)", alias=VIEW, layout=stretched, example="np.broadcast_to(a, (5, *a.shape))", spellings=paths("broadcast_to"), numpy=True, path_only=True)
op("diagonal(Tensor self, int offset=0, int axis1=0, int axis2=1) -> Tensor(a)", alias=VIEW, layout=diagonal, example="a.diagonal()", spellings=paths("diagonal"), numpy=True)
for _count in (1, 2, 3):
    op(f"atleast_{_count}d(Tensor self) -> Tensor(a)", alias=VIEW, layout=at_least(_count), example=f"np.atleast_{_count}d(a)", spellings=paths(f"atleast_{_count}d"), numpy=True, path_only=True)

op("reshape(Tensor self, int[] shape, *, Any order='C') -> Tensor(a)", alias=MAYBE_VIEW, layout=reshaped, example="a.reshape(-1)", numpy=True, unknown="sizes or strides are not known")
op("reshape.function(Tensor self, Any shape, Any order='C', *, Any copy=None) -> Tensor(a)", alias=MAYBE_VIEW, layout=reshaped, example="np.reshape(a, -1)", spellings=paths("reshape"), numpy=True, path_only=True, unknown="sizes or strides are not known")
op("ravel(Tensor self, Any order='C') -> Tensor(a)", alias=MAYBE_VIEW, layout=raveled, example="a.ravel()", spellings=paths("ravel"), numpy=True)
op("flatten(Tensor self, Any order='C') -> Tensor", alias=FRESH, layout=flattened, example="a.flatten()", numpy=True)
op("view(Tensor self, Any dtype=None) -> Tensor(a)", alias=VIEW, layout=retyped, example="a.view(np.int32)", numpy=True, unknown="the dtype is not known")
# fmt: on
