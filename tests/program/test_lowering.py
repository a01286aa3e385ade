"""What each piece of syntax is lowered to."""

from __future__ import annotations

import sys

import libcst
import pytest
from dump import dump

from torchlayout.program import nodes
from torchlayout.program.lowering import parse_block
from torchlayout.program.unit import CannotLower, Unit


def lowered(text: str) -> str:
    """Through libcst alone, so that syntax newer than the running Python is tested too."""
    return ", ".join(map(dump, parse_block(text)))


# Syntax of Python 3.12, which libcst reads from 1.1 on.
NEWER = pytest.mark.skipif(not hasattr(libcst, "TypeAlias"), reason="this libcst does not read it")
# Defaults of type parameters, of Python 3.13: from 1.4 on.
NEWEST = pytest.mark.skipif(
    "default" not in getattr(getattr(libcst, "TypeParam", None), "__dataclass_fields__", ()),
    reason="this libcst does not read it",
)


EXPRESSIONS = [
    ("None, True, False, ...", "Sequence(tuple, [None, True, False, Ellipsis])"),
    ("0x1f, 1_000, 0b11, 0o17", "Sequence(tuple, [31, 1000, 3, 15])"),
    ("1e3, 1.5, .5, 2j", "Sequence(tuple, [1000.0, 1.5, 0.5, 2j])"),
    ("'a\\n', r'\\n', b'x', 'a' 'b', b'a' b'b'", "Sequence(tuple, ['a\\n', '\\\\n', b'x', 'ab', b'ab'])"),
    ("x.view(1, *a, k=2, **d)", "Call(Attribute(x, view), [1, *a, k=2, **d])"),
    ("f(x for x in y)", "Call(f, [Comprehension(generator, x, [Clause(x, y)])])"),
    ("x[1]", "Subscript(x, 1)"),
    ("x[1,]", "Subscript(x, Sequence(tuple, [1]))"),
    ("x[()]", "Subscript(x, Sequence(tuple))"),
    ("x[:, ::2, a:b:c, ...]", "Subscript(x, Sequence(tuple, [Slice(), Slice(2), Slice(a, b, c), Ellipsis]))"),
    ("x[*a]", "Subscript(x, Sequence(tuple, [Starred(a)]))"),
    ("x[*a, 1]", "Subscript(x, Sequence(tuple, [Starred(a), 1]))"),
    ("x[a := 1]", "Subscript(x, Walrus(a, 1))"),
    ("()", "Sequence(tuple)"),
    ("[1, *a]", "Sequence(list, [1, Starred(a)])"),
    ("{1, 2}", "Sequence(set, [1, 2])"),
    ("{1: 2, **d}", "Mapping([[1, 2], [None, d]])"),
    ("{}", "Mapping()"),
    ("a + b * c - d", "Binary(-, Binary(+, a, Binary(*, b, c)), d)"),
    ("a @ b // c % d ** -e", "Binary(%, Binary(//, Binary(@, a, b), c), Binary(**, d, Unary(-, e)))"),
    ("a << 1 | b & ~c ^ d >> 2", "Binary(|, Binary(<<, a, 1), Binary(^, Binary(&, b, Unary(~, c)), Binary(>>, d, 2)))"),
    ("not +a", "Unary(not, Unary(+, a))"),
    ("a < b <= c", "Compare(a, [[<, b], [<=, c]])"),
    ("a is not b not in c", "Compare(a, [[is not, b], [not in, c]])"),
    ("a is b in c == d != e >= f > g", "Compare(a, [[is, b], [in, c], [==, d], [!=, e], [>=, f], [>, g]])"),
    ("a and b and c or d", "BoolOp(or, [BoolOp(and, [a, b, c]), d])"),
    ("a if b else c", "Conditional(b, a, c)"),
    ("lambda: 0", "Lambda(0)"),
    (
        "lambda a, /, b=1, *c, d, e=2, **f: a",
        (
            "Lambda([Param(a, positional), Param(b, positional, 1), Param(c, *), Param(d, keyword), "
            "Param(e, keyword, 2), Param(f, **)], a)"
        ),
    ),
    ("lambda *, a: a", "Lambda([Param(a, keyword)], a)"),
    ("[a for b in c if d if e for f in g]", "Comprehension(list, a, [Clause(b, c, [d, e]), Clause(f, g)])"),
    ("{a for b in c}", "Comprehension(set, a, [Clause(b, c)])"),
    ("{a: b for a, b in c}", "Comprehension(dict, Sequence(tuple, [a, b]), [Clause(Sequence(tuple, [a, b]), c)])"),
    ("(a := 1)", "Walrus(a, 1)"),
    ("f'a'", "Opaque()"),
    ("f'{a.b!r:>{c}}' 'x' f'{d}'", "Opaque([Opaque([Attribute(a, b), c]), Opaque([d])])"),
    pytest.param("f'{f'{a}'}'", "Opaque([Opaque([a])])", marks=NEWER),
    ("f'{a=}{{b}}'", "Opaque([a])"),
    ("((a))", "a"),
    ("ﬁ.ﬂ", "Attribute(fi, fl)"),
    ("9" * 5000, "Opaque()"),
    ("'\\N{no such name}'", "Opaque()"),
]


