"""The files that flake8's options come from: those that flake8 itself reads."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

from torchlayout.flake8_plugin import files_of


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with another in it, and files for options to name."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "a.cfg").write_text("")
    (tmp_path / "inner" / "a.cfg").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_files_are_those_that_flake8_reads(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("setup.cfg").write_text("[metadata]\nname = x\n")
    Path(".flake8").write_text("[flake8]\nselect = LAY\n")
    monkeypatch.chdir("inner")
    options = Namespace()
    assert files_of(options, []) == [str(folder / ".flake8")]
    assert files_of(options, ["--isolated", "a.py"]) == []
    named = ["a.py", "--config=a.cfg", "--append-config", "b", "--append-config=c", "--max-line-length=9"]
    assert files_of(options, named) == ["c", "b", "a.cfg"]
    assert files_of(options, ["--append-config", "b"]) == ["b", str(folder / ".flake8")]


def test_a_file_that_flake8_passes_by_is_passed_by(folder: Path) -> None:
    Path("setup.cfg").write_text("[flake8-other]\nx = 1\n")
    assert files_of(Namespace(), []) == []
    Path(".flake8").write_text("[flake8:local-plugins]\n")
    assert files_of(Namespace(), []) == [str(folder / ".flake8")]
    Path("tox.ini").write_text("[flake8]\nno value here\n")
    assert files_of(Namespace(), []) == [str(folder / ".flake8")]


def test_no_file_above_the_home_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    Path(".flake8").write_text("[flake8]\n")
    monkeypatch.chdir("inner")
    assert files_of(Namespace(), []) == []


def test_the_table_of_flake8_pyproject_takes_the_place_of_all_files(folder: Path) -> None:
    for options in (Namespace(toml_config=None), Namespace(toml_config="x.toml")):
        name = options.toml_config or "pyproject.toml"
        assert files_of(options, ["--config=a.cfg"]) == ["a.cfg"]
        Path(name).write_text("[tool.flake8.torchlayout-assume-sizes]\n")
        assert files_of(options, ["--config=a.cfg"]) == files_of(options, ["--isolated"]) == [name]
