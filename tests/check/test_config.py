"""Settings files: which one has the say, and what is said of mistakes in it."""

from __future__ import annotations

import builtins
import os
from pathlib import Path
from typing import Any

import pytest

from torchlayout.check.config import (
    ConfigError,
    Origin,
    load,
    start_folder,
    with_values,
)
from torchlayout.check.settings import Settings

pytestmark = pytest.mark.usefixtures("fake_analysis")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_defaults(project: Path) -> None:
    configuration = load()
    assert configuration.settings == Settings(root=str(project))
    assert str(configuration.origin("select")) == "default"


def test_pyproject(project: Path) -> None:
    write(
        project / "pyproject.toml",
        '[project]\nname = "x"\n\n[tool.torchlayout]\nselect = ["LAY1"]  # few\n'
        '"target-torch-version" = "2.4"\nper-file-ignores."a.py" = ["LAY1"]\n\n'
        '[tool.torchlayout.assume-sizes]\nB = ">1"\n',
    )
    configuration = load(str(project / "src" / "deep"))
    settings = configuration.settings
    assert (settings.select, settings.target_torch_version) == (("LAY1",), "2.4")
    assert settings.per_file_ignores == (("a.py", ("LAY1",)),)
    assert settings.assume_sizes == (("B", (">1",)),)
    assert settings.root == str(project)
    assert configuration.file == str(project / "pyproject.toml")
    assert [
        str(configuration.origin(name)) for name in ("select", "target_torch_version", "assume_sizes", "ignore")
    ] == [
        "pyproject.toml:5",
        "pyproject.toml:6",
        "pyproject.toml:9",
        "default",
    ]
    assert str(configuration.origin("per_file_ignores")) == "pyproject.toml:7"


def test_the_nearest_file_that_speaks_of_us_has_the_say(project: Path) -> None:
    write(project / "pyproject.toml", "[tool.torchlayout]\nselect = ['LAY1']\n")
    write(project / "a" / "pyproject.toml", "[tool.other]\nselect = ['torchlayout']\n")
    assert load(str(project / "a")).settings.select == ("LAY1",)
    write(project / "a" / "pyproject.toml", "[tool.torchlayout]\n")
    assert load(str(project / "a")).settings.select == Settings().select
    write(project / "a" / "torchlayout.toml", "select = ['LAY2']\n")
    configuration = load(str(project / "a"))
    assert configuration.settings.select == ("LAY2",)
    assert configuration.origin("select") == Origin(os.path.join("a", "torchlayout.toml"), 1)


def test_isolated_and_named(project: Path) -> None:
    write(project / "pyproject.toml", "[tool.torchlayout]\nselect = ['LAY1']\n")
    write(project / "ci.toml", "select = ['LAY2']\n")
    assert load(isolated=True).settings.select == Settings().select
    assert load(file="ci.toml").settings.select == ("LAY2",)
    with pytest.raises(ConfigError, match=r"^missing\.toml: cannot read the settings: No such file"):
        load(file="missing.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.torchlayout]\n\nslect = []\n", "pyproject.toml:3: unknown setting 'slect' (did you mean 'select'?)"),
        (
            "[tool.torchlayout]\nper_file_ignores = {}\n",
            "pyproject.toml:2: unknown setting 'per_file_ignores' (did you",
        ),
        ("[tool.torchlayout]\nzzz = 1\n", "pyproject.toml:2: unknown setting 'zzz'"),
        ("[tool.torchlayout.zzz]\na = 1\n", "pyproject.toml:1: unknown setting 'zzz'"),
        (
            "[tool.torchlayout]\nselect = ['LAY1',\n  'LAY777']\n",
            "pyproject.toml:2: select: no rule has the code LAY777",
        ),
        ("[tool.torchlayout]\ndevice = 'tpu'\n", 'pyproject.toml:2: device: expected "cpu" or "cuda", not \'tpu\''),
        ("[tool.torchlayout]\nselect = [\n", "pyproject.toml:2: not valid TOML: "),
        ("[tool.torchlayout]\nselect = nothing\n", "pyproject.toml:2: not valid TOML: "),
        ("[tool]\nx = 1\ntorchlayout = 3\n", "pyproject.toml:3: [tool.torchlayout] must be a table"),
        ("[tool.other]\nselect = 1\n[ tool . torchlayout ]\nselect = 1\n", "pyproject.toml:4: select: expected a list"),
        ("tool.torchlayout.select = 1\n", "pyproject.toml:1: select: expected a list"),
        (
            "[tool.torchlayout.assume-sizes]\na = '>1'\n\n'self.b' = '<3'\n",
            "pyproject.toml:4: assume-sizes: self.b: expected a size: a number, or a bound such as",
        ),
        (
            "[tool.torchlayout]\nselect = ['LAY1']\nassume-sizes.c = 'x'\n",
            "pyproject.toml:3: assume-sizes: c: expected a size",
        ),
        (
            "[tool.torchlayout]\nselect = ['LAY1']\nassume-sizes = { b = 3, c = 2.5 }\n",
            'pyproject.toml:3: assume-sizes: c: expected a size: a number, or a bound such as ">1" or ">=2", not 2.5',
        ),
        (
            "[tool.torchlayout.per-file-ignores]\n'a=b.py' = ['LAY1']\n'c=d.py' = ['LAY777']\n",
            "pyproject.toml:3: per-file-ignores: c=d.py: no rule has the code LAY777",
        ),
        (
            "[tool.torchlayout.per-file-ignores]\n# x = 1\n'tests/' = 'LAY1'\n",
            "pyproject.toml:3: per-file-ignores: tests/: expected a list of strings, such as [\"LAY101\"], not 'LAY1'",
        ),
        (
            "[tool.torchlayout.known-returns]\n\nf = 3\n",
            "pyproject.toml:3: known-returns: f: expected a string, not 3",
        ),
        ("tool = { torchlayout = { select = 1 } }\n", "pyproject.toml: select: expected a list"),
    ],
)
def test_mistakes_name_file_and_line(project: Path, text: str, message: str) -> None:
    write(project / "pyproject.toml", text)
    with pytest.raises(ConfigError) as raised:
        load()
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("table", ["tool.torchlayout", "torchlayout"])
def test_the_shared_files_table_in_our_own_file(project: Path, table: str) -> None:
    write(project / "torchlayout.toml", f"\n[{table}]\nselect = ['LAY1']\n")
    with pytest.raises(ConfigError) as raised:
        load()
    assert str(raised.value) == (
        f"torchlayout.toml:2: unknown setting {table.split('.')[0]!r} "
        "(torchlayout.toml holds the settings themselves: leave the table [tool.torchlayout] out)"
    )


