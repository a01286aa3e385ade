"""LAY301, LAY302 and LAY303 over the kinds of loops, and the fix that hoists."""

from __future__ import annotations

import textwrap

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


NOW_AND_THEN = {
    "filled once": "if kept is None:\n    kept = w.t().contiguous()",
    "filled once, the other way round": "if kept is not None:\n    pass\nelse:\n    kept = w.t().contiguous()",
    "filled once, not negated": "if not kept is not None:\n    kept = w.t().contiguous()",
    "filled where it was set before": "if kept is not None:\n    print(w.t().contiguous())\nkept = 1",
    "attribute": "if obj.kept is None:\n    obj.kept = w.t().contiguous()",
    "asked of a cache": "if obj.get('w') is None:\n    obj['w'] = w.t().contiguous()",
    "a cache": "if 'w' not in obj:\n    obj['w'] = w.t().contiguous()",
    "some turns": "if i in obj:\n    print(w.t().contiguous())",
    "first turn": "if i == 0:\n    print(w.t().contiguous())",
    "other turns": "if i != 0:\n    print(w.t().contiguous())",
    "last turn": "if i == len(obj) - 1:\n    print(w.t().contiguous())",
    "every hundredth": "if i % 100 == 0:\n    print(w.t().contiguous())",
    "not every hundredth": "if not (i + 1) % 100:\n    print(w.t().contiguous())",
    "counted": "if count == 3:\n    print(w.t().contiguous())\ncount += 1",
    "counted elsewhere": "if obj.step % 100 == 0:\n    print(w.t().contiguous())",
    "flag": "if first:\n    print(w.t().contiguous())\nfirst = False",
    "flag taken down": "if not first:\n    print(w.t().contiguous())\n    first = True",
    "flag of an object": "if obj.first:\n    print(w.t().contiguous())\n    obj.first = False",
    "and": "if mode and i == 0:\n    print(w.t().contiguous())",
    "or": "if kept is None or i == 0:\n    kept = w.t().contiguous()",
    "neither": "if mode or i % 2:\n    pass\nelse:\n    print(w.t().contiguous())",
    "elif": "if mode:\n    pass\nelif i == 0:\n    print(w.t().contiguous())",
    "expression": "print(w.t().contiguous() if i == 0 else w)",
    "deeper": "if i == 0:\n    if mode:\n        with obj:\n            print(w.t().contiguous())",
    "walrus": "if (kept := i % 2):\n    print(w.t().contiguous())",
}
ON_EVERY_TURN = {
    "mode": "if mode:\n    print(w.t().contiguous())",
    "mode of an object": "if obj.training:\n    print(w.t().contiguous())",
    "not a mode": "if not mode:\n    print(w.t().contiguous())",
    "a number of the function": "if first == 0:\n    print(w.t().contiguous())",
    "given": "if mode is not None:\n    print(w.t().contiguous())",
    "or a mode": "if mode or i == 0:\n    print(w.t().contiguous())",
    "rank": "if w.dim() == 2:\n    print(w.t().contiguous())",
    "rank by attribute": "if w.ndim == 2:\n    print(w.t().contiguous())",
    "beside": "if i == 0:\n    print(i)\nprint(w.t().contiguous())",
    "in the test": "if w.t().contiguous().sum() == i:\n    print(i)",
    "of a loop around": "if i == 0:\n    for j in obj:\n        print(w.t().contiguous())",
    "text": "if obj.kind == 'a':\n    print(w.t().contiguous())",
}


def turn(body: str, copy: str = "contiguous()") -> str:
    head = "def f(w, n, obj, mode, kept, first, count):\n    a, b = w.shape\n    for i in range(n):\n"
    return head + textwrap.indent(body.replace("contiguous()", copy), " " * 8) + "\n"


@pytest.mark.parametrize("copy", ["contiguous()", "reshape(-1)"])
@pytest.mark.parametrize("body", NOW_AND_THEN.values(), ids=NOW_AND_THEN)
def test_a_copy_that_few_turns_make_is_left_alone(body: str, copy: str) -> None:
    assert codes(turn(body, copy)) == []


@pytest.mark.parametrize("copy", ["contiguous()", "reshape(-1)"])
@pytest.mark.parametrize("body", ON_EVERY_TURN.values(), ids=ON_EVERY_TURN)
def test_a_copy_under_a_test_that_turns_do_not_change_is_reported(body: str, copy: str) -> None:
    assert len(codes(turn(body, copy))) == 1


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ("w.transpose(0, 1).contiguous() for i, w in enumerate(ws) if i == 0", []),
        ("w.transpose(0, 1).contiguous() for w in ws if w is not None", ["LAY302"]),
        ("w.transpose(0, 1).contiguous() if i % 2 else w for i, w in enumerate(ws)", []),
        ("w.transpose(0, 1).contiguous() if mode else w for w in ws", ["LAY302"]),
    ],
)
def test_tests_of_comprehensions(element: str, expected: list[str]) -> None:
    assert codes(f"def f(ws: list[torch.Tensor], mode):\n    return [{element}]\n") == expected


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("'image' in item", ["LAY302"]),
        ("i not in self.kept", []),
        ("self.kept is None", []),
        ("i is not None", ["LAY302"]),
    ],
)
def test_what_a_data_set_makes_once(test: str, expected: list[str]) -> None:
    source = (
        "class Images(torch.utils.data.Dataset):\n    def __getitem__(self, i):\n        item = self.items[i]\n"
        f"        if {test}:\n            self.kept = torch.rand(4, 5, 3).permute(2, 0, 1).contiguous()\n"
        "        return self.kept\n"
    )
    assert codes(source) == expected
