"""Tensors of unknown rank: what is told holds of torch's strides for every number of dimensions."""

from __future__ import annotations

import pytest
import torch
from families import ABOVE_ONE, FACTS, RESTS, Family, packed, size, spread, worlds

from torchlayout.layouts import (
    Dim,
    Layout,
    ShapeMismatch,
    broadcast,
    contiguous,
    expand_to,
    has_overlap,
    is_channels_last,
    is_concrete,
    is_contiguous,
    is_dense,
    output_layout,
    preserved,
    same_layout,
    settle,
    strided,
    suggests_channels_last,
    unknown_strides,
    view,
)
from torchlayout.sizes import MAYBE, NO, YES, Facts, Shape

X, Y = RESTS["*x"], RESTS["*y"]
B, C, T = size("B"), size("C"), size("T")


@pytest.fixture(params=["assumed", "told", "may be 1"])
def facts(request: pytest.FixtureRequest) -> Facts:
    return worlds()[request.param][0]


def matches(layout: Layout, x: torch.Tensor, numbers: dict[str, object]) -> bool:
    """Whether all is told of it."""
    said = spread(layout, numbers)
    assert [size for size, _ in said] == list(x.shape)
    told = all(stride is not None for _, stride in said)
    assert not told or [s for n, s in said if n != 1] == [s for n, s in zip(x.shape, x.stride(), strict=True) if n != 1]
    return told


SUMS = {
    "alike": (packed("*x", "C"), packed("*x", "C")),
    "a bias": (packed("*x", "C"), packed("C")),
    "a bias first": (packed("C"), packed("*x", "C")),
    "all and a column": (packed("*x", "C"), packed("*x", 1)),
    "a number": (packed("*x"), packed()),
    "a single": (packed("*x", "C"), packed(1)),
    "a column": (packed("*x", "T", "C"), packed("T", 1)),
    "alike, transposed": (packed("*x", "C", "T").transpose_last(), packed("*x", "C", "T").transpose_last()),
    "only the first transposed": (packed("*x", "C", "T").transpose_last(), packed("*x", "T", "C")),
    "only the second transposed": (packed("*x", "T", "C"), packed("*x", "C", "T").transpose_last()),
    "rows": (packed("*x", "T", "C").transpose_last(), packed("T")),
}


@pytest.mark.parametrize(("left", "right"), SUMS.values(), ids=list(SUMS))
def test_sums(left: Family, right: Family) -> None:
    for world in ("assumed", "told"):
        facts, _ = worlds()[world]
        shape = broadcast([left.layout.shape, right.layout.shape], facts)
        assert shape in (left.layout.shape, right.layout.shape)
        layout = output_layout([left.layout, right.layout], shape, facts)
        for numbers in left.members(ABOVE_ONE[:2], right):
            assert matches(layout, left.make(numbers) + right.make(numbers), numbers)


CLONED = {
    "packed": packed("*x"),
    "packed between": packed("B", "*x", "C"),
    "transposed": packed("*x", "T", "C").transpose_last(),
    "narrowed": packed("*x", "2*C").narrow(-1, "C"),
}


@pytest.mark.parametrize("family", CLONED.values(), ids=list(CLONED))
def test_clones(family: Family, facts: Facts) -> None:
    layout = preserved(family.layout, facts)
    for numbers in family.members(ABOVE_ONE[:2]):
        told = matches(layout, family.make(numbers).clone(), numbers)
        assert told or (facts.known.least == {} and not facts.assumed and not family.layout.packed)


def test_questions_about_packed_tensors(facts: Facts) -> None:
    layout = contiguous((B, X, C))
    assert layout.rank is None and layout.packed
    assert is_contiguous(layout, facts) is YES and is_dense(layout, facts) is YES and has_overlap(layout, facts) is NO
    for question in (is_channels_last, suggests_channels_last):
        assert question(layout, facts) is MAYBE
    unknown = unknown_strides((X,))
    for question in (is_contiguous, is_dense, has_overlap, is_channels_last, suggests_channels_last):
        assert question(unknown, facts) is MAYBE
    assert not is_concrete(layout) and not is_concrete(unknown)


def test_the_same_layout(facts: Facts) -> None:
    one = contiguous((X, C))
    assert same_layout(one, contiguous((X, C)), facts) is YES
    assert same_layout(one, contiguous((Y, C)), facts) is MAYBE
    assert same_layout(one, contiguous((C, X)), facts) is MAYBE
    assert same_layout(one, contiguous((B, T, C)), facts) is MAYBE
    assert same_layout(contiguous((B, T, C)), one, facts) is MAYBE
    assert same_layout(contiguous((B, C)), contiguous((B, T, C)), facts) is NO
    assert same_layout(unknown_strides((X,)), unknown_strides((X,)), facts) is MAYBE
    facts.learn_equal(X.numel, B)  # of how many dimensions is not told
    assert same_layout(contiguous((B,)), contiguous((X,)), facts) is not YES
    assert same_layout(contiguous((X,)), contiguous((B,)), facts) is not YES


