"""Questions about layouts of which not all is known, and about dimensions of size 1."""

from __future__ import annotations

import pytest
import torch
from families import packed, size, worlds
from tensors import layout_of

from torchlayout.layouts import (
    Dim,
    Layout,
    contiguous,
    has_no_elements,
    has_overlap,
    in_memory_order,
    is_channels_last,
    is_contiguous,
    is_dense,
    same_layout,
    strided,
    suggests_channels_last,
    unknown_strides,
)
from torchlayout.sizes import MAYBE, NO, YES, Facts, Truth

B, C, H, W, T = (size(name) for name in "BCHWT")
CHANNELS_LAST = packed("B", "H", "W", "C").permute(0, 3, 1, 2).layout
QUESTIONS = [is_contiguous, is_dense, has_overlap, is_channels_last, suggests_channels_last]


@pytest.fixture(params=["assumed", "told", "may be 1"])
def facts(request: pytest.FixtureRequest) -> Facts:
    return worlds()[request.param][0]


def test_nothing_is_said_of_unknown_strides(facts: Facts) -> None:
    for layout in (unknown_strides((B, C, H, W)), unknown_strides((2, 3, 4, 5)), unknown_strides((2, 3, 4, 5, 6))):
        assert [question(layout, facts) for question in QUESTIONS] == [MAYBE] * 5


@pytest.mark.parametrize("place", range(4))
def test_one_unknown_stride_is_enough(place: int, facts: Facts) -> None:
    dims = list(CHANNELS_LAST.dims)
    dims[place] = Dim(dims[place].size, None)
    layout = Layout(tuple(dims))
    for question in (is_channels_last, suggests_channels_last, is_dense, has_overlap):
        assert question(layout, facts) is MAYBE
    assert is_contiguous(layout, facts) is not YES


def test_strides_that_cannot_be_compared(facts: Facts) -> None:
    loose = Layout((Dim(B, T), Dim(C, H)))
    assert has_overlap(loose, facts) is MAYBE and is_dense(loose, facts) is not YES


def test_one_wrong_stride_is_enough_too() -> None:
    facts, _ = worlds()["told"]
    dims = (Dim(B, None), Dim(C, 1), Dim(H, C * W), Dim(W, C * 2))
    assert is_channels_last(Layout(dims), facts) is NO
    assert is_contiguous(Layout((Dim(B, None), Dim(C, 2))), facts) is NO
    assert has_overlap(Layout((Dim(B, None), Dim(C, 0))), facts) is YES


@pytest.mark.parametrize("number", [0, 1, 2])
def test_sizes_that_are_known_by_now(number: int, facts: Facts) -> None:
    facts = Facts(facts.symbols)
    layout = contiguous((B, C))
    assert has_no_elements(layout, facts) is NO  # a size that is not known to be 0 counts as above 0
    facts.learn_equal(T, B)
    facts.learn_least(B, number)
    facts.learn_most(B, number)
    assert has_no_elements(layout, facts) is (YES if number == 0 else NO)
    assert has_no_elements(contiguous((C, 3)), facts) is NO and has_no_elements(contiguous((C, 0)), facts) is YES
    turned = Layout((Dim(C, 1), Dim(T, None)))
    assert is_contiguous(turned, facts) is (YES if number < 2 else MAYBE)
    assert has_overlap(turned, facts) is (NO if number == 0 else MAYBE if number == 2 else has_overlap(turned, facts))


@pytest.mark.parametrize("shape", [(2, 1, 3, 4), (2, 3, 1, 4), (1, 3, 4, 5), (2, 3, 1, 1), (2, 1, 1, 1), (1, 1, 1, 1)])
@pytest.mark.parametrize("memory_format", [torch.contiguous_format, torch.channels_last])
def test_images_with_dimensions_of_one(shape: tuple[int, ...], memory_format: torch.memory_format) -> None:
    for x in (torch.empty(shape, memory_format=memory_format), torch.empty(shape).transpose(1, 3).contiguous()):
        for y in (x, x.transpose(1, 3), x.transpose(2, 3), x.expand(3 if shape[0] == 1 else -1, -1, -1, -1)):
            suggested = y.to(memory_format=torch.channels_last) is y
            assert suggests_channels_last(layout_of(y), Facts()) is (YES if suggested else NO)
            last = y.is_contiguous(memory_format=torch.channels_last)
            assert is_channels_last(layout_of(y), Facts()) is (YES if last else NO)


