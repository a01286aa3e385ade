"""A file as a whole: names, constants, classes and their bases, places for fixes."""

from __future__ import annotations

import ast

import pytest

from torchlayout.program.places import CallSite
from torchlayout.program.spans import Span
from torchlayout.program.unit import UNKNOWN, CannotLower, Unit


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("torch", "torch"),
        ("torch.nn.Linear", "torch.nn.Linear"),
        ("F.conv2d", "torch.nn.functional.conv2d"),
        ("sdpa", "torch.nn.functional.scaled_dot_product_attention"),
        ("near.f", ".near.f"),
        ("up", "..far.up"),
        ("flash.f", "flash_attn.f"),
        ("shadowed.x", None),
        ("defined", None),
        ("unknown.x", None),
        ("rebound", None),
    ],
)
def test_names_are_resolved_through_imports(name: str, path: str | None) -> None:
    unit = Unit(
        "x",
        "import torch, shadowed, rebound\nimport torch.nn.functional as F\nfrom . import near\nfrom ..far import up\n"
        "from torch.nn.functional import scaled_dot_product_attention as sdpa\nfrom a import defined\n"
        "try:\n  import flash_attn as flash\nexcept ImportError:\n  flash = None\n"
        "shadowed = 1\ndef defined(): global rebound\n",
    )
    assert unit.resolve(name) == path


def test_names_are_resolved_from_inside_functions() -> None:
    unit = Unit("x", "import a as n\ndef f():\n  import b as n\n  def g():\n    import c as m\ndef h(): pass\n")
    known = {entry.qualname: entry for entry in unit.outline.entries}
    assert unit.resolve("n.x") == "a.x"
    assert unit.resolve("n.x", known["f"]) == unit.resolve("n.x", known["f.g"]) == "b.x"
    assert unit.resolve("m", known["f.g"]) == "c"
    assert unit.resolve("m", known["f"]) is None
    assert unit.resolve("n.x", known["h"]) == "a.x"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("3", 3),
        ("-3", -3),
        ("2 * (3 + 4) // 5 % 2 ** 3", 2),
        ("(1, 'a', None, (True, 1.5))", (1, "a", None, (True, 1.5))),
        ("'a' + 'b'", "ab"),
        ("(1,) + (2,)", (1, 2)),
        ("1 << 4 >> 1", 8),
        ("~1", -2),
        ("not 1", False),
        ("7 / 2", 3.5),
        ("other + 1", 11),
        ("None", None),
        ("1 // 0", UNKNOWN),
        ("2 ** 10 ** 10", UNKNOWN),
        ("2 ** -1", UNKNOWN),
        ("1 << 10 ** 9", UNKNOWN),
        ("'a' * 10 ** 9", UNKNOWN),
        ("'a' + 1", UNKNOWN),
        ("-'a'", UNKNOWN),
        ("~1.5", UNKNOWN),
        ("[1]", UNKNOWN),
        ("f()", UNKNOWN),
        ("(1, f())", UNKNOWN),
        ("not f()", UNKNOWN),
        ("f() + 1", UNKNOWN),
        ("nothing", UNKNOWN),
        ("C", UNKNOWN),
        ("1.5 * 10 ** 70 * 10 ** 300", UNKNOWN),
    ],
)
def test_constants(value: str, expected: object) -> None:
    found = Unit("x", f"other = 10\nC = {value}\n").constant("C")
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(
    "text",
    [
        "C = 1\nC = 1\n",
        "C = 1\nC += 1\n",
        "C, D = 1, 2\n",
        "for C in x: pass\n",
        "import C\nC = 1\n",
        "C = 1\ndef C(): pass\n",
        "C = 1\ndef f():\n  global C\n",
        "D = 1\n",
        "C = D\nD = C\n",
        "C = " + "1 + " * 80 + "1\n",
    ],
)
def test_what_is_no_constant(text: str) -> None:
    assert Unit("x", text).constant("C") is UNKNOWN


def test_constants_of_classes() -> None:
    unit = Unit("x", "N = 2\nclass A:\n  a = N * 3\n  b = 1\n  b = 2\n  c = f()\n")
    known = unit.klass("A")
    assert known is not None
    assert unit.class_constant(known, "a") == 6
    assert unit.class_constant(known, "b") is unit.class_constant(known, "c") is UNKNOWN


def test_definitions_and_inheritance() -> None:
    unit = Unit(
        "x",
        "from torch import nn\nclass Base(nn.Module):\n  def forward(self): pass\n  def a(self): pass\n"
        "class Mixin(object):\n  def a(self): pass\n  def b(self): pass\n  class Inner: pass\n"
        "class A(Mixin, Base, *more):\n  def c(self): pass\nclass Self(Self): pass\ndef f(): pass\n",
    )
    known = unit.klass("A")
    assert known is not None and unit.klass("f") is None and unit.function("A") is None
    assert unit.function("f") is not None and unit.function("g") is None
    assert [entry.name for entry in unit.bases(known)] == ["Mixin", "Base"]
    assert [entry.name for entry in unit.ancestors(known)] == ["A", "Mixin", "Base"]
    methods = {name: unit.method(known, name) for name in ("a", "b", "c", "forward", "Inner", "none")}
    names = {name: entry.qualname if entry is not None else None for name, entry in methods.items()}
    assert names == {
        "a": "Mixin.a", "b": "Mixin.b", "c": "A.c", "forward": "Base.forward", "Inner": None, "none": None,
    }  # fmt: skip
    assert unit.external_bases(known) == [None, "object", "torch.nn.Module"]
    inner = unit.klass("Mixin.Inner")
    assert inner is not None and inner.qualname == "Mixin.Inner"
    own = unit.klass("Self")
    assert own is not None and unit.ancestors(own) == [own]


