"""docs/how-it-works.md says what the linter knows, and what bounds it."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
from literate import Program, programs
from test_literate import test_case as check

PAGE = Path(__file__).parents[2] / "docs" / "how-it-works.md"
BOUND = re.compile(r"^\| `(MAX_\w+)` \| `(interp/\w+)\.py` \| (\d+) \|", re.MULTILINE)


@pytest.mark.parametrize("program", programs(PAGE), ids=lambda program: program.name)
def test_what_it_shows(program: Program) -> None:
    check(program)


@pytest.mark.parametrize(("name", "module", "value"), BOUND.findall(PAGE.read_text(encoding="utf-8")))
def test_bounds(name: str, module: str, value: str) -> None:
    found = importlib.import_module(f"torchlayout.{module.replace('/', '.')}")
    assert getattr(found, name) == int(value)


def test_every_bound_of_a_run_is_told() -> None:
    from torchlayout.interp import frame

    told = {name for name, module, _ in BOUND.findall(PAGE.read_text(encoding="utf-8")) if module == "interp/frame"}
    assert told <= {name for name in vars(frame) if name.startswith("MAX_")} and len(told) >= 4