def test_a_size_may_be_a_number(project: Path) -> None:
    write(project / "torchlayout.toml", "[assume-sizes]\nbatch = 3\nheads = '4'\nwidth = ['5']\n")
    assert load().settings.assume_sizes == (("batch", ("3",)), ("heads", ("4",)), ("width", ("5",)))
    for wrong in ("true", "-3", "3.0"):
        write(project / "torchlayout.toml", f"[assume-sizes]\nbatch = {wrong}\n")
        with pytest.raises(ConfigError, match=r"^torchlayout\.toml:2: assume-sizes: batch: expected a size: a number"):
            load()


def test_files_that_are_not_utf8(project: Path) -> None:
    (project / "pyproject.toml").write_bytes(b"[tool.torchlayout]\n\n# \xff\n")
    with pytest.raises(ConfigError, match=r"^pyproject\.toml:3: the file is not UTF-8$"):
        load()


@pytest.mark.parametrize("name", ["torchlayout.toml", "pyproject.toml"])
def test_files_that_may_not_be_read(project: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    write(project / name, "")
    real = builtins.open

    def refuse(path: Any, *rest: Any, **more: Any) -> Any:
        if os.path.basename(path) == name:
            raise PermissionError(13, "Permission denied", path)
        return real(path, *rest, **more)

    monkeypatch.setattr(builtins, "open", refuse)
    with pytest.raises(ConfigError) as raised:
        load(str(project / "src"))
    assert str(raised.value) == f"{name}: cannot read the settings: Permission denied"
    os.unlink(project / name)  # of a file in a closed folder nobody knows whether it is there
    assert load(str(project / "src")).settings.select == Settings().select


@pytest.mark.parametrize("name", ["torchlayout.toml", "pyproject.toml"])
def test_links_that_lead_nowhere(project: Path, name: str) -> None:
    try:
        (project / name).symlink_to("nowhere.toml")
    except OSError:
        pytest.skip("no links on this system")
    with pytest.raises(ConfigError) as raised:
        load()
    assert str(raised.value) == f"{name}: cannot read the settings: the link leads nowhere"


def test_others_files_are_not_even_parsed(project: Path) -> None:
    write(project / "pyproject.toml", "this is [not TOML\n")
    assert load().settings.select == Settings().select


def test_where_the_search_starts(project: Path) -> None:
    for name in ("a/b/c.py", "a/d/e.py"):
        write(project / name, "")
    assert start_folder([]) == start_folder(["-"]) == str(project)
    assert start_folder(["a/b/c.py"]) == str(project / "a" / "b")
    assert start_folder(["a/b", "a/d/e.py"]) == str(project / "a")
    assert start_folder(["a"]) == str(project / "a")


def test_options_replace_and_extend(project: Path) -> None:
    write(project / "torchlayout.toml", "select = ['LAY1']\nextend-select = ['LAY2']\n")
    line = Origin("--select")
    configuration = with_values(load(), {"select": ("LAY3",), "extend_select": ("LAY4",)}, line)
    assert configuration.settings.select == ("LAY3",)
    assert configuration.settings.extend_select == ("LAY2", "LAY4")
    assert configuration.origin("select") == line
    assert configuration.settings.root == str(project)
