"""No input makes the linter fail. (What a failure of its own becomes is told in tests/check/test_engine.py.)"""

from __future__ import annotations

import random
import sys
import warnings
from pathlib import Path

import pytest
from checking import EVERYTHING, OWN_SOURCES, as_is, as_tensor_code, checked, installed, mangled, sound, texts_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from torchlayout.check.engine import analyze


@pytest.mark.parametrize("path", OWN_SOURCES[::6], ids=lambda path: path.name)
def test_ordinary_code_as_tensor_code(path: Path) -> None:
    text = as_tensor_code(path.read_text(encoding="utf-8"))
    assert checked(text, path) == checked(text, path)


@pytest.mark.parametrize("seed", range(60))
def test_mangled_code(seed: int) -> None:
    chance = random.Random(seed)
    path = chance.choice(OWN_SOURCES)
    checked(mangled(as_tensor_code(path.read_text(encoding="utf-8")), chance), f"{path.name} mangled with {seed}")


NAMES = st.sampled_from(["x", "torch", "self", "f", "view"])


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Valid Python of any kind, around calls that rules look for."""
    import hypothesmith

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        body = draw(hypothesmith.from_node())
    name = draw(NAMES)
    return f"import torch\n{body}\ndef {name}(x, self):\n    {name} = x.t().view(6)\n    return {name}.contiguous()\n"


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(programs())
def test_any_valid_program(source: str) -> None:
    checked(source, "a generated program")


DEEP = 199
"""Brackets inside one another that Python itself still takes."""

NESTED = {
    "199 parentheses": "x = " + "(" * DEEP + "y.view(6)" + ")" * DEEP,
    "199 lists": "x = torch.stack(" + "[" * DEEP + "y.t()" + "]" * DEEP + ").contiguous()",
    "199 calls": "x = " + "torch.relu(" * DEEP + "y.t()" + ")" * DEEP + ".contiguous()",
    "199 subscripts": "x = " + "y[" * DEEP + "0" + "]" * DEEP + ".contiguous()",
    "199 dicts": "x = " + "{'a': " * DEEP + "y.t().contiguous()" + "}" * DEEP,
    "199 lambdas": "x = " + "lambda: (" * DEEP + "y.t().contiguous()" + ")" * DEEP,
    "199 comprehensions": "x = " + "[" * DEEP + "y.t().contiguous()" + " for a in b]" * DEEP,
    "500 conditions": "x = " + "y.t() if c else " * 500 + "y.contiguous()",
    "500 signs": "x = (" + "-" * 500 + "y.t()).contiguous()",
    "500 binary operators": "x = " + "y.t() @ " * 500 + "y.contiguous()",
    "500 attributes": "x = y" + ".T" * 500 + ".contiguous()",
    "parentheses": "x = " + "(" * 90 + "y.view(6)" + ")" * 90,
    "lists": "x = " + "[" * 90 + "y.view(6)" + "]" * 90,
    "calls": "x = " + "f(" * 90 + "y.view(6)" + ")" * 90,
    "chain": "x = y" + ".t()" * 3000 + ".view(6)",
    "sum": "x = " + " + ".join(["y.view(6)"] * 3000),
    "blocks": "".join("    " * depth + "if y.view(6):\n" for depth in range(95)) + "    " * 95 + "pass",
    "functions": "".join("    " * depth + f"def f{depth}(y):\n" for depth in range(95)) + "    " * 95 + "y.view(6)",
    "loops": "".join("    " * depth + f"for a{depth} in y:\n" for depth in range(19))
    + "    " * 19
    + "y = y.t().view(6)",
    "branches": "".join("if c:\n    y = y.t()\nelse:\n    y = y.flip(0)\n" for _ in range(300)) + "y.view(6)",
    "elif": "if c:\n    pass\n" + "".join(f"elif y.view({n}):\n    y = y.t()\n" for n in range(400)),
    "long function": "".join(f"y{n} = y{n and n - 1}.t().view({n})\n" for n in range(2000)),
    "many functions": "".join(f"def f{n}(y):\n    return f{n + 1}(y.t().view({n}))\n" for n in range(300)),
    "recursion": "def f(y):\n    return f(f(g(y.t()))).view(6)\ndef g(y):\n    return f(g(y)).contiguous()",
    "huge numbers": f"y.view({'9' * 4000}, -{'9' * 4000})\ny.view(1 << 100000)\ny.view(9 ** 9 ** 9)",
    "wide call": "y.view(" + ", ".join(["1"] * 5000) + ")",
    "wide tuple": "y = torch.randn("
    + ", ".join(["2"] * 600)
    + ").permute("
    + ", ".join(map(str, range(600)))
    + ").view(6)",
    "one long line": "y = torch.randn(2, 3)\n" + "; ".join(["y.t().view(6)"] * 1000),
}


@pytest.mark.parametrize("shape", NESTED)
def test_extreme_shapes(shape: str) -> None:
    body = NESTED[shape]
    inside = "def function(y, c):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    checked("import torch\n" + body + "\n", shape)
    checked("import torch\n" + inside, shape)


SYNTAX = {
    "walrus": "if (y := torch.randn(2, 3)) is not None: y.t().view(6)",
    "positional only": "def f(a, /, b, *, c): return a.view(b)",
    "match": "match y:\n    case [a, *rest] | {'k': a, **rest} if a: a.view(6)\n    case P(a=1) as q: q.view(6)",
    "except star": "try:\n    y.view(6)\nexcept* ValueError as e:\n    y.contiguous()",
    "parenthesized with": "with (open(a) as b, c as d):\n    b.view(6)",
    "type parameters": "def f[T: int, *Ts, **P](a: T) -> T: return a.view(6)\nclass C[T]: pass\ntype A[T] = list[T]",
    "type parameter defaults": "class C[T = int]:\n    def f(self, x): return x.view(6)",
    "nested f-string": "f'{y.view(6)!r:>{w}} {'a'}'",
    "f-string": "f'{y.view(6)=} {{}}' rf'{y.t()}'",
    "t-string": "t'{y.view(6)}'",
    "except without parentheses": "try:\n    y.view(6)\nexcept ValueError, TypeError:\n    pass",
    "async": "async def f(y):\n    async with y as z:\n        return [await a.view(6) async for a in z]",
    "star index": "y[*a, 1:].view(6)",
    "decorators": "@(lambda f: f)\n@y[0].z\ndef f(x): x.view(6)",
    "lambda": "f = lambda *a, b=y.view(6), **k: (yield)",
    "global": "def f():\n    global y\n    nonlocal_ = y.view(6)\n    del y",
    "print statement": "print y.view(6)",
    "annotations": "y: torch.Tensor = torch.randn(2, 3)\ny.z: int\ny[0]: int = 3\ny.view(6)",
    "chained comparison": "a < y.view(6) < b in c is not d",
    "unicode": "été = torch.randn(2, 3)\nété.t().view(6)  # naïve 𝒳\n𝒳 = '\U0001f600'; 𝒳.view(6)",
    "form feed": "\x0cy.view(6)\n\x0c\ndef f(y):\n\x0c    return y.view(6)",
    "tabs": "if y:\n\ty.view(6)\n\tif y:\n\t        y.view(6)",
    "continuation": "y \\\n  . \\\n view(6)",
    "no newline": "y.view(6)",
    "semicolons": "y; y.view(6); y.contiguous();",
}


@pytest.mark.parametrize("name", SYNTAX)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_syntax(name: str, end: str) -> None:
    """What this Python or libcst cannot read is a syntax error or nothing, never a failure."""
    checked(("import torch\n" + SYNTAX[name] + "\n").replace("\n", end), name)


STARTS = [b"\xef\xbb\xbf", b"\xff\xfe", b"# coding: rot13\n", b"# coding: utf-16\n", b"# coding: latin-1\n"]
BYTES = st.one_of(
    st.binary(max_size=200),
    st.binary(max_size=80).map(lambda part: b"import torch\nx.view(6)  # " + part + b"\nx.t().contiguous()\n"),
    st.sampled_from(
        [b"\xef\xbb\xbf", b"\xff\xfe", b"# coding: rot13\n", b"# coding: utf-16\n", b"# coding: latin-1\n"]
    ).flatmap(lambda start: st.binary(max_size=80).map(lambda part: start + b"import torch\n" + part + b".view(6)\n")),
)


@given(BYTES)
def test_any_bytes(data: bytes) -> None:
    sound(analyze(data, "bytes", EVERYTHING, always_parse=True), len(data) + 2, data)


@given(st.text(max_size=120))
def test_any_text(text: str) -> None:
    for source in (
        text,
        f"import torch\nx.view('{text}')\n",
        f"import torch\ntorch.einsum({text!r}, x.t()).contiguous()\n",
    ):
        checked(source, repr(source))


BIG = {
    "parentheses": "(" * 500_000 + ")" * 500_000,
    "open brackets": "[" * 1_000_000,
    "a string": "'" + "x" * 1_000_000 + "'",
    "a comment": "#" * 1_000_000,
    "blank lines": "\n" * 1_000_000,
    "backslashes": "y = x" + "\\\n" * 300_000 + ".t().contiguous()",
    "blanks": "y = x.t" + " " * 500_000 + "()" + " " * 500_000 + ".contiguous()",
    "one name": "y" * 1_000_000 + ".view(6)",
    "noqa": "y.view(6)  " + "# noqa: LAY101," * 60_000,
    "dots": "y" + ".t" * 300_000 + "()",
}


@pytest.mark.parametrize("name", BIG)
def test_a_megabyte(name: str) -> None:
    if name == "dots" and sys.version_info < (3, 11):
        pytest.skip("Python 3.10 itself dies of it, in ast.parse")
    checked(f"import torch\ny.view(6).contiguous()\n{BIG[name]}\n", name)


SAMPLE = 60
"""Installed files that are checked in the ordinary run, the same ones each time."""


@pytest.fixture(scope="module")
def sample() -> list[Path]:
    return sorted(random.Random(0).sample(installed(), SAMPLE))


def test_some_that_is_installed(sample: list[Path]) -> None:
    for path, text in texts_of(sample):
        checked(as_is(text), path)


def test_some_that_is_installed_as_tensor_code(sample: list[Path]) -> None:
    for path, text in texts_of(sample[::3]):
        checked(as_tensor_code(text), path)


@pytest.mark.full
@pytest.mark.parametrize("change", ["as it is", "as tensor code", "mangled"])
def test_all_that_is_installed(change: str) -> None:
    chance = random.Random(0)
    count = 0
    for path, text in texts_of(installed()):
        code = as_is(text) if change == "as it is" else as_tensor_code(text)
        checked(mangled(code, chance) if change == "mangled" else code, f"{path} {change}")
        count += 1
    assert count > 1000
