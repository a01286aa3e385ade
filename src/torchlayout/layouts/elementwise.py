"""The strides that an elementwise operator gives its output.

Mirrors TensorIterator (ATen/TensorIterator.cpp: `fast_set_up`, `reorder_dimensions`) and its Python twin
`compute_elementwise_output_strides` in torch/_prims_common: dimensions are sorted by the operands' strides, the first
operand that can tell two dimensions apart decides, and the output is dense in that order.
"""

from __future__ import annotations

from collections.abc import Sequence

from torchlayout.layouts.layout import Dim, Layout, channels_last, contiguous, is_concrete, settle, unknown_strides
from torchlayout.layouts.properties import is_channels_last, is_contiguous, is_dense, same_layout
from torchlayout.sizes import MAYBE, NO, YES, Facts, Rest, Shape, Size


class ShapeMismatch(Exception):
    """The shapes do not broadcast."""


def broadcast(shapes: Sequence[Shape], facts: Facts) -> Shape | None:
    """The broadcast shape; None where it is not known. Raises `ShapeMismatch` where the shapes never fit."""
    if all(shape == shapes[0] for shape in shapes):
        return shapes[0]
    result: list[Size | Rest] = []
    for place in range(1, max(len(shape) for shape in shapes) + 1):
        extents = [shape[-place] for shape in shapes if len(shape) >= place]
        rests = [extent for extent in extents if isinstance(extent, Rest)]
        if rests:
            tails = {shape[: len(shape) - place + 1] for shape in shapes if len(shape) >= place}
            if len(tails) == 1:
                result.extend(reversed(tails.pop()))
                return tuple(reversed(result))
            return None
        size = _broadcast_sizes([e for e in extents if not isinstance(e, Rest)], facts)
        if size is None:
            return None
        result.append(size)
    return tuple(reversed(result))


def _broadcast_sizes(sizes: list[Size], facts: Facts) -> Size | None:
    chosen: Size = 1
    for size in sizes:
        if size == chosen or size == 1:
            continue
        if chosen == 1:
            chosen = size
            continue
        same = facts.equal(chosen, size)
        if same is YES:
            continue
        one, other = facts.is_one(chosen), facts.is_one(size)
        if one is NO and other is NO:
            if same is NO:
                raise ShapeMismatch(f"{chosen} and {size}")
            # both are longer than 1, so the operation works only where they are equal
            chosen = chosen if isinstance(chosen, int) or not isinstance(size, int) else size
        elif isinstance(size, int):
            chosen = size
        elif not isinstance(chosen, int):
            return None
    return chosen


def expand_to(layout: Layout, shape: Shape, facts: Facts) -> Layout | None:
    """The layout broadcast to a shape (stride 0 where it is stretched); None where that is not known."""
    layout = settle(layout, facts)
    if layout.shape == shape:
        return layout
    if any(isinstance(extent, Rest) for extent in shape) or layout.rank is None:
        return _expand_rests(layout, shape, facts)
    if len(layout.dims) > len(shape):
        return None
    dims: list[Dim] = []
    missing = len(shape) - len(layout.dims)
    for place, extent in enumerate(shape):
        assert not isinstance(extent, Rest)
        if place < missing:
            dims.append(Dim(extent, 0))
            continue
        dim = layout.dims[place - missing]
        if dim.size == extent or facts.equal(dim.size, extent) is YES:
            dims.append(Dim(extent, dim.stride))
        elif facts.is_one(dim.size) is YES:
            dims.append(Dim(extent, 0))
        elif facts.is_one(dim.size) is NO:
            dims.append(Dim(extent, dim.stride))
        else:
            dims.append(Dim(extent, None))
    return Layout(tuple(dims), layout.offset)


def _expand_rests(layout: Layout, shape: Shape, facts: Facts) -> Layout | None:
    """Broadcasting where the operand is fully known and lines up with the trailing known dimensions."""
    if layout.rank is None:
        return None
    tail: list[Dim] = []
    for place in range(1, len(layout.dims) + 1):
        if isinstance(shape[-place], Rest):
            return None
        extent = shape[-place]
        dim = layout.dims[-place]
        assert not isinstance(extent, Rest)
        if facts.equal(dim.size, extent) is YES:
            tail.append(Dim(extent, dim.stride))
        elif facts.is_one(dim.size) is YES:
            tail.append(Dim(extent, 0))
        else:
            return None
    for extent in reversed(shape[: len(shape) - len(layout.dims)]):
        tail.append(Dim(extent.numel, 0, extent) if isinstance(extent, Rest) else Dim(extent, 0))
    return Layout(tuple(reversed(tail)), layout.offset)


def output_layout(operands: Sequence[Layout], shape: Shape, facts: Facts, numbers: bool = False) -> Layout:
    """The layout of an elementwise result of this (already broadcast) shape.

    Strides are unknown where the operands' strides cannot be compared. Where all sizes and strides are known, the
    result is torch's own in dimensions of size 1 too; for that, `numbers` tells that a Python number is among the
    operands, which bars the short cuts.
    """
    operands = [settle(operand, facts) for operand in operands]
    if all(is_concrete(operand) for operand in operands):
        return _concrete(operands, shape, facts, numbers)
    if all(operand.packed for operand in operands):  # then no stride rises inwards, but for those of 0
        return contiguous(shape)
    if all(operand.shape == shape for operand in operands):
        quick = _without_sorting(operands, facts)
        if quick is not None:
            return quick
    expanded: list[Layout] = []
    for operand in operands:
        wide = expand_to(operand, shape, facts)
        if wide is None:
            break
        expanded.append(wide)
    if len(expanded) < len(operands) and not _decides(expanded, facts):
        return unknown_strides(shape)
    order = _memory_order(expanded, facts)
    return unknown_strides(shape) if order is None else _dense_in_order(shape, order)


