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

HARMFUL = '''
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
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("harmful.py", "helper.py", "sibling.py", "conftest.py", "sitecustomize_.py", "__init__.py", "torch_.py"):
        (tmp_path / name).write_text(HARMFUL)
    return tmp_path


def run(body: str, refused: set[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    code = PROBE.format(refused=refused, body=body)
    return subprocess.run([sys.executable, "-P" if sys.version_info >= (3, 11) else "-I", "-c", code], cwd=cwd, capture_output=True, text=True, check=False)


FRONT_ENDS = {
    "engine": "import torchlayout\nfound = torchlayout.check(open('harmful.py').read(), 'harmful.py')\nassert found, found",
    "flake8": "from flake8.main.cli import main\nassert main(['-j1', '--isolated', '--select=LAY', 'harmful.py']) == 1",
    "command line": "from torchlayout.cli import main\ntry:\n    main(['check', '.'])\nexcept SystemExit as stop:\n    assert stop.code == 1",
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
