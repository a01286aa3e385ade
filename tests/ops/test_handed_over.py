"""Gradients, DLPack, the old constructors, and parameters as one vector."""

from __future__ import annotations

import pytest
import torch
from conformance import check_call, tensor_operand
from facts import Symbolic
from real_layouts import variants

from torchlayout.layouts import contiguous
from torchlayout.ops import UNKNOWN, Alternatives, DType, Operand, Refused, Result, attribute
from torchlayout.ops.handed_over import CONSTRUCTORS
from torchlayout.sizes import Facts


def test_gradients_have_their_inputs_sizes() -> None:
    """Their strides are left open: those of a sum are all 0, those of a product are dense."""
    for summed in (True, False):
        for _, x in variants(torch.rand(2, 3, 4), shrink=False):
            x = x.requires_grad_()
            total = x.sum() if summed else (x * x).sum()
            (real,) = torch.autograd.grad(total, x)
            (said,) = Symbolic().call("torch.autograd.grad", tensor_operand(total), tensor_operand(x))
            assert said.layout.sizes == tuple(real.shape)
            assert set(said.layout.strides) == {None}
    assert Symbolic().call("torch.autograd.grad", Operand(contiguous(())), [], allow_unused=True) is UNKNOWN


@pytest.mark.parametrize("retained", [False, True])
def test_the_gradient_of_a_tensor_is_none_or_lies_as_autograd_says(retained: bool) -> None:
    for _, x in variants(torch.rand(2, 3, 4), shrink=False):
        x = x.requires_grad_()
        if retained:
            x = x.expand(x.shape)
            x.retain_grad()
        for assumed in (False, True):
            facts = Facts().assumed_world if assumed else Facts()
            said = attribute(tensor_operand(x), "grad", facts)
            assert isinstance(said, Alternatives)
            result, nothing = said.outcomes
            assert nothing is None
            assert x.grad is None or assumed
            if not assumed:
                (x.mT * torch.rand(2, 4, 3)).sum().backward()
            assert isinstance(result, Result) and x.grad is not None
            assert result.layout.sizes == tuple(x.grad.shape)
            assert result.layout.strides in ((None,) * 3, x.grad.stride())
            kept = not x.is_contiguous() and torch.ops.aten.is_non_overlapping_and_dense(x)
            assert (None in result.layout.strides) is (kept or not assumed)


@pytest.mark.parametrize("name", [name for name in CONSTRUCTORS if hasattr(torch, name)])
def test_old_constructors(name: str) -> None:
    for args in ((2, 3), (4,), ([[1, 0, 1], [0, 1, 1]],), ([1, 0],)):
        verdict = check_call(f"torch.{name}", args)
        assert verdict.kind == "exact", verdict.detail
    assert check_call(f"torch.{name}", ((2, 3),)).kind == "unknown"


def test_parameters_as_a_vector() -> None:
    path = "torch.nn.utils.parameters_to_vector"
    assert check_call(path, [[torch.rand(2, 3), torch.rand(4)]]).kind == "exact"
    weight = torch.rand(4, 3, 2, 2).contiguous(memory_format=torch.channels_last)
    assert check_call(path, [[torch.rand(2, 3), weight]]).kind == "exact"  # both refuse it
    with pytest.raises(Refused):
        Symbolic().call(path, [tensor_operand(weight)])


def test_pinned_memory_keeps_gaps() -> None:
    """As `_pin_memory` of ATen/native/Memory.cpp: the sizes and strides are set on pinned memory."""
    x = torch.rand(4, 6)[:, ::2]
    said = Symbolic().call("Tensor.pin_memory", tensor_operand(x))
    assert isinstance(said, Result)
    assert said.layout.strides == x.stride()


@pytest.mark.cuda
def test_pinned_memory_on_a_device() -> None:
    for _, x in variants(torch.rand(2, 3, 4)):
        verdict = check_call("Tensor.pin_memory", [x])
        assert verdict.kind == "unknown", verdict.detail


def test_bytes() -> None:
    x = torch.rand(2, 3).double()
    assert attribute(tensor_operand(x), "nbytes", Facts()) == x.nbytes == 48
    assert attribute(Operand(contiguous((2, 3)), DType("odd")), "nbytes", Facts()) is UNKNOWN
