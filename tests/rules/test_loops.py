"""LAY301, LAY302 and LAY303 over the kinds of loops, and the fix that hoists."""

from __future__ import annotations

import pytest

import torchlayout
from torchlayout import Safety, Settings
from torchlayout.fixing.engine import fix_text

HEAD = "import torch\n\n"
INVARIANT = {
    "for": "def f(w, n):\n    a, b = w.shape\n    for _ in n:\n        y = w.t().contiguous()\n        y.sum(0)\n",
    "while": "def f(w, n):\n    a, b = w.shape\n    while n():\n        float(w.t().contiguous().sum(0)[0])\n",
    "comprehension": "def f(w, n):\n    a, b = w.shape\n    return [float(w.t().contiguous().sum(0)[0]) for _ in n]\n",
    "generator": "def f(w, n):\n    a, b = w.shape\n    return sum(float(w.t().contiguous().sum(0)[0]) for _ in n)\n",
}
EACH_TURN = {
    "for": "def f(ws: list[torch.Tensor]):\n    for w in ws:\n        print(w.transpose(0, 1).contiguous())\n",
    "comprehension": "def f(ws: list[torch.Tensor]):\n    return [w.transpose(0, 1).contiguous() for w in ws]\n",
    "map": "def f(ws: list[torch.Tensor]):\n    return list(map(lambda w: w.transpose(0, 1).contiguous(), ws))\n",
    "collate": "def collate_fn(batch: list[torch.Tensor]):\n    return batch[0].transpose(0, 1).contiguous()\n",
    "dataset": (
        "class Images(torch.utils.data.Dataset):\n    def __getitem__(self, i):\n"
        "        return torch.rand(4, 5, 3).permute(2, 0, 1).contiguous()\n"
    ),
}


def codes(source: str, *select: str) -> list[str]:
    return [f.code for f in torchlayout.check(HEAD + source, settings=Settings(select=select or ("LAY3",)))]


@pytest.mark.parametrize("source", INVARIANT.values(), ids=INVARIANT)
def test_the_same_tensor_on_every_turn(source: str) -> None:
    assert codes(source) == ["LAY301"]


@pytest.mark.parametrize("source", EACH_TURN.values(), ids=EACH_TURN)
def test_another_tensor_on_every_turn(source: str) -> None:
    assert codes(source) == ["LAY302"]


@pytest.mark.parametrize(
    "inside",
    [
        "kept.append(w.t().contiguous())",
        "own = w.t().contiguous(); own.add_(1)",
        "unknown(w.t().contiguous())",
        "yield w.t().contiguous()",
    ],
)
def test_a_copy_that_each_turn_needs_is_not_to_be_hoisted(inside: str) -> None:
    source = f"def f(w, n, kept, unknown):\n    a, b = w.shape\n    for _ in range(n):\n        {inside}\n"
    assert codes(source) == ["LAY302"]


def test_a_tensor_that_the_loop_changes_is_not_to_be_hoisted() -> None:
    source = """\
def f(w, n):
    a, b = w.shape
    for _ in range(n):
        y = w.t().contiguous()
        w.sub_(y.t().sum())
"""
    assert codes(source) == ["LAY302"]


def test_what_is_copied_is_told_where_it_is_known() -> None:
    source = (
        HEAD + "def f(n):\n    for _ in range(n):\n        x = torch.rand(4, 5).t().contiguous()\n        print(x)\n"
    )
    (finding,) = torchlayout.check(source, settings=Settings(select=("LAY302",)))
    assert "copies 20 elements on every turn of the `for` loop on line 4" in finding.message


def test_hoisting_keeps_the_rest_of_the_loop() -> None:
    source = HEAD + (
        "def f(w, n):\n    a, b = w.shape\n    total = 0\n    for i in range(n):\n        # turned for the product\n"
        "        total = total + (w.t().contiguous() @ w).sum() * i  # sum\n    return total\n"
    )
    settings = Settings(select=("LAY301",))
    fixed = fix_text(source, lambda text: torchlayout.check(text, settings=settings), Safety.UNSAFE)
    assert fixed.text == HEAD + (
        "def f(w, n):\n    a, b = w.shape\n    total = 0\n    packed = w.t().contiguous()\n"
        "    for i in range(n):\n        # turned for the product\n"
        "        total = total + (packed @ w).sum() * i  # sum\n    return total\n"
    )
