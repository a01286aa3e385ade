"""The tables of who needs dense memory name what there is, and say what torch does."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from torchlayout.layouts import strided
from torchlayout.ops import Operand
from torchlayout.rules.strided_use import (
    ELEMENTWISE,
    GATHERING,
    JOINING,
    LINEAR,
    MATRIX_PRODUCTS,
    ROW_BY_ROW,
    TOTALS,
    Cost,
    cost,
    is_blas_matrix,
    rows_dense,
)
from torchlayout.sizes import Facts

CONVERSIONS = frozenset("to float half double bfloat16 int long bool type clone dropout".split())
"""Element by element as well, though torch does not tag them so."""


def operand(tensor: torch.Tensor) -> Operand:
    return Operand(strided(tensor.shape, tensor.stride()))


@pytest.mark.parametrize("name", sorted(ELEMENTWISE - CONVERSIONS))
def test_torch_too_calls_it_pointwise(name: str) -> None:
    home = torch.ops.aten if hasattr(torch.ops.aten, name) else None
    if home is None:  # silu, gelu and their like, or a composite such as relu6
        x = torch.rand(3, 4)
        assert getattr(F, name)(x.t()).stride() == x.t().stride()
        return
    packet = getattr(home, name)
    tags = set().union(*(getattr(packet, overload).tags for overload in packet.overloads()))
    if torch.Tag.pointwise in tags:
        return
    x = torch.rand(3, 4).t()
    for arguments in ((x,), (x, x), (x, 1)):
        try:
            out = getattr(torch, name, getattr(F, name, None))(*arguments)
        except (TypeError, RuntimeError):
            continue
        assert out.stride() == x.stride()
        return
    pytest.fail(f"torch does not know {name}")


@pytest.mark.parametrize("name", sorted(ROW_BY_ROW | TOTALS | MATRIX_PRODUCTS | LINEAR | GATHERING | JOINING))
def test_torch_has_it(name: str) -> None:
    homes = (torch, torch.Tensor, F, torch.nn)
    assert any(hasattr(home, name) for home in homes)


def test_rows() -> None:
    facts = Facts()
    x = torch.randn(2, 3, 4, 5)
    assert rows_dense(operand(x.transpose(1, 2)), facts)
    assert not rows_dense(operand(x.transpose(2, 3)), facts)
    assert rows_dense(operand(x[:, :, ::2]), facts)
    assert not rows_dense(operand(x[..., ::2]), facts)


def test_matrices_that_blas_takes_as_they_are() -> None:
    facts = Facts()
    x = torch.randn(2, 3, 4, 5)
    assert is_blas_matrix(operand(x.transpose(-2, -1)), facts)
    assert not is_blas_matrix(operand(x.transpose(1, 2)), facts)
    assert not is_blas_matrix(operand(x[..., ::2]), facts)


def test_what_pays_is_never_free() -> None:
    facts = Facts()
    turned = operand(torch.randn(4, 5).t())
    other = operand(torch.randn(5, 4))
    assert cost("add", "self", {"self": turned, "other": 1}, turned, facts) is Cost.FREE
    assert cost("add", "self", {"self": turned, "other": other}, turned, facts) is Cost.PAYS
    assert cost("softmax", "self", {"self": turned, "dim": -1}, turned, facts) is Cost.PAYS
    assert cost("sum", "self", {"self": turned, "dim": (0,)}, turned, facts) is Cost.PAYS
    assert cost("sum", "self", {"self": turned}, turned, facts) is Cost.FREE
    assert cost("conv2d", "input", {"input": turned}, turned, facts) is Cost.PAYS
    assert cost("somebody_s_kernel", "self", {"self": turned}, turned, facts) is Cost.PAYS
