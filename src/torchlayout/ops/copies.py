"""Copies and conversions: contiguous, clone, to, casts. Where nothing is converted, the tensor itself comes back."""

from __future__ import annotations

from typing import Any

from torchlayout.layouts import (
    CHANNELS_LAST_ORDER,
    Layout,
    channels_last,
    contiguous,
    is_channels_last,
    is_contiguous,
    is_dense,
    preserved,
    suggests_channels_last,
)
from torchlayout.ops.table import Args, Transfer, op
from torchlayout.ops.transfers import itself
from torchlayout.ops.values import (
    DTYPE_ALIASES,
    Alias,
    Alternatives,
    DType,
    MemoryFormat,
    Operand,
    Outcome,
    Result,
    Unknowable,
    is_unknown,
)
from torchlayout.sizes import MAYBE, NO, YES, Facts, Truth, truth

MAYBE_VIEW, FRESH = Alias.MAYBE_VIEW, Alias.FRESH

RANK_OF_FORMAT = {MemoryFormat.CHANNELS_LAST: 4, MemoryFormat.CHANNELS_LAST_3D: 5}


def memory_format(args: Args, default: MemoryFormat = MemoryFormat.PRESERVE) -> MemoryFormat:
    """The memory format asked for. Raises `Unknowable`."""
    value = args.known("memory_format")
    if value is None:
        return default
    if not isinstance(value, MemoryFormat):
        raise Unknowable("no memory format")
    return value


def in_format(layout: Layout, form: MemoryFormat, facts: Facts) -> Layout:
    """The layout that a copy in this memory format has. Raises `Unknowable` where the rank does not fit."""
    if form is MemoryFormat.PRESERVE:
        return preserved(layout, facts)
    if form is MemoryFormat.CONTIGUOUS:
        return contiguous(layout.shape)
    if layout.rank != RANK_OF_FORMAT[form]:
        raise Unknowable("another rank than the memory format's")
    return channels_last(layout.sizes)


def _ranked_for(args: Args, form: MemoryFormat) -> Layout:
    return args.ranked(rank=RANK_OF_FORMAT[form]) if form in RANK_OF_FORMAT else args.layout()


def made_contiguous(args: Args) -> Outcome:
    """packed in the memory format: the tensor itself where it is already, else a copy"""
    form = memory_format(args, MemoryFormat.CONTIGUOUS)
    if form is MemoryFormat.PRESERVE:
        raise Unknowable("preserve_format is not allowed")
    layout = _ranked_for(args, form)
    answer = (is_channels_last if form in RANK_OF_FORMAT else is_contiguous)(layout, args.facts)
    if answer is YES:
        return itself(args)
    packed = in_format(layout, form, args.facts)
    if answer is MAYBE:
        packed = Layout(packed.dims, None)
    operand = args.operand()
    return Result(packed, operand.dtype, answer, operand.numpy)


def cloned(args: Args) -> Outcome:
    """a copy with the same strides where these are dense, else without the gaps"""
    form = memory_format(args)
    return Result(in_format(_ranked_for(args, form), form, args.facts), args.operand().dtype)


# ---------------------------------------------------------------- conversions
def converted(args: Args, changes: Truth, dtype: DType | None, form: MemoryFormat) -> Outcome:
    """The tensor itself where nothing changes, else a copy: `to_will_alias` in ATen/native/TensorConversions.cpp.

    A memory format other than preserve_format makes a copy too, but only where torch takes the tensor for one of
    the other format: of a transposed matrix `to(memory_format=contiguous_format)` does nothing.
    """
    layout = _ranked_for(args, form)
    facts = args.facts
    if form is MemoryFormat.CONTIGUOUS:
        changes = changes | suggests_channels_last(layout, facts)
    elif form in RANK_OF_FORMAT:
        changes = changes | ~suggests_channels_last(layout, facts)
    if changes is NO:
        same = itself(args)
        return Result(same.layout, dtype, YES, same.numpy, same_object=True)
    copy = in_format(layout, form, facts)
    if changes is YES:
        return Result(copy, dtype)
    if copy.dims == layout.dims:
        return Result(Layout(copy.dims, layout.offset if layout.offset == 0 else None), dtype, MAYBE)
    same_dims = is_dense(layout, facts) is YES and form is MemoryFormat.PRESERVE
    if same_dims or _equal_either_way(layout, copy, facts):
        return Result(Layout(layout.dims, None), dtype, MAYBE)
    return Alternatives((Result(layout, dtype, YES), Result(copy, dtype)))


