"""The laws of joining, one a line."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from torchlayout.layouts import Dim, Layout, join, unknown_layout, unknown_strides, widen
from torchlayout.sizes import Facts

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
