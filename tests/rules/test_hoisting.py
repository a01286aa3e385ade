"""The fix of LAY301: a copy moves in front of its loop, does the same there, and never leaves a guard."""

from __future__ import annotations

import ast
import textwrap

import pytest
import torch

import torchlayout
from torchlayout import Safety, Settings
from torchlayout.fixing.engine import fix_text
from torchlayout.program.nodes import Span
from torchlayout.program.source import Source
from torchlayout.rules.finding import Finding
from torchlayout.rules.hoisting import place_before_loop
from torchlayout.rules.way import way_to

SETTINGS = Settings(select=("LAY301",))

GUARDED = {
    "if in front": """\
        for i in n:
            if w is None:
                continue
            out.append(w.t().contiguous().sum())
        """,
    "return in front": """\
        for i in n:
            if w is None:
                return
            out.append(w.t().contiguous().sum())
        """,
    "assert in front": """\
        for i in n:
            assert w is not None
            out.append(w.t().contiguous().sum())
        """,
    "conditional expression": """\
        for i in n:
            out.append(w.t().contiguous().sum() if i else 0)
        """,
    "and": """\
        for i in n:
            out.append(i and w.t().contiguous().sum())
        """,
    "chained comparison": """\
        for i in n:
            out.append(0 < i < w.t().contiguous().sum())
        """,
    "try": """\
        for i in n:
            try:
                out.append(w.t().contiguous().sum())
            except AttributeError:
                pass
        """,
    "with": """\
        for i in n:
            with torch.no_grad():
                out.append(w.t().contiguous().sum())
        """,
    "match": """\
        for i in n:
            match i:
                case 1:
                    out.append(w.t().contiguous().sum())
        """,
    "message of an assertion": """\
        for i in n:
            assert i, w.t().contiguous().sum()
        """,
    "condition of a comprehension": """\
        out += [w.t().contiguous().sum() for i in n if w is not None]
        """,
    "condition in a comprehension": """\
        out += [i and w.t().contiguous().sum() for i in n]
        """,
    "condition around a comprehension": """\
        out += [] if w is None else [w.t().contiguous().sum() for i in n]
        """,
    "elif": """\
        if w is None:
            pass
        elif any([w.t().contiguous().sum() > i for i in n]):
            out.append(1)
        """,
    "head of a while loop": """\
        while any([float(w.t().contiguous().sum()) > i for i in n]):
            w = w - 1
        """,
    "generator that is run later": """\
        later = (w.t().contiguous().sum() for i in n)
        w.add_(1)
        out += list(later)
        """,
    "generator in a call of another": """\
        out += map(float, (w.t().contiguous().sum() for i in n))
        """,
}

