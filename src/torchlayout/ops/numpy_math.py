"""NumPy's ufuncs, reductions, products and sorts, and its functions that join arrays."""

from __future__ import annotations

from typing import Any

from torchlayout.layouts import Dim, Layout, contiguous, has_no_elements, is_contiguous, unknown_strides
from torchlayout.ops.numpy_layouts import (
    array,
    array_result,
    axis_of,
    dense,
    elementwise_layout,
    is_fortran,
    iteration_order,
    kept_order,
    magnitude,
    packed,
    shape_argument,
)
from torchlayout.ops.numpy_rows import FRESH, paths
from torchlayout.ops.table import Args, op
from torchlayout.ops.transfers import at_dim, promoted
from torchlayout.ops.values import UNKNOWN, DType, Operand, Outcome, Unknowable
from torchlayout.sizes import MAYBE, YES, Facts, Poly, Shape, Size

BOOL = DType("bool")
ONE = """
    abs absolute fabs negative positive sign square sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin
    arccos arctan sinh cosh tanh arcsinh arccosh arctanh floor ceil trunc rint degrees radians deg2rad rad2deg
    reciprocal conjugate conj invert bitwise_not
""".split()
ONE_BOOL = "isnan isinf isfinite signbit logical_not".split()
TWO = """
    add subtract multiply divide true_divide floor_divide remainder mod fmod power float_power maximum minimum fmax fmin
    arctan2 hypot copysign bitwise_and bitwise_or bitwise_xor left_shift right_shift logaddexp heaviside
""".split()
TWO_BOOL = "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor isclose".split()
BITWISE = {"invert", "bitwise_not", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"}
KEEPS_DTYPE = {"abs", "absolute", "negative", "positive", "square", "add", "subtract", "multiply", "maximum", "minimum"}
PYTHON_NAMES = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "pow": "power", "lt": "less"}
PYTHON_NAMES |= {"le": "less_equal", "eq": "equal", "ne": "not_equal", "gt": "greater", "ge": "greater_equal"}
PYTHON_NAMES |= {name: name for name in ("floor_divide", "remainder", "bitwise_and", "bitwise_or", "bitwise_xor")}
PYTHON_NAMES |= {"bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift", "neg": "negative"}
"""torch's names of Python's operators, under which they are looked up for arrays too, and NumPy's."""


def ufunc(args: Args) -> Outcome:
    """sizes broadcast; strides in the operands' order, C where they disagree; positive"""
    values = [args["self"], args["other"]] if "other" in args.values else [args["self"]]
    name = PYTHON_NAMES.get(args.op.name, args.op.name)
    dtype = promoted(values) if name in KEEPS_DTYPE else BOOL if name in (*ONE_BOOL, *TWO_BOOL) else None
    if args["out"] is not None:
        return UNKNOWN
    return array_result(elementwise_layout(values, args.facts), dtype)


def like_operand(args: Args) -> Outcome:
    """the same sizes, strides in the same order, positive"""
    return array_result(elementwise_layout([args["self"]], args.facts), array(args).dtype)


def selected(args: Args) -> Outcome:
    """as a ufunc of condition and both choices"""
    return array_result(elementwise_layout([args["condition"], args["self"], args["other"]], args.facts))


def reduction(args: Args) -> Outcome:
    """the reduced dimensions left out, the others in the operand's order"""
    operand = array(args)
    layout = args.ranked()
    rank = len(layout.dims)
    axes = args.integers("axis")
    gone = set(range(rank)) if axes is None else {axis_of(axis, rank) for axis in axes}
    keep = args.flag("keepdims")
    if len(gone) == rank and not keep:
        return UNKNOWN  # a NumPy scalar
    rows = [[_without_one(dim, args.facts) for dim in layout.dims]]
    order = None if any(stride is None for stride in rows[0]) else iteration_order(rows, rank, args.facts)
    shape = [dim.size for dim in layout.dims]
    left = [i for i in range(rank) if i not in gone]
    if order is None:
        strides: dict[int, Size | None] = dict.fromkeys(left)
    else:
        inner = dense(tuple(shape[i] for i in left), [left.index(i) for i in order if i in left])
        strides = dict(zip(left, inner.strides, strict=True))
    dims = [Dim(shape[i], strides[i]) if i in strides else Dim(1, 0) for i in range(rank) if keep or i in strides]
    dtype = operand.dtype if args.op.name in ("max", "min", "amax", "amin") else None
    return array_result(Layout(tuple(dims)), dtype)


