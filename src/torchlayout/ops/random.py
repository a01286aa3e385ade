"""Random numbers out of tensors: their results are packed."""

from __future__ import annotations

from torchlayout.layouts import contiguous
from torchlayout.ops.factories import OPTIONS, given_dtype, packed
from torchlayout.ops.table import Args, op
from torchlayout.ops.transfers import INT64, broadcast_shape, packed_like
from torchlayout.ops.values import Alias, Operand, Outcome, Result, Unknowable

FRESH = Alias.FRESH


def drawn(args: Args) -> Outcome:
    """one row of indices for each row of weights, packed"""
    layout = args.layout()
    count = args.size("num_samples")
    if layout.rank is None and len(layout.dims) < 2:
        raise Unknowable("one row of weights or many")
    return Result(contiguous((*layout.shape[:-1], count)), INT64)


def normally_distributed(args: Args) -> Outcome:
    """sizes broadcast, packed"""
    operands = [value for value in (args["mean"], args["std"]) if isinstance(value, Operand)]
    shape = broadcast_shape([operand.layout.shape for operand in operands], args.facts)
    if shape is None:
        raise Unknowable("sizes that cannot be compared")
    dtypes = {operand.dtype for operand in operands}
    return Result(contiguous(shape), dtypes.pop() if len(dtypes) == 1 else given_dtype(args))


# fmt: off
op("bernoulli(Tensor self, float? p=None, *, Any? generator=None) -> Tensor", alias=FRESH, layout=packed_like, example="torch.bernoulli(x.clamp(0, 1))")
op("poisson(Tensor self, Any? generator=None) -> Tensor", alias=FRESH, layout=packed_like, example="torch.poisson(x)")
op("multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Any? generator=None) -> Tensor", alias=FRESH, layout=drawn, example="x.multinomial(2)")
op("binomial(Tensor self, Tensor prob, Any? generator=None) -> Tensor", alias=FRESH, layout=packed_like, example="torch.binomial(x, torch.tensor(0.5))")
for _mean, _std, _call in (("Tensor", "Tensor", "x, x"), ("Tensor", "float", "x, 2.0"), ("float", "Tensor", "1.0, x")):
    op(f"normal({_mean} mean, {_std} std{'=1' * (_std == 'float')}, *, Any? generator=None) -> Tensor", alias=FRESH, layout=normally_distributed, example=f"torch.normal({_call})", spellings=("torch.normal",), path_only=True)
op(f"normal(float mean, float std, SymInt[] size, *, Any? generator=None, {OPTIONS}) -> Tensor", alias=FRESH, layout=packed, example="torch.normal(0.0, 1.0, x.shape)", spellings=("torch.normal",), path_only=True)
# fmt: on
