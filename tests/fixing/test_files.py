"""Writing files back: whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from torchlayout.fixing import ChangedMeanwhile, patch, replace_content, unified_diff

posix = pytest.mark.skipif(os.name == "nt", reason="a matter of POSIX")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    return path


def untouched(path: Path) -> bool:
    return path.read_bytes() == b"old" and [p.name for p in path.parent.iterdir()] == [path.name]


def test_content_is_replaced_and_nothing_left_beside_it(file: Path) -> None:
    replace_content(file, b"old", b"new")
    assert file.read_bytes() == b"new"
    assert list(file.parent.iterdir()) == [file]


@posix
@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o666])
def test_the_mode_is_kept(file: Path, mode: int) -> None:
    file.chmod(mode)
    replace_content(file, b"old", b"new")
    assert stat.S_IMODE(file.stat().st_mode) == mode


@posix
def test_a_link_stays_a_link(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.py"
    link.symlink_to(file.name)
    replace_content(link, b"old", b"new")
    assert link.is_symlink()
    assert file.read_bytes() == b"new"


def test_what_someone_else_wrote_is_not_lost(file: Path) -> None:
    with pytest.raises(ChangedMeanwhile):
        replace_content(file, b"older", b"new")
    assert untouched(file)


def test_a_read_only_file_is_left_alone(file: Path) -> None:
    file.chmod(0o444)
    with pytest.raises(PermissionError, match="read-only"):
        replace_content(file, b"old", b"new")
    assert untouched(file)
    file.chmod(0o644)


@pytest.mark.parametrize("call", ["write", "fsync", "replace", "chmod"])
def test_whatever_fails_the_original_is_intact(file: Path, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if call == "write":
        monkeypatch.setattr("torchlayout.fixing.files.os.fdopen", _FullFile)
    else:
        monkeypatch.setattr(f"torchlayout.fixing.files.os.{call}", full)
    with pytest.raises(OSError, match="No space left"):
        replace_content(file, b"old", b"new")
    monkeypatch.undo()
    assert untouched(file)


class _FullFile:
    def __init__(self, descriptor: int, mode: str) -> None:
        os.close(descriptor)

    def __enter__(self) -> _FullFile:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def write(self, _: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


LIMITED = """
import resource, sys
from pathlib import Path
from torchlayout.fixing import replace_content
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    replace_content(Path(sys.argv[1]), b"old", b"x" * 5000)
except OSError as error:
    print(type(error).__name__, error.strerror)
"""


@posix
def test_a_disk_that_takes_no_more(file: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", LIMITED, file], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "OSError File too large"
    assert untouched(file)


def test_many_writers_at_once_lose_no_change(tmp_path: Path) -> None:
    file = tmp_path / "count.txt"
    file.write_bytes(b"0")

    def count_up() -> None:
        for _ in range(20):
            while True:
                before = file.read_bytes()
                try:
                    replace_content(file, before, b"%d" % (int(before) + 1))
                    break
                except (ChangedMeanwhile, FileNotFoundError):
                    continue

    threads = [threading.Thread(target=count_up) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert file.read_bytes() == b"80"


def test_diffs_show_line_ends_and_their_absence() -> None:
    assert unified_diff("a\n", "a\n", "f.py") == ""
    assert unified_diff("a\nb", "a\nc", "f.py") == (
        "--- f.py\n+++ f.py\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"
    )
    assert "-a\r\n+b\r\n" in unified_diff("a\r\n", "b\r\n", "f.py")


CHANGES = [
    (b"a\nb\nc\n", b"a\nB\nc\n"),
    (b"a\nb", b"a\nc"),
    (b"a\n", b"a"),
    (b"a\r\nb\r\n", b"a\r\nc\r\n"),
    (b"a\rb\r", b"a\rc\r"),
    (b"\xef\xbb\xbfa\nb\n", b"\xef\xbb\xbfa\nc\n"),
    (b"# coding: latin-1\n\xe9 = b\n", b"# coding: latin-1\n\xe9 = c\n"),
    (b"a\x0cb\x85\n\xe2\x80\xa8c\n", b"a\x0cb\x85\n\xe2\x80\xa8d\n"),
]
NAMES = ["f.py", "my file.py", "é.py", 'tab\t, quote " and \\.py', "sub/f.py"]
APPLIED = {"git": ["git", "apply", "-p0", "-"], "patch": ["patch", "-p0", "--binary"]}


@pytest.mark.parametrize("tool", APPLIED)
@pytest.mark.parametrize(("before", "after"), CHANGES)
@pytest.mark.parametrize("name", NAMES)
def test_patches_are_taken(tmp_path: Path, before: bytes, after: bytes, name: str, tool: str) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    file = tmp_path / name
    try:
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(before)
    except OSError:
        pytest.skip("such a name cannot be")
    subprocess.run(APPLIED[tool], input=patch(before, after, name), cwd=tmp_path, check=True, capture_output=True)
    assert file.read_bytes() == after


def test_no_change_is_no_patch() -> None:
    assert patch(b"a\n", b"a\n", "f.py") == b""