def test_a_tree_that_is_given_is_used() -> None:
    tree = ast.parse("def f(): pass\n")
    assert Unit("x", "def f(): pass\n", tree).tree is tree


@pytest.mark.parametrize(
    "text", ["x = = 1", "x = \x00", "(" * 5000, "x = 1\n  y = 2\n", "f'{'", "'\ud800'", "\ufeff\ufeff"]
)
def test_what_is_no_python_is_a_syntax_error(text: str) -> None:
    with pytest.raises(SyntaxError):
        Unit("x", text).outline  # noqa: B018


def test_what_cannot_be_lowered_stays_so() -> None:
    unit = Unit("x", "def f():\n    (x): int\ndef g(): pass\n")
    for _ in range(2):
        with pytest.raises(CannotLower, match="line 1"):
            unit.lowered(unit.outline.entries[0])
    assert unit.lowered(unit.outline.entries[1])
    with pytest.raises(CannotLower):
        Unit("x", "(x): int\n").module_block()


def test_a_class_is_no_function() -> None:
    unit = Unit("x", "class A: pass\n")
    with pytest.raises(CannotLower):
        unit.lowered_function(unit.outline.entries[0])


# ---------------------------------------------------------------- places
def site(text: str, name: str = "view") -> tuple[Unit, CallSite]:
    unit = Unit("x", text)
    start = unit.source.clean.index(name)
    found = unit.call_at(unit.source.span(start, start + len(name)))
    assert found is not None
    return unit, found


def shown(text: str, name: str = "view") -> dict[str, object]:
    unit, found = site(text, name)
    cut = unit.source.slice
    return {
        "call": cut(found.call),
        "receiver": cut(found.receiver) if found.receiver else None,
        "suffix": cut(found.suffix),
        "arguments": [(cut(argument.span), cut(argument.value)) for argument in found.arguments],
        "statement": cut(found.statement),
    }


def test_the_places_of_a_plain_method_call() -> None:
    assert shown("y = x.view(1, *a, k = 2, **d) + 1; z\n") == {
        "call": "x.view(1, *a, k = 2, **d)",
        "receiver": "x",
        "suffix": ".view(1, *a, k = 2, **d)",
        "arguments": [("1", "1"), ("*a", "a"), ("k = 2", "2"), ("**d", "d")],
        "statement": "y = x.view(1, *a, k = 2, **d) + 1",
    }


def test_the_places_of_a_call_with_parentheses_and_comments() -> None:
    text = "def f():\n    return ((é + (x)) # .(\n      # )\n      . view # (\n"
    text += "      ((1), # ,\n ( (2), ), k=((3)) , )).t()\n"
    assert shown(text) == {
        "call": "((é + (x)) # .(\n      # )\n      . view # (\n      ((1), # ,\n ( (2), ), k=((3)) , )"[1:],
        "receiver": "(é + (x))",
        "suffix": ". view # (\n      ((1), # ,\n ( (2), ), k=((3)) , )",
        "arguments": [("(1)", "(1)"), ("( (2), )", "( (2), )"), ("k=((3))", "((3))")],
        "statement": text[text.index("return") :].rstrip("\n"),
    }
    assert site(text)[1].has_comment


def test_the_places_of_a_function_call() -> None:
    assert shown("if a:\n  (view)(x for x in y)\n") == {
        "call": "(view)(x for x in y)",
        "receiver": None,
        "suffix": "(view)(x for x in y)",
        "arguments": [("x for x in y", "x for x in y")],
        "statement": "(view)(x for x in y)",
    }


@pytest.mark.parametrize(
    ("text", "discarded"),
    [("x.view(1)\n", True), ("(x.view(1))\n", True), ("y = x.view(1)\n", False), ("x.view(1).t()\n", False)],
)
def test_whether_the_result_is_thrown_away(text: str, discarded: bool) -> None:
    assert site(text)[1].discarded is discarded


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("for x in y.view(1):\n  z\n", "for x in y.view(1):\n  z"),
        ("while 1:\n  if 2: z.view(1)\n  else: pass\n", "z.view(1)"),
        ("try: a\nexcept E: b.view(1)\n", "b.view(1)"),
        ("@a.view(1)\ndef f(): pass\n", "def f(): pass"),
        ("match a:\n  case 1: b.view(1)\n", "b.view(1)"),
        ("def f(a=b.view(1)): pass\n", "def f(a=b.view(1)): pass"),
        ("'é'; x.view(1); y\n", "x.view(1)"),
        ("x = lambda: y.view(1)\n", "x = lambda: y.view(1)"),
    ],
)
def test_the_innermost_statement(text: str, statement: str) -> None:
    assert shown(text)["statement"] == statement


def test_the_right_call_of_several_is_found() -> None:
    unit = Unit("x", "y = x.view(1).view(2), x.view(3)\n")
    spans = [Span(1, column, 1, column + 4) for column in (6, 14, 25)]
    calls = [unit.call_at(span) for span in spans]
    assert [unit.source.slice(call.call) for call in calls if call] == ["x.view(1)", "x.view(1).view(2)", "x.view(3)"]


@pytest.mark.parametrize("span", [Span(1, 0, 1, 1), Span(1, 6, 1, 10), Span(9, 0, 9, 1), Span(2, 0, 2, 4)])
def test_no_call_there(span: Span) -> None:
    assert Unit("x", "y = x.view\n\n").call_at(span) is None


@pytest.mark.parametrize(
    ("text", "there"), [("x.view(1) # a\n", False), ("x.view('#')\n", False), ("x.view(1 # a\n)\n", True)]
)
def test_comments_inside_the_call(text: str, there: bool) -> None:
    assert site(text)[1].has_comment is there
