"""Questions about a layout, answered from its sizes and strides.

Each mirrors torch's own rule: `is_contiguous` and `is_channels_last` of c10/core/TensorImpl, `is_non_overlapping_and_dense`
of torch/_prims_common. A dimension of size 1 never matters, and a tensor without elements is contiguous.
"""

from __future__ import annotations

from torchlayout.layouts.layout import CHANNELS_LAST_ORDER, Dim, Layout, settle
from torchlayout.sizes import MAYBE, NO, YES, Facts, Size, Truth, product, truth


def _lies_at(dim: Dim, expected: Size | None, facts: Facts) -> Truth:
    """Whether a dimension has the stride that density asks of it, or is too short for it to matter."""
    if dim.stride is None or expected is None:
        return YES if facts.is_one(dim.size) is YES else MAYBE
    if dim.stride == expected:
        return YES
    return facts.equal(dim.stride, expected) | ~facts.above_one(dim.size)


def _packed(dims: list[Dim], facts: Facts) -> Truth:
    """Whether the dimensions, innermost first, leave no gaps between them."""
    answer = YES
    expected: Size = 1
    for dim in dims:
        answer = answer & _lies_at(dim, expected, facts)
        if answer is NO:
            return NO
        expected = expected * dim.size
    return answer


def has_no_elements(layout: Layout, facts: Facts) -> Truth:
    """Whether some size is 0. A size that is only not known to be above 0 counts as above 0."""
    return truth(any(facts.normal(size) == 0 for size in layout.sizes))


def is_contiguous(layout: Layout, facts: Facts) -> Truth:
    """`x.is_contiguous()`."""
    layout = settle(layout, facts)
    if has_no_elements(layout, facts) is YES:
        return YES
    return _packed(list(reversed(layout.dims)), facts)


def is_channels_last(layout: Layout, facts: Facts) -> Truth:
    """`x.is_contiguous(memory_format=torch.channels_last)`, and channels_last_3d on five dimensions."""
    layout = settle(layout, facts)
    if layout.rank is None:
        return MAYBE
    order = CHANNELS_LAST_ORDER.get(layout.rank)
    if order is None:
        return NO
    if has_no_elements(layout, facts) is YES:
        return YES
    return _packed([layout.dims[i] for i in reversed(order)], facts)


def suggests_channels_last(layout: Layout, facts: Facts) -> Truth:
    """Whether torch's `suggest_memory_format` says channels_last: strides in that order, gaps allowed.

    Mirrors `is_channels_last_strides_2d_s4` of c10/core/MemoryFormat.h, which looks at the strides of dimensions of
    size 1 too, and takes what is ambiguous for contiguous.
    """
    layout = settle(layout, facts)
    order = CHANNELS_LAST_ORDER.get(layout.rank or 0)
    if order is None:
        return MAYBE if layout.rank is None else NO
    channels = layout.dims[1]
    if channels.stride is None:
        return MAYBE
    answer = ~facts.equal(channels.stride, 0)
    least: Size = 0
    for place in reversed(order):
        size, stride, _ = layout.dims[place]
        if stride is None:
            return answer & MAYBE
        answer = answer & ~facts.equal(size, 0) & ~facts.less(stride, least)
        if place == 0:
            answer = answer & ~facts.equal(least, channels.stride)
        if answer is NO:
            return NO
        longer = facts.above_one(size)
        if longer is MAYBE:
            # the two ways agree where the sizes further out settle it
            longer, answer = YES, answer & (YES if facts.assumed else MAYBE)
        least = stride * size if longer is YES else stride
    return answer


def in_memory_order(layout: Layout, facts: Facts) -> list[Dim] | None:
    """The dimensions longer than 1, innermost first; None where their strides cannot be compared."""
    ordered: list[Dim] = []
    for dim in reversed(layout.dims):
        if facts.is_one(dim.size) is YES:
            continue
        if dim.stride is None:
            return None
        place = len(ordered)
        while place > 0:
            other = ordered[place - 1].stride
            assert other is not None
            smaller = facts.less(dim.stride, other)
            if smaller is MAYBE and facts.equal(dim.stride, other) is not YES:
                return None
            if smaller is not YES:
                break
            place -= 1
        ordered.insert(place, dim)
    return ordered


def is_dense(layout: Layout, facts: Facts) -> Truth:
    """Non-overlapping and dense: some order of the dimensions is contiguous."""
    layout = settle(layout, facts)
    if has_no_elements(layout, facts) is YES or is_contiguous(layout, facts) is YES:
        return YES
    ordered = in_memory_order(layout, facts)
    return MAYBE if ordered is None else _packed(ordered, facts)


def has_overlap(layout: Layout, facts: Facts) -> Truth:
    """Whether two elements share a memory location: what an in-place write refuses.

    YES for a stride of 0 in a dimension longer than 1; NO where each dimension steps over all inner ones.
    """
    layout = settle(layout, facts)
    answer = NO
    for dim in layout.dims:
        if dim.stride is None:
            if facts.is_one(dim.size) is not YES:
                answer = answer | MAYBE
        elif dim.stride == 0 or facts.equal(dim.stride, 0) is not NO:
            answer = answer | (facts.equal(dim.stride, 0) & facts.above_one(dim.size))
    if answer is not NO:
        return answer
    ordered = in_memory_order(layout, facts)
    if ordered is None:
        return MAYBE
    reach: Size = 1
    for dim in ordered:
        assert dim.stride is not None
        if facts.less(dim.stride, reach) is not NO:
            return _certain_overlap(ordered, facts)
        reach = dim.stride * (dim.size - 1) + reach
    return NO


def _certain_overlap(ordered: list[Dim], facts: Facts) -> Truth:
    """Overlap is certain where there are more elements than memory locations within reach."""
    reach: Size = 1
    for dim in ordered:
        assert dim.stride is not None
        reach = reach + dim.stride * (dim.size - 1)
    return YES if facts.less(reach, product(dim.size for dim in ordered)) is YES else MAYBE


def same_layout(a: Layout, b: Layout, facts: Facts) -> Truth:
    """Whether both have the same sizes, and the same strides where these matter (dimensions longer than 1)."""
    a, b = settle(a, facts), settle(b, facts)
    if a == b and None not in a.strides:
        return YES
    if len(a.dims) != len(b.dims):
        return MAYBE if a.rank is None or b.rank is None else NO
    answer = YES
    for left, right in zip(a.dims, b.dims, strict=True):
        if left.rest is not right.rest:
            return MAYBE
        answer = answer & facts.equal(left.size, right.size)
        answer = answer & _lies_at(left, right.stride, facts)
        if answer is NO:
            return NO
    return answer
