"""Subscripts against torch: every mixture of ints, slices, None, Ellipsis, lists, index tensors and masks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from conformance import check_call, tensor_operand
from hypothesis import given, settings
from hypothesis import strategies as st
from real_layouts import inputs, replica
from symbolic import Arrangement, check_symbolic, unknown_rank

from torchlayout.layouts import contiguous
from torchlayout.ops import UNKNOWN, Operand, Refused, Result, assign, index
from torchlayout.sizes import MAYBE, NO, YES, Facts

TENSORS = [x for _, x in inputs()]
MANY = settings(max_examples=max(1500, settings.default.max_examples))


@st.composite
def index_tensors(draw: st.DrawFn, size: int) -> Any:
    """An index into a dimension, of one or two dimensions, in some order in memory, or the same as a list."""
    shape = draw(st.sampled_from([(2,), (3,), (1,), (2, 3), (1, 2), (3, 1), (0,)]))
    dtype = draw(st.sampled_from([torch.int64, torch.int32]))
    values = torch.randint(0, max(size, 1), shape, generator=torch.Generator().manual_seed(1)).to(dtype)
    form = draw(st.sampled_from(["plain", "transposed", "expanded", "list"]))
    if form == "list" and len(shape) == 1:
        return values.tolist()
    if form == "transposed":
        return values.t().contiguous().t() if values.dim() == 2 else values
    if form == "expanded" and values.numel():
        return values[:1].expand(values.shape)
    return values


@st.composite
def items(draw: st.DrawFn, x: torch.Tensor) -> tuple[Any, ...]:
    found: list[Any] = []
    dim = 0
    bound = st.none() | st.integers(-7, 7)
    while dim < x.dim() and draw(st.integers(0, 3)):
        kind = draw(
            st.sampled_from(["int", "slice", "full", "none", "index", "index", "mask", "number", "bool", "dots"])
        )
        size = x.size(dim)
        if kind == "dots" and Ellipsis not in found:
            found.append(Ellipsis)
            dim = draw(st.integers(dim, x.dim()))
        elif kind == "none":
            found.append(None)
        elif kind == "bool":
            found.append(draw(st.booleans()))
        elif kind == "int" and size:
            found.append(draw(st.integers(-size, size - 1)))
            dim += 1
        elif kind == "number" and size:
            found.append(torch.tensor(draw(st.integers(0, size - 1))))
            dim += 1
        elif kind == "slice":
            found.append(slice(draw(bound), draw(bound), draw(st.none() | st.integers(1, 3))))
            dim += 1
        elif kind == "index":
            found.append(draw(index_tensors(size)))
            dim += 1
        elif kind == "mask":
            rank = draw(st.integers(1, min(2, x.dim() - dim)))
            found.append(torch.arange(x.shape[dim : dim + rank].numel()).view(x.shape[dim : dim + rank]) % 2 == 0)
            dim += rank
        else:
            found.append(slice(None))
            dim += 1
    return tuple(found)


@MANY
@given(st.data())
def test_any_subscript(data: st.DataObject) -> None:
    x = data.draw(st.sampled_from(TENSORS))
    chosen = data.draw(items(x))
    verdict = check_call("Tensor.__getitem__", [x, chosen])
    assert verdict.kind != "wrong", verdict.detail


@given(st.data())
def test_basic_subscripts_are_exact(data: st.DataObject) -> None:
    x = data.draw(st.sampled_from(TENSORS))
    basic = st.none() | st.just(slice(None)) | st.builds(slice, st.integers(-3, 3), st.none(), st.integers(1, 2))
    chosen = tuple(data.draw(st.lists(basic, max_size=x.dim())))
    assert check_call("Tensor.__getitem__", [x, chosen]).kind in ("exact", "invalid")


EXAMPLES = """
    x[0]        x[-1]       x[..., 0]     x[:, 0]       x[:, 1:]      x[:, :-1]     x[1:]        x[-1:]
    x[::2]      x[:, ::2]   x[..., ::3]   x[None]       x[..., None]  x[:, None]    x[:, None, 1:]
    x[[0, 1]]   x[:, [0]]   x[..., [1]]   x[x > 0.5]    x[True]       x[0, ..., 0]  x[:2, ..., 1:]
    x[torch.tensor([[0, 1], [1, 0]])]     x[:, torch.tensor([1, 0])]  x[torch.tensor(1)]
