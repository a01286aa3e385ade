"""`[tool.flake8]` in pyproject.toml, through the real Flake8-pyproject."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("flake8p", reason="Flake8-pyproject is not installed")

SRC = Path(__file__).parents[2] / "src"
SOURCE = """\
import torch

y = torch.randn(3, 4).t()
z = y.view(12)
w = torch.zeros(2, 3).contiguous()
v = y.reshape(-1)
v.size()  # torchlayout: ignore[LAY101]
"""


def flake8(folder: Path, table: str) -> subprocess.CompletedProcess[str]:
    (folder / "a.py").write_text(SOURCE)
    (folder / "pyproject.toml").write_text(f"[tool.flake8]\n{table}\n")
    env = {**os.environ, "PYTHONPATH": str(SRC)}
    return subprocess.run([sys.executable, "-m", "flake8"], cwd=folder, env=env, capture_output=True, text=True)


def test_settings(tmp_path: Path) -> None:
    ran = flake8(
        tmp_path,
        "extend-select = ['LAY4']\nextend-ignore = ['LAY2']\ntorchlayout-report-unused-suppressions = true\n"
        "torchlayout-need-contiguous = ['lib.f:q,k', 'lib.g:*']\ntorchlayout-target-torch-version = '2.4'\n"
        "[tool.flake8.torchlayout-assume-sizes]\nbatch = '>1'\nheads = 8",
    )
    assert (ran.returncode, ran.stderr) == (1, "")
    assert [line.split(": ")[1][:6] for line in ran.stdout.splitlines()] == ["LAY101", "LAY401", "LAY902"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("torchlayout-device = 'tpu'", "pyproject.toml:2: torchlayout-device: expected"),
        (
            "\ntorchlayout-need-contiguous = ['lib.f']",
            "pyproject.toml:3: torchlayout-need-contiguous: expected entries",
        ),
        ("torchlayout-devize = 'cpu'", "pyproject.toml:2: unknown setting 'torchlayout-devize' (did you mean"),
    ],
)
def test_mistakes(tmp_path: Path, table: str, message: str) -> None:
    ran = flake8(tmp_path, table)
    assert ran.returncode == 2
    assert (ran.stdout + ran.stderr).startswith(message)
    assert (ran.stdout + ran.stderr).count("\n") == 1
