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
        ("for a in y:  # each\n    pass\nz = y\nz = y\nx.reshape(1)", False),
        ("x.reshape(1)  # for all", False),
        ('z = \'#\' + """\n# """\nfor a in y:\n    a.reshape(1)', True),
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
        ("z = x.to(y)\nF.zero_(z)", True),
        ("F.zero_(x.to(y))", True),
        ("z = x.to(y)\nF.zero_(x)", False),
        ("z = x.to(y)\nx.zero_()", False),
        ("z = x.to(y)\nnn.init.zero_(x)", False),
        ("z = x.to(y)\ntorch.ones(3).zero_()", False),
        ("x.zero_()", False),
        ("z = x.to(y)\nz.sub_(1).zero_()", True),
        ("z = x.to(y)\nz[0].zero_()", True),
        ("x.to(y)[0].zero_()", True),
        ("z = x.to(y)\nz.add(1).zero_()", False),
    ],
)
def test_called_on_what_was_made(body: str, expected: bool) -> None:
    assert counts(body, MADE) is expected


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("y", True),
        ("y, 0", True),
        ("[0, 1]", True),
        ("0][y > 1", True),
        ("x[0]", True),
        ("torch.tensor([7, 8])", True),
        ("[0, 2], 1", True),
        ("x[0] < 0", True),
        ("\n        y\n    ", True),
        ("i", False),
        ("i, 0", False),
        ("0", False),
        ("-1", False),
        ("..., None, 1:", False),
        ("i : i + y.size(0), :", False),
        ("'a'", False),
        ("'a'][0", False),
    ],
)
def test_an_index_that_may_copy(index: str, expected: bool) -> None:
    assert counts(f"for i in range(3):\n    x[{index}].zero_()", MADE) is expected


@pytest.mark.parametrize(
    ("after", "lost"),
    [
        ("z.zero_()\nreturn z", False),
        ("z.zero_()\na = y + z", False),
        ("if y:\n    z.zero_()\nreturn z", False),
        ("if y:\n    z.zero_()\nelse:\n    z = y\nreturn z", False),
        ("if y:\n    z.zero_()\nelif x:\n    return y\nelse:\n    return x\nreturn z", False),
        ("for a in y:\n    z = a.to(y)\n    z.zero_()\n    g(z)", False),
        ("with y:\n    z.zero_(\n        1\n    )\n    g(\n        z\n    )\nreturn z.sum()", False),
        ("z.zero_()", True),
        ("for a in y:\n    z = a.reshape(1)\n    z.zero_()\nreturn z", True),
        ("z.zero_()\nif y:\n    return y\nreturn z", True),
        ("z.zero_()\nif y:\n    return z", True),
        ("z.zero_()\nz = y\nreturn z", True),
        ("z.zero_()\nfor z in y:\n    g(z)\nreturn z", True),
        ("z.zero_()\nreturn z.shape", True),
        ("z.zero_()\nprint('wrote to z')", True),
        ("z.zero_()\nreturn y['z']", True),
        ("z.zero_()\ndel z", True),
        ("z.zero_()\nreturn y.z", True),
        ("z.zero_()\nz[0] = 1", True),
    ],
)
def test_a_write_is_lost_unless_what_is_written_to_is_read_afterwards(after: str, lost: bool) -> None:
    assert counts(f"z = x.reshape(1)\n{after}", MADE) is lost
    assert counts(f"z = x.reshape(1)\n{after}".replace("z.zero_(", "z[0] = (", 1), WRITTEN) is lost


def test_long_functions_and_many_writes_are_not_looked_at_closely() -> None:
    write = "z = x.to(y)\n{}z.zero_()\nreturn z"
    assert counts(write.format("y = 1\n" * 5_000), MADE)
    assert not counts(write.format("y = 1\n" * 10), MADE)
    assert counts(write.format("z.zero_()\n" * 100), MADE)
    assert not counts(write.format("z.zero_()\n" * 10), MADE)


@pytest.mark.parametrize(
    "line", ["z = (x" + " " * 9_000 + "+ 1)", f"z = '{'ab01' * 4_000}'", "g(" + "(x)," * 4_000 + ")"]
)
def test_odd_lines_cost_little(line: str) -> None:
    counts(f"{line}\nz = x.to(y)\nz.zero_()", MADE)


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
        ("z: list[int] = []\nreturn x.reshape(1)", False),
    ],
)
def test_what_is_made_is_assigned_into(body: str, expected: bool) -> None:
    assert counts(body, WRITTEN) is expected
