"""Pooling of all kinds: fixed windows, adaptive sizes, and pooling undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchlayout.layouts import Layout, channels_last, contiguous, is_channels_last, same_layout, unknown_strides
from torchlayout.ops.formats import (
    batched,
    fresh_spatial,
    image,
    in_suggested_format,
    row_in_suggested_format,
    spread,
    spread_or,
    unbatched,
)
from torchlayout.ops.table import Args, Transfer, op
from torchlayout.ops.transfers import INT64, full_precision, of_backends
from torchlayout.ops.values import Alias, Outcome, Result, Unknowable, is_unknown
from torchlayout.sizes import NO, YES, Size

FRESH = Alias.FRESH
FORMAT_UNKNOWN = "strides of dimensions of size 1 may decide whether the input counts as channels_last"
Placed = Callable[[Args, Layout, tuple[Size, ...]], Layout]
"""How a result of these sizes lies in memory, given the input with its batch dimension."""


def following(args: Args, layout: Layout, sizes: tuple[Size, ...]) -> Layout:
    return in_suggested_format(layout, sizes, args.facts)


def following_as_image(args: Args, layout: Layout, sizes: tuple[Size, ...]) -> Layout:
    """Rows are pooled as images one pixel high, so that some permuted strides count as channels_last."""
    return row_in_suggested_format(layout, sizes, args.facts)


def contiguous_or_unknown(args: Args, layout: Layout, sizes: tuple[Size, ...]) -> Layout:
    """As images where gradients are needed, else packed."""
    followed = following_as_image(args, layout, sizes)
    if same_layout(followed, contiguous(sizes), args.facts) is YES:
        return followed
    return unknown_strides(sizes)


def packed(args: Args, layout: Layout, sizes: tuple[Size, ...]) -> Layout:
    return contiguous(sizes)


def following_on_cpu(args: Args, layout: Layout, sizes: tuple[Size, ...]) -> Layout:
    return of_backends(args.operand(), following(args, layout, sizes), contiguous(sizes), args.facts)


def following_volume(args: Args, layout: Layout, sizes: tuple[Size, ...]) -> Layout:
    """As `following`, but on a CPU `max_pool3d` asks an input without a batch dimension whether it is channels_last
    whatever the stride of the dimension put before it (ATen/native/cpu/MaxPoolKernel.cpp)."""
    if args.operand().layout.rank != 4:
        return following(args, layout, sizes)
    answer = is_channels_last(layout, args.facts)
    found = channels_last(sizes) if answer is YES else contiguous(sizes) if answer is NO else unknown_strides(sizes)
    return of_backends(args.operand(), found, following(args, layout, sizes), args.facts)


# ---------------------------------------------------------------- sizes
def pooled_size(args: Args, size: Size, kernel: Size, stride: Size, padding: Size, dilation: Size) -> Size:
    """`pooling_output_shape` of ATen/native/Pool.h; with `ceil_mode` no window may start in the padding behind."""
    ceil_mode = args.values.get("ceil_mode", False)
    span = size + 2 * padding - dilation * (kernel - 1) - 1
    if ceil_mode is False:
        return args.facts.floor_divide(span, stride) + 1
    if is_unknown(ceil_mode):
        return args.facts.symbols.fresh(("pooled", size))
    count = args.facts.floor_divide(span + stride - 1, stride) + 1
    if isinstance(count, int) and isinstance(size, int) and isinstance(stride, int) and isinstance(padding, int):
        return count - 1 if (count - 1) * stride >= size + padding else count
    return args.facts.symbols.fresh(("pooled", size))


def window_sizes(args: Args, layout: Layout, spatial: int) -> tuple[Size, ...]:
    try:
        kernel = spread(args, "kernel_size", spatial)
        stride = spread_or(args, "stride", spatial, kernel)
        padding = spread(args, "padding", spatial)
        dilation = spread(args, "dilation", spatial) if "dilation" in args.values else (1,) * spatial
    except Unknowable:
        return fresh_spatial(args, spatial)
    sizes = layout.sizes[-spatial:]
    return tuple(pooled_size(args, sizes[i], kernel[i], stride[i], padding[i], dilation[i]) for i in range(spatial))


def adaptive_sizes(args: Args, layout: Layout, spatial: int) -> tuple[Size, ...]:
    """The sizes asked for; None among them keeps the input's."""
    value: Any = args["output_size"]
    items = tuple(value) if isinstance(value, (tuple, list)) else (value,) * spatial
    items = items * spatial if len(items) == 1 else items
    if len(items) != spatial:
        raise Unknowable("the sizes asked for are too many or too few")
    fresh = fresh_spatial(args, spatial)
    sizes = layout.sizes[-spatial:]
    return tuple(
        fresh[i] if is_unknown(item) else sizes[i] if item is None else args.facts.normal(item)
        for i, item in enumerate(items)
    )


