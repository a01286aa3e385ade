"""Operators that move, repeat, sort and count elements."""

from __future__ import annotations

import pytest
from facts import Symbolic, assert_strides

from torchlayout.layouts import contiguous
from torchlayout.ops import UNKNOWN, Fields, Operand, Result

TURNED = "torch.rand(3, 2).t()"


@pytest.mark.parametrize(
    ("x", "call", "strides"),
    [
        # flips copy, and keep the order of strides; NumPy's are views with negative ones
        ("torch.rand(2, 3)", "x.flip(0)", (3, 1)),
        (TURNED, "x.flip(0)", (1, 2)),
        ("torch.rand(2, 3)", "x.rot90()", (1, 3)),
        (TURNED, "x.rot90(2)", (1, 2)),
        (TURNED, "x.roll(1, 0)", (3, 1)),
        (TURNED, "x.tril()", (3, 1)),
        (TURNED, "x.repeat(2, 1)", (3, 1)),
        (TURNED, "x.repeat_interleave(2, 0)", (3, 1)),
        (TURNED, "x.diff(dim=0)", (1, 1)),
        ("torch.rand(4, 3, 2).permute(2, 0, 1)", "x.diff(dim=1)", (1, 6, 2)),
        ("torch.rand(3)", "x.diag()", (3, 1)),
        ("torch.rand(2, 3)", "x.diag_embed()", (9, 3, 1)),
        # sorting keeps the order of strides, topk packs
        (TURNED, "x.argsort(0)", (1, 2)),
        (TURNED, "x.msort()", (1, 2)),
        (TURNED, "torch.bucketize(x, torch.arange(3.0))", (3, 1)),
    ],
)
def test_strides(x: str, call: str, strides: tuple[int, ...]) -> None:
    assert_strides(x, call, strides)


def test_roll_of_channels_last_depends_on_the_backend() -> None:
    from torchlayout.layouts import channels_last

    assert Symbolic().layout("torch.roll", Operand(channels_last((2, 3, 4, 4))), 1, 1).strides == (None,) * 4


class TestSizes:
    def test_repeat_of_unknown_rank_has_as_many_dimensions_as_factors(self) -> None:
        world = Symbolic()
        assert world.layout("Tensor.repeat", world.whatever("x"), 1, 1, 2, assumed=False).rank == 3

    def test_repeats_multiply(self) -> None:
        world = Symbolic("B C")
        assert world.layout("Tensor.repeat", world.tensor("B", "C"), 2, 1, 3).sizes == (2, world["B"], 3 * world["C"])
        assert world.layout("Tensor.tile", world.tensor("B", "C"), 3).sizes == (world["B"], 3 * world["C"])

    def test_topk_has_k_in_its_dimension(self) -> None:
        world = Symbolic()
        pair = world.call("Tensor.topk", world.tensor("B", "T", "C"), 5, 1)
        assert isinstance(pair, Fields) and isinstance(pair.values["values"], Result)
        assert pair.values["values"].layout == contiguous((world["B"], 5, world["C"]))

    def test_distinct_values_are_packed_and_of_unknown_number(self) -> None:
        world = Symbolic()
        values, inverse = world.call("torch.unique", world.tensor("B", "T"), return_inverse=True)
        assert values.layout.rank == 1
        assert inverse.layout == contiguous((world["B"], world["T"]))
        assert world.call("torch.unique", world.tensor("B", "T"), return_inverse=UNKNOWN) is UNKNOWN


def test_covariances_of_what_may_be_a_single_row_are_unknown() -> None:
    world = Symbolic("N M")
    assert world.call("torch.cov", world.tensor("N", "M"), assumed=False) is UNKNOWN
    assert world.layout("torch.cov", world.tensor("N", "M")) == contiguous((world["N"], world["N"]))
