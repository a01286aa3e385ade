"""Operators that move or repeat elements: flips and rolls, triangles, repeats, diagonals, differences."""

from __future__ import annotations

from typing import Any

from torchlayout.layouts import (
    Dim,
    Layout,
    contiguous,
    has_no_elements,
    preserved,
    suggests_channels_last,
    unknown_strides,
)
from torchlayout.ops.table import Args, find_function, op, select
from torchlayout.ops.transfers import (
    at_dim,
    broadcast_shape,
    elementwise_layout,
    full_precision,
    itself,
    like_input,
    packed_like,
    packed_somehow,
    replaced,
    wrapped,
)
from torchlayout.ops.values import Alias, Operand, Outcome, Result, Unknowable, is_unknown
from torchlayout.sizes import MAYBE, NO, YES, Extent, Facts, Size

FRESH = Alias.FRESH


# ---------------------------------------------------------------- flips and rolls
def rotated(args: Args) -> Outcome:
    """quarters: the order of strides, then two dimensions swapped; a full turn: packed"""
    turns, dims = args.integer("k") % 4, args.integers("dims") or ()
    if len(dims) != 2:
        raise Unknowable("two dimensions are needed")
    operand, layout = args.operand(), args.reaching(args.layout(), *dims)
    if turns == 0:
        return Result(contiguous(layout.shape), operand.dtype)
    whole = list(preserved(layout, args.facts).dims)
    if turns != 2:
        first, second = dims
        whole[first], whole[second] = whole[second], whole[first]
    return Result(Layout(tuple(whole)), operand.dtype)


def rolled(args: Args) -> Outcome:
    """the same sizes, packed; a CPU may follow channels_last"""
    operand, layout = args.operand(), args.layout()
    if has_no_elements(layout, args.facts) is YES:
        return like_input(args)
    flat = args["dims"] is not None and args.integers("dims") == ()
    known = flat or suggests_channels_last(layout, args.facts) is NO
    return Result(contiguous(layout.shape) if known else unknown_strides(layout.shape), operand.dtype)


# ---------------------------------------------------------------- repeats
def repeated(args: Args) -> Outcome:
    """sizes multiplied, packed"""
    layout, times = args.layout(), args.known("repeats")
    times = tuple(times) if isinstance(times, (tuple, list)) else (times,)
    fresh = [args.facts.symbols.fresh(("repeated", place)) for place in range(len(times))]
    if layout.rank is None:
        return Result(contiguous(tuple(fresh)), args.operand().dtype)
    if len(times) < len(layout.dims):
        raise Unknowable("too few repeats")
    return Result(contiguous(multiplied(layout.sizes, times, fresh, args.facts)), args.operand().dtype)


def multiplied(sizes: tuple[Size, ...], times: tuple[Any, ...], fresh: list[Any], facts: Facts) -> tuple[Size, ...]:
    """Sizes, with ones before them, times as many factors; unknown ones where a factor is not known."""
    sizes = (1,) * (len(times) - len(sizes)) + sizes
    return tuple(
        fresh[place] if is_unknown(factor) else size * facts.normal(factor)
        for place, (size, factor) in enumerate(zip(sizes, times, strict=True))
    )


def tiled(args: Args) -> Outcome:
    """sizes multiplied, packed"""
    layout, times = args.layout(), args.known("dims")
    times = tuple(times) if isinstance(times, (tuple, list)) else (times,)
    if layout.rank is None:
        return packed_somehow(args, args.operand().dtype)
    times = (1,) * (len(layout.dims) - len(times)) + times
    fresh = [args.facts.symbols.fresh(("repeated", place)) for place in range(len(times))]
    return Result(contiguous(multiplied(layout.sizes, times, fresh, args.facts)), args.operand().dtype)


def interleaved(args: Args) -> Outcome:
    """one size multiplied (all of them flattened where no dimension is given), packed"""
    operand, layout, repeats = args.operand(), args.layout(), args["repeats"]
    place = 0
    if is_unknown(args["dim"]):
        return packed_somehow(args, operand.dtype)
    if args["dim"] is not None:
        layout, place = at_dim(args, layout, args.integer("dim"))
    flat = args["dim"] is None or place < 0
    size = layout.numel if flat else layout.sizes[place]
    if args["output_size"] is not None and not is_unknown(args["output_size"]):
        size = args.size("output_size")
    elif is_unknown(repeats) or isinstance(repeats, Operand):
        size = args.facts.symbols.fresh("interleaved")
    else:
        size = size * args.size("repeats")
    shape: tuple[Extent, ...] = (size,) if flat else replaced(layout.shape, place, (size,))
    return Result(contiguous(shape), operand.dtype)


def positions_repeated(args: Args) -> Outcome:
    """a vector of unknown size"""
    return Result(contiguous((args.facts.symbols.fresh("interleaved"),)), args.operand("repeats").dtype)


