"""Activations and dropout of torch.nn.functional. With `inplace=True` they return the very tensor that came in."""

from __future__ import annotations

from torchlayout.layouts import (
    Layout,
    contiguous,
    has_no_elements,
    has_overlap,
    is_contiguous,
    preserved,
    same_layout,
    unknown_strides,
)
from torchlayout.ops.table import Args, op
from torchlayout.ops.transfers import (
    BOOL,
    at_dim,
    elementwise_float,
    elementwise_layout,
    full_precision,
    itself,
    of_backends,
    ordered_like,
    packed_like,
    packed_like_float,
    replaced,
)
from torchlayout.ops.values import Alias, Alternatives, Operand, Outcome, Refused, Result, Unknowable, is_unknown
from torchlayout.sizes import MAYBE, YES
from torchlayout.structs import replace

FRESH = Alias.FRESH
OVERLAP = "unsupported operation: more than one element of the written-to tensor refers to a single memory location"


def overwritten(args: Args) -> Result:
    """The result of writing in place. Raises `Refused` where elements share memory."""
    if args.op.name != "threshold" and has_overlap(args.layout(), args.facts) is YES:
        raise Refused("overlap-write", OVERLAP)
    return itself(args)


def activation(args: Args) -> Outcome:
    """the same sizes; strides in the same order, without gaps; in place: the tensor itself"""
    inplace = args.values.get("inplace", False)
    fresh = Result(ordered_like(args.layout(), args.facts), args.operand().dtype)
    if inplace is False:
        return fresh
    return overwritten(args) if inplace is True else Alternatives((fresh, itself(args)))


def prelu(args: Args) -> Outcome:
    """the same sizes; strides in the same order, without gaps"""
    return Result(ordered_like(args.layout(), args.facts), args.operand().dtype)


def dropped(args: Args) -> Outcome:
    """the tensor itself when nothing is dropped (not training, or p is 0), else elementwise"""
    training, p = args.values.get("training", args.values.get("train", True)), args["p"]
    if args.values.get("inplace", False) is True:
        return overwritten(args) if training is True and not is_unknown(p) and p != 0 else itself(args)
    if args.values.get("inplace", False) is not False:
        return Alternatives((_dropped(args), itself(args)))
    if (
        args.facts.normal(args.layout().numel) == 0
        or training is False
        or (training is True and p == 0 and not is_unknown(p))
    ):
        return _undropped(args)
    if training is True and not is_unknown(p):
        return _dropped(args)
    layout = args.layout()
    dense = preserved(layout, args.facts)
    if dense.dims == layout.dims:
        return Result(Layout(dense.dims, None), args.operand().dtype, MAYBE)
    return Alternatives((_dropped(args), _undropped(args)))


BATCHED_RANKS = {"dropout1d": 3, "dropout3d": 5}
"""These squeeze what they unsqueezed where there is no batch, and so give another tensor object."""


def _undropped(args: Args) -> Result:
    rank = BATCHED_RANKS.get(args.op.name)
    return replace(itself(args), same_object=rank is None or args.layout().rank == rank)


def _dropped(args: Args) -> Result:
    """A fresh tensor. When p is 1 that is a product with a tensor without dimensions, which gives the same strides."""
    return Result(ordered_like(args.layout(), args.facts), args.operand().dtype)


def dropped_with_mask(args: Args) -> Outcome:
    """a pair: an elementwise result (the tensor itself where it has no elements); the mask, of bools, in the same layout"""
    layout = preserved(args.layout(), args.facts)
    nothing = has_no_elements(layout, args.facts) is YES
    return itself(args) if nothing else Result(layout, args.operand().dtype), Result(layout, None if nothing else BOOL)


def gated(args: Args) -> Outcome:
    """half as long in one dimension; strides as of an elementwise result of the two halves"""
    layout, place = at_dim(args, args.layout(), args.integer("dim"))
    if place < 0:
        raise Unknowable("no dimension to halve")
    dim = layout.dims[place]
    half = args.facts.quotient(dim.size, 2)
    part = Layout((*layout.dims[:place], dim._replace(size=half), *layout.dims[place + 1 :]))
    if is_contiguous(layout, args.facts) is YES:
        return Result(contiguous(replaced(layout.shape, place, (half,))), args.operand().dtype)
    return Result(elementwise_layout([Operand(part), Operand(part)], args.facts), args.operand().dtype)


def gumbel_softmax(args: Args) -> Outcome:
    """the same sizes, packed; with `hard`, strides in the input's order, without gaps"""
    if args["hard"] is False:
        return packed_like_float(args)
    ordered = preserved(args.layout(), args.facts)
    packed = contiguous(ordered.shape)
    if args["hard"] is not True and same_layout(ordered, packed, args.facts) is not YES:
        ordered = unknown_strides(ordered.shape)
    return Result(ordered, full_precision(args.operand().dtype))


