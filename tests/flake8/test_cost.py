"""What the plugin costs flake8 before it has anything to say: as ratios, so that slow machines pass too."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from torchlayout.flake8_plugin import Plugin

FLAKE8 = "import flake8.main.cli, flake8.plugins.pycodestyle, flake8.plugins.pyflakes"
OURS = "import torchlayout.flake8_plugin, torchlayout.check.config"
AT_MOST = 0.3
"""Our imports as a part of flake8's own: 30 of the 100 ms or so that these take."""


def microseconds(line: str) -> int:
    return int(line.split("|")[1])


def import_times(folder: Path) -> tuple[int, int]:
    """Cumulative microseconds of flake8's own imports and of ours, by -X importtime."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", f"{FLAKE8}\n{OURS}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    outermost = [line for line in done.stderr.splitlines() if re.search(r"\| (flake8|torchlayout)[\w.]*$", line)]
    flake8 = sum(microseconds(line) for line in outermost if "| flake8" in line)
    ours = sum(microseconds(line) for line in outermost if "| torchlayout" in line)
    assert flake8 and ours
    return flake8, ours


def test_start_up(tmp_path: Path) -> None:
    ratios = []
    for _ in range(3):
        flake8, ours = import_times(tmp_path)
        ratios.append(ours / flake8)
    assert min(ratios) < AT_MOST, ratios


@pytest.mark.parametrize("line", ["x = foo.bar(1).baz\n", "# nothing but words\n"])
def test_a_file_without_torch_costs_next_to_nothing(line: str) -> None:
    """Under 1 ms where parsing the same text takes tens: here at most a fiftieth of the parse."""
    text = line * 3000
    lines = text.splitlines(keepends=True)
    tree = ast.parse("x = foo.bar(1).baz\n" * 3000)
    ours, parse = [], []
    for _ in range(5):
        start = time.perf_counter()
        assert list(Plugin(tree, lines, "a.py").run()) == []
        ours.append(time.perf_counter() - start)
        start = time.perf_counter()
        ast.parse("x = foo.bar(1).baz\n" * 3000)
        parse.append(time.perf_counter() - start)
    assert min(ours) < min(parse) / 50