# ---------------------------------------------------------------- diagonals
def diagonal_of(args: Args) -> Outcome:
    """a vector's square matrix, or a matrix's diagonal; packed"""
    layout, shift = args.ranked(), args.integer("diagonal")
    if layout.rank == 1:
        side = layout.sizes[0] + abs(shift)
        return Result(contiguous((side, side)), args.operand().dtype)
    if layout.rank != 2:
        raise Unknowable("diag takes vectors and matrices")
    rows, columns = layout.sizes
    count = args.facts.extreme("min", rows + min(shift, 0), columns - max(shift, 0))
    return Result(contiguous((args.facts.extreme("max", count, 0),)), args.operand().dtype)


def embedded(args: Args) -> Outcome:
    """one dimension more: the last one becomes a square; packed"""
    layout, shift = args.ranked(), args.integer("offset")
    if layout.rank == 0:
        raise Unknowable("no dimension to embed")
    side, rank = layout.sizes[-1] + abs(shift), len(layout.dims) + 1
    places = sorted(wrapped(args.integer(name), rank) for name in ("dim1", "dim2"))
    shape = list(layout.sizes[:-1])
    for place in places:
        shape.insert(place, side)
    return Result(contiguous(tuple(shape)), args.operand().dtype)


def embedded_flat(args: Args) -> Outcome:
    """a square matrix, packed"""
    side = args.layout().numel + abs(args.integer("offset"))
    return Result(contiguous((side, side)), args.operand().dtype)


# ---------------------------------------------------------------- differences and sums along a dimension
def joined(args: Args, dim: int, *names: str) -> Operand:
    """The tensor with others before and behind it, by the row of `torch.cat`."""
    parts = tuple(args[name] for name in names if args[name] is not None)
    if len(parts) == 1:
        return args.operand()
    found = select(find_function("torch.cat"), [parts, dim], {})
    outcome = found[0].apply(found[1], args.facts) if found else None
    if not isinstance(outcome, Result):
        raise Unknowable("the tensors cannot be joined")
    return Operand(outcome.layout, outcome.dtype)


MAX_DIFFERENCES = 64


def differences(args: Args) -> Outcome:
    """shorter by `n` in one dimension; strides as of the elementwise difference of two views"""
    dim, times = args.integer("dim"), args.integer("n")
    whole = joined(args, dim, "prepend", "self", "append")
    layout, place = at_dim(args, args_layout(whole, args), dim)
    if times == 0:
        return like_input(args)
    if place < 0 or times < 0:
        raise Unknowable("nothing to subtract")
    size = layout.sizes[place]
    if isinstance(size, int):
        times = min(times, size)
    if times > MAX_DIFFERENCES:
        raise Unknowable("too many differences of differences")
    if times == 0:
        shares = args["prepend"] is None and args["append"] is None
        return Result(layout, whole.dtype, YES if shares else MAYBE)  # empty: torch hands on what it has
    for _ in range(times):
        dims = list(layout.dims)
        dims[place] = Dim(args.facts.normal(dims[place].size - 1), dims[place].stride)
        part = Operand(Layout(tuple(dims)))
        layout = elementwise_layout([part, part], args.facts)
    return Result(layout, whole.dtype if whole.dtype is not None and whole.dtype.name != "bool" else None)


def args_layout(operand: Operand, args: Args) -> Layout:
    return Args(args.op, {"self": operand}, args.facts).layout()


def gradients(args: Args) -> Outcome:
    """a tensor of the same sizes for each dimension, packed"""
    layout = args.ranked()
    dim = args["dim"]
    count = len(layout.dims) if dim is None else len(args.integers("dim") or ())
    known = suggests_channels_last(layout, args.facts) is NO
    one = Result(contiguous(layout.shape) if known else unknown_strides(layout.shape))
    return (one,) * count


def integrated(args: Args) -> Outcome:
    """without one dimension, packed"""
    layout, place = at_dim(args, spaced(args), args.integer("dim"))
    return Result(contiguous(replaced(layout.shape, place, ())))


def integrated_steps(args: Args) -> Outcome:
    """shorter by one in one dimension, packed"""
    layout, place = at_dim(args, spaced(args), args.integer("dim"))
    if place < 0:
        raise Unknowable("no dimension to sum along")
    return Result(contiguous(replaced(layout.shape, place, (args.facts.extreme("max", layout.sizes[place] - 1, 0),))))


def spaced(args: Args) -> Layout:
    """The values' layout; places given for each of them may broadcast it."""
    places = args.values.get("x")
    if not isinstance(places, Operand) or args.ranked("x").rank == 1:
        return args.layout()
    if args.ranked().rank != args.ranked("x").rank:
        raise Unknowable("values and places of different ranks")
    shape = broadcast_shape([args.ranked().shape, args.ranked("x").shape], args.facts)
    if shape is None:
        raise Unknowable("the shapes cannot be compared")
    return contiguous(shape)