@pytest.mark.parametrize(("text", "expected"), EXPRESSIONS)
def test_expressions(text: str, expected: str) -> None:
    assert lowered(text + "\n") == f"Evaluate({expected})"


STATEMENTS = [
    ("pass", ""),
    ("a; b", "Evaluate(a), Evaluate(b)"),
    ("a = b, = c", "Assign([a, Sequence(tuple, [b])], c)"),
    ("a, *b = c", "Assign([Sequence(tuple, [a, Starred(b)])], c)"),
    ("a: b", "Assign([a], b)"),
    ("a.b: c = d", "Assign([Attribute(a, b)], d, c)"),
    *(
        (f"a {op}= b", f"AugAssign(a, {op}, b)")
        for op in ["+", "-", "*", "@", "/", "//", "%", "**", "<<", ">>", "&", "|", "^"]
    ),
    ("return", "Return()"),
    ("return a, b", "Return(Sequence(tuple, [a, b]))"),
    ("raise", "Raise()"),
    ("raise a from b", "Raise([a, b])"),
    ("break\ncontinue", "Jump(break), Jump(continue)"),
    ("assert a, b", "Assert(a, b)"),
    ("assert a", "Assert(a)"),
    ("del a", "Delete([a])"),
    ("del a.b, c[0]", "Delete([Attribute(a, b), Subscript(c, 0)])"),
    ("del (a, [b])", "Delete([a, Sequence(list, [b])])"),
    ("global a, b\nnonlocal c", "Scope(global, [a, b]), Scope(nonlocal, [c])"),
    ("import a.b.c, d as e, f.g as h", "Import([[a, a], [e, d], [h, f.g]])"),
    ("from a.b import c, d as e", "Import([[c, a.b.c], [e, a.b.d]])"),
    ("from . import a", "Import([[a, .a]])"),
    ("from ..a import b", "Import([[b, ..a.b]])"),
    ("from ... import (a as b,)", "Import([[b, ...a]])"),
    ("from a import *", "Import([[*, a]])"),
    ("if a: b\nelif c: d\nelse: e", "If(a, [Evaluate(b)], [If(c, [Evaluate(d)], [Evaluate(e)])])"),
    ("for a, b in c:\n  d\nelse:\n  e", "For(Sequence(tuple, [a, b]), c, [Evaluate(d)], [Evaluate(e)])"),
    ("for a in *b, c: d", "For(a, Sequence(tuple, [Starred(b), c]), [Evaluate(d)])"),
    ("while a: b\nelse: c", "While(a, [Evaluate(b)], [Evaluate(c)])"),
    (
        "try: a\nexcept b as c: d\nexcept (e, f): g\nexcept: h\nelse: i\nfinally: j",
        (
            "Try([Evaluate(a)], [Handler(b, c, [Evaluate(d)]), Handler(Sequence(tuple, [e, f]), [Evaluate(g)]), "
            "Handler([Evaluate(h)])], [Evaluate(i)], [Evaluate(j)])"
        ),
    ),
    ("try: a\nexcept* b: c", "Try([Evaluate(a)], [Handler(b, [Evaluate(c)])])"),
    ("with a as b, c: d", "With([[a, b], [c, None]], [Evaluate(d)])"),
    ("with (a as (b, c), d as e): f", "With([[a, Sequence(tuple, [b, c])], [d, e]], [Evaluate(f)])"),
    ("async def f():\n async with a: await b", "Function(f, [With([[a, None]], [Evaluate(Await(b))])], True)"),
    ("async def f():\n async for a in b: yield a", "Function(f, [For(a, b, [Evaluate(Yield(a))])], True, True)"),
    ("def f(): return (yield)", "Function(f, [Return(Yield())], True)"),
    ("def f(): yield from a", "Function(f, [Evaluate(Yield(a, True))], True)"),
    (
        "def f():\n def g(): yield\n lambda: (yield)",
        "Function(f, [Function(g, [Evaluate(Yield())], True), Evaluate(Lambda(Yield()))])",
    ),
    (
        "@a\n@b.c(d)\ndef f(a: b = c, *d: e, **g: h) -> i: pass",
        (
            "Function(f, [Param(a, positional, c, b), Param(d, *, e), Param(g, **, h)], "
            "[a, Call(Attribute(b, c), [d])], i)"
        ),
    ),
    ("def f(*a: *b): pass", "Function(f, [Param(a, *, Starred(b))])"),
    ("@a\nclass A(b.C, *d, k=e):\n  x = 1", "Class(A, [Attribute(b, C), *d, k=e], [Assign([x], 1)], [a])"),
    ("class A: pass", "Class(A)"),
    pytest.param("type X[T: a] = b[T]", "Assign([X], Opaque())", marks=NEWER),
    pytest.param(
        "def f[T: (a, b) = c, *Ts = *d, **P](x: T): pass", "Function(f, [Param(x, positional, T)])", marks=NEWEST
    ),
    pytest.param("class A[T](B[T]): x: T", "Class(A, [Subscript(B, T)], [Assign([x], T)])", marks=NEWER),
]


