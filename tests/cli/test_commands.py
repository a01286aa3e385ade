"""`rule`, `rules`, `config`, `ops`, and what the documentation says of all of them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from torchlayout.check.settings import OPTIONS
from torchlayout.cli import formats
from torchlayout.cli.app import app
from torchlayout.cli.commands.check import command as check

Run = Callable[..., Any]

DOCS = Path(__file__).parents[2] / "docs"


# ---------------------------------------------------------------- rule, rules
@pytest.mark.parametrize("word", ["LAY101", "lay101", "view-of-noncontiguous"])
def test_rule_prints_the_page(run: Run, word: str) -> None:
    ran = run("rule", word)
    assert ran.status == 0
    assert ran.out.startswith("# view-of-noncontiguous (LAY101)\n\n## What it does\n")
    assert "## Fix safety" in ran.out


def test_rule_renders_the_page_on_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    out = run("rule", "LAY101").out
    assert "\x1b[" in out
    assert "##" not in out


def test_codes_of_the_linter_itself_have_pages(run: Run) -> None:
    assert "failed on a file" in run("rule", "LAY901").out


def test_a_rule_that_does_not_exist(run: Run) -> None:
    ran = run("rule", "LAY999")
    assert (ran.status, ran.out) == (2, "")
    assert "'LAY999'" in ran.err and "LAY101" in ran.err


def test_rules(run: Run) -> None:
    lines = run("rules").out.splitlines()
    assert lines[0].split() == ["LAY101", "view-of-noncontiguous", "on", "Reports", "something."]
    assert [line.split()[2] for line in lines if line.startswith("LAY401")] == ["off"]
    rows = json.loads(run("rules", "--output-format=json").out)
    assert [row["code"] for row in rows] == [line.split()[0] for line in lines]
    assert set(rows[0]) == {"code", "name", "default", "summary", "url"}


def test_rules_are_a_table_on_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "view-of-noncontiguous" in run("rules").out


# ---------------------------------------------------------------- config
def test_config_tells_values_and_where_they_came_from(run: Run, folder: Path) -> None:
    Path("torchlayout.toml").write_text('device = "cuda"\nignore = ["LAY201"]\n')
    rows = json.loads(run("config", "--output-format=json", "--select", "LAY1").out)
    assert list(rows) == [option.key for option in OPTIONS]
    assert rows["device"] == {"value": "cuda", "origin": "torchlayout.toml:1"}
    assert rows["ignore"] == {"value": ["LAY201"], "origin": "torchlayout.toml:2"}
    assert rows["select"] == {"value": ["LAY1"], "origin": "option --select"}
    assert rows["exclude"]["origin"] == "default"
    text = run("config").out
    assert re.search(r"^device +\u003d cuda  # torchlayout.toml:1$", text, re.MULTILINE)
    assert f"settings file: {folder / 'torchlayout.toml'}" in text


def test_every_option_of_settings_reaches_them(run: Run, folder: Path) -> None:
    samples = {
        "select": "LAY1", "extend_select": "LAY401", "ignore": "LAY2", "per_file_ignores": "a.py:LAY1", "exclude": "x",
        "extend_exclude": "y", "force_exclude": None, "respect_gitignore": None, "target_torch_version": "2.4",
        "device": "cpu", "known_returns": "f:contiguous", "need_contiguous": "g:0", "assume_sizes": "B:>1",
        "report_unused_suppressions": None, "follow_imports": None, "cache": None, "cache_dir": "cache",
    }  # fmt: skip
    assert set(samples) == {option.name for option in OPTIONS}
    for option in OPTIONS:
        sample = samples[option.name]
        arguments = [option.flag] if sample is None else [option.flag, sample]
        row = json.loads(run("config", "--output-format=json", *arguments).out)[option.key]
        assert row["origin"] == f"option {option.flag}"
        assert row["value"] != option.default or sample is None


# ---------------------------------------------------------------- ops
def test_ops(run: Run) -> None:
    out = run("ops", "permute").out
    assert out.startswith("permute(Tensor(a) self, int[] dims) -> Tensor(a)\n  result        view\n")
    rows = json.loads(run("ops", "Tensor.permute", "--output-format=json").out)
    assert rows[0]["signature"] == "permute(Tensor(a) self, int[] dims) -> Tensor(a)"
    assert rows == json.loads(run("ops", "torch.permute", "--output-format=json").out)


@pytest.mark.parametrize("name", ["F.relu", "+", "nn.Linear", "torch.nn.Conv2d", "relu_", "np.transpose"])
def test_ops_knows_all_ways_to_name_one(run: Run, name: str) -> None:
    assert run("ops", name).status == 0


def test_ops_that_do_not_exist(run: Run) -> None:
    ran = run("ops", "permut")
    assert (ran.status, ran.out) == (2, "")
    assert "did you mean permute?" in ran.err


# ---------------------------------------------------------------- the whole
def test_version_and_help(run: Run) -> None:
    from torchlayout import __version__

    assert run("--version").out.strip().endswith(__version__)
    assert "check" in run("-h").out
    assert run("no-such-command").status == 2


def test_every_command_has_help_in_one_line() -> None:
    context = click.Context(app)
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        assert command is not None
        assert command.help


def test_docs_name_every_command_option_and_format() -> None:
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))
    context = click.Context(app)
    for name in app.list_commands(context):
        assert f"`torchlayout {name}" in text
    options = {option for parameter in check.params for option in parameter.opts if option.startswith("--")}
    settings = {option.flag for option in OPTIONS}
    assert options - settings <= named
    halves = {option for parameter in check.params for option in parameter.secondary_opts}
    assert named <= options | halves | {"--output-format", "--help"}
    for name in formats.names():
        assert f"| `{name}`" in text


def test_docs_rounds_are_the_engines() -> None:
    from torchlayout.fixing import MAX_ROUNDS

    assert f"at most {MAX_ROUNDS} rounds" in (DOCS / "fixes.md").read_text(encoding="utf-8")


HEAVY = ("torch", "libcst", "rich", "watchfiles", "jsonschema")


def test_a_run_over_files_without_torch_imports_nothing_heavy(folder: Path) -> None:
    (folder / "a.py").write_text("x = 1\n")
    code = (
        "import sys; from torchlayout.cli import main\n"
        "try: main(['check', 'a.py', '--no-cache'])\n"
        "finally: print([name for name in sys.argv[1:] if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code, *HEAVY], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
