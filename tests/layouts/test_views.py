"""Which shapes can be had as views: -1, sizes that have to divide, and runs of dimensions."""

from __future__ import annotations

import pytest
from families import FACTS, RESTS, size, worlds

from torchlayout.layouts import Dim, Layout, contiguous, infer_shape, learn_even_splits, strided, view
from torchlayout.layouts.views import ViewAnswer, runs
from torchlayout.sizes import MAYBE, NO, YES, Facts, Rest, Shape, Size

X = RESTS["*x"]
B, C, H, T, N = (size(name) for name in "BCHTN")


@pytest.fixture
def facts() -> Facts:
    return Facts(FACTS.symbols)


def told() -> Facts:
    """Facts that know of every size that it is above 1."""
    return worlds()["told"][0]


@pytest.mark.parametrize(
    ("numel", "shape", "result"),
    [
        (12, (3, 4), (3, 4)),
        (12, (3, 5), None),
        (12, (-1,), (12,)),
        (12, (4, -1), (4, 3)),
        (12, (-1, 4, 1), (3, 4, 1)),
        (12, (5, -1), None),
        (12, (12, -1), (12, 1)),
        (12, (-1, -1), None),
        (12, (-2, 6), None),
        (12, (-2, -1), None),
        (0, (0, 3), (0, 3)),
        (0, (0, -1), None),
        (0, (3, -1), (3, 0)),
        (1, (), ()),
        (2, (), None),
        (B * C, (B, -1), (B, C)),
        (B * C, (-1,), (B * C,)),
        (B * C, (C, B), (C, B)),
        (B * C, (B, T), (B, T)),  # where C is T
        (B * C, (B * C + 1,), None),
        (B * C * 6, (-1, C, 2), (B * 3, C, 2)),
        (X.numel * C, (X, -1), (X, C)),
        (X.numel * C, (-1, C), (X.numel, C)),
        (X.numel * C, (X, C), (X, C)),
    ],
)
def test_the_size_that_is_left_out(numel: Size, shape: Shape, result: Shape | None, facts: Facts) -> None:
    assert infer_shape(numel, shape, facts) == result


@pytest.mark.parametrize("part", [T, 4, B * 2])
def test_a_view_that_works_leaves_nothing_over(part: Size, facts: Facts) -> None:
    for shape in ((part, -1), (-1, part)):
        found = infer_shape(C, shape, facts)
        assert found is not None and facts.equal(found[0] * found[1], C) is YES  # type: ignore[operator]
    before = facts.copy()
    assert infer_shape(B * C, (B, -1), facts) is not None
    assert facts.same_as(before)


@pytest.mark.parametrize(
    ("others", "learnt"),
    [
        ((H,), True),
        ((B, T, H), True),
        ((-1, H), True),
        ((X, H), True),
        ((0, H), True),
        ((T,), False),
        ((), False),
        ((X, -1), False),
        ((2, H), True),
        ((0,), False),
        ((-1,), False),
        ((1, T), False),
    ],
)
def test_splits_that_have_to_be_even(others: Shape, learnt: bool, facts: Facts) -> None:
    """A shape of a size and what something is divided by it to."""
    part = facts.floor_divide(C, H)
    before = facts.copy()
    for shape in ((*others, part), (part, *others)):
        facts.become(before)
        learn_even_splits(shape, facts)
        assert facts.equal(C, H * part) is (YES if learnt else MAYBE)


def test_splits_by_a_product(facts: Facts) -> None:
    part = facts.floor_divide(C, H * 2)
    learn_even_splits((2, H, part), facts)
    assert facts.equal(C, H * part * 2) is YES


def test_other_operations_teach_nothing(facts: Facts) -> None:
    """Nor do unknowns with keys of any kind."""
    odd = [facts.symbols.atom(key) for key in (7, "abc", ("//",), ("%", C, H), ("a", "b", "c"))]
    before = facts.copy()
    learn_even_splits((H, *odd, facts.modulo(C, H), facts.quotient(C, H)), facts)
    assert facts.same_as(before)


def described(layout: Layout, facts: Facts) -> tuple[list[tuple[Size, Size | None]], object]:
    found, sure = runs(layout, facts)
    return [(run.numel, run.stride) for run in found], sure


