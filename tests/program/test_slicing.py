"""Slices of `__init__`: what is left out, and that nothing else changes by it."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.interp.observing import lint
from torchlayout import interp
from torchlayout.interp import relevance, runner
from torchlayout.interp.callgraph import Calls
from torchlayout.program import nodes
from torchlayout.program.unit import Unit
from torchlayout.rules import RULES


def kept(body: str, needed: str) -> list[str]:
    """The lines of an `__init__` with this body that are kept, where these words are needed."""
    text = "class A(B):\n    def __init__(self, a, b):\n" + textwrap.indent(textwrap.dedent(body), " " * 8)
    unit = Unit("x", text + "\n")
    unit.needed = frozenset(needed.split())
    init = unit.outline.entries[1]
    node = unit.lowered_function(init)
    lines = sorted({statement.span.line for statement in node.body})
    assert node.sliced is (len(lines) < len(init.node.body))
    return [unit.source.line(line).strip() for line in lines]


@pytest.mark.parametrize(
    ("body", "needed", "expected"),
    [
        ("self.x = a\nself.y = b", "x", ["self.x = a"]),
        ("c = a * 2\nd = b\nself.x = c", "x", ["c = a * 2", "self.x = c"]),
        ("self.h = a\nself.d = b // self.h\nself.e = a", "d", ["self.h = a", "self.d = b // self.h"]),
        ("super().__init__()\nself.y = b", "x", ["super().__init__()"]),
        ("self.prepare()\nlog(self)\nself.y = b", "x", ["self.prepare()"]),
        ("self.register_buffer('x', a)\nself.register_buffer('y', b)", "x", ["self.register_buffer('x', a)"]),
        ("c = []\nc.append(a)\nself.x = c\nself.y = 1", "x", ["c = []", "c.append(a)", "self.x = c"]),
        ("assert a % b == 0\nassert c\nself.x = a", "x", ["assert a % b == 0", "self.x = a"]),
        ("if a is None:\n    raise ValueError\nself.x = a\nself.y = 1", "x", ["if a is None:", "self.x = a"]),
        ("if b:\n    self.y = 1\nif b:\n    self.x = 1", "x", ["if b:"]),
        ("a, self.x = b\nself.y = a", "x", ["a, self.x = b"]),
        ("self.x.z = a\nself.y = 1", "x", ["self.x.z = a"]),
        ("self.x[0] = a\nself.y = 1", "x", ["self.x[0] = a"]),
        ("for i in a:\n    setattr(self, 'y', i)\nself.x = 1", "x", ["self.x = 1"]),
        ("def g(): pass\nfrom m import c\nself.x = c\nself.y = g", "x", ["from m import c", "self.x = c"]),
        ('"""Docstring."""\nself.y = 1\nself.z = 1', "x", ["self.z = 1"]),
        ("self.y = 1\nif a:\n    return\nself.x = 1", "x", ["if a:", "self.x = 1"]),
    ],
)  # fmt: skip
def test_what_is_kept(body: str, needed: str, expected: list[str]) -> None:
    assert kept(body, needed) == expected


@pytest.mark.parametrize(
    "body",
    [
        "self.x = 1; self.y = 2",
        "for n in a:\n    setattr(self, n, 1)\nself.y = 2",
        "self.__dict__.update(a)\nself.y = 1",
    ],
)
def test_what_is_not_sliced(body: str) -> None:
    text = "class A:\n    def __init__(self, a):\n" + textwrap.indent(body, " " * 8) + "\n"
    unit = Unit("x", text)
    unit.needed = frozenset(["x"])
    assert len(unit.lowered_function(unit.outline.entries[1]).body) == len(unit.outline.entries[1].node.body)  # type: ignore[union-attr]


def test_places_are_those_of_the_file() -> None:
    text = "class A:\n    def __init__(self, a):\n        self.y = a\n\n        # why\n        self.x = a.b\n"
    unit = Unit("x", text)
    unit.needed = frozenset(["x"])
    node = unit.lowered_function(unit.outline.entries[1])
    assert isinstance(node, nodes.Function)
    assert [statement.span.line for statement in node.body] == [6]


PROGRAM = """\
import torch
from torch import nn

class Inner(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        return x.transpose(1, 2)

class Outer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.unused = Inner(dim, 3)
        self.inner = Inner(dim, 4)
        self.dim = dim

    def forward(self, x):
        return self.inner(x).view(x.size(0), -1)
"""


def needed_of(text: str) -> frozenset[str] | None:
    unit = Unit("x", text)
    unit.mark_sinks([".view("])
    relevance.mark_needed(unit, Calls(unit.outline), unit.outline.targets())
    return unit.needed


def test_words_of_the_functions_that_may_run() -> None:
    needed = needed_of(PROGRAM)
    assert needed is not None
    assert {"inner", "transpose"} <= needed
    assert needed.isdisjoint({"unused", "scale", "proj", "dim"})


def test_where_anything_may_be_read() -> None:
    assert needed_of(PROGRAM.replace("self.inner(x)", "getattr(self, name)(x)")) is None


@pytest.mark.parametrize(
    ("behind", "known"),
    [("", True), ("x.view(1)\n", False), ("Outer(3)(torch.zeros(2, 3, 4))\n", False), ("print(Outer(3))\n", True)],
)
def test_the_module_itself_may_read_anything(behind: str, known: bool) -> None:
    unit = Unit("x", PROGRAM + behind)
    unit.mark_sinks([".view("])
    interp.run(unit, interp.Options())
    assert (unit.needed is not None) is known


def test_methods_that_write_what_is_read_count_too() -> None:
    text = PROGRAM.replace(
        "    def forward", "    def switch(self):\n        self.inner = self.scale\n\n    def forward"
    )
    assert "scale" in (needed_of(text) or ())


EXAMPLES = [example.source for rule in RULES for example in (*rule.invalid, *rule.valid, *rule.near_misses)]
CASES = sorted((Path(__file__).parents[3] / "shared" / "cases").glob("*.py"))


@pytest.mark.parametrize("source", [*EXAMPLES, *(case.read_text(encoding="utf-8") for case in CASES), PROGRAM])
def test_slices_leave_findings_alone(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, sliced = lint(source)
    monkeypatch.setattr(runner, "mark_needed", lambda unit, calls, roots: None)
    _, whole = lint(source)
    assert [(f.code, f.span) for f in sliced] == [(f.code, f.span) for f in whole]
