"""Results kept between runs of flake8: the same findings without the work, and nothing where nothing is to be kept."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_project import SOURCE

from torchlayout.check import analysis

Flake8 = Callable[..., Any]

REAL = "import torch\n\n\ndef f(x):\n    return x.t().view(-1)\n"
FOLDER = ".torchlayout_cache"


@pytest.fixture
def analysed(fake_analysis: None, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were analysed, in order."""
    paths: list[str] = []
    inner = analysis.analyze

    def analyze(source: str, path: str, *rest: Any) -> analysis.Outcome:
        paths.append(path)
        return inner(source, path, *rest)

    monkeypatch.setattr(analysis, "analyze", analyze)
    return paths


def entries(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if len(path.name) == 62]


def real_flake8(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "flake8", "--isolated", "--select=LAY", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout


# ---------------------------------------------------------------- the same findings
def test_an_unchanged_file_is_not_analysed_again(project: Path, flake8: Flake8, analysed: list[str]) -> None:
    first = flake8("--select=LAY", "a.py")
    assert len(first.lines) == 3
    assert flake8("--select=LAY", "a.py") == flake8("--select=LAY", "./a.py")._replace(lines=first.lines) == first
    assert analysed == ["a.py"]
    assert len(entries(project / FOLDER)) == 1
    assert flake8("--select=LAY", "--torchlayout-no-cache", "a.py") == first


@pytest.mark.parametrize(
    ("options", "analyses"),
    [
        (("--select=LAY2",), 1),
        (("--extend-select=LAY4",), 1),
        (("--extend-ignore=LAY1",), 1),
        (("--per-file-ignores=a.py:LAY2",), 0),  # flake8 drops them itself
        (("--torchlayout-device=cuda",), 1),
        (("--torchlayout-report-unused-suppressions",), 1),
        (("--torchlayout-need-contiguous=lib.f:x",), 1),
        (("--max-line-length=20",), 0),
        (("--disable-noqa",), 0),
    ],
    ids=str,
)
def test_a_changed_option_counts(
    project: Path, flake8: Flake8, analysed: list[str], options: tuple[str, ...], analyses: int
) -> None:
    (project / "a.py").write_text(SOURCE + "y.view(6)  # noqa: LAY101\ny.size()  # noqa: LAY101\n")
    before = flake8("a.py")
    changed = flake8(*options, "a.py")
    assert len(analysed) == 1 + analyses
    assert flake8(*options, "a.py") == changed
    assert flake8("a.py") == before
    assert len(analysed) == 1 + analyses
    assert flake8(*options, "--torchlayout-no-cache", "a.py") == changed


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (SOURCE + "y.view(6)\n", 3),
        (SOURCE.replace(".contiguous()", ".contiguous()  # noqa"), 1),
        (SOURCE.replace(".contiguous()", ".contiguous()  # torchlayout: ignore"), 1),
        (SOURCE.replace("import torch", "import torch  # torchlayout: ignore-file"), 0),
        ("# flake8: noqa\n" + SOURCE, 0),
        ("import torch\n", 0),
    ],
)
def test_a_changed_file_counts(project: Path, flake8: Flake8, analysed: list[str], text: str, count: int) -> None:
    before = flake8("--select=LAY1,LAY2", "a.py")
    assert len(before.lines) == 2
    (project / "a.py").write_text(text)
    for _ in range(2):
        assert len(flake8("--select=LAY1,LAY2", "a.py").lines) == count
    (project / "a.py").write_text(SOURCE)
    assert flake8("--select=LAY1,LAY2", "a.py") == before
    assert len(analysed) <= 2


def test_the_table_of_the_settings_counts(project: Path, flake8: Flake8, analysed: list[str]) -> None:
    found = []
    for table in ("", "ignore = ['LAY2']", "device = 'cpu'", "per-file-ignores = { 'a.py' = ['LAY1'] }"):
        (project / "pyproject.toml").write_text(f"[tool.torchlayout]\n{table}\n")
        found.append([line.split()[1] for line in flake8("a.py").lines])
    assert found == [["LAY101", "LAY201"], ["LAY101"], ["LAY101", "LAY201"], ["LAY201"]]
    assert len(analysed) == 4


