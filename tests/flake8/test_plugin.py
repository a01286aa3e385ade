"""The plugin inside the real flake8: places, selection, options, comments, processes."""

from __future__ import annotations

import ast
import io
import multiprocessing
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_project import SOURCE

from torchlayout.check import analysis
from torchlayout.check.settings import Settings
from torchlayout.flake8_plugin import Plugin

pytestmark = pytest.mark.usefixtures("fake_analysis")

Flake8 = Callable[..., Any]


def codes(lines: list[str]) -> list[str]:
    return [line.split()[1] for line in lines]


def test_places_are_those_of_the_name(project: Path, flake8: Flake8) -> None:
    run = flake8("a.py")
    assert run.lines == ["a.py:4:7: LAY101 found `view`", "a.py:6:3: LAY201 found `contiguous`"]
    assert run.status == 1


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), ["LAY101", "LAY201"]),
        (("--extend-select=LAY4",), ["LAY101", "LAY401", "LAY201"]),
        (("--select=LAY",), ["LAY101", "LAY401", "LAY201"]),
        (("--select=LAY4",), ["LAY401"]),
        (("--select=E,F",), []),
        (("--extend-ignore=LAY1",), ["LAY201"]),
        (("--ignore=LAY2",), ["LAY101", "LAY401"]),  # as for every plugin: --ignore replaces the defaults
        (("--per-file-ignores=a.py:LAY2",), ["LAY101"]),
    ],
    ids=str,
)
def test_flake8_selects(project: Path, flake8: Flake8, options: tuple[str, ...], expected: list[str]) -> None:
    assert codes(flake8(*options, "a.py").lines) == expected


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("select = ['LAY1']", ["LAY101"]),
        ("ignore = ['LAY1']", ["LAY201"]),
        ("extend-select = ['LAY4']", ["LAY101", "LAY401", "LAY201"]),
        ("extend-select = ['LAY401']", ["LAY101", "LAY401", "LAY201"]),
        ("select = ['LAY']", ["LAY101", "LAY401", "LAY201"]),
        ("select = ['LAY4']", ["LAY401"]),
        ("per-file-ignores = { 'a.py' = ['LAY1'] }", ["LAY201"]),
    ],
)
def test_our_own_table_counts_too(project: Path, flake8: Flake8, table: str, expected: list[str]) -> None:
    (project / "pyproject.toml").write_text(f"[tool.torchlayout]\n{table}\n")
    assert codes(flake8("a.py").lines) == expected


def test_rules_that_flake8_drops_are_not_run(project: Path, flake8: Flake8, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[frozenset[str]] = []
    monkeypatch.setattr("torchlayout.check.analysis.analyze", lambda *a: seen.append(a[4]) or analysis.Outcome([]))
    flake8("--select=LAY2", "a.py")
    flake8("--extend-ignore=LAY1,LAY2", "--extend-select=LAY4", "a.py")
    assert seen == [{"LAY201"}, {"LAY302", "LAY401", "LAY900", "LAY901", "LAY902"}]
    assert codes(flake8("--select=E", "a.py").lines) == []
    assert len(seen) == 2  # no code is selected: not even parsed


@pytest.mark.parametrize("name", ["setup.cfg", "tox.ini", ".flake8"])
def test_options_in_flake8s_files(project: Path, flake8: Flake8, name: str) -> None:
    (project / name).write_text(
        "[flake8]\ntorchlayout-device = cuda\ntorchlayout_target_torch_version = 2.4\n"
        "torchlayout-need-contiguous =\n    lib.run:x,y\n    lib.go:*\ntorchlayout-report-unused-suppressions = true\n"
    )
    flake8("a.py")
    settings = Plugin._settings
    assert (settings.device, settings.target_torch_version) == ("cuda", "2.4")
    assert settings.need_contiguous == (("lib.run", ("x", "y")), ("lib.go", ("*",)))
    assert settings.report_unused_suppressions is True


def test_options_on_the_command_line_go_before_the_table(project: Path, flake8: Flake8) -> None:
    (project / "pyproject.toml").write_text("[tool.torchlayout]\ndevice = 'cpu'\nassume-sizes = { B = '2' }\n")
    flake8("--torchlayout-device=cuda", "--torchlayout-report-unused-suppressions", "a.py")
    settings = Plugin._settings
    assert (settings.device, settings.assume_sizes) == ("cuda", (("B", ("2",)),))
    assert settings.report_unused_suppressions is True


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("setup.cfg", "[flake8]\ntorchlayout-device = tpu\n", 'setup.cfg:2: torchlayout-device: expected "cpu"'),
        ("tox.ini", "[flake8]\ntorchlayout-devize = cpu\n", "tox.ini:2: unknown setting 'torchlayout-devize'"),
        ("pyproject.toml", "[tool.torchlayout]\n\nx = 1\n", "pyproject.toml:3: unknown setting 'x'"),
        (
            "pyproject.toml",
            "[tool.torchlayout]\nselect = ['LAY666']\n",
            "pyproject.toml:2: select: no rule has the code",
        ),
    ],
)
def test_mistakes_end_the_run(project: Path, flake8: Flake8, name: str, text: str, message: str) -> None:
    (project / name).write_text(text)
    run = flake8("a.py")
    assert run.status == 2
    assert len(run.lines) == 1
    assert run.lines[0].startswith(message)


def test_a_mistake_on_the_command_line(project: Path, flake8: Flake8) -> None:
    run = flake8("--torchlayout-device=tpu", "a.py")
    assert (run.status, run.lines[0][:38]) == (2, "flake8's options: torchlayout-device: ")


