"""How long an `__init__` will run, told from its words."""

from __future__ import annotations

import pytest
from observing import lint

from torchlayout.interp.lengths import Lengths
from torchlayout.program import nodes
from torchlayout.program.unit import Entry, Unit

MODEL = """\
def grid(n):
    return n * n

class Part:
    def __init__(self, n):
        self.whole = Whole
        self.n = grid(n)  # not two(words)

class Whole:
    def __init__(self, n):
        self.first = Part(n)
        self.second = Part(n)
        self.set(n)

    def set(self, n):
        self.third = n

class Derived(Whole):
    def __init__(self, n):
        super().__init__(n)
        self.fourth = n

class Same(Whole):
    pass
"""
GRID = len("def grid n return n n".split())
PART = len("def __init__ self n self whole Whole self n grid n".split()) + GRID
SET = len("def set self n self third n".split())
WHOLE = len("def __init__ self n self first Part n self second Part n self set n".split()) + PART + SET
DERIVED = len("def __init__ self n super __init__ n self fourth n".split()) + WHOLE


def length(unit: Unit, name: str) -> int:
    entry = unit.outline.find(name)
    assert entry is not None
    return Lengths(unit).of(entry)


@pytest.mark.parametrize(
    ("name", "words"),
    [("grid", GRID), ("Part", PART), ("Whole", WHOLE), ("Derived", DERIVED), ("Same", WHOLE)],
)
def test_each_function_counts_once_with_what_it_calls(name: str, words: int) -> None:
    assert length(Unit("x", MODEL), name) == words


def test_functions_that_call_one_another_are_counted() -> None:
    unit = Unit("x", "def f(n):\n    return g(n)\n\ndef g(n):\n    return f(n)\n")
    assert [length(unit, name) for name in "fg"] == [12, 12]


def test_however_many_ways_lead_to_a_function_it_counts_once() -> None:
    levels = [f"def {name}{i}(n):\n    return p{i - 1}(q{i - 1}(n))\n" for i in range(1, 1200) for name in "pq"]
    unit = Unit("x", "def p0(n):\n    return n\ndef q0(n):\n    return n\n" + "".join(levels))
    assert length(unit, "p1199") == 2 * 5 + 1198 * 2 * 7 + 7


def test_a_string_is_a_word() -> None:
    unit = Unit("x", "def f(n):\n    return 'a lot of words', \"and # more\", n  # or 'less\n")
    assert length(unit, "f") == 7


def test_neither_a_long_init_nor_the_caller_that_needs_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    source = """\
import torch
from torch import nn

def flat(x):
    return x.view(-1)

class M(nn.Module):
    def __init__(self, n):
        self.n = n
        self.sizes = [SIZES]

    def forward(self, x: torch.Tensor):
        return flat(x[self.n :, : self.sizes[0]])
"""
    lowered: list[str] = []
    ask = Unit.lowered_function

    def told(unit: Unit, entry: Entry) -> nodes.Function:
        lowered.append(entry.name)
        return ask(unit, entry)

    monkeypatch.setattr(Unit, "lowered_function", told)
    lint(source.replace("SIZES", "1"))
    assert {"__init__", "forward"} <= set(lowered)
    lowered.clear()
    trace, _ = lint(source.replace("SIZES", ", ".join(map(str, range(500)))))
    assert not {"__init__", "forward"} & set(lowered)
    assert "M.forward takes too many steps; left off" in "\n".join(trace.notes)
