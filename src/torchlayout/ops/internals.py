"""Operators of torch's own catalogue that programs seldom call: native_ forms, backward passes, private names."""

from __future__ import annotations

from torchlayout.layouts import contiguous
from torchlayout.ops.formats import in_suggested_format
from torchlayout.ops.normalization import native_batch_norm
from torchlayout.ops.table import Args, op
from torchlayout.ops.transfers import elementwise_layout, of_backends, packed_like
from torchlayout.ops.values import Alias, Outcome, Result

FRESH = Alias.FRESH


def native_layer_norm(args: Args) -> Outcome:
    """three tensors, packed: the same sizes, means and inverse deviations (1 in the dimensions normalized)"""
    layout, normalized = args.ranked(), args.shape("normalized_shape")
    outer = layout.shape[: len(layout.dims) - len(normalized)]
    statistics = Result(contiguous((*outer, *(1,) * len(normalized))))
    return Result(contiguous(layout.shape)), statistics, statistics


def native_group_norm(args: Args) -> Outcome:
    """three tensors: the same sizes, and two of (N, groups), packed"""
    layout = args.layout()
    on_cpu = in_suggested_format(layout, layout.shape, args.facts)
    whole = of_backends(args.operand(), on_cpu, contiguous(layout.shape), args.facts)
    statistics = Result(contiguous((args.size("N"), args.size("group"))))
    return Result(whole), statistics, statistics


def batch_norm_with_update(args: Args) -> Outcome:
    """four tensors: as native_batch_norm's, and what the backward pass needs"""
    three = native_batch_norm(args)
    return (*three, Result(contiguous((0,)))) if isinstance(three, tuple) else three


def dropout_backward(args: Args) -> Outcome:
    """strides in the operands' order, without their gaps"""
    return Result(elementwise_layout([args["self"], args["mask"]], args.facts))


def scaled_product(args: Args) -> Outcome:
    """a matrix, packed"""
    return Result(contiguous((args.ranked("self", 2).sizes[0], args.ranked("mat2", 2).sizes[1])))


def antialiased(args: Args) -> Outcome:
    """channels_last where the input is, else contiguous"""
    layout = args.ranked("self", 4)
    return Result(in_suggested_format(layout, (*layout.sizes[:2], *args.shape("output_size")), args.facts))


def pooled_backward(args: Args) -> Outcome:
    """the input's sizes; channels_last where it is, else contiguous"""
    layout = args.layout("input")
    return Result(in_suggested_format(layout, layout.shape, args.facts))


# fmt: off
op("native_layer_norm(Tensor self, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)", alias=FRESH, layout=native_layer_norm, example="torch.native_layer_norm(x, x.shape[-1:], None, None, 1e-5)")
op("native_group_norm(Tensor self, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, float eps) -> (Tensor, Tensor, Tensor)", alias=FRESH, layout=native_group_norm, example="torch.native_group_norm(x, None, None, x.size(0), x.size(1), x[0, 0].numel(), 1, 1e-5)", varies=True, unknown="CUDA packs, a CPU follows channels_last")
_NATIVE = "(Tensor self, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps)"
_BATCH = "sizes of the statistics depend on the mode"
op(f"native_batch_norm{_NATIVE} -> (Tensor, Tensor, Tensor)", alias=FRESH, layout=native_batch_norm, example="torch.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5)", varies=True, unknown=_BATCH)
op(f"_native_batch_norm_legit{_NATIVE.replace('Tensor? running', 'Tensor running')} -> (Tensor, Tensor, Tensor)", alias=FRESH, layout=native_batch_norm, example="torch._native_batch_norm_legit(x, None, None, torch.zeros(x.size(1)), torch.ones(x.size(1)), True, 0.1, 1e-5)", varies=True, unknown=_BATCH)
op("_native_batch_norm_legit.no_stats(Tensor self, Tensor? weight, Tensor? bias, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)", alias=FRESH, layout=native_batch_norm, example="torch._native_batch_norm_legit(x, None, None, True, 0.1, 1e-5)", varies=True, unknown=_BATCH)
op("_batch_norm_with_update(Tensor self, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)", alias=FRESH, layout=batch_norm_with_update, example="torch.ops.aten._batch_norm_with_update(x, None, None, torch.zeros(x.size(1)), torch.ones(x.size(1)), 0.1, 1e-5)", varies=True, unknown=_BATCH, spellings=("torch.ops.aten._batch_norm_with_update", "torch.ops.aten._batch_norm_with_update.default"))
op("native_dropout_backward(Tensor self, Tensor mask, float scale) -> Tensor", alias=FRESH, layout=dropout_backward, example="torch.ops.aten.native_dropout_backward(x, x > 0.5, 2.0)", spellings=("torch.ops.aten.native_dropout_backward", "torch.ops.aten.native_dropout_backward.default"))
op("_softmax_backward_data(Tensor self, Tensor output, int dim, ScalarType input_dtype) -> Tensor", alias=FRESH, layout=packed_like, example="torch._softmax_backward_data(x, x, 0, torch.float32)")
op("_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", alias=FRESH, layout=packed_like, example="torch._safe_softmax(x, -1)", spellings=("torch.ops.aten._safe_softmax.default",))
op("_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? bias=None, Tensor? scale_result=None, ScalarType? out_dtype=None, bool use_fast_accum=False) -> Tensor", alias=FRESH, layout=scaled_product, example="torch._scaled_mm(x.to(torch.float8_e4m3fn), x.t().to(torch.float8_e4m3fn), torch.tensor(1.0), torch.tensor(1.0), out_dtype=torch.float32)")
op("_upsample_bilinear2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor", alias=FRESH, layout=antialiased, example="torch._C._nn._upsample_bilinear2d_aa(x, (3, 5), False)", spellings=("torch._C._nn._upsample_bilinear2d_aa", "torch.ops.aten._upsample_bilinear2d_aa"))
op("max_pool2d_with_indices_backward(Tensor self, Tensor input, int[2] kernel_size, int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor", alias=FRESH, layout=pooled_backward, example="torch.ops.aten.max_pool2d_with_indices_backward(x, x, 1, 1, 0, 1, False, torch.zeros_like(x).long())", spellings=("torch.ops.aten.max_pool2d_with_indices_backward", "torch.ops.aten.max_pool2d_with_indices_backward.default"))
# fmt: on
