"""Padding, interpolation, and moving pixels between space and channels."""

from __future__ import annotations

from typing import Any

from torchlayout.layouts import (
    Dim,
    Layout,
    contiguous,
    has_no_elements,
    is_contiguous,
    preserved,
    same_layout,
    unknown_strides,
)
from torchlayout.ops.formats import in_suggested_format, row_in_suggested_format
from torchlayout.ops.table import Args, op
from torchlayout.ops.transfers import full_precision, of_backends, packed_somehow
from torchlayout.ops.values import Alias, Outcome, Result, Unknowable, is_unknown
from torchlayout.sizes import NO, YES, Extent, Poly, Size, Truth

FRESH = Alias.FRESH
FORMAT_UNKNOWN = "strides of dimensions of size 1 may decide whether the input counts as channels_last"


# ---------------------------------------------------------------- padding
def padded(args: Args) -> Outcome:
    """channels_last where the input is, else contiguous; nothing to pad: as `clone`"""
    layout, amounts = args.layout(), args.known("pad")
    if not isinstance(amounts, (tuple, list)) or len(amounts) % 2:
        raise Unknowable("the padding is not known")
    pairs = [(amounts[i], amounts[i + 1]) for i in range(0, len(amounts), 2)]
    layout = args.reaching(layout, -len(pairs)) if pairs else layout
    dims = list(layout.dims)
    for place, pair in enumerate(pairs):
        dim = dims[-1 - place]
        size: Size = dim.size
        for amount in pair:
            size = (
                args.facts.symbols.fresh(("padded", place)) if is_unknown(amount) else size + args.facts.normal(amount)
            )
        dims[-1 - place] = Dim(size, dim.stride)
    shape = tuple(dim.extent for dim in dims)
    mode = args.values.get("mode", "constant")
    if is_unknown(mode):
        return Result(unknown_strides(shape), args.operand().dtype)
    placed = _placed(args, layout, Layout(tuple(dims)), shape, str(mode), pairs)
    return Result(placed, args.operand().dtype)


def _placed(args: Args, layout: Layout, cut: Layout, shape: tuple[Extent, ...], mode: str, pairs: list[Any]) -> Layout:
    """How the padded tensor lies. `cut` is a view of it where nothing is added."""
    facts = args.facts
    follows = in_suggested_format(layout, shape, facts)
    if mode == "circular":
        return contiguous(shape)
    if mode in ("reflect", "replicate"):
        return of_backends(args.operand(), follows, contiguous(shape), facts)
    cloned = preserved(cut, facts)
    if same_layout(follows, cloned, facts) is YES:
        return follows
    amounts = [amount for pair in pairs for amount in pair]
    if any(is_unknown(amount) for amount in amounts):
        return unknown_strides(shape)
    adds = [facts.less(0, amount) for amount in amounts]
    if YES in adds:
        return follows
    return cloned if all(answer is NO for answer in adds) else unknown_strides(shape)


# ---------------------------------------------------------------- interpolation
def interpolated(args: Args) -> Outcome:
    """channels_last where the input is, else contiguous"""
    layout = args.layout()
    if layout.rank is None:
        return _interpolated_of_unknown_rank(args, layout)
    if layout.rank not in (3, 4, 5):
        raise Unknowable("interpolation takes three to five dimensions")
    sizes = interpolated_sizes(args, layout.sizes[2:])
    shape = (*layout.sizes[:2], *sizes)
    if args.values.get("mode", "") == "area" and layout.rank == 3:
        return Result(row_in_suggested_format(layout, shape, args.facts), full_precision(args.operand().dtype))
    if args.values.get("mode", "") == "area" and layout.rank == 5:
        return Result(contiguous(shape), full_precision(args.operand().dtype))
    return Result(in_suggested_format(layout, shape, args.facts), full_precision(args.operand().dtype))


def _interpolated_of_unknown_rank(args: Args, layout: Layout) -> Outcome:
    if args.facts.assumed and is_contiguous(layout, args.facts) is YES:
        return packed_somehow(args)
    raise Unknowable("the rank is not known")


def interpolated_sizes(args: Args, sizes: tuple[Size, ...]) -> tuple[Size, ...]:
    """The sizes asked for, or the input's times whole scale factors; unknown ones for other factors."""
    wanted, factor = args["size"], args["scale_factor"]
    fresh = tuple(args.facts.symbols.fresh(("interpolated", place)) for place in range(len(sizes)))
    if is_unknown(wanted) or is_unknown(factor):
        return fresh
    if wanted is not None:
        items = wanted if isinstance(wanted, (tuple, list)) else (wanted,) * len(sizes)
        if len(items) != len(sizes):
            raise Unknowable("as many sizes as spatial dimensions are needed")
        known = [isinstance(item, (int, Poly)) for item in items]  # a tensor may be given for a size
        return tuple(args.facts.normal(item) if known[i] else fresh[i] for i, item in enumerate(items))
    factors = factor if isinstance(factor, (tuple, list)) else (factor,) * len(sizes)
    if len(factors) != len(sizes):
        raise Unknowable("as many factors as spatial dimensions are needed")
    return tuple(scaled(size, one, fresh[i]) for i, (size, one) in enumerate(zip(sizes, factors, strict=True)))


def scaled(size: Size, factor: Any, otherwise: Size) -> Size:
    """`floor(size * factor)`, as torch computes it."""
    if isinstance(factor, (int, float)) and float(factor).is_integer():
        return size * int(factor)
    if isinstance(size, int) and isinstance(factor, float):
        return int(size * factor)
    return otherwise


