"""Two findings never stand on one call for the same reason."""

from __future__ import annotations

import pytest

import torchlayout
from torchlayout import Settings


def codes(source: str, *select: str) -> list[str]:
    settings = Settings(select=select or ("LAY",))
    return [finding.code for finding in torchlayout.check(source, settings=settings)]


REDUNDANT_IN_LOOP = """\
import torch

def f():
    for _ in range(3):
        x = torch.zeros(3, 4).contiguous()
        print(x)
"""


def test_a_redundant_call_in_a_loop_is_redundant() -> None:
    assert codes(REDUNDANT_IN_LOOP) == ["LAY201"]


def test_the_lesser_code_does_not_step_in_for_a_deselected_one() -> None:
    assert codes(REDUNDANT_IN_LOOP, "LAY3") == []


GUARDED_IN_LOOP = """\
import torch

def f(xs):
    out = []
    for x in xs:
        y = torch.relu(x).t()
        if not y.is_contiguous():
            y = y.contiguous()
        out.append(y)
    return out
"""


def test_a_guarded_call_in_a_loop_is_told_of_once() -> None:
    assert codes(GUARDED_IN_LOOP) == ["LAY205"]
    assert codes(GUARDED_IN_LOOP, "LAY3") == []


THROWN_AWAY = """\
import torch

def f(steps):
    x = torch.zeros(3, 4)
    for _ in range(steps):
        x.contiguous()
"""


def test_thrown_away_says_it_all() -> None:
    assert codes(THROWN_AWAY) == ["LAY202"]


NEEDED_BY_NOBODY_AND_VIEWED = """\
import torch

def f(x):
    b, h, t, d = x.shape
    return x.transpose(1, 2).contiguous().view(b, t, -1)
"""


def test_advice_stands_alone() -> None:
    assert codes(NEEDED_BY_NOBODY_AND_VIEWED) == ["LAY402"]
    assert codes(NEEDED_BY_NOBODY_AND_VIEWED, "LAY1", "LAY2", "LAY3") == []


RESHAPE_IN_LOOP = """\
import torch

def f(x, n):
    b, h, t, d = x.shape
    total = 0
    for _ in range(n):
        total = total + x.transpose(1, 2).reshape(b, -1).sum()
    return total
"""


@pytest.mark.parametrize(("select", "expected"), [(("LAY3", "LAY4"), ["LAY303"]), (("LAY4",), [])])
def test_a_copying_reshape_in_a_loop(select: tuple[str, ...], expected: list[str]) -> None:
    assert codes(RESHAPE_IN_LOOP, *select) == expected


BOTH = """\
import torch

def collate_fn(batch: list[torch.Tensor]):
    return torch.stack([image.permute(2, 0, 1).contiguous() for image in batch])
"""


def test_different_reasons_may_stand_together() -> None:
    assert codes(BOTH) == ["LAY204", "LAY302"]
