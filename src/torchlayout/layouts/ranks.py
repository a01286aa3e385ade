"""Learning the rank of a tensor: splitting a rest into known dimensions and what remains of it."""

from __future__ import annotations

from torchlayout.layouts.layout import Layout, contiguous, settle, settle_shape, unknown_strides
from torchlayout.sizes import Facts, Poly, Rest, Shape, Size, of_atom, single_atom

SAFE_REACH = 3
"""Dimensions named from both ends of a tensor of unknown rank, together, that are taken to be different ones. With
more, the two ends may meet, and nothing is told."""


AFTER = "after"
"""Marks the key of what is left of a rest once its first dimensions are known."""
BEFORE = "before"
"""Marks the key of what is left of a rest once its last dimensions are known."""
APART = "apart"
"""The same where the dimensions behind it are known to be others than the first ones."""
LAST = "last"
"""Marks the key of the last size of a tensor that ends in a rest of which it is not told whether it has dimensions."""


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


def with_leading(layout: Layout, count: int, facts: Facts, *, apart: bool = False) -> Layout | None:
    """The layout with at least its first `count` dimensions known.

    `apart` says that the dimensions known behind a rest are others than these.
    """
    layout = settle(layout, facts)
    for _ in range(count + 1):
        first = next((i for i, dim in enumerate(layout.dims) if dim.rest is not None), None)
        if first is None:
            return layout if len(layout.dims) >= count else None
        if first >= count:
            return layout
        behind = len(layout.dims) - 1 - first
        if behind and count + behind > SAFE_REACH and not apart:
            return None
        rest = layout.dims[first].rest
        assert rest is not None
        need = count - first
        shape: Shape = tuple(size_of(rest, i, facts) for i in range(need))
        facts.bind(rest, (*shape, facts.symbols.rest((APART if apart else AFTER, rest.key, need))))
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


def last_size(shape: Shape, facts: Facts) -> Size | None:
    """The last size of a shape that ends in a rest, which may be empty: the size in front of it is the last one then.

    An unknown, of which `learn_last_sizes` tells what it is where the number of dimensions is known.
    """
    if len(shape) < 2 or isinstance(shape[-2], Rest) or not isinstance(shape[-1], Rest):
        return None
    rest = shape[-1]
    return facts.symbols.atom((LAST, rest.key, shape[-2]), _name_of_last(rest, shape[-2], facts))


def _name_of_last(rest: Rest, before: Size, facts: Facts) -> str | None:
    """ "x.size(-1)" where the size in front of the rest is the one that x has there: nothing has changed it."""
    key = rest.key
    if not isinstance(key, tuple) or len(key) != 3 or key[0] != AFTER:
        return None
    atom = single_atom(before)
    if atom is None or atom.key != ("size", key[1], key[2] - 1):
        return None
    while isinstance(key, tuple) and len(key) == 3 and key[0] == AFTER:
        key = key[1]
    name = facts.symbols.rest(key).name
    return f"{name}.size(-1)" if name else None


def learn_last_sizes(shape: Shape, facts: Facts) -> bool:
    """Learn what the unknowns of `last_size` in a shape are, as far as the number of dimensions is known by now.

    Says whether one of them is left.
    """
    left = False
    atoms = {atom for extent in shape if isinstance(extent, Poly) for atom in extent.atoms()}
    for atom in sorted(atoms):
        if (
            isinstance(atom.key, tuple)
            and len(atom.key) == 3
            and atom.key[0] == LAST
            and atom not in facts.known.rewrites
        ):
            _, key, before = atom.key
            last = settle_shape((before, facts.symbols.rest(key)), facts)[-1]
            if isinstance(last, Rest):
                left = True
            else:
                facts.learn_equal(of_atom(atom), last)
    return left


def at_any_rank(layout: Layout, facts: Facts) -> tuple[Facts, ...]:
    """The cases of a settled layout that ends in a rest: that it has no dimensions, one, or more than one.

    One is a case of its own, for the assumed world takes what is left of a rest to have more than one element.
    """
    rest = layout.dims[-1].rest
    assert rest is not None
    cases = facts.copy(), facts.copy(), facts.copy()
    last = size_of(rest, -1, facts)
    for own, shape in zip(cases, ((), (last,), (_before(rest, 1, facts), last)), strict=True):
        own.bind(rest, shape)
    return cases


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


def ends_may_meet(rest: Rest) -> bool:
    """Whether the dimensions told from the front may be among those told from the back, if the rest has none."""
    return not (isinstance(rest.key, tuple) and rest.key[:1] == (APART,))


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
