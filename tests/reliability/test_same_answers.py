"""The same findings from run to run, whatever the hash seed, the order of the files, or the number of processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from checking import OWN_SOURCES, as_tensor_code

from torchlayout.check.run import check_file, check_paths
from torchlayout.check.settings import Settings
from torchlayout.rules import RULES

SEEDS = range(6)

PROGRAM = """
import json, sys
from torchlayout.check.run import check_paths
from torchlayout.check.settings import Settings
paths, jobs = json.loads(sys.argv[1]), int(sys.argv[2])
for result in check_paths(paths, Settings(select=('LAY',), report_unused_suppressions=True), jobs=jobs):
    print(result.path, result.findings, result.notes, result.unused_suppressions)
"""

JOINED = """import torch
import torch.nn as nn
from helper import pack

class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv, self.proj = heads, nn.Linear(dim, dim * 3), nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        y = (q @ k.transpose(-2, -1)).softmax(-1) @ v
        y = y.transpose(1, 2) if mask is None else y.flip(1) if mask.dim() > 2 else y.permute(2, 0, 1, 3)
        for part in (y, q, k):
            part = part.contiguous()
            self.proj(part.transpose(1, 2).contiguous()).add_(torch.cat([q, k], 1).contiguous())
        z = {name: torch.stack([q, y]).contiguous() for name in {"a", "b", "c"}}
        return pack(y.view(B, N, C)), z, q.contiguous() + q.contiguous(), torch.add(k.contiguous(), k)

def pairs(a: torch.Tensor, b: torch.Tensor, c):
    kept = a.t() if c else b.expand(3, 4) if c is None else a.T.flip(0)
    kept.add_(1)
    a.t().reshape(-1).add_(1)
    return kept.view(12), kept.contiguous(), torch.where(kept > 0, kept, kept.t().contiguous())
"""

HELPER = """import torch

def pack(x):
    y = x.transpose(0, 1)
    return y.contiguous().view(-1), torch.randn(3, 4).t().view(12)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for number, path in enumerate(OWN_SOURCES[::12]):
        (folder / f"f{number}.py").write_text(as_tensor_code(path.read_text(encoding="utf-8")), encoding="utf-8")
    (folder / "joined.py").write_text(JOINED, encoding="utf-8")
    (folder / "helper.py").write_text(HELPER, encoding="utf-8")
    for rule in RULES:
        for number, example in enumerate((*rule.invalid, *rule.near_misses)):
            (folder / f"{rule.code}_{number}.py").write_text(example.source, encoding="utf-8")
    return folder


def output(folder: Path, seed: int, paths: list[str], jobs: int = 1) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(paths), str(jobs)],
        cwd=folder,
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_whatever_the_hash_seed(project: Path) -> None:
    names = [path.name for path in sorted(project.glob("*.py"))]
    first = output(project, SEEDS[0], ["."])
    assert {line.split()[0] for line in first} == set(names)
    text = "\n".join(first)
    assert all(code in text for code in ("LAY101", "LAY102", "LAY105", "LAY201", "LAY204", "LAY302", "LAY401"))
    for seed in SEEDS[1:]:
        assert output(project, seed, ["."]) == first


def test_whatever_the_order_and_the_jobs(project: Path) -> None:
    names = [path.name for path in sorted(project.glob("*.py"))]
    first = output(project, 0, names)
    assert sorted(output(project, 1, names[::-1])) == sorted(first)
    assert sorted(output(project, 2, names[1::2] + names[::2], jobs=2)) == sorted(first)
    assert output(project, 3, names, jobs=3) == first


def test_one_file_alone_or_among_others(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    settings = Settings(select=("LAY",))
    together = {result.path: result for result in check_paths(["."], settings)}
    for path, result in list(together.items())[::5]:
        assert check_file(path, settings) == result


@pytest.mark.full
def test_installed_models_whatever_the_hash_seed() -> None:
    """Over every installed file that speaks of torch, of torch itself too."""
    folder = Path(sysconfig.get_path("purelib"))
    names = [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*.py"))
        if b"import torch" in path.read_bytes() and path.stat().st_size < 200_000
    ][::4]
    assert names
    first = output(folder, 0, names, jobs=0)
    for seed in SEEDS[1:3]:
        assert output(folder, seed, names[::-1], jobs=0)[::-1] == first
