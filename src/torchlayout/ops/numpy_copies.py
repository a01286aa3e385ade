"""NumPy's copies: what packs an array, converts it, or makes one of a sequence, and the way from tensors to arrays."""

from __future__ import annotations

from typing import Any

from torchlayout.layouts import Layout, contiguous, is_contiguous, unknown_strides
from torchlayout.ops.numpy_layouts import array, array_result, in_order, is_fortran, packed
from torchlayout.ops.numpy_rows import FRESH, MAYBE_VIEW, VIEW, paths, viewed
from torchlayout.ops.table import Args, Transfer, op
from torchlayout.ops.values import UNKNOWN, DType, Operand, Outcome, Result, Unknowable, is_unknown
from torchlayout.sizes import MAYBE, NO, YES


def same_array(operand: Operand, layout: Layout) -> Result:
    return Result(layout, operand.dtype, YES, numpy=True, same_object=True)


def packed_array(order: str) -> Transfer:
    """`ascontiguousarray` ("C") and `asfortranarray` ("F"): the array itself where it lies so already, else a copy."""

    def transfer(args: Args) -> Outcome:
        operand = array(args)
        layout = args.layout()
        converted = _converts(operand, args["dtype"])
        if layout.rank == 0:
            return viewed(operand, contiguous((1,))) if converted is NO else UNKNOWN
        lies = (is_contiguous if order == "C" else is_fortran)(layout, args.facts) & ~converted
        if lies is YES:
            # NumPy ignores the stride of a dimension of size 1 and keeps it, negative ones too
            return same_array(operand, layout)
        if layout.rank is None and order == "F":
            return Result(unknown_strides(layout.shape), None, lies, numpy=True)
        dtype = args["dtype"] if isinstance(args["dtype"], DType) else operand.dtype if converted is NO else None
        return Result(packed(layout.shape, order), dtype, lies, numpy=True)

    transfer.__doc__ = f"packed in {order} order; the array itself where it is already"
    return transfer


def _converts(operand: Operand, dtype: Any) -> Any:
    """Whether a `dtype` argument asks for another dtype."""
    if dtype is None:
        return NO
    if isinstance(dtype, DType) and operand.dtype is not None:
        return NO if dtype == operand.dtype else YES
    return MAYBE


def _of_no_array(args: Args) -> Outcome:
    """An array made of a sequence, or of what is not known: that is taken to lie as new arrays do."""
    if not is_unknown(args["self"]):
        return from_sequence(args)
    shape = (args.facts.symbols.fresh_rest("array"),)
    return Result(packed(shape) if args.facts.assumed else unknown_strides(shape), _dtype(args), MAYBE, numpy=True)


def as_array(args: Args) -> Outcome:
    """the array itself, unless a dtype or an order asks for a copy; what is no array is packed"""
    if not isinstance(args["self"], Operand):
        return _of_no_array(args)
    operand = array(args)
    layout = args.layout()
    converted = _converts(operand, args["dtype"])
    order = args["order"]
    if order not in (None, "K", "A") or converted is not NO:
        if converted is NO:
            return packed_array(order)(args) if order in ("C", "F") and layout.rank != 0 else UNKNOWN
        made = in_order(layout, order or "K", args.facts)
        if converted is YES:
            return array_result(made, args["dtype"])
        return Result(made if made == layout else unknown_strides(layout.shape), None, MAYBE, numpy=True)
    return same_array(operand, layout)


def from_sequence(args: Args) -> Outcome:
    """Nested lists of numbers, or of arrays: packed."""
    shape: list[Any] = []
    level = args["self"]
    while isinstance(level, (tuple, list)):
        shape.append(len(level))
        level = level[0] if level else 0
    if isinstance(level, Operand):
        shape.extend(level.layout.shape)
    elif not isinstance(level, (int, float, complex)):
        if not shape:
            raise Unknowable("neither an array nor a sequence")
        shape.append(args.facts.symbols.fresh_rest("array"))
    return array_result(packed(tuple(shape), args["order"] if args["order"] in ("C", "F") else "C"), _dtype(args))