def test_the_rank_is_put_in_once_it_is_known(facts: Facts) -> None:
    layout = Layout((*contiguous((X, C)).dims[:1], Dim(C, 2)), offset=T)
    wide = Layout((Dim(X.numel, C * 4, X), Dim(C, 1)), offset=3)
    unknown = unknown_strides((B, X))
    assert settle(layout, facts) is layout and settle(wide, facts) is wide
    facts.bind(X, (B, T))
    facts.learn_equal(T, 5)
    assert settle(layout, facts) == Layout((Dim(B, C * 5), Dim(5, C), Dim(C, 2)), offset=5)
    assert settle(wide, facts) == Layout((Dim(B, C * 20), Dim(5, C * 4), Dim(C, 1)), offset=3)
    assert settle(unknown, facts) == Layout((Dim(B, None), Dim(B, None), Dim(5, None)), offset=None)
    assert settle(contiguous((X, C), T), facts) == contiguous((B, 5, C), 5)
    assert settle(settle(wide, facts), facts) is settle(wide, facts)
    facts.learn_equal(C, 2)
    assert settle(wide, facts) == Layout((Dim(B, 40), Dim(5, 8), Dim(2, 1)), offset=3)


def test_a_rest_within_a_rest_is_put_in_too(facts: Facts) -> None:
    facts.bind(X, (B, Y))
    assert settle(contiguous((X, C)), facts).shape == (B, Y, C)
    facts.bind(Y, (T, 2))
    assert settle(contiguous((X, C)), facts) == contiguous((B, T, 2, C))
    loose = Layout((Dim(X.numel, 3, X),))
    assert settle(loose, facts) == Layout((Dim(B, T * 6), Dim(T, 6), Dim(2, 3)))


def test_a_rest_without_elements(facts: Facts) -> None:
    """Strides count a size of 0 as 1, as torch's do."""
    facts.bind(X, (2, 0, 3))
    loose = settle(Layout((Dim(X.numel, 1, X),)), facts)
    assert loose.strides == torch.zeros(2, 0, 3).stride()


BROADCAST: list[tuple[list[Shape], Shape | None]] = [
    ([(X, C), (X, C)], (X, C)),
    ([(X, C), (C,)], (X, C)),
    ([(C,), (X, C)], (X, C)),
    ([(X, C), ()], (X, C)),
    ([(), ()], ()),
    ([(X, 1), (C,)], (X, C)),
    ([(X, C), (1,)], (X, C)),
    ([(X, 3), (X, 1)], (X, 3)),
    ([(X, C), (Y, C)], None),
    ([(X, C), (B, C)], None),
    ([(B, X), (B, X)], (B, X)),
    ([(T, X), (B, X)], None),
    ([(X, T, C), (Y,)], None),
    ([(X, T, C), (X, T, C), (T, 1)], (X, T, C)),
    ([(X, T, C), (X, 1, C), (1,)], (X, T, C)),
]


@pytest.mark.parametrize(("shapes", "result"), BROADCAST)
def test_broadcasting(shapes: list[Shape], result: Shape | None, facts: Facts) -> None:
    assert broadcast(shapes, facts) == result


def test_sizes_that_must_be_equal_once_they_are_not_one() -> None:
    proven, assumed = worlds()["may be 1"][0], worlds()["assumed"][0]
    for left, right in ((B, T), (T, B)):
        assert broadcast([(left,), (right,)], proven) is None
        assert broadcast([(left,), (right,)], assumed) == (left,)
    for facts in (proven, assumed):
        assert broadcast([(B,), (3,)], facts) == broadcast([(3,), (B,)], facts) == (3,)
        assert broadcast([(B,), (3,), (T,)], facts) == (3,)
        with pytest.raises(ShapeMismatch):
            broadcast([(3,), (4,)], facts)
        with pytest.raises(ShapeMismatch):
            broadcast([(B + 2,), (B + 3,)], facts)
    assert broadcast([(B + 2,), (T,)], proven) is None and broadcast([(T,), (B + 2,)], proven) is None
    assert broadcast([(B + 2,), (5,)], proven) == broadcast([(5,), (B + 2,)], proven) == (5,)
    assert broadcast([(B + 2,), (T + 2,)], proven) == (B + 2,)
    assert broadcast([(B,), (B + 1,)], proven) is None  # 1 and 2
    with pytest.raises(ShapeMismatch):
        broadcast([(B,), (B + 1,)], assumed)
    proven.learn_equal(B, T)
    for last in (1, 3):
        known = broadcast([(B,), (T,), (last,)], proven)
        assert known is not None and proven.equal(known[0], B if last == 1 else 3) is not NO
        assert known == ((3,) if last == 3 else (B,))


