"""What the rows of many kinds share: elementwise results, packed results, result dtypes, dimension arguments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from torchlayout.layouts import (
    Layout,
    ShapeMismatch,
    broadcast,
    contiguous,
    is_concrete,
    is_contiguous,
    output_layout,
    preserved,
    same_layout,
    settle,
    the_rest,
    unknown_strides,
)
from torchlayout.ops.table import Args
from torchlayout.ops.values import DType, Operand, Outcome, Result, Unknowable, is_unknown
from torchlayout.sizes import NO, YES, Extent, Facts, Poly, Rest, Shape, Size

BOOL = DType("bool")
INT64 = DType("int64")


# ---------------------------------------------------------------- dtypes
def promoted(values: Iterable[Any]) -> DType | None:
    """The dtype of tensors and Python numbers together, where all tensors have one dtype; else not known."""
    found: DType | None = None
    numbers: list[Any] = []
    for value in values:
        if isinstance(value, Operand):
            if value.dtype is None or (found is not None and value.dtype != found):
                return None
            found = value.dtype
        elif value is not None:
            numbers.append(value)
    if found is None:
        return None
    return found if all(_keeps(found, number) for number in numbers) else None


def _keeps(dtype: DType, number: Any) -> bool:
    """Whether a tensor of this dtype keeps it beside a Python number."""
    if isinstance(number, bool):
        return True
    if isinstance(number, (int, Poly)):
        return dtype.name != "bool"
    if isinstance(number, float):
        return dtype.is_floating or dtype.is_complex
    return isinstance(number, complex) and dtype.is_complex


def full_precision(dtype: DType | None) -> DType | None:
    """The result dtype of what autocast runs in float32, and of functions that give floats for integers."""
    return dtype if dtype is not None and dtype.name in ("float32", "float64", "complex64", "complex128") else None


def autocast(dtype: DType | None) -> DType | None:
    """The result dtype of what autocast runs in lower precision (matmul, conv): it leaves only float64 alone."""
    kept = ("float64", "complex64", "complex128", "int64", "int32")
    return dtype if dtype is not None and dtype.name in kept else None


# ---------------------------------------------------------------- shapes
def packed_somehow(args: Args, dtype: DType | None = None) -> Result:
    """A packed result of which no size is known, not even how many there are."""
    return Result(contiguous((args.facts.symbols.fresh_rest("packed"),)), dtype)


def broadcast_shape(shapes: Sequence[Shape], facts: Facts) -> Shape | None:
    """The broadcast shape; sizes that depend on which operand is 1 are unknowns of their own. None where not even
    the rank is known."""
    try:
        shape = broadcast(shapes, facts)
    except ShapeMismatch as error:
        raise Unknowable(str(error)) from error
    if shape is not None or any(isinstance(extent, Rest) for shape in shapes for extent in shape):
        return shape
    extents: list[Extent] = []
    for place in range(1, max(map(len, shapes)) + 1):
        column = [(shape[-place],) for shape in shapes if len(shape) >= place]
        one = broadcast(column, facts)
        key = ("broadcast", frozenset(extent for (extent,) in column))
        extents.append(one[0] if one is not None else facts.symbols.atom(key))
    return tuple(reversed(extents))


def wrapped(dim: int, rank: int) -> int:
    """A dimension counted from the front. Raises `Unknowable` where it is out of range."""
    if not -max(rank, 1) <= dim < max(rank, 1):
        raise Unknowable(f"dimension {dim} is out of range for rank {rank}")
    return dim + max(rank, 1) if dim < 0 else dim


def at_dim(args: Args, layout: Layout, dim: int) -> tuple[Layout, int]:
    """The layout with this dimension known, and its place among `layout.dims`; the place is -1 for rank 0."""
    if layout.rank == 0:
        wrapped(dim, 0)
        return layout, -1
    layout = args.reaching(layout, dim)
    if layout.rank is not None:
        return layout, wrapped(dim, layout.rank)
    return layout, dim if dim >= 0 else len(layout.dims) + dim


def replaced(shape: Shape, place: int, extents: Sequence[Extent]) -> Shape:
    """The shape with other extents in one place."""
    return (*shape[:place], *extents, *shape[place + 1 :])


# ---------------------------------------------------------------- elementwise
def elementwise_layout(values: Sequence[Any], facts: Facts, numbers: bool = False) -> Layout:
    """The layout that TensorIterator gives the result of these operands, in order.

    Numbers have no part in it, but for dimensions of size 1 it matters that there are some.

    In the assumed world an operand of which nothing is known, or whose shape cannot be compared, does not enlarge
    the result. Raises `Unknowable`.
    """
    operands = [value for value in values if isinstance(value, Operand)]
    if not operands or any(operand.numpy for operand in operands):
        raise Unknowable("no tensor among the operands")
    layouts = [settle(operand.layout, facts) for operand in operands]
    blank = any(is_unknown(value) for value in values)
    if len(layouts) == 1 and not blank:
        return ordered_like(layouts[0], facts, numbers)
    shape = broadcast_shape([layout.shape for layout in layouts], facts)
    if shape is not None and not blank:
        found = output_layout(layouts, shape, facts, numbers)
        if None not in found.strides or not facts.assumed:
            return found
    if not facts.assumed or (blank and shape == ()):
        raise Unknowable("the operands' shapes cannot be compared")
    return _assumed_layout(values, layouts, _widest(layouts, facts) if shape is None else shape, facts)


def ordered_like(layout: Layout, facts: Facts, numbers: bool = False) -> Layout:
    """The result of an elementwise operator of one tensor: dense in the same order."""
    return output_layout([layout], layout.shape, facts, numbers) if is_concrete(layout) else preserved(layout, facts)


def _assumed_layout(values: Sequence[Any], layouts: Sequence[Layout], shape: Shape, facts: Facts) -> Layout:
    """The first operand's order decides where it has the full shape and is not expanded; else all have to be packed."""
    first = layouts[0]
    leads = isinstance(next(value for value in values if value is not None), Operand)
    if leads and first.shape == shape and all(s is not None and facts.equal(s, 0) is NO for s in first.strides):
        kept = preserved(first, facts)
        if None not in kept.strides:
            return kept
    packed = all(is_contiguous(layout, facts) is YES for layout in layouts)
    return contiguous(shape) if packed else unknown_strides(shape)


