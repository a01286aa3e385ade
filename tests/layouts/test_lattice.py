"""The laws of joining, one a line."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from torchlayout.layouts import Dim, Layout, contiguous, join, unknown_layout, unknown_strides, widen
from torchlayout.sizes import NO, Facts, Rest

FACTS = Facts()
_A = FACTS.symbols.atom("a", "a")
SIZES = st.sampled_from([1, 2, 3, _A, _A * 2])
STRIDES = st.none() | st.sampled_from([0, 1, 2, _A])
LAYOUTS = st.builds(
    lambda dims, offset: Layout(tuple(Dim(size, stride) for size, stride in dims), offset),
    st.lists(st.tuples(SIZES, STRIDES), max_size=3),
    st.none() | st.integers(0, 2),
) | st.just(unknown_layout("top", FACTS))


def below(a: Layout, b: Layout) -> bool:
    """Whether everything that b says, a says too; sizes that a join made up say nothing."""
    if b.rank is None:
        return True
    if a.rank is None or len(a.dims) != len(b.dims):
        return False
    for mine, theirs in zip(a.dims, b.dims, strict=True):
        made_up = not isinstance(theirs.size, int) and theirs.size not in (_A, _A * 2)
        if not made_up and mine.size != theirs.size:
            return False
        if theirs.stride is not None and mine.stride != theirs.stride:
            return False
    return b.offset is None or a.offset == b.offset


@given(LAYOUTS)
def test_join_is_idempotent(a: Layout) -> None:
    assert join(a, a, "k", FACTS) == a


@given(LAYOUTS, LAYOUTS)
def test_join_is_commutative(a: Layout, b: Layout) -> None:
    assert join(a, b, "k", FACTS) == join(b, a, "k", FACTS)


@given(LAYOUTS, LAYOUTS)
def test_join_is_an_upper_bound(a: Layout, b: Layout) -> None:
    assert below(a, join(a, b, "k", FACTS)) and below(b, join(a, b, "k", FACTS))


@given(LAYOUTS, LAYOUTS, LAYOUTS)
def test_join_is_associative_up_to_made_up_sizes(a: Layout, b: Layout, c: Layout) -> None:
    left, right = join(join(a, b, "k", FACTS), c, "k", FACTS), join(a, join(b, c, "k", FACTS), "k", FACTS)
    assert left.rank == right.rank
    assert below(a, left) and below(c, left) and below(a, right) and below(c, right)


@given(LAYOUTS, LAYOUTS)
def test_joining_again_changes_nothing(a: Layout, b: Layout) -> None:
    joined = join(a, b, "k", FACTS)
    assert join(joined, b, "k", FACTS) == joined


@given(LAYOUTS, LAYOUTS)
def test_widen_is_above_join(a: Layout, b: Layout) -> None:
    assert below(join(a, b, "k", FACTS), widen(a, b, "k", FACTS))


@given(LAYOUTS, st.lists(LAYOUTS, min_size=4, max_size=8))
def test_widening_chains_end(start: Layout, steps: list[Layout]) -> None:
    seen = [start]
    for step in steps:
        seen.append(widen(seen[-1], step, "k", FACTS))
    changes = sum(before != after for before, after in pairwise(seen))
    assert changes <= len(start.dims) + 3  # each size, the strides together, the offset, the rank


@given(st.lists(SIZES, max_size=3))
def test_unknown_strides_say_nothing_of_strides(sizes: list[int]) -> None:
    layout = unknown_strides(sizes)
    assert all(stride is None for stride in layout.strides) and layout.offset is None


def test_what_both_say_is_kept() -> None:
    """Each size, each stride and the offset on its own."""
    left = Layout((Dim(2, _A), Dim(_A, 1), Dim(3, 4)), 5)
    right = Layout((Dim(2, 6), Dim(3, 1), Dim(3, 4)), 5)
    joined = join(left, right, "k", FACTS)
    assert joined == Layout((Dim(2, None), Dim(FACTS.symbols.atom(("join", "k", 1)), 1), Dim(3, 4)), 5)
    assert join(left, Layout(left.dims, 6), "k", FACTS) == Layout(left.dims, None)
    assert join(left, Layout(left.dims, None), "k", FACTS) == Layout(left.dims, None)


def test_unknown_sizes_are_told_apart_by_key_and_place() -> None:
    left, right = contiguous((2, 3)), contiguous((4, 5))
    sizes = [*join(left, right, "k", FACTS).sizes, *join(left, right, "other", FACTS).sizes]
    assert len(set(sizes)) == 4
    assert join(right, left, "k", FACTS).sizes == tuple(sizes[:2])
    assert all(FACTS.less(size, 0) is NO for size in sizes)


def test_other_ranks_make_an_unknown_one() -> None:
    left, right = contiguous((2, 3)), contiguous((2, 3, 4))
    joined = join(left, right, "k", FACTS)
    assert joined == unknown_layout("k", FACTS) != unknown_layout("other", FACTS)
    assert joined.rank is None and joined.strides == (None,)
    top = unknown_layout("top", FACTS)
    for pair in ((left, top), (top, left)):
        assert join(*pair, "k", FACTS) == unknown_layout("k", FACTS)
    assert join(top, top, "k", FACTS) == top
    assert widen(left, right, "k", FACTS) == unknown_layout("k", FACTS)


def test_widening_forgets_strides_all_together() -> None:
    left, right = Layout((Dim(2, 3), Dim(3, 1)), 5), Layout((Dim(2, 7), Dim(3, 1)), 5)
    assert widen(left, right, "k", FACTS) == unknown_strides((2, 3))
    assert widen(left, left, "k", FACTS) == left
    above = Layout((Dim(2, None), Dim(3, 1)), 5)
    assert widen(above, left, "k", FACTS) == above
    sized = widen(contiguous((2, 3)), contiguous((4, 3)), "k", FACTS)
    assert sized == unknown_strides((FACTS.symbols.atom(("join", "k", 0)), 3))


def test_an_unknown_tensor_has_a_name() -> None:
    facts = Facts()
    (extent,) = unknown_layout("key", facts, "x").shape
    assert isinstance(extent, Rest) and extent.name == "x" and extent.key == "key"
    assert facts.symbols.rest("key") is extent
