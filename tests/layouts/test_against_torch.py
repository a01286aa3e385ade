"""torch's stride arithmetic, on concrete layouts, against torch itself."""

from __future__ import annotations

from contextlib import suppress

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tensors import layout_of, shapes_of, tensors, together

from torchlayout.layouts import (
    Layout,
    ShapeMismatch,
    broadcast,
    contiguous,
    expand_to,
    has_overlap,
    is_channels_last,
    is_contiguous,
    is_dense,
    output_layout,
    preserved,
    same_layout,
    suggests_channels_last,
    view,
)
from torchlayout.sizes import NO, YES, Facts

MANY = settings(max_examples=4 * settings.default.max_examples)
MORE = settings(max_examples=12 * settings.default.max_examples)


def assert_strides(layout: Layout, x: torch.Tensor) -> None:
    """Sizes, and strides where they matter: in dimensions longer than 1 of tensors with elements."""
    assert layout.shape == tuple(x.shape)
    if x.numel():
        mine = [dim.stride for dim in layout.dims if dim.size != 1]
        assert mine == [stride for size, stride in zip(x.shape, x.stride(), strict=True) if size != 1]


def assert_all_strides(layout: Layout, x: torch.Tensor) -> None:
    """Those of dimensions of size 1 too."""
    assert layout.shape == tuple(x.shape) and layout.offset == 0
    assert not x.numel() or layout.strides == x.stride()


@MORE
@given(st.data(), tensors())
def test_a_view_exists_exactly_where_torch_gives_one(data: st.DataObject, x: torch.Tensor) -> None:
    shape = data.draw(shapes_of(x.numel()))
    answer = view(layout_of(x), tuple(shape), Facts())
    assert answer is not None
    try:
        expected = x.view(shape)
    except RuntimeError as error:
        assert "view size is not compatible" in str(error)
        assert answer.exists is NO and answer.layout is None
        return
    assert answer.exists is YES and answer.layout is not None
    assert_strides(answer.layout, expected)
    assert answer.layout.offset == expected.storage_offset()


@given(tensors(), st.lists(st.integers(-1, 6), max_size=4))
def test_a_shape_with_another_number_of_elements_has_no_answer(x: torch.Tensor, shape: list[int]) -> None:
    works = False
    with suppress(RuntimeError):
        x.contiguous().view(shape)
        works = True
    assert (view(layout_of(x.contiguous()), tuple(shape), Facts()) is not None) is works


@MANY
@given(tensors())
def test_contiguous(x: torch.Tensor) -> None:
    assert (is_contiguous(layout_of(x), Facts()) is YES) is x.is_contiguous()


@given(tensors(min_rank=4, max_rank=4))
def test_channels_last(x: torch.Tensor) -> None:
    packed = x.is_contiguous(memory_format=torch.channels_last)
    assert (is_channels_last(layout_of(x), Facts()) is YES) is packed


@given(tensors(min_rank=5, max_rank=5))
def test_channels_last_3d(x: torch.Tensor) -> None:
    packed = x.is_contiguous(memory_format=torch.channels_last_3d)
    assert (is_channels_last(layout_of(x), Facts()) is YES) is packed


@MANY
@given(tensors(min_rank=4, max_rank=4))
def test_the_suggested_memory_format(x: torch.Tensor) -> None:
    """`to(memory_format=channels_last)` does nothing exactly where torch suggests that format already."""
    suggested = x.to(memory_format=torch.channels_last) is x
    assert (suggests_channels_last(layout_of(x), Facts()) is YES) is suggested


@MANY
@given(tensors())
def test_dense(x: torch.Tensor) -> None:
    assert (is_dense(layout_of(x), Facts()) is YES) is torch.ops.aten.is_non_overlapping_and_dense(x)


@MANY
@given(tensors())
def test_overlap(x: torch.Tensor) -> None:
    answer = has_overlap(layout_of(x), Facts())
    torchs = torch._debug_has_internal_overlap(x)  # 0 no, 1 yes, 2 too hard to tell
    assert torchs != 1 or answer is YES
    assert torchs != 0 or answer is NO
    if answer is not YES:
        return
    places = torch.arange(x.untyped_storage().nbytes() // x.element_size()).as_strided(
        x.size(), x.stride(), x.storage_offset()
    )
    assert places.unique().numel() < places.numel()


@MANY
@given(tensors())
def test_a_clone_keeps_the_order_in_memory(x: torch.Tensor) -> None:
    assert_strides(preserved(layout_of(x), Facts()), x.clone())


@given(st.lists(st.integers(0, 4), max_size=5))
def test_packed_strides(shape: list[int]) -> None:
    assert contiguous(shape).strides == torch.empty(shape).stride()


@MORE
@given(st.integers(1, 3).flatmap(together))
def test_elementwise_strides(operands: list[torch.Tensor]) -> None:
    layouts = [layout_of(x) for x in operands]
    facts = Facts()
    try:
        expected = [torch.neg, torch.add, torch.addcmul][len(operands) - 1](*operands)
    except RuntimeError:
        with pytest.raises(ShapeMismatch):
            broadcast([layout.shape for layout in layouts], facts)
        return
    shape = broadcast([layout.shape for layout in layouts], facts)
    assert shape == tuple(expected.shape)
    assert_all_strides(output_layout(layouts, shape, facts), expected)
    with_number = output_layout(layouts[:1], layouts[0].shape, facts, numbers=True)
    assert_all_strides(with_number, torch.add(operands[0], 2))


@given(tensors(max_rank=3), st.lists(st.integers(1, 3), max_size=2))
def test_expanding(x: torch.Tensor, leading: list[int]) -> None:
    shape = (*leading, *(3 if n == 1 else n for n in x.shape))
    layout = expand_to(layout_of(x), shape, Facts())
    assert layout is not None
    assert_strides(layout, x.expand(shape))
    assert layout.offset == x.storage_offset()


@given(tensors(), tensors())
def test_same_layout_looks_at_significant_strides(x: torch.Tensor, y: torch.Tensor) -> None:
    def significant(t: torch.Tensor) -> list[tuple[int, int]]:
        return [(n, s if n > 1 else 0) for n, s in zip(t.shape, t.stride(), strict=True)]

    assert (same_layout(layout_of(x), layout_of(y), Facts()) is YES) is (significant(x) == significant(y))
