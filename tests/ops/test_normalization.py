"""Normalizations and embeddings."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from facts import Symbolic, assert_strides

from torchlayout.layouts import channels_last, contiguous, strided
from torchlayout.ops import UNKNOWN, DType, Operand, Refused, Result
from torchlayout.sizes import MAYBE

CHANNELS_LAST = "torch.rand(2, 3, 4, 4).contiguous(memory_format=CL)"


@pytest.mark.parametrize(
    ("x", "call", "strides"),
    [
        ("torch.rand(4, 3, 2).permute(2, 0, 1)", "F.layer_norm(x, (3,))", (12, 3, 1)),
        (CHANNELS_LAST, "F.layer_norm(x, (4,))", (48, 16, 4, 1)),
        (CHANNELS_LAST, "F.batch_norm(x, None, None, training=True)", (48, 1, 12, 3)),
        (CHANNELS_LAST, "F.instance_norm(x)", (48, 16, 4, 1)),
        ("torch.rand(3, 2).t()", "F.normalize(x)", (1, 2)),
        ("torch.zeros(3, 2).long().t()", "F.embedding(x, torch.rand(5, 4))", (12, 4, 1)),
        ("torch.zeros(2, 3).long()", "F.one_hot(x, 4)", (12, 4, 1)),
    ],
)
def test_strides(x: str, call: str, strides: tuple[int, ...]) -> None:
    assert_strides(x, call, strides)


@pytest.mark.parametrize(("device", "known"), [("cpu", True), ("cuda", True), (None, False)])
def test_group_norm_of_channels_last_depends_on_the_backend(device: str | None, known: bool) -> None:
    x = Operand(channels_last((2, 4, 6, 6)), DType("float32"), device=device)
    layout = Symbolic().layout("F.group_norm", x, 2)
    assert (None not in layout.strides) is known
    if device == "cuda":
        assert layout == contiguous((2, 4, 6, 6))


def test_batch_norm_of_a_turned_tensor_depends_on_the_backend() -> None:
    turned = strided((4, 6), (1, 4))
    assert Symbolic().layout("F.batch_norm", Operand(turned), None, None).strides == (None, None)
    assert Symbolic().layout("F.batch_norm", Operand(turned, device="cpu"), None, None) == contiguous((4, 6))


def test_local_response_norm_takes_a_view_that_may_not_exist() -> None:
    with pytest.raises(Refused) as refused:
        Symbolic().call("F.local_response_norm", Operand(strided((2, 3, 2, 4, 4), (1, 2, 6, 12, 48))), 2)
    assert refused.value.kind == "view"


def test_layer_norm_and_embedding_of_any_rank() -> None:
    world = Symbolic("V D")
    x = world.whatever("x", packed=False)
    assert world.layout("F.layer_norm", x, UNKNOWN, assumed=False) == contiguous(x.layout.shape)
    layout = world.layout("F.embedding", x, world.tensor("V", "D"), assumed=False)
    assert layout == contiguous((*x.layout.shape, world["D"]))


@pytest.mark.parametrize("name", ["embedding", "embedding_bag"])
def test_rows_that_are_renormalised_in_place_must_not_share_memory(name: str) -> None:
    indices, weight = Operand(contiguous((2, 3))), Operand(strided((5, 4), (1, 0)))
    outcome = Symbolic().call(f"F.{name}", indices, weight, max_norm=1.0)
    assert isinstance(outcome, Result) and outcome.exists is MAYBE  # rows that are short enough are left alone
    getattr(F, name)(torch.zeros(2, 3).long(), torch.ones(5, 1).expand(5, 4), max_norm=9.0)
    assert Symbolic().layout(f"F.{name}", indices, weight).sizes[-1] == 4
    with pytest.raises(RuntimeError, match="more than one element"):
        getattr(F, name)(torch.zeros(2, 3).long(), torch.ones(5, 1).expand(5, 4), max_norm=1.0)