def sampled(args: Args) -> Outcome:
    """(N, channels, the grid's sizes), packed"""
    layout, grid = args.ranked("self"), args.ranked("grid")
    return Result(contiguous((*layout.sizes[:2], *grid.sizes[1:-1])), args.operand().dtype)


def affine_grid(args: Args) -> Outcome:
    """(N, the spatial sizes, 2 or 3), packed"""
    batch, _, *space = args.shape("size")
    return Result(contiguous((batch, *space, len(space))), args.operand("self").dtype)


# ---------------------------------------------------------------- pixels and channels
def shuffled(args: Args) -> Outcome:
    """channels become space; on a CPU channels_last where the input is, else contiguous; on CUDA contiguous"""
    layout, factor = args.reaching(args.layout(), -3), args.size("upscale_factor")
    channels, height, width = layout.dims[-3:]
    sizes = (args.facts.quotient(channels.size, factor * factor), height.size * factor, width.size * factor)
    return _rearranged(args, layout, (*layout.shape[:-3], *sizes))


def unshuffled(args: Args) -> Outcome:
    """space becomes channels; on a CPU channels_last where the input is, else contiguous; on CUDA contiguous"""
    if has_no_elements(args.layout(), args.facts) is YES:
        return _nothing(args, NO)  # cloned, with the sizes that it had
    layout, factor = args.reaching(args.layout(), -3), args.size("downscale_factor")
    channels, height, width = layout.dims[-3:]
    space = (args.facts.quotient(height.size, factor), args.facts.quotient(width.size, factor))
    return _rearranged(args, layout, (*layout.shape[:-3], channels.size * factor * factor, *space))


def channels_shuffled(args: Args) -> Outcome:
    """the same sizes; on a CPU channels_last where the input is, else contiguous; on CUDA contiguous"""
    layout = args.layout()
    if has_no_elements(layout, args.facts) is YES:
        return _nothing(args, YES)
    return _rearranged(args, layout, layout.shape)


def _nothing(args: Args, shares: Truth) -> Result:
    """What a CPU gives for a tensor without elements."""
    operand = args.operand()
    if operand.device != "cpu":
        raise Unknowable("backends differ where there are no elements")
    return Result(args.layout(), operand.dtype, shares)


def _rearranged(args: Args, layout: Layout, shape: tuple[Extent, ...]) -> Result:
    on_cpu = in_suggested_format(layout, shape, args.facts)
    return Result(of_backends(args.operand(), on_cpu, contiguous(shape), args.facts), args.operand().dtype)


# fmt: off
CPU_FOLLOWS = "a CPU follows channels_last, CUDA packs"
op("pad(Tensor self, SymInt[] pad, str mode='constant', float? value=None) -> Tensor", alias=FRESH, layout=padded, example="F.pad(x, (1, 2))", varies=True, unknown="for reflect and replicate, " + CPU_FOLLOWS)
op("constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor", alias=FRESH, layout=padded, example="torch.constant_pad_nd(x, (1, 2))", unknown=FORMAT_UNKNOWN)
op("interpolate(Tensor self, Any size=None, Any scale_factor=None, str mode='nearest', bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor", alias=FRESH, layout=interpolated, example="F.interpolate(x, scale_factor=2)", unknown="factors that are no whole numbers")
op("upsample(Tensor self, Any size=None, Any scale_factor=None, str mode='nearest', bool? align_corners=None) -> Tensor", alias=FRESH, layout=interpolated, example="F.upsample(x, scale_factor=2)", unknown="factors that are no whole numbers")
for _name in ("upsample_nearest", "upsample_bilinear"):
    op(f"{_name}(Tensor self, Any size=None, Any scale_factor=None) -> Tensor", alias=FRESH, layout=interpolated, example=f"F.{_name}(x, scale_factor=2)", unknown="factors that are no whole numbers")
op("grid_sample(Tensor self, Tensor grid, str mode='bilinear', str padding_mode='zeros', bool? align_corners=None) -> Tensor", alias=FRESH, layout=sampled, example="F.grid_sample(x, torch.zeros(x.size(0), 5, 6, 2))")
for _name in ("grid_sampler", "grid_sampler_2d", "grid_sampler_3d"):
    _n = 3 if _name.endswith("3d") else 2
    op(f"{_name}(Tensor self, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor", alias=FRESH, layout=sampled, example=f"torch.{_name}(x, torch.zeros(x.size(0), {'5, ' * _n}{_n}), 0, 0, False)")
op("affine_grid(Tensor self, SymInt[] size, bool? align_corners=None) -> Tensor", alias=FRESH, layout=affine_grid, example="F.affine_grid(torch.ones(2, 2, 3), (2, 3, 4, 5))")
op("affine_grid_generator(Tensor self, SymInt[] size, bool align_corners) -> Tensor", alias=FRESH, layout=affine_grid, example="torch.affine_grid_generator(torch.ones(2, 2, 3), (2, 3, 4, 5), False)")
op("pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", alias=FRESH, layout=shuffled, example="F.pixel_shuffle(x.repeat_interleave(4, -3), 2)", varies=True, unknown=CPU_FOLLOWS)
op("pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor", alias=FRESH, layout=unshuffled, example="F.pixel_unshuffle(x, 2)", varies=True, unknown=CPU_FOLLOWS)
for _name in ("channel_shuffle", "native_channel_shuffle"):
    op(f"{_name}(Tensor self, SymInt groups) -> Tensor", alias=FRESH, layout=channels_shuffled, example=f"torch.{_name}(x, x.size(1))", varies=True, unknown=CPU_FOLLOWS)
# fmt: on
