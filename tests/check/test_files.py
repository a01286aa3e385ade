"""Which files a run looks at."""

from __future__ import annotations

import builtins
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from torchlayout.check.files import Found, discover
from torchlayout.check.results import FileResult
from torchlayout.check.settings import Settings


def make(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def listed(*paths: str, **settings: Any) -> list[str]:
    return [found.path.replace(os.sep, "/") for found in discover(paths, Settings(**settings))]


def test_order_and_endings(tree: Path) -> None:
    make(tree, dict.fromkeys(["b.py", "a/z.py", "a/y.txt", "a.py", "c.ipynb", "a/b/c.py", "d.pyi"], ""))
    assert listed(".") == ["a/b/c.py", "a/z.py", "a.py", "b.py", "c.ipynb"]
    assert listed(str(tree)) == [f"{tree.as_posix()}/{name}" for name in listed(".")]


def test_each_file_once_in_the_order_given(tree: Path) -> None:
    make(tree, dict.fromkeys(["a.py", "b/c.py"], ""))
    assert listed("b", "a.py", ".", "b/c.py", "./a.py") == ["b/c.py", "a.py"]


def test_named_files_of_any_ending(tree: Path) -> None:
    make(tree, {"script": "", "venv/a.py": ""})
    assert list(discover(["script", "venv/a.py"], Settings())) == [Found("script", True), Found("venv/a.py", True)]
    assert listed("script", "venv/a.py", force_exclude=True) == ["script"]


def test_exclude(tree: Path) -> None:
    make(tree, dict.fromkeys(["a.py", "venv/b.py", "src/venv/c.py", "old/d.py", "src/old/e.py", "src/f_pb2.py"], ""))
    assert listed(".") == ["a.py", "old/d.py", "src/f_pb2.py", "src/old/e.py"]
    assert listed(".", extend_exclude=("/old", "*_pb2.py")) == ["a.py", "src/old/e.py"]
    assert listed(".", exclude=("src/",)) == ["a.py", "old/d.py", "venv/b.py"]
    assert listed("src", extend_exclude=("/old",), root=str(tree / "src")) == ["src/f_pb2.py"]


def test_gitignore(tree: Path) -> None:
    make(
        tree,
        {
            ".gitignore": "gen/\n*_auto.py\n!keep_auto.py\n",
            "sub/.gitignore": "/local.py\n!b_auto.py\n",
            **dict.fromkeys(
                ["a.py", "gen/b.py", "a_auto.py", "keep_auto.py", "sub/local.py", "sub/b_auto.py", "sub/deep/local.py"],
                "",
            ),
        },
    )
    assert listed(".") == ["a.py", "keep_auto.py", "sub/b_auto.py", "sub/deep/local.py"]
    assert len(listed(".", respect_gitignore=False)) == 7


def test_gitignore_above_the_given_folder_counts_inside_a_repository(tree: Path) -> None:
    make(tree, {".gitignore": "gen.py\n", "sub/a.py": "", "sub/gen.py": ""})
    assert listed("sub") == ["sub/a.py", "sub/gen.py"]  # no repository: what lies above is none of ours
    (tree / ".git" / "info").mkdir(parents=True)
    (tree / ".git" / "info" / "exclude").write_text("a.py\n")
    assert listed("sub") == []


def test_a_named_folder_is_walked_though_it_is_left_out_itself(tree: Path) -> None:
    make(tree, {".gitignore": "/gen/\nlocal.py\n", "gen/a.py": "", "gen/.gitignore": "b.py\n", "gen/b.py": ""})
    make(tree, dict.fromkeys(["venv/lib/site-packages/pkg/c.py", "venv/lib/site-packages/pkg/venv/d.py"], ""))
    (tree / ".git").mkdir()
    assert listed(".") == []
    assert listed("gen") == ["gen/a.py"]
    assert listed("venv/lib/site-packages/pkg") == ["venv/lib/site-packages/pkg/c.py"]
    assert listed("venv/lib/site-packages/pkg", force_exclude=True) == []


def test_a_malformed_pattern_does_not_undo_the_others(tree: Path) -> None:
    make(tree, {".gitignore": "!\n/gen.py\n", "a.py": "", "gen.py": ""})
    assert listed(".") == ["a.py"]


def errors(*paths: str) -> dict[str, str]:
    return {item.path: str(item.error) for item in discover(paths, Settings()) if isinstance(item, FileResult)}


def test_paths_that_do_not_exist(tree: Path) -> None:
    assert errors("nowhere", "no.py") == {
        "nowhere": "cannot read the file: No such file or directory",
        "no.py": "cannot read the file: No such file or directory",
    }


def test_a_folder_that_cannot_be_read(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tree, {"a/b.py": "", "c/d.py": ""})
    scandir = os.scandir

    def refuse(path: str) -> Any:
        if os.path.basename(path) == "a":
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = list(discover(["."], Settings()))
    assert [item.path for item in found] == ["a", os.path.join("c", "d.py")]
    assert errors(".") == {"a": "cannot read the folder: Permission denied"}


@pytest.mark.parametrize("name", [".gitignore", "a/.gitignore", ".git/info/exclude"])
def test_patterns_that_cannot_be_read(tree: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    make(tree, {".git/info/exclude": "", ".gitignore": "x/\n", "a/.gitignore": "y/\n", "a/b.py": ""})
    real = builtins.open

    def refuse(path: Any, *rest: Any, **more: Any) -> Any:
        if os.path.abspath(path) == os.path.abspath(tree / name):
            raise PermissionError(13, "Permission denied", path)
        return real(path, *rest, **more)

    monkeypatch.setattr(builtins, "open", refuse)
    for path in (".", "a"):
        found = list(discover([path], Settings()))
        assert [item.path for item in found if isinstance(item, Found)] == [os.path.join("a", "b.py")]
        (error,) = [item for item in found if isinstance(item, FileResult)]
        assert os.path.abspath(error.path) == os.path.abspath(tree / name)
        assert str(error.error) == "cannot read the file: Permission denied"
    assert list(discover(["."], Settings(respect_gitignore=False))) == [Found(os.path.join("a", "b.py"), False)]


def test_a_folder_by_the_name_of_a_file_of_patterns(tree: Path) -> None:
    make(tree, {".gitignore/x": "", "a.py": ""})
    assert list(discover(["."], Settings())) == [Found("a.py", False)]


@pytest.fixture
def links(tree: Path) -> Path:
    try:
        os.symlink("nowhere", tree / "probe")
    except OSError:
        pytest.skip("no links on this system")
    os.unlink(tree / "probe")
    return tree


def test_links_are_not_followed_in_a_walk(links: Path) -> None:
    make(links, {"given/a.py": "", "outside/b.py": ""})
    os.symlink("..", links / "given" / "loop")
    os.symlink(links / "outside", links / "given" / "out")
    os.symlink(links / "outside" / "b.py", links / "given" / "b.py")
    os.symlink("a.py", links / "given" / "c.py")
    assert list(discover(["given"], Settings())) == [Found(os.path.join("given", "a.py"), False)]
    assert listed("given/b.py") == ["given/b.py"]  # named: the user asked for it


def test_broken_links_are_reported(links: Path) -> None:
    os.symlink("nowhere.py", links / "a.py")
    os.symlink("b.py", links / "b.py")
    os.symlink("nowhere", links / "data.bin")
    os.symlink("nowhere", links / ".gitignore")
    found = errors(".")
    assert found[".gitignore"] == "broken link: it leads nowhere"
    assert found["a.py"] == "broken link: it leads nowhere"
    assert "symbolic links" in found["b.py"]
    assert set(found) == {".gitignore", "a.py", "b.py"}


def test_deep_folders_do_not_exhaust_the_stack(tree: Path) -> None:
    folder = "/".join(["d"] * 700)
    try:
        make(tree, {f"{folder}/a.py": ""})
    except OSError:
        pytest.skip("paths of this length cannot be made here")
    assert listed(".") == [f"{folder}/a.py"]
