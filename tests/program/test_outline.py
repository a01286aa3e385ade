"""The outline: definitions, imports, module-level names, sinks, and who mentions whom."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import torchlayout.program.outline as module_under_test
from torchlayout.program.outline import Entry, Outline, dotted, gate
from torchlayout.program.source import Source
from torchlayout.program.unit import Unit

WORDS = [".view(", ".contiguous(", "reveal_layout(", ".T"]


def outline(text: str) -> Outline:
    return Unit("x", text).outline


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("x.view(1)", True),
        ("x.view (1)", True),
        ("x.view\n  (1)", True),
        ("x.\n  view(1)", True),
        ("x . view(1)", True),
        ("x.viewer(1)", False),
        ("x.view_as(1)", False),
        ("view(1)", False),
        ("x.view", False),
        ("reveal_layout(x)", True),
        ("a.reveal_layout(x)", True),
        ("my_reveal_layout(x)", False),
        ("reveal_layout", False),
        ("x.T", True),
        ("x.T.a", True),
        ("x.Tx", False),
        ("", False),
    ],
)
def test_the_gate(text: str, passes: bool) -> None:
    assert gate(text, WORDS) is passes


@pytest.mark.parametrize(
    ("text", "passes", "lines"),
    [
        ("def f():\n  x += 1\n  y.expand(2)\n", True, [2]),
        ("def f():\n  x += 1\ndef g():\n  y.expand(2)\n", True, []),
        ("def f():\n  x += 1\n", False, []),
        ("def f():\n  x + 1; y.expand(2)\n", False, []),
    ],
)
def test_a_word_with_companions_counts_beside_one_only(text: str, passes: bool, lines: list[int]) -> None:
    words = ["+= with .expand( .t("]
    assert gate(text, words) is passes
    found = outline(text)
    found.mark_sinks(words)
    assert found.entries[0].sinks == lines


def test_a_gate_without_words_is_shut() -> None:
    assert not gate("x.view(1)", [])


TEXT = """\
import torch, a.b, c.d as e
from torch import nn
from torch.nn import functional as F
from . import x
from ..y import z as w
from star import *

@torch.no_grad()
def f(q):
    import local.thing as t
    def inner():
        return q.view(1)
    return q.contiguous()

class A(nn.Module, Generic[T], base(), e.g):
    size = 1
    def m(self):
        # .view(
        class Deep:
            def n(self): pass
        return f(self)
    if True:
        async def m2(self): return self.m()

if a:
    def g(): return A().view(3)
else:
    try:
        def h(): g()
    except E:
        class B: pass
for i in y:
    with z:
        def k(): pass
match a:
    case 1:
        def l(): pass
