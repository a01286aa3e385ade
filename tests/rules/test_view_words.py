"""Every operator that may refuse a tensor because it takes a view of it is a sink word of LAY101."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import pytest
import torch

import torchlayout
from torchlayout import Settings
from torchlayout.fixing.engine import fix_text
from torchlayout.ops.table import all_rows
from torchlayout.rules.finding import Finding, Safety
from torchlayout.rules.lay101_view_of_noncontiguous import WORDS


def refuses_views(transfer: Callable[..., Any]) -> bool:
    """Whether a transfer function, or one that it calls, raises `Refused("view", ...)`."""
    return any(
        "Refused" in function.__code__.co_names and "view" in function.__code__.co_consts
        for function in called_from(transfer, set())
    )


def called_from(function: Any, seen: set[Any]) -> Iterator[FunctionType]:
    if not isinstance(function, FunctionType) or function in seen:
        return
    if not function.__module__.startswith("torchlayout.ops"):
        return
    seen.add(function)
    yield function
    for name in function.__code__.co_names:
        yield from called_from(function.__globals__.get(name), seen)
    for cell in function.__closure__ or ():
        yield from called_from(cell.cell_contents, seen)


def test_all_that_take_views_are_looked_for() -> None:
    names = {row.name for row in all_rows() if not row.numpy and refuses_views(row.transfer)}
    assert {"view", "kron"} <= names
    assert sorted(name for name in names if not any(word.strip(".(") == name for word in WORDS)) == []


REFUSED = {
    "torch.kron(torch.zeros(2, 3), torch.zeros(2, 3).t())": ".t().contiguous())",
    "torch.zeros(2, 3).kron(torch.zeros(2, 3).t())": ".t().contiguous())",
    "torch.take_along_dim(torch.zeros(2, 3).t(), torch.zeros(6).long())": ".t().contiguous(), torch.zeros(6).long())",
    "torch.zeros(6).take_along_dim(torch.zeros(2, 3).long().t())": ".t().contiguous())",
    "torch.zeros(2, 3).t().take_along_dim(torch.zeros(6).long())": ".t().contiguous().take_along_dim(",
    "torch.nn.utils.parameters_to_vector([torch.zeros(2, 3).t()])": None,
    "torch.nn.init.orthogonal_(torch.zeros(2, 3, 4).transpose(1, 2))": None,
    "torch.nn.functional.local_response_norm(torch.zeros(2, 3, 4, 5, 6).transpose(3, 4), 2)": "(3, 4).contiguous(), 2)",
    "torch.nn.LocalResponseNorm(2)(torch.zeros(2, 3, 4, 5, 6).transpose(3, 4))": None,
}
"""Calls that torch refuses, and a part of what they are mended to."""


@pytest.mark.parametrize(("call", "mended"), REFUSED.items())
def test_what_takes_a_view_inside_is_refused_and_mended(call: str, mended: str | None) -> None:
    with pytest.raises(RuntimeError, match="view"):
        eval(call, {"torch": torch})
    text = f"import torch\n\ny = {call}\n"

    def check(source: str) -> list[Finding]:
        return torchlayout.check(source, settings=Settings(select=("LAY101",)))

    assert [(finding.code, finding.span.line) for finding in check(text)] == [("LAY101", 3)]
    fixed = fix_text(text, check, Safety.UNSAFE).text
    if mended is None:
        assert fixed == text
    else:
        assert mended in fixed
        exec(fixed, {})