""".split("     ")
EXAMPLES = [example for line in EXAMPLES for example in line.strip().split("  ") if example.strip()]


@pytest.mark.parametrize("example", [example.strip() for example in EXAMPLES])
@pytest.mark.parametrize("assumed", [False, True])
def test_symbolic_subscripts(example: str, assumed: bool) -> None:
    arrangements = [
        Arrangement((4, 6), (0, 1)),
        Arrangement((4, 6), (1, 0)),
        Arrangement((2, 4, 6), (0, 2, 1)),
        Arrangement((2, 3, 4, 6), (0, 1, 2, 3), gap=2),
        Arrangement((2, 4, 6), (0, 1, 2), known=frozenset({0, 1})),
    ]
    ones = [Arrangement((2, 1, 6), (0, 2, 1)), Arrangement((2, 3, 1, 1), (0, 2, 3, 1)), Arrangement((2, 2), (1, 0))]
    cases = [one.build(assumed) for one in arrangements + ([] if assumed else ones)]
    if not assumed:
        cases += [unknown_rank((3, 4, 6), False), unknown_rank((2, 3, 4, 6), False, 1, 1)]
    for x, world in cases:
        verdict = check_symbolic(example, x, world)
        assert verdict.kind != "wrong", verdict.detail


# ---------------------------------------------------------------- what is asked for by name
def shape_and_strides(outcome: object) -> tuple[list[object], list[object]]:
    assert isinstance(outcome, Result)
    return list(outcome.layout.shape), list(outcome.layout.strides)


def test_of_unknown_rank() -> None:
    facts = Facts()
    x = Operand(contiguous((facts.symbols.rest("x", "x"),)))
    last = index(x, (Ellipsis, 0), facts)
    assert isinstance(last, Result) and last.shares is YES and len(last.layout.dims) == 1
    from_one = index(x, (slice(None), slice(1, None)), facts)
    assert isinstance(from_one, Result)
    rendered = [facts.render(size) if not hasattr(size, "key") else "..." for size in from_one.layout.shape[:2]]
    assert rendered == ["x.size(0)", "x.size(1) - 1"]


def test_a_window_is_as_long_as_written_in_the_assumed_world() -> None:
    facts = Facts()
    n, i, w = (facts.symbols.atom(name, name) for name in "niw")
    x = Operand(contiguous((n,)))
    window = index(x, (slice(i, i + w),), facts.assumed_world)
    assert isinstance(window, Result) and window.layout.shape == (w,)
    proven = index(x, (slice(i, i + w),), facts)
    assert isinstance(proven, Result) and facts.equal(proven.layout.sizes[0], w) is MAYBE


def test_a_slice_up_to_the_size_is_whole() -> None:
    facts = Facts()
    n, m = facts.symbols.atom("n", "n"), facts.symbols.atom("m", "m")
    whole = index(Operand(contiguous((m, n))), (slice(None), slice(0, n)), facts)
    assert isinstance(whole, Result) and whole.layout == contiguous((m, n))


def test_an_unknown_index_gives_an_unknown_value() -> None:
    assert index(Operand(contiguous((2, 3))), (UNKNOWN,), Facts()) is UNKNOWN
    unknown_dtype = Operand(contiguous((2,)))  # may be a mask
    assert index(Operand(contiguous((2, 3))), (unknown_dtype,), Facts()) is UNKNOWN


@pytest.mark.parametrize("bad", [(0, 0, 0), (5,), ("text",), (slice(None, None, 0),), (1.5,)])
def test_what_torch_refuses_is_unknown(bad: tuple[Any, ...]) -> None:
    assert index(Operand(contiguous((2, 3))), bad, Facts()) is UNKNOWN
    with pytest.raises((IndexError, TypeError, ValueError)):
        torch.zeros(2, 3)[bad]


def test_a_negative_step_is_refused_on_tensors_only() -> None:
    with pytest.raises(Refused, match="negative step") as refused:
        index(Operand(contiguous((4,))), (slice(None, None, -1),), Facts())
    assert refused.value.kind == "negative-stride"
    with pytest.raises(ValueError, match="step must be greater than zero"):
        torch.zeros(4)[::-1]
    array = index(Operand(contiguous((4,)), numpy=True), (slice(None, None, -1),), Facts())
    assert shape_and_strides(array) == ([4], [-1])


@pytest.mark.parametrize("piece", [slice(None, None, -1), slice(3, 0, -2), slice(-1, None, -3), slice(1, 3, -1)])
@pytest.mark.parametrize("size", [1, 4, 7])
def test_numpys_negative_steps(piece: slice, size: int) -> None:
    expected = np.zeros(size)[piece]
    found = index(Operand(contiguous((size,)), numpy=True), (piece,), Facts())
    assert isinstance(found, Result) and found.layout.sizes == expected.shape
    if expected.size > 1:
        assert found.layout.strides == (expected.strides[0] // expected.itemsize,)


# ---------------------------------------------------------------- writing
def _torch_refuses(x: torch.Tensor, where: Any, value: Any) -> bool:
    x = replica(x)
    try:
        x[where] = value
    except RuntimeError as error:
        return "single memory location" in str(error)
    return False


@pytest.mark.parametrize("where", [slice(None), 0, (slice(None), 0), (0, 0), Ellipsis, (slice(None), None)])
@pytest.mark.parametrize("stretched", [0, 1])
def test_writes_to_shared_elements(where: Any, stretched: int) -> None:
    x = torch.zeros(1, 3).expand(2, 3) if stretched == 0 else torch.zeros(2, 1).expand(2, 3)
    items = where if isinstance(where, tuple) else (where,)
    try:
        assign(tensor_operand(x), items, Facts())
        refused = False
    except Refused as error:
        assert error.kind == "overlap-write"
        refused = True
    assert refused is _torch_refuses(x, where, 1.0)


def test_writes_through_a_mask_are_silent() -> None:
    x = torch.zeros(1, 3).expand(2, 3)
    assign(tensor_operand(x), (tensor_operand(x > 1),), Facts())
    assert not _torch_refuses(x, x > 1, 1.0)


def test_selecting_shares_storage_and_advanced_indexing_does_not() -> None:
    facts = Facts()
    x = Operand(contiguous((4, 6)))
    basic, copy = index(x, (0,), facts), index(x, ([0, 1],), facts)
    assert isinstance(basic, Result) and basic.shares is YES
    assert isinstance(copy, Result) and copy.shares is NO
