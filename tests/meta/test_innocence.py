"""Linting imports nothing of the linted project, runs none of it, and never imports torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROBE = """
import sys, importlib.abc

class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {refused!r}:
            sys.stderr.write("imported " + name)
            sys.stderr.flush()
            import os
            os._exit(77)

sys.meta_path.insert(0, Refuse())
{body}
"""

HARMFUL = """
import pathlib
pathlib.Path(__file__ + ".trace").write_text("this code was run")
import torch
from helper import shape
from . import sibling

class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        y = x.transpose(1, 2).contiguous()
        return y.view(shape(x))

b = torch.randn(2, 3).t().view(6)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("harmful.py", "helper.py", "sibling.py", "conftest.py", "__init__.py"):
        (tmp_path / name).write_text(HARMFUL)
    return tmp_path


def run(body: str, refused: set[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    code = PROBE.format(refused=refused, body=body)
    return subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=False)


FRONT_ENDS = {
    "engine": """
import torchlayout
found = torchlayout.check(open("harmful.py").read(), "harmful.py")
assert any(finding.code.startswith("LAY1") for finding in found), found
""",
    "flake8": """
from flake8.main.cli import main
assert main(["-j1", "--isolated", "--select=LAY1", "harmful.py"]) == 1
""",
    "command line": """
from torchlayout.cli import main
try:
    main(["check", "--select=LAY1", "--no-cache", "."])
except SystemExit as stop:
    assert stop.code == 1, stop.code
""",
}


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_neither_torch_nor_the_project_is_imported(project: Path, front_end: str) -> None:
    refused = {"torch", "numpy", "helper", "sibling", "harmful", "conftest"}
    done = run(FRONT_ENDS[front_end], refused, project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(project.glob("*.trace")) == []


def test_the_probe_would_notice(project: Path) -> None:
    assert run("import torch", {"torch"}, project).returncode == 77


def test_importing_the_package_is_cheap(tmp_path: Path) -> None:
    heavy = {"torch", "numpy", "libcst", "rich", "click", "pathspec", "flake8", "dataclasses", "multiprocessing", "ast"}
    done = run("import torchlayout\ntorchlayout.__version__\nprint(sorted(dir(torchlayout)))", heavy, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "reveal_layout" in done.stdout


def test_importing_the_plugin_is_cheap(tmp_path: Path) -> None:
    heavy = {"torch", "numpy", "libcst", "rich", "click", "pathspec", "flake8", "multiprocessing", "tomllib", "tomli"}
    done = run("import torchlayout.flake8_plugin", heavy, tmp_path)
    assert done.returncode == 0, done.stderr