def _without_one(dim: Dim, facts: Facts) -> Size | None:
    one = facts.is_one(dim.size)
    return None if one is MAYBE else 0 if one is YES else magnitude(dim.stride, facts)


def along(args: Args) -> tuple[Layout, int]:
    """The array's layout with the dimension `axis` known, and its place."""
    layout, place = at_dim(args, args.layout(), args.integer("axis"))
    if place < 0:
        raise Unknowable("an array without dimensions")
    return layout, place


def index_reduction(args: Args) -> Outcome:
    """the reduced dimension left out, packed"""
    array(args)
    axis = args["axis"]
    if axis is None:
        return UNKNOWN  # a NumPy scalar
    layout, place = along(args)
    left = (1,) if args.flag("keepdims") else ()
    return array_result(contiguous((*layout.shape[:place], *left, *layout.shape[place + 1 :])), DType("int64"))


def running(args: Args) -> Outcome:
    """along all elements: one dimension; along one: the same sizes, strides in the same order"""
    array(args)
    layout = args.layout()
    if args["axis"] is None:
        return array_result(contiguous((layout.numel,)))
    return array_result(elementwise_layout([args["self"]], args.facts))


def product_of(args: Args) -> Outcome:
    """matrices: packed; arrays of more dimensions: packed where both are"""
    left, right = (args.operand(name) for name in ("self", "other"))
    if not left.numpy or not right.numpy:
        return UNKNOWN
    a, b = args.layout("self"), args.layout("other")
    if a.rank is None or b.rank is None or not a.dims or not b.dims:
        return UNKNOWN
    if len(a.dims) == 1 or len(b.dims) == 1:
        if len(a.dims) > 2 or len(b.dims) > 2:
            return UNKNOWN
        return array_result(contiguous(a.shape[:-1] if len(b.dims) == 1 else b.shape[1:]))
    if len(a.dims) == len(b.dims) == 2:
        return array_result(contiguous((a.shape[0], b.shape[1])))
    if args.op.name == "dot" or a.shape[:-2] != b.shape[:-2]:
        return UNKNOWN
    lies = all(is_contiguous(layout, args.facts) is YES for layout in (a, b))
    shape = (*a.shape[:-1], b.shape[-1])
    return array_result(contiguous(shape) if lies else unknown_strides(shape))


def sorted_copy(args: Args) -> Outcome:
    """a copy in the same order"""
    operand = array(args)
    if args["axis"] is None:
        return array_result(contiguous((args.layout().numel,)), operand.dtype)
    return array_result(kept_order(args.layout(), args.facts), operand.dtype)


def packed_copy(args: Args) -> Outcome:
    """the same sizes, packed"""
    return array_result(contiguous(args.ranked().shape), array(args).dtype)


def order_of(args: Args) -> Outcome:
    """indices, packed"""
    array(args)
    layout = args.layout()
    shape: Shape = (layout.numel,) if args["axis"] is None else layout.shape
    return array_result(contiguous(shape), DType("int64"))


def same_shape(args: Args) -> Outcome:
    """a copy in the same order; packed where the array is first flattened (`roll` without an axis)"""
    layout = args.layout()
    flat = args.op.name == "roll" and args["axis"] is None
    return array_result(contiguous(layout.shape) if flat else kept_order(layout, args.facts), array(args).dtype)


def distinct(args: Args) -> Outcome:
    """one dimension of a length that depends on the data"""
    array(args)
    for flag in ("return_index", "return_inverse", "return_counts"):
        if args[flag] is not False:
            return UNKNOWN
    if args["axis"] is not None:
        return UNKNOWN
    return array_result(contiguous((args.facts.symbols.fresh("length"),)), args.operand().dtype)


