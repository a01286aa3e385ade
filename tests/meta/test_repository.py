"""The repository as a whole: what it says agrees, and it speaks of nothing but itself."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import torchlayout

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "torchlayout"


each_file = pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.relative_to(PACKAGE).as_posix()
)


def tracked() -> list[Path]:
    """The files under version control; all files of a source archive, which has none."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        return [path for path in ROOT.rglob("*") if path.is_file() and ".git" not in path.parts]
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def texts() -> list[tuple[str, str]]:
    found = []
    for path in tracked():
        try:
            found.append((path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            continue
    return found


MACHINE = re.compile(
    r"(?<![\w.}/-])/(?:work|root|home|Users|opt/wheels|opt/pypi)/[\w.]|(?<![\w.}/-])/tmp/(?:venv|pk|guide)\b|[A-Z]:\\Users\\"
)


def test_no_path_of_one_machine() -> None:
    this = Path(__file__).relative_to(ROOT).as_posix()
    found = [(name, match[0]) for name, text in texts() if name != this for match in MACHINE.finditer(text)]
    assert found == []


def test_the_search_for_such_paths_works() -> None:
    for line in ("open('/home/someone/x')", '"/work/a"', "cd /root/x"):
        assert MACHINE.search(line), line
    for line in ("http://a/work/b", "src/work/x", "/homework", "$OUT/root/"):
        assert not MACHINE.search(line), line


def test_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert ROOT / project["tool"]["hatch"]["version"]["path"] == PACKAGE / "__init__.py"
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)", changelog, re.MULTILINE)[0] == torchlayout.__version__
    assert (PACKAGE / "py.typed").exists()


def test_pythons_of_the_metadata_are_those_of_the_matrix() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    stated = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    matrix = re.search(r"python: \[(.*?)\]", workflow)
    assert matrix is not None
    assert re.findall(r"3\.\d+", matrix[1]) == stated
    assert project["requires-python"] == f">={stated[0]}"


LONGEST_OBVIOUS = {ast.ClassDef: 8, ast.FunctionDef: 15}
"""Lines up to which a name can say enough."""


def undocumented(path: Path) -> list[str]:
    """The module, its public classes and its public functions, where they have no docstring and are not obvious.

    A module's only public definition is let off: the module's docstring is about it.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    defined = [node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    public = [node for node in defined if not node.name.startswith("_")]
    missing = [] if ast.get_docstring(tree) else ["the module"]
    if len(public) > 1:
        for node in public:
            lines = (node.end_lineno or 0) - node.lineno + 1
            if lines > LONGEST_OBVIOUS[type(node)] and not ast.get_docstring(node):
                missing.append(node.name)
    return missing


@each_file
def test_public_definitions_are_documented(path: Path) -> None:
    assert undocumented(path) == []


@each_file
def test_files_can_be_read_at_one_sitting(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500
