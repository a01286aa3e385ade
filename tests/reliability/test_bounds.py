"""Work is bounded for each file, whatever stands in it, and grows with the file's length where nothing is bounded."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable

import pytest
from checking import checked
from demanding import HEAD, LONG, QUICK, function
from effort import TooMuchWork, calls_of

QUICK_CALLS = 6_000_000
LONG_CALLS = 60_000_000
"""Some thirty seconds: what `MAX_FILE_STEPS` allows, and a good deal more than any file of a real library takes."""


@pytest.fixture(autouse=True, scope="module")
def warm() -> None:
    """What is imported and made once for all files is no file's work."""
    checked(function("return x.t().contiguous().view(-1), nn.Linear(3, 4)(x), rearrange(x, 'a b -> b a')"), "first")


@pytest.mark.parametrize("name", QUICK)
def test_bounded(name: str) -> None:
    assert calls_of(lambda: checked(QUICK[name], name), QUICK_CALLS) > 1000


@pytest.mark.full
@pytest.mark.parametrize("name", LONG)
def test_bounded_by_a_budget(name: str) -> None:
    assert calls_of(lambda: checked(LONG[name], name), LONG_CALLS) > 1000


def test_the_count_would_break_off() -> None:
    with pytest.raises(TooMuchWork):
        calls_of(lambda: [len("x") for _ in range(1000)], 500)
    assert sys.getprofile() is None


def test_the_count_is_the_same_each_time() -> None:
    for _ in range(2):  # from the third time on, a text is not parsed (see `program.repeats`)
        checked(QUICK["loops in loops"], "x.py")
    gc.collect()
    counts = {calls_of(lambda: checked(QUICK["loops in loops"], "x.py")) for _ in range(3)}
    assert max(counts) - min(counts) < 0.01 * max(counts)


def lines(count: int) -> str:
    return function(
        "".join(f"x = x.transpose(0, {n % 3}).contiguous()\nif c:\n    y{n} = x.view(-1)\n" for n in range(count))
    )


def functions(count: int) -> str:
    return HEAD + "".join(
        f"def f{n}(x):\n    y = x.transpose(0, 1)\n    return y.contiguous().view(-1)\n" for n in range(count)
    )


def private_functions(count: int) -> str:
    return functions(count).replace("def f", "def _f")


def methods(count: int) -> str:
    body = "".join(
        f"    def f{n}(self, x):\n        self.a{n} = x\n        return x.transpose(0, 1).contiguous().view(-1)\n"
        for n in range(count)
    )
    return HEAD + "class A:\n" + body


def classes(count: int) -> str:
    return HEAD + "".join(
        f"class A{n}(nn.Module):\n    def __init__(self): self.a = 3\n    def forward(self, x):\n"
        "        return x.transpose(0, 1).contiguous().view(-1)\n"
        for n in range(count)
    )


def calls(count: int) -> str:
    return functions(count) + "def main(x):\n" + "".join(f"    x = f{n}(x.t())\n" for n in range(count))


def findings(count: int) -> str:
    return HEAD + "torch.randn(2, 3).t().view(6)\ntorch.randn(2, 3).contiguous()  # noqa: LAY101\n" * count


GROWING = [lines, functions, private_functions, methods, classes, calls, findings]


@pytest.mark.parametrize("program", GROWING, ids=lambda program: program.__name__)
def test_grows_with_the_length(program: Callable[[int], str]) -> None:
    """Four times as long takes little more than four times as much."""
    short, long = program(15), program(60)
    few = calls_of(lambda: checked(short, "short"))
    many = calls_of(lambda: checked(long, "long"))
    assert many / few < 1.4 * 4