def test_what_torch_suggests_hangs_on_strides_of_single_dimensions(facts: Facts) -> None:
    """These may be any; where an operator is known to set one, it counts."""
    row = Layout((Dim(B, W * C), Dim(C, 1), Dim(1, W * C), Dim(W, C)))
    assert suggests_channels_last(row, facts) is (YES if facts.assumed else MAYBE)
    told, _ = worlds()["told"]
    assert suggests_channels_last(row, told, exact=2) is YES
    assert suggests_channels_last(row, told, exact=0) is suggests_channels_last(row, told, exact=3) is MAYBE
    for short in (1, C):
        other = row.replace([*row.dims[:2], Dim(1, short), row.dims[3]])
        assert suggests_channels_last(other, told, exact=2) is NO and suggests_channels_last(other, told) is MAYBE
    unknown, _ = worlds()["may be 1"]
    for layout in (CHANNELS_LAST, contiguous((B, C, H, W)), row):
        assert suggests_channels_last(layout, unknown) is MAYBE


def test_the_order_in_memory() -> None:
    for world, (facts, _) in worlds().items():
        for layout in (CHANNELS_LAST, packed("B", "T", "C").permute(1, 0, 2).layout, contiguous((B, C))):
            ordered = in_memory_order(layout, facts)
            if world == "may be 1":
                assert ordered is None
            else:
                assert ordered is not None
                inner = 1
                for dim in ordered:
                    assert dim.stride == inner
                    inner = inner * dim.size  # type: ignore[assignment]
        assert in_memory_order(unknown_strides((B, C)), facts) is None
        assert in_memory_order(Layout((Dim(B, T), Dim(C, H))), facts) is None
        windows = [Dim(B, 1), Dim(C, 1)]
        assert in_memory_order(Layout(tuple(windows)), facts) in (windows, windows[::-1])
        assert in_memory_order(strided((2, 1, 3), (1, 7, 2)), facts) == [Dim(2, 1), Dim(3, 2)]
        assert in_memory_order(strided((1, 1), (7, 0)), facts) == []


@pytest.mark.parametrize(
    ("sizes", "strides", "overlap"),
    [
        ((2, 3), (3, 1), NO),
        ((2, 3), (1, 2), NO),
        ((2, 3), (0, 1), YES),
        ((1, 3), (0, 1), NO),
        ((0, 3), (0, 0), NO),
        ((4, 3), (1, 1), YES),  # windows
        ((4, 3), (2, 1), YES),
        ((4, 3), (3, 1), NO),
        ((2, 2), (3, 2), NO),  # 0, 2, 3, 5
        ((3, 3), (3, 2), MAYBE),  # 0, 2, 4, 3, 5, 7, 6, 8, 10
        ((B, C), (0, 1), None),  # where B is above 1
        ((B, 3), (2, 1), None),  # where B is above 1 too: 0, 1, 2, 2
        ((2, 3), (None, 0), YES),
    ],
)
def test_overlap(sizes: tuple[int, ...], strides: tuple[int, ...], overlap: Truth | None) -> None:
    for world, (facts, _) in worlds().items():
        answer = has_overlap(strided(sizes, strides), facts)
        if overlap is not None:
            assert answer is overlap
        elif world != "may be 1":
            assert answer is YES
        if all(isinstance(number, int) for number in (*sizes, *strides)):
            places = torch.arange(100).as_strided(sizes, strides)
            overlapping = places.unique().numel() < places.numel()
            assert answer is MAYBE or (answer is YES) is overlapping


def test_layouts_are_the_same_where_it_matters(facts: Facts) -> None:
    one = contiguous((B, C))
    assert same_layout(one, contiguous((B, C)), facts) is YES
    assert same_layout(one, Layout((Dim(B, None), Dim(C, 1))), facts) is MAYBE
    assert same_layout(Layout((Dim(B, None), Dim(C, 1))), one, facts) is MAYBE
    assert same_layout(contiguous((B, 1)), Layout((Dim(B, 1), Dim(1, None))), facts) is YES
    assert same_layout(contiguous((B, 2)), contiguous((B, 3)), facts) is NO
    assert same_layout(contiguous((B, 2)), contiguous((B, C)), facts) is MAYBE
    assert same_layout(contiguous((3, 2)), strided((3, 2), (1, 3)), facts) is NO
    assert same_layout(contiguous((B, C)), strided((B, C), (C, 2)), facts) is (
        MAYBE if facts.known.least == {} and not facts.assumed else NO
    )
    assert same_layout(unknown_strides((B,)), unknown_strides((B,)), facts) is MAYBE
    assert same_layout(unknown_strides((1,)), unknown_strides((1,)), facts) is YES
    assert same_layout(contiguous((2, 3)), contiguous((2, 3, 4)), facts) is NO
