"""Taking a needless call away, and its statement where nothing else is in it."""

from __future__ import annotations

import textwrap

import pytest
from programs import run

import torchlayout
from torchlayout import Settings
from torchlayout.fixing.engine import fix_text
from torchlayout.rules.finding import Safety

SETTINGS = Settings(select=("LAY201", "LAY205"))

CASES = {
    "a statement": ("y = y.contiguous()\nreturn y", "return y"),
    "a statement over lines": ("y = y.contiguous(\n)\nreturn y", "return y"),
    "a statement of a block": (
        "if n:\n    y = torch.ones(2)\n    y = y.contiguous()\n    return y\nreturn n",
        "if n:\n    y = torch.ones(2)\n    return y\nreturn n",
    ),
    "the only one of its block": ("if n:\n    y = y.contiguous()\nreturn y", "if n:\n    pass\nreturn y"),
    "the only one of a line": ("if n: y = y.contiguous()\nreturn y", "if n: pass\nreturn y"),
    "the only one, with a comment": (
        "if n:\n    y = y.contiguous()  # packed\nreturn y",
        "if n:\n    pass  # packed\nreturn y",
    ),
    "bound in both branches": (
        "if n:\n    z = torch.ones(2)\n    n += 1\nelse:\n    z = torch.ones(3)\nz = z.contiguous()\nreturn z",
        "if n:\n    z = torch.ones(2)\n    n += 1\nelse:\n    z = torch.ones(3)\nreturn z",
    ),
    "not bound there": (
        "if n:\n    z = torch.ones(2)\nz = z.contiguous()\nreturn z",
        "if n:\n    z = torch.ones(2)\nz = z\nreturn z",
    ),
    "bound by a with that may go on": (
        "with n:\n    z = torch.ones(2)\nz = z.contiguous()\nreturn z",
        "with n:\n    z = torch.ones(2)\nz = z\nreturn z",
    ),
    "bound before the block": (
        "z, k = torch.ones(2), 3\nwhile n:\n    z = z.contiguous()\n    n -= 1\nreturn z",
        "z, k = torch.ones(2), 3\nwhile n:\n    n -= 1\nreturn z",
    ),
    "behind another": ("n = 1; y = y.contiguous()\nreturn y", "n = 1\nreturn y"),
    "behind another, with a comment": ("n = 1 ; y = y.contiguous() # a\nreturn y", "n = 1 # a\nreturn y"),
    "before another": ("y = y.contiguous(); n = 1  # one\nreturn y", "n = 1  # one\nreturn y"),
    "before nothing": ("y = y.contiguous();\nreturn y", "return y"),
    "between others": ("n = 1; y = y.contiguous(); n = 2\nreturn y", "n = 1; n = 2\nreturn y"),
    "first of a line's block": ("if n: y = y.contiguous(); n = 1\nreturn y", "if n: n = 1\nreturn y"),
    "on a line that was joined": ("n = 1; \\\ny = y.contiguous()\nreturn y", "n = 1; \\\ny = y\nreturn y"),
    "joined to the next line": ("y = y.contiguous(); \\\nn = 1\nreturn y", "y = y; \\\nn = 1\nreturn y"),
    "with a comment": ("y = y.contiguous()  # packed\nreturn y", "# packed\nreturn y"),
    "with a comment behind a semicolon": ("y = y.contiguous();  # packed\nreturn y", "# packed\nreturn y"),
    "with a comment for a tool": ("y = y.contiguous()  # noqa: E1\nreturn y", "y = y  # noqa: E1\nreturn y"),
    "with another one": ("y = y.contiguous()  # type: ignore\nreturn y", "y = y  # type: ignore\nreturn y"),
    "two in a block": (
        "z = torch.ones(2)\nif n:\n    y = y.contiguous()\n    z = z.contiguous()\nreturn y, z",
        "z = torch.ones(2)\nif n:\n    pass\nreturn y, z",
    ),
    "more behind it": ("y = y.contiguous().t()\nreturn y", "y = y.t()\nreturn y"),
    "another name": ("z = y.contiguous()\nreturn z", "z = y\nreturn z"),
    "deleted": ("y = y.contiguous()\ndel y\nreturn n", "y = y\ndel y\nreturn n"),
    "guarded": ("if not y.is_contiguous():\n    y = y.contiguous()\nreturn y", "return y"),
}


