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
from torchlayout.layouts.ranks import at_any_rank, ends_may_meet, last_size, learn_last_sizes, next_to
from torchlayout.layouts.views import view
from torchlayout.sizes import MAYBE, NO, YES, Facts, Rest, Size, single_atom


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


# ---------------------------------------------------------------- dimensions known to be others
def test_leading_dimensions_that_are_none_of_the_last(facts: Facts) -> None:
    layout = tensor(facts, behind=1)
    assert with_leading(layout, 3, facts) is None  # the third may be the last
    found = with_leading(layout, 3, facts, apart=True)
    assert said(found) == "x.size(0), x.size(1), x.size(2), *, 7"
    assert found is not None
    rest = the_rest(found)
    assert rest is not None and not ends_may_meet(rest)
    assert next_to(rest, facts) == ()
    assert with_rank(found, 4, facts) is not None


def test_ends_that_may_meet(facts: Facts) -> None:
    found = with_leading(tensor(facts, behind=1), 2, facts)
    assert found is not None
    rest = the_rest(found)
    assert rest is not None and ends_may_meet(rest)
    assert all(ends_may_meet(facts.symbols.rest(key)) for key in ("apart", 5))
    assert ends_may_meet(facts.symbols.rest(("other", "x", 1)))


# ---------------------------------------------------------------- the last size of a tensor that may have more
def last(layout: Layout, facts: Facts) -> Size:
    found = last_size(layout.shape, facts)
    assert found is not None
    return found


def test_the_last_size_has_the_name_of_the_tensor(facts: Facts) -> None:
    layout = with_leading(tensor(facts), 3, facts)
    assert layout is not None
    size = last(layout, facts)
    assert repr(size) == "x.size(-1)" and last(layout, facts) is size
    assert repr(last(Layout((*layout.dims[:2], *layout.dims[3:])), facts)) == "?"  # dimension 2 was taken away
    assert repr(last(Layout((layout.dims[0], layout.dims[2]._replace(size=5), *layout.dims[3:])), facts)) == "?"
    other = contiguous((2, facts.symbols.rest("y", "y")))
    assert repr(last(other, facts)) == "?"
    nameless = with_leading(contiguous((facts.symbols.rest("z"),)), 2, facts)
    assert nameless is not None and repr(last(nameless, facts)) == "?"


def test_the_last_size_of_what_was_told_step_by_step(facts: Facts) -> None:
    first = with_leading(tensor(facts), 1, facts)
    assert first is not None
    layout = with_leading(first, 3, facts)
    assert layout is not None and repr(last(layout, facts)) == "x.size(-1)"


@pytest.mark.parametrize("key", [5, "abc", ("k", "l", "m"), ("after", "q"), ("before", "q", 1)])
def test_tensors_of_any_key_name_their_last_size(key: object, facts: Facts) -> None:
    layout = with_leading(contiguous((facts.symbols.rest(key, "t"),)), 2, facts)
    assert layout is not None and repr(last(layout, facts)) == "t.size(-1)"


@pytest.mark.parametrize("key", [5, "abc", ("after", "x"), ("before", "x", 3), ("after", "x", 3, 0)])
def test_rests_that_are_not_told_from_the_front_name_nothing(key: object, facts: Facts) -> None:
    facts.symbols.rest("x", "x")
    before = facts.symbols.atom(("size", "x", 2))
    assert repr(last(contiguous((before, facts.symbols.rest(key, "r"))), facts)) == "?"


def test_there_is_no_such_size(facts: Facts) -> None:
    rest = facts.symbols.rest("x")
    for shape in ((rest,), (2, 3), (rest, 3), (rest, rest), ()):
        assert last_size(shape, facts) is None


@pytest.mark.parametrize("rank", [2, 3, 4])
def test_the_last_size_is_learnt_with_the_rank(rank: int, facts: Facts) -> None:
    layout = with_leading(tensor(facts), 2, facts)
    assert layout is not None
    size = last(layout, facts)
    assert learn_last_sizes((-1, size), facts)
    known = with_rank(layout, rank, facts)
    assert known is not None and facts.equal(size, known.sizes[-1]) is MAYBE
    assert not learn_last_sizes((-1, size), facts)
    assert facts.equal(size, known.sizes[-1]) is YES
    assert not learn_last_sizes((-1, size), facts)


