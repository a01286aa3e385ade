"""What would take for ever: it costs bounded time, then yields unknown values, and says so."""

from __future__ import annotations

import time

import pytest
from observing import claim_text, claims, lint

from torchlayout.interp import frame

SECONDS = 20
"""Far above what any of these takes, far below for ever."""

HEAD = "import torch\nfrom torchlayout import reveal_layout\n\n"


def thousands_of_statements() -> str:
    lines = [f"    y{i} = x.transpose(0, 1) + {i}" for i in range(5000)]
    return "\n".join(["def f(x):", *lines, "    return y5.contiguous().view(-1)"])


def nested_ifs() -> str:
    """As deep as Python's own parser goes."""
    lines = ["def f(x, flags):"]
    for depth in range(90):
        lines.append("    " * (depth + 1) + f"if flags[{depth}]:")
        lines.append("    " * (depth + 2) + "x = x.transpose(0, 1)")
    return "\n".join([*lines, "    return x.view(-1)"])


def long_elif_chain() -> str:
    lines = ["def f(x, kind):", "    if kind == 0:", "        x = x.t()"]
    for i in range(1, 200):
        lines += [f"    elif kind == {i}:", f"        x = x[:, {i}:]"]
    return "\n".join([*lines, "    return x.contiguous().view(-1)"])


def branches_that_differ() -> str:
    lines = ["def f(x, flags):", "    a, b, c, d, e = x.shape"]
    for i in range(50):
        lines += [f"    if flags[{i}]:", f"        x = x.transpose({i % 4}, {i % 4 + 1})[..., {i}:]"]
    return "\n".join([*lines, "    return x.view(-1)"])


def calls_that_multiply() -> str:
    lines = ["def f0(x):", "    return x.transpose(0, 1)", ""]
    for i in range(1, 30):
        lines += [f"def f{i}(x):", f"    return f{i - 1}(f{i - 1}(f{i - 1}(x)).t())", ""]
    return "\n".join([*lines, "def g(x):", "    return f29(x).view(-1)"])


def recursion() -> str:
    return """\
def f(x, n):
    y = f(x.t(), n - 1) if n else g(x, n)
    return f(y.contiguous(), n).view(-1)

def g(x, n):
    return f(g(x.t(), n - 1), n).contiguous().view(-1)
"""


def a_class_that_holds_itself() -> str:
    return """\
class Node(torch.nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.left = Node(depth - 1)
        self.right = Node(depth - 1)
        self.nodes = torch.nn.ModuleList([Node(depth) for _ in range(3)])

    def forward(self, x):
        for node in self.nodes:
            x = node(x)
        return self.left(x).transpose(0, 1).view(-1) + self.right(x.contiguous())
"""


def nested_loops() -> str:
    lines = ["def f(x, n):"]
    for depth in range(12):
        lines.append("    " * (depth + 1) + f"for i{depth} in range(n):")
        lines.append("    " * (depth + 2) + "x = x.transpose(0, 1)")
    return "\n".join([*lines, "    return x.contiguous().view(-1)"])


def small_ranges_inside_one_another() -> str:
    lines = ["def f(x):"]
    for depth in range(8):
        lines.append("    " * (depth + 1) + f"for i{depth} in range(8):")
    return "\n".join([*lines, "    " * 9 + "x = x.transpose(0, 1).contiguous()", "    return x.view(-1)"])


def sizes_that_grow() -> str:
    lines = ["def f(x):", "    a, b, c = x.shape"]
    lines += [f"    a, b, c = a * b + {i}, b * c + a, c * a - b" for i in range(60)]
    return "\n".join([*lines, "    return x.view(a, b, c).transpose(0, 1).contiguous().view(-1)"])


def lists_inside_one_another() -> str:
    lines = ["def f(x):", "    items = [x]"]
    lines += ["    items = [items, items]"] * 60
    return "\n".join([*lines, "    return torch.stack(items).contiguous().view(-1)"])


def a_list_that_holds_itself() -> str:
    return "def f(x):\n    items = [x]\n    items.append(items)\n    return torch.cat(items).contiguous().view(-1)\n"