def log_sigmoid(args: Args) -> Outcome:
    """packed on a CPU; on CUDA strides in the input's order, without gaps"""
    operand, layout = args.operand(), args.layout()
    return Result(
        of_backends(operand, contiguous(layout.shape), preserved(layout, args.facts), args.facts), operand.dtype
    )


def rrelu(args: Args) -> Outcome:
    """the same sizes, packed (contiguous whatever came in); in place: the tensor itself"""
    inplace = args["inplace"]
    if inplace is False:
        return packed_like(args)
    return overwritten(args) if inplace is True else Alternatives((packed_like(args), itself(args)))


def _activation(name: str, parameters: str = "", example: str = "", inplace: bool = True, path: str = "") -> None:
    more = parameters + (", bool inplace=False" if inplace else "")
    op(f"{name}(Tensor self{more}) -> Tensor", alias=Alias.MAYBE_VIEW if inplace else FRESH, layout=activation,
       example=f"F.{example or name + '(x)'}", spellings=(path,) if path else ())  # fmt: skip


for _name in ("relu", "relu6", "selu", "silu", "mish", "hardswish", "hardsigmoid"):
    _activation(_name)
_activation("leaky_relu", ", Scalar negative_slope=0.01")
_activation("elu", ", Scalar alpha=1.0")
_activation("celu", ", Scalar alpha=1.0")
_activation("hardtanh", ", Scalar min_val=-1.0, Scalar max_val=1.0")
_activation("threshold", ", Scalar threshold, Scalar value", "threshold(x, 0.1, 20)")
_activation("gelu", ", str approximate='none'", inplace=False)
_activation("softplus", ", Scalar beta=1, Scalar threshold=20", inplace=False)
_activation("softshrink", ", Scalar lambd=0.5", inplace=False)
_activation("hardshrink", ", Scalar lambd=0.5", inplace=False)

# fmt: off
op("softsign(Tensor self) -> Tensor", alias=FRESH, layout=elementwise_float, example="F.softsign(x)")
op("tanhshrink(Tensor self) -> Tensor", alias=FRESH, layout=elementwise_float, example="F.tanhshrink(x)")
op("logsigmoid(Tensor self) -> Tensor", alias=FRESH, layout=log_sigmoid, example="F.logsigmoid(x)", varies=True, unknown="a CPU packs, CUDA keeps the order of strides")
op("rrelu(Tensor self, float lower=0.125, float upper=0.3333333333333333, bool training=False, bool inplace=False) -> Tensor", alias=Alias.MAYBE_VIEW, layout=rrelu, example="F.rrelu(x)")
op("prelu(Tensor self, Tensor weight) -> Tensor", alias=FRESH, layout=prelu, example="F.prelu(x, torch.tensor([0.1]))")
op("glu(Tensor self, int dim=-1) -> Tensor", alias=FRESH, layout=gated, example="F.glu(x, -1)")
op("dropout(Tensor self, float p=0.5, bool training=True, bool inplace=False) -> Tensor", alias=Alias.MAYBE_VIEW, layout=dropped, example="F.dropout(x, 0.5)", unknown="training or not may not be known")
op("dropout.function(Tensor self, float p, bool train) -> Tensor", alias=Alias.MAYBE_VIEW, layout=dropped, example="torch.dropout(x, 0.5, True)", spellings=("torch.dropout",))
for _name in ("dropout1d", "dropout2d", "dropout3d", "feature_dropout"):
    op(f"{_name}(Tensor self, float p=0.5, bool training=True, bool inplace=False) -> Tensor", alias=Alias.MAYBE_VIEW, layout=dropped, example=f"F.{_name}(x, 0.5)" if _name != "feature_dropout" else "torch.feature_dropout(x, 0.5, True)")
op("native_dropout(Tensor self, float p, bool? train) -> (Tensor, Tensor)", alias=Alias.MAYBE_VIEW, layout=dropped_with_mask, example="torch.native_dropout(x, 0.5, True)")
for _name in ("alpha_dropout", "feature_alpha_dropout"):
    op(f"{_name}(Tensor self, float p=0.5, bool training=False, bool inplace=False) -> Tensor", alias=Alias.MAYBE_VIEW, layout=dropped, example=f"F.{_name}(x, 0.5, True)")
op("gumbel_softmax(Tensor self, float tau=1, bool hard=False, float eps=1e-10, int dim=-1) -> Tensor", alias=FRESH, layout=gumbel_softmax, example="F.gumbel_softmax(x)")
# fmt: on
