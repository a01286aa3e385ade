"""`torchlayout check`: statuses, streams, options, bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_no_findings_is_status_0_and_silence_on_stdout(run: Run, folder: Path) -> None:
    (folder / "a.py").write_text("import torch\n")
    assert run("check", "a.py") == (0, "", "torchlayout: no findings in 1 file\n")


def test_findings_are_status_1_and_the_summary_goes_to_stderr(run: Run, copied: Path) -> None:
    ran = run("check", copied, "--output-format", "concise")
    assert ran.status == 1
    assert ran.out == "copied.py:4:7: LAY201 `contiguous` of a tensor with strides (1, 4)\n"
    assert ran.err == "torchlayout: 1 finding in 1 file, 1 fixable with --fix\n"


def test_no_files_is_said(run: Run, folder: Path) -> None:
    Path("empty").mkdir()
    assert run("check", "empty") == (0, "", "torchlayout: no files to check\n")
    assert run("check", "empty", "--quiet") == (0, "", "")


def test_exit_zero(run: Run, copied: Path) -> None:
    assert run("check", copied, "--exit-zero").status == 0


def test_quiet_leaves_findings_only(run: Run, copied: Path) -> None:
    assert run("check", copied, "-q").err == ""


def test_verbose_tells_time_and_notes(run: Run, folder: Path) -> None:
    (folder / "a.py").write_text("import torch\nbudget = x.view(3)\n")
    err = run("check", "a.py", "-v").err
    assert "a.py: the budget was reached" in err
    assert "checked 1 file in " in err
    assert "budget" not in run("check", "a.py", "--no-cache").err


def test_paths_default_to_the_current_folder(run: Run, copied: Path, turned: Path) -> None:
    lines = run("check", "--output-format=concise").out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["copied.py", "turned.py"]


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        ((), {"LAY101", "LAY201"}),
        (("--select", "LAY1"), {"LAY101"}),
        (("--select=LAY1,LAY2",), {"LAY101", "LAY201"}),
        (("--select=LAY1", "--select=LAY2"), {"LAY101", "LAY201"}),
        (("--ignore", "LAY201"), {"LAY101"}),
        (("--extend-select", "LAY401"), {"LAY101", "LAY201", "LAY401"}),
        (("--select", "LAY", "--ignore", "LAY1,LAY2"), {"LAY401"}),
    ],
)
def test_selection(run: Run, folder: Path, options: tuple[str, ...], codes: set[str]) -> None:
    (folder / "a.py").write_text("import torch\nx.view(3)\nx.contiguous()\nx.reshape(3)\n")
    found = json.loads(run("check", "a.py", "--output-format=json", *options).out)
    assert {finding["code"] for finding in found} == codes


@pytest.mark.parametrize("option", ["--select", "--ignore", "--extend-select"])
@pytest.mark.parametrize("code", ["LAY999", "E501", "lay101"])
def test_a_code_that_does_not_exist_is_one_clear_error(run: Run, copied: Path, option: str, code: str) -> None:
    ran = run("check", copied, option, code)
    assert (ran.status, ran.out) == (2, "")
    assert len(ran.err.splitlines()) == 1
    assert option in ran.err
    assert code in ran.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("-", "a.py"),
        ("a.py", "--stdin-filename", "b.py"),
        ("a.py", "--fix", "--diff"),
        ("a.py", "--unsafe-fixes"),
        ("a.py", "--watch", "--fix"),
        ("a.py", "--jobs", "-3"),
        ("a.py", "--no-such-option"),
        ("a.py", "--output-format", "no-such-format"),
        ("a.py", "--target-torch-version", "two"),
        ("a.py", "--config", "absent.toml"),
        ("a.py", "--config", "absent.toml", "--isolated"),
        ("a.py", "--output-file", "absent/findings.txt"),
    ],
)
def test_usage_errors_are_status_2(run: Run, folder: Path, arguments: tuple[str, ...]) -> None:
    (folder / "a.py").write_text("import torch\nx.view(3)\n")
    ran = run("check", *arguments)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.strip()
    assert "Traceback" not in ran.err


def test_a_mistake_in_the_settings_names_file_and_line(run: Run, copied: Path) -> None:
    Path("torchlayout.toml").write_text('ignore = []\nselct = ["LAY1"]\n')
    ran = run("check", copied)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("torchlayout: torchlayout.toml:2: ")
    assert run("check", copied, "--isolated").status == 1


def test_output_file(run: Run, copied: Path) -> None:
    ran = run("check", copied, "--output-format=json", "-o", "found.json")
    assert (ran.status, ran.out) == (1, "")
    assert json.loads(Path("found.json").read_text())[0]["code"] == "LAY201"


def test_statistics(run: Run, folder: Path) -> None:
    (folder / "a.py").write_text("import torch\nx.view(3)\nx.contiguous()\nx.contiguous()\n")
    ran = run("check", "a.py", "--statistics")
    assert ran.status == 1
    assert ran.out == "2\tLAY201\t[*] contiguous-of-contiguous\n1\tLAY101\t[ ] view-of-noncontiguous\n"
    rows = json.loads(run("check", "a.py", "--statistics", "--output-format=json").out)
    assert [(row["code"], row["count"], row["fixable_count"]) for row in rows] == [("LAY201", 2, 2), ("LAY101", 1, 0)]


# ---------------------------------------------------------------- bad input
BAD = {
    "latin.py": b"import torch\nname = '\xe9'\n",
    "codec.py": b"# -*- coding: no-such-codec -*-\nimport torch\n",
    "syntax.py": b"import torch\nx.view(\n",
    "null.py": b"import torch\n\0\n",
    "utf16.py": "import torch\n".encode("utf-16"),
    "broken.ipynb": b'{"cells": [',
    "other.ipynb": b"[]",
}


@pytest.mark.parametrize("output_format", ["full", "json", "sarif", "junit", "html", "github", "gitlab", "json-lines"])
def test_bad_files_are_named_once_and_all_others_checked(run: Run, copied: Path, output_format: str) -> None:
    for name, data in BAD.items():
        Path(name).write_bytes(data)
    Path("gone.py").symlink_to("nowhere.py")
    Path("loop.py").symlink_to("loop.py")
    ran = run("check", ".", "absent.py", "--output-format", output_format)
    assert ran.status == 2
    for name in [*BAD, "gone.py", "loop.py", "absent.py"]:
        assert ran.err.count(name) == 1, name
    assert "LAY201" in ran.out
    assert "Traceback" not in ran.err


def test_json_is_one_array_whatever_goes_wrong(run: Run, folder: Path) -> None:
    Path("bad.py").write_bytes(BAD["null.py"])
    assert run("check", "bad.py", "--output-format=json").out == "[]\n"
    assert run("check", "absent.py", "--output-format=json").out == "[]\n"


def test_errors_tell_the_place(run: Run, folder: Path) -> None:
    Path("syntax.py").write_bytes(BAD["syntax.py"])
    Path("null.py").write_bytes(BAD["null.py"])
    err = run("check", ".").err
    assert "torchlayout: syntax.py:2:7: syntax error: '(' was never closed\n" in err
    assert "torchlayout: null.py:2:1: the file holds a null byte\n" in err


def test_a_file_deleted_in_mid_run(run: Run, copied: Path, turned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchlayout.check import run as running

    found = running.discover

    def and_delete(*arguments: Any) -> Any:
        yield from found(*arguments)
        copied.unlink()

    monkeypatch.setattr(running, "discover", and_delete)
    ran = run("check", ".", "--output-format=concise")
    assert ran.status == 2
    assert ran.err.count("copied.py") == 1
    assert ran.out.startswith("turned.py:")


def test_a_failure_of_our_own_is_no_result(run: Run, copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchlayout.cli.commands.check.check_paths", lambda *_: 1 / 0)
    ran = run("check", copied)
    assert ran.status == 2
    assert "please report this" in ran.err


def test_ctrl_c(run: Run, copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("torchlayout.cli.commands.check.check_paths", interrupted)
    ran = run("check", copied)
    assert ran.status == 130
    assert ran.err.strip().endswith("torchlayout: interrupted")


# ---------------------------------------------------------------- standard input
def test_stdin(run: Run, folder: Path) -> None:
    ran = run("check", "-", "--output-format=concise", stdin=b"import torch\nx.view(3)\n")
    assert (ran.status, ran.out) == (1, "-:2:3: LAY101 `view` of a tensor with strides (1, 4)\n")


def test_stdin_has_the_name_and_the_settings_of_its_file(run: Run, folder: Path) -> None:
    Path("torchlayout.toml").write_text('[per-file-ignores]\n"lib/*" = ["LAY1"]\n')
    data = b"import torch\nx.view(3)\n"
    assert run("check", "-", "--stdin-filename", "lib/a.py", stdin=data).status == 0
    found = json.loads(run("check", "-", "--stdin-filename", "a.py", "--output-format=json", stdin=data).out)
    assert found[0]["filename"] == str(folder / "a.py")


def test_stdin_with_a_mistake(run: Run, folder: Path) -> None:
    ran = run("check", "-", "--stdin-filename=a.py", "--output-format=json", stdin=b"def (\n")
    assert (ran.status, ran.out) == (2, "[]\n")
    assert ran.err.startswith("torchlayout: a.py:1:")


def test_stdin_excluded_by_force(run: Run, folder: Path) -> None:
    arguments = ("check", "-", "--stdin-filename=a.py", "--extend-exclude=a.py")
    assert run(*arguments, stdin=b"import torch\nx.view(3)\n").status == 1
    assert run(*arguments, "--force-exclude", stdin=b"import torch\nx.view(3)\n").status == 0


# ---------------------------------------------------------------- the real process
def test_a_reader_that_stops_early_is_no_trouble(folder: Path) -> None:
    for number in range(40):
        (folder / f"f{number}.py").write_text("def (\n")
    command = [sys.executable, "-m", "torchlayout", "check", ".", "--no-cache", "--output-format", "junit"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        err = process.stderr.read()
    assert "Traceback" not in err
    assert "BrokenPipe" not in err


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_watch_checks_again_and_ends_with_ctrl_c(folder: Path) -> None:
    (folder / "a.py").write_text("def f(:\n")
    command = [sys.executable, "-m", "torchlayout", "check", ".", "--watch", "--no-cache", "--output-format=json"]
    with (
        subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=_heed_ctrl_c
        ) as process,
        _killed_on_failure(process),
    ):
        assert process.stderr is not None
        _read_until(process.stderr, "waiting for changes")
        with _writing(folder / "a.py", "def f(): pass\n"):
            _read_until(process.stderr, "no findings in 1 file")
        with _writing(folder / "torchlayout.toml", "slect = []\n"):
            _read_until(process.stderr, "torchlayout.toml:1: unknown setting 'slect'")
        with _writing(folder / "torchlayout.toml", ""):
            _read_until(process.stderr, "no findings in 1 file")
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert "interrupted" in rest
    assert process.returncode == 130


def _heed_ctrl_c() -> None:
    """A shell starts what runs in its background so that it ignores Ctrl-C, and that is inherited."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def _killed_on_failure(process: subprocess.Popen[str]) -> Iterator[None]:
    """So that nobody waits for it."""
    try:
        yield
    except BaseException:
        process.kill()
        raise


@contextmanager
def _writing(path: Path, text: str) -> Iterator[None]:
    """Write a file again and again: the first time may be before anybody watches."""
    over = threading.Event()

    def write() -> None:
        while not over.wait(0.3):
            path.write_text(text)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        over.set()
        writer.join()


def _read_until(stream: Any, words: str) -> None:
    assert any(words in line for line in stream)
