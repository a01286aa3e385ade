"""The article's own programs: through the engine, the command line and flake8, each finding confirmed on torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from torchlayout.check.engine import check
from torchlayout.check.settings import Settings

PROGRAM = """\
import torch


def raising():
    a = torch.arange(6).reshape(2, 3)
    b = a.t()
    return b.view(6)  # LAY101


def mended():
    a = torch.arange(6).reshape(2, 3)
    b = a.t()
    return b.contiguous().view(6), b.reshape(6)  # LAY401 LAY402


def scores(q, k):
    q = q.transpose(-2, -1).contiguous()  # LAY204
    return torch.matmul(k, q)


def guarded(q, k):
    if not q.is_contiguous():  # LAY205
        q = q.contiguous()
    k = k if k.is_contiguous() else k.contiguous()  # LAY205
    return q + k


def chw(img_hwc):
    t = torch.from_numpy(img_hwc).permute(2, 0, 1)
    return t.view(1, -1)  # LAY101


def packed_chw(img_hwc):
    t = torch.from_numpy(img_hwc).permute(2, 0, 1)
    return t.contiguous().view(1, -1)  # LAY402


def collate_fn(batch):
    imgs = [item["image"].permute(2, 0, 1) for item in batch]
    return torch.stack([img.contiguous() for img in imgs])  # LAY204 LAY302
"""

MARKED = {
    (row, code)
    for row, line in enumerate(PROGRAM.splitlines(), 1)
    if "# LAY" in line
    for code in line.partition("# ")[2].split()
}


def test_the_engine_reports_what_is_marked() -> None:
    found = check(PROGRAM, "article.py", Settings(extend_select=("LAY4",)))
    assert {(finding.span.line, finding.code) for finding in found} == MARKED


def test_the_command_line_reports_what_is_marked(tmp_path: Path) -> None:
    path = tmp_path / "article.py"
    path.write_text(PROGRAM)
    command = [sys.executable, "-m", "torchlayout", "check", "--no-cache", "--isolated", "--output-format", "json"]
    done = subprocess.run([*command, "--extend-select", "LAY4", str(path)], capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert {(item["location"]["row"], item["code"]) for item in json.loads(done.stdout)} == MARKED


def test_flake8_reports_what_is_marked(tmp_path: Path) -> None:
    path = tmp_path / "article.py"
    path.write_text(PROGRAM)
    command = [sys.executable, "-m", "flake8", "--isolated", "--select", "LAY", "--format", "%(row)d %(code)s"]
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, cwd=tmp_path)
    found = {(int(row), code) for row, code in (line.split() for line in done.stdout.splitlines())}
    assert found == MARKED, done.stderr


DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)]


@pytest.mark.parametrize("device", DEVICES)
def test_torch_bears_it_out(device: str) -> None:
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("torch sees no CUDA device here")
    names: dict[str, object] = {}
    with torch.device(device):
        exec(PROGRAM, names)
        with pytest.raises(RuntimeError, match="view size is not compatible"):
            names["raising"]()  # type: ignore[operator]
        assert len(names["mended"]()) == 2  # type: ignore[operator]
        q, k = torch.randn(2, 5, 4), torch.randn(2, 5, 4)
        assert torch.equal(names["scores"](q, k), torch.matmul(k, q.transpose(-2, -1)))  # type: ignore[operator]
    image = np.zeros((4, 5, 3), dtype=np.float32)
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        names["chw"](image)  # type: ignore[operator]
    assert names["packed_chw"](image).shape == (1, 60)  # type: ignore[operator]
    batch = [{"image": torch.rand(4, 5, 3)} for _ in range(2)]
    turned = torch.stack([item["image"].permute(2, 0, 1) for item in batch])
    assert torch.equal(names["collate_fn"](batch), turned)  # type: ignore[operator]