def program(body: str) -> str:
    return "import torch\n\n\ndef f(n):\n    y = torch.zeros(3, 4)\n" + textwrap.indent(body, "    ") + "\n"


@pytest.mark.parametrize(("before", "after"), CASES.values(), ids=CASES)
def test_what_goes(before: str, after: str) -> None:
    fixed = fix_text(program(before), lambda text: torchlayout.check(text, settings=SETTINGS))
    assert fixed.text == program(after)
    assert fixed.findings == []


def test_a_parameter_is_bound() -> None:
    text = (
        "import torch\n\n\ndef f(n, y):\n    if n:\n        y = torch.zeros(3)\n"
        "    else:\n        y = torch.ones(3)\n{}    return y\n"
    )
    fixed = fix_text(text.format("    y = y.contiguous()\n"), lambda text: torchlayout.check(text, settings=SETTINGS))
    assert fixed.text == text.format("")


def test_an_attribute_is_still_assigned() -> None:
    text = (
        "import torch\n\n\nclass A:\n    def __init__(self):\n        self.y = torch.ones(2)\n"
        "        self.y = self.y{}\n        self.n = 3\n"
    )
    fixed = fix_text(text.format(".contiguous()"), lambda text: torchlayout.check(text, settings=SETTINGS))
    assert fixed.text == text.format("")


def test_on_the_last_line() -> None:
    text = "import torch\n\ny = torch.zeros(3){}"
    fixed = fix_text(text.format("\ny = y.contiguous()"), lambda text: torchlayout.check(text, settings=SETTINGS))
    assert fixed.text == text.format("")


GUARDED = {
    "a variable": ("def f(y):\n    if not y.is_contiguous():\n        y = y.contiguous()\n    return y\n", Safety.SAFE),
    "of the module": ("y = torch.ones(3, 4).t()\nif not y.is_contiguous():\n    y = y.contiguous()\n", Safety.SAFE),
    "an item": (
        "def f(t: tuple):\n    if not t[0].is_contiguous():\n        t[0] = t[0].contiguous()\n",
        Safety.UNSAFE,
    ),
    "an attribute": (
        "def f(self):\n    if not self.x.is_contiguous():\n        self.x = self.x.contiguous()\n",
        Safety.UNSAFE,
    ),
    "of a class": (
        "def f(y):\n    class A:\n        if not y.is_contiguous():\n            y = y.contiguous()\n",
        Safety.UNSAFE,
    ),
    "either": ("def f(x):\n    y = x.p if x.p.is_contiguous() else x.p.contiguous()\n    return y\n", Safety.SAFE),
    "either, made anew": (
        "def f(x):\n    y = x.pop() if x.pop().is_contiguous() else x.pop().contiguous()\n    return y\n",
        Safety.UNSAFE,
    ),
}


@pytest.mark.parametrize(("text", "safety"), GUARDED.values(), ids=GUARDED)
def test_a_guard_goes_safely_from_variables_alone(text: str, safety: Safety) -> None:
    (finding,) = torchlayout.check(f"import torch\n{text}", settings=Settings(select=("LAY205",)))
    assert finding.fix is not None and finding.fix.safety is safety


def test_an_item_of_a_tuple_is_not_assigned() -> None:
    text = (
        "import torch\n\n\ndef f(t: tuple):\n    if not t[0].is_contiguous():\n        t[0] = t[0].contiguous()\n"
        "    return t[0]\n\n\nf((torch.ones(3),))\n"
    )
    fixed = fix_text(text, lambda text: torchlayout.check(text))
    assert fixed.text == text
    assert run(fixed.text).error is None


def test_in_a_module() -> None:
    text = "import torch\n\ny = torch.zeros(3)\n{}print(y)\n"
    fixed = fix_text(text.format("y = y.contiguous()\n"), lambda text: torchlayout.check(text, settings=SETTINGS))
    assert fixed.text == text.format("")
