"""Elementwise operators: dense results, in the order of the operands' strides."""

from __future__ import annotations

from typing import Any

import pytest
from facts import Symbolic, assert_strides

from torchlayout.layouts import contiguous, is_contiguous, strided
from torchlayout.ops import UNKNOWN, Alternatives, DType, Operand, Refused, Result
from torchlayout.sizes import MAYBE, YES, Facts

TURNED = "torch.rand(3, 2).t()"


@pytest.mark.parametrize(
    ("x", "call", "strides"),
    [
        # a transposed tensor stays transposed, whatever is computed from it
        (TURNED, "x.add(1)", (1, 2)),
        (TURNED, "x.relu()", (1, 2)),
        (TURNED, "x.eq(x)", (1, 2)),
        (TURNED, "F.gelu(x)", (1, 2)),
        (TURNED, "x.clamp(0, 1)", (1, 2)),
        # gaps close
        ("torch.rand(2, 6)[:, ::2]", "x.exp()", (3, 1)),
        ("torch.rand(2, 1).expand(2, 3)", "x.neg()", (3, 1)),
        # among equals the first operand decides
        (TURNED, "x.add(torch.rand(2, 3))", (1, 2)),
        (TURNED, "torch.rand(2, 3).add(x)", (3, 1)),
        (TURNED, "torch.rsub(x, torch.rand(2, 3))", (3, 1)),
        (TURNED, "torch.where(torch.rand(2, 3) > 0, x, x)", (3, 1)),
        # an operand stretched in a dimension has no say in it
        ("torch.rand(4, 3, 2).permute(2, 0, 1)", "torch.rand(4, 3).mul(x)", (1, 6, 2)),
        ("torch.rand(4, 3, 2).permute(2, 0, 1)", "torch.rand(3).mul(x)", (1, 6, 2)),
        # channels_last goes through
        ("torch.rand(2, 3, 4, 4).contiguous(memory_format=CL)", "F.silu(x)", (48, 1, 12, 3)),
        ("torch.rand(2, 3, 4, 4).contiguous(memory_format=CL)", "x.mul(torch.rand(2, 3, 1, 1))", (48, 1, 12, 3)),
        # these pack
        (TURNED, "x.masked_fill(x > 0.5, 0)", (3, 1)),
        (TURNED, "torch.pow(2, x)", (3, 1)),
        (TURNED, "F.rrelu(x)", (3, 1)),
        (TURNED, "F.gumbel_softmax(x)", (3, 1)),
    ],
)
def test_strides(x: str, call: str, strides: tuple[int, ...]) -> None:
    assert_strides(x, call, strides)


def test_an_operand_that_is_not_known_does_not_enlarge_the_result() -> None:
    world = Symbolic()
    x = world.tensor("B", "T", "C")
    assert world.layout("torch.add", x, UNKNOWN) == x.layout
    assert world.layout("torch.mul", UNKNOWN, x) == x.layout
    assert world.call("torch.add", x, UNKNOWN, assumed=False) is UNKNOWN


def test_an_unknown_operand_in_front_leaves_the_order_of_a_turned_tensor_open() -> None:
    world = Symbolic()
    turned = Operand(world.tensor("B", "T", "C").layout.replace(world.tensor("B", "T", "C").layout.dims[::-1]))
    assert world.layout("torch.add", turned, UNKNOWN).strides == turned.layout.strides
    assert world.layout("torch.add", UNKNOWN, turned).strides == (None, None, None)


def test_a_vector_or_a_mask_never_gives_a_tensor_of_unknown_rank_its_shape() -> None:
    world = Symbolic()
    x = world.whatever("x")
    assert world.layout("torch.mul", x, world.tensor("C")).shape == x.layout.shape
    assert world.layout("torch.add", x, world.tensor(1, 1, "T", "T")).shape == x.layout.shape
    assert world.layout("torch.add", x, world.tensor("B", "T", "C")).shape == world.tensor("B", "T", "C").layout.shape


def test_sizes_that_may_be_1_are_kept_apart_where_nothing_is_assumed() -> None:
    world = Symbolic("B N M")
    a, b = world.tensor("B", "N"), world.tensor("B", "M")
    layout = world.layout("torch.add", a, b, assumed=False)
    assert layout.rank == 2
    assert layout.sizes[0] == world["B"]
    assert layout.sizes[1] not in (world["N"], world["M"])
    assert world.layout("torch.add", a, b).sizes in (a.layout.sizes, b.layout.sizes)


@pytest.mark.parametrize(
    ("dtype", "other", "result"),
    [
        ("float32", 1, "float32"), ("float32", 1.5, "float32"), ("int64", 1, "int64"), ("int64", 1.5, None),
        ("bool", True, "bool"), ("bool", 1, None), ("float16", 2.0, "float16"),
    ],
)  # fmt: skip
def test_result_dtype(dtype: str, other: Any, result: str | None) -> None:
    x = Operand(contiguous((2, 3)), DType(dtype))
    found = Symbolic().call("torch.add", x, other)
    assert isinstance(found, Result)
    assert (found.dtype and found.dtype.name) == result


class TestDropout:
    def test_training_decides_whether_it_copies(self) -> None:
        world = Symbolic()
        x = world.tensor("B", "C")
        assert world.call("F.dropout", x, 0.5, training=True).shares is not YES  # type: ignore[union-attr]
        assert world.call("F.dropout", x, 0.5, training=False).same_object  # type: ignore[union-attr]
        assert world.call("F.dropout", x, 0.5, training=UNKNOWN).shares is MAYBE  # type: ignore[union-attr]

    def test_a_tensor_with_gaps_comes_out_in_one_of_two_layouts(self) -> None:
        gapped = Operand(strided((4, 3), (6, 1)))
        assert isinstance(Symbolic().call("F.dropout", gapped, 0.5, training=UNKNOWN), Alternatives)


def test_in_place_activations_return_the_tensor_and_refuse_shared_memory() -> None:
    world = Symbolic()
    result = world.call("F.relu", world.tensor("B", "C"), inplace=True)
    assert isinstance(result, Result) and result.same_object
    with pytest.raises(Refused) as refused:
        world.call("F.relu", Operand(strided((2, 3), (1, 0))), inplace=True)
    assert refused.value.kind == "overlap-write"


def test_sizes_of_1_have_torchs_own_strides() -> None:
    """`suggest_memory_format` asks for them, so that they matter to convolutions."""
    odd = Operand(strided((2, 1, 4, 6), (24, 17, 6, 1)))
    facts = Facts()
    fast, slow = Symbolic().layout("F.relu", odd), Symbolic().layout("torch.add", odd, 1)
    assert fast.strides == (24, 24, 6, 1)
    assert slow.strides == (24, 24, 6, 1)
    assert is_contiguous(fast, facts) is YES