x.view(1); y.view(2)
"""


def test_definitions() -> None:
    found = [(entry.kind, entry.qualname, entry.start, entry.end) for entry in outline(TEXT).entries]
    assert found == [
        ("function", "f", 8, 13),
        ("function", "f.inner", 11, 12),
        ("class", "A", 15, 23),
        ("function", "A.m", 17, 21),
        ("class", "A.m.Deep", 19, 20),
        ("function", "A.m.Deep.n", 20, 20),
        ("function", "A.m2", 23, 23),
        ("function", "g", 26, 26),
        ("function", "h", 29, 29),
        ("class", "B", 31, 31),
        ("function", "k", 34, 34),
        ("function", "l", 37, 37),
    ]


def test_relations() -> None:
    known = {entry.qualname: entry for entry in outline(TEXT).entries}
    assert known["f.inner"].parent is known["f"]
    assert [name for name, entry in known.items() if entry.nested] == ["f.inner", "A.m.Deep", "A.m.Deep.n"]
    assert [name for name, entry in known.items() if entry.is_method] == ["A.m", "A.m.Deep.n", "A.m2"]
    assert known["A"].bases == ("nn.Module", "Generic", None, "e.g")
    assert known["f"].bases == ()
    assert known["A"].child("m2") is known["A.m2"]
    assert known["A"].child("n") is None
    assert list(known["A.m"].within()) == [known["A.m"], known["A.m.Deep"], known["A.m.Deep.n"]]


def test_the_last_definition_counts() -> None:
    found = outline("def f(): pass\nclass f: pass\ndef g():\n  def f(): pass\n")
    entry = found.find("f")
    assert entry is not None and entry.is_class
    assert found.find("h") is None


def test_imports() -> None:
    found = outline(TEXT)
    assert found.imports == {
        "torch": "torch",
        "a": "a",
        "e": "c.d",
        "nn": "torch.nn",
        "F": "torch.nn.functional",
        "x": ".x",
        "w": "..y.z",
    }
    assert found.star_imports == ["star"]
    assert found.entries[0].imports == {"t": "local.thing"}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("import a as x\nimport b as x\n", "b"),
        ("try:\n  import a as x\nexcept E:\n  import b as x\n", "a"),
        ("if c:\n  import a as x\nelse:\n  import b as x\n", "a"),
        ("try: pass\nexcept E:\n  import b as x\n", "b"),
    ],
)
def test_which_import_counts(text: str, path: str) -> None:
    assert outline(text).imports == {"x": path}


def test_assigned_names() -> None:
    found = outline(
        "a = 1\nb, (c, *d) = x\ne: int = 2\nf: int\na = 3\ng += 1\nfor h in y: pass\nwith z as i: j = 4\n"
        "def k():\n  global n\n  m = 5\nclass C:\n  o = 6\ndel p\nq.r = s[0] = 7\n"
    )
    values = {
        name: [value if value is None else ast.literal_eval(value) for value in values]
        for name, values in found.assigned.items()
    }
    assert values == {
        "a": [1, 3], "b": [None], "c": [None], "d": [None], "e": [2], "g": [None], "h": [None], "i": [None], "j": [4],
        "p": [None],
    }  # fmt: skip
    assert found.rebound == {"n"}
    assert list(found.entries[1].assigned) == ["o"]


def test_sinks() -> None:
    found = outline(TEXT)
    found.mark_sinks(WORDS)
    assert {entry.qualname: entry.sinks for entry in found.entries if entry.sinks} == {
        "f": [13],
        "f.inner": [12],
        "g": [26],
    }
    assert found.module_sinks == [38]
    assert [entry.qualname for entry in found.targets()] == ["f", "g"]
    found.mark_sinks([".nothing("])
    assert found.targets() == [] and found.module_sinks == []


@pytest.mark.parametrize(
    ("text", "lines", "at_module_level"),
    [
        ('"""x.view(1)"""\ny.view(2)\n', [], [2]),
        ("# x.view(1)\ndef f():\n    # x.view(2)\n    y.view(3)  # z.view(4)\n", [4], []),
        ('def f():\n    """\n    x.view(1)\n    """\n    y.view(2)\n', [5], []),
        ('def f():\n    y.view("""\n    x.view(1)""")\n', [2, 3], []),
        ("def f():\n    y.view(1)\n", [2], []),
    ],
)
def test_words_in_docstrings_and_in_lines_of_comment_are_no_sinks(
    text: str, lines: list[int], at_module_level: list[int]
) -> None:
    found = outline(text)
    found.mark_sinks(WORDS)
    assert [line for entry in found.entries for line in entry.sinks] == lines
    assert found.module_sinks == at_module_level


def test_sinks_of_class_bodies_stay_with_the_class() -> None:
    found = outline("class A:\n    x = y.view(1)\n    def f(self): pass\n")
    found.mark_sinks(WORDS)
    assert found.entries[0].sinks == [2]
    assert found.targets() == []


def test_the_line_of_a_sink_is_that_of_its_name() -> None:
    found = outline("x = (y.\n  view(1))\ndef f():\n  pass\n")
    found.mark_sinks(WORDS)
    assert found.module_sinks == [2]


def test_mentions() -> None:
    found = outline(TEXT)
    known = {entry.qualname: entry for entry in found.entries}
    assert {"f", "m", "n"} <= found.calls(known["A.m"]) and "Deep" not in found.calls(known["A.m"])
    assert "Deep" in found.mentions(known["A.m"])
    assert found.calls(known["A.m"]) is found.calls(known["A.m"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('def f(a):\n    """Doc b."""\n    # c\n    return d  # e\n', {"def", "f", "a", "return", "d"}),
        ('def f():\n    """Doc b."""; c()\n', {"def", "f", "Doc", "b", "c"}),
        ("def f():\n    b.c('d')\n", {"def", "f", "b", "c", "d"}),
        ('def f():\n    b("""\\"""# c""", d)\n', {"def", "f", "b", "c", "d"}),
        ("def f():\n    b(f'{c[\"#\"]}', d)\n", {"def", "f", "b", "c", "d"}),
        ("def f():\n    b('# c', '\\'# d', 1)  # e 'f\n", {"def", "f", "b", "c", "d"}),
    ],
)
def test_docstrings_and_comments_mention_nothing(text: str, expected: set[str]) -> None:
    found = outline(text)
    assert found.mentions(found.entries[0]) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a", "a"), ("a.b.c", "a.b.c"), ("a.b[c]", "a.b"), ("a().b", None), ("1", None), ("a[b].c", None)],
)
def test_dotted(text: str, expected: str | None) -> None:
    assert dotted(ast.parse(text, mode="eval").body) == expected


def test_every_line_belongs_to_its_innermost_entry() -> None:
    path = Path(module_under_test.__file__)
    found = outline(path.read_text(encoding="utf-8"))
    for line in range(1, found.source.line_count + 1):
        holders: list[Entry] = [entry for entry in found.entries if entry.start <= line <= entry.end]
        assert found.at(line) is (holders[-1] if holders else None)


def test_all_definitions_are_found_wherever_they_stand() -> None:
    """Against a walk over the whole tree, in files that nest them everywhere."""
    for module in (ast, st, sys.modules["typing"], pytest):
        path = Path(module.__file__ or "")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        expected = sorted((node.lineno, node.name) for node in ast.walk(tree) if isinstance(node, kinds))
        found = Outline(Source(path.read_text(encoding="utf-8")), tree)
        assert sorted((entry.node.lineno, entry.name) for entry in found.entries) == expected


def test_a_long_chain_of_elif_is_walked_without_recursion() -> None:
    chain = ast.parse("if a: pass").body[0]
    for _ in range(20_000):
        outer = ast.parse("if a: pass").body[0]
        assert isinstance(outer, ast.If)
        outer.orelse = [chain]
        chain = outer
    assert Outline(Source("if a: pass"), ast.Module([chain], [])).entries == []
    while isinstance(chain, ast.If) and chain.orelse:  # taken down by hand: freeing it would recurse
        chain = chain.orelse.pop()


@given(st.text(alphabet="def class():\n\t viewx.T#'", max_size=80))
def test_any_text_is_outlined_or_is_a_syntax_error(text: str) -> None:
    try:
        found = outline(text)
    except SyntaxError:
        return
    found.mark_sinks(WORDS)