@pytest.mark.parametrize("option", ["--config", "--append-config"])
def test_a_mistake_in_a_file_that_is_named(project: Path, flake8: Flake8, option: str) -> None:
    (project / "other.ini").write_text("[flake8]\n\ntorchlayout-devize = cpu\n")
    run = flake8(option, "other.ini", "a.py")
    assert run.status == 2
    assert run.lines == ["other.ini:3: unknown setting 'torchlayout-devize' (did you mean 'torchlayout-device'?)"]


def test_files_that_flake8_is_told_not_to_read(project: Path, flake8: Flake8) -> None:
    (project / ".flake8").write_text("[flake8]\ntorchlayout-devize = cpu\n")
    (project / "good.ini").write_text("[flake8]\nselect = LAY1\n")
    assert flake8("a.py").status == 2
    assert codes(flake8("--config=good.ini", "a.py").lines) == ["LAY101"]
    assert codes(flake8("--isolated", "a.py").lines) == ["LAY101", "LAY201"]


def test_a_folder_is_relative_to_the_file_that_names_it(project: Path, flake8: Flake8) -> None:
    (project / "conf").mkdir()
    (project / "conf" / "f.ini").write_text("[flake8]\ntorchlayout-cache-dir = kept\n")
    (project / ".flake8").write_text("[flake8]\ntorchlayout-cache-dir = other\n")
    for arguments, folder in (
        (("--config=conf/f.ini",), "conf/kept"),
        (("--config=conf/f.ini", "--torchlayout-cache-dir=here"), "here"),
    ):
        flake8(*arguments, "a.py")
        assert Plugin._settings.cache_dir is not None
        assert Path(Plugin._settings.cache_dir).resolve() == (project / folder).resolve()


def test_a_host_with_a_command_line_of_its_own(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from flake8.api.legacy import get_style_guide

    (project / ".flake8").write_text("[flake8]\ntorchlayout-device = cuda\n")
    monkeypatch.setattr(sys, "argv", ["host", "--isolated", "--config=absent.ini"])
    get_style_guide()
    assert Plugin._settings.device == "cuda"


def test_comments(project: Path, flake8: Flake8) -> None:
    (project / "a.py").write_text(
        "import torch\n"
        "torch.view(6)  # noqa\n"
        "torch.view(6)  # noqa: LAY101\n"
        "torch.view(6)  # torchlayout: ignore[LAY101] -- measured\n"
        "torch.view(6)  # noqa: LAY2\n"
    )
    assert [line.split(":")[1] for line in flake8("a.py").lines] == ["5"]
    assert [line.split(":")[1] for line in flake8("--disable-noqa", "a.py").lines] == ["2", "3", "5"]


def test_unused_comments_on_request(project: Path, flake8: Flake8) -> None:
    (project / "a.py").write_text("import torch\ntorch.size()  # torchlayout: ignore[LAY101]\n")
    assert flake8("a.py").lines == []
    assert codes(flake8("--torchlayout-report-unused-suppressions", "a.py").lines) == ["LAY902"]
    (project / "a.py").write_text("import torch\ntorch.view(6)  # torchlayout: ignore[LAY101]\n")
    assert codes(flake8("--torchlayout-report-unused-suppressions", "a.py").lines) == []


def test_a_failure_is_a_finding_and_the_run_goes_on(project: Path, flake8: Flake8) -> None:
    (project / "b.py").write_text("import torch\ntorch.view(torch.crash_here)\n")
    (project / "c.py").write_text(SOURCE)
    lines = flake8("a.py", "b.py", "c.py").lines
    assert codes(lines) == ["LAY101", "LAY201", "LAY901", "LAY101", "LAY201"]
    assert lines[2].startswith("b.py:1:1: LAY901 torchlayout failed on this file")


def test_files_with_errors_are_left_to_flake8(project: Path, flake8: Flake8) -> None:
    (project / "b.py").write_text("import torch\ntorch.view(\n")
    assert set(codes(flake8("b.py").lines)) <= {"E999", "E902"}
    (project / "b.py").write_bytes(b"\xef\xbb\xbfimport torch\r\ntorch.view(6)\r\n")
    assert flake8("b.py").lines == ["b.py:2:7: LAY101 found `view`"]


def test_standard_input(project: Path, flake8: Flake8, monkeypatch: pytest.MonkeyPatch) -> None:
    for options, name in (((), "stdin"), (("--stdin-display-name=x.py",), "x.py")):
        from flake8 import utils

        utils.stdin_get_value.cache_clear()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SOURCE.encode())))
        assert flake8(*options, "-").lines[0] == f"{name}:4:7: LAY101 found `view`"


@pytest.mark.skipif(multiprocessing.get_start_method() != "fork", reason="the stand-in reaches only forked processes")
def test_several_processes(project: Path, flake8: Flake8) -> None:
    for number in range(6):
        (project / f"b{number}.py").write_text(SOURCE)
    (project / "pyproject.toml").write_text("[tool.torchlayout]\nextend-select = ['LAY4']\n")
    one = flake8("-j1", ".").lines
    assert len(one) == 21
    assert sorted(flake8("-j3", ".").lines) == sorted(one)


def test_without_options_the_class_still_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other hosts (editors) make the class themselves."""
    for name, value in (("_settings", Settings()), ("_options", None), ("_flake8_shows", None)):
        monkeypatch.setattr(Plugin, name, value)
    found = [item[:2] for item in Plugin(ast.parse(SOURCE), SOURCE.splitlines(keepends=True), "a.py").run()]
    assert found[0] == (4, 6)


def test_the_adapter_stays_thin() -> None:
    from torchlayout import flake8_plugin

    assert len(Path(flake8_plugin.__file__).read_text(encoding="utf-8").splitlines()) < 150
