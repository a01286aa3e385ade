"""Nothing crashes, overflows or hangs: deep nesting, long functions, mutated files, broken text; and what it costs."""

from __future__ import annotations

import ast
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import libcst
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchlayout.program import expressions, places, statements, tokens
from torchlayout.program.depth import MAX_BRACKETS, MAX_CHAIN, MAX_DEPTH
from torchlayout.program.unit import CannotLower, Unit

WORDS = [".view(", ".contiguous("]
FILES = [Path(module.__file__ or "") for module in (expressions, statements, places, tokens, ast, random)]


def visit(text: str) -> str:
    """Everything one can ask of a file; says how far it went."""
    unit = Unit("x", text)
    try:
        unit.mark_sinks(WORDS)
    except SyntaxError:
        return "no Python"
    outcome = "lowered"
    for entry in unit.outline.entries:
        if entry.nested:
            continue
        try:
            unit.lowered(entry)
            if entry.is_class:
                unit.class_block(entry)
        except CannotLower:
            outcome = "refused"
    try:
        unit.module_block()
    except CannotLower:
        outcome = "refused"
    return outcome


# ---------------------------------------------------------------- nesting
NESTED: dict[str, Callable[[int], str]] = {
    "attributes": lambda n: "x" + ".b" * n,
    "calls": lambda n: "f" + "()" * n,
    "subscripts": lambda n: "x" + "[0]" * n,
    "sum": lambda n: "1" + "+1" * n,
    "power": lambda n: "1" + "**1" * n,
    "not": lambda n: "not " * n + "x",
    "minus": lambda n: "-" * n + "x",
    "lambda": lambda n: "lambda:" * n + "x",
    "conditional": lambda n: "a if b else " * n + "x",
    "parentheses": lambda n: "(" * n + "x" + ")" * n,
    "lists": lambda n: "[" * n + "]" * n,
    "dicts": lambda n: "{1:" * n + "1" + "}" * n,
    "arguments": lambda n: "f(a," * n + "x" + ")" * n,
    "keywords": lambda n: "f(a=" * n + "x" + ")" * n,
    "indices": lambda n: "x[" * n + "1" + "]" * n,
    "walrus": lambda n: "(a:=" * n + "1" + ")" * n,
    "generators": lambda n: "(a for a in " * n + "b" + ")" * n,
    "and": lambda n: "a" + " and a" * n,
    "comparison": lambda n: "a" + "<a" * n,
    "strings": lambda n: "x = (" + "'a' " * n + ")",
    "formatted": lambda n: "x = (" + "f'{a}' " * n + ")",
    "clauses": lambda n: "[x" + " for x in y" * n + "]",
    "elif": lambda n: "if a: pass\n" + "elif a: pass\n" * n,
    "else": lambda n: (
        "".join(f"{' ' * i}if a: pass\n{' ' * i}else:\n" for i in range(min(n, 98))) + " " * min(n, 98) + "a"
    ),
    "functions": lambda n: "".join(f"{' ' * i}def f():\n" for i in range(min(n, 98))) + " " * min(n, 98) + "a",
    "list patterns": lambda n: "match x:\n case " + "[" * n + "a" + "]" * n + ": pass",
    "parenthesised patterns": lambda n: "match x:\n case " + "(" * n + "a" + ")" * n + ": pass",
    "class patterns": lambda n: "match x:\n case " + "A(" * n + "a" + ")" * n + ": pass",
    "alternatives": lambda n: "match x:\n case 1" + "|1" * n + ": pass",
    "deleted tuples": lambda n: "del " + "(" * n + "a" + ",)" * n,
    "imports": lambda n: "import a" + ".b" * min(n, 5000),
    "targets": lambda n: "a = " * n + "1",
    "semicolons": lambda n: "x;" * n + "x",
    "with": lambda n: "with a" + ", a" * n + ": pass",
    "handlers": lambda n: "try: pass\n" + "except A: pass\n" * n,
}


@pytest.mark.parametrize("kind", NESTED)
def test_nesting_neither_crashes_nor_hangs(kind: str) -> None:
    """In a process of its own, for a native stack that overflows takes the process with it."""
    texts = [NESTED[kind](count) for count in (5, 30, 200, 2_000, 10_000)]
    texts += ["def f():\n" + "".join(f"    {line}\n" for line in text.split("\n")) for text in texts]
    here = Path(__file__).parent
    program = f"import sys; sys.path[:0] = {[str(here), *sys.path]!r}; import test_robustness as t\n"
    program += f"for text in {texts!r}: print(t.visit(text))\n"
    done = subprocess.run(
        [sys.executable, "-"], input=program, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stdout.split("\n")) == len(texts) + 1
    assert done.stdout.startswith("lowered\n" if "pattern" not in kind or "parenth" in kind else ("lowered", "refused"))


