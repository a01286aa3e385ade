"""LAY900 over what a call gave that is not known: nothing is said of its strides that is not proved."""

from __future__ import annotations

import pytest

import torchlayout
from torchlayout import Settings


def told(source: str) -> list[str]:
    head = "import torch\nfrom torchlayout import reveal_layout\n\n"
    return [finding.message for finding in torchlayout.check(head + source, settings=Settings(select=("LAY900",)))]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("batches.next()", "shape unknown, stride unknown, contiguous or not is unknown"),
        ("batches.next().t()", "shape unknown, stride unknown, contiguous or not is unknown"),
        ("batches.next().view(2, 3)", "shape (2, 3), stride (?, ?), contiguous or not is unknown"),
        ("batches.next().unsqueeze(0).permute(0, 1)", "shape (1, ?), stride (?, ?), contiguous or not is unknown"),
        ("batches.next().contiguous()", "shape unknown, stride unknown, contiguous (proved)"),
        ("batches", "shape unknown, stride unknown, contiguous (if the inputs are contiguous and no size is 1)"),
    ],
)
def test_what_an_unknown_call_gave_is_not_taken_to_be_contiguous(line: str, message: str) -> None:
    (found,) = told(f"def f(batches):\n    reveal_layout({line})\n")
    assert found.startswith(message)


def test_parts_of_a_stack_of_unknown_tensors_may_be_strided() -> None:
    found = told("def f(batch):\n    xs, ys = zip(*batch)\n    reveal_layout(torch.stack(xs)[:, :5])\n")
    assert found and "contiguous or not is unknown" in found[0]


def test_a_caller_that_hands_over_nobody_knows_what_takes_nothing_away() -> None:
    (found,) = told("""\
def f(x: torch.Tensor):
    b, t = x.shape
    reveal_layout(x.t())

def g(batches):
    f(batches.next())
""")
    assert found.startswith("shape (t, b), stride (1, t), not contiguous (if the inputs are contiguous")


def test_an_alternative_that_is_not_known_takes_part() -> None:
    (found,) = told("""\
def f(batches, known):
    x = torch.zeros(3, 4) if known else batches.next()
    reveal_layout(x)
""")
    assert "contiguous or not is unknown" in found
