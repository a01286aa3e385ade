"""The command line over a small engine of its own: what stands around the analysis is tested alone.

The engine reports attributes by name, wherever they stand:

| attribute | code | fix |
| --- | --- | --- |
| `.view` | LAY101, with the first `.t` as its origin, and a drawing | `.reshape`, unsafe |
| `.contiguous` | LAY201 | the call deleted, safe |
| `.doubled` | LAY203 | `.contiguous`, safe: there is more to mend afterwards |
| `.broken` | LAY202 | one that breaks the syntax, said to be safe |
| `.byhand` | LAY205 | for display |
| `reveal_layout` (a name) | LAY900, with a layout | none |
"""

from __future__ import annotations

import ast
import contextlib
import io
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from torchlayout import cli
from torchlayout.check import analysis, selection
from torchlayout.check.settings import Settings
from torchlayout.cli import catalog
from torchlayout.program.nodes import Span
from torchlayout.program.source import Source
from torchlayout.rules.drawing import Drawing, Picture
from torchlayout.rules.edits import delete_method_call, replace_name
from torchlayout.rules.finding import Finding, Fix, Related, Safety


class Rule(NamedTuple):
    code: str
    name: str
    words: tuple[str, ...]
    status: str = "stable"
    docs: str = "## What it does\n\nReports something. And more.\n\n## Fix safety\n\nVaries."


RULES = (
    Rule("LAY101", "view-of-noncontiguous", ("view",)),
    Rule("LAY201", "contiguous-of-contiguous", ("contiguous",)),
    Rule("LAY202", "discarded-contiguous", ("broken",)),
    Rule("LAY203", "copy-of-copy", ("doubled",)),
    Rule("LAY205", "guarded-contiguous", ("byhand",)),
    Rule("LAY401", "silent-copy", ("reshape",)),
    Rule("LAY900", "reveal-layout", ("reveal_layout",)),
)
LAYOUT = {"shape": ["B", "4"], "stride": ["4", "1"], "contiguous": "yes", "proved": True}
DRAWING = Drawing(Picture("x.t()", ("B", "4"), ("1", "B")), None)


def engine(text: str, path: str, tree: ast.Module | None, settings: Settings, codes: Iterable[str]) -> analysis.Outcome:
    assert tree is not None
    source = Source(text)
    names = {word: rule.code for rule in RULES for word in rule.words if rule.code in set(codes)}
    found = []
    turns = [_name_span(source, n) for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr == "t"]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names:
            span = _name_span(source, node.func)
            end = source.column_from_utf8(node.end_lineno or 1, node.end_col_offset or 0)
            suffix = Span(span.line, span.column - 1, node.end_lineno or 1, end)
            found.append(_finding(source, names[node.func.attr], node.func.attr, span, suffix, turns))
        elif isinstance(node, ast.Name) and node.id in names:
            span = Span(node.lineno, node.col_offset, node.lineno, node.col_offset + len(node.id))
            found.append(Finding(names[node.id], "shape [B, 4], stride [4, 1]", span, layout=LAYOUT))
    return analysis.Outcome(found, ("the budget was reached",) if "budget" in text else ())


def sink_words(text: str, codes: frozenset[str]) -> frozenset[str]:
    return frozenset(word for rule in RULES if rule.code in codes for word in rule.words)


def _name_span(source: Source, node: ast.Attribute) -> Span:
    line = node.end_lineno or 1
    end = source.column_from_utf8(line, node.end_col_offset or 0)
    return Span(line, end - len(node.attr), line, end)


def _finding(source: Source, code: str, name: str, span: Span, suffix: Span, turns: list[Span]) -> Finding:
    message = f"`{name}` of a tensor with strides (1, 4)"
    if name == "view":
        related = (Related(turns[0], "transposed here, by `t()`"),) if turns else ()
        fix = Fix("Use `reshape`, which copies", replace_name(span, "reshape"), Safety.UNSAFE)
        return Finding(code, message, span, related, fix, drawing=DRAWING)
    fixes = {
        "contiguous": Fix("Remove the call", delete_method_call(source, suffix), Safety.SAFE),
        "doubled": Fix("Use `contiguous`", replace_name(span, "contiguous"), Safety.SAFE),
        "broken": Fix("Break it", replace_name(span, "("), Safety.SAFE),
        "byhand": Fix("Do it by hand", replace_name(span, "other"), Safety.DISPLAY),
    }
    return Finding(code, message, span, fix=fixes.get(name))


@pytest.fixture(autouse=True)
def small_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put the small engine in the place of the analysis, but for the tests that go end to end."""
    if request.path.stem == "test_end_to_end":
        yield
        return
    monkeypatch.setattr(analysis, "rules", lambda: RULES)
    monkeypatch.setattr(analysis, "sink_words", sink_words)
    monkeypatch.setattr(analysis, "analyze", engine)
    _forget()
    yield
    _forget()


def _forget() -> None:
    selection._selected.cache_clear()
    catalog._by_code.cache_clear()


class Ran(NamedTuple):
    """What a command came to."""

    status: int
    out: str
    err: str


def run_command(*arguments: str | Path, stdin: bytes = b"") -> Ran:
    """Run `torchlayout` in this process."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="", write_through=True)
    err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="", write_through=True)
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as stop:
            cli.main([str(argument) for argument in arguments])
    streams = [stream.buffer.getvalue().decode() for stream in (out, err)]  # type: ignore[attr-defined]
    return Ran(int(stop.value.code or 0), *streams)


@pytest.fixture
def run() -> Callable[..., Ran]:
    """`run("check", "a.py").status`"""
    return run_command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, away from any settings."""
    (tmp_path / "torchlayout.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


TURNED = "import torch\n\ny = torch.randn(3, 4).t()\nz = y.view(12)\n"
COPIED = "import torch\n\nx = torch.randn(3, 4)\ny = x.contiguous().relu()\n"


@pytest.fixture
def turned(folder: Path) -> Path:
    """A file with one LAY101, whose fix is unsafe."""
    (folder / "turned.py").write_text(TURNED)
    return Path("turned.py")


@pytest.fixture
def copied(folder: Path) -> Path:
    """A file with one LAY201, whose fix is safe."""
    (folder / "copied.py").write_text(COPIED)
    return Path("copied.py")