@pytest.mark.parametrize(
    "text",
    [
        "(" * 500_000 + ")" * 500_000,
        "[" * 1_000_000,
        "x = " + "f'{" * 100_000,
        "def " * 250_000,
        "'" * 999_999,
        "#" * 1_000_000,
        "\n" * 1_000_000,
        "\f" * 1_000_000,
        "x." * 500_000,
    ],
    ids=lambda text: text[:8],
)
def test_a_megabyte_of_nonsense(text: str) -> None:
    start = time.process_time()
    visit(text)
    tokens.comments(text)
    assert time.process_time() - start < 60


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("f(" * (MAX_DEPTH - 10) + ")" * (MAX_DEPTH - 10), "lowered"),
        ("f(" * (MAX_DEPTH + 10) + ")" * (MAX_DEPTH + 10), "refused"),
        ("a" + " or a" * (MAX_CHAIN - 1), "lowered"),
        ("a" + " or a" * MAX_CHAIN, "refused"),
        ("match x:\n  case [a, A(b)] if " + "f(" * 20 + ")" * 20 + ": " + "f(" * 20 + ")" * 20, "lowered"),
        ("match x:\n  case " + "(" * (MAX_BRACKETS + 1) + "a" + ")" * (MAX_BRACKETS + 1) + ": pass", "refused"),
        ("del " + "(" * (MAX_BRACKETS + 1) + "a" + ")" * (MAX_BRACKETS + 1), "refused"),
        ("import a" + ".b" * MAX_DEPTH, "lowered"),
        ("import a" + ".b" * (MAX_DEPTH + 1), "refused"),
        ("from a" + ".b" * (MAX_DEPTH + 1) + " import c", "refused"),
        ("if a: pass\n" + "elif a: pass\n" * (MAX_DEPTH - 2), "lowered"),
        ("if a: pass\n" + "elif a: pass\n" * MAX_DEPTH, "refused"),
    ],
    ids=range(12),
)
def test_bounds(text: str, outcome: str) -> None:
    assert visit(text + "\n") == outcome


def test_many_deep_statements_are_too_much() -> None:
    deep = "f(" * 100 + ")" * 100 + "\n"
    assert visit(deep * 10) == "lowered"
    assert visit(deep * 300) == "refused"


def test_bounds_count_code_points_too() -> None:
    assert visit("é;" + "f(" * 50 + ")" * 50 + "; " + "g." * (MAX_DEPTH + 5) + "é\n") == "refused"


def test_a_function_of_ten_thousand_lines() -> None:
    body = "".join(f"    x{index} = x.view({index}, -1)\n" for index in range(10_000))
    start = time.process_time()
    unit = Unit("x", "def f(x):\n" + body)
    unit.mark_sinks(WORDS)
    assert len(unit.outline.entries[0].sinks) == 10_000
    assert len(unit.lowered_function(unit.outline.entries[0]).body) == 10_000
    assert time.process_time() - start < 60


def test_text_beyond_the_bound_is_refused() -> None:
    assert visit("def f():\n    '''" + "x" * 1_000_001 + "'''\n") == "refused"


# ---------------------------------------------------------------- mutations
@pytest.mark.parametrize("seed", range(60))
def test_mutated_files(seed: int) -> None:
    random_ = random.Random(seed)
    lines = random_.choice(FILES).read_text(encoding="utf-8").split("\n")
    start = random_.randrange(max(1, len(lines) - 80))
    pieces = tokens.tokenize("\n".join(lines[start : start + 80]))[0]
    text = "\n".join(lines[start : start + 80])
    for _ in range(random_.randrange(1, 4)):
        at = random_.randrange(len(text) + 1)
        change = random_.choice(["", random_.choice(pieces or ["x"]), "\n", "(", "f'{", "'", "\\", "\f", "\t", "é"])
        text = text[:at] + change + text[at + random_.choice([0, 1, 5]) :]
    visit(text)


@settings(max_examples=300)
@given(st.text(alphabet=" \n\t\f\\'\"{}()[]:;,.=+-*@#!fabx1é\x00\r", max_size=60))
def test_any_text(text: str) -> None:
    visit(text)
    visit(f"def f():\n  {text}\n")
    tokens.comments(text)


# ---------------------------------------------------------------- cost
def test_libcst_is_imported_only_to_lower() -> None:
    program = (
        "import sys; from torchlayout.program.unit import Unit; u = Unit('x', 'def f(): x.view(1)\\n');"
        "u.mark_sinks(['.view(']); assert u.outline.targets(); assert 'libcst' not in sys.modules;"
        "u.lowered(u.outline.targets()[0]); assert 'libcst' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{program}"], check=True)


def best(work: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def test_lowering_costs_little_more_than_the_parse() -> None:
    texts = [path.read_text(encoding="utf-8") for path in FILES[:4]]

    def lower() -> None:
        for text in texts:
            unit = Unit("x", text)
            for entry in unit.outline.top:
                unit.lowered(entry)

    lower()
    assert best(lower) < 2 * best(lambda: [libcst.parse_module(text) for text in texts])


def test_the_outline_costs_little_beside_ast() -> None:
    texts = [path.read_text(encoding="utf-8") for path in FILES]
    trees = [ast.parse(text) for text in texts]

    def outline() -> None:
        for text, tree in zip(texts, trees, strict=True):
            Unit("x", text, tree).mark_sinks(WORDS)

    assert best(outline) < best(lambda: [ast.parse(text) for text in texts]) / 4
