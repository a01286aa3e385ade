"""--fix and --diff: files on disk, standard input, and what stays as it was."""

from __future__ import annotations

import codecs
import errno
import json
import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_fixed_findings_are_not_reported_and_status_is_0(run: Run, copied: Path) -> None:
    ran = run("check", copied, "--fix")
    assert (ran.status, ran.out) == (0, "")
    assert ran.err == "torchlayout: no findings in 1 file, 1 fixed\n"
    assert copied.read_text() == "import torch\n\nx = torch.randn(3, 4)\ny = x.relu()\n"


def test_what_is_left_is_reported_at_its_new_place(run: Run, folder: Path) -> None:
    Path("a.py").write_text("import torch\ny = x.contiguous().view(3)\n")
    ran = run("check", "a.py", "--fix", "--output-format=json")
    assert ran.status == 1
    [left] = json.loads(ran.out)
    assert (left["code"], left["location"]) == ("LAY101", {"column": 7, "row": 2})
    assert "1 fixed, 1 fixable with --fix --unsafe-fixes" in ran.err


def test_unsafe_fixes_are_applied_only_when_asked_for(run: Run, turned: Path) -> None:
    before = turned.read_text()
    assert run("check", turned, "--fix").status == 1
    assert turned.read_text() == before
    assert run("check", turned, "--fix", "--unsafe-fixes").status == 0
    assert "y.reshape(12)" in turned.read_text()


def test_fixes_that_reveal_others_are_followed(run: Run, folder: Path) -> None:
    Path("a.py").write_text("import torch\ny = x.doubled().doubled()\n")
    assert "4 fixed" in run("check", "a.py", "--fix").err
    assert Path("a.py").read_text() == "import torch\ny = x\n"


def test_what_would_break_the_syntax_is_left_out_and_said(run: Run, folder: Path) -> None:
    Path("a.py").write_text("import torch\ny = x.broken()\nz = x.contiguous()\n")
    ran = run("check", "a.py", "--fix")
    assert ran.status == 1
    assert "a.py: the fix for LAY202 on line 2 would break the syntax" in ran.err
    assert Path("a.py").read_text() == "import torch\ny = x.broken()\nz = x\n"


def test_fixes_for_display_are_never_applied(run: Run, folder: Path) -> None:
    Path("a.py").write_text("import torch\ny = x.byhand()\n")
    ran = run("check", "a.py", "--fix", "--unsafe-fixes")
    assert ran.status == 1
    assert "(to be done by hand)" in ran.out
    assert "byhand" in Path("a.py").read_text()


def test_deselected_and_suppressed_findings_are_not_fixed(run: Run, folder: Path) -> None:
    text = "import torch\ny = x.contiguous()  # noqa: LAY201\n"
    Path("a.py").write_text(text)
    assert run("check", "a.py", "--fix").status == 0
    assert Path("a.py").read_text() == text
    Path("a.py").write_text("import torch\ny = x.contiguous()\n")
    assert run("check", "a.py", "--fix", "--ignore=LAY2").status == 0
    assert "contiguous" in Path("a.py").read_text()


BODY = "import torch\nname = 'é'\ny = x.contiguous()\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (BODY.encode(), BODY.replace(".contiguous()", "").encode()),
        (codecs.BOM_UTF8 + BODY.encode(), codecs.BOM_UTF8 + BODY.replace(".contiguous()", "").encode()),
        (BODY.replace("\n", "\r\n").encode(), BODY.replace("\n", "\r\n").replace(".contiguous()", "").encode()),
        (
            f"# coding: latin-1\n{BODY}".encode("latin-1"),
            f"# coding: latin-1\n{BODY}".replace(".contiguous()", "").encode("latin-1"),
        ),
        (
            b"import torch\r\na = 1\ry = x.contiguous()\n\x0c\nz = 1",
            b"import torch\r\na = 1\ry = x\n\x0c\nz = 1",
        ),
    ],
    ids=["utf-8", "bom", "crlf", "latin-1", "mixed"],
)
def test_bytes_outside_the_fix_stay(run: Run, folder: Path, before: bytes, after: bytes) -> None:
    Path("a.py").write_bytes(before)
    assert run("check", "a.py", "--fix").status == 0
    assert Path("a.py").read_bytes() == after


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_mode_and_links_stay(run: Run, copied: Path) -> None:
    copied.chmod(0o755)
    Path("link.py").symlink_to(copied)
    assert run("check", "link.py", "--fix").status == 0
    assert Path("link.py").is_symlink()
    assert stat.S_IMODE(copied.stat().st_mode) == 0o755
    assert "contiguous" not in copied.read_text()


