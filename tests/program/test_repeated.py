"""Text that was lowered before gives the nodes that parsing it anew gives, with the line numbers of its new place."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import typing
from types import ModuleType

import pytest

from torchlayout.program import lowering
from torchlayout.program.repeated import Repeated
from torchlayout.program.unit import Unit


@pytest.fixture
def repeated(monkeypatch: pytest.MonkeyPatch) -> Repeated:
    fresh = Repeated()
    monkeypatch.setattr(lowering, "_REPEATED", fresh)
    return fresh


def shape(part: object) -> object:
    """A node as nested tuples, spans included: nodes themselves are equal only to themselves."""
    if isinstance(part, tuple):
        return (type(part).__name__, *map(shape, part))
    names = getattr(type(part), "__struct_fields__", ())
    return (type(part).__name__, *(shape(getattr(part, name)) for name in names)) if names else part


def lowered(text: str) -> list[object]:
    unit = Unit("a.py", text)
    return [shape(unit.lowered(entry)) for entry in unit.outline.entries if not entry.is_class]


@pytest.mark.parametrize("module", [argparse, dataclasses, inspect, typing])
def test_other_lines(module: ModuleType, repeated: Repeated, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "# moved\n\n" + inspect.getsource(module)
    lowered(inspect.getsource(module))
    with monkeypatch.context() as context:
        context.setattr(lowering, "_parse", None)  # all of it is known by now
        again = lowered(text)
    monkeypatch.setattr(lowering, "_REPEATED", Repeated())
    assert again == lowered(text)


def test_the_same_lines_are_the_same_nodes(repeated: Repeated) -> None:
    text = "def f(x):\n    return x.t()\n"
    units = [Unit(path, text) for path in ("a.py", "b.py")]
    first, second = (unit.lowered(unit.outline.entries[0]) for unit in units)
    assert first is second


def test_pieces_of_one_function(repeated: Repeated) -> None:
    first = Repeated()
    block = lowering.parse_block("a = 1\nb = a.t()\n")
    first.keep("text", [3, 9], ())
    first.keep("other", [1, 2], block)
    moved = first.find("other", [4, 11])
    assert moved is not None
    assert [statement.span.line for statement in moved] == [4, 11]
    assert first.find("other", [1, 2]) is block
    assert first.find("new", [1]) is None


def test_what_came_last_is_kept() -> None:
    kept = Repeated(limit=2)
    for text in ("a", "b"):
        kept.keep(text, [1], ())
    assert kept.find("a", [1]) == ()
    kept.keep("c", [1], ())
    assert kept.find("b", [1]) is None
    assert kept.find("a", [1]) == kept.find("c", [1]) == ()


def test_form_feeds_are_parsed_each_time(repeated: Repeated) -> None:
    for _ in range(2):
        unit = Unit("a.py", "class A:\n\f    def f(self, x):\n        return x.t()\n")
        (method,) = (entry for entry in unit.outline.entries if not entry.is_class)
        assert unit.lowered(method).span.line == 2