def taken(args: Args) -> Outcome:
    """the indices' sizes in the place of the dimension, packed"""
    operand = array(args)
    indices = args["indices"]
    shape: Shape
    if isinstance(indices, Operand):
        shape = args.layout("indices").shape
    elif isinstance(indices, (tuple, list)) and all(isinstance(item, (int, Poly)) for item in indices):
        shape = (len(indices),)
    elif isinstance(indices, (int, Poly)):
        shape = ()
    else:
        return UNKNOWN
    if args["axis"] is None:
        return array_result(contiguous(shape), operand.dtype)
    layout, place = along(args)
    return array_result(contiguous((*layout.shape[:place], *shape, *layout.shape[place + 1 :])), operand.dtype)


def tiled(args: Args) -> Outcome:
    """repeated, packed"""
    operand = array(args)
    layout = args.ranked()
    repeats = shape_argument(args, "reps")
    rank = max(len(repeats), len(layout.dims))
    sizes: list[Size] = [*([1] * (rank - len(layout.dims))), *layout.sizes]
    times: list[Size] = [*([1] * (rank - len(repeats))), *repeats]
    if all(count == 1 for count in times):
        return UNKNOWN
    empty = has_no_elements(layout, args.facts)
    return array_result(contiguous([size * n for size, n in zip(sizes, times, strict=True)]), operand.dtype, empty)


def repeated(args: Args) -> Outcome:
    """each element several times, packed"""
    operand = array(args)
    times = args.size("repeats")
    if args["axis"] is None:
        return array_result(contiguous((args.layout().numel * times,)), operand.dtype)
    layout, place = along(args)
    dim = layout.dims[place]
    return array_result(
        contiguous((*layout.shape[:place], dim.size * times, *layout.shape[place + 1 :])), operand.dtype
    )


def padded(args: Args) -> Outcome:
    """longer by the padding; packed, in Fortran order where the array is so only"""
    operand = array(args)
    layout = args.ranked()
    pairs = _pairs(args.known("pad_width"), len(layout.dims))
    shape = tuple(size + a + b for size, (a, b) in zip(layout.sizes, pairs, strict=True))
    fortran = is_fortran(layout, args.facts) & ~is_contiguous(layout, args.facts)
    if fortran is MAYBE:
        return array_result(unknown_strides(shape), operand.dtype)
    return array_result(packed(shape, "F" if fortran is YES else "C"), operand.dtype)


def _pairs(width: Any, rank: int) -> list[tuple[Size, Size]]:
    def is_size(value: Any) -> bool:
        return isinstance(value, (int, Poly))

    if is_size(width):
        return [(width, width)] * rank
    if isinstance(width, tuple) and len(width) == 2 and all(map(is_size, width)):
        return [(width[0], width[1])] * rank
    if isinstance(width, tuple) and all(isinstance(p, tuple) and len(p) == 2 and all(map(is_size, p)) for p in width):
        if len(width) == 1:
            return [(width[0][0], width[0][1])] * rank
        if len(width) == rank:
            return [(pair[0], pair[1]) for pair in width]
    raise Unknowable("a padding that is not known")


# fmt: off
_INTEGERS = "a.astype(int)"
OUT = "Any? out=None, *, Any where=None, Any? dtype=None"
for _name in (*ONE, *ONE_BOOL):
    op(f"{_name}(Tensor self, {OUT}) -> Tensor", alias=FRESH, layout=ufunc, example=f"np.{_name}({_INTEGERS})" if _name in BITWISE else f"np.{_name}(a)", spellings=paths(_name), numpy=True, path_only=_name not in ("conj", "conjugate"), unknown="without dimensions it is a scalar")
for _name in (*TWO, *TWO_BOOL):
    op(f"{_name}(Any self, Any other, {OUT}) -> Tensor", alias=FRESH, layout=ufunc, example=f"np.{_name}({_INTEGERS}, {_INTEGERS})" if _name in BITWISE else f"np.{_name}(a, a)", spellings=paths(_name), numpy=True, path_only=True, unknown="without dimensions it is a scalar")
for _torch, _name in PYTHON_NAMES.items():
    _second = "" if _torch == "neg" else "Any other, "
    op(f"{_torch}(Any self, {_second}{OUT}) -> Tensor", alias=FRESH, layout=ufunc, example=f"np.{_name}({', '.join([_INTEGERS if _name in BITWISE else 'a'] * (2 if _second else 1))})", numpy=True, unknown="without dimensions it is a scalar")
