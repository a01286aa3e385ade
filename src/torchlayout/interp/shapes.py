"""Shapes as values: the sizes of a tensor, taken apart as code does (`B, T, C = x.shape`, `x.shape[:-1]`)."""

from __future__ import annotations

from collections.abc import Hashable

from torchlayout.interp.values import Sequence, Tensor
from torchlayout.layouts import settle_shape, unknown_strides, with_leading, with_rank, with_trailing
from torchlayout.layouts.ranks import last_size
from torchlayout.sizes import Facts, Rest, Shape, Size


def shape_of(tensor: Tensor, facts: Facts, key: Hashable, proving: bool) -> Shape | None:
    """The shape on which all alternatives agree; where only ranks agree, sizes that differ become unknowns.

    Sizes are those of the assumed world. Where it is also to be told what is proven (`proving`), one that not every
    proven alternative has counts in the assumed world only.
    """
    shape = _in_common(tensor, facts, key)
    if shape is None or not proving or tensor.proven is tensor.assumed:
        return shape
    proven = [settle_shape(operand.layout.shape, facts) for operand in tensor.proven]
    if all(other == shape for other in proven):
        return shape
    return tuple(
        extent
        if isinstance(extent, Rest) or all(_has(other, extent, place, shape) for other in proven)
        else facts.symbols.stand_in((key, "size", place), extent)
        for place, extent in enumerate(shape)
    )


def _has(other: Shape, extent: Size, place: int, shape: Shape) -> bool:
    """Whether another shape has this size at the place where `shape` has it, counted from either end."""
    for step in (1, -1):
        before = place if step == 1 else len(shape) - 1 - place
        part = other[::step][: before + 1]
        exact = not any(isinstance(item, Rest) for item in (*part, *shape[::step][:before]))
        if exact and len(part) == before + 1 and part[-1] == extent:
            return True
    return False


def _in_common(tensor: Tensor, facts: Facts, key: Hashable) -> Shape | None:
    shapes = [settle_shape(operand.layout.shape, facts) for operand in tensor.assumed]
    first = shapes[0]
    if all(shape == first for shape in shapes[1:]):
        return first
    if any(isinstance(extent, Rest) for shape in shapes for extent in shape) or len({len(s) for s in shapes}) > 1:
        return None
    return tuple(
        sizes[0] if all(size == sizes[0] for size in sizes) else facts.symbols.atom((key, "either", place))
        for place, sizes in enumerate(zip(*shapes, strict=True))
    )


def unpack(shape: Shape, count: int, facts: Facts, names: tuple[str | None, ...]) -> Shape | None:
    """The shape as exactly `count` sizes, a rank that is not known being learnt; None where it cannot be."""
    layout = with_rank(unknown_strides(shape), count, facts, names)
    return None if layout is None else layout.shape


def item(shape: Shape, index: int, facts: Facts) -> Shape | None:
    """One size, as a shape of one; a rest is split to reach it. None where that is not possible.

    The last size of a tensor of which so many dimensions are told from the front that the ends may meet is an unknown.
    """
    found = reaching(shape, index, facts)
    if found is None and index == -1:
        last = last_size(settle_shape(shape, facts), facts)
        return None if last is None else (last,)
    return None if found is None else (found[index],)


def reaching(shape: Shape, index: int, facts: Facts) -> Shape | None:
    """The shape with a size of its own at `index`, a rest being split to reach it; None where that is not possible."""
    layout = unknown_strides(settle_shape(shape, facts))
    found = with_leading(layout, index + 1, facts) if index >= 0 else with_trailing(layout, -index, facts)
    if found is None or not -len(found.shape) <= index < len(found.shape) or isinstance(found.shape[index], Rest):
        return None
    return found.shape


def part(shape: Shape, lower: int | None, upper: int | None, facts: Facts) -> Shape | None:
    """`shape[lower:upper]`; None where it cannot be told."""
    shape = settle_shape(shape, facts)
    if not any(isinstance(extent, Rest) for extent in shape):
        return shape[lower:upper]
    layout = unknown_strides(shape)
    bounds = [bound for bound in (lower, upper) if bound is not None]
    for bound in bounds:
        reached = with_leading(layout, bound, facts) if bound >= 0 else with_trailing(layout, -bound, facts)
        if reached is None:
            return None
        layout = reached
    shape = settle_shape(layout.shape, facts)
    rest = next((i for i, extent in enumerate(shape) if isinstance(extent, Rest)), None)
    if rest is None:
        return shape[lower:upper]
    start = 0 if lower is None else lower if lower >= 0 else len(shape) + lower
    stop = len(shape) if upper is None else len(shape) + upper if upper < 0 else upper
    if (lower is not None and lower < 0 and start <= rest) or (upper is not None and upper >= 0 and stop > rest):
        return None
    if (lower is not None and lower > rest) or start > stop:
        return None
    return shape[start:stop]


def as_sequence(shape: Shape) -> Sequence:
    return Sequence("size", tuple(shape))
