"""`torch.masked`: reductions, scans and normalizations of the elements that a mask keeps."""

from __future__ import annotations

from typing import Any

from torchlayout.layouts import contiguous, unknown_strides
from torchlayout.ops.reductions import reduced_shape
from torchlayout.ops.table import Args, op
from torchlayout.ops.transfers import broadcast_shape, ordered_like
from torchlayout.ops.values import Alias, Outcome, Result, Unknowable

FRESH = Alias.FRESH


def reduced(args: Args) -> Outcome:
    """packed, without the dimensions reduced (1 with keepdim)"""
    dim: Any = args.values.get("dim")
    if (isinstance(dim, (tuple, list)) and not dim) or args.layout().rank == 0:
        raise Unknowable("with nothing to reduce the tensor itself may come back")
    return Result(contiguous(reduced_shape(args)))


def scanned(args: Args) -> Outcome:
    """the same sizes, packed (contiguous whatever came in)"""
    return Result(contiguous(args.layout().shape))


def normalized(args: Args) -> Outcome:
    """the same sizes; strides in the same order, without gaps"""
    return Result(ordered_like(args.layout(), args.facts))


def log_of_sums(args: Args) -> Outcome:
    """sizes broadcast; strides are not followed"""
    shape = broadcast_shape([args.layout().shape, args.layout("other").shape], args.facts)
    if shape is None:
        raise Unknowable("the sizes cannot be compared")
    return Result(unknown_strides(shape))


# fmt: off
NOTHING = "with nothing to reduce the tensor itself may come back"
TAIL = "*, bool? keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor"
for _name in ("sum", "prod", "amax", "amin", "argmax", "argmin", "mean", "median", "logsumexp"):
    op(f"masked_{_name}(Tensor self, int[1]? dim=None, {TAIL}", alias=FRESH, layout=reduced, example=f"torch.masked.{_name}(x, -1, mask=x > 0.5)", spellings=(f"torch.masked.{_name}",), path_only=True, unknown=NOTHING)
op(f"masked_norm(Tensor self, Any ord=2.0, int[1]? dim=None, {TAIL}", alias=FRESH, layout=reduced, example="torch.masked.norm(x, 2.0, -1)", spellings=("torch.masked.norm",), path_only=True)
for _name in ("var", "std"):
    op(f"masked_{_name}(Tensor self, int[1]? dim=None, Any unbiased=None, *, Any correction=None, {TAIL[3:]}", alias=FRESH, layout=reduced, example=f"torch.masked.{_name}(x, -1)", spellings=(f"torch.masked.{_name}",), path_only=True)
for _name in ("cumsum", "cumprod", "softmax", "log_softmax", "softmin"):
    op(f"masked_{_name}(Tensor self, int dim, {TAIL.replace('bool? keepdim=False, ', '')}", alias=FRESH, layout=scanned, example=f"torch.masked.{_name}(x, 0)", spellings=(f"torch.masked.{_name}",), path_only=True)
op("masked_normalize(Tensor self, float ord, int dim, *, float eps=1e-12, ScalarType? dtype=None, Tensor? mask=None) -> Tensor", alias=FRESH, layout=normalized, example="torch.masked.normalize(x, 2.0, 0)", spellings=("torch.masked.normalize",), path_only=True)
op("masked_logaddexp(Tensor self, Tensor other, *, ScalarType? dtype=None, Tensor? input_mask=None, Tensor? other_mask=None) -> Tensor", alias=FRESH, layout=log_of_sums, example="torch.masked.logaddexp(x, x)", spellings=("torch.masked.logaddexp",), path_only=True, unknown="strides are not followed")
# fmt: on