def covariances(args: Args) -> Outcome:
    """a square matrix, a number for a vector or a single row; packed"""
    layout = args.ranked()
    single = YES if layout.rank != 2 else args.facts.is_one(layout.sizes[0])
    if single is MAYBE:
        raise Unknowable("a single row or several")
    return Result(contiguous(() if single is YES else (layout.sizes[0],) * 2))


def summed_to(args: Args) -> Outcome:
    """the tensor itself where it has the sizes already, else packed"""
    layout, shape = args.ranked(), args.shape("size")
    if shape and len(shape) == len(layout.dims):
        same = [args.facts.equal(a, b) for a, b in zip(layout.sizes, shape, strict=True) if not hasattr(b, "key")]
        if all(answer is YES for answer in same):
            return itself(args)
        if NO not in same:
            raise Unknowable("the sizes may be the same")
    return Result(contiguous(shape), full_precision(args.operand().dtype))


def unravelled(args: Args) -> Outcome:
    """a tensor of indices for each dimension: every n-th element of one that is elementwise"""
    layout, shape = args.layout(), args.shape("shape")
    count = len(shape)
    steps = Dim(1, 1)
    whole = elementwise_layout([Operand(Layout((*layout.dims, steps))), Operand(contiguous((count,)))], args.facts)
    return tuple(Result(Layout(whole.dims[:-1], place)) for place in range(count))


# fmt: off
op("flip(Tensor self, int[] dims) -> Tensor", alias=FRESH, layout=like_input, example="x.flip(0)")
for _name in ("fliplr", "flipud"):
    op(f"{_name}(Tensor self) -> Tensor", alias=FRESH, layout=like_input, example=f"x.{_name}()")
op("rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor", alias=FRESH, layout=rotated, example="x.rot90(1, (0, -1))")
op("roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor", alias=FRESH, layout=rolled, example="x.roll(1, 0)", varies=True, unknown="a CPU may follow channels_last, CUDA packs")
for _name in ("tril", "triu"):
    op(f"{_name}(Tensor self, SymInt diagonal=0) -> Tensor", alias=FRESH, layout=packed_like, example=f"x.{_name}()")
op("repeat(Tensor self, SymInt[] repeats) -> Tensor", alias=FRESH, layout=repeated, example="x.repeat(2, *[1] * x.dim())")
op("tile(Tensor self, SymInt[] dims) -> Tensor", alias=FRESH, layout=tiled, example="x.tile(2)")
op("repeat_interleave(Tensor self, Any repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor", alias=FRESH, layout=interleaved, example="x.repeat_interleave(2, 0)", unknown="numbers of repeats in a tensor")
op("repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor", alias=FRESH, layout=positions_repeated, example="torch.repeat_interleave(torch.tensor([1, 2]))", unknown="the size is the sum of the numbers")
op("diag(Tensor self, int diagonal=0) -> Tensor", alias=FRESH, layout=diagonal_of, example="x.diag(1)")
op("diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor", alias=FRESH, layout=embedded, example="x.diag_embed(1)")
op("diagflat(Tensor self, int offset=0) -> Tensor", alias=FRESH, layout=embedded_flat, example="x.diagflat()")
op("diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor", alias=FRESH, layout=differences, example="x.diff(dim=0)")
op("gradient(Tensor self, *, Any spacing=1, int[]? dim=None, int edge_order=1) -> Tensor[]", alias=FRESH, layout=gradients, example="torch.gradient(x, dim=(0,))")
for _name in ("trapz", "trapezoid"):
    op(f"{_name}.x(Tensor self, Tensor? x=None, *, Scalar dx=1, int dim=-1) -> Tensor", alias=FRESH, layout=integrated, example=f"torch.{_name}(x, dim=0)")
op("cumulative_trapezoid.x(Tensor self, Tensor? x=None, *, Scalar dx=1, int dim=-1) -> Tensor", alias=FRESH, layout=integrated_steps, example="torch.cumulative_trapezoid(x, dim=0)")
op("cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor", alias=FRESH, layout=covariances, example="x.cov()")
op("corrcoef(Tensor self) -> Tensor", alias=FRESH, layout=covariances, example="x.corrcoef()")
op("sum_to_size(Tensor self, SymInt[] size) -> Tensor", alias=Alias.MAYBE_VIEW, layout=summed_to, example="x.sum_to_size(x.shape)", unknown="equal sizes give the tensor itself")
op("unravel_index(Tensor self, Any shape) -> Tensor[]", alias=FRESH, layout=unravelled, example="torch.unravel_index(x.long(), (4, 5))")
# fmt: on
