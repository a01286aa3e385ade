"""No input makes the linter fail, hang, or answer differently the second time.

Ordinary code is turned into tensor code by renaming methods (`append` becomes `view`, and so on): every function then
holds something to analyze, in shapes of code that nobody wrote for this linter.
"""

from __future__ import annotations

import io
import random
import subprocess
import sys
import sysconfig
import tokenize
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from torchlayout.check.engine import analyze
from torchlayout.check.reading import UnreadableSource, read, split_lines
from torchlayout.check.results import FileResult
from torchlayout.check.settings import Settings

EVERYTHING = Settings(select=("LAY",), report_unused_suppressions=True)
OWN_SOURCES = sorted(Path(__file__).parents[2].joinpath("src", "torchlayout").rglob("*.py"))

RENAMED = {
    "append": "view",
    "get": "contiguous",
    "join": "transpose",
    "format": "permute",
    "items": "t",
    "startswith": "reshape",
    "strip": "clone",
    "split": "unbind",
    "read": "expand",
    "write": "add_",
    "update": "copy_",
    "match": "flatten",
    "group": "select",
    "path": "shape",
    "name": "T",
    "value": "mT",
}


def as_tensor_code(text: str) -> str:
    """The text with its methods renamed, an import of torch at the end, and a word for every rule."""
    for old, new in RENAMED.items():
        text = text.replace(f".{old}", f".{new}").replace(f"({old}", f"(torch.{new}")
    return text + "\nimport torch  # .view( .contiguous( reveal_layout\n"


def checked(text: str, where: object) -> FileResult:
    result = analyze(text, str(where), EVERYTHING, always_parse=True)
    failures = [finding.message for finding in result.findings if finding.code == "LAY901"]
    assert not failures, f"{where}: {failures}\n{result.notes[-1]}"
    lines = len(split_lines(text)) + 1
    for finding in result.findings:
        assert 1 <= finding.span.line <= finding.span.end_line <= lines, (where, finding)
    return result


@pytest.mark.parametrize("path", OWN_SOURCES[::6], ids=lambda path: path.name)
def test_ordinary_code_as_tensor_code(path: Path) -> None:
    text = as_tensor_code(path.read_text(encoding="utf-8"))
    assert checked(text, path) == checked(text, path)


def mangled(text: str, chance: random.Random) -> str:
    """The text with a few tokens dropped, doubled or swapped."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return text[: chance.randrange(len(text))]
    lines = text.splitlines(keepends=True)
    for token in sorted(chance.sample(tokens, min(3, len(tokens))), key=lambda token: token.start, reverse=True):
        (row, start), (end_row, end) = token.start, token.end
        if row != end_row or row > len(lines):
            continue
        line = lines[row - 1]
        change = {0: "", 1: line[start:end] * 2, 2: chance.choice(tokens).string}[chance.randrange(3)]
        lines[row - 1] = line[:start] + change + line[end:]
    return "".join(lines)


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


NESTED = {
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


FINDINGS = """import torch

def heads(x, mask):
    b, h, t, d = x.shape
    y = x.transpose(1, 2)
    if mask:
        y = y.flip(0)
    for _ in range(3):
        z = y.contiguous()
    return torch.randn(3, 4).t().view(12), y.view(b, t, h * d), z.contiguous()
"""


def test_the_same_whatever_the_hash_seed(tmp_path: Path) -> None:
    for number, path in enumerate(OWN_SOURCES[::10]):
        (tmp_path / f"f{number}.py").write_text(as_tensor_code(path.read_text(encoding="utf-8")), encoding="utf-8")
    (tmp_path / "g.py").write_text(FINDINGS, encoding="utf-8")
    code = (
        "from torchlayout.check.run import check_paths\nfrom torchlayout.check.settings import Settings\n"
        "for result in check_paths(['.'], Settings(select=('LAY',)), jobs=JOBS):\n    print(result.findings)\n"
    )
    outputs = set()
    for seed, jobs in (("0", 1), ("1", 1), ("4242", 2)):
        done = subprocess.run(
            [sys.executable, "-c", code.replace("JOBS", str(jobs))],
            cwd=tmp_path,
            env={"PYTHONHASHSEED": seed, "SYSTEMROOT": "", "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert "LAY101" in outputs.pop()


def installed() -> Iterator[Path]:
    """All Python of the standard library and of this environment."""
    for name in ("stdlib", "purelib"):
        yield from sorted(Path(sysconfig.get_path(name)).rglob("*.py"))


@pytest.mark.full
@pytest.mark.parametrize("renamed", [False, True], ids=["as it is", "as tensor code"])
def test_everything_installed(renamed: bool) -> None:
    count = 0
    for path in installed():
        try:
            text = read(str(path)).text
        except UnreadableSource:
            continue
        checked(as_tensor_code(text) if renamed else text, path)
        count += 1
    assert count > 1000
