"""Symbolic layouts: whatever is answered with YES, NO or a stride is true of every number put in."""

from __future__ import annotations

import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tensors import Twin, layout_of, twins

from torchlayout.layouts import (
    Layout,
    broadcast,
    contiguous,
    has_overlap,
    is_channels_last,
    is_contiguous,
    is_dense,
    output_layout,
    preserved,
    settle,
    strided,
    suggests_channels_last,
    view,
    with_leading,
    with_rank,
    with_trailing,
)
from torchlayout.sizes import MAYBE, NO, YES, Facts, Size, Truth, product

MANY = settings(max_examples=3 * settings.default.max_examples)
QUESTIONS = [is_contiguous, is_dense, has_overlap, is_channels_last, suggests_channels_last]
TwinOf = tuple[torch.Tensor, Layout, Twin, list[Size]]


def assert_stands_for(layout: Layout, x: torch.Tensor, twin: Twin) -> None:
    """Every size and every significant stride that is known is the real one."""
    layout = settle(layout, twin.facts)
    assert len(layout.dims) == x.dim()
    for dim, size, stride in zip(layout.dims, x.shape, x.stride(), strict=True):
        said = twin.number(dim.size)
        assert said is None or said == size
        if size > 1 and x.numel() and dim.stride is not None:
            value = twin.number(dim.stride)
            assert value is None or value == stride


@MANY
@given(st.booleans().flatmap(twins), st.sampled_from(QUESTIONS))
def test_answers_hold_for_the_numbers(case: TwinOf, question: object) -> None:
    x, layout, twin, _ = case
    answer: Truth = question(layout, twin.facts)  # type: ignore[operator]
    concrete: Truth = question(layout_of(x), Facts())  # type: ignore[operator]
    if answer is not MAYBE and concrete is not MAYBE:
        assert answer is concrete


@given(twins())
def test_what_is_proven_is_assumed(case: TwinOf) -> None:
    _, layout, twin, _ = case
    for question in QUESTIONS:
        proven = question(layout, twin.facts.proven_world)
        if proven is not MAYBE:
            assert question(layout, twin.facts.assumed_world) in (proven, MAYBE)


@st.composite
def regrouped(draw: st.DrawFn, sizes: list[Size]) -> list[Size]:
    """The sizes with neighbours multiplied, ones put in and one of them as -1: a view of a packed tensor."""
    groups: list[list[Size]] = []
    for size in sizes:
        if groups and draw(st.booleans()):
            groups[-1].append(size)
        else:
            groups.append([size])
    shape: list[Size] = [product(group) for group in groups]
    if draw(st.booleans()):
        shape.insert(draw(st.integers(0, len(shape))), 1)
    if draw(st.booleans()):
        shape[draw(st.integers(0, len(shape) - 1))] = -1
    return shape


@MANY
@given(st.data(), st.booleans().flatmap(twins))
def test_symbolic_views(data: st.DataObject, case: TwinOf) -> None:
    x, layout, twin, sizes = case
    pieces = list(sizes)
    if data.draw(st.booleans()):
        pieces = data.draw(st.permutations(pieces))
    shape = data.draw(regrouped(pieces))
    answer = view(layout, tuple(shape), twin.facts)
    numbers = [twin.number(size) for size in shape]
    try:
        expected = x.view([n if n is not None else -1 for n in numbers])
    except RuntimeError:
        assert answer is None or answer.exists is not YES
        return
    assert answer is not None
    assert answer.exists is not NO
    if answer.layout is not None:
        assert_stands_for(answer.layout, expected, twin)


@MANY
@given(st.booleans().flatmap(twins))
def test_a_clone(case: TwinOf) -> None:
    x, layout, twin, _ = case
    assert_stands_for(preserved(layout, twin.facts), x.clone(), twin)


