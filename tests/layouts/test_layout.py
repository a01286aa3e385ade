"""Layouts as values: how they are made, what makes two the same, what is put in."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tensors import layout_of, tensors

from torchlayout.layouts import (
    Dim,
    Layout,
    channels_last,
    contiguous,
    is_concrete,
    permuted_contiguous,
    settle,
    settle_shape,
    strided,
    unknown_strides,
)
from torchlayout.sizes import Facts, Size

FACTS = Facts()
B, C = (FACTS.symbols.atom(name, name) for name in "BC")
X = FACTS.symbols.rest("x", "x")


@given(tensors())
def test_a_tensor_as_it_lies(x: torch.Tensor) -> None:
    layout = layout_of(x)
    assert layout.sizes == layout.shape == tuple(x.shape)
    assert layout.strides == x.stride() and layout.offset == x.storage_offset()
    assert layout.rank == x.dim() and layout.numel == x.numel()
    assert is_concrete(layout)


@given(st.lists(st.integers(0, 4), max_size=5), st.integers(0, 3))
def test_packed(shape: list[int], offset: int) -> None:
    layout = contiguous(shape, offset)
    assert layout.strides == torch.empty(shape).stride()
    assert layout.offset == offset and contiguous(shape).offset == 0
    assert layout.packed and strided(shape, layout.strides).packed


@given(tensors())
def test_packed_is_contiguous(x: torch.Tensor) -> None:
    """Unlike contiguous, it minds strides of dimensions of size 1."""
    packed = tuple(torch.empty(x.shape).stride()) == x.stride()
    assert layout_of(x).packed is packed
    assert x.is_contiguous() or not packed


def test_packed_whatever_the_sizes() -> None:
    assert contiguous((B, X, C)).packed
    assert strided((B, C), (C, 1)).packed
    assert not strided((B, C), (C, None)).packed and not strided((B, C), (None, 1)).packed
    assert not strided((B, C), (B, 1)).packed and not strided((B, 1), (1, 2)).packed
    assert not unknown_strides((B,)).packed and unknown_strides(()).packed


@given(st.lists(st.integers(0, 4), min_size=4, max_size=4), st.permutations(range(4)))
def test_dense_in_any_order(sizes: list[int], order: list[int]) -> None:
    x = torch.empty([sizes[dim] for dim in order]).permute([order.index(dim) for dim in range(len(order))])
    layout = permuted_contiguous(sizes, order)
    assert layout.sizes == tuple(x.shape) and layout.strides == x.stride()


@pytest.mark.parametrize("sizes", [(2, 3, 4, 5), (2, 1, 4, 5), (2, 3, 4, 5, 6)])
def test_channels_last(sizes: Sequence[int]) -> None:
    memory_format = {4: torch.channels_last, 5: torch.channels_last_3d}[len(sizes)]
    x = torch.empty(sizes, memory_format=memory_format)
    assert channels_last(sizes).sizes == x.shape and channels_last(sizes).strides == x.stride()
    assert channels_last(sizes).offset == 0


def test_unknown_strides() -> None:
    layout = unknown_strides((B, X, 3))
    assert layout.dims == (Dim(B, None), Dim(X.numel, None, X), Dim(3, None))
    assert layout.offset is None and layout.rank is None and layout.shape == (B, X, 3)
    assert unknown_strides((B, 3)).rank == 2


def test_a_rest_among_the_dimensions() -> None:
    layout = contiguous((B, X, 3))
    assert layout.dims == (Dim(B, X.numel * 3), Dim(X.numel, 3, X), Dim(3, 1))
    assert layout.shape == (B, X, 3) and layout.sizes == (B, X.numel, 3)
    assert layout.rank is None and layout.numel == B * X.numel * 3
    assert [dim.extent for dim in layout.dims] == [B, X, 3]


def test_a_dimension_is_no_rest_unless_it_is_said_to_be() -> None:
    assert Dim(2, 1).rest is None and Dim(2, 1).extent == 2
    assert Layout((Dim(2, 1),)).rank == 1


def test_concrete() -> None:
    assert is_concrete(strided((2, 3), (3, 1))) and is_concrete(contiguous(()))
    assert not is_concrete(strided((B, 3), (3, 1)))
    assert not is_concrete(strided((2, 3), (B, 1)))
    assert not is_concrete(strided((2, 3), (None, 1)))
    assert not is_concrete(Layout((Dim(1, 1, X),)))


def test_layouts_are_equal_by_value() -> None:
    layout = strided((2, B), (B, 1), 5)
    assert layout == strided((2, B), (B, 1), 5) and hash(layout) == hash(strided((2, B), (B, 1), 5))
    for other in (
        strided((3, B), (B, 1), 5),
        strided((2, B), (C, 1), 5),
        strided((2, B), (B, 1), 6),
        strided((2, B), (B, 1)),
        strided((2, B), (B, 1), None),
        unknown_strides((2, B)),
        None,
    ):
        assert layout != other
    assert len({contiguous((2, 3)), contiguous((2, 3)), contiguous((2, 3), 1), contiguous((3, 2))}) == 3
    with pytest.raises(ValueError):
        strided((2, 3), (1,))


def test_replacing_dimensions_keeps_the_offset() -> None:
    layout = contiguous((2, B), 5)
    assert layout.replace(reversed(layout.dims)) == strided((B, 2), (1, B), 5)


@pytest.mark.parametrize("offset", [0, B, None])
def test_what_is_known_is_put_in(offset: Size | None) -> None:
    facts = Facts(FACTS.symbols)
    loose, packed = strided((B, 3), (1, B), offset), contiguous((B, 3), offset)
    constant = strided((2, 3), (1, 2), offset)
    assert settle(loose, facts) is loose and settle(packed, facts) is packed
    facts.learn_equal(C, 7)
    assert settle(loose, facts) is loose and settle(packed, facts) is packed
    facts.learn_equal(B, 5)
    known = offset if offset is not B else 5
    assert settle(loose, facts) == strided((5, 3), (1, 5), known)
    assert settle(packed, facts) == contiguous((5, 3), known)
    assert settle(contiguous((2, 3), offset), facts) == contiguous((2, 3), known)
    assert settle(constant, facts) == strided((2, 3), (1, 2), known)
    assert settle(unknown_strides((B,)), facts) == unknown_strides((5,))


def test_each_side_of_a_dimension_alone() -> None:
    facts = Facts(FACTS.symbols)
    facts.learn_equal(B, 5)
    assert settle(strided((B, 3), (2, 1)), facts) == strided((5, 3), (2, 1))
    assert settle(strided((4, 3), (B, 1)), facts) == strided((4, 3), (5, 1))
    assert settle(strided((C, 3), (7, 2)), facts) == strided((C, 3), (7, 2))


def test_a_rank_that_is_known_though_no_size_is() -> None:
    """On one path a size is known besides, and then the number of elements: where both meet, the rank is left."""
    left, right = Facts(FACTS.symbols), Facts(FACTS.symbols)
    for facts in (left, right):
        facts.bind(X, (B, 3))
    right.learn_equal(B, 2)
    joined = left.join(right)
    assert not joined.known.rewrites
    assert settle(contiguous((X,)), joined) == contiguous((B, 3))
    assert settle(unknown_strides((X,)), joined) == unknown_strides((B, 3))


def test_an_unknown_run_of_dimensions_stays_one() -> None:
    facts = Facts(FACTS.symbols)
    y = FACTS.symbols.rest("y")
    facts.learn_equal(C, 2)
    loose = Layout((Dim(X.numel, C * 4, X), Dim(C, 3)))
    assert settle(loose, facts) == Layout((Dim(X.numel, 8, X), Dim(2, 3)))
    facts.bind(X, (B, y))
    assert settle(loose, facts) == Layout((Dim(B, y.numel * 8), Dim(y.numel, 8, y), Dim(2, 3)))
    assert settle(unknown_strides((X,)), facts) == unknown_strides((B, y))


def test_the_answer_changes_with_what_is_known() -> None:
    facts = Facts(FACTS.symbols)
    layout = strided((B, C), (1, B))
    facts.learn_equal(B, 5)
    first = settle(layout, facts)
    assert settle(layout, facts) is first and settle(first, facts) is first
    facts.learn_equal(C, 6)
    assert settle(layout, facts) == settle(first, facts) == strided((5, 6), (1, 5))


def test_shapes_are_put_in_too() -> None:
    facts = Facts(FACTS.symbols)
    y = FACTS.symbols.rest("y")
    assert settle_shape((B, X, -1), facts) == (B, X, -1)
    facts.learn_equal(B, 5)
    facts.bind(X, (2, y))
    facts.bind(y, (C, B))
    assert settle_shape((B, X, -1), facts) == (5, 2, C, 5, -1)