@pytest.mark.usefixtures("fake_analysis")
def test_flake8_and_the_command_line_share_the_folder_not_the_results(project: Path, flake8: Flake8) -> None:
    from torchlayout.check.cache import opened
    from torchlayout.check.run import check_file
    from torchlayout.check.settings import Settings

    (project / "a.py").write_text(SOURCE.replace(".contiguous()", ".contiguous()  # noqa"))
    settings = Settings(select=("LAY1", "LAY2"), follow_imports=False)
    cache = opened(settings)
    for _ in range(2):
        assert [f.code for f in check_file("a.py", settings, cache).findings] == ["LAY101"]
        assert len(flake8("--select=LAY1,LAY2", "--disable-noqa", "a.py").lines) == 2
    assert len(entries(project / FOLDER)) == 2


def test_a_failure_is_tried_again(project: Path, flake8: Flake8, analysed: list[str]) -> None:
    (project / "a.py").write_text("import torch\ntorch.view(torch.crash_here)\n")
    for _ in range(2):
        assert flake8("a.py").lines[0].startswith("a.py:1:1: LAY901")
    assert analysed == ["a.py", "a.py"]
    assert not (project / FOLDER).exists()


@pytest.mark.parametrize("damage", [b"", b"{", b"null", b"\xff", b'{"findings": [[1]]}'])
def test_a_damaged_entry_is_made_anew(project: Path, flake8: Flake8, analysed: list[str], damage: bytes) -> None:
    first = flake8("a.py")
    [entry] = entries(project)
    whole = entry.read_bytes()
    entry.write_bytes(damage)
    assert flake8("a.py") == first
    assert entry.read_bytes() == whole


def test_characters_outside_of_any_encoding(project: Path, flake8: Flake8, analysed: list[str]) -> None:
    (project / "a.py").write_bytes(b"# -*- coding: latin-1 -*-\nimport torch\ns = '\xe9'\ntorch.view(6)\n")
    (project / "b.py").write_bytes(b"\xef\xbb\xbfimport torch\r\ns = '\\ud800'\r\ntorch.view('\xf0\x9f\x98\x80')\r\n")
    first = flake8("-j1", "--select=LAY", "a.py", "b.py")
    assert [line.split()[1] for line in first.lines] == ["LAY101", "LAY101"]
    assert flake8("-j1", "--select=LAY", "a.py", "b.py") == first
    assert len(analysed) == 2


# ---------------------------------------------------------------- where and whether
@pytest.mark.parametrize("text", ["x = y.view(6)\n", "import torch\ntorch.size()\n", "import torch\ny.reshape(6)\n"])
def test_a_file_that_needs_no_analysis_is_not_kept(
    project: Path, flake8: Flake8, analysed: list[str], text: str
) -> None:
    (project / "a.py").write_text(text)
    assert flake8("--select=LAY1,LAY2", "--torchlayout-report-unused-suppressions", "a.py").lines == []
    assert analysed == []
    assert not (project / FOLDER).exists()


@pytest.mark.usefixtures("fake_analysis")
@pytest.mark.parametrize(
    ("name", "text", "options", "kept"),
    [
        ("a.py", SOURCE, (), FOLDER),
        ("a.py", SOURCE, ("--torchlayout-no-cache",), None),
        ("setup.cfg", "[flake8]\ntorchlayout-cache = false\n", (), None),
        ("setup.cfg", "[flake8]\ntorchlayout-cache = false\n", ("--torchlayout-cache",), FOLDER),
        ("setup.cfg", "[flake8]\ntorchlayout-cache-dir = there\n", (), "there"),
        ("setup.cfg", "[flake8]\ntorchlayout-cache-dir = there\n", ("--torchlayout-no-cache",), None),
        ("tox.ini", "[flake8]\ntorchlayout_cache_dir = there/deep\n", ("--torchlayout-cache-dir=here",), "here"),
        ("pyproject.toml", "[tool.torchlayout]\ncache = false\n", (), None),
        ("pyproject.toml", "[tool.torchlayout]\ncache = false\n", ("--torchlayout-cache",), FOLDER),
        ("pyproject.toml", "[tool.torchlayout]\ncache-dir = 'there'\n", (), "there"),
    ],
)
def test_the_settings(
    project: Path, flake8: Flake8, name: str, text: str, options: tuple[str, ...], kept: str | None
) -> None:
    (project / name).write_text(text)
    before = {path.name for path in project.iterdir()}
    flake8(*options, "--select=LAY", "a.py")
    assert {path.name for path in project.iterdir()} - before == ({kept} if kept else set())
    assert len(entries(project)) == (1 if kept else 0)


