"""Questions about a layout, answered from its sizes and strides.

Each mirrors torch's own rule: `is_contiguous` and `is_channels_last` of c10/core/TensorImpl,
`is_non_overlapping_and_dense` of torch/_prims_common. A dimension of size 1 never matters, and a tensor without
elements is contiguous, though not channels_last.
"""

from __future__ import annotations

from torchlayout.layouts.layout import CHANNELS_LAST_ORDER, Dim, Layout, is_concrete, settle
from torchlayout.sizes import MAYBE, NO, YES, Facts, Size, Truth, every, product


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
    for size, _, _ in layout.dims:
        settled = size if isinstance(size, int) else facts.normal(size)
        if isinstance(settled, int) and settled == 0:
            return YES
    return NO


def is_contiguous(layout: Layout, facts: Facts) -> Truth:
    """`x.is_contiguous()`."""
    if layout.packed:
        return YES
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
    answer = YES
    expected: Size = 1
    for place in reversed(order):
        # unlike for contiguous, torch makes no exception for a tensor without elements
        size, stride, _ = layout.dims[place]
        there = MAYBE if stride is None else facts.equal(stride, expected)
        answer = answer & (there | facts.is_one(size))
        if answer is NO:
            return NO
        expected = expected * size
    return answer


def suggests_channels_last(layout: Layout, facts: Facts, exact: int | None = None) -> Truth:
    """`x.suggest_memory_format()` is channels_last (`is_channels_last_strides_2d` of c10/core/MemoryFormat.h).

    Strides of dimensions of size 1 take part, though nothing else depends on them; so where a size may be 1 and not
    everything is a plain number, the answer is MAYBE. `exact` is such a dimension whose stride is certain.
    """
    layout = settle(layout, facts)
    if layout.rank is None:
        return MAYBE
    order = CHANNELS_LAST_ORDER.get(layout.rank)
    if order is None or any(facts.normal(size) == 0 for size in layout.sizes):
        return NO
    answers: list[Truth] = []
    least: Size | None = 0
    sure = facts.assumed or is_concrete(layout)
    channels = _trusted(layout.dims[1], sure, facts)
    for place in reversed(order):
        dim = layout.dims[place]
        stride = dim.stride if place == exact else _trusted(dim, sure, facts)
        if stride is None or least is None:
            answers.append(MAYBE)
        else:
            answers.append(~facts.less(stride, least))
            if place == 1:
                answers.append(~facts.equal(stride, 0))
        if place == 0:
            answers.append(MAYBE if channels is None or least is None else ~facts.equal(least, channels))
        least = None if stride is None else stride * dim.size
    return every(answers)


def _trusted(dim: Dim, sure: bool, facts: Facts) -> Size | None:
    """A stride, unless the dimension may be of size 1 and strides of such dimensions are not sure."""
    return dim.stride if sure or facts.is_one(dim.size) is NO else None


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
            if smaller is MAYBE:
                return None
            if smaller is not YES:
                break
            place -= 1
        ordered.insert(place, dim)
    return ordered


def is_dense(layout: Layout, facts: Facts) -> Truth:
    """Non-overlapping and dense: some order of the dimensions is contiguous."""
    if layout.packed:
        return YES
    layout = settle(layout, facts)
    if is_contiguous(layout, facts) is YES:
        return YES
    ordered = in_memory_order(layout, facts)
    return MAYBE if ordered is None else _packed(ordered, facts)


def has_overlap(layout: Layout, facts: Facts) -> Truth:
    """Whether two elements share a memory location: what an in-place write refuses.

    YES for a stride of 0 in a dimension longer than 1; NO where each dimension steps over all inner ones.
    """
    if layout.packed:
        return NO
    layout = settle(layout, facts)
    if has_no_elements(layout, facts) is YES:
        return NO
    answer = NO
    for dim in layout.dims:
        if dim.stride is not None and (still := facts.equal(dim.stride, 0)) is not NO:
            answer = answer | (still & facts.above_one(dim.size))
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
