"""Every span of real files, compared with what `ast` says of the same text."""

from __future__ import annotations

import importlib.util
import random
import sysconfig
from pathlib import Path

import pytest
from compare import compare
from hypothesis import given
from hypothesis import strategies as st

from torchlayout.program.spans import Span
from torchlayout.program.unit import Unit

STANDARD = Path(sysconfig.get_paths()["stdlib"])
MODULES = [
    "ast", "argparse", "asyncio/base_events", "asyncio/tasks", "collections/__init__", "contextlib", "csv",
    "dataclasses", "decimal", "difflib", "email/header", "enum", "fractions", "functools", "heapq",
    "http/client", "inspect", "json/decoder", "logging/__init__", "pathlib", "pprint", "random", "re",
    "shutil", "statistics", "string", "tempfile", "textwrap", "traceback", "typing", "urllib/parse", "weakref",
]  # fmt: skip
PACKAGES = ["hypothesis", "click", "libcst", "torch"]


@pytest.mark.parametrize("name", MODULES)
def test_standard_library(name: str) -> None:
    path = STANDARD / f"{name}.py"
    if not path.exists():
        pytest.skip("made a package, or taken away, in this Python")
    compare(Unit(str(path), path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("package", PACKAGES)
def test_installed_packages(package: str) -> None:
    try:
        found = importlib.util.find_spec(package)
    except ImportError:
        found = None
    if found is None or not found.submodule_search_locations:
        pytest.skip(f"{package} is not installed")
    root = Path(found.submodule_search_locations[0])
    paths = sorted((root / "nn" / "modules" if package == "torch" else root).rglob("*.py"))
    for path in random.Random(package).sample(paths, min(8, len(paths))):
        compare(Unit(str(path), path.read_text(encoding="utf-8")))


@pytest.mark.full
def test_the_whole_standard_library() -> None:
    for path in sorted(STANDARD.rglob("*.py")):
        try:
            unit = Unit(str(path), path.read_text(encoding="utf-8"))
            unit.tree  # noqa: B018
        except (SyntaxError, UnicodeDecodeError):
            continue
        if path.name != "test_grammar.py" and "site-packages" not in path.parts:  # libcst refuses `(x): int`
            compare(unit)


SNIPPETS = [
    "x = a.view(1).view(2).view(3)\n",
    "x = (a\n  .view(1)  # .view(2)\n  .\n  view\n  (3))\n",
    "x = 'é.view(1)', é.view(é), 日本.view('日')\n",
    "a.view(view=a, a=view).view[a:view:a]\n",
    "[a for a in a if a.a for b in a.b]\n",
    "{a: b for a, b in a.b}, {a for a in b}, (a for a in b)\n",
    "f = lambda a, *b, c=a, **d: a.b(c)(d)\n",
    "if (a := b.a) is not a.b not in (c,): pass\n",
    "a.b = a.b[a.b] = a = b\n",
    "(a.b), c[a], *d = a\n",
    "a.b += a.b; a @= b @ a; b **= a ** -b ** ~a\n",
    "a < b.c <= (a < b) != c\n",
    "@a.b\n@a(b.c)\nclass A(a.A, metaclass=b.c):\n    a: a.b = a.b\n    b: a\n",
    "@a\n# a.b\n@b.a\nasync def a(a, /, b: a.b = a.b, *, c=a) -> a.c:\n    async for a in b: await a.b\n",
    "def f():\n\tif a:\n\t\treturn a.b\n  # odd\n\treturn b.a\n",
    "def f():\n    '''\nview\n    '''\n    return a.view\n",
    "class A:\n    def f(self): return \\\n  self.view(1)\n\n    g = f\n",
    "try: a.b\nexcept a.E as e: e.a\nelse: b\nfinally: c\n",
    "match a.b:\n    case [a, *_]: a.c\n    case a.B(c=1) | 2 if a.d: b\n    case {'a': c, **d}: c\n    case _: d\n",
    "match = case = type = _ = match.case(type)[_]\n",
    "with a.b as a.c, (b) as (c, d): pass\n",
    "with (a.b as c, d.e as f): pass\n",
    "del a.b, (c, d[e])\nassert a.b, c.d\nraise a.b from c.d\n",
    "global_ = a; print(a, *b, c=d, **e)\n",
    "x = a if b.a else c.a if d else e\n",
    "\fdef f():\n    a.b\n\f\n    c.d\n\x0cclass B:\n  \f    def g(self): return a.b\n",
    "x = '''\n'''.view(a), a\ny = b.view\n",
    "def f():\n  yield a.b\n  x = yield\n  y = yield from a.b\n",
    "x[a.b:c.d, ..., None, ::a], x[:], x[a,]\n",
    "for a.b in c.d: continue\nwhile a.b: break\n",
    "not a, -a.b, +b, ~ c\n",
    "(a)(b)((c))(d)[e](f)\n",
    "x = a.real.imag  .  T\n",
    "async def f():\n    async with a.b as c: return [x async for x in c.d if await x.e]\n",
    "ﬁ = ﬁ.ﬂ(ﬁ)\n",
    "a = b'a' b'b', 'a' \"b\" 'c', ('a'\n 'b')\n",
]


@pytest.mark.parametrize("text", SNIPPETS)
def test_snippets(text: str) -> None:
    compare(Unit("snippet", text))


@pytest.mark.parametrize("end", ["\r\n", "\r"])
@pytest.mark.parametrize("text", SNIPPETS)
def test_snippets_with_other_line_ends_and_a_byte_order_mark(text: str, end: str) -> None:
    compare(Unit("snippet", "\ufeff" + text.replace("\n", end)))


# What spans lines in strings or by backslash, or starts anew at a form feed, would change by indenting.
INDENTABLE = [text for text in SNIPPETS if not any(word in text for word in ("'''", "\f", "\\"))]


@pytest.mark.parametrize("text", INDENTABLE)
@pytest.mark.parametrize("head", ["class A:\n", "if é:\n", "def f(é):\n", "with 日:\n"])
def test_snippets_indented(text: str, head: str) -> None:
    compare(Unit("snippet", head + "".join(f"  {line}\n" for line in text.splitlines())))


# ---------------------------------------------------------------- made-up programs
NAMES = st.sampled_from(["a", "view", "é", "match", "T", "_", "x1"])


def _binary(parts: tuple[str, str, str]) -> str:
    return f"({parts[0]} {parts[1]} {parts[2]})"


EXPRESSIONS = st.recursive(
    NAMES | st.sampled_from(["1", "'view'", "'''é\nview'''", "...", "None", "b'x'", "1.5j"]),
    lambda inner: st.one_of(
        st.builds("{}\n.{}".format, inner.map("({})".format), NAMES),
        st.builds("({}).{}".format, inner, NAMES),
        st.builds("{}({}, {}={})".format, NAMES, inner, NAMES, inner),
        st.builds("{}.view({})  # view(a.\n".format, NAMES, inner),
        st.builds("{}[{}:{}, ...]".format, NAMES, inner, inner),
        st.tuples(inner, st.sampled_from(["+", "@", "and", "not in", "<", "is not", "**", ","]), inner).map(_binary),
        st.builds("(lambda {}: {})".format, NAMES, inner),
        st.builds("[{} for {} in {} if {}]".format, inner, NAMES, inner, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("({} := {})".format, NAMES, inner),
        st.builds("{{{}: {}, **{}}}".format, inner, inner, inner),
        st.builds("(- {})".format, inner),
    ),
    max_leaves=12,
)
SIMPLE = st.one_of(
    st.builds("{} = ({})".format, NAMES, EXPRESSIONS),
    st.builds("{}.{} += ({})".format, NAMES, NAMES, EXPRESSIONS),
    st.builds("({})".format, EXPRESSIONS),
    st.builds("return ({})".format, EXPRESSIONS),
    st.builds("({}); {}.view".format, EXPRESSIONS, NAMES),
)


def _indented(text: str) -> str:
    """Indents the first line only where the rest stands in brackets or strings, which it does here."""
    return "    " + text


@given(st.lists(SIMPLE, min_size=1, max_size=4), NAMES, st.sampled_from(["def f({}):\n", "if {}:\n  def g():\n"]))
def test_made_up_functions(statements: list[str], name: str, head: str) -> None:
    text = head.format(name) + "".join(_indented(statement) + "\n" for statement in statements)
    unit = Unit("made up", text if head.startswith("def") else text.replace("return ", ""))
    try:
        unit.tree  # noqa: B018
    except SyntaxError:  # a walrus where none may be, and the like
        return
    compare(unit)


def test_the_comparison_can_fail() -> None:
    unit = Unit("x", "def f(): a.view(1)\n")
    unit.lowered(unit.outline.top[0]).body[0].value.func.span = Span(1, 0, 1, 4)  # type: ignore[union-attr]
    with pytest.raises(AssertionError):
        compare(unit)
