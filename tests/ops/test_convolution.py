"""Convolution, pooling, resizing: channels_last goes through, other layouts come out packed."""

from __future__ import annotations

import pytest
from facts import Symbolic, assert_strides

from torchlayout.layouts import channels_last, contiguous, is_contiguous, strided, suggests_channels_last
from torchlayout.ops import UNKNOWN, DType, Operand
from torchlayout.sizes import MAYBE, NO, YES, Facts

CHANNELS_LAST = "torch.rand(2, 3, 6, 6).contiguous(memory_format=CL)"
TURNED = "torch.rand(6, 6, 3, 2).permute(3, 2, 1, 0)"
WEIGHT = "torch.rand(4, 3, 3, 3)"


@pytest.mark.parametrize(
    ("x", "call", "strides"),
    [
        ("torch.rand(2, 3, 6, 6)", f"F.conv2d(x, {WEIGHT})", (64, 16, 4, 1)),
        (TURNED, f"F.conv2d(x, {WEIGHT})", (64, 16, 4, 1)),
        (CHANNELS_LAST, f"F.conv2d(x, {WEIGHT})", (64, 1, 16, 4)),
        # a channels_last weight is enough
        (
            "torch.rand(2, 3, 6, 6)",
            f"F.conv2d(x, {WEIGHT}.contiguous(memory_format=torch.channels_last))",
            (64, 1, 16, 4),
        ),
        # an image without a batch is looked at with one: (3, 6, 6) of rows of pixels is not channels_last
        ("torch.rand(6, 6, 3).permute(2, 0, 1)", f"F.conv2d(x, {WEIGHT})", (16, 4, 1)),
        # rows: the input is packed first
        ("torch.rand(2, 6, 3).mT", "F.conv1d(x, torch.rand(4, 3, 3))", (16, 4, 1)),
        ("torch.rand(2, 3, 6)", "F.conv1d(x, torch.rand(4, 3, 3).mT.contiguous().mT)", (16, 1, 4)),
        (CHANNELS_LAST, "F.max_pool2d(x, 2)", (27, 1, 9, 3)),
        (TURNED, "F.max_pool2d(x, 2)", (27, 9, 3, 1)),
        (CHANNELS_LAST, "F.interpolate(x, scale_factor=2)", (432, 1, 36, 3)),
        (CHANNELS_LAST, "F.pad(x, (1, 1))", (144, 1, 24, 3)),
        (TURNED, "F.pad(x, (1, 1))", (144, 48, 8, 1)),
        (CHANNELS_LAST, "F.pad(x, (1, 1, 0, 0), mode='circular')", (144, 48, 8, 1)),
        (CHANNELS_LAST, "F.grid_sample(x, torch.zeros(2, 4, 5, 2), align_corners=False)", (60, 20, 5, 1)),
        (CHANNELS_LAST, "F.unfold(x, 2)", (300, 25, 1)),
    ],
)
def test_strides(x: str, call: str, strides: tuple[int, ...]) -> None:
    assert_strides(x, call, strides)


@pytest.mark.parametrize(
    ("arguments", "height"),
    [
        ({}, "H - 2"),
        ({"padding": 1}, "H"),
        ({"padding": "same"}, "H"),
        ({"stride": 2, "padding": 1}, "(H - 1)//2 + 1"),
        ({"padding": 2, "dilation": 2}, "H"),
    ],
)
def test_output_sizes(arguments: dict[str, object], height: str) -> None:
    world = Symbolic()
    layout = world.layout("F.conv2d", world.tensor("B", "C", "H", "W"), world.tensor(8, "C", 3, 3), **arguments)
    assert layout.sizes[1] == 8
    assert world.facts.render(layout.sizes[2]).replace("((", "(") == height


class TestMemoryFormat:
    def test_an_unknown_weight_is_assumed_to_be_packed_and_proves_nothing(self) -> None:
        world = Symbolic()
        x = world.tensor("B", "C", "H", "W")
        assumed = world.layout("F.conv2d", x, UNKNOWN)
        assert is_contiguous(assumed, world.facts.assumed_world) is YES
        assert world.layout("F.conv2d", x, UNKNOWN, assumed=False).strides == (None,) * 4

    def test_a_known_dtype_is_needed_to_prove_channels_last(self) -> None:
        sizes = (2, 3, 6, 6)
        weight = Operand(contiguous((4, 3, 3, 3)), DType("float32"))
        known = Symbolic().layout("F.conv2d", Operand(channels_last(sizes), DType("float32")), weight)
        assert known == channels_last((2, 4, 4, 4))
        open_ = Symbolic().layout("F.conv2d", Operand(channels_last(sizes)), weight, assumed=False)
        assert open_.strides == (None,) * 4

    def test_float64_is_packed_on_cuda_only(self) -> None:
        for device, strides in ((None, (None,) * 4), ("cpu", (64, 1, 16, 4))):
            x = Operand(channels_last((2, 3, 6, 6)), DType("float64"), device=device)
            weight = Operand(contiguous((4, 3, 3, 3)), DType("float64"), device=device)
            assert Symbolic().layout("F.conv2d", x, weight).strides == strides

    def test_three_spatial_dimensions_in_channels_last_depend_on_the_backend(self) -> None:
        x = Operand(channels_last((2, 3, 6, 6, 6)), DType("float32"))
        weight = Operand(contiguous((4, 3, 3, 3, 3)), DType("float32"))
        assert Symbolic().layout("F.conv3d", x, weight).strides == (None,) * 5

    def test_a_size_that_may_be_1_leaves_the_format_open(self) -> None:
        world = Symbolic()
        x = world.tensor("B", "C", "H", "W").layout
        assert suggests_channels_last(x, world.facts) is MAYBE
        assert suggests_channels_last(x, world.facts.assumed_world) is NO

    def test_strides_of_size_1_take_part(self) -> None:
        facts = Facts()
        assert suggests_channels_last(strided((2, 1, 4, 6), (24, 24, 6, 1)), facts) is NO
        assert suggests_channels_last(strided((2, 1, 4, 6), (24, 1, 6, 1)), facts) is YES
        # an image of rows of pixels, unsqueezed: its batch stride says no
        assert suggests_channels_last(strided((1, 3, 6, 6), (3, 1, 18, 3)), facts) is NO


class TestUnknownRank:
    def test_an_image_is_assumed_to_come_in_a_batch(self) -> None:
        world = Symbolic("O")
        layout = world.layout("F.conv2d", world.whatever("x"), world.tensor("O", 3, 3, 3))
        assert layout.rank == 4
        assert layout.sizes[1] == world["O"]

    def test_but_that_is_not_learnt(self) -> None:
        world = Symbolic()
        x = world.whatever("x")
        world.layout("F.max_pool2d", x, 2)
        assert not world.facts.known.ranks
        assert world.call("F.max_pool2d", x, 2, assumed=False) is UNKNOWN


def test_pooling_with_ceil_mode_counts_the_last_partial_window() -> None:
    assert_strides("torch.rand(1, 1, 6, 6)", "F.max_pool2d(x, 3, 2, ceil_mode=True)", (9, 9, 3, 1))


@pytest.mark.parametrize("size", [(None, 5), 3, (2, 3)])
def test_adaptive_pooling_gives_the_sizes_asked_for(size: object) -> None:
    world = Symbolic()
    layout = world.layout("F.adaptive_avg_pool2d", world.tensor("B", "C", "H", "W"), size)
    wanted = {3: (3, 3), (2, 3): (2, 3), (None, 5): (world["H"], 5)}
    assert layout.sizes[2:] == wanted[size]  # type: ignore[index]
