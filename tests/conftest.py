"""What all tests share: Hypothesis profiles, the CUDA marker, and a stand-in for the analysis."""

from __future__ import annotations

import ast
import contextlib
import io
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, settings

from torchlayout.check import analysis, selection
from torchlayout.check.settings import Settings
from torchlayout.flake8_plugin import Plugin
from torchlayout.program.nodes import Span
from torchlayout.rules.finding import Edit, Finding, Fix, Safety

settings.register_profile(
    "default", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile(
    "mutation", settings.get_profile("default"), max_examples=10, phases=[Phase.explicit, Phase.generate]
)
settings.register_profile("explore", settings.get_profile("default"), derandomize=False, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marked = [item for item in items if item.get_closest_marker("cuda")]
    if marked and not _cuda():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="no CUDA device"))


def _cuda() -> bool:
    import torch

    return bool(torch.cuda.is_available())


class FakeRule(NamedTuple):
    """What the checking engine needs of a rule."""

    code: str
    name: str
    words: tuple[str, ...]
    status: str = "stable"
    docs: str = ""


FAKE_RULES = (
    FakeRule("LAY101", "view", ("view",)),
    FakeRule("LAY102", "view-sometimes", ("view_maybe",)),
    FakeRule("LAY201", "contiguous", ("contiguous",)),
    FakeRule("LAY302", "loop", ("looped",)),
    FakeRule("LAY401", "reshape", ("reshape",)),
    FakeRule("LAY900", "reveal-layout", ("reveal_layout",)),
)


def fake_rules() -> tuple[FakeRule, ...]:
    return FAKE_RULES


def fake_sink_words(text: str, codes: frozenset[str]) -> frozenset[str]:
    return frozenset(word for rule in FAKE_RULES if rule.code in codes for word in rule.words)


def fake_analyze(
    source: str, path: str, tree: ast.Module | None, settings: Settings, codes: Iterable[str]
) -> analysis.Outcome:
    """A finding at every attribute that a fake rule looks for; the name `crash` makes it fail."""
    if "crash_here" in source:
        raise ValueError("told to fail\non two lines")
    if "die_here" in source:
        os._exit(3)
    assert tree is not None
    words = {word: rule.code for rule in FAKE_RULES for word in rule.words if rule.code in set(codes)}
    findings = []
    lines = re.split(r"\r\n|\r|\n", source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in words:
            line = node.end_lineno or 1
            end = len(lines[line - 1].encode()[: node.end_col_offset].decode())
            span = Span(line, end - len(node.attr), line, end)
            fix = Fix("Use another", (Edit(span, "other"),), Safety.SAFE)
            findings.append(Finding(words[node.attr], f"found `{node.attr}`", span, fix=fix))
    notes = ("a note",) if "noted" in source else ()
    return analysis.Outcome(findings, notes, tuple(re.findall(r"reads '(.*)'", source)))


@pytest.fixture(autouse=True)
def fresh_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    """flake8 leaves its options in the plugin's class: not from one test to the next."""
    for name in ("_settings", "_options", "_flake8_shows", "_cache", "_keeps"):
        monkeypatch.setattr(Plugin, name, getattr(Plugin, name))


@pytest.fixture
def fake_analysis(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Replace interpreter and rules by a search for attribute names, so that what surrounds them is tested alone."""
    monkeypatch.setattr(analysis, "rules", fake_rules)
    monkeypatch.setattr(analysis, "sink_words", fake_sink_words)
    monkeypatch.setattr(analysis, "analyze", fake_analyze)
    selection._selected.cache_clear()
    yield
    selection._selected.cache_clear()


class Flake8(NamedTuple):
    """What a run of flake8 printed, and its exit status."""

    status: int
    lines: list[str]


def run_flake8(*arguments: str) -> Flake8:
    """Run the real flake8 in this process, so that a stand-in for the analysis holds in it."""
    from flake8.main.cli import main

    logging.getLogger("flake8").handlers.clear()
    output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            status = main(list(arguments))
        except SystemExit as stop:
            status = int(stop.code or 0)
    output.seek(0)
    return Flake8(status, output.read().splitlines())


@pytest.fixture(scope="session")
def flake8() -> Callable[..., Flake8]:
    """`flake8("--select=LAY", "a.py").lines`"""
    return run_flake8
