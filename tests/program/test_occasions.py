"""Closer looks at the text of a function: does a sink word stand where a rule could report it?"""

from __future__ import annotations

import textwrap

import pytest

from torchlayout.program.unit import Unit

LOOPED = [".reshape( with for while map if looped"]
MADE = [".zero_( with .reshape .to ]. if made"]
WRITTEN = [".reshape( with ]= += out= if written"]


def counts(body: str, words: list[str], head: str = "def f(x, y):") -> bool:
    unit = Unit("x", f"{head}\n{textwrap.indent(textwrap.dedent(body), '    ')}\n")
    unit.mark_sinks(words)
    return bool(unit.outline.targets())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for a in y:\n    a.reshape(1)", True),
        ("while y:\n    if x:\n        x.reshape(1)", True),
        ("for a in y: x = a.reshape(1)", True),
        ("for a in y:\n    b = a + (\n1)\n    a.reshape(1)", True),
        ("for a in y:\n    pass\nx.reshape(1)", False),
        ("for a in x.reshape(1):\n    pass", False),
        ("x.reshape(1)\nfor a in y:\n    pass", False),
        ("x.reshape(1)\ny = 1\ny = 1\ny = 1\ny = 1\ny = 1\n[a for a in y]", False),
        ("return [a.reshape(1) for a in y]", True),
        ("return [\n    a.reshape(1)\n    for a in y\n]", True),
        ("return list(map(lambda a: a.reshape(1), y))", True),
        ("for a in (\n    y\n):\n    a.reshape(1)", True),
    ],
)
def test_in_a_loop(body: str, expected: bool) -> None:
    assert counts(body, LOOPED) is expected


def test_functions_that_serve_single_items() -> None:
    words = [".reshape( with __getitem__ if looped"]
    assert counts("return x.reshape(1)", words, "def __getitem__(x, y):")
    assert not counts("return x.reshape(1)", words)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x.reshape(1).zero_()", True),
        ("x[y].zero_()", True),
        ("z = x.to(y)\nz.zero_()", True),
        ("z = (\n    x\n    .to(y)\n)\nz.zero_()", True),
        ("x.buffer = y.to(x)\nx.buffer.zero_()", True),
        ("a, z = y, x.to(y)\nz.zero_()", True),
        ("(z := x.to(y)).zero_()\nz.zero_()", True),
        ("for z in x.to(y):\n    z.zero_()", True),
        ("z: Tensor = x.to(y)\nz.zero_()", True),
        ("nn.init.zero_(x.to(y))", True),
        ("z = x.to(y)\nnn.init.zero_(z)", True),
        ("z = x.to(y)\nx.zero_()", False),
        ("z = x.to(y)\nnn.init.zero_(x)", False),
        ("z = x.to(y)\ntorch.ones(3).zero_()", False),
        ("x.zero_()", False),
    ],
)
def test_called_on_what_was_made(body: str, expected: bool) -> None:
    assert counts(body, MADE) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x.reshape(1)[0] = 1", True),
        ("z = x.reshape(1)\nz[0] = 1", True),
        ("z = x.reshape(\n    1,\n)\nz += 1", True),
        ("z = x.reshape(1)\ntorch.add(x, y, out=z)", True),
        ("x.reshape(1)[\n    0\n] = 1", True),
        ("z = x.reshape(1)\ny[0] = 1", False),
        ("z = x.reshape(1)\ny += 1", False),
        ("z = x.reshape(1)\ntorch.add(x, y, out=y)", False),
        ("return x.reshape(1)", False),
    ],
)
def test_what_is_made_is_assigned_into(body: str, expected: bool) -> None:
    assert counts(body, WRITTEN) is expected