def test_expanding_to_an_unknown_rank(facts: Facts) -> None:
    bias = Layout((Dim(C, 2),), offset=7)
    found = expand_to(bias, (B, X, C), facts)
    assert found == Layout((Dim(B, 0), Dim(X.numel, 0, X), Dim(C, 2)), offset=7)
    assert expand_to(contiguous((T, 1)), (X, T, C), facts) == Layout((Dim(X.numel, 0, X), Dim(T, 1), Dim(C, 0)))
    assert expand_to(contiguous(()), (X,), facts) == Layout((Dim(X.numel, 0, X),))
    assert expand_to(contiguous((T, C)), (X, C), facts) is None
    assert expand_to(contiguous((2, T, C)), (T, C), facts) is None
    assert expand_to(contiguous((T,)), (X, C), facts) is None
    assert expand_to(contiguous((X, C)), (Y, C), facts) is None
    assert expand_to(contiguous((X, C)), (B, T, C), facts) is None
    assert expand_to(contiguous((X, C)), (X, C), facts) == contiguous((X, C))
    facts.learn_equal(X.numel, B)  # of how many dimensions is not told
    assert expand_to(contiguous((X, C)), (B, C), facts) is None


def test_sums_with_what_may_have_to_be_stretched() -> None:
    """C is 3, or 1: where the first operand settles the order alone, that does not matter."""
    first, second = packed("*x", 3, 4).transpose_last(), packed("*x", 4, "C")
    for world in ("assumed", "told"):
        facts, _ = worlds()[world]
        shape = broadcast([first.layout.shape, second.layout.shape], facts)
        assert shape == (X, 4, 3)
        layouts = [first.layout, second.layout]
        assert expand_to(second.layout, shape, facts) is None
        layout = output_layout(layouts, shape, facts)
        for numbers in first.members(ABOVE_ONE):
            assert matches(layout, first.make(numbers) + second.make({**numbers, "C": 3}), numbers)
        assert output_layout(layouts[::-1], shape, facts) == unknown_strides(shape)
        for stride in (0, None):
            wide = Layout((Dim(X.numel, stride, X), Dim(4, 1), Dim(3, 4)))
            assert output_layout([wide, second.layout], shape, facts) == unknown_strides(shape)
    layouts = [contiguous((X, C)), contiguous((3,))]
    for facts, _ in worlds().values():
        assert output_layout(layouts, (X, 3), facts) == contiguous((X, 3))


def test_the_first_operand_that_tells_dimensions_apart_decides() -> None:
    known, unknown = contiguous((X, C)), unknown_strides((X, C))
    repeated = Layout((Dim(X.numel, 0, X), Dim(C, 1)))
    for world in ("assumed", "told"):
        facts, _ = worlds()[world]
        assert output_layout([known, unknown], (X, C), facts) == known
        assert output_layout([unknown, known], (X, C), facts) == unknown
        assert output_layout([repeated, known], (X, C), facts) == known
        assert output_layout([repeated, unknown], (X, C), facts) == unknown
        assert output_layout([repeated, unknown, known], (X, C), facts) == unknown
        assert output_layout([Layout((Dim(X.numel, 1, X), Dim(C, None)))], (X, C), facts) == unknown
    # all of an unknown rank alone
    known, unknown, repeated = contiguous((X,)), unknown_strides((X,)), Layout((Dim(X.numel, 0, X),))
    for facts, _ in worlds().values():
        assert output_layout([unknown], (X,), facts) == unknown and preserved(unknown, facts) == unknown
        assert output_layout([known, unknown], (X,), facts) == known
        assert output_layout([unknown, known], (X,), facts) == unknown
        assert output_layout([repeated, unknown], (X,), facts) == unknown
        assert output_layout([repeated, known], (X,), facts) == known
        assert output_layout([repeated], (X,), facts) == preserved(repeated, facts) == known


def test_windows_of_sizes_that_cannot_be_compared(facts: Facts) -> None:
    """`x.unfold(0, C, 1)` has two strides of 1, and what is made of it lies as the larger size says."""
    windows = Layout((Dim(B, 1), Dim(C, 1)))
    assert output_layout([windows], (B, C), facts) == preserved(windows, facts) == unknown_strides((B, C))
    for length in (2, 5):
        x = torch.zeros(6).unfold(0, length, 1)
        known = strided(tuple(x.shape), x.stride())
        assert output_layout([known], x.shape, facts).strides == torch.neg(x).stride()
        assert preserved(known, facts).strides == x.clone().stride()