@MANY
@given(st.booleans().flatmap(twins), st.permutations(range(4)), st.booleans())
def test_elementwise_with_another_order(case: TwinOf, order: list[int], first: bool) -> None:
    x, layout, twin, sizes = case
    order = [place for place in order if place < x.dim()]
    inverse = [order.index(i) for i in range(x.dim())]
    y = torch.zeros([x.size(i) for i in order]).permute(inverse)
    packed = contiguous([sizes[i] for i in order])
    other = Layout(tuple(packed.dims[i] for i in inverse))
    operands, layouts = ([x, y], [layout, other]) if first else ([y, x], [other, layout])
    shape = broadcast([one.shape for one in layouts], twin.facts)
    assume(shape is not None)
    assert shape is not None
    assert_stands_for(output_layout(layouts, shape, twin.facts), torch.add(*operands), twin)


@st.composite
def odd_singles(draw: st.DrawFn, numbers: list[int], sizes: list[Size]) -> tuple[torch.Tensor, Layout]:
    """A packed operand that broadcasts to these sizes, with any stride where its size is 1."""
    start = draw(st.integers(0, len(numbers)))
    kept = [draw(st.booleans()) for _ in numbers[start:]]
    mine = [number if keep else 1 for number, keep in zip(numbers[start:], kept, strict=True)]
    symbolic = [size if keep else 1 for size, keep in zip(sizes[start:], kept, strict=True)]
    strides: list[Size | None] = list(contiguous(symbolic).strides)
    real = list(torch.zeros(mine).stride())
    for place, size in enumerate(symbolic):
        if size == 1 and draw(st.booleans()):
            strides[place] = real[place] = draw(st.sampled_from([0, 1, 7, 64]))
    return torch.empty_strided(mine, real), strided(symbolic, strides)


@MANY
@given(st.data(), st.lists(st.integers(1, 4), min_size=1, max_size=4), st.booleans())
def test_sums_of_packed_operands(data: st.DataObject, numbers: list[int], three: bool) -> None:
    """They come out packed, were it not for dimensions of size 1, whose strides may be any."""
    twin = Twin()
    sizes = [twin.size(n, f"n{i}") if data.draw(st.booleans()) else n for i, n in enumerate(numbers)]
    operands = [data.draw(odd_singles(numbers, sizes)) for _ in range(3 if three else 2)]
    layouts = [layout for _, layout in operands]
    shape = broadcast([layout.shape for layout in layouts], twin.facts)
    assume(shape is not None)
    assert shape is not None
    x = (torch.addcmul if three else torch.add)(*(real for real, _ in operands))
    assert_stands_for(output_layout(layouts, shape, twin.facts), x, twin)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 4), st.integers(0, 4))
def test_learning_a_rank(sizes: list[int], leading: int, trailing: int) -> None:
    """Split from either end, an unknown rank still has its strides and its number of elements."""
    facts = Facts()
    layout = contiguous((facts.symbols.rest("x", "x"),))
    found = with_leading(layout, leading, facts)
    assert found is not None
    found = with_trailing(found, trailing, facts) if leading <= 1 and trailing <= 2 else found
    assert found is not None
    assert sum(dim.rest is None for dim in found.dims) >= leading
    assert is_contiguous(found, facts) is YES
    rank = max(leading + trailing, len(sizes))
    known = with_rank(layout, rank, facts)
    if known is not None:
        assert known.rank == rank
        assert is_contiguous(known, facts) is YES
        assert facts.equal(known.numel, layout.numel) is YES


def test_splitting_heads_teaches_the_division() -> None:
    """`x.view(B, T, H, C // H)` goes through only where H divides C."""
    facts = Facts()
    B, T, C, H = (facts.symbols.atom(name, name) for name in "BTCH")
    answer = view(contiguous((B, T, C)), (B, -1, H, facts.floor_divide(C, H)), facts)
    assert answer is not None and answer.exists is YES
    assert facts.equal(C, H * facts.symbols.atom(("//", C, H))) is YES
    assert answer.layout is not None
    assert facts.equal(answer.layout.sizes[1], T) is YES
