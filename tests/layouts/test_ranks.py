"""Splitting the unknown dimensions of a tensor: what is then known of it, by name and by number."""

from __future__ import annotations

import pytest

from torchlayout.layouts import (
    Layout,
    contiguous,
    is_contiguous,
    size_of,
    the_rest,
    unknown_layout,
    unknown_strides,
    with_leading,
    with_rank,
    with_trailing,
)
from torchlayout.layouts.ranks import next_to
from torchlayout.sizes import YES, Facts, Rest, Size, single_atom


@pytest.fixture
def facts() -> Facts:
    return Facts()


def said(layout: Layout | None) -> str:
    """The sizes by name, `*` for a rest."""
    assert layout is not None
    return ", ".join("*" if dim.rest is not None else repr(dim.size) for dim in layout.dims)


def tensor(facts: Facts, before: int = 0, behind: int = 0) -> Layout:
    """A packed tensor of unknown rank, with so many known dimensions on either side."""
    numbers = [7, 8, 9]
    return contiguous((*numbers[:before], facts.symbols.rest("x", "x"), *numbers[:behind]))


def test_a_tensor_of_known_rank(facts: Facts) -> None:
    layout = tensor(facts)
    found = with_rank(layout, 3, facts)
    assert said(found) == "x.size(0), x.size(1), x.size(2)"
    assert found is not None and is_contiguous(found, facts) is YES
    assert said(with_rank(layout, 3, facts)) == said(found)  # known by now
    assert with_rank(layout, 2, facts) is None and with_rank(layout, 4, facts) is None


@pytest.mark.parametrize(
    ("before", "behind", "rank", "sizes"),
    [
        (0, 0, 0, ""),
        (0, 0, 1, "x.size(0)"),
        (1, 0, 2, "7, x.size(0)"),
        (0, 1, 2, "x.size(0), 7"),
        (1, 1, 2, "7, 7"),
        (1, 2, 5, "7, x.size(0), x.size(1), 7, 8"),
        (1, 1, 1, None),
        (0, 2, 1, None),
    ],
)
def test_known_dimensions_count(before: int, behind: int, rank: int, sizes: str | None, facts: Facts) -> None:
    found = with_rank(tensor(facts, before, behind), rank, facts)
    assert (found is None) is (sizes is None)
    if found is not None:
        assert said(found) == sizes and found.rank == rank
        assert is_contiguous(found, facts) is YES


def test_a_known_rank_is_not_another(facts: Facts) -> None:
    layout = contiguous((2, 3))
    assert with_rank(layout, 2, facts) is layout
    assert with_rank(layout, 1, facts) is None and with_rank(layout, 3, facts) is None


def test_sizes_get_the_names_that_the_code_gives_them(facts: Facts) -> None:
    assert said(with_rank(tensor(facts), 3, facts, ("B", None, "C"))) == "B, x.size(1), C"
    other = contiguous((7, facts.symbols.rest("y", "y"), 8))
    assert said(with_rank(other, 4, facts, ("B", "T", "H", "C"))) == "7, T, H, 8"


def test_the_first_name_stays(facts: Facts) -> None:
    rest = facts.symbols.rest("x", "x")
    assert repr(size_of(rest, 0, facts)) == "x.size(0)"
    assert repr(size_of(rest, 0, facts, "B")) == "B"
    assert repr(size_of(rest, 0, facts, "N")) == "B"
    assert repr(size_of(rest, 0, facts)) == "B"
    assert repr(size_of(facts.symbols.rest("unnamed"), 0, facts)) == "?"
    assert repr(size_of(facts.symbols.rest("unnamed"), 0, facts, "B")) == "B"
    assert size_of(rest, 0, facts) != size_of(rest, 1, facts) != size_of(rest, -1, facts)


def check_added(found: Layout | None, sizes: str | None, facts: Facts) -> None:
    """A packed layout of these sizes; None where nothing may be said."""
    assert (found is None) is (sizes is None)
    if found is not None:
        assert said(found) == sizes and is_contiguous(found, facts) is YES


@pytest.mark.parametrize(
    ("before", "behind", "count", "sizes"),
    [
        (0, 0, 0, "*"),
        (0, 0, 1, "x.size(0), *"),
        (0, 0, 5, "x.size(0), x.size(1), x.size(2), x.size(3), x.size(4), *"),
        (2, 0, 1, "7, 8, *"),
        (2, 0, 2, "7, 8, *"),
        (1, 0, 3, "7, x.size(0), x.size(1), *"),
        (0, 1, 2, "x.size(0), x.size(1), *, 7"),
        (0, 1, 3, None),  # the ends may meet
        (0, 2, 1, "x.size(0), *, 7, 8"),
        (0, 2, 2, None),
        (1, 1, 1, "7, *, 7"),
        (1, 1, 2, "7, x.size(0), *, 7"),
        (3, 3, 3, "7, 8, 9, *, 7, 8, 9"),
    ],
)
def test_leading_dimensions(before: int, behind: int, count: int, sizes: str | None, facts: Facts) -> None:
    check_added(with_leading(tensor(facts, before, behind), count, facts), sizes, facts)


