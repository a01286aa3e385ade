"""Learning the rank of a tensor: splitting a rest into known dimensions and what remains of it."""

from __future__ import annotations

from torchlayout.layouts.layout import Layout, contiguous, settle, unknown_strides
from torchlayout.sizes import Facts, Rest, Shape, Size

SAFE_REACH = 3
"""Dimensions named from both ends of a tensor of unknown rank, together, that are taken to be different ones. With
more, the two ends may meet, and nothing is told."""


AFTER = "after"
"""Marks the key of what is left of a rest once its first dimensions are known."""
BEFORE = "before"
"""Marks the key of what is left of a rest once its last dimensions are known."""


def with_rank(layout: Layout, rank: int, facts: Facts, names: tuple[str | None, ...] = ()) -> Layout | None:
    """The layout with exactly `rank` dimensions, and the facts learn it; None where it cannot have them.

    `names` are what the code calls the sizes, used for those that have no name yet.
    """
    layout = settle(layout, facts)
    missing = rank - sum(dim.rest is None for dim in layout.dims)
    rest = the_rest(layout)
    if rest is None:
        return layout if missing == 0 else None
    if missing < 0:
        return _overlapping(layout, rank, rest, facts)
    first = next(i for i, dim in enumerate(layout.dims) if dim.rest is not None)
    names = names or (None,) * rank
    facts.bind(rest, tuple(size_of(rest, i, facts, names[first + i]) for i in range(missing)))
    return settle(layout, facts)


def _overlapping(layout: Layout, rank: int, rest: Rest, facts: Facts) -> Layout | None:
    """The layout with fewer dimensions than were told from its two ends, some of which are then the same."""
    gap = next(i for i, dim in enumerate(layout.dims) if dim.rest is not None)
    front, back = layout.sizes[:gap], layout.sizes[gap + 1 :]
    if not next_to(rest, facts) or max(len(front), len(back)) > rank:
        return None
    shared = len(front) + len(back) - rank
    # an operator may have changed the one end of what is the other one too
    between = tuple(facts.symbols.atom(("shared", rest.key, rank, i)) for i in range(shared))
    shape = (*front[: len(front) - shared], *between, *back[shared:])
    return contiguous(shape, layout.offset) if layout.packed else unknown_strides(shape)


def with_leading(layout: Layout, count: int, facts: Facts) -> Layout | None:
    """The layout with at least its first `count` dimensions known."""
    layout = settle(layout, facts)
    for _ in range(count + 1):
        first = next((i for i, dim in enumerate(layout.dims) if dim.rest is not None), None)
        if first is None:
            return layout if len(layout.dims) >= count else None
        if first >= count:
            return layout
        behind = len(layout.dims) - 1 - first
        if behind and count + behind > SAFE_REACH:
            return None
        rest = layout.dims[first].rest
        assert rest is not None
        need = count - first
        shape: Shape = tuple(size_of(rest, i, facts) for i in range(need))
        facts.bind(rest, (*shape, facts.symbols.rest((AFTER, rest.key, need))))
        layout = settle(layout, facts)
    return None


def with_trailing(layout: Layout, count: int, facts: Facts) -> Layout | None:
    """The layout with at least its last `count` dimensions known."""
    layout = settle(layout, facts)
    for _ in range(count + 1):
        known = 0
        for dim in reversed(layout.dims):
            if dim.rest is not None:
                break
            known += 1
        if known >= count:
            return layout
        if known == len(layout.dims):
            return None
        before = len(layout.dims) - 1 - known
        if before and count + before > SAFE_REACH:
            return None
        rest = layout.dims[len(layout.dims) - 1 - known].rest
        assert rest is not None
        need = count - known
        shape: Shape = tuple(size_of(rest, i - need, facts) for i in range(need))
        facts.bind(rest, (_before(rest, need, facts), *shape))
        layout = settle(layout, facts)
    return None


def the_rest(layout: Layout) -> Rest | None:
    """The rest of a settled layout, None if its rank is known."""
    return next((dim.rest for dim in layout.dims if dim.rest is not None), None)


def size_of(rest: Rest, index: int, facts: Facts, name: str | None = None) -> Size:
    """The size of one dimension of a rest; negative indices count from its end."""
    size = facts.symbols.atom(
        ("size", rest.key, index), name or (f"{rest.name}.size({_place(rest, index)})" if rest.name else None)
    )
    if name:
        (atom,) = size.atoms()
        if atom.name is None or "." in atom.name:
            atom.name = name
    return size


def next_to(rest: Rest, facts: Facts) -> tuple[Size, ...]:
    """The sizes of the dimensions beside what is left of a rest: the last one that was told from the front and the
    first one that was told from the back, as far as there are any, none if only one end was told.

    Where the tensor has fewer dimensions than were told from both ends, the two are one and the same.
    """
    found: dict[str, Size] = {}
    key = rest.key
    while isinstance(key, tuple) and len(key) == 3 and key[0] in (AFTER, BEFORE):
        end, before, count = key
        found.setdefault(end, facts.symbols.atom(("size", before, count - 1 if end == AFTER else -count)))
        key = before
    return (found[AFTER], found[BEFORE]) if len(found) == 2 else ()


def _before(rest: Rest, count: int, facts: Facts) -> Rest:
    """What is left of a rest before its last `count` dimensions. It goes by the tensor's name, but is not all of it."""
    left = facts.symbols.rest((BEFORE, rest.key, count), rest.name)
    (numel,) = left.numel.atoms()
    numel.name = None
    return left


def _place(rest: Rest, index: int) -> int:
    """The dimension of the whole tensor that a dimension of what is left of it is."""
    key = rest.key
    while index < 0 and isinstance(key, tuple) and len(key) == 3 and key[0] == BEFORE:
        index -= key[2]
        key = key[1]
    return index
