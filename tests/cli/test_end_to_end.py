"""The real command with the real analysis: as a process, under pre-commit, through nbQA, and explaining itself."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "torchlayout"]

TURNED = "import torch\n\ny = torch.randn(3, 4).t()\nz = y.view(12)\n"
COPIED = "import torch\n\nx = torch.randn(3, 4)\ny = x.contiguous()\n"


def process(*arguments: str, cwd: Path, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], cwd=cwd, capture_output=True, text=True, **more)


@pytest.fixture(autouse=True)
def in_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes in other folders import the package where the tests do."""
    paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    monkeypatch.delenv("FORCE_COLOR", raising=False)


# ---------------------------------------------------------------- check
def test_a_process_reports(folder: Path) -> None:
    (folder / "a.py").write_text(TURNED)
    ran = process("check", "a.py", "--output-format=concise", cwd=folder)
    assert ran.returncode == 1
    assert re.fullmatch(r"a\.py:4:7: LAY101 .*\n", ran.stdout)
    [found] = json.loads(process("check", "a.py", "--output-format=json", cwd=folder).stdout)
    assert found["code"] == "LAY101"
    assert found["related"][0]["location"]["row"] == 3


def test_a_process_fixes(folder: Path) -> None:
    (folder / "a.py").write_text(COPIED)
    ran = process("check", "a.py", "--fix", cwd=folder)
    assert (ran.returncode, ran.stdout) == (0, "")
    assert (folder / "a.py").read_text() == COPIED.replace(".contiguous()", "")


def test_many_files_in_several_processes_give_the_same(folder: Path) -> None:
    for number in range(60):
        (folder / f"f{number}.py").write_text([TURNED, COPIED, "import torch\nx.view(\n", "x = 1\n"][number % 4])
    one = process("check", ".", "--jobs=1", "--no-cache", "--output-format=concise", cwd=folder)
    two = process("check", ".", "--jobs=3", "--no-cache", "--output-format=concise", cwd=folder)
    cached = [process("check", ".", "--output-format=concise", cwd=folder) for _ in range(2)]
    assert one.returncode == 2
    for other in [two, *cached]:
        assert (other.returncode, other.stdout, other.stderr) == (one.returncode, one.stdout, one.stderr)
    assert one.stdout.count("LAY101") == one.stdout.count("LAY201") == one.stderr.count("syntax error") == 15


def test_html_draws_memory(folder: Path) -> None:
    (folder / "a.py").write_text(TURNED)
    page = process("check", "a.py", "--output-format=html", cwd=folder).stdout
    assert page.count("<svg") == 1
    assert "torch raises" in page


def test_stdin(folder: Path) -> None:
    ran = process("check", "-", "--output-format=concise", cwd=folder, input=TURNED)
    assert ran.stdout.startswith("-:4:7: LAY101 ")


