"""What the settings let the analysis take for granted."""

from __future__ import annotations

from torchlayout.check.engine import check
from torchlayout.check.settings import Settings

PROGRAM = """\
import torch
from torchlayout import reveal_layout


def f(x, heads):
    B, T, C = x.shape
    reveal_layout(x)
    y = x.transpose(1, 2)
    z = y.view(B, -1)
    return x.view(B, T, heads, C // heads).transpose(1, 2).view(B, T, C)
"""


def codes(**settings: object) -> list[str]:
    return [finding.code for finding in check(PROGRAM, "program.py", Settings(**settings))]  # type: ignore[arg-type]


def test_without_settings_sizes_are_unknown() -> None:
    assert codes() == ["LAY900", "LAY101", "LAY101"]


def test_a_size_given_by_name_is_that_number() -> None:
    found = check(PROGRAM, "program.py", Settings(assume_sizes=(("T", ("1",)),)))
    assert found[0].layout is not None
    assert found[0].layout["shape"] == ["B", "1", "C"]
    assert [finding.code for finding in found] == ["LAY900"]  # a dimension of size 1 can be turned freely


def test_a_parameter_given_by_name_is_that_number() -> None:
    assert codes(assume_sizes=(("heads", ("1",)),)) == ["LAY900", "LAY101"]


def test_operators_newer_than_the_target_are_not_known() -> None:
    head = "import torch\nfrom torchlayout import reveal_layout\n\n"
    program = head + "x = torch.zeros(2, 1, 3).squeeze((0, 1))\nreveal_layout(x)\n"
    new = check(program, "program.py", Settings(target_torch_version="2.4"))[0].layout
    old = check(program, "program.py", Settings(target_torch_version="1.13"))[0].layout
    assert new is not None and old is not None
    assert new["shape"] == ["2", "3"]
    assert old["shape"] is None


def test_the_device_decides_where_backends_differ() -> None:
    program = """\
import torch
from torchlayout import reveal_layout

x = torch.zeros(2, 3, 4, 5, dtype=torch.float64).to(memory_format=torch.channels_last)
w = torch.zeros(6, 3, 1, 1, dtype=torch.float64)
reveal_layout(torch.nn.functional.conv2d(x, w))
"""
    unset = check(program, "program.py", Settings())[0].layout
    cpu = check(program, "program.py", Settings(device="cpu"))[0].layout
    assert unset is not None and cpu is not None
    assert unset["contiguous"] == "unknown"
    assert cpu["stride"] == ["120", "1", "30", "6"]
