"""The packages import each other only in the direction of the design, and the linter never loads torch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
PACKAGE = SOURCE / "torchlayout"

MAY_IMPORT = {
    "structs": set(),
    "sizes": set(),
    "layouts": {"sizes", "structs"},
    "ops": {"layouts", "sizes", "structs"},
    "program": {"structs"},
    "interp": {"program", "ops", "layouts", "sizes", "structs"},
    "rules": {"interp", "program", "ops", "layouts", "sizes", "structs"},
    "check": {"rules", "interp", "program", "ops", "layouts", "sizes"},
    "fixing": {"check", "rules", "program"},
    "notebooks": {"check", "rules", "program"},
    "flake8_plugin": {"check"},
    "cli": {"fixing", "notebooks", "check", "rules", "interp", "program", "ops", "layouts", "sizes"},
    "__main__": {"cli"},
    "__init__": {"check", "rules"},
}
"""Each part of the package, and the parts it may import, at the top of a file or inside a function."""

THIRD_PARTY = {
    "libcst": {"program", "fixing"},
    "flake8": {"flake8_plugin"},
    "click": {"cli"},
    "rich": {"cli"},
    "pathspec": {"check"},
    "tomli": {"check"},
    "torch": set(),
    "numpy": set(),
}
"""Which parts may import a package that is not ours."""

FILES = sorted(PACKAGE.rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """Dotted names of all modules that a file imports, wherever in it; relative ones made absolute."""
    package = path.relative_to(SOURCE).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *filter(None, [node.module])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def part_of(name: str) -> str:
    """The part of the package that a dotted name belongs to: `check` for `torchlayout.check.engine`."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_arrows(path: Path) -> None:
    part = part_of(".".join(path.relative_to(SOURCE).with_suffix("").parts))
    assert part in MAY_IMPORT, f"{part} has no place in the design: add it to MAY_IMPORT"
    for name in imported(path):
        top = name.split(".")[0]
        if top == "torchlayout" and name != "torchlayout":
            target = part_of(name)
            if target in MAY_IMPORT:  # else an attribute of the package itself
                assert target == part or target in MAY_IMPORT[part], f"{part} must not import {target} ({name})"
        elif top in THIRD_PARTY:
            assert part in THIRD_PARTY[top], f"{part} must not import {top}"


def test_the_table_above_has_no_cycle() -> None:
    done: set[str] = set()
    while len(done) < len(MAY_IMPORT):
        ready = {part for part, needs in MAY_IMPORT.items() if needs <= done} - done
        assert ready, f"a cycle among {set(MAY_IMPORT) - done}"
        done |= ready


def test_every_part_of_the_table_exists() -> None:
    found = {part_of(".".join(path.relative_to(SOURCE).with_suffix("").parts)) for path in FILES}
    assert found == set(MAY_IMPORT)


def test_the_walk_sees_imports_of_every_kind(tmp_path: Path) -> None:
    path = PACKAGE / "check" / "engine.py"
    assert {"ast", "torchlayout.check.suppress", "torchlayout.rules.finding"} <= set(imported(path))
    inner = set(imported(PACKAGE / "check" / "analysis.py"))
    assert "torchlayout.program.unit" in inner  # imported inside a function