def fractional_sizes(args: Args, layout: Layout, spatial: int) -> tuple[Size, ...]:
    """The sizes asked for, or `int(size * ratio)`."""
    ratio = args["output_ratio"]
    if args["output_size"] is not None or is_unknown(ratio):
        return adaptive_sizes(args, layout, spatial)
    ratios = ratio if isinstance(ratio, (tuple, list)) else (ratio,) * spatial
    fresh, sizes = fresh_spatial(args, spatial), layout.sizes[-spatial:]
    known = len(ratios) == spatial and all(isinstance(one, float) for one in ratios)
    if not known:
        return fresh
    return tuple(int(n * r) if isinstance(n, int) else f for n, r, f in zip(sizes, ratios, fresh, strict=True))


# ---------------------------------------------------------------- transfer functions
def _pooling(
    spatial: int,
    sizes_of: Callable[[Args, Layout, int], tuple[Size, ...]],
    placed: Placed,
    words: str,
    indices: bool = False,
) -> Transfer:
    def transfer(args: Args) -> Outcome:
        layout = image(args, spatial)
        whole = batched(layout, spatial)
        sizes = (*whole.sizes[:2], *sizes_of(args, layout, spatial))
        place = packed if spatial == 1 and layout is not whole else placed
        result = Result(unbatched(place(args, whole, sizes), layout), full_precision(args.operand().dtype))
        wanted = args.values.get("return_indices", indices)
        if wanted is False:
            return result
        if wanted is not True:
            raise Unknowable("one tensor or two")
        return result, Result(result.layout, INT64)

    transfer.__doc__ = words
    return transfer


FOLLOWS = "channels_last where the input is, else contiguous"
PACKS = "packed (contiguous whatever came in)"


def unpooled(args: Args) -> Outcome:
    """on a CPU channels_last where the input is, else contiguous; on CUDA contiguous"""
    spatial = int(args.op.name[-2])
    layout = image(args, spatial)
    kernel = spread(args, "kernel_size", spatial)
    stride, padding = spread_or(args, "stride", spatial, kernel), spread(args, "padding", spatial)
    wanted = args["output_size"]
    if wanted is None:
        sizes = tuple((layout.sizes[i - spatial] - 1) * stride[i] - 2 * padding[i] + kernel[i] for i in range(spatial))
    else:
        sizes = tuple(args.facts.normal(size) for size in args.known("output_size"))[-spatial:]
    whole = batched(layout, spatial)
    shape = (*whole.sizes[:2], *sizes)
    placed = following_on_cpu if spatial == 2 else packed
    return Result(unbatched(placed(args, whole, shape), layout), args.operand().dtype)


# fmt: off
def _windows(n: int, more: str) -> str:
    return f"(Tensor self, int[{n}] kernel_size, int[{n}]? stride=None, int[{n}] padding=0{more}) -> Tensor"