# ---------------------------------------------------------------- when writing fails
def test_a_full_disk(run: Run, copied: Path, turned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    before = copied.read_bytes()
    monkeypatch.setattr("torchlayout.fixing.files.os.fsync", full)
    ran = run("check", ".", "--fix", "--output-format=concise", "--no-cache")
    assert ran.status == 2
    assert "copied.py: not fixed: No space left on device; the file is as it was" in ran.err
    assert ran.out.splitlines()[0].startswith("copied.py:4:7: LAY201")
    assert "turned.py" in ran.out
    assert copied.read_bytes() == before
    assert sorted(path.name for path in Path().glob("*")) == ["copied.py", "torchlayout.toml", "turned.py"]


def test_a_read_only_file(run: Run, copied: Path) -> None:
    before = copied.read_bytes()
    copied.chmod(0o444)
    ran = run("check", copied, "--fix")
    assert ran.status == 2
    assert "read-only" in ran.err
    assert copied.read_bytes() == before


def test_an_encoding_that_lacks_a_character_of_the_fix(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchlayout.check import analysis
    from torchlayout.program.nodes import Span
    from torchlayout.rules.finding import Edit, Finding, Fix, Safety

    fix = Fix("Say it", (Edit(Span(2, 0, 2, 1), "漢"),), Safety.SAFE)
    monkeypatch.setattr(
        analysis, "analyze", lambda *_: analysis.Outcome([Finding("LAY101", "x", Span(2, 0, 2, 1), fix=fix)])
    )
    data = b"# coding: latin-1, for torch's view\nx = 1\n"
    Path("a.py").write_bytes(data)
    ran = run("check", "a.py", "--fix")
    assert ran.status == 2
    assert "lacks a character" in ran.err
    assert Path("a.py").read_bytes() == data


def test_two_runs_at_once_lose_nothing(run: Run, folder: Path) -> None:
    count = 12
    for number in range(count):
        Path(f"f{number}.py").write_text("import torch\n" + "y = x.contiguous()\n" * 5 + f"# {number}\n")
    from torchlayout.check import config
    from torchlayout.check.run import check_paths
    from torchlayout.cli.mending import Mender, with_notebook
    from torchlayout.rules.finding import Safety

    errors: list[object] = []

    def fix() -> None:
        settings = config.load().settings
        reports = Mender(settings, Safety.SAFE).on_disk(map(with_notebook, check_paths(["."], settings)))
        errors.extend(report.result.error for report in reports if report.result.error)

    threads = [threading.Thread(target=fix) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    for number in range(count):
        assert Path(f"f{number}.py").read_text() == "import torch\n" + "y = x\n" * 5 + f"# {number}\n"
    assert len(list(Path().glob("*"))) == count + 1


@pytest.mark.parametrize("option", ["--fix", "--diff"])
def test_what_another_run_has_mended_is_not_reported(
    run: Run, copied: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    from torchlayout.cli.mending import with_notebook

    def and_mend(result: Any) -> Any:
        copied.write_text(copied.read_text().replace(".contiguous()", ""))
        return with_notebook(result)

    monkeypatch.setattr("torchlayout.cli.commands.check.with_notebook", and_mend)
    ran = run("check", copied, option)
    assert (ran.status, ran.out) == (0, "")


def test_a_file_that_changed_since_it_was_checked_is_checked_anew(run: Run, copied: Path) -> None:
    from torchlayout.check.results import FileResult
    from torchlayout.check.run import check_file
    from torchlayout.check.settings import Settings
    from torchlayout.cli.mending import Mender
    from torchlayout.cli.report import Report
    from torchlayout.rules.finding import Safety

    result: FileResult = check_file(str(copied), Settings())
    newer = "# by someone else\n" + copied.read_text()
    copied.write_text(newer)
    [report] = Mender(Settings(), Safety.SAFE).on_disk([Report(result)])
    assert report.findings == ()
    assert copied.read_text() == newer.replace(".contiguous()", "")


# ---------------------------------------------------------------- --diff
def test_diff_writes_nothing_and_patches(run: Run, copied: Path, turned: Path) -> None:
    before = copied.read_bytes()
    ran = run("check", ".", "--diff")
    assert ran.status == 1
    assert ran.out == (
        "--- copied.py\n+++ copied.py\n@@ -1,4 +1,4 @@\n import torch\n \n x = torch.randn(3, 4)\n"
        "-y = x.contiguous().relu()\n+y = x.relu()\n"
    )
    assert ran.err == "torchlayout: would apply 1 fix in 1 file\n"
    assert copied.read_bytes() == before
    subprocess.run(["git", "apply", "-p0", "-"], input=ran.out.encode(), check=True, capture_output=True)
    assert run("check", ".", "--diff") == (0, "", "torchlayout: would apply no fixes in no files\n")
    assert "reshape" in run("check", ".", "--diff", "--unsafe-fixes").out


MADE = "import torch\nx = torch.ones(2)\ny = x.contiguous()  # é\n"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a b.py", f"# coding: latin-1\n{MADE}".encode("latin-1")),
        ("é.py", codecs.BOM_UTF8 + MADE.encode()),
        ("a.py", MADE.replace("\n", "\r\n").encode() + b"z = 1"),
    ],
)
@pytest.mark.parametrize("tool", [("git", "apply", "-p0"), ("patch", "-p0", "--binary")], ids=lambda tool: tool[0])
def test_a_diff_is_a_patch_whatever_the_encodings(folder: Path, name: str, data: bytes, tool: tuple[str, ...]) -> None:
    if shutil.which(tool[0]) is None:
        pytest.skip(f"{tool[0]} is not installed")
    Path(name).write_bytes(data)
    source = str(Path(__file__).parents[2] / "src")
    env = {**os.environ, "PYTHONPATH": source, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "torchlayout", "check", ".", "--diff", "--no-cache"]
    ran = subprocess.run(command, env=env, capture_output=True, check=False)
    assert (ran.returncode, ran.stderr.decode().splitlines()) == (1, ["torchlayout: would apply 1 fix in 1 file"])
    subprocess.run(tool, input=ran.stdout, check=True, capture_output=True)
    assert Path(name).read_bytes() == data.replace(b".contiguous()", b"")


def test_diff_with_a_bad_file(run: Run, copied: Path) -> None:
    Path("bad.py").write_bytes(b"\0")
    ran = run("check", ".", "--diff", "--exit-zero")
    assert ran.status == 2
    assert "+y = x.relu()" in ran.out


# ---------------------------------------------------------------- standard input
def test_stdin_is_fixed_to_stdout_and_findings_go_to_stderr(run: Run, folder: Path) -> None:
    data = codecs.BOM_UTF8 + "import torch\r\ny = x.contiguous().view(3)  # é\r\n".encode()
    ran = run("check", "-", "--fix", "--stdin-filename=a.py", "--output-format=concise", stdin=data)
    assert ran.status == 1
    assert ran.out.encode() == data.replace(b".contiguous()", b"")
    assert ran.err.startswith("a.py:2:7: LAY101")
    assert not Path("a.py").exists()


@pytest.mark.parametrize("data", [b"import torch\nx.view(\n", b"import torch\n'\xff'\n", b"", b"import torch\n"])
def test_stdin_that_cannot_be_fixed_comes_back_as_it_was(data: bytes, folder: Path) -> None:
    import contextlib
    import io

    from torchlayout import cli

    out = io.TextIOWrapper(io.BytesIO())
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), pytest.raises(SystemExit):
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        cli.main(["check", "-", "--fix"])
    assert out.buffer.getvalue() == data  # type: ignore[attr-defined]


def test_stdin_diff(run: Run, folder: Path) -> None:
    ran = run("check", "-", "--diff", "--stdin-filename=a.py", stdin=b"import torch\ny = x.contiguous()\n")
    assert ran.status == 1
    assert ran.out == "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n import torch\n-y = x.contiguous()\n+y = x\n"
