"""The documentation's own snippets: commands run, data parses, Python runs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
import torch
import yaml

import torchlayout

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
SETTINGS_EXAMPLES = ROOT / "docs" / "configuration.md"


class Snippet(NamedTuple):
    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def snippets(*languages: str) -> list[Snippet]:
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            if match[1] in languages:
                line = text.count("\n", 0, match.start()) + 1
                found.append(Snippet(page.relative_to(ROOT).as_posix(), line, match[1], match[2]))
    return found


def commands() -> list[object]:
    """Each command of ours in a shell snippet or in a step of a CI file; those for a repository's owner left out."""
    found = []
    for snippet in snippets("bash", "console", "yaml"):
        for line in snippet.text.splitlines():
            command = re.match(r"\s*(?:\$ |- run: |- )?((?:torchlayout|flake8) .*)", line)
            if command and "torchvision-source" not in line and "--watch" not in line:
                found.append(pytest.param(command[1], id=f"{snippet}-{command[1]}"))
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder in which the documentation's commands make sense."""
    for name in ("src/model.py", "model.py", "train.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("import torch\n" + "\n" * 39 + "x = torch.randn(3, 4).t()\nprint(x.view(12))\n")
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": ["import torch\n"]}
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    for name in ("nb.ipynb", "notebook.ipynb", "analysis.ipynb", "notebooks/a.ipynb"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(notebook))
    return tmp_path


@pytest.mark.parametrize("command", commands())
def test_commands_run(project: Path, command: str) -> None:
    """As a shell runs them, with the scripts of this environment first; findings (status 1) are no failure."""
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    scripts = os.path.dirname(sys.executable)
    environment = {**os.environ, "PATH": scripts + os.pathsep + os.environ["PATH"], "NO_COLOR": "1"}
    done = subprocess.run(
        ["bash", "-c", command], cwd=project, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize("snippet", snippets("toml", "yaml", "json"), ids=str)
def test_data_parses(snippet: Snippet) -> None:
    parse = {"toml": tomllib.loads, "yaml": yaml.safe_load, "json": json.loads}[snippet.language]
    assert parse(snippet.text)


@pytest.mark.parametrize("snippet", snippets("yaml"), ids=str)
def test_hooks_that_snippets_name_exist(snippet: Snippet) -> None:
    hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    config = yaml.safe_load(snippet.text)
    for repository in config.get("repos", ()):
        if repository["repo"].endswith("/torchlayout"):
            assert {hook["id"] for hook in repository["hooks"]} <= hooks


def test_workflows_parse() -> None:
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        assert yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]


def test_readme_has_the_two_commands() -> None:
    blocks = dict(re.findall(r"<!-- (\w+ command) -->\n```bash\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL))
    assert "pip install -c constraints.txt -e '.[test]'\npytest" in blocks["test command"]
    assert "torchlayout check" in blocks["lint command"]


def test_the_finding_of_the_readme(tmp_path: Path) -> None:
    """The quoted lines, in a method, get the quoted code at the quoted place; and torch raises there."""
    block = re.search(
        r"<!-- finding -->\n```text\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
    )
    assert block is not None
    code = block[1].split()[0]
    [(line, column)] = re.findall(r"--> \S+:(\d+):(\d+)", block[1])
    quoted = re.findall(r"^(\d+) \| (.*)$", block[1], re.MULTILINE)
    source = [
        "import torch",
        "def pose_forward(self, kpt: torch.Tensor, bs, spatial):",
        "    self.nk = self.kpt_shape[0] * self.kpt_shape[1]",
        "    if self.nk_output != self.nk:",
    ]
    source += [*(text for _, text in quoted), "    return kpt"]
    place = 5 + [number for number, _ in quoted].index(line)
    [finding] = torchlayout.check("\n".join(source))
    assert (finding.span.line, finding.span.column + 1) == (place, int(column))
    # Of the function alone more is assumed than of the whole file, so LAY101 may stand for LAY102.
    assert finding.code in {"LAY101", code}

    namespace: dict[str, Any] = {}
    exec("\n".join(source), namespace)
    pose = SimpleNamespace(kpt_shape=(17, 3), nk_output=17 * 5)
    with pytest.raises(RuntimeError, match="view size is not compatible with input tensor's size and stride"):
        namespace["pose_forward"](pose, torch.zeros(2, 17 * 5, 100), 2, 100)


def run_python(text: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", text], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("snippet", [s for s in snippets("python") if s.page == "README.md"], ids=str)
def test_python_of_the_readme_runs(snippet: Snippet, tmp_path: Path) -> None:
    done = run_python(snippet.text, tmp_path)
    assert done.returncode == 0, done.stderr