def test_a_notebook(folder: Path) -> None:
    cells = [
        {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
        for source in (["import torch\n", "%matplotlib inline\n", "y = torch.randn(3, 4).t()"], ["y.view(12)"])
    ]
    (folder / "nb.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    ran = process("check", ".", "--output-format=concise", cwd=folder)
    assert ran.stdout.startswith("nb.ipynb:cell 2:1:3: LAY101 ")


# ---------------------------------------------------------------- nbQA
@pytest.mark.skipif(importlib.util.find_spec("nbqa") is None, reason="nbQA is not installed")
@pytest.mark.parametrize("command", [["torchlayout check", "--output-format=concise"], ["flake8", "--select=LAY"]])
def test_through_nbqa(folder: Path, command: list[str]) -> None:
    test_a_notebook(folder)
    arguments = [sys.executable, "-m", "nbqa", command[0], "nb.ipynb", *command[1:]]
    ran = subprocess.run(arguments, cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 1, ran.stderr
    assert re.search(r"^nb\.ipynb:cell_2:1:3: LAY101 ", ran.stdout, re.MULTILINE)


# ---------------------------------------------------------------- pre-commit
@pytest.fixture
def repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scratch repository with our hooks as they are shipped, but run by this Python: nothing is installed."""
    yaml = pytest.importorskip("yaml")
    pytest.importorskip("pre_commit")
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    for hook in hooks:
        program, rest = hook["entry"].split(" ", 1)
        assert program == "torchlayout"
        hook.update(language="system", entry=f"{shlex.join(COMMAND)} {rest}")
    config = {"repos": [{"repo": "local", "hooks": hooks}]}
    (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    monkeypatch.setenv("PRE_COMMIT_HOME", str(folder / ".pre-commit-home"))
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.org")
    (folder / ".gitignore").write_text(".pre-commit-home\n.torchlayout_cache\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "start")
    return folder


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def hook(folder: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pre_commit", "run", name, "--color=never", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("name", ["torchlayout", "torchlayout-fix"])
def test_pre_commit_without_a_python_file_staged(repository: Path, name: str) -> None:
    (repository / "notes.txt").write_text("nothing")
    git(repository, "add", ".")
    ran = hook(repository, name)
    assert ran.returncode == 0, ran.stdout
    assert "Skipped" in ran.stdout
    assert hook(repository, name, "--all-files").returncode == 0


def test_pre_commit_reports(repository: Path) -> None:
    (repository / "a.py").write_text(TURNED)
    (repository / "other.py").write_text(TURNED)
    git(repository, "add", "a.py")
    ran = hook(repository, "torchlayout")
    assert ran.returncode == 1
    assert "LAY101" in ran.stdout
    assert "a.py:4:7" in ran.stdout
    assert "other.py" not in ran.stdout


def test_pre_commit_with_bad_files(repository: Path) -> None:
    (repository / "bad.py").write_bytes(b"import torch\nname = '\xff'\n")
    (repository / "worse.py").write_text("import torch\nx.view(\n")
    (repository / "a.py").write_text(TURNED)
    git(repository, "add", ".")
    ran = hook(repository, "torchlayout")
    assert ran.returncode == 1  # pre-commit's own
    assert "exit code: 2" in ran.stdout
    assert ran.stdout.count("bad.py") == ran.stdout.count("worse.py") == 1
    assert "LAY101" in ran.stdout


def test_pre_commit_fixes_and_then_passes(repository: Path) -> None:
    (repository / "a.py").write_text(COPIED)
    git(repository, "add", ".")
    ran = hook(repository, "torchlayout-fix")
    assert ran.returncode == 1
    assert "files were modified by this hook" in ran.stdout
    assert ".contiguous" not in (repository / "a.py").read_text()
    git(repository, "add", ".")
    assert hook(repository, "torchlayout-fix").returncode == 0


def test_pre_commit_honours_exclude(repository: Path) -> None:
    (repository / "torchlayout.toml").write_text('extend-exclude = ["a.py"]\n')
    (repository / "a.py").write_text(TURNED)
    git(repository, "add", ".")
    assert hook(repository, "torchlayout").returncode == 0


# ---------------------------------------------------------------- explain
def test_explain(run: Run, folder: Path) -> None:
    Path("a.py").write_text(TURNED)
    ran = run("explain", "a.py:3")
    assert ran.status == 0
    assert (
        ran.out
        == """\
a.py:3
    y = torch.randn(3, 4).t()

torch.randn(3, 4)  (column 11): contiguous, proved
    size    3  4
    stride  4  1

torch.randn(3, 4).t()  (column 23): not contiguous, proved
    size    4  3
    stride  1  4
"""
    )


def test_explain_as_json_and_by_column(run: Run, folder: Path) -> None:
    Path("a.py").write_text(TURNED)
    [value] = json.loads(run("explain", "a.py:4:5", "--output-format=json").out)
    assert value["expression"] == "y"
    assert value["layout"] == {"shape": ["4", "3"], "stride": ["1", "4"], "contiguous": "no", "proved": True}
    assert value["origins"][0]["place"] == "line 3"


def test_explain_of_what_raises(run: Run, folder: Path) -> None:
    Path("a.py").write_text("import torch\n\ny = torch.randn(3, 4).t().view(12).contiguous()\n")
    out = run("explain", "a.py:3:28").out
    assert "torch.randn(3, 4).t().view(12)  (column 27): raises\n    LAY101 `view` always raises: no view" in out
    assert "size" not in out.partition("raises")[0]
    [value] = json.loads(run("explain", "a.py:3:28", "--output-format=json").out)
    assert value["layout"] is None
    assert [finding["code"] for finding in value["findings"]] == ["LAY101"]
    assert "LAY201 `contiguous()` does nothing" in run("explain", "a.py:3").out


def test_explain_of_symbolic_sizes(run: Run, folder: Path) -> None:
    Path("a.py").write_text(
        "import torch\n\ndef f(x: torch.Tensor):\n    B, T, C = x.shape\n    return x.transpose(1, 2).relu()\n"
    )
    out = run("explain", "a.py:5").out
    assert "if the inputs are contiguous and no size is 1" in out
    assert re.search(r"size +B +C +T\n +stride +\S+ +1 +C\n", out)


def test_explain_of_nothing(run: Run, folder: Path) -> None:
    Path("a.py").write_text(TURNED)
    assert run("explain", "a.py:1") == (0, "a.py:1\n    import torch\n", "torchlayout: no tensor is known there\n")
    assert "there are some at 4:5" in run("explain", "a.py:4:1").err


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("a.py", "expected FILE:LINE"),
        ("a.py:0", "counted from 1"),
        ("a.py:99", "has no line 99"),
        ("a.py:1:2:3", "expected FILE:LINE[:COLUMN]"),
        ("nb.ipynb:3", "FILE:CELL:LINE"),
        ("absent.py:3", "cannot read the file"),
        ("bad.py:1", "bad.py:1:7: syntax error"),
    ],
)
def test_explain_of_what_does_not_exist(run: Run, folder: Path, place: str, words: str) -> None:
    Path("a.py").write_text(TURNED)
    Path("bad.py").write_text("x.view(")
    ran = run("explain", place)
    assert (ran.status, ran.out) == (2, "")
    assert words in ran.err


def test_explain_in_a_notebook(run: Run, folder: Path) -> None:
    cell = {"cell_type": "code", "source": TURNED, "metadata": {}, "outputs": [], "execution_count": None}
    Path("nb.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    assert "nb.ipynb:1:3\n    y = torch.randn(3, 4).t()" in run("explain", "nb.ipynb:1:3").out
    assert run("explain", "nb.ipynb:2:1").status == 2


# ---------------------------------------------------------------- documentation
def test_python_in_the_page_on_fixes_runs(folder: Path) -> None:
    page = (ROOT / "docs" / "fixes.md").read_text(encoding="utf-8")
    [code] = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "y = x\n" in ran.stdout
    assert "{'LAY201': 1}" in ran.stdout


def test_the_example_of_the_command_line_is_what_is_printed(folder: Path) -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"^```console\n\$ torchlayout check model\.py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (folder / "model.py").write_text(TURNED)
    assert process("check", "model.py", cwd=folder).stdout.rstrip() == shown.rstrip()