def test_runs_of_dimensions_that_may_be_one() -> None:
    """A dimension of size 1 parts nothing."""
    for facts, sure in ((told(), YES), (Facts(FACTS.symbols), MAYBE)):
        assert described(strided((3, B), (B * 2 + 1, 2)), facts) == ([(3, B * 2 + 1), (B, 2)], sure)
        assert described(strided((B, 3), (7, 2)), facts) == ([(B, 7), (3, 2)], sure)
        assert described(strided((2, 3), (7, 2)), facts) == ([(2, 7), (3, 2)], YES)


def test_runs_of_dimensions_that_lie_next_to_each_other() -> None:
    facts = Facts()
    assert described(contiguous((2, 3, 4)), facts) == ([(24, 1)], YES)
    assert described(strided((2, 3, 4), (12, 1, 3)), facts) == ([(2, 12), (3, 1), (4, 3)], YES)
    assert described(strided((2, 3, 4), (24, 4, 1)), facts) == ([(2, 24), (12, 1)], YES)
    assert described(strided((2, 1, 4), (4, 99, 1)), facts) == ([(8, 1)], YES)
    assert described(strided((1, 1), (5, 7)), facts) == ([], YES)
    assert described(strided((2, 3), (None, 1)), facts) == ([(2, None), (3, 1)], MAYBE)
    assert described(strided((2, 3, 4), (5, None, 1)), facts) == ([(2, 5), (3, None), (4, 1)], MAYBE)


@pytest.mark.parametrize(
    ("layout", "shape", "exists"),
    [
        (strided((B, C), (None, 1)), (B * C,), MAYBE),
        (strided((B, C), (1, None)), (B * C,), MAYBE),
        (strided((4, C), (None, 1)), (2, 2, C), YES),
        (strided((4, C), (None, 1)), (2, 2 * C), NO),
        (strided((2, 3), (1, 2)), (6,), NO),
        (strided((2, 3), (1, 2)), (3, 2), NO),
        (strided((2, 3), (7, 2)), (2, 3, 1), YES),
        (strided((B, 2, C), (C * 9, C * 2, 1)), (B, C * 2), NO),
        (strided((B, 2, C), (C * 9, C * 2, 1)), (B * 2, C), NO),
        (strided((B, 2, C), (C * 4, C * 2, 1)), (B * 2, C), YES),
        (strided((B, 2, C), (C * 4, C * 2, 1)), (B, 2 * C), NO),
    ],
)
def test_views_of_what_is_above_one(layout: Layout, shape: Shape, exists: object, facts: Facts) -> None:
    answer = view(layout, shape, facts.assumed_world)
    assert answer is not None
    if exists is NO and layout.strides[0] is None:
        assert answer.exists is not YES
        return
    assert answer.exists is exists
    assert (answer.layout is None) is (exists is NO)
    if exists is YES:
        assert not answer.by_chance and answer.layout is not None and answer.layout.shape == shape
    if exists is MAYBE:
        assert answer.layout is not None and set(answer.layout.strides) == {None} and answer.layout.offset is None


ROWS_OF_COLUMNS = Layout((Dim(C, 1), Dim(B, C)))
REVERSED = Layout((Dim(C, 1), Dim(T, C), Dim(B, T * C)))
LONG_ROWS = Layout((Dim(B, 1), Dim(T + 6, B)))
SOME = strided((B, C), (T, 1))


@pytest.mark.parametrize(
    ("layout", "shape"),
    [
        (ROWS_OF_COLUMNS, (N,)),
        (ROWS_OF_COLUMNS, (N, 1)),
        (REVERSED, (N, B)),
        (REVERSED, (N, 1, B)),
        (REVERSED, (N, 1, 1, B)),
        (REVERSED, (N,)),
        (REVERSED, (N, H)),
        (REVERSED, (N, 1, H)),
        (REVERSED, (N, H, 1)),
        (Layout((Dim(C, 1), Dim(B, T * C), Dim(T, C))), (N,)),
        (ROWS_OF_COLUMNS, (X, B * 2)),
        (LONG_ROWS, (N, 5)),
    ],
)
def test_shapes_that_merge_whatever_their_sizes_are(layout: Layout, shape: Shape) -> None:
    """There are fewer cuts than runs, or one that fits none."""
    for facts in (told(), worlds()["assumed"][0]):
        answer = view(layout, shape, facts)
        assert answer is not None and answer.exists is NO and answer.layout is None
    unsure = view(layout, shape, Facts(FACTS.symbols))
    assert unsure is not None and unsure.exists is MAYBE