def _concrete(operands: list[Layout], shape: Shape, facts: Facts, numbers: bool) -> Layout:
    """`TensorIteratorBase::allocate_or_resize_outputs`, and `fast_set_up` where all shapes are the same."""
    if not numbers and all(operand.shape == shape for operand in operands):
        quick = _without_sorting(operands, facts)
        if quick is not None:
            return quick
    expanded = [wide for operand in operands if (wide := expand_to(operand, shape, facts)) is not None]
    order = _memory_order(expanded, facts) if len(expanded) == len(operands) else None
    return unknown_strides(shape) if order is None else _dense_in_order(shape, order)


def _without_sorting(operands: list[Layout], facts: Facts) -> Layout | None:
    """TensorIterator's short cuts: all contiguous, all channels_last, or all dense with the same strides."""
    first = operands[0]
    if all(is_contiguous(operand, facts) is YES for operand in operands):
        return contiguous(first.shape)
    if all(is_channels_last(operand, facts) is YES for operand in operands):
        return channels_last(first.sizes)
    if is_dense(first, facts) is YES and all(same_layout(first, other, facts) is YES for other in operands[1:]):
        return Layout(first.dims)
    return None


def _decides(operands: list[Layout], facts: Facts) -> bool:
    """Whether the leading operands alone settle the order: no stride of 0, and all distinct."""
    if not operands:
        return False
    first = operands[0]
    return all(dim.stride is not None and facts.equal(dim.stride, 0) is NO for dim in first.dims)


def _memory_order(operands: list[Layout], facts: Facts) -> list[int] | None:
    """Dimensions, innermost in memory first: TensorIterator's insertion sort. None where it cannot be told.

    A dimension of size 1 takes part in the sort, with whatever stride it has. Where not all strides are plain
    numbers, but those of the first operand tell dimensions apart, that changes nothing for the others, so that such
    dimensions are left out.
    """
    if _hides_order(operands):
        return None
    rank = len(operands[0].dims)
    order = list(reversed(range(rank)))
    if all(is_concrete(operand) for operand in operands):
        return _sorted(operands, order, facts)
    singles = [place for place in order if facts.is_one(operands[0].dims[place].size) is YES]
    longer = [place for place in order if place not in singles]
    first = operands[0]
    if _tells_apart(first, longer, facts) and (len(operands) == 1 or _tells_apart(first, singles, facts)):
        found = _sorted(operands, longer, facts)
        return None if found is None else found + singles
    return _sorted(operands, order, facts)


def _hides_order(operands: list[Layout]) -> bool:
    """Whether the order of the dimensions inside a rest depends on strides that are not known."""
    for operand in operands:
        strides = [dim.stride for dim in operand.dims if dim.rest is not None]
        if None in strides:
            return True
        if strides and 0 not in strides:
            return False  # a rest of known stride lies in order, and decides
    return False


def _tells_apart(operand: Layout, places: list[int], facts: Facts) -> bool:
    """Whether no stride of these dimensions is unknown or 0."""
    strides = [operand.dims[place].stride for place in places]
    return all(stride is not None and facts.equal(stride, 0) is NO for stride in strides)


def _sorted(operands: list[Layout], order: list[int], facts: Facts) -> list[int] | None:
    order = list(order)
    for i in range(1, len(order)):
        place = i
        for other in reversed(range(i)):
            swap = _should_swap(operands, order[other], order[place], facts)
            if swap is None:
                return None
            if swap > 0:
                order[other], order[place] = order[place], order[other]
                place = other
            elif swap < 0:
                break
    return order


def _should_swap(operands: list[Layout], inner: int, outer: int, facts: Facts) -> int | None:
    """1 where `inner` has the larger stride and so belongs further out, -1 where it is right, 0 where none can tell."""
    for operand in operands:
        a, b = operand.dims[inner], operand.dims[outer]
        if a.stride == 0 or b.stride == 0:
            continue
        if a.stride is None or b.stride is None:
            return None
        if a.stride == b.stride:
            larger = facts.less(b.size, a.size)
            if larger is YES:
                return 1
            if larger is MAYBE:
                return None
            continue
        smaller = facts.less(a.stride, b.stride)
        if smaller is YES:
            return -1
        return 1 if facts.less(b.stride, a.stride) is YES else None
    return 0


def _dense_in_order(shape: Shape, order: list[int]) -> Layout:
    dims: dict[int, Dim] = {}
    stride: Size = 1
    for place in order:
        extent = shape[place]
        rest = extent if isinstance(extent, Rest) else None
        size = extent.numel if isinstance(extent, Rest) else extent
        dims[place] = Dim(size, stride, rest)
        stride = stride * (1 if size == 0 else size)
    return Layout(tuple(dims[place] for place in range(len(shape))))


def preserved(layout: Layout, facts: Facts) -> Layout:
    """`torch.preserve_format`, as in `clone` and `empty_like`: the same strides where these are dense, else
    dense in the same order."""
    layout = settle(layout, facts)
    if is_dense(layout, facts) is YES:
        return Layout(layout.dims)
    order = _memory_order([layout], facts)
    # one that may be dense comes out as it is or packed, which is then the same
    return unknown_strides(layout.shape) if order is None else _dense_in_order(layout.shape, order)
