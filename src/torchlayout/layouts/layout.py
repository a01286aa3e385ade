"""How a tensor lies in memory: sizes and strides, in elements.

Vocabulary: a *dimension* has a size and a stride (None where the stride is not known); a *rest* dimension stands
for a run of dimensions of unknown number that lie next to each other, the innermost one with this stride. A
*layout* is the dimensions in order. Whether it is contiguous, dense or overlapping is always computed from sizes
and strides (`properties`), never stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import is_
from typing import NamedTuple

from torchlayout.sizes import Facts, Rest, Shape, Size, product

NOT_ASKED = -1


class Dim(NamedTuple):
    """One dimension, or a rest of them."""

    size: Size
    stride: Size | None
    rest: Rest | None = None

    @property
    def extent(self) -> Size | Rest:
        return self.size if self.rest is None else self.rest


class Layout:
    """Sizes and strides of a strided tensor; `offset` is the storage offset in elements, None if unknown. Immutable."""

    __slots__ = ("_packed", "_rank", "_shape", "dims", "offset")

    def __init__(self, dims: tuple[Dim, ...], offset: Size | None = 0) -> None:
        self.dims = dims
        self.offset = offset
        # what follows is found when first asked for
        self._packed: bool | None = None
        self._rank: int | None = NOT_ASKED
        self._shape: Shape | None = None

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Layout) and self.dims == other.dims and self.offset == other.offset)

    def __hash__(self) -> int:
        return hash((self.dims, self.offset))

    @property
    def rank(self) -> int | None:
        """The number of dimensions; None while a rest is among them."""
        if self._rank == NOT_ASKED:
            rests = [dim for dim in self.dims if dim[2] is not None]
            self._rank = None if rests else len(self.dims)
        return self._rank

    @property
    def shape(self) -> Shape:
        if self._shape is None:
            self._shape = tuple([size if rest is None else rest for size, _, rest in self.dims])
        return self._shape

    @property
    def packed(self) -> bool:
        """Whether it is written as `contiguous` writes it: contiguous whatever the unknown sizes are."""
        if self._packed is None:
            self._packed = self._is_packed()
        return self._packed

    def _is_packed(self) -> bool:
        expected: Size = 1
        for size, stride, _ in reversed(self.dims):
            if stride != expected:
                return False
            expected = expected * (1 if size == 0 else size)
        return True

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The size of each dimension, for a rest its number of elements."""
        return tuple([dim[0] for dim in self.dims])

    @property
    def strides(self) -> tuple[Size | None, ...]:
        return tuple([dim[1] for dim in self.dims])

    @property
    def numel(self) -> Size:
        return product(dim.size for dim in self.dims)

    def replace(self, dims: Iterable[Dim]) -> Layout:
        return Layout(tuple(dims), self.offset)

    def __repr__(self) -> str:
        return f"Layout(shape={list(self.shape)}, stride={list(self.strides)})"


def strided(sizes: Sequence[Size], strides: Sequence[Size | None], offset: Size | None = 0) -> Layout:
    return Layout(tuple(Dim(size, stride) for size, stride in zip(sizes, strides, strict=True)), offset)


def contiguous(shape: Sequence[Size | Rest], offset: Size | None = 0) -> Layout:
    """The row-major layout of a shape: torch's `make_contiguous_strides_for`."""
    dims: list[Dim] = []
    stride: Size = 1
    for extent in reversed(shape):
        rest = extent if isinstance(extent, Rest) else None
        size = extent.numel if isinstance(extent, Rest) else extent
        dims.append(Dim(size, stride, rest))
        stride = stride * (1 if size == 0 else size)
    dims.reverse()
    layout = Layout(tuple(dims), offset)
    layout._packed = True
    return layout


def unknown_strides(shape: Sequence[Size | Rest]) -> Layout:
    """A layout of which only the shape is known."""
    return Layout(
        tuple(Dim(extent.numel, None, extent) if isinstance(extent, Rest) else Dim(extent, None) for extent in shape),
        None,
    )


def permuted_contiguous(sizes: Sequence[Size], order: Sequence[int]) -> Layout:
    """Dense, with the dimensions lying in memory in the given order, outermost first."""
    strides: dict[int, Size] = {}
    stride: Size = 1
    for dim in reversed(order):
        strides[dim] = stride
        stride = stride * (1 if sizes[dim] == 0 else sizes[dim])
    return strided(sizes, [strides[dim] for dim in range(len(sizes))])


CHANNELS_LAST_ORDER = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}
"""For each rank that has a channels_last format: its dimensions, outermost in memory first."""


def channels_last(sizes: Sequence[Size]) -> Layout:
    """channels_last for four sizes, channels_last_3d for five."""
    return permuted_contiguous(sizes, CHANNELS_LAST_ORDER[len(sizes)])


def is_concrete(layout: Layout) -> bool:
    """Whether all sizes and strides are plain numbers."""
    return all(isinstance(dim.size, int) and isinstance(dim.stride, int) and dim.rest is None for dim in layout.dims)


def settle(layout: Layout, facts: Facts) -> Layout:
    """The layout with everything known put in: bound rests spelled out, sizes in normal form."""
    known = facts.known
    if not known.rewrites and not known.ranks:
        return layout
    memo = known.memos[facts.assumed]
    found = memo.get(id(layout))
    if found is None:
        settled = _settled(layout, facts)
        memo[id(layout)] = (layout, settled)  # holding the layout keeps its id its own
        memo[id(settled)] = (settled, settled)
        return settled
    settled_before: Layout = found[1]
    return settled_before


def _settled(layout: Layout, facts: Facts) -> Layout:
    if layout.packed:  # the strides follow from the sizes
        shape = layout.shape
        found = settle_shape(shape, facts)
        offset = None if layout.offset is None else facts.normal(layout.offset)
        same = offset is layout.offset and len(shape) == len(found) and all(map(is_, shape, found))
        return layout if same else contiguous(found, offset)
    dims: list[Dim] = []
    changed = False
    ranks = facts.known.ranks
    for dim in layout.dims:
        if dim.rest is not None and dim.rest in ranks:
            dims.extend(_settled(Layout(_spread(dim, ranks[dim.rest])), facts).dims)
            changed = True
        else:
            size, stride = facts.normal(dim.size), dim.stride if dim.stride is None else facts.normal(dim.stride)
            if size is dim.size and stride is dim.stride:
                dims.append(dim)
            else:
                dims.append(Dim(size, stride, dim.rest))
                changed = True
    offset = None if layout.offset is None else facts.normal(layout.offset)
    return Layout(tuple(dims), offset) if changed or offset is not layout.offset else layout


def settle_shape(shape: Shape, facts: Facts) -> Shape:
    """A shape with bound rests spelled out and sizes in normal form."""
    result: list[Size | Rest] = []
    for extent in shape:
        if not isinstance(extent, Rest):
            result.append(facts.normal(extent))
        elif extent in facts.known.ranks:
            result.extend(settle_shape(facts.known.ranks[extent], facts))
        else:
            result.append(extent)
    return tuple(result)


def _spread(dim: Dim, shape: Shape) -> tuple[Dim, ...]:
    """The dimensions that a bound rest consists of."""
    base = contiguous(shape)
    if dim.stride is None:
        return tuple(Dim(d.size, None, d.rest) for d in base.dims)
    # strides of dimensions with size 0 never matter, so the product stays right
    return tuple(Dim(d.size, (d.stride or 0) * dim.stride, d.rest) for d in base.dims)