def _equal_either_way(layout: Layout, copy: Layout, facts: Facts) -> bool:
    packed = is_contiguous(layout, facts) is YES and is_contiguous(copy, facts) is YES
    if packed:
        return True
    both_last = layout.rank in CHANNELS_LAST_ORDER
    return both_last and is_channels_last(layout, facts) is YES and is_channels_last(copy, facts) is YES


def dtype_changes(operand: Operand, dtype: DType | None) -> Truth:
    """Whether a conversion to this dtype (None: not known) changes anything."""
    if dtype is None or operand.dtype is None:
        return MAYBE
    return truth(dtype != operand.dtype)


def device_changes(operand: Operand, device: Any) -> Truth:
    """Whether a move to this device changes anything. Which of several GPUs is meant is never known."""
    if device is None:
        return NO
    if not isinstance(device, str) or operand.device is None:
        return MAYBE
    kind = device.split(":")[0]
    if kind != operand.device.split(":")[0]:
        return YES
    return NO if kind == "cpu" else MAYBE


def to_dtype(args: Args) -> Outcome:
    """the tensor itself where nothing is converted, else a copy that keeps dense strides"""
    operand = args.operand()
    changes = NO
    dtype = operand.dtype
    for name in ("dtype", "device"):
        value = args.values.get(name)
        if name == "device":
            changes = changes | device_changes(operand, value)
        elif value is not None:
            dtype = value if isinstance(value, DType) else None
            changes = changes | dtype_changes(operand, dtype)
    return converted(args, changes | _forced(args), dtype, memory_format(args))


def _forced(args: Args) -> Truth:
    copy = args["copy"]
    return MAYBE if is_unknown(copy) else truth(copy is True)


def to_other(args: Args) -> Outcome:
    """the tensor itself where dtype and device are the other's, else a copy that keeps dense strides"""
    operand, other = args.operand(), args.operand("other")
    device = MAYBE if operand.device is None or other.device is None else device_changes(operand, other.device)
    changes = device | dtype_changes(operand, other.dtype)
    return converted(args, changes | _forced(args), other.dtype, memory_format(args))


def casting(name: str) -> Transfer:
    target = DType(DTYPE_ALIASES.get(name, name))

    def cast(args: Args) -> Outcome:
        """the tensor itself where it has the dtype, else a copy that keeps dense strides"""
        return converted(args, dtype_changes(args.operand(), target), target, memory_format(args))

    return cast


def to_type(args: Args) -> Outcome:
    """the tensor itself where it has the dtype, else a copy that keeps dense strides"""
    if args["dtype"] is None:
        raise Unknowable("asks for the type's name")
    dtype = args["dtype"] if isinstance(args["dtype"], DType) else None
    return converted(args, dtype_changes(args.operand(), dtype), dtype, MemoryFormat.PRESERVE)


def type_like(args: Args) -> Outcome:
    """the tensor itself where dtype and device are the other's, else a copy that keeps dense strides"""
    operand, other = args.operand(), args.operand("other")
    device = MAYBE if operand.device is None or other.device is None else device_changes(operand, other.device)
    return converted(args, device | dtype_changes(operand, other.dtype), other.dtype, MemoryFormat.PRESERVE)


def moving(device: str) -> Transfer:
    def move(args: Args) -> Outcome:
        """the tensor itself where it is on the device, else a copy that keeps dense strides"""
        operand = args.operand()
        target = args.values.get("device")
        target = device if target is None or not isinstance(target, str) else target
        return converted(args, device_changes(operand, target), operand.dtype, memory_format(args))

    return move


