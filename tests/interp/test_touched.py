"""Attributes that some method changes without assigning them: nothing certain is said of them."""

from __future__ import annotations

import textwrap

import pytest
from observing import lint

HEAD = """\
import torch

class Store(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.k = [torch.zeros(3, 4), torch.zeros(3, 4)]
        self.d = {"h": torch.zeros(3, 4)}
        self.z = torch.zeros(3, 4)
        self.w = torch.nn.Parameter(torch.zeros(3, 4))

    def flat(self):
        return RESULT.contiguous().view(-1)
"""


def certain(result: str, change: str, behind: str = "") -> list[str]:
    text = HEAD.replace("RESULT", result) + "\n" + textwrap.indent(change, "    ") + "\n" + behind
    return [f.code for f in lint(text)[1] if f.code in ("LAY101", "LAY201")]


@pytest.mark.parametrize(
    ("result", "change"),
    [
        ("self.k[0]", "def put(self, i, k):\n    self.k[i] = k.t()"),
        ("self.k[0]", "def put(self, i, k):\n    self.k[i][:2] = k"),
        ("self.k[0]", "def put(self, k):\n    self.k.insert(0, k.t())"),
        ("self.k[0]", "def put(self, k):\n    held = self.k\n    held[0] = k.t()"),
        ("self.k[0]", "def put(self, change):\n    change(self.k)"),
        ("self.k[0]", "def put(self):\n    return self.k"),
        ("self.k[0]", "def put(self):\n    del self.k[0]"),
        ("self.k[0]", "def put(self):\n    self.k[0].t_()"),
        ("self.d['h']", "def put(self, x):\n    self.d['h'] = x.t()"),
        ("self.d['h']", "def put(self, x):\n    self.d.update(h=x.t())"),
        ("self.z", "def put(self):\n    self.z.t_()"),
        ("self.z", "def put(self):\n    z = self.z\n    z.transpose_(0, 1)"),
        ("self.w", "def put(self, t):\n    self.w.data = t.t()"),
    ],
)
def test_what_is_changed_elsewhere_is_not_known(result: str, change: str) -> None:
    assert certain(result, change) == []


@pytest.mark.parametrize(
    ("result", "change"),
    [
        ("self.k[0]", "def get(self):\n    return self.k[1] + 1"),
        ("self.d['h']", "def get(self):\n    return self.d['h'].sum()"),
        ("self.z", "def put(self, x):\n    self.z[0] = x\n    self.z.add_(1)"),
        ("self.z", "def get(self, x):\n    self.w.data.fill_(1)\n    return self.z == self.w"),
        ("self.z", "def put(self, t):\n    self.z.data[0] = t"),
    ],
)
def test_what_is_read_or_filled_stays_known(result: str, change: str) -> None:
    assert certain(result, change) == ["LAY201"]


def test_classes_derived_from_it_write_too() -> None:
    behind = "\nclass Tied(Store):\n    def tie(self, e):\n        self.z = e.t()\n"
    assert certain("self.z", "def get(self):\n    return 1", behind) == []
    assert certain("self.k[0]", "def get(self):\n    return 1", behind) == ["LAY201"]


def test_objects_that_an_object_holds() -> None:
    behind = (
        "\nclass Outer:\n    def __init__(self):\n        self.inner = Store()\n"
        "    def flat(self):\n        return self.inner.z.contiguous()\n"
    )
    assert certain("self.k", "def turn(self):\n    self.z.t_()", behind) == []
    assert certain("self.k", "def turn(self):\n    self.z.zero_()", behind) == ["LAY201"]