def test_shapes_that_merge_unless_sizes_are_one_or_zero(facts: Facts) -> None:
    for shape in ((N, B * T), (2, C, B)):
        answer = view(ROWS_OF_COLUMNS, shape, facts)
        assert answer is not None and answer.exists is MAYBE and not answer.by_chance


@pytest.mark.parametrize(
    ("layout", "shape", "by_chance"),
    [
        (ROWS_OF_COLUMNS, (N, T), False),
        (ROWS_OF_COLUMNS, (X,), False),
        (ROWS_OF_COLUMNS, (X, X), False),
        (REVERSED, (N, H, T), False),
        (SOME, (B * C,), True),
        (SOME, (N, C + 1), True),
        (SOME, (N, H), False),
        (LONG_ROWS, (X, 5), False),
        (Layout((Dim(B, 1), Dim(T, B))), (N, 5), False),
        (Layout((Dim(B, 1), Dim(4, B))), (N, H), False),
        (Layout((Dim(B, N), Dim(T, C), Dim(C, 1))), (B * T * C,), True),
        (strided((4, C), (None, 1)), (2, C * 2), False),
    ],
)
def test_shapes_that_may_merge(layout: Layout, shape: Shape, by_chance: bool) -> None:
    for facts in (told(), worlds()["assumed"][0]):
        answer = view(layout, shape, facts)
        assert answer is not None and answer.exists is MAYBE and answer.by_chance is by_chance


def test_a_size_that_reaches_beyond_a_run_by_assumption() -> None:
    """Of T, `x[2:]` leaves more than 1: no size is 1 by accident."""
    for world, exists in (("assumed", NO), ("told", MAYBE)):
        answer = view(ROWS_OF_COLUMNS, (N, B * (T - 2)), worlds()[world][0])
        assert answer is not None and answer.exists is exists


def test_a_cut_by_one_may_be_the_one_that_fits(facts: Facts) -> None:
    """A transposed 2 by 3 as N by H: 2 by 3 it can be, and 6 by 1 it cannot."""
    for known in (facts, told(), facts.assumed_world):
        answer = view(strided((2, 3), (1, 2)), (N, H), known)
        assert answer is not None and answer.exists is MAYBE


def test_a_number_of_elements_by_an_unknown_size(facts: Facts) -> None:
    found = infer_shape(12, (B, -1), facts)
    assert found is not None and found[0] is B and facts.equal(found[1] * B, 12) is not NO  # type: ignore[operator]


def test_dimensions_that_must_be_one_for_the_shape_to_fit(facts: Facts) -> None:
    for extent in (T, X):
        answer = view(ROWS_OF_COLUMNS, (extent, C, B), facts)
        assert answer is not None and answer.exists is YES and answer.layout is not None
        assert answer.layout.shape == (extent, C, B) and answer.layout.strides == (1, 1, C)
        assert view(ROWS_OF_COLUMNS, (extent, C, B), facts.assumed_world) is None  # too many elements
    short = view(ROWS_OF_COLUMNS, (B,), facts)
    assert short is not None and short.exists is MAYBE and not short.by_chance
    nothing = view(strided((B, C, 2), (1, B, 7)), (2,), facts)
    assert nothing is not None and nothing.exists is MAYBE


def test_the_offset_of_a_view_is_that_of_the_tensor(facts: Facts) -> None:
    for layout in (contiguous((B, 4), 7), strided((B, 4), (1, B), 7)):
        for shape in ((B, 2, 2), (B, 4)):
            answer = view(layout, shape, facts)
            assert answer is not None and answer.layout is not None and answer.layout.offset == 7


def test_an_answer_is_not_by_chance_unless_it_says_so() -> None:
    assert not ViewAnswer(YES, contiguous(())).by_chance


def test_unknown_dimensions_in_the_shape(facts: Facts) -> None:
    turned = Layout((Dim(C, 1), Dim(X.numel, C, X)))
    assumed = facts.assumed_world
    for shape, exists in (((C, X), YES), ((C, 1, X), YES), ((C, X.numel), YES), ((X, C), None), ((C * X.numel,), None)):
        answer = view(turned, shape, assumed)
        assert answer is not None and (answer.exists is YES) is (exists is YES)
        assert exists is not YES or (answer.layout is not None and answer.layout.shape == shape)
    assert isinstance(turned.shape[1], Rest)
