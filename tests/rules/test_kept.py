"""Copies that outlive their function in ways that the interpreter does not follow: LAY204 and LAY301 leave them be."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Iterator

import pytest

import torchlayout
from torchlayout import Settings

KEPT = {
    "default of a lambda": "return out, lambda x=turned: x",
    "default by keyword of a lambda": "f = lambda *, x=turned: x\nreturn out, f",
    "body of a lambda": "return out, lambda: turned",
    "default of a function": "def f(x=turned):\n    return x\nreturn out, f",
    "default by keyword of a function": "def f(*, x=turned):\n    return x\nreturn out, f",
    "annotation": "def f(x: turned):\n    return x\nreturn out, f",
    "decorator": "@register(turned)\ndef f(x):\n    return x\nreturn out, f",
    "nonlocal": "def f():\n    nonlocal turned\n    return turned\nreturn out, f",
    "body of a class": "class A:\n    kept = turned\nreturn out, A",
    "list in the body of a class": "class A:\n    kept = [turned]\nreturn out, A",
    "method of a class": "class A:\n    def get(self):\n        return turned\nreturn out, A",
    "another name": "other = turned\nreturn out, lambda x=other: x",
    "a name of a view": "other = turned[0]\nreturn out, lambda x=other: x",
    "a name in a loop": "fs = []\nfor row in turned:\n    fs.append(lambda x=row: x)\nreturn out, fs",
    "walrus": "print((other := turned).shape)\nreturn out, lambda x=other: x",
    "match": "match turned:\n    case other:\n        f = lambda x=other: x\nreturn out, f",
    "locals": "return out, locals()",
    "locals as keywords": "save(**locals())\nreturn out",
    "vars": "return out, vars()",
    "eval": "return out, eval('turned')",
    "exec": "exec('keep(turned)')\nreturn out",
    "method": "return out, turned.add",
    "method that is handed on": "return out, list(map(turned.add, [1]))",
    "rows that are handed on": "use(*turned)\nreturn out",
    "strides": "return out, turned.stride()",
    "storage": "return out, turned.untyped_storage()",
}

NOT_KEPT = {
    "nothing": "return out",
    "shape": "return out, turned.shape",
    "shape by a name": "size = turned.shape\nreturn out.view(*size[:1], -1)",
    "device": "return out, torch.zeros(3, device=turned.device)",
    "function of others": "f = lambda x=q: x\nreturn out, f",
    "class of others": "class A:\n    kept = q\nreturn out, A",
    "a result of the copy": "print(len(out))\nreturn out",
    "deleted": "del turned\nreturn out",
    "formatted": "print(f'{turned}')\nreturn out",
}


def codes(body: str, copy: str = "k.transpose(-2, -1).contiguous()") -> list[str]:
    text = (
        "import torch\n\n\ndef scores(q, k, use, save, register):\n    b, h, t, d = k.shape\n"
        f"    turned = {copy}\n    out = torch.matmul(q, turned)\n{textwrap.indent(body, '    ')}\n"
    )
    return [finding.code for finding in torchlayout.check(text, settings=Settings(select=("LAY204",)))]


@pytest.mark.parametrize("body", KEPT.values(), ids=KEPT)
def test_a_copy_that_is_kept_may_be_needed(body: str) -> None:
    assert codes(body) == []


@pytest.mark.parametrize("body", NOT_KEPT.values(), ids=NOT_KEPT)
def test_a_copy_that_is_not_kept_is_reported(body: str) -> None:
    assert codes(body) == ["LAY204"]


def test_a_copy_made_where_it_is_kept() -> None:
    text = (
        "import torch\n\n\ndef f(q, k):\n    b, h, t, d = k.shape\n"
        "    g = lambda x=(torch.matmul(q, y := k.transpose(-2, -1).contiguous())): x\n    return g\n"
    )
    assert torchlayout.check(text, settings=Settings(select=("LAY204",))) == []


def test_each_turn_of_a_loop_may_need_a_copy_that_is_kept() -> None:
    text = (
        "import torch\n\n\ndef f(w, n):\n    a, b = w.shape\n    fs = []\n    for _ in n:\n"
        "        y = w.t().contiguous()\n        print(y.sum())\n        {}\n    return fs\n"
    )
    settings = Settings(select=("LAY301", "LAY302"))
    for inside, code in (("fs.append(1)", "LAY301"), ("fs.append(lambda y=y: y.add_(1))", "LAY302")):
        assert [finding.code for finding in torchlayout.check(text.format(inside), settings=settings)] == [code]


@pytest.mark.parametrize(
    "kept", ["return lambda x=y: x", "class A:\n    kept = y\nreturn A", "return locals()", "return lambda: y"]
)
@pytest.mark.parametrize("copy", ["x.reshape(-1)", "x[x > 0].detach()", "(x)[[0, 1]].data", "x[[(0, 1)[0], 1]].data"])
def test_a_write_to_a_copy_that_is_kept_is_not_lost(copy: str, kept: str) -> None:
    text = f"import torch\n\n\ndef f():\n    x = torch.zeros(4, 3).t()\n    y = {copy}\n    y.add_(1)\n"
    settings = Settings(select=("LAY108",))
    assert [finding.code for finding in torchlayout.check(text, settings=settings)] == ["LAY108"]
    assert torchlayout.check(text + textwrap.indent(kept, "    ") + "\n", settings=settings) == []


def copies_that_are_multiplied(count: int) -> str:
    body = "".join(f"    y{n} = torch.matmul(q, k.t().contiguous())\n" for n in range(count))
    return f"import torch\n\n\ndef f(q, k):\n    a, b = k.shape\n{body}"


def copies_on_every_turn(count: int) -> str:
    body = "".join(f"        y{n} = w.t().contiguous()\n        y{n}.sum(0)\n" for n in range(count))
    return f"import torch\n\n\ndef f(w, n):\n    a, b = w.shape\n    for _ in n:\n{body}"


def copies_that_are_written_to(count: int) -> str:
    body = "".join(f"    y{n} = x.reshape(-1)\n    y{n}.add_(1)\n" for n in range(count))
    return f"import torch\n\n\ndef f():\n    x = torch.zeros(4, 3).t()\n{body}"


@pytest.mark.parametrize(
    "program", [copies_that_are_multiplied, copies_on_every_turn, copies_that_are_written_to], ids=lambda p: p.__name__
)
def test_the_work_grows_with_the_length_of_the_function(
    program: Callable[[int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four times as many copies have little more than four times as many nodes walked."""
    walked, walk = 0, ast.walk

    def counting(node: ast.AST) -> Iterator[ast.AST]:
        nonlocal walked
        for inner in walk(node):
            walked += 1
            yield inner

    monkeypatch.setattr(ast, "walk", counting)
    counts = []
    for length in (20, 80):
        walked = 0
        found = torchlayout.check(program(length), settings=Settings(select=("LAY108", "LAY204", "LAY301")))
        assert len(found) == length
        counts.append(walked)
    assert 0 < counts[1] < 1.2 * 4 * counts[0]
