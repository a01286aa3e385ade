"""Reductions, scans and softmax pack, whatever came in; quantiles alone do not."""

from __future__ import annotations

import pytest
from facts import Symbolic, assert_strides

from torchlayout.layouts import contiguous
from torchlayout.ops import UNKNOWN, DType, Fields, Operand, Result

TURNED = "torch.rand(4, 3, 2).permute(2, 0, 1)"


@pytest.mark.parametrize(
    ("x", "call", "strides"),
    [
        (TURNED, "x.sum(0)", (3, 1)),
        (TURNED, "x.mean((0, 2), keepdim=True)", (4, 1, 1)),
        (TURNED, "x.amax(-1)", (4, 1)),
        (TURNED, "x.argmax(0)", (3, 1)),
        (TURNED, "x.std(1)", (3, 1)),
        (TURNED, "x.norm(dim=-1)", (4, 1)),
        (TURNED, "x.softmax(-1)", (12, 3, 1)),
        (TURNED, "x.cumsum(0)", (12, 3, 1)),
        (TURNED, "x.logsumexp(0)", (3, 1)),
        (TURNED, "x.sum()", ()),
        ("torch.rand(4, 6)", "x.quantile(torch.tensor([0.1, 0.9]), -1)", (1, 2)),
    ],
)
def test_strides(x: str, call: str, strides: tuple[int, ...]) -> None:
    assert_strides(x, call, strides)


def test_softmax_of_any_rank_is_packed() -> None:
    world = Symbolic()
    x = world.whatever("x", packed=False)
    assert world.layout("F.softmax", x, dim=-1, assumed=False) == contiguous(x.layout.shape)


def test_reducing_known_dimensions_of_a_tensor_of_unknown_rank() -> None:
    world = Symbolic()
    layout = world.layout("Tensor.mean", world.whatever("x"), (2, 3), assumed=False)
    assert len(layout.dims) == 3  # two leading dimensions, and the rest behind those reduced


def test_a_dimension_that_is_not_known_leaves_a_packed_result() -> None:
    world = Symbolic()
    x = world.tensor("B", "T", "C")
    assert world.layout("Tensor.sum", x, UNKNOWN, keepdim=True).rank == 3
    assert world.layout("Tensor.sum", x, UNKNOWN).strides == (1,)


def test_max_with_a_dimension_is_a_named_pair() -> None:
    world = Symbolic()
    x = world.tensor("B", "T", "C")
    pair = world.call("Tensor.max", x, 1)
    assert isinstance(pair, Fields)
    assert list(pair.values) == ["values", "indices"]
    assert isinstance(pair.values["indices"], Result)
    assert pair.values["indices"].dtype == DType("int64")
    assert isinstance(world.call("Tensor.max", x, x), Result)
    assert world.call("Tensor.max", x, UNKNOWN) is UNKNOWN


@pytest.mark.parametrize(("call", "dtype"), [("sum", "int64"), ("mean", None), ("prod", "int64"), ("cumsum", "int64")])
def test_sums_of_integers_are_long(call: str, dtype: str | None) -> None:
    x = Operand(contiguous((2, 3)), DType("int32"))
    result = Symbolic().call(f"Tensor.{call}", x, 0)
    assert isinstance(result, Result)
    assert (result.dtype and result.dtype.name) == dtype


@pytest.mark.parametrize("dim", [3, -4, (0, 0)])
def test_dimensions_out_of_range_or_given_twice_are_unknown(dim: object) -> None:
    world = Symbolic()
    assert world.call("Tensor.sum", world.tensor("B", "T", "C"), dim) is UNKNOWN
