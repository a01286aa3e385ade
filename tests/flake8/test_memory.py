"""Freezing what stays loaded: in flake8's own process, nowhere else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = "import torch\n\n\ndef f(x):\n    return x.t().view(-1)\n"
FLAKE8 = """
import gc, sys
from flake8.main import application
application.Application().run(["--isolated", "-j1", "--select=LAY", sys.argv[1]])
print(gc.get_freeze_count() > 10_000, "libcst" in sys.modules)
"""
LIBRARY = """
import gc, sys
from torchlayout.check.engine import check
print(len(check(open(sys.argv[1]).read())), gc.get_freeze_count(), gc.isenabled())
"""


@pytest.mark.parametrize(
    ("program", "source", "said"),
    [(FLAKE8, SOURCE, "True True"), (FLAKE8, "import os\n", "False False"), (LIBRARY, SOURCE, "1 0 True")],
)
def test_what_is_frozen(program: str, source: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(source)
    command = [sys.executable, "-c", program, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == said
