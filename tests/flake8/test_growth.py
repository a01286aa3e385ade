"""How the cost of an analysis grows, and what memory it leaves behind; ratios within one run, with room for noise."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import torchlayout
from torchlayout.flake8_plugin import Plugin

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from written import HEAD, long_function, many_functions

MAX_MEMORY = 60 * 2**20


def seconds(work: Callable[[], object]) -> float:
    """CPU time of the best of three."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def test_linear_in_the_number_of_functions() -> None:
    """Four times the functions: four times the time; quadratic would be sixteen."""
    few, many = many_functions(30), many_functions(120)
    assert torchlayout.check(few), "the programs must give the rules something to look at"
    assert seconds(lambda: torchlayout.check(many)) < 7 * seconds(lambda: torchlayout.check(few))


def test_nearly_linear_in_the_length_of_a_function() -> None:
    few, many = long_function(60), long_function(240)
    assert seconds(lambda: torchlayout.check(many)) < 8 * seconds(lambda: torchlayout.check(few))


def test_a_file_without_a_word_to_report_on_is_not_analysed() -> None:
    """It mentions torch, so that the words of the rules are looked for: at most a tenth of what its parse costs."""
    text = HEAD + "y = foo.bar(1).baz\n" * 3000
    tree, lines = ast.parse(text), text.splitlines(keepends=True)
    assert list(Plugin(tree, lines, "a.py").run()) == []  # the first file imports the engine
    assert seconds(lambda: list(Plugin(tree, lines, "a.py").run())) < seconds(lambda: ast.parse(text)) / 10


@pytest.mark.skipif(sys.platform == "win32", reason="measures with the resource module")
def test_memory_is_given_back_after_each_file(tmp_path: Path) -> None:
    """flake8 with the plugin takes at most 60 MB more than without it, however many files there are."""
    for number in range(25):
        (tmp_path / f"m{number}.py").write_text(many_functions(60).replace("Attention", f"Attention{number}_"))
    without, with_us = (most_memory(tmp_path, codes) for codes in ("E,F", "E,F,LAY"))
    assert with_us - without < MAX_MEMORY, (without, with_us)


def most_memory(folder: Path, codes: str) -> int:
    """The largest resident set of a flake8 run, in bytes."""
    code = (
        "import resource, subprocess, sys\n"
        f"subprocess.run([sys.executable, '-m', 'flake8', '--isolated', '-j1', '--select={codes}', '.'],"
        " stdout=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    return int(done.stdout) * (1 if sys.platform == "darwin" else 2**10)
