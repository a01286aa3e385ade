"""LAY105 and LAY108 over the ways to write in place: each program is run on torch too."""

from __future__ import annotations

import pytest
import torch
from claims import CLAIMS
from programs import marks, run

import torchlayout

LOST = {
    "add_": "x.t().reshape(-1).add_(1)",
    "sub_ of flatten": "x.t().flatten().sub_(1)",
    "zero_ of contiguous": "x.t().contiguous().zero_()",
    "fill_ of a mask": "x[x > 0].fill_(0.0)",
    "mul_ of a list": "x[[0, 1]].mul_(2)",
    "copy_": "x.t().reshape(-1).copy_(torch.ones(12))",
    "masked_fill_": "x.t().contiguous().masked_fill_(x.t() > 0, 0.0)",
    "index_put_": "x.t().contiguous().index_put_((torch.tensor([0]),), torch.tensor(1.0))",
    "assignment": "x.t().reshape(-1)[0] = 1.0",
    "assignment to all": "x.t().contiguous()[...] = 1.0",
    "assignment by mask": "x.t().reshape(-1)[x.reshape(-1) > 0] = 1.0",
    "out": "torch.add(x.reshape(-1), 1, out=x.t().reshape(-1))",
    "init": "torch.nn.init.zeros_(x.t().reshape(-1))",
    "data": "x.data.t().reshape(-1).add_(1)",
    "a view of the copy": "x.t().reshape(-1).view(3, 4).add_(1)",
}

KEPT = {
    "through a view": "x.t().add_(1)",
    "reshape that is a view": "x.reshape(-1).add_(1)",
    "flatten that is a view": "x.flatten()[0] = 1.0",
    "contiguous that does nothing": "x.contiguous().zero_()",
    "assignment by mask": "x[x > 0] = 0.0",
    "augmented assignment by mask": "x[x > 0] += 1.0",
    "the result is used": "y = x.t().reshape(-1).add_(1)",
    "a clone, on purpose": "x.clone().add_(1)",
}


def program(line: str, code: str = "") -> str:
    mark = f"  # {code}" if code else ""
    return f"""\
import torch


def update():
    x = torch.randn(3, 4)
    {line}{mark}
    return {"y" if line.startswith("y =") else "x"}


out = update()
"""


@pytest.mark.parametrize("line", LOST.values(), ids=LOST)
def test_a_write_to_a_copy_is_lost(line: str) -> None:
    source = program(line, "LAY108")
    seen = run(source)
    assert CLAIMS["LAY108"](source, 6, seen, "cpu")
    found = torchlayout.check(source)
    assert [(f.span.line, f.code) for f in found] == marks(source), [f.message for f in found]


@pytest.mark.parametrize("line", KEPT.values(), ids=KEPT)
def test_other_writes_are_left_alone(line: str) -> None:
    source = program(line)
    assert run(source).error is None
    assert not [f.message for f in torchlayout.check(source) if f.code in ("LAY105", "LAY108")]


def test_a_copy_on_some_path_is_said_to_be_one() -> None:
    source = """\
import torch

def update(x, turn):
    rows, columns = x.shape
    y = x.t() if turn else x
    y.reshape(-1).add_(1)
"""
    (finding,) = torchlayout.check(source)
    assert finding.code == "LAY108" and "on some path" in finding.message


SHARED = {
    "add_": "rows.add_(1)",
    "augmented": "rows += 1",
    "copy_": "rows.copy_(torch.randn(3, 4))",
    "whole": "rows[:] = torch.randn(3, 4)",
    "a column": "rows[:, 0] = torch.randn(3)",
    "out": "torch.add(torch.ones(3, 4), 1, out=rows)",
    "init": "torch.nn.init.normal_(rows)",
    "masked_scatter_": "rows.masked_scatter_(torch.ones(3, 4, dtype=torch.bool), torch.randn(12))",
}
SILENT = {
    "a row": "rows[0] = torch.randn(4)",
    "a row, augmented": "rows[0] += 1",
    "by mask": "rows[torch.zeros(3, 4, dtype=torch.bool)] = 1.0",
    "masked_fill_": "rows.masked_fill_(torch.zeros(3, 4, dtype=torch.bool), 1.0)",
    "index_fill_": "rows.index_fill_(0, torch.tensor([0]), 1.0)",
}


def expanded(line: str) -> str:
    return f"import torch\n\ndef f(x):\n    rows = torch.zeros(1, 4).expand(3, 4)\n    {line}  # LAY105\n\nf(0)\n"


@pytest.mark.parametrize("line", SHARED.values(), ids=SHARED)
def test_writes_that_torch_refuses(line: str) -> None:
    source = expanded(line)
    seen = run(source)
    assert isinstance(seen.error, RuntimeError) and "more than one element" in str(seen.error)
    (finding,) = torchlayout.check(source)
    assert (finding.code, finding.span.line) == ("LAY105", 5) and "raises" in finding.message


@pytest.mark.parametrize("line", SILENT.values(), ids=SILENT)
@pytest.mark.filterwarnings("ignore")
def test_writes_that_go_astray_silently(line: str) -> None:
    source = expanded(line)
    assert run(source).error is None
    (finding,) = torchlayout.check(source)
    assert (finding.code, finding.span.line) == ("LAY105", 5) and "silently" in finding.message


def test_windows_that_overlap_are_written_several_times() -> None:
    assert torch.arange(5.0).unfold(0, 3, 1).add_(1) is not None  # torch lets it pass
    source = "import torch\n\ndef f(x):\n    torch.arange(5.0).unfold(0, 3, 1).add_(1)\n"
    (finding,) = torchlayout.check(source)
    assert finding.code == "LAY105" and "silently" in finding.message