def test_a_line_of_any_stride_is_packed_by_what_is_made_of_it(facts: Facts) -> None:
    for stride in (None, 2, T):
        line = Layout((Dim(B, stride),))
        assert preserved(line, facts) == output_layout([line], (B,), facts) == contiguous((B,))


def test_a_shape_that_is_not_that_of_the_operands(facts: Facts) -> None:
    for operand in (contiguous((2, 3)), contiguous((2, C))):
        assert output_layout([operand], (3,), facts) in (unknown_strides((3,)), contiguous((3,)))
    assert output_layout([Layout((Dim(2, 1), Dim(3, 2)))], (3,), facts) == unknown_strides((3,))


def test_clones_with_dimensions_of_one() -> None:
    """Their strides do not matter, known or not."""
    for world in ("assumed", "told"):
        facts, _ = worlds()[world]
        for odd in (None, 0, 7):
            loose = Layout((Dim(B, C * 2), Dim(1, odd), Dim(C, 1)))
            dims = preserved(loose, facts).dims
            assert (dims[0], dims[2]) == (Dim(B, C), Dim(C, 1))
            turned = Layout((Dim(C, 1), Dim(1, odd), Dim(B, C * 2)))
            dims = preserved(turned, facts).dims
            assert (dims[0], dims[2]) == (Dim(C, 1), Dim(B, C))
            total = output_layout([turned, turned], (C, 1, B), facts)
            assert total.strides[0] in (1, None) and total.strides[2] in (C, None)


def test_strides_that_cannot_be_compared(facts: Facts) -> None:
    packed_rows, turned = contiguous((B, C)), Layout((Dim(B, 1), Dim(C, None)))
    for operands in ([unknown_strides((B, C)), packed_rows], [turned, packed_rows], [Layout((Dim(B, T), Dim(C, 5)))]):
        assert output_layout(operands, (B, C), facts) == unknown_strides((B, C))


def test_expanding_what_may_be_one() -> None:
    proven, assumed = worlds()["may be 1"][0], worlds()["assumed"][0]
    layout = contiguous((B, C))
    for facts in (proven, assumed):
        assert expand_to(contiguous((B, 1)), (B, C), facts) == Layout((Dim(B, 1), Dim(C, 0)))
        assert expand_to(layout, (T, B, C), facts) == Layout((Dim(T, 0), *layout.dims))
        assert expand_to(layout, (C,), facts) is None
    found = expand_to(layout, (T, C), proven)
    assert found == Layout((Dim(T, None), Dim(C, 1)))
    proven.learn_equal(T, B)
    found = expand_to(layout, (T, C), proven)
    assert found is not None and found.strides == (C, 1)
    assert expand_to(strided((1, 3), (3, 1), 5), (2, 3), proven) == strided((2, 3), (0, 1), 5)
    found = expand_to(layout, (T, C), assumed)
    assert found is not None and found == Layout((Dim(T, C), Dim(C, 1)))


def test_views_of_unknown_dimensions(facts: Facts) -> None:
    layout = contiguous((X, C))
    for shape in ((X, C), (-1, C), (X.numel * C,), (X, 1, C), (-1,)):
        answer = view(layout, shape, facts)
        assert answer is not None and answer.exists is YES and answer.layout is not None
        assert is_contiguous(answer.layout, facts) is YES
    assert view(layout, (-1, -1), facts) is None and view(layout, (-2, C), facts) is None
    turned = Layout(tuple(reversed(contiguous((C, X)).dims)))
    answer = view(turned, (X, C), facts)
    assert answer is not None and answer.exists is YES and answer.layout == turned
    same = view(turned, (X, 1, C), facts)
    assert same is not None and same.exists is not NO


def test_unknown_strides_tell_nothing_but_the_shape(facts: Facts) -> None:
    layout = unknown_strides((B, C))
    answer = view(layout, (B * C,), facts)
    assert answer is not None and answer.exists is MAYBE and not answer.by_chance
    assert answer.layout == unknown_strides((B * C,))
    assert preserved(layout, facts) == layout
    assert output_layout([layout, layout], (B, C), facts) == layout
    ones = unknown_strides((1, 1))
    for question in (is_contiguous, is_dense):
        assert question(ones, facts) is YES
    assert has_overlap(ones, facts) is NO
    assert FACTS.known.rewrites == {}