@pytest.mark.parametrize(
    ("before", "behind", "count", "sizes"),
    [
        (0, 0, 0, "*"),
        (0, 0, 1, "*, x.size(-1)"),
        (0, 0, 5, "*, x.size(-5), x.size(-4), x.size(-3), x.size(-2), x.size(-1)"),
        (0, 2, 1, "*, 7, 8"),
        (0, 2, 2, "*, 7, 8"),
        (0, 1, 3, "*, x.size(-2), x.size(-1), 7"),
        (1, 0, 2, "7, *, x.size(-2), x.size(-1)"),
        (1, 0, 3, None),  # the ends may meet
        (2, 0, 1, "7, 8, *, x.size(-1)"),
        (2, 0, 2, None),
        (1, 1, 1, "7, *, 7"),
        (1, 1, 2, "7, *, x.size(-1), 7"),
        (3, 3, 3, "7, 8, 9, *, 7, 8, 9"),
    ],
)
def test_trailing_dimensions(before: int, behind: int, count: int, sizes: str | None, facts: Facts) -> None:
    check_added(with_trailing(tensor(facts, before, behind), count, facts), sizes, facts)


def test_a_known_rank_has_its_dimensions(facts: Facts) -> None:
    layout = contiguous((2, 3))
    for count in (0, 1, 2):
        assert with_leading(layout, count, facts) is layout and with_trailing(layout, count, facts) is layout
    assert with_leading(layout, 3, facts) is None and with_trailing(layout, 3, facts) is None


def test_dimensions_that_are_named_one_after_the_other(facts: Facts) -> None:
    """What is left of a rest is counted from the whole tensor's end."""
    layout = tensor(facts)
    assert said(with_trailing(layout, 1, facts)) == "*, x.size(-1)"
    assert said(with_trailing(layout, 3, facts)) == "*, x.size(-3), x.size(-2), x.size(-1)"
    assert said(with_leading(layout, 0, facts)) == "*, x.size(-3), x.size(-2), x.size(-1)"
    assert with_leading(layout, 1, facts) is None  # there are four then, which may meet


def test_names_count_from_the_end_of_the_whole_tensor(facts: Facts) -> None:
    layout = tensor(facts)
    for count in (1, 2, 4):
        found = with_trailing(layout, count, facts)
    assert said(found) == "*, x.size(-4), x.size(-3), x.size(-2), x.size(-1)"


def test_names_count_from_its_beginning_too(facts: Facts) -> None:
    layout = tensor(facts)
    with_trailing(layout, 1, facts)
    assert said(with_leading(layout, 2, facts)) == "x.size(0), x.size(1), *, x.size(-1)"


@pytest.mark.parametrize("key", [("a", "b", "c"), ("a", "b"), 7, "abc", ("before", 1)])
def test_keys_of_any_kind(key: object, facts: Facts) -> None:
    rest = facts.symbols.rest(key, "x")  # type: ignore[arg-type]
    assert repr(size_of(rest, -1, facts)) == "x.size(-1)" and repr(size_of(rest, 1, facts)) == "x.size(1)"
    assert next_to(rest, facts) == ()


def test_the_dimensions_beside_what_is_left(facts: Facts) -> None:
    """Once both ends have been told: these two are one where the tensor has fewer dimensions than that."""
    layout = tensor(facts)
    rest = the_rest(layout)
    assert rest is not None and next_to(rest, facts) == ()
    for known, count in ((with_leading, 2), (with_trailing, 1)):
        found = known(layout, count, facts)
        assert found is not None
        rest = the_rest(found)
        assert rest is not None
        beside = next_to(rest, facts)
        assert beside == (() if known is with_leading else (found.sizes[1], found.sizes[3]))
    other = contiguous((facts.symbols.rest("y", "y"),))
    for known, count in ((with_trailing, 1), (with_trailing, 2), (with_leading, 1)):
        found = known(other, count, facts)
    assert found is not None
    rest = the_rest(found)
    assert rest is not None and next_to(rest, facts) == (found.sizes[0], found.sizes[2])


