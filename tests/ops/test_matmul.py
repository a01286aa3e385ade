"""Products pack, whatever came in; einsum's result may be a permuted view of one."""

from __future__ import annotations

import warnings

import pytest
import torch
from conformance import check_call
from facts import Symbolic, assert_strides
from hypothesis import given
from hypothesis import strategies as st
from real_layouts import gapped, reversed_order, variants

from torchlayout.layouts import contiguous, is_contiguous, permuted_contiguous
from torchlayout.ops import UNKNOWN, Operand, Refused, Result
from torchlayout.sizes import YES


@pytest.mark.parametrize(
    ("x", "call", "strides"),
    [
        ("torch.rand(3, 4).t()", "x.matmul(torch.rand(3, 5))", (5, 1)),
        ("torch.rand(4, 3, 2).permute(2, 0, 1)", "x.matmul(x.mT)", (16, 4, 1)),
        ("torch.rand(4, 3, 2).permute(2, 0, 1)", "F.linear(x, torch.rand(5, 3))", (20, 5, 1)),
        ("torch.rand(2, 3)", "x.matmul(torch.rand(4, 3, 5))", (10, 5, 1)),
        ("torch.rand(3)", "x.matmul(torch.rand(2, 3, 5))", (5, 1)),
        ("torch.rand(2, 3, 4)", "torch.einsum('bij,bkj->bik', x, x)", (9, 3, 1)),
        ("torch.rand(2, 4, 6, 3)", "torch.einsum('bhqd,bkhd->bqhk', x, torch.rand(2, 5, 4, 3))", (120, 5, 30, 1)),
        ("torch.rand(5, 2, 4, 6)", "torch.einsum('nchw,cd->ndhw', x, torch.rand(2, 3))", (72, 1, 18, 3)),
        ("torch.rand(2, 3)", "torch.einsum('ij->ji', x)", (1, 3)),
        ("torch.rand(2, 3)", "torch.einsum('ij->j', x)", (1,)),
        ("torch.rand(3, 3)", "torch.einsum('ii->i', x)", (4,)),
    ],
)
def test_strides(x: str, call: str, strides: tuple[int, ...]) -> None:
    assert_strides(x, call, strides)


class TestSymbolicShapes:
    def test_linear_keeps_all_but_the_last_size(self) -> None:
        world = Symbolic("B T C D")
        assert world.layout("F.linear", world.tensor("B", "T", "C"), world.tensor("D", "C")) == contiguous(
            (world["B"], world["T"], world["D"])
        )

    def test_linear_of_any_rank(self) -> None:
        world = Symbolic("C D")
        layout = world.layout("F.linear", world.whatever("x", packed=False), world.tensor("D", "C"), assumed=False)
        assert layout.shape[-1] == world["D"]
        assert layout == contiguous(layout.shape)

    def test_an_unknown_weight_leaves_a_packed_result(self) -> None:
        world = Symbolic()
        assert world.layout("F.linear", world.tensor("B", "T", "C"), UNKNOWN).rank == 3
        assert world.layout("F.linear", world.tensor("B", "T", "C"), UNKNOWN, assumed=False).strides == (1,)

    def test_what_is_summed_over_is_learnt_to_be_equal(self) -> None:
        world = Symbolic("B N M K L")
        world.call("torch.bmm", world.tensor("B", "N", "K"), world.tensor("B", "L", "M"))
        assert world.facts.normal(world["K"]) == world.facts.normal(world["L"])

    def test_attention_times_values_of_unknown_rank(self) -> None:
        world = Symbolic("B H T")
        layout = world.layout("torch.matmul", world.tensor("B", "H", "T", "T"), world.whatever("v"))
        assert layout.shape[:3] == (world["B"], world["H"], world["T"])


LETTERS = "abcd"


@st.composite
def products(draw: st.DrawFn) -> tuple[str, list[torch.Tensor]]:
    """An equation of one or two operands, and tensors in various layouts."""
    sizes = {letter: draw(st.integers(1, 4)) for letter in LETTERS}
    operands = draw(
        st.lists(st.permutations(LETTERS).map(lambda p: p[: draw(st.integers(1, 4))]), min_size=1, max_size=2)
    )
    used = sorted({letter for labels in operands for letter in labels})
    output = draw(st.permutations(used))[: draw(st.integers(0, len(used)))]
    tensors = []
    for labels in operands:
        x = torch.rand([sizes[letter] for letter in labels])
        tensors.append(draw(st.sampled_from([x, reversed_order(x), gapped(x, -1)])))
    return ",".join("".join(labels) for labels in operands) + "->" + "".join(output), tensors


@given(products())
def test_any_einsum_is_told_as_torch_does_it(case: tuple[str, list[torch.Tensor]]) -> None:
    equation, tensors = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdict = check_call("torch.einsum", [equation, *tensors])
    assert verdict.kind in ("exact", "unknown"), verdict.detail


@pytest.mark.parametrize("equation", ["ij,", "i->ij", "i1->i", "ijk->i", 3])
def test_odd_equations_are_unknown(equation: object) -> None:
    assert Symbolic().call("torch.einsum", equation, Operand(contiguous((2, 3)))) is UNKNOWN


KRON_SHAPES = ((3,), (), (3, 4), (1, 4), (3, 1), (1, 1), (2, 1, 4), (3, 1, 1))


@pytest.mark.parametrize("first", KRON_SHAPES)
def test_kron_reads_the_strides_of_sizes_of_one_too(first: tuple[int, ...]) -> None:
    """It multiplies two views and views the product: exact, or refused where torch refuses it."""
    for second in KRON_SHAPES:
        for _, x in variants(torch.rand(first)):
            for _, y in variants(torch.rand(second))[::2]:
                verdict = check_call("torch.kron", [x, y])
                assert verdict.kind == "exact", verdict.detail


def test_kron_of_a_transposed_matrix_raises() -> None:
    world = Symbolic("N M")
    x = Operand(permuted_contiguous((3, 4), (1, 0)))
    with pytest.raises(Refused):
        world.call("torch.kron", x, world.tensor(2, 5))
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        torch.kron(torch.rand(4, 3).t(), torch.rand(2, 5))
    packed = world.call("torch.kron", world.tensor("N", "M"), world.tensor("M", "N"))
    assert isinstance(packed, Result)
    assert is_contiguous(packed.layout, world.facts.assumed_world) is YES
