"""Tensors that are handed over: between libraries by DLPack, to torch by its old constructors (`torch.FloatTensor`), and
from autograd and torch.nn.utils to a training loop."""

from __future__ import annotations

from typing import Any

from torchlayout.layouts import Layout, contiguous, has_no_elements, settle, unknown_strides, view
from torchlayout.ops.factories import from_data, refuse_negative
from torchlayout.ops.reshaping import NO_SUCH_VIEW
from torchlayout.ops.table import Args, op
from torchlayout.ops.transfers import INT64
from torchlayout.ops.values import Alias, DType, Many, Operand, Outcome, Refused, Result, Unknowable
from torchlayout.sizes import MAYBE, NO, YES, Poly, Size

FRESH = Alias.FRESH


# ---------------------------------------------------------------- DLPack
def imported(args: Args) -> Outcome:
    """the same memory, with its strides"""
    operand = args.operand("ext_tensor")
    if args["copy"] is True:
        raise Unknowable("how a copy lies is the other library's to say")
    layout = settle(operand.layout, args.facts)
    sure = args["copy"] is None and args["device"] is None and has_no_elements(layout, args.facts) is not YES
    return Result(Layout(layout.dims, None), operand.dtype, YES if sure else MAYBE, of="ext_tensor")


# ---------------------------------------------------------------- old constructors
def constructed(args: Args) -> Outcome:
    """the sizes given, packed"""
    sizes = [args.size(name) for name in PLACES if args[name] is not None]
    return Result(contiguous(tuple(sizes)), CONSTRUCTORS[args.op.name])


def constructed_from(args: Args) -> Outcome:
    """a packed copy of a list; of a number, so many elements; of an array, a copy that keeps its strides"""
    data = args.known("data")
    if isinstance(data, (int, Poly)) and not isinstance(data, bool):
        return Result(contiguous((data,)), CONSTRUCTORS[args.op.name])
    if isinstance(data, Operand) and data.numpy:
        refuse_negative(data, args.facts, "data")
    if not isinstance(data, list) and not is_nested(data):
        raise Unknowable("arrays keep their strides; a tuple of data and the sizes of a tensor look the same")
    outcome = from_data(args)
    return Result(outcome.layout, CONSTRUCTORS[args.op.name]) if isinstance(outcome, Result) else outcome


def is_nested(data: Any) -> bool:
    """Whether this is a list of lists, as no sizes are."""
    items = (data.item,) if isinstance(data, Many) else data if isinstance(data, tuple) else ()
    return any(isinstance(item, (tuple, list)) for item in items)


PLACES = tuple("abcdef")
CONSTRUCTORS = {
    "Tensor": DType("float32"), "FloatTensor": DType("float32"), "DoubleTensor": DType("float64"),
    "HalfTensor": DType("float16"), "BFloat16Tensor": DType("bfloat16"), "LongTensor": INT64,
    "IntTensor": DType("int32"), "ShortTensor": DType("int16"), "CharTensor": DType("int8"),
    "ByteTensor": DType("uint8"), "BoolTensor": DType("bool"),
}  # fmt: skip
"""Dtypes of the old constructors; that of `torch.Tensor` is torch's default."""


# ---------------------------------------------------------------- what a training loop is given
def gradients(args: Args) -> Outcome:
    """one for each input, of its sizes; strides are those of the backward pass"""
    if args["allow_unused"] not in (None, False) and args["materialize_grads"] is not True:
        raise Unknowable("None for what is not used")
    inputs: Any = args.known("inputs")
    if isinstance(inputs, Operand):
        return (gradient_of(inputs, args),)
    if isinstance(inputs, Many) and isinstance(inputs.item, Operand):
        return Many(gradient_of(inputs.item, args))
    return tuple(gradient_of(one, args) for one in args.operands("inputs"))


def gradient_of(operand: Operand, args: Args) -> Result:
    return Result(unknown_strides(settle(operand.layout, args.facts).shape), operand.dtype, MAYBE, of="inputs")


def one_vector(args: Args) -> Outcome:
    """a vector of all elements, packed; raises where `view(-1)` of one does (channels_last weights)"""
    parameters: Any = args.known("parameters")
    if not isinstance(parameters, (tuple, list)):
        return Result(contiguous((args.facts.symbols.fresh("parameters"),)))
    size: Size = 0
    exists = YES
    for operand in args.operands("parameters"):
        layout = settle(operand.layout, args.facts)
        answer = view(layout, (layout.numel,), args.facts)
        if answer is None:
            raise Unknowable("no number of elements")
        if answer.exists is NO:
            raise Refused("view", NO_SUCH_VIEW, "parameters")
        exists, size = exists & answer.exists, size + layout.numel
    return Result(contiguous((args.facts.normal(size),)), exists=exists)


def total_norm(args: Args) -> Outcome:
    """one number (no dimensions)"""
    return Result(contiguous(()))


# fmt: off
op("from_dlpack(Any ext_tensor, *, Device? device=None, bool? copy=None) -> Tensor", alias=Alias.VIEW, layout=imported, example="torch.from_dlpack(x)", spellings=("torch.from_dlpack", "torch.utils.dlpack.from_dlpack"), path_only=True)
for _name in CONSTRUCTORS:
    _sizes = ", ".join(f"int? {place}=None" for place in PLACES[2:])
    op(f"{_name}(int a, int b, {_sizes}) -> Tensor", alias=FRESH, layout=constructed, example=f"torch.{_name}(2, 3)", spellings=(f"torch.{_name}",), path_only=True)
    op(f"{_name}(Any data, *, ScalarType? dtype=None) -> Tensor", alias=FRESH, layout=constructed_from, example=f"torch.{_name}([[1, 0], [0, 1]])", spellings=(f"torch.{_name}",), path_only=True, unknown="arrays keep their strides; a tuple of data and the sizes of a tensor look the same")
op("grad(Any outputs, Any inputs, Any grad_outputs=None, bool? retain_graph=None, bool create_graph=False, bool only_inputs=True, bool? allow_unused=None, bool is_grads_batched=False, bool materialize_grads=False) -> Tensor[]", alias=FRESH, layout=gradients, example="", spellings=("torch.autograd.grad",), path_only=True, unknown="strides are those that the backward pass leaves")
op("parameters_to_vector(Any parameters) -> Tensor", alias=FRESH, layout=one_vector, example="torch.nn.utils.parameters_to_vector([x])", spellings=("torch.nn.utils.parameters_to_vector", "torch.nn.utils.convert_parameters.parameters_to_vector"), path_only=True, unknown="how many elements the parameters have")
for _name in ("clip_grad_norm_", "clip_grad_norm"):
    op(f"{_name}(Any parameters, float max_norm, float norm_type=2.0, bool error_if_nonfinite=False, bool? foreach=None) -> Tensor", alias=FRESH, layout=total_norm, example=f"torch.nn.utils.{_name}([x], 1.0)", spellings=(f"torch.nn.utils.{_name}", f"torch.nn.utils.clip_grad.{_name}"), path_only=True)
op("get_total_norm(Any tensors, float norm_type=2.0, bool error_if_nonfinite=False, bool? foreach=None) -> Tensor", alias=FRESH, layout=total_norm, example="torch.nn.utils.get_total_norm([x])", spellings=("torch.nn.utils.get_total_norm",), path_only=True)
# fmt: on
