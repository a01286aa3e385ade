"""Packed sequences, padding, collation and wrappers, against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from conformance import Abstraction, check_call
from real_layouts import variants
from torch.nn.utils import rnn

from torchlayout.layouts import contiguous, is_contiguous
from torchlayout.ops import UNKNOWN, Alternatives, Fields, Operand, Result, find_function, select
from torchlayout.ops.wrappers import keeps_layouts, passes_through, wrapper
from torchlayout.sizes import NO, YES, Facts

RNN = "torch.nn.utils.rnn."


def right(path: str, args: list[Any], kwargs: dict[str, Any] | None = None) -> str:
    verdict = check_call(path, args, kwargs)
    assert verdict.kind not in ("wrong", "absent"), verdict.detail
    return verdict.kind


@pytest.mark.parametrize("batch_first", [True, False])
def test_pad_sequence(batch_first: bool) -> None:
    for _, x in variants(torch.rand(4, 5, 6), shrink=False):
        kwargs = {"batch_first": batch_first}
        assert right(f"{RNN}pad_sequence", [[x, x[:2], x[:1]]], kwargs) == "exact"


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("enforce_sorted", [True, False])
def test_packing_and_back(batch_first: bool, enforce_sorted: bool) -> None:
    """What pack_padded_sequence gives is a field-wise right answer, and so is what its inverse makes of it."""
    for _, x in variants(torch.rand(3, 4, 5), shrink=False):
        lengths = [4, 3, 2] if batch_first else [3, 2, 2, 1]
        right(f"{RNN}pack_padded_sequence", [x, lengths, batch_first, enforce_sorted])
        packed = rnn.pack_padded_sequence(x, torch.tensor(lengths), batch_first, enforce_sorted)
        padded, found = rnn.pad_packed_sequence(packed, batch_first)
        facts = Facts()
        fields = Fields(
            {name: None if value is None else Result(_layout(value)) for name, value in packed._asdict().items()}
        )
        row, bound = select(find_function(f"{RNN}pad_packed_sequence"), [fields, batch_first], {}) or (None, {})
        assert row is not None
        said, counts = row.apply(bound, facts)
        assert counts.layout.rank == found.dim()
        assert said.layout.rank == padded.dim()
        assert (is_contiguous(said.layout, facts.assumed_world) is YES) == padded.is_contiguous()


def _layout(x: torch.Tensor) -> Any:
    return Abstraction()(x).layout


def test_padding_an_unknown_order_has_two_answers() -> None:
    row, bound = select(
        find_function(f"{RNN}pad_packed_sequence"),
        [(Operand(contiguous((9, 5))), Operand(contiguous((4,))), None, UNKNOWN)],
        {"batch_first": True},
    ) or (None, {})
    assert row is not None
    assert isinstance(row.apply(bound, Facts()), Alternatives)


@pytest.mark.parametrize(
    "batch",
    [
        [torch.rand(3, 4), torch.rand(3, 4)],
        [torch.rand(4, 3).t(), torch.rand(4, 3).t()],
        [(torch.rand(3), 1), (torch.rand(3), 2)],
        [1.5, 2.5],
        [(torch.rand(2, 3).numpy(), 1.0), (torch.rand(2, 3).numpy(), 2.0)],
    ],
)
def test_collate(batch: list[Any]) -> None:
    assert right("torch.utils.data.default_collate", [batch]) in ("exact", "unknown")


def test_collated_samples_are_packed() -> None:
    facts = Facts()
    samples = [Operand(contiguous((3, 4))), Operand(contiguous((3, 4)))]
    row, bound = select(find_function("torch.utils.data.default_collate"), [samples], {}) or (None, {})
    assert row is not None
    assert is_contiguous(row.apply(bound, facts).layout, facts) is YES


@pytest.mark.parametrize("name", ["lstm_cell", "gru_cell", "rnn_tanh_cell"])
def test_cells(name: str) -> None:
    gates = {"lstm_cell": 4, "gru_cell": 3}.get(name, 1)
    for _, x in variants(torch.rand(3, 5), shrink=False):
        h = torch.rand(3, 6)
        hx: Any = [h, h.clone()] if name == "lstm_cell" else h
        assert right(f"torch.{name}", [x, hx, torch.rand(gates * 6, 5), torch.rand(gates * 6, 6)]) == "exact"


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("name", ["gru", "rnn_relu", "lstm"])
def test_layers(name: str, batch_first: bool) -> None:
    layer = {"gru": torch.nn.GRU, "rnn_relu": torch.nn.RNN, "lstm": torch.nn.LSTM}[name](5, 6, batch_first=batch_first)
    weights = [w.detach() for w in layer._flat_weights]
    for _, x in variants(torch.rand(3, 4, 5), shrink=False):
        h = torch.zeros(1, x.size(0 if batch_first else 1), 6)
        hx: Any = [h, h.clone()] if name == "lstm" else h
        assert right(f"torch.{name}", [x, hx, weights, True, 1, 0.0, False, False, batch_first]) == "exact"


def test_wrappers() -> None:
    checkpoint = wrapper("torch.utils.checkpoint.checkpoint")
    assert checkpoint is not None and checkpoint.calls and "use_reentrant" in checkpoint.keywords
    assert passes_through("torch.compile") == 0
    assert passes_through("torch.vmap") is None
    assert keeps_layouts("torch.autocast")
    assert not keeps_layouts("torch.vmap")
    x = torch.rand(3, 4)
    real = torch.utils.checkpoint.checkpoint(lambda t: t.t(), x, use_reentrant=False)
    assert real.stride() == (1, 4) and is_contiguous(_layout(real), Facts()) is NO