@pytest.mark.parametrize(("text", "expected"), STATEMENTS)
def test_statements(text: str, expected: str) -> None:
    assert lowered(text + "\n") == expected


PATTERNS = [
    ("1", "1"),
    ("-1", "Unary(-, 1)"),
    ("1 + 2j", "Binary(+, 1, 2j)"),
    ("None", "None"),
    ("'a' 'b'", "'ab'"),
    ("a.b", "Attribute(a, b)"),
    ("_", "True"),
    ("a", "[a], True"),
    ("(a)", "[a], True"),
    ("a if b", "[a], True, b"),
    ("1 as a", "[a]"),
    ("(1 | 2)", ""),
    ("1 | a", "[a], True"),
    ("[a, *b, 1]", "[a, b]"),
    ("a, b", "[a, b]"),
    ("[*_]", ""),
    ("[]", ""),
    ("{'k': a, b.c: [d], **e}", "[a, d, e]"),
    ("A(a, b=c, d=E(f))", "[a, c, f]"),
    ("[a] | {'x': a}", "[a]"),
    ("match", "[match], True"),
    ("case", "[case], True"),
]


@pytest.mark.parametrize(("pattern", "expected"), PATTERNS)
def test_patterns(pattern: str, expected: str) -> None:
    text = f"match x:\n  case {pattern}: y\n"
    parts = f"{expected}, [Evaluate(y)]" if expected else "[Evaluate(y)]"
    assert lowered(text) == f"Match(x, [Case({parts})])"


@pytest.mark.parametrize("text", ["t'{a.b:{c}}'", "rt'a{b!r}'"])
def test_template_strings_where_libcst_reads_them(text: str) -> None:
    if not hasattr(libcst, "TemplatedString"):
        pytest.skip("this libcst does not")
    assert lowered(text + "\n").startswith("Evaluate(Opaque(")


@pytest.mark.parametrize("text", ["t'a' t'b'", "('a' 'b').c(t'a' t'{b}')"])
def test_what_makes_libcst_fail_is_not_lowered(text: str) -> None:
    """libcst 1.9 raises its own "Logic error" on these; a later one may read them."""
    try:
        parse_block(text + "\n")
    except CannotLower:
        pass


def test_soft_keywords_are_names_too() -> None:
    block = parse_block("match = type(case)\nmatch match:\n  case case: match.case\ntype = _\n")
    assert [statement.span for statement in block] == [(1, 0, 1, 5), (2, 0, 2, 5), (4, 0, 4, 4)]
    match = block[1]
    assert isinstance(match, nodes.Match)
    assert match.subject.span == (2, 6, 2, 11)
    inner = match.cases[0].body[0]
    assert isinstance(inner, nodes.Evaluate)
    assert inner.value.span == (3, 19, 3, 23)


@pytest.mark.parametrize("text", ["x = = 1\n", "(x): int\n", "print x\n", "def f(:\n", "x\x00\n"])
def test_what_libcst_refuses_is_not_lowered(text: str) -> None:
    with pytest.raises(CannotLower):
        parse_block(text)


