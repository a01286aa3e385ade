"""Taking a needless call away, and its statement where nothing else is in it."""

from __future__ import annotations

import textwrap

import pytest

import torchlayout
from torchlayout import Settings
from torchlayout.fixing.engine import fix_text

SETTINGS = Settings(select=("LAY201", "LAY205"))

CASES = {
    "a statement": ("y = y.contiguous()\nreturn y", "return y"),
    "a statement over lines": ("y = y.contiguous(\n)\nreturn y", "return y"),
    "a statement of a block": (
        "if n:\n    y = torch.ones(2)\n    y = y.contiguous()\n    return y\nreturn n",
        "if n:\n    y = torch.ones(2)\n    return y\nreturn n",
    ),
    "the only one of its block": ("if n:\n    y = y.contiguous()\nreturn y", "if n:\n    y = y\nreturn y"),
    "not bound there": (
        "if n:\n    z = torch.ones(2)\n    n += 1\nelse:\n    z = torch.ones(3)\nz = z.contiguous()\nreturn z",
        "if n:\n    z = torch.ones(2)\n    n += 1\nelse:\n    z = torch.ones(3)\nz = z\nreturn z",
    ),
    "beside another": ("n = 1; y = y.contiguous()\nreturn y", "n = 1; y = y\nreturn y"),
    "with a comment": ("y = y.contiguous()  # packed\nreturn y", "y = y  # packed\nreturn y"),
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


def test_in_a_module() -> None:
    text = "import torch\n\ny = torch.zeros(3)\n{}print(y)\n"
    fixed = fix_text(text.format("y = y.contiguous()\n"), lambda text: torchlayout.check(text, settings=SETTINGS))
    assert fixed.text == text.format("")
