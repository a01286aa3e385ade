"""Functions whose strided tensors come from another file of the project are looked at, where imports are followed."""

from __future__ import annotations

from pathlib import Path

import pytest

import torchlayout
from torchlayout import Settings

HELPERS = """\
import torch

def turned(x):
    return swapped(x)

def swapped(x):
    return x.transpose(1, 2)

def kept(x):
    return x.clone()

class Turn(torch.nn.Module):
    def forward(self, x):
        return x.transpose(1, 2)
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "__init__.py").write_text("from .helpers import turned as exported\n")
    (folder / "helpers.py").write_text(HELPERS)
    return folder


def lines(package: Path, text: str, **options: bool) -> list[int]:
    path = package / "user.py"
    path.write_text(text)
    settings = Settings(select=("LAY101",), **{"follow_imports": True, **options})
    return [finding.span.line for finding in torchlayout.check(text, str(path), settings=settings)]


USER = """\
import torch
{}

def f(x: torch.Tensor):
    a, b, c = x.shape
    return {}(x).view(a, b * c)
"""


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("from .helpers import turned", "turned"),
        ("from pack.helpers import swapped as other", "other"),
        ("from pack import exported", "exported"),
        ("from . import helpers", "helpers.turned"),
    ],
)
def test_a_helper_of_another_file(package: Path, line: str, call: str) -> None:
    text = USER.format(line, call)
    assert lines(package, text) == [6]
    assert lines(package, text, follow_imports=False) == []


def test_a_helper_that_keeps_what_it_gets(package: Path) -> None:
    assert lines(package, USER.format("from .helpers import kept", "kept")) == []


def test_a_module_of_another_file(package: Path) -> None:
    text = """\
import torch
from .helpers import Turn

class Flat(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Turn()

    def forward(self, x):
        a, b, c = x.shape
        return self.first(x).view(a, b * c)
"""
    assert lines(package, text) == [11]


def test_what_cannot_be_read_brings_nothing(package: Path) -> None:
    (package / "broken.py").write_text("def turned(x:\n    x.t()\n")
    assert lines(package, USER.format("from .broken import turned", "turned")) == []
    assert lines(package, USER.format("from .missing import turned", "turned")) == []
    assert lines(package, USER.format("from .helpers import missing", "missing")) == []


AUTOGRAD = """\
import torch

class Turn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.transpose(1, 2)

turn = Turn.apply

def swapped(function):
    return lambda x: function(x.transpose(1, 2))
"""


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("from .autograd import Turn", "Turn.apply"),
        ("from .autograd import turn", "turn"),
        ("from . import autograd", "autograd.Turn.apply"),
        ("from .autograd import Turn\nturn = Turn.apply", "turn"),
        ("from .autograd import swapped\n@swapped\ndef same(x):\n    return x", "same"),
    ],
)
def test_autograd_functions_and_decorators_of_another_file(package: Path, line: str, call: str) -> None:
    (package / "autograd.py").write_text(AUTOGRAD)
    text = USER.format(line, call)
    assert lines(package, text) == [text.count("\n")]
    assert lines(package, text, follow_imports=False) == []