def test_what_is_no_last_size_is_nothing_to_learn(facts: Facts) -> None:
    rest = facts.symbols.rest("y")
    sizes = [facts.symbols.atom(key) for key in (7, "lst", ("last", 1), ("first", "y", 2))]
    assert not learn_last_sizes((3, rest, *sizes), facts)
    assert all(facts.normal(size) is size for size in sizes)


def test_the_cases_of_what_may_be_at_the_end(facts: Facts) -> None:
    layout = with_leading(tensor(facts), 2, facts)
    assert layout is not None
    before = facts.copy()
    cases = at_any_rank(layout, facts)
    assert [said(with_leading(layout, 0, case)) for case in cases] == [
        "x.size(0), x.size(1)",
        "x.size(0), x.size(1), ?",
        "x.size(0), x.size(1), *, ?",
    ]
    rest = the_rest(layout)
    assert rest is not None
    left = with_leading(layout, 0, cases[2])
    assert left is not None and the_rest(left) == facts.symbols.rest(("before", rest.key, 1))
    assert all(with_rank(layout, 3, case).sizes[-1] == size_of(rest, -1, facts) for case in cases[1:])  # type: ignore[union-attr]
    assert facts.same_as(before)


def test_a_view_to_the_last_size(facts: Facts) -> None:
    """`x[:, :-1, :].view(-1, x.size(-1))`: refused at any rank."""
    whole = with_leading(tensor(facts), 3, facts)
    assert whole is not None
    size = last(whole, facts)
    sizes = (whole.dims[0], whole.dims[1]._replace(size=whole.dims[1].size - 1), *whole.dims[2:])
    answer = view(Layout(sizes), (-1, size), facts.assumed_world)
    assert answer is not None and answer.exists is NO
    one = view(Layout(sizes), (-1, facts.symbols.atom("n")), facts.assumed_world)
    assert one is not None and one.exists is MAYBE


def test_a_view_to_the_last_size_that_works_at_some_rank(facts: Facts) -> None:
    """`x[:, 0, :].view(-1, x.size(-1))` of three dimensions."""
    whole = with_leading(tensor(facts), 3, facts)
    assert whole is not None
    part = Layout((whole.dims[0], *whole.dims[2:]))
    answer = view(part, (-1, last(whole, facts)), facts.assumed_world)
    assert answer is not None and answer.exists is MAYBE


def test_a_view_of_something_else_to_a_last_size(facts: Facts) -> None:
    whole = with_leading(tensor(facts), 2, facts)
    assert whole is not None
    for layout in (contiguous(()), contiguous((3, 4)), unknown_strides((3, 4))):
        answer = view(layout, (last(whole, facts),), facts)
        assert answer is None or answer.exists is not NO


def test_a_view_that_has_another_number_of_elements_at_some_rank(facts: Facts) -> None:
    layout = unknown_strides((2, 3, facts.symbols.rest("x", "x")))
    answer = view(layout, (5, last(layout, facts)), facts)
    assert answer is not None and answer.exists is MAYBE


def test_a_view_of_unknown_shape(facts: Facts) -> None:
    turned = Layout(tuple(reversed(contiguous((3, 4)).dims)))
    wanted = facts.symbols.rest("y")
    answer = view(turned, (wanted,), facts.assumed_world)
    assert answer is not None and answer.exists is MAYBE  # it may be the shape that there is
    a, b = facts.symbols.atom("a"), facts.symbols.atom("b")
    facts.learn_equal(wanted.numel, a * b)
    answer = view(Layout(tuple(reversed(contiguous((a, b)).dims))), (wanted,), facts.assumed_world)
    assert answer is not None and answer.exists is MAYBE
    packed = view(contiguous((a, b)), (wanted,), facts.assumed_world)
    assert packed is not None and packed.exists is YES
