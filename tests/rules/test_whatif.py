"""LAY204 over copies that are used in functions of the file which a loop calls."""

from __future__ import annotations

import pytest

import torchlayout
from torchlayout import Settings

HEAD = """\
import torch
from torch import nn


def project(layer, s):
    return layer(s)


def score(q, s):
    return torch.matmul(q, s).sum()


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.kv = nn.Linear(width, 2 * width)

    def project(self, s):
        return self.kv(s)

    def deeper(self, s):
        return self.project(s)

    def own(self, s):
        return self.kv(s.transpose(1, 0).contiguous())


class Decoder(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.only = Layer(width)
        self.layers = nn.ModuleList([Layer(width) for _ in range(depth)])
        self.three = nn.ModuleList([Layer(width), Layer(width), Layer(width)])

    def start(self, x: torch.Tensor, rows, w: torch.Tensor):
"""
AGAIN = {
    "comprehension": "s = {pack}\n[layer.project(s) for layer in self.layers]",
    "generator": "s = {pack}\nsum(layer.project(s).sum() for layer in self.layers)",
    "for": "s = {pack}\nfor layer in self.layers:\n    print(layer.project(s).sum())",
    "for over known items": "s = {pack}\nfor layer in self.three:\n    print(layer.project(s).sum())",
    "while": "s = {pack}\nwhile rows:\n    print(self.only.project(s), rows.pop())",
    "a helper's helper": "s = {pack}\nfor layer in self.layers:\n    print(layer.deeper(s).sum())",
    "a function": "s = {pack}\nfor row in rows:\n    print(project(self.only.kv, s))",
    "a nested function": "s = {pack}\ndef run(layer):\n    return layer.kv(s)\n[run(layer) for layer in self.layers]",
    "map": "s = {pack}\ndef run(layer):\n    return layer.kv(s)\nlist(map(run, self.layers))",
    "a nested function that is handed over": "s = {pack}\ndef run(q):\n    return torch.matmul(q, s)\nreturn rows(run)",
    "once before the loop, too": "s = {pack}\na = score(w, s)\nfor row in rows:\n    print(row, score(w, s))",
    "made in an outer loop": "for x in rows:\n    s = {pack}\n    [layer.project(s) for layer in self.layers]",
    "the loop itself": "s = {pack}\nfor layer in self.layers:\n    print(layer.kv(s).sum())",
}
ONCE = {
    "no loop": "s = {pack}\nself.only.project(s)",
    "behind the loop": "s = {pack}\nfor row in rows:\n    print(row)\nself.only.project(s)",
    "made on each turn": "for layer, x in zip(self.layers, rows):\n    s = {pack}\n    layer.project(s)",
    "a nested function that is called": "s = {pack}\ndef run(q):\n    return torch.matmul(q, s)\nrun(w)",
    "in a nested function": "def run(q):\n    s = {pack}\n    torch.matmul(q, s)\nreturn rows(run)",
    "made on each turn, by item": "for layer in self.three:\n    x = x + 1\n    s = {pack}\n    layer.project(s)",
    "made on each turn of a comprehension": "[layer.project({pack}) for layer, x in zip(self.layers, rows)]",
}


def lines(body: str) -> list[int]:
    """The lines behind the head with a finding."""
    source = HEAD + "".join(f"        {line}\n" for line in body.split("\n"))
    found = torchlayout.check(source, settings=Settings(select=("LAY204",)))
    start = HEAD.count("\n")
    return [finding.span.line - start for finding in found if finding.span.line > start]


@pytest.mark.parametrize("body", AGAIN.values(), ids=AGAIN)
def test_a_copy_that_a_loop_uses_many_times_may_pay(body: str) -> None:
    assert not lines(body.format(pack="x.transpose(1, 0).contiguous()"))


@pytest.mark.parametrize("body", ONCE.values(), ids=ONCE)
def test_a_copy_that_is_used_once_does_not(body: str) -> None:
    body = body.format(pack="x.transpose(1, 0).contiguous()")
    assert lines(body) == [1 + body[: body.index("contiguous")].count("\n")]


def test_a_copy_that_the_called_function_makes_itself_is_used_once_a_call() -> None:
    source = HEAD + "        return [layer.own(x) for layer in self.layers]\n"
    (finding,) = torchlayout.check(source, settings=Settings(select=("LAY204",)))
    assert finding.span.line == 1 + HEAD[: HEAD.index("s.transpose(1, 0)")].count("\n")