MOVED = {
    "an assignment": (
        """\
        for i in n:
            y = w.t().contiguous()
            out.append(y.sum() * i)
        """,
        """\
        y = w.t().contiguous()
        for i in n:
            out.append(y.sum() * i)
        """,
    ),
    "out of two loops": (
        """\
        for i in n:
            for j in n:
                y = w.t().contiguous()
                out.append(y.sum() * i * j)
        """,
        """\
        y = w.t().contiguous()
        for i in n:
            for j in n:
                out.append(y.sum() * i * j)
        """,
    ),
    "a name that is read before": (
        """\
        y = w
        for i in n:
            out.append(y.size(0))
            y = w.t().contiguous()
            out.append(y.sum())
        """,
        """\
        y = w
        packed = w.t().contiguous()
        for i in n:
            out.append(y.size(0))
            y = packed
            out.append(y.sum())
        """,
    ),
    "the name of what the loop runs over": (
        """\
        y = n
        for i in y:
            y = w.t().contiguous()
            out.append(y.sum())
        """,
        """\
        y = n
        packed = w.t().contiguous()
        for i in y:
            y = packed
            out.append(y.sum())
        """,
    ),
    "a name that is bound again": (
        """\
        for i in n:
            y = w.t().contiguous()
            out.append(y.sum())
            y = None
        """,
        """\
        packed = w.t().contiguous()
        for i in n:
            y = packed
            out.append(y.sum())
            y = None
        """,
    ),
    "a name that the loop's end reads": (
        """\
        y = w
        for i in n:
            y = w.t().contiguous()
            out.append(y.sum())
        else:
            out.append(y.size(1))
        """,
        """\
        y = w
        packed = w.t().contiguous()
        for i in n:
            y = packed
            out.append(y.sum())
        else:
            out.append(y.size(1))
        """,
    ),
    "a statement with a comment": (
        """\
        for i in n:
            # why
            y = w.t().contiguous()  # how
            out.append(y.sum())
        """,
        """\
        packed = w.t().contiguous()
        for i in n:
            # why
            y = packed  # how
            out.append(y.sum())
        """,
    ),
    "one line": (
        """\
        for i in n: y = w.t().contiguous(); out.append(y.sum())
        """,
        """\
        packed = w.t().contiguous()
        for i in n: y = packed; out.append(y.sum())
        """,
    ),
    "the only statement of a block": (
        """\
        for i in n:
            out[:] = [w.t().contiguous().sum()]
        """,
        """\
        packed = w.t().contiguous()
        for i in n:
            out[:] = [packed.sum()]
        """,
    ),
    "the test of a condition": (
        """\
        for i in n:
            if (y := w.t().contiguous()).sum() > i:
                out.append(y.sum())
        """,
        """\
        packed = w.t().contiguous()
        for i in n:
            if (y := packed).sum() > i:
                out.append(y.sum())
        """,
    ),
    "the head of another loop": (
        """\
        for x in [float(w.t().contiguous().sum()) * i for i in n]:
            out.append(x)
        """,
        """\
        packed = w.t().contiguous()
        for x in [float(packed.sum()) * i for i in n]:
            out.append(x)
        """,
    ),
    "a generator that is summed": (
        """\
        out.append(sum(float(w.t().contiguous().sum()) * i for i in n))
        """,
        """\
        packed = w.t().contiguous()
        out.append(sum(float(packed.sum()) * i for i in n))
        """,
    ),
    "a name that is taken": (
        """\
        packed = 3
        out += [float(w.t().contiguous().sum()) * packed for i in n]
        """,
        """\
        packed = 3
        packed_2 = w.t().contiguous()
        out += [float(packed_2.sum()) * packed for i in n]
        """,
    ),
}


def program(body: str) -> str:
    return f"import torch\n\n\ndef f(w, n, out):\n    a, b = w.shape\n{textwrap.indent(textwrap.dedent(body), '    ')}"


def found(text: str) -> list[Finding]:
    return torchlayout.check(text, settings=SETTINGS)


@pytest.mark.parametrize("body", GUARDED.values(), ids=GUARDED)
def test_a_copy_behind_a_guard_stays_there(body: str) -> None:
    findings = found(program(body))
    assert all(finding.fix is None for finding in findings)
    unguarded = found(program("for i in n:\n    out.append(w.t().contiguous().sum())\n"))
    assert unguarded[0].fix is not None


@pytest.mark.parametrize(("before", "after"), MOVED.values(), ids=MOVED)
def test_a_copy_that_moves_computes_the_same(before: str, after: str) -> None:
    fixed = fix_text(program(before), found, Safety.UNSAFE)
    assert fixed.text == program(after)
    assert run(fixed.text) == run(program(before))


def run(text: str) -> list[float]:
    names: dict[str, object] = {}
    exec(compile(text, "<program>", "exec"), names)
    out: list[object] = []
    names["f"](torch.arange(12.0).reshape(3, 4), [1, 2, 3], out)  # type: ignore[operator]
    return [float(value) for value in out]  # type: ignore[arg-type]


@pytest.mark.parametrize(("owner", "has_place"), [("class A:", False), ("def g():", True)])
def test_what_a_class_body_binds_is_not_seen_in_its_comprehensions(owner: str, has_place: bool) -> None:
    source = Source(f"{owner}\n    x = [w.contiguous() for i in n]\n")
    way = way_to(ast.parse(source.text), source, Span(2, 9, 2, 23))
    assert isinstance(way[-1].node, ast.Call)
    assert (place_before_loop(way) is not None) is has_place


def test_between_pauses_others_may_write() -> None:
    text = program("for i in n:\n    out.append(w.t().contiguous().sum())\n    yield i\n")
    assert all(finding.fix is None for finding in found(text))
