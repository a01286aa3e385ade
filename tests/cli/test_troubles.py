"""Files, folders and disks that refuse: real processes against the real system."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from torchlayout.cli.mending import Mender

Run = Callable[..., Any]

ROOT = Path(__file__).parents[2]
COPIED = "import torch\n\nx = torch.randn(3, 4)\ny = x.contiguous()\n"
MENDED = COPIED.replace(".contiguous()", "")

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs the permissions of POSIX")


@pytest.fixture
def command() -> list[str]:
    """The command, without the right of the superuser to pass permissions by."""
    plain = [sys.executable, "-m", "torchlayout"]
    if os.geteuid() != 0:
        return plain
    if shutil.which("setpriv") is None:
        pytest.skip("the superuser may read everything")
    rights = "-dac_override,-dac_read_search"
    return ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}", *plain]


def ran(command: list[str], *arguments: str, cwd: Path, **more: Any) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    out = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": env, **more}
    return subprocess.run([*command, *arguments], cwd=cwd, check=False, **out)


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(COPIED)


def test_what_may_not_be_read_is_named_and_all_else_checked(folder: Path, command: list[str]) -> None:
    write(folder, "hidden/a.py", "open/a.py", "secret.py")
    (folder / "gone.py").symlink_to("nowhere.py")
    (folder / "loop.py").symlink_to("loop.py")
    (folder / "hidden").chmod(0)
    (folder / "secret.py").chmod(0)
    try:
        found = ran(command, "check", ".", "--no-cache", "--output-format=concise", cwd=folder)
    finally:
        (folder / "hidden").chmod(0o755)
    assert found.returncode == 2
    assert [line.partition(":")[0] for line in found.stdout.splitlines()] == ["open/a.py"]
    assert found.stderr.splitlines() == [
        "torchlayout: gone.py: broken link: it leads nowhere",
        "torchlayout: hidden: cannot read the folder: Permission denied",
        "torchlayout: loop.py: cannot read the file: Too many levels of symbolic links",
        "torchlayout: secret.py: cannot read the file: Permission denied",
        "torchlayout: 1 finding in 1 file, 4 not checked, 1 fixable with --fix",
    ]


def test_a_folder_that_may_not_be_written(folder: Path, command: list[str]) -> None:
    write(folder, "closed/a.py", "open/a.py")
    (folder / "closed").chmod(0o555)
    try:
        found = ran(command, "check", ".", "--no-cache", "--fix", "--output-format=concise", cwd=folder)
        assert os.listdir(folder / "closed") == ["a.py"]
        unsaved = ran(command, "check", "open", "-o", "closed/out.txt", cwd=folder)
    finally:
        (folder / "closed").chmod(0o755)
    assert found.returncode == 2
    assert "torchlayout: closed/a.py: not fixed: Permission denied; the file is as it was\n" in found.stderr
    assert found.stdout.startswith("closed/a.py:4:7: LAY201 ")
    assert [(folder / name).read_text() for name in ("closed/a.py", "open/a.py")] == [COPIED, MENDED]
    assert (unsaved.returncode, unsaved.stderr) == (2, "torchlayout: cannot write closed/out.txt: Permission denied\n")


def test_a_cache_that_may_not_be_written_costs_nothing_but_time(folder: Path, command: list[str]) -> None:
    write(folder, "a.py")
    folder.chmod(0o555)
    try:
        found = ran(command, "check", ".", cwd=folder)
    finally:
        folder.chmod(0o755)
    assert (found.returncode, found.stderr) == (1, "torchlayout: 1 finding in 1 file, 1 fixable with --fix\n")


def test_a_disk_that_takes_no_more(folder: Path) -> None:
    import resource

    long = COPIED + "# a line\n" * 1000
    (folder / "long.py").write_text(long)
    (folder / "short.py").write_text(COPIED)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    command = [sys.executable, "-m", "torchlayout"]
    found = ran(command, "check", ".", "--fix", "--no-cache", cwd=folder, preexec_fn=limit)
    assert found.returncode == 2
    assert "torchlayout: long.py: not fixed: File too large; the file is as it was\n" in found.stderr
    assert [(folder / name).read_text() for name in ("long.py", "short.py")] == [long, MENDED]
    assert sorted(path.name for path in folder.glob("[!t]*")) == ["long.py", "short.py"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is full")
@pytest.mark.parametrize(
    "options", [(), ("--diff",), ("--statistics",), ("--output-format=sarif",), ("-o", "/dev/full")]
)
def test_output_for_which_there_is_no_room(folder: Path, options: tuple[str, ...]) -> None:
    write(folder, "a.py")
    with open("/dev/full", "w") as full:
        found = ran([sys.executable, "-m", "torchlayout"], "check", ".", "-q", *options, cwd=folder, stdout=full)
    assert found.returncode == 2
    assert found.stderr in (
        "torchlayout: cannot write the output: No space left on device\n",
        "torchlayout: cannot write /dev/full: No space left on device\n",
    )


CLOSED = "torchlayout: standard output is closed"


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ("check a.py >&-", 2, [CLOSED]),
        ("check a.py --diff >&-", 2, [CLOSED]),
        ("check - --fix < a.py >&-", 2, [CLOSED]),
        ("rules >&-", 2, [CLOSED]),
        ("check a.py -q -o out.txt >&-", 1, []),
        ("check a.py 1< a.py", 2, ["torchlayout: cannot write the output: Bad file descriptor"]),
        ("check - <&-", 2, ["torchlayout: standard input is closed"]),
        ("check - 0> out.txt", 2, ["torchlayout: cannot read standard input: Bad file descriptor"]),
        ("check a.py --output-file out.txt 2>&-", 1, []),
    ],
)
def test_streams_that_are_closed(folder: Path, arguments: str, status: int, said: list[str]) -> None:
    write(folder, "a.py")
    found = ran(["sh", "-c", f'"{sys.executable}" -m torchlayout {arguments}'], cwd=folder)
    assert (found.returncode, found.stdout, found.stderr.splitlines()) == (status, "", said)


def test_two_processes_that_fix_at_once_lose_nothing(folder: Path) -> None:
    count = 8
    text = COPIED + "y = x.contiguous()\n" * 5
    for number in range(count):
        (folder / f"f{number}.py").write_text(f"{text}# {number}\n")
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    arguments = [sys.executable, "-m", "torchlayout", "check", ".", "--fix", "--jobs=1"]
    running = [subprocess.Popen(arguments, cwd=folder, env=env, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate()[1] for process in running]
    assert [process.returncode for process in running] == [0, 0], said
    for number in range(count):
        assert (folder / f"f{number}.py").read_text() == f"{text}# {number}\n".replace(".contiguous()", "")
    assert not list(folder.glob(".*.tmp"))


def test_a_file_that_is_gone_before_it_is_fixed(run: Run, copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fix = Mender._once

    def after_deletion(self: Mender, report: Any) -> Any:
        copied.unlink(missing_ok=True)
        return fix(self, report)

    monkeypatch.setattr(Mender, "_once", after_deletion)
    found = run("check", ".", "--fix", "--output-format=concise")
    assert found.status == 2
    assert "torchlayout: copied.py: not fixed: the file is gone\n" in found.err
    assert found.out.startswith("copied.py:4:7: LAY201 ")
    assert not copied.exists()
