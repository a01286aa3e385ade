"""Subscripts: `x[0]`, `x[:, 1:]`, `x[..., None]`, `x[idx]`, `x[mask]`, and writing through them.

Vocabulary: *basic* items (ints, slices, None, Ellipsis) give a view; index tensors, lists and masks are *advanced*
and give a copy, whose strides TensorIterator chooses from the indexed tensor with its indexed dimensions at stride 0
and from the index tensors (`make_info` in ATen/native/TensorAdvancedIndexing.cpp).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from torchlayout.layouts import (
    Dim,
    Layout,
    ShapeMismatch,
    broadcast,
    contiguous,
    expand_to,
    output_layout,
    settle,
    the_rest,
    unknown_strides,
    with_leading,
    with_trailing,
)
from torchlayout.layouts.views import runs
from torchlayout.ops.derived import refuse_overlap
from torchlayout.ops.slicing import cut
from torchlayout.ops.values import UNKNOWN, Operand, Outcome, Result, Unknowable, is_unknown
from torchlayout.sizes import MAYBE, NO, YES, Facts, Poly, Rest, Size
from torchlayout.structs import field, struct

MAX_OPEN_SIZES = 3
"""Sizes that may or may not be 1 for which the strides of an advanced index are worked out both ways."""


def index(operand: Operand, items: Sequence[Any], facts: Facts) -> Outcome:
    """The outcome of `operand[items]`; a subscript with one item gives it as a sequence of one.

    Items are ints (symbolic ones too), `slice` objects of such, None, Ellipsis, bools, lists, index operands, or
    UNKNOWN. Raises `Refused` for a negative step on a tensor.
    """
    try:
        basic = _basic(operand, list(items), facts)
        if not basic.advanced:
            return _view(operand, basic)
        if operand.numpy:
            return _array_copy(operand, basic, facts)
        return Result(_advanced(basic, operand, facts), operand.dtype, NO)
    except (Unknowable, ShapeMismatch):
        return UNKNOWN


def assign(operand: Operand, items: Sequence[Any], facts: Facts) -> None:
    """Check `operand[items] = value`. Raises `Refused` where torch does: elements of the written part share memory.

    Writing through index tensors and masks is silent, even on overlapping memory.
    """
    try:
        basic = _basic(operand, list(items), facts)
    except Unknowable:
        return
    if not operand.numpy and not basic.advanced:
        refuse_overlap(Operand(basic.layout), facts)


@struct(slots=True)
class Basic:
    """An operand after its basic items; `advanced` says which index stands for which of its dimensions."""

    layout: Layout
    advanced: dict[int, Layout] = field(default_factory=dict)
    adjacent: bool = True
    ints: int = 0


def _view(operand: Operand, basic: Basic) -> Outcome:
    if operand.numpy and not basic.layout.dims and basic.ints:
        return UNKNOWN  # a NumPy scalar
    return Result(basic.layout, operand.dtype, YES, operand.numpy)


def _basic(operand: Operand, items: list[Any], facts: Facts) -> Basic:
    """Go through the items from the left, as torch does."""
    items = [_settled_item(item, place, facts) for place, item in enumerate(items)]
    layout = settle(operand.layout, facts)
    found = _reaching(layout, items, facts)
    if found is None:
        items, whole = _without_last_whole(items)
        found = _reaching_apart(layout, items, whole, facts)
    if found is None:
        raise Unknowable("too many indices")
    layout = found
    dims: list[Dim] = []
    advanced: dict[int, Layout] = {}
    left = list(layout.dims)
    offset = layout.offset
    ints = 0
    for place, item in enumerate(items):
        if item is None:
            dims.append(_new_dim(left))
        elif item is Ellipsis:
            taken = len(left) - sum(_consumed(other) for other in items[place + 1 :])
            dims += left[:taken]
            left = left[taken:]
        elif isinstance(item, _Index):
            for part in item.parts:
                advanced[len(dims)] = part
                dims.append(left.pop(0) if item.consumes else Dim(1, 1))
        else:
            dim = left.pop(0)
            if dim.rest is not None:
                raise Unknowable("a dimension that is not known")
            if isinstance(item, slice):
                piece = cut(dim, item, facts, operand.numpy, place)
                dims.append(piece.dim)
                offset = _moved(offset, piece.start, dim.stride)
            else:
                offset = _moved(offset, _element(item, dim, facts), dim.stride)
                ints += 1
    return Basic(Layout((*dims, *left), offset), advanced, _are_adjacent(sorted(advanced)), ints)


@struct(slots=True)
class _Index:
    """One advanced item: the index layouts it stands for (a mask stands for one in each of its dimensions)."""

    parts: list[Layout]
    consumes: int


def _settled_item(item: Any, place: int, facts: Facts) -> Any:
    """An item in one of the forms: None, Ellipsis, a slice, an int, `_Index`."""
    if item is None or item is Ellipsis or isinstance(item, slice):
        return item
    if isinstance(item, bool):
        return _Index([contiguous((int(item),))], 0)
    if isinstance(item, (int, Poly)):
        return item
    if isinstance(item, Operand):
        return _index_operand(item, place, facts)
    if isinstance(item, (list, tuple, range)):
        return _index_list(list(item))
    raise Unknowable("an index that is not known")


def _index_operand(item: Operand, place: int, facts: Facts) -> Any:
    layout = settle(item.layout, facts)
    dtype = item.dtype
    if dtype is None:
        raise Unknowable("an index whose dtype is not known may be a mask")
    if dtype.name in ("bool", "uint8"):
        if layout.rank is None:
            raise Unknowable("a mask of unknown rank")
        count = facts.symbols.fresh(("mask", place))
        return _Index([contiguous((count,))] * max(layout.rank, 1), layout.rank)
    if layout.rank == 0:
        return UNKNOWN
    return _Index([layout], 1)


def _index_list(items: list[Any]) -> _Index:
    """A (nested) list of ints or bools becomes a tensor."""
    sizes: list[int] = []
    level: Any = items
    while isinstance(level, (list, tuple)):
        sizes.append(len(level))
        if not level:
            break
        if not isinstance(level[0], (list, tuple)) and any(isinstance(item, bool) for item in level):
            if len(sizes) > 1 or not all(isinstance(item, bool) for item in level):
                raise Unknowable("a nested list of bools")
            return _Index([contiguous((sum(level),))], 1)
        level = level[0]
    if len(sizes) != 1 or not all(isinstance(item, (int, Poly)) for item in items):
        raise Unknowable("torch reads some nested lists as tuples")
    return _Index([contiguous((len(items),))], 1)


def _consumed(item: Any) -> int:
    """How many dimensions an item stands for."""
    if item is None or item is Ellipsis:
        return 0
    return item.consumes if isinstance(item, _Index) else 1


def _without_last_whole(items: list[Any]) -> tuple[list[Any], int]:
    """The items without the `:` at their end, and how many these were."""
    end = len(items)
    while end and isinstance(items[end - 1], slice) and items[end - 1] == slice(None):
        end -= 1
    return items[:end], len(items) - end


def _reaching_apart(layout: Layout, items: list[Any], whole: int, facts: Facts) -> Layout | None:
    """What `_reaching` gives where so many more dimensions are taken whole behind the items (`logits[:, :-1, :]`): as
    many at the end are none of those that the items ask for. None without such, or beside an ellipsis."""
    rest = next((place for place, dim in enumerate(layout.dims) if dim.rest is not None), None)
    if not whole or rest is None or len(layout.dims) - 1 - rest > whole or any(item is Ellipsis for item in items):
        return None
    return with_leading(layout, sum(map(_consumed, items)), facts, apart=True)


def _reaching(layout: Layout, items: list[Any], facts: Facts) -> Layout | None:
    """The layout with as many dimensions known as the items ask for; None where they may meet the last ones."""
    if sum(item is Ellipsis for item in items) > 1:
        raise Unknowable("two ellipses")
    before = next((i for i, item in enumerate(items) if item is Ellipsis), len(items))
    leading = sum(_consumed(item) for item in items[:before])
    trailing = sum(_consumed(item) for item in items[before:])
    found = with_leading(layout, leading, facts)
    found = found and with_trailing(found, trailing, facts)
    enough = found is not None and (the_rest(found) is not None or len(found.dims) >= leading + trailing)
    return found if enough else None


def _new_dim(left: list[Dim]) -> Dim:
    """The dimension of size 1 that None makes, with the stride that `unsqueeze` gives it."""
    if not left:
        return Dim(1, 1)
    inner = left[0]
    return Dim(1, None if inner.stride is None else inner.size * inner.stride)


def _element(item: Any, dim: Dim, facts: Facts) -> Size | None:
    """The index that an int selects, from the front. Raises `Unknowable` where it is out of range."""
    if is_unknown(item):
        return None
    if isinstance(item, Poly):
        item = facts.normal(item)
    if isinstance(item, int):
        outside = facts.less(item, dim.size) if item >= 0 else facts.less(-item - 1, dim.size)
        if outside is NO:
            raise Unknowable("index out of range")
        return item if item >= 0 else dim.size + item
    low, high = facts.bounds(item)
    if low is not None and low >= 0:
        return item  # type: ignore[no-any-return]
    return dim.size + item if high is not None and high < 0 else None


def _moved(offset: Size | None, by: Size | None, stride: Size | None) -> Size | None:
    if offset is None or by == 0:
        return offset
    return None if by is None or stride is None else offset + by * stride


def _are_adjacent(places: list[int]) -> bool:
    return places == list(range(places[0], places[0] + len(places))) if places else True


# ---------------------------------------------------------------- advanced indexing
def _advanced(basic: Basic, operand: Operand, facts: Facts) -> Layout:
    """The layout of the copy."""
    places = sorted(basic.advanced)
    indices = [basic.advanced[place] for place in places]
    common = broadcast([part.shape for part in indices], facts)
    if common is None:
        raise Unknowable("the shape of the indices is not known")
    dims = list(basic.layout.dims)
    first = places[0]
    if not basic.adjacent:
        dims = [dims[place] for place in places] + [dim for i, dim in enumerate(dims) if i not in basic.advanced]
        first = 0
    before, after = dims[:first], dims[first + len(places) :]
    still = tuple(Dim(e.numel, 0, e) if isinstance(e, Rest) else Dim(e, 0) for e in common)
    source = Layout((*before, *still, *after))
    wide = [expand_to(part, common, facts) for part in indices]
    known = [part for part in wide if part is not None]
    if len(known) < len(wide):
        return unknown_strides(source.shape)
    around = (before, after)
    if operand.device == "cpu" or all(part.strides == known[0].strides for part in known):
        return _iterated(source, known, around, facts)
    # CUDA packs index tensors of unequal strides
    on_cuda = _iterated(source, [contiguous(common)] * len(known), around, facts)
    if operand.device is not None or on_cuda == _iterated(source, known, around, facts):
        return on_cuda
    return unknown_strides(source.shape)


def _iterated(source: Layout, indices: list[Layout], around: tuple[list[Dim], list[Dim]], facts: Facts) -> Layout:
    """What TensorIterator gives. An index is broadcast over the other dimensions, except that where these have size
    1 it keeps a stride of its own there; with sizes that may be 1 the answer must be the same either way."""
    open_places = sum(facts.is_one(dim.size) is MAYBE for dim in (*around[0], *around[1]))
    if open_places > MAX_OPEN_SIZES:
        return unknown_strides(source.shape)
    results: list[Layout] = []
    for case in product((False, True), repeat=open_places):
        ones = iter(case)
        single = [[_is_single(dim, ones, facts) for dim in dims] for dims in around]
        operands = [source, *(_reshaped(part, around, single, facts) for part in indices)]
        results.append(output_layout(operands, source.shape, facts))
        if results[-1] != results[0]:
            return unknown_strides(source.shape)
    return results[0]


def _is_single(dim: Dim, ones: Iterator[bool], facts: Facts) -> bool:
    answer = facts.is_one(dim.size)
    return next(ones) if answer is MAYBE else answer is YES


def _reshaped(part: Layout, around: tuple[list[Dim], list[Dim]], single: list[list[bool]], facts: Facts) -> Layout:
    """The index with a dimension of size 1 for each that it does not stand for, broadcast."""
    found, _ = runs(part, facts)
    outer = found[0].numel * found[0].stride if found and found[0].stride is not None else part.dims[0].stride
    inner = part.dims[-1].stride
    before, after = (
        [Dim(dim.size, stride if one else 0, dim.rest) for dim, one in zip(dims, flags, strict=True)]
        for dims, flags, stride in zip(around, single, (outer, inner), strict=True)
    )
    return Layout((*before, *part.dims, *after))


def _array_copy(operand: Operand, basic: Basic, facts: Facts) -> Outcome:
    """NumPy's strides are known for results of one dimension only."""
    layout = _advanced(basic, operand, facts)
    if len(layout.dims) > 1 or layout.rank is None:
        layout = unknown_strides(layout.shape)
    return Result(layout, operand.dtype, NO, numpy=True)