def _widest(layouts: Sequence[Layout], facts: Facts) -> Shape:
    """The shape of the operand that the others are taken to be broadcast to."""
    whole = _whole([layout for layout in layouts if layout.rank is not None])
    if whole is not None:
        return whole
    shapes = {layout.shape for layout in layouts if layout.rank is None}
    return shapes.pop() if len(shapes) == 1 else (facts.symbols.fresh_rest("broadcast"),)


def _whole(layouts: Sequence[Layout]) -> Shape | None:
    """The largest shape that is no vector and no mask made to be broadcast (which has sizes of 1)."""
    shapes = [layout.shape for layout in layouts if len(layout.dims) > 1 and 1 not in layout.sizes]
    return max(shapes, key=len) if shapes else None


def tensors(args: Args) -> list[Any]:
    """The values of all parameters that take a tensor, in the signature's order."""
    return [args[p.name] for p in args.op.signature.parameters if p.kind == "Tensor" and p.name != "out"]


def numbers(args: Args) -> list[Any]:
    """The values of the parameters that take a number, but for factors of a term."""
    parameters = args.op.signature.parameters
    return [args[p.name] for p in parameters if p.kind == "Scalar" and p.name not in ("alpha", "value")]


def _beside_number(args: Args) -> bool:
    """Whether a number stands in for one of two operands."""
    return any(p.kind == "Scalar" and p.name in ("self", "other", "x", "n") for p in args.op.signature.parameters)


def elementwise(args: Args) -> Outcome:
    """sizes broadcast; strides in the operands' order, without their gaps"""
    values = tensors(args)
    return Result(elementwise_layout(values, args.facts, _beside_number(args)), promoted([*values, *numbers(args)]))


def elementwise_float(args: Args) -> Outcome:
    """sizes broadcast; strides in the operands' order, without their gaps"""
    values = tensors(args)
    return Result(
        elementwise_layout(values, args.facts, _beside_number(args)),
        full_precision(promoted([*values, *numbers(args)])),
    )


def elementwise_bool(args: Args) -> Outcome:
    """bools; sizes broadcast; strides in the operands' order, without their gaps"""
    return Result(elementwise_layout(tensors(args), args.facts, _beside_number(args)), BOOL)


def elementwise_untyped(args: Args) -> Outcome:
    """sizes broadcast; strides in the operands' order, without their gaps"""
    return Result(elementwise_layout(tensors(args), args.facts, _beside_number(args)))


# ---------------------------------------------------------------- packed
def packed_like(args: Args) -> Outcome:
    """the same sizes, packed (contiguous whatever came in)"""
    operand = args.operand()
    return Result(contiguous(args.layout().shape), operand.dtype)


def packed_like_float(args: Args) -> Outcome:
    """the same sizes, packed (contiguous whatever came in)"""
    return Result(contiguous(args.layout().shape), full_precision(args.operand().dtype))


def like_input(args: Args) -> Outcome:
    """the same sizes; strides in the same order, without gaps"""
    operand = args.operand()
    return Result(preserved(args.layout(), args.facts), operand.dtype)


def itself(args: Args, name: str = "self") -> Result:
    """The very tensor that came in."""
    operand = args.operand(name)
    return Result(args.layout(name), operand.dtype, YES, operand.numpy, name, same_object=True)


def of_backends(operand: Operand, on_cpu: Layout, on_cuda: Layout, facts: Facts) -> Layout:
    """The layout where backends differ: known with the device, or where they come out the same."""
    if same_layout(on_cpu, on_cuda, facts) is YES or operand.device == "cpu":
        return on_cpu
    return on_cuda if operand.device == "cuda" else unknown_strides(on_cpu.shape)


def scalar_result(args: Args) -> Outcome:
    """one number (no dimensions)"""
    return Result(contiguous(()))


def size_after(facts: Facts, size: Size, kernel: Size, stride: Size, padding: Size, dilation: Size) -> Size:
    """The output size of a sliding window: `(size + 2*padding - dilation*(kernel - 1) - 1) // stride + 1`."""
    return facts.floor_divide(size + 2 * padding - dilation * (kernel - 1) - 1, stride) + 1


def is_rest(extent: Extent) -> bool:
    return isinstance(extent, Rest)


def has_rank(layout: Layout) -> bool:
    return the_rest(layout) is None