PROGRAMS = (
    thousands_of_statements,
    nested_ifs,
    long_elif_chain,
    branches_that_differ,
    calls_that_multiply,
    recursion,
    a_class_that_holds_itself,
    nested_loops,
    small_ranges_inside_one_another,
    sizes_that_grow,
    lists_inside_one_another,
    a_list_that_holds_itself,
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_time_is_bounded(program) -> None:  # type: ignore[no-untyped-def]
    start = time.perf_counter()
    lint(HEAD + program())
    assert time.perf_counter() - start < SECONDS


def notes_of(source: str) -> str:
    return "\n".join(lint(HEAD + source)[0].notes)


def test_too_many_steps_are_noted() -> None:
    assert "f takes too many steps; left off" in notes_of(thousands_of_statements())


def test_deep_calls_are_noted() -> None:
    assert f"calls inside one another deeper than {frame.MAX_CALL_DEPTH}" in notes_of(calls_that_multiply())


def test_loops_that_do_not_settle_are_noted() -> None:
    source = "def f(x, n):\n    for _ in range(n):\n        x = torch.cat([x, x])\n    return x.contiguous().view(-1)\n"
    assert f"a loop still changed after {frame.MAX_ROUNDS} turns" in notes_of(source)


def test_what_is_left_off_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop seen for one turn only tells nothing of the turns that were not seen."""
    source = """\
def f(n):
    x = torch.zeros(3, 4)
    for i in range(n):
        y = x.contiguous()
        x = x.t()
        z = y.view(12) + y.view(12) + y.view(12)
    return z
"""
    assert {finding.code for finding in lint(HEAD + source)[1]} <= {"LAY302"}
    monkeypatch.setattr(frame, "MAX_STEPS", 25)
    monkeypatch.setattr("torchlayout.interp.runner.MAX_STEPS", 25)
    trace, findings = lint(HEAD + source)
    assert "left off" in "\n".join(trace.notes)
    assert findings == []


MANY_WORDS, FEW_WORDS = "n = n + 1\n", "n = " + "-" * 40 + "n\n"
"""By its words, an `__init__` of the first is known to be long before it is run; one of the second is not."""


@pytest.mark.parametrize(("line", "lines"), [(MANY_WORDS, 1), (MANY_WORDS, 400), (FEW_WORDS, 1), (FEW_WORDS, 20)])
def test_an_init_left_off_tells_nothing_of_attributes(line: str, lines: int) -> None:
    """What it set before it was left off it may set anew further on."""
    source = (
        "from torch import nn\n"
        "def flat(x):\n    return x.view(-1)\n"
        "class M(nn.Module):\n"
        "    def __init__(self, n):\n"
        "        self.kept = torch.zeros(3, 4)\n"
        + f"        {line}"
        * lines
        + "        self.kept = torch.zeros(3, n).t()\n"
        "    def pack(self):\n        return self.kept.contiguous()\n"
        "    def forward(self, x: torch.Tensor):\n        return flat(x.transpose(0, 1)), self.pack()\n"
    )
    trace, findings = lint(HEAD + source)
    assert "LAY201" not in {finding.code for finding in findings}
    assert ("M.forward takes too many steps" in "\n".join(trace.notes)) is (lines > 1)


@pytest.mark.parametrize("first", [True, False])
def test_a_caller_left_off_takes_nothing_from_others(first: bool) -> None:
    long = (
        "class Long(torch.nn.Module):\n"
        "    def __init__(self, x):\n"
        f"        self.scale = x({', '.join(map(str, range(500)))})\n"
        "    def forward(self, x):\n        return helper(torch.ones(2, 6).t() * self.scale)\n"
    )
    short = "def short():\n    return helper(torch.zeros(3, 4).t())\n"
    parts = [long, short] if first else [short, long]
    trace, findings = lint("import torch\ndef helper(x):\n    return x.view(12)\n" + "".join(parts))
    assert "Long.forward takes too many steps" in "\n".join(trace.notes)
    assert [finding.code for finding in findings] == ["LAY101"]


def test_a_private_helper_of_a_function_left_off_may_be_given_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    source = """\
def _pack(t):
    return t.contiguous()

def f(x):
    _pack(torch.softmax(x, 0).view(-1))
    y = x.transpose(0, 1)
    return _pack(y)
"""
    assert "LAY201" not in {finding.code for finding in lint(HEAD + source)[1]}
    monkeypatch.setattr("torchlayout.interp.runner.MAX_STEPS", 14)
    assert "LAY201" not in {finding.code for finding in lint(HEAD + source)[1]}


def test_alternatives_are_bounded() -> None:
    lines = ["def f(flags):", "    x = torch.zeros(2, 3, 4, 5)"]
    for i in range(6):
        lines += [f"    if flags[{i}]:", f"        x = x.transpose({i % 3}, {i % 3 + 1})"]
    trace, _ = lint(HEAD + "\n".join([*lines, "    reveal_layout(x)"]))
    (reveals,) = claims(trace).values()
    assert claim_text(reveals) == "[?, ?, ?, ?]"


def helpers_that_call_helpers(lines: int) -> str:
    """A target that calls a long helper first, then one more, and hands what it got on."""
    return (
        "import torch\n"
        "def long(x):\n" + "    x = x + 1\n" * lines + "    return x.t()\n"
        "def short(x):\n    return x.t()\n"
        "def f(x: torch.Tensor, y: torch.Tensor):\n"
        "    a = long(x)\n"
        "    b = short(y)\n"
        "    return b.view(-1)\n"
    )


def test_helpers_are_followed_as_far_as_their_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    _, within = lint(helpers_that_call_helpers(10))
    assert [f.code for f in within] == ["LAY101"]
    monkeypatch.setattr("torchlayout.interp.runner.MAX_CALL_STEPS", 20)
    trace, beyond = lint(helpers_that_call_helpers(10))
    assert beyond == []  # `short` was not followed, so `b` is unknown; `f` itself was
    assert not any("left off" in note for note in trace.notes)


def test_functions_with_a_sink_word_are_followed_beyond_that_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchlayout.interp.runner.MAX_CALL_STEPS", 20)
    text = helpers_that_call_helpers(10).replace("return x.t()\ndef f", "return x.view(3, 4).t()\ndef f")
    _, found = lint(text)
    assert [f.code for f in found] == ["LAY101"]


CUT = """\
import torch

def prepare(x):
    x = x + 1
    x = x + 2
    return x.transpose(0, 1)

def show(parts: torch.Tensor):
    a, b, c = parts.shape
    print(parts.transpose(1, 2).view(a, b * c))

def main(y):
    prepare(y)
    show(prepare(y))
"""


@pytest.mark.parametrize("steps", [300, 2])
def test_callers_that_are_cut_short_take_nothing_away(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchlayout.interp.runner.MAX_CALLER_CALL_STEPS", steps)
    assert [f.code for f in lint(CUT)[1]] == ["LAY101"]