for _name in "sum mean prod max min amax amin std var any all ptp nansum nanmean nanmax nanmin nanstd nanvar median".split():
    _method = _name in "sum mean prod max min std var any all ptp"
    op(f"{_name}(Tensor self, int[]? axis=None, Any? dtype=None, Any? out=None, bool keepdims=False, *, Any ddof=0) -> Tensor", alias=FRESH, layout=reduction, example=f"np.{_name}(a, 0)", spellings=paths(_name), numpy=True, path_only=not _method, unknown="of all elements it is a scalar")
for _name in ("argmax", "argmin"):
    op(f"{_name}(Tensor self, int? axis=None, Any? out=None, *, bool keepdims=False) -> Tensor", alias=FRESH, layout=index_reduction, example=f"a.{_name}(0)", spellings=paths(_name), numpy=True, unknown="of all elements it is a scalar")
for _name in ("cumsum", "cumprod"):
    op(f"{_name}(Tensor self, int? axis=None, Any? dtype=None, Any? out=None) -> Tensor", alias=FRESH, layout=running, example=f"a.{_name}(0)", spellings=paths(_name), numpy=True)
op("nan_to_num(Tensor self, bool copy=True, **Any rest) -> Tensor", alias=FRESH, layout=same_shape, example="np.nan_to_num(a)", spellings=paths("nan_to_num"), numpy=True, path_only=True)
for _name in ("clip", "round", "around"):
    op(f"{_name}(Tensor self, Any first=None, Any second=None, **Any rest) -> Tensor", alias=FRESH, layout=like_operand, example=f"np.{_name}(a, 0, 1)" if _name == "clip" else f"np.{_name}(a)", spellings=paths(_name), numpy=True, path_only=_name not in ("clip", "round"), unknown="without dimensions it is a scalar")
op("where(Any condition, Any self, Any other) -> Tensor", alias=FRESH, layout=selected, example="np.where(a > 0, a, 0)", spellings=paths("where"), numpy=True, path_only=True)
for _name in ("matmul", "dot"):
    op(f"{_name}(Tensor self, Tensor other, Any? out=None) -> Tensor", alias=FRESH, layout=product_of, example=f"np.{_name}(a, a.T)", spellings=paths(_name), numpy=True, unknown="more than two dimensions that are not packed")
op("sort(Tensor self, int? axis=-1, Any? kind=None, Any? order=None, *, Any? stable=None) -> Tensor", alias=FRESH, layout=sorted_copy, example="np.sort(a)", spellings=paths("sort"), numpy=True, path_only=True)
op("argsort(Tensor self, int? axis=-1, Any? kind=None, Any? order=None, *, Any? stable=None) -> Tensor", alias=FRESH, layout=order_of, example="np.argsort(a)", spellings=paths("argsort"), numpy=True)
op("roll(Tensor self, Any shift, Any? axis=None) -> Tensor", alias=FRESH, layout=same_shape, example="np.roll(a, 1)", spellings=paths("roll"), numpy=True, path_only=True)
op("unique(Tensor self, bool return_index=False, bool return_inverse=False, bool return_counts=False, int? axis=None, *, bool equal_nan=True) -> Tensor", alias=FRESH, layout=distinct, example="np.unique(a)", spellings=paths("unique"), numpy=True, path_only=True, unknown="more than the values is asked for")
op("take(Tensor self, Any indices, int? axis=None, Any? out=None, str mode='raise') -> Tensor", alias=FRESH, layout=taken, example="np.take(a, [0, 0], 0)", spellings=paths("take"), numpy=True, unknown="the indices are not known")
op("tile(Tensor self, Any reps) -> Tensor", alias=FRESH, layout=tiled, example="np.tile(a, (2, 1))", spellings=paths("tile"), numpy=True, path_only=True, unknown="nothing is repeated")
op("repeat(Tensor self, int repeats, int? axis=None) -> Tensor", alias=FRESH, layout=repeated, example="a.repeat(2, 0)", spellings=paths("repeat"), numpy=True, unknown="the numbers are an array")
op("pad(Tensor self, Any pad_width, str mode='constant', **Any rest) -> Tensor", alias=FRESH, layout=padded, example="np.pad(a, 1)", spellings=paths("pad"), numpy=True, path_only=True)
# fmt: on