def _dtype(args: Args) -> DType | None:
    return args["dtype"] if isinstance(args["dtype"], DType) else None


def new_array(args: Args) -> Outcome:
    """a copy in the same order (`order='K'`)"""
    if args["copy"] is not True:
        return as_array(args) if args["copy"] is False or args["copy"] is None else UNKNOWN
    if not isinstance(args["self"], Operand):
        return _of_no_array(args)
    operand = array(args)
    layout = in_order(args.layout(), args["order"], args.facts)
    if args["ndmin"] != 0:
        return UNKNOWN
    return array_result(layout, operand.dtype if args["dtype"] is None else _dtype(args))


def copied(args: Args) -> Outcome:
    """a copy; packed, unless the order is given"""
    operand = array(args)
    return array_result(in_order(args.layout(), args["order"], args.facts), operand.dtype)


def converted(args: Args) -> Outcome:
    """a copy in the same order (`order='K'`), without gaps"""
    operand = array(args)
    made = in_order(args.layout(), args["order"], args.facts)
    if args["copy"] is True:
        return array_result(made, _dtype(args))
    same = ~_converts(operand, args["dtype"])
    if args["copy"] is False and same is YES and args["order"] == "K":
        return same_array(operand, args.layout())
    return Result(unknown_strides(made.shape), _dtype(args), MAYBE, numpy=True)


def to_numpy(args: Args) -> Outcome:
    """an array with the tensor's strides and memory"""
    operand = args.operand()
    if operand.numpy:
        raise Unknowable("an array already")
    return Result(args.layout(), operand.dtype, YES, numpy=True)


def to_list(args: Args) -> Outcome:
    """a list"""
    return UNKNOWN


# fmt: off
op("ascontiguousarray(Tensor self, Any? dtype=None) -> Tensor(a)", alias=MAYBE_VIEW, layout=packed_array("C"), example="np.ascontiguousarray(a)", spellings=paths("ascontiguousarray"), numpy=True, path_only=True)
op("asfortranarray(Tensor self, Any? dtype=None) -> Tensor(a)", alias=MAYBE_VIEW, layout=packed_array("F"), example="np.asfortranarray(a)", spellings=paths("asfortranarray"), numpy=True, path_only=True)
op("asarray(Any self, Any? dtype=None, Any? order=None, *, Any device=None, Any copy=None) -> Tensor(a)", alias=MAYBE_VIEW, layout=as_array, example="np.asarray(a)", spellings=paths("asarray", "asanyarray"), numpy=True, path_only=True, unknown="it is not known to be an array")
op("array(Any self, Any? dtype=None, *, Any copy=True, Any order='K', bool subok=False, int ndmin=0, Any like=None) -> Tensor", alias=FRESH, layout=new_array, example="np.array(a)", spellings=paths("array"), numpy=True, path_only=True, unknown="it is not known to be an array")
op("copy(Tensor self, Any order='C') -> Tensor", alias=FRESH, layout=copied, example="a.copy()", numpy=True)
op("copy.function(Tensor self, Any order='K', bool subok=False) -> Tensor", alias=FRESH, layout=copied, example="np.copy(a)", spellings=paths("copy"), numpy=True, path_only=True)
op("astype(Tensor self, Any dtype, Any order='K', str casting='unsafe', bool subok=True, bool copy=True) -> Tensor", alias=MAYBE_VIEW, layout=converted, example="a.astype(np.float32)", spellings=paths("astype"), numpy=True, unknown="`copy=False`, and the dtype is not known")
op("tolist(Tensor self) -> Any", alias=FRESH, layout=to_list, example="a.tolist()", numpy=True, unknown="a list")

op("numpy(Tensor self, *, bool force=False) -> Any", alias=VIEW, layout=to_numpy, example="x.numpy()")
op("__array__(Tensor self, Any? dtype=None) -> Any", alias=VIEW, layout=to_numpy, example="x.__array__()")
# fmt: on