def lazily_conjugated(args: Args) -> Outcome:
    """the tensor itself if real; of a complex tensor a view"""
    operand = args.operand()
    if operand.dtype is not None and not operand.dtype.is_complex:
        return itself(args)
    return Result(args.layout(), operand.dtype, YES)


def pinned(args: Args) -> Outcome:
    """a copy in pinned memory with the very same strides, gaps included; the tensor itself where it is pinned already"""
    return Result(Layout(args.layout().dims, None), args.operand().dtype, MAYBE)


def resolved(args: Args) -> Outcome:
    """the tensor itself, or a copy of one that is conjugated or negated lazily"""
    operand, layout = args.operand(), args.layout()
    if operand.dtype is not None and not operand.dtype.is_complex:
        return itself(args)
    copy = preserved(layout, args.facts)
    if copy.dims == layout.dims:
        return Result(Layout(layout.dims, None), operand.dtype, MAYBE)
    return Alternatives((Result(layout, operand.dtype, YES), Result(copy, operand.dtype)))


# fmt: off
op("contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)", alias=MAYBE_VIEW, layout=made_contiguous, example="x.contiguous()")
op("pin_memory(Tensor(a) self, Device? device=None) -> Tensor(a)", alias=MAYBE_VIEW, layout=pinned, example="x.pin_memory()", unknown="it may be pinned already")
op("clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", alias=FRESH, layout=cloned, example="x.clone()")
op("to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)", alias=MAYBE_VIEW, layout=to_dtype, example="x.to(dtype=torch.float64)")
op("to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)", alias=MAYBE_VIEW, layout=to_dtype, example="x.to(torch.float32, memory_format=torch.contiguous_format)")
op("to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)", alias=MAYBE_VIEW, layout=to_other, example="x.to(x.double())", unknown="devices may not be known")
op("to.device(Tensor(a) self, Device? device=None, ScalarType? dtype=None, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)", alias=MAYBE_VIEW, layout=to_dtype, example="x.to('cpu', torch.float64)", unknown="devices may not be known")
op("type(Tensor(a) self, ScalarType? dtype=None, bool non_blocking=False) -> Tensor(a)", alias=MAYBE_VIEW, layout=to_type, example="x.type(torch.float64)")
op("type_as(Tensor(a) self, Tensor other) -> Tensor(a)", alias=MAYBE_VIEW, layout=type_like, example="x.type_as(x.double())", unknown="devices may not be known")
for _name in ("float", "double", "half", "bfloat16", "int", "long", "short", "cfloat", "cdouble", "chalf", "bool"):
    op(f"{_name}(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)", alias=MAYBE_VIEW, layout=casting(_name), example=f"x.{_name}()", words="the tensor itself where it has the dtype, else a copy that keeps dense strides")
op("char(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)", alias=MAYBE_VIEW, layout=casting("int8"), example="x.char()", words="the tensor itself where it has the dtype, else a copy that keeps dense strides")
op("byte(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)", alias=MAYBE_VIEW, layout=casting("uint8"), example="x.byte()", words="the tensor itself where it has the dtype, else a copy that keeps dense strides")
op("cpu(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)", alias=MAYBE_VIEW, layout=moving("cpu"), example="x.cpu()", words="the tensor itself where it is on the CPU, else a copy that keeps dense strides", unknown="devices may not be known")
op("cuda(Tensor(a) self, Device? device=None, bool non_blocking=False, *, MemoryFormat? memory_format=None) -> Tensor(a)", alias=MAYBE_VIEW, layout=moving("cuda"), example="x.cuda()", words="the tensor itself where it is on the GPU, else a copy that keeps dense strides", unknown="devices may not be known")
op("conj(Tensor(a) self) -> Tensor(a)", alias=MAYBE_VIEW, layout=lazily_conjugated, example="x.conj()")
op("resolve_conj(Tensor(a) self) -> Tensor(a)", alias=MAYBE_VIEW, layout=resolved, example="x.resolve_conj()", unknown="whether a complex tensor is conjugated lazily")
op("resolve_neg(Tensor(a) self) -> Tensor(a)", alias=MAYBE_VIEW, layout=resolved, example="x.resolve_neg()", unknown="whether a complex tensor is negated lazily")
# fmt: on
