"""`reveal_layout` at run time: what it prints, and that it changes nothing."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch

from torchlayout import reveal_layout


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (torch.zeros(2, 3), "shape [2, 3], stride [3, 1], contiguous yes"),
        (torch.zeros(2, 3).t(), "shape [3, 2], stride [1, 3], contiguous no"),
        (torch.zeros(1, 3).t(), "shape [3, 1], stride [1, 3], contiguous yes"),
        (torch.zeros(()), "shape [], stride [], contiguous yes"),
        (torch.zeros(2, 0), "shape [2, 0], stride [1, 1], contiguous yes"),
        (torch.nn.Parameter(torch.zeros(2)), "shape [2], stride [1], contiguous yes"),
        (torch.eye(2).to_sparse(), "shape [2, 2], torch.sparse_coo: no strides"),
        ([1], "list, not a tensor"),
        (None, "NoneType, not a tensor"),
    ],
    ids=str,
)
def test_what_it_prints(tensor: Any, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert reveal_layout(tensor) is tensor
    assert capsys.readouterr().out == f"reveal_layout: {text}\n"


def test_it_does_not_import_torch() -> None:
    code = "import sys, torchlayout\nassert torchlayout.reveal_layout(3) == 3\nassert 'torch' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "reveal_layout: int, not a tensor\n"), done.stderr
