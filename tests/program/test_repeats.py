"""Texts that stand in several places: what comes of one that is not parsed again."""

from __future__ import annotations

import ast
import inspect
import textwrap

import pytest

from torchlayout.program import lowering, nodes, repeats
from torchlayout.program.lowering import parse_block
from torchlayout.program.repeats import Repeats
from torchlayout.program.unit import CannotLower, Unit

TEXTS = [
    "def f(x):\n    return x.view(-1)\n",
    "@a\n@b(1)\nasync def f(x: int = 3, *y, z=..., **k) -> str:\n    async with x as y:\n        yield f'{y}'\n",
    "def f(x):\n    y = (x\n        .t()\n        .contiguous())\n\n    # nothing\n    return [a for a in y if a]\n",
    "class A(B, metaclass=C):\n    x: int = 1\n\n    def f(self):\n        return {1: b'x', **self.d}, 2j, 1 < 2\n",
    'def f(x):\n    """Text\n    of lines."""\n    try:\n        del x[1:]\n    except A as e:\n        raise e\n',
    "def f(x):\n    match x:\n        case {'a': [1, *r]} if r:\n            return lambda: (x := r)\n",
    textwrap.dedent(inspect.getsource(textwrap.TextWrapper)),
    inspect.getsource(inspect.unwrap),
]


def lowered(text: str, lines_before: int, into: Repeats, monkeypatch: pytest.MonkeyPatch) -> str:
    """All of the first definition, in words, where so many empty lines stand before it."""
    monkeypatch.setattr(lowering, "_repeats", into)
    unit = Unit("x", "\n" * lines_before + text)
    (entry, *_) = unit.outline.top
    return repr(unit.lowered(entry))


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are parsed."""
    parsed: list[str] = []
    parse = lowering._parse_and_walk

    def told(text: str, lines: list[int], shifts: dict[int, int], indented: bool) -> nodes.Block:
        parsed.append(text)
        return parse(text, lines, shifts, indented)

    monkeypatch.setattr(lowering, "_parse_and_walk", told)
    return parsed


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_copy_is_what_parsing_would_give(text: str, parses: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    shared = Repeats()
    places = (0, 3, 1, 40, 3)
    told = [lowered(text, lines, shared, monkeypatch) for lines in places]
    assert len(parses) == 2
    assert told == [lowered(text, lines, Repeats(), monkeypatch) for lines in places]
    assert len(set(told)) == 4


@pytest.mark.parametrize("seen", [0, 100])
def test_what_is_kept_is_bounded(seen: int, parses: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "MAX_KEPT", 0)
    monkeypatch.setattr(repeats, "MAX_SEEN", seen)
    shared = Repeats()
    for _ in range(3):
        for text in TEXTS[:3]:
            assert lowered(text, 0, shared, monkeypatch) == lowered(text, 0, Repeats(), monkeypatch)
    assert len(parses) == 18
    assert not shared._kept and shared._kept_size == 0 and len(shared._seen) == (3 if seen else 1)


def test_texts_of_a_block_and_of_a_file_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """An indented text is parsed behind an `if 1:`, which somebody may have written too."""
    monkeypatch.setattr(lowering, "_repeats", Repeats())
    inner = "class A:\n    x = 1\n"
    for _ in range(3):
        unit = Unit("x", inner)
        (assignment,) = unit.class_block(unit.outline.top[0])
        assert isinstance(assignment, nodes.Assign)
    for _ in range(3):
        (statement,) = parse_block("if 1:\n    x = 1\n")
        assert isinstance(statement, nodes.If)


def test_what_cannot_be_lowered_is_asked_again(parses: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowering, "_repeats", Repeats())
    for _ in range(3):
        with pytest.raises(CannotLower, match="line 1"):
            parse_block("def f(:\n")
    assert len(parses) == 3


def test_nodes_too_deep_to_be_packed_are_parsed(parses: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> bytes:
        raise RecursionError

    monkeypatch.setattr(repeats.pickle, "dumps", refuse)
    shared = Repeats()
    told = [lowered(TEXTS[0], 0, shared, monkeypatch) for _ in range(3)]
    assert len(parses) == 3 and len(set(told)) == 1


def test_deep_nodes_are_packed_or_parsed_whatever_the_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def f(x):\n    return " + "-" * 100 + "x\n"
    assert ast.parse(text)
    shared = Repeats()

    def at_depth(depth: int) -> str:
        return at_depth(depth - 1) if depth else lowered(text, depth, shared, monkeypatch)

    assert len({at_depth(depth) for depth in (0, 0, 0, 200)}) == 1