# ---------------------------------------------------------------- spans of whole constructs
def test_spans_of_operators_and_keywords() -> None:
    line = "    y = a @ b if not c else d[1:2] < e is not f and g"
    (loop,) = parse_block(f"for x in a:\n{line}\n    z += 1\n")
    assert isinstance(loop, nodes.For)
    assert loop.span == (1, 0, 1, 3)
    first, second = loop.body
    assert isinstance(first, nodes.Assign) and isinstance(second, nodes.AugAssign)
    assert second.span == (3, 6, 3, 8)
    conditional = first.value
    assert isinstance(conditional, nodes.Conditional)
    both = conditional.orelse
    assert isinstance(both, nodes.BoolOp)
    compare = both.values[0]
    assert isinstance(compare, nodes.Compare)
    places = [
        (conditional, "if"), (conditional.body, "@"), (conditional.test, "not"), (both, "and"), (compare, "<"),
        (compare.left, "["), (compare.rest[0][1], "e"),
    ]  # fmt: skip
    for node, word in places:
        column = line.index(f" {word} ") + 1 if word != "[" else line.index("[")
        assert node.span == (2, column, 2, column + len(word))


def test_the_name_in_a_chain_over_lines_is_where_the_call_stands() -> None:
    unit = Unit(
        "x", "def f(x):\n    return (\n        x.t()\n        .view(  # .view\n            6\n        )\n    )\n"
    )
    function = unit.lowered_function(unit.outline.top[0])
    result = function.body[0]
    assert isinstance(result, nodes.Return) and result.value is not None
    assert result.value.span == (4, 9, 4, 13)


def test_a_decorator_in_parentheses_over_lines() -> None:
    unit = Unit("x", "y = 1\n@(\n    a\n    .b\n)\ndef f(): return y\n")
    function = unit.lowered_function(unit.outline.top[0])
    assert dump(function) == "Function(f, [Return(y)], [Attribute(a, b)])"
    assert function.decorators[0].span == (4, 5, 4, 6)


def test_a_last_line_without_end() -> None:
    unit = Unit("x", "class A:\n    def f(self):\n        return x.y")
    assert (
        dump(unit.lowered(unit.outline.entries[1]))
        == "Function(f, [Param(self, positional)], [Return(Attribute(x, y))])"
    )


def test_blocks_leave_definitions_where_they_stand() -> None:
    unit = Unit(
        "x",
        "import a\n\n@a.b\ndef f():\n    pass\n\nx = f()\nif x:\n    def g(): pass\n"
        "class A:\n    '''doc'''\n    y = 1; z = 2\n    def m(self): pass\n    w = (y,\n        z)\ndel f\n",
    )
    assert ", ".join(map(dump, unit.module_block())) == (
        "Import([[a, a]]), Definition(f), Assign([x], Call(f)), If(x, [Function(g)]), Definition(A), Delete([f])"
    )
    known = unit.klass("A")
    assert known is not None
    assert ", ".join(map(dump, unit.class_block(known))) == (
        "Evaluate('doc'), Assign([y], 1), Assign([z], 2), Definition(m), Assign([w], Sequence(tuple, [y, z]))"
    )
    definition = unit.class_block(known)[3]
    assert isinstance(definition, nodes.Definition)
    assert unit.source.slice(definition.span) == "m"
    assert unit.module_block()[-1].span.line == 16


def test_a_class_body_on_the_line_of_its_head() -> None:
    unit = Unit("x", "class A: x = 1; y = 2\n")
    known = unit.klass("A")
    assert known is not None
    assert ", ".join(map(dump, unit.class_block(known))) == "Assign([x], 1), Assign([y], 2)"


def test_an_empty_module() -> None:
    assert Unit("x", "").module_block() == ()
    assert Unit("x", "# nothing\n").module_block() == ()


def test_lowering_is_done_once() -> None:
    unit = Unit("x", "def f(): pass\n")
    entry = unit.outline.top[0]
    assert unit.lowered(entry) is unit.lowered(entry)
    assert unit.module_block() is unit.module_block()


def test_the_garbage_collector_is_left_as_it_was() -> None:
    import gc

    assert gc.isenabled()
    with pytest.raises(CannotLower):
        parse_block("x = = 1\n")
    assert gc.isenabled()
    gc.disable()
    try:
        parse_block("x = 1\n")
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
def test_new_syntax_from_a_file() -> None:
    unit = Unit("x", "def f[T](x: T) -> T:\n    return f'{x['view']}'.view(x)\n")
    function = unit.lowered_function(unit.outline.top[0])
    result = function.body[0]
    assert isinstance(result, nodes.Return) and result.value is not None
    assert unit.source.slice(result.value.span) == "view"
    assert result.value.span.column == 26
