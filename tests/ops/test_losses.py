"""Losses and attention."""

from __future__ import annotations

import warnings

import pytest
import torch
from conformance import check_call
from facts import Symbolic, assert_strides
from real_layouts import variants

from torchlayout.layouts import contiguous
from torchlayout.ops import UNKNOWN


@pytest.mark.parametrize(
    ("x", "call", "strides"),
    [
        ("torch.rand(3, 2).t()", "F.mse_loss(x, x)", ()),
        # with logits the target's order decides, in one kernel the input's
        ("torch.rand(3, 2).t()", "F.binary_cross_entropy(x, torch.rand(2, 3), reduction='none')", (1, 2)),
        ("torch.rand(3, 2).t()", "F.binary_cross_entropy_with_logits(x, torch.rand(2, 3), reduction='none')", (3, 1)),
        ("torch.rand(3, 2).t()", "F.kl_div(x, torch.rand(2, 3), reduction='none')", (3, 1)),
        ("torch.rand(3, 2).t()", "F.soft_margin_loss(x, torch.rand(2, 3), reduction='none')", (1, 2)),
        ("torch.rand(3, 2).t()", "F.poisson_nll_loss(x, torch.rand(2, 3), reduction='none')", (1, 2)),
        ("torch.rand(3, 2).t()", "F.hinge_embedding_loss(x, torch.rand(2, 3), reduction='none')", (3, 1)),
        # the logarithm of the variance comes first in the sum
        ("torch.rand(3, 2)", "F.gaussian_nll_loss(x, x * 2, torch.ones(2, 3).t(), reduction='none')", (1, 3)),
        ("torch.rand(3, 2).t()", "F.gaussian_nll_loss(x, x * 2, torch.ones(2, 3), reduction='none')", (3, 1)),
        ("torch.rand(3, 2).t()", "F.gaussian_nll_loss(x, x * 2, torch.ones(2, 1), reduction='none')", (1, 2)),
        ("torch.rand(3, 2).t()", "F.mse_loss(x, x, reduction='none')", (1, 2)),
        ("torch.rand(2, 3)", "F.binary_cross_entropy_with_logits(x, x, reduction='none')", (3, 1)),
        ("torch.rand(2, 5, 3)", "F.cross_entropy(x, x.softmax(1), reduction='none')", (3, 1)),
        ("torch.rand(2, 3)", "F.l1_loss(x, x, reduce=False)", (3, 1)),
    ],
)
def test_strides(x: str, call: str, strides: tuple[int, ...]) -> None:
    assert_strides(x, call, strides)


def test_an_unknown_reduction_leaves_a_packed_result_of_unknown_rank() -> None:
    world = Symbolic()
    layout = world.layout("F.mse_loss", world.tensor("B", "C"), world.tensor("B", "C"), reduction=UNKNOWN)
    assert layout.rank is None
    assert layout.strides == (1,)


def test_cross_entropy_per_pixel_drops_the_classes() -> None:
    world = Symbolic()
    layout = world.layout("F.cross_entropy", world.tensor("B", "C", "H", "W"), UNKNOWN, reduction="none")
    assert layout == contiguous((world["B"], world["H"], world["W"]))


class TestAttention:
    def test_sizes_are_known_and_strides_are_the_backends(self) -> None:
        world = Symbolic("B H L S D E")
        query, key, value = (
            world.tensor("B", "H", "L", "D"),
            world.tensor("B", "H", "S", "D"),
            world.tensor("B", "H", "S", "E"),
        )
        layout = world.layout("F.scaled_dot_product_attention", query, key, value)
        assert layout.sizes == (world["B"], world["H"], world["L"], world["E"])
        assert layout.strides == (None,) * 4

    def test_keys_may_have_fewer_heads(self) -> None:
        world = Symbolic("B H G L D")
        query, key = world.tensor("B", "H", "L", "D"), world.tensor("B", "G", "L", "D")
        layout = world.layout("F.scaled_dot_product_attention", query, key, key, enable_gqa=True)
        assert layout.sizes[1] == world["H"]


def test_attention_of_other_than_four_dimensions_packs() -> None:
    """The fused kernels take a batch of heads, so that others are multiplied out."""
    for shape in ((4, 6), (3, 4, 6), (2, 3, 2, 4, 6)):
        for _, x in variants(torch.rand(shape), shrink=False):
            for options in ({}, {"is_causal": True}, {"attn_mask": torch.rand(4, 4)}):
                verdict = check_call("F.scaled_dot_product_attention", [x, x, x], options)
                assert verdict.kind == "exact", verdict.detail
    x = torch.rand(2, 3, 4, 6)
    assert check_call("F.scaled_dot_product_attention", [x, x, x]).kind == "unknown"


@pytest.mark.parametrize("name", [
    "l1_loss", "mse_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "hinge_embedding_loss", "kl_div",
    "poisson_nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits",
])  # fmt: skip
@pytest.mark.parametrize(
    ("first", "second"), [((2, 3, 4), (2, 3, 4)), ((3, 4), (1, 4)), ((2, 3, 4), (3, 4)), ((1, 3), (2, 3))]
)
def test_losses_of_each_element_in_any_two_layouts(name: str, first: tuple[int, ...], second: tuple[int, ...]) -> None:
    for _, x in variants(torch.rand(first), shrink=False):
        for _, y in variants(torch.rand(second), shrink=False):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                verdict = check_call(f"F.{name}", [x, y], {"reduction": "none"})
            assert verdict.kind in ("exact", "invalid"), verdict.detail