@pytest.mark.usefixtures("fake_analysis")
def test_the_folder_stands_beside_the_settings(project: Path, flake8: Flake8, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "inner").mkdir()
    (project / "inner" / "a.py").write_text(SOURCE)
    (project / "torchlayout.toml").write_text("")
    monkeypatch.chdir("inner")
    assert flake8("a.py").lines
    assert len(entries(project / FOLDER)) == 1
    assert (project / FOLDER / ".gitignore").read_text() == "*\n"
    assert [path.name for path in (project / "inner").iterdir()] == ["a.py"]


@pytest.mark.usefixtures("fake_analysis")
def test_what_is_being_typed_is_not_kept(project: Path, flake8: Flake8, monkeypatch: pytest.MonkeyPatch) -> None:
    from flake8 import utils

    for options in ((), ("--stdin-display-name=a.py",)):
        utils.stdin_get_value.cache_clear()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SOURCE.encode())))
        assert len(flake8(*options, "-").lines) == 2
    assert [path.name for path in project.iterdir()] == ["a.py"]


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(
    project: Path, flake8: Flake8, analysed: list[str]
) -> None:
    (project / FOLDER).write_text("a file stands where the folder should be")
    first = flake8("a.py")
    assert flake8("a.py") == first
    assert len(first.lines) == 2
    assert len(analysed) == 2


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="nothing is forbidden to this user")
def test_a_folder_that_may_only_be_read_serves(project: Path, flake8: Flake8, analysed: list[str]) -> None:
    first = flake8("a.py")
    (project / "b.py").write_text(SOURCE)
    folders = [path for path in (project / FOLDER).rglob("*") if path.is_dir()]
    for folder in folders:
        folder.chmod(0o500)
    try:
        assert flake8("a.py") == first
        assert len(flake8("b.py").lines) == 2
    finally:
        for folder in folders:
            folder.chmod(0o700)
    assert analysed == ["a.py", "b.py"]


# ---------------------------------------------------------------- the real analysis
@pytest.mark.parametrize("jobs", ["-j1", "-j2"])
def test_several_processes_share_it(tmp_path: Path, jobs: str) -> None:
    for number in range(6):
        (tmp_path / f"m{number}.py").write_text(REAL + f"\n\nclass C{number}:\n    pass\n")
    expected = sorted(real_flake8(tmp_path, "-j1", "--torchlayout-no-cache", ".").splitlines())
    assert len(expected) == 6
    assert not (tmp_path / FOLDER).exists()
    for _ in range(2):
        assert sorted(real_flake8(tmp_path, jobs, ".").splitlines()) == expected
    assert len(entries(tmp_path)) == 6
    assert not list(tmp_path.rglob("*.part"))


LOADED = """
import sys
from flake8.main import application
application.Application().run(["--isolated", "-j1", "--select=LAY1", sys.argv[1]])
print(*sorted({"libcst", "torchlayout.interp", "torchlayout.ops", "torchlayout.check.cache"} & set(sys.modules)))
"""


def test_what_is_loaded(tmp_path: Path) -> None:
    """For a file that is known, neither libcst nor the interpreter; for one without torch, not even the cache."""
    (tmp_path / "a.py").write_text(REAL)
    (tmp_path / "b.py").write_text(REAL.replace("torch", "math"))
    cold, warm, plain = (
        subprocess.run(
            [sys.executable, "-c", LOADED, name], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for name in ("a.py", "a.py", "b.py")
    )
    assert cold[-1].split() == ["libcst", "torchlayout.check.cache", "torchlayout.interp", "torchlayout.ops"]
    assert warm[-1] == "torchlayout.check.cache"
    assert plain == [""]
    assert warm[:-1] == cold[:-1] != []


def test_importing_the_plugin_loads_nothing_of_it(tmp_path: Path) -> None:
    names = {"json", "hashlib", "tempfile", "torchlayout.check.cache", "torchlayout.check.engine"}
    code = f"import sys, torchlayout.flake8_plugin; sys.exit(bool({names!r} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False).returncode == 0