def test_fewer_dimensions_than_were_told_from_both_ends(facts: Facts) -> None:
    """Some were told twice then: their size is neither the one nor the other for sure."""
    found = with_leading(contiguous((facts.symbols.rest("x", "x"),), offset=5), 2, facts)
    assert found is not None
    found = with_trailing(found, 1, facts)
    assert found is not None
    first, second, _, last = found.sizes
    pair = with_rank(found, 2, facts)
    assert pair is not None and pair.rank == 2 and is_contiguous(pair, facts) is YES and pair.offset == 5
    assert pair.sizes[0] == first and pair.sizes[1] not in (first, second, last)
    assert with_rank(found, 2, facts) == pair
    assert with_rank(found, 1, facts) is None
    other = with_leading(contiguous((facts.symbols.rest("y", "y"),)), 2, facts)
    assert other is not None
    other = with_trailing(other, 1, facts)
    assert other is not None
    others = with_rank(other, 2, facts)
    assert others is not None and not set(others.sizes) & set(pair.sizes)
    loose = with_rank(unknown_strides(found.shape), 2, facts)
    assert loose is not None and loose.sizes == pair.sizes and loose.strides == (None, None)


def test_two_dimensions_that_were_told_from_both_ends(facts: Facts) -> None:
    y = facts.symbols.rest("y", "y")
    found = with_trailing(contiguous((y,)), 2, facts)
    assert found is not None
    found = with_leading(found, 1, facts)
    assert found is not None
    pair = with_rank(found, 2, facts)
    assert pair is not None and pair.sizes[1] == found.sizes[-1]
    assert pair.sizes[0] not in found.sizes
    assert with_rank(found, 1, facts) is None


def test_leading_dimensions_one_after_the_other(facts: Facts) -> None:
    layout = tensor(facts)
    first, second = with_leading(layout, 1, facts), with_leading(layout, 2, facts)
    assert first is not None and second is not None
    assert second.sizes[0] == first.sizes[0] and len(second.dims) == 3
    assert second.sizes[1] != second.sizes[0]


def test_the_same_dimension_is_the_same_size_for_every_path(facts: Facts) -> None:
    one, other = facts.copy(), facts.copy()
    layout = tensor(facts)
    left, right = with_leading(layout, 2, one), with_leading(layout, 2, other)
    assert left is not None and right is not None and left.shape == right.shape
    deep, shallow = with_leading(layout, 3, one), with_trailing(layout, 2, facts.copy())
    assert deep is not None and shallow is not None
    assert not set(deep.sizes) & set(shallow.sizes)


def test_what_is_left_goes_by_the_name_of_the_tensor_but_not_its_number_of_elements(facts: Facts) -> None:
    found = with_trailing(tensor(facts), 1, facts)
    assert found is not None
    rest = the_rest(found)
    assert rest is not None and rest.name == "x"
    assert repr(rest.numel) == "?"
    assert facts.equal(rest.numel * found.sizes[-1], facts.symbols.rest("x").numel) is YES


def test_the_number_of_elements_stays(facts: Facts) -> None:
    x = facts.symbols.rest("x", "x")
    for known in (with_leading, with_trailing):
        own = facts.copy()
        found = known(tensor(own), 2, own)
        assert found is not None and own.equal(found.numel, x.numel) is YES
    found = with_rank(tensor(facts), 2, facts)
    assert found is not None and facts.equal(found.numel, x.numel) is YES


def test_strides_that_are_not_known_stay_so(facts: Facts) -> None:
    layout = unknown_layout("x", facts, "x")
    for known in (with_leading, with_trailing, with_rank):
        found = known(layout, 2, facts.copy())
        assert found is not None and set(found.strides) == {None}


def test_the_rest(facts: Facts) -> None:
    x = facts.symbols.rest("x")
    assert the_rest(contiguous((2, x, 3))) is x
    assert the_rest(contiguous((2, 3))) is None
    assert the_rest(unknown_strides(())) is None


def test_two_rests_are_split_from_their_own_end(facts: Facts) -> None:
    x, y = facts.symbols.rest("x", "x"), facts.symbols.rest("y", "y")
    layout = contiguous((x, y))
    leading = with_leading(layout, 1, facts.copy())
    assert said(leading) == "x.size(0), *, *"
    assert said(with_trailing(layout, 1, facts.copy())) == "*, *, y.size(-1)"


def test_names_of_sizes_are_told_by_their_unknowns(facts: Facts) -> None:
    rest: Rest = facts.symbols.rest("x", "x")
    size: Size = size_of(rest, -1, facts, "C")
    atom = single_atom(size)
    assert atom is not None and atom.least == 0 and atom.name == "C"
