"""What operators on images share: batches or none, sliding windows, and following channels_last.

torch asks a tensor for the memory format that its strides *suggest*. Strides of dimensions of size 1 take part in
that question, though nothing else depends on them. The table gets them right where all sizes are known numbers; where
some are not, and may be 1, the answer is not known.
"""

from __future__ import annotations

from typing import Any

from torchlayout.layouts import (
    CHANNELS_LAST_ORDER,
    Dim,
    Layout,
    channels_last,
    contiguous,
    is_contiguous,
    size_of,
    suggests_channels_last,
    the_rest,
    unknown_strides,
)
from torchlayout.ops.table import Args
from torchlayout.ops.values import Operand, Unknowable, is_unknown
from torchlayout.sizes import MAYBE, NO, YES, Extent, Facts, Rest, Shape, Size


# ---------------------------------------------------------------- the suggested memory format
def in_suggested_format(layout: Layout, shape: Shape, facts: Facts, exact: int | None = None) -> Layout:
    """A packed result of this shape in the format that an input suggests: channels_last, else contiguous.

    Strides are not known where the format is not.
    """
    suggested = suggests_channels_last(layout, facts, exact)
    if suggested is NO:
        return contiguous(shape)
    sizes = [extent for extent in shape if not isinstance(extent, Rest)]
    if suggested is YES and len(sizes) == len(shape) and len(sizes) in CHANNELS_LAST_ORDER:
        return channels_last(sizes)
    if facts.assumed and suggested is MAYBE and is_contiguous(layout, facts) is YES:
        return contiguous(shape)
    return unknown_strides(shape)


# ---------------------------------------------------------------- ranks
def image(args: Args, spatial: int, name: str = "self") -> Layout:
    """A tensor with that many spatial dimensions behind its channels, with a batch dimension or without one.

    In the assumed world one of unknown rank has a batch dimension. Nothing is learnt: both are allowed.
    """
    layout = args.layout(name)
    rest = the_rest(layout)
    if rest is None:
        if layout.rank not in (spatial + 1, spatial + 2):
            raise Unknowable(f"{name} has rank {layout.rank}")
        return layout
    if not args.facts.assumed:
        raise Unknowable(f"the rank of {name} is not known")
    missing = spatial + 3 - len(layout.dims)
    if missing < 0:
        raise Unknowable(f"{name} has too many dimensions")
    place = next(i for i, dim in enumerate(layout.dims) if dim.rest is not None)
    shape = layout.shape
    extents: list[Extent] = [size_of(rest, i, args.facts) for i in range(missing)]
    whole = (*shape[:place], *extents, *shape[place + 1 :])
    return contiguous(whole) if is_contiguous(layout, args.facts) is YES else unknown_strides(whole)


def batched(layout: Layout, spatial: int) -> Layout:
    """With a batch dimension put before it where there is none, as `unsqueeze(0)` does."""
    if len(layout.dims) == spatial + 2:
        return layout
    first = layout.dims[0]
    stride = None if first.stride is None else first.stride * first.size
    return Layout((Dim(1, stride), *layout.dims))


def unbatched(layout: Layout, like: Layout) -> Layout:
    """Without the batch dimension where the input had none, as `squeeze(0)` does."""
    return layout if len(layout.dims) == len(like.dims) else Layout(layout.dims[1:])


def as_images(layout: Layout, spatial: int) -> Layout:
    """A layout of one spatial dimension with another one, of size 1, put before it."""
    if spatial != 1:
        return layout
    last = layout.dims[-1]
    stride = None if last.stride is None else last.stride * last.size
    return Layout((*layout.dims[:-1], Dim(1, stride), last))


def row_in_suggested_format(layout: Layout, sizes: tuple[Size, ...], facts: Facts) -> Layout:
    """The result of an operator that handles (N, C, L) as images one pixel high."""
    wide = in_suggested_format(as_images(layout, 1), (*sizes[:-1], 1, sizes[-1]), facts, exact=2)
    return Layout((*wide.dims[:2], wide.dims[3]))


# ---------------------------------------------------------------- window arguments
def spread(args: Args, name: str, count: int) -> tuple[Size, ...]:
    """An argument given as one int or as `count` of them."""
    value = args.known(name)
    items = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if len(items) == 1:
        items = items * count
    if len(items) != count or any(
        is_unknown(item) or isinstance(item, (str, Operand)) or item is None for item in items
    ):
        raise Unknowable(f"{name} is not known")
    return tuple(args.facts.normal(item) for item in items)


def spread_or(args: Args, name: str, count: int, fallback: tuple[Size, ...]) -> tuple[Size, ...]:
    """The same, with what stands for an argument that was not given."""
    value: Any = args[name]
    return fallback if value is None or (isinstance(value, (tuple, list)) and not value) else spread(args, name, count)


def fresh_spatial(args: Args, count: int) -> tuple[Size, ...]:
    """Spatial sizes of which nothing is known."""
    return tuple(args.facts.symbols.fresh(("spatial", place)) for place in range(count))
