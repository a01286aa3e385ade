"""Joining what different paths say of one tensor.

Vocabulary: *join* is what holds whichever path was taken; *widen* is a join that must come to an end, so it forgets
at once what differs. Order: a layout with unknown strides is above every layout of its shape, and a rest of its own
above every layout.
"""

from __future__ import annotations

from collections.abc import Hashable

from torchlayout.layouts.layout import Dim, Layout, unknown_strides
from torchlayout.sizes import Facts, Size


def join(a: Layout, b: Layout, key: Hashable, facts: Facts) -> Layout:
    """The least layout above both that keeps dimension-wise agreement; `key` names the unknowns that it needs."""
    if a == b:
        return a
    if a.rank is None or b.rank is None or len(a.dims) != len(b.dims):
        return unknown_layout(key, facts)
    dims: list[Dim] = []
    for place, (left, right) in enumerate(zip(a.dims, b.dims, strict=True)):
        size: Size = left.size if left.size == right.size else facts.symbols.atom(("join", key, place))
        dims.append(Dim(size, left.stride if left.stride == right.stride else None))
    return Layout(tuple(dims), a.offset if a.offset == b.offset else None)


def widen(a: Layout, b: Layout, key: Hashable, facts: Facts) -> Layout:
    """Like `join`, but whatever differs is forgotten at once, strides all together."""
    joined = join(a, b, key, facts)
    return joined if joined == a else unknown_strides(joined.shape)


def unknown_layout(key: Hashable, facts: Facts, name: str | None = None) -> Layout:
    """A tensor of which nothing is known: one rest, strides unknown."""
    return unknown_strides((facts.symbols.rest(key, name),))