MAX = ", int[{n}] dilation=1, bool ceil_mode=False, bool return_indices=False"
AVG = ", bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None"
for _n, _placed, _with in ((1, contiguous_or_unknown, following_as_image), (2, following, following), (3, following_volume, following_volume)):
    _transfer = _pooling(_n, window_sizes, _placed, FOLLOWS)
    op(f"max_pool{_n}d" + _windows(_n, MAX.format(n=_n)), alias=FRESH, layout=_transfer, example=f"F.max_pool{_n}d(x, 2)", unknown=FORMAT_UNKNOWN)
    op(f"max_pool{_n}d_with_indices" + _windows(_n, MAX.format(n=_n).replace("indices=False", "indices=True")), alias=FRESH, layout=_pooling(_n, window_sizes, _with, FOLLOWS), example=f"F.max_pool{_n}d_with_indices(x, 2)", unknown=FORMAT_UNKNOWN)
for _n, _placed in ((1, following_as_image), (2, following), (3, packed)):
    op(f"avg_pool{_n}d" + _windows(_n, AVG), alias=FRESH, layout=_pooling(_n, window_sizes, _placed, FOLLOWS if _n < 3 else PACKS), example=f"F.avg_pool{_n}d(x, 2)", unknown=FORMAT_UNKNOWN)
for _n, _placed in ((1, following_as_image), (2, following), (3, packed)):
    _words = FOLLOWS if _n < 3 else PACKS
    op(f"adaptive_avg_pool{_n}d(Tensor self, Any output_size) -> Tensor", alias=FRESH, layout=_pooling(_n, adaptive_sizes, _placed, _words), example=f"F.adaptive_avg_pool{_n}d(x, 2)", unknown=FORMAT_UNKNOWN)
    op(f"adaptive_max_pool{_n}d(Tensor self, Any output_size, bool return_indices=False) -> Tensor", alias=FRESH, layout=_pooling(_n, adaptive_sizes, _placed, _words), example=f"F.adaptive_max_pool{_n}d(x, 2)", unknown=FORMAT_UNKNOWN)
    op(f"adaptive_max_pool{_n}d_with_indices(Tensor self, Any output_size, bool return_indices=True) -> Tensor", alias=FRESH, layout=_pooling(_n, adaptive_sizes, _placed, _words), example=f"F.adaptive_max_pool{_n}d_with_indices(x, 2)", unknown=FORMAT_UNKNOWN)
    op(f"max_unpool{_n}d(Tensor self, Tensor indices, int[{_n}] kernel_size, int[{_n}]? stride=None, int[{_n}] padding=0, int[]? output_size=None) -> Tensor", alias=FRESH, layout=unpooled, example=f"F.max_unpool{_n}d(x, torch.arange(x[0, 0].numel()).view(x.shape[2:]).expand(x.shape), 2)", varies=True, unknown="CUDA packs, a CPU follows channels_last")
for _n in (1, 2, 3):
    op(f"lp_pool{_n}d(Tensor self, float norm_type, int[{_n}] kernel_size, int[{_n}]? stride=None, bool ceil_mode=False, int padding=0) -> Tensor", alias=FRESH, layout=_pooling(_n, window_sizes, (following_as_image, following, packed)[_n - 1], FOLLOWS if _n < 3 else PACKS), example=f"F.lp_pool{_n}d(x, 2.0, 2)", unknown=FORMAT_UNKNOWN)
for _n in (2, 3):
    for _suffix, _indices in (("", False), ("_with_indices", True)):
        op(f"fractional_max_pool{_n}d{_suffix}(Tensor self, int[{_n}] kernel_size, Any output_size=None, Any output_ratio=None, bool return_indices={_indices}, Tensor? _random_samples=None) -> Tensor", alias=FRESH, layout=_pooling(_n, fractional_sizes, packed, PACKS), example=f"F.fractional_max_pool{_n}d{_suffix}(x, 2, output_size={1 if _n == 3 else 2})", unknown="with a ratio the sizes are not followed")
# fmt: on
