"""How messages speak of layouts of which little is known."""

from __future__ import annotations

import pytest

from torchlayout.check.engine import check
from torchlayout.layouts import Dim, Layout
from torchlayout.ops import Operand
from torchlayout.rules import tell
from torchlayout.sizes import Facts, Symbols

NEW = Symbols()
UNKNOWN = Dim(NEW.fresh("a size"), None)
OTHER = Dim(NEW.fresh("another size"), None)
ANY_NUMBER = Dim(1, None, NEW.fresh_rest("dimensions"))


@pytest.mark.parametrize(
    ("dims", "words"),
    [
        ((Dim(3, 4), Dim(4, 1)), "sizes (3, 4) and strides (4, 1)"),
        ((Dim(3, None), Dim(4, 1)), "sizes (3, 4) and strides (?, 1)"),
        ((Dim(3, None), Dim(4, None)), "sizes (3, 4) and unknown strides"),
        ((UNKNOWN, OTHER._replace(stride=1)), "2 dimensions of unknown sizes and strides (?, 1)"),
        ((UNKNOWN, OTHER), "2 dimensions of unknown sizes and strides"),
        ((UNKNOWN,), "1 dimension of unknown size and stride"),
        ((), "sizes () and strides ()"),
        ((UNKNOWN, ANY_NUMBER, OTHER), "at least 2 dimensions of unknown sizes and strides"),
        ((ANY_NUMBER,), "an unknown number of dimensions"),
        ((ANY_NUMBER, Dim(3, 1)), "sizes (..., 3) and strides (..., 1)"),
    ],
)
def test_what_is_not_known_is_said_in_words(dims: tuple[Dim, ...], words: str) -> None:
    operand = Operand(Layout(dims))
    assert tell.layout_text(operand, Facts()) == words
    number_known = ANY_NUMBER not in dims or Dim(3, 1) in dims
    assert tell.layout_in_brackets(operand, Facts()) == (f" ({words})" if number_known else "")


def test_nothing_is_said_where_there_is_no_tensor() -> None:
    assert tell.layout_in_brackets(None, Facts()) == ""


@pytest.mark.parametrize(
    ("view", "sizes"),
    [
        ("x.transpose(1, 2).view(b, -1)", "d and c"),
        ("x[:, 1:].transpose(1, 2).view(b, -1)", "d and c - 1"),
        ("x[:, :-1].view(-1)", "b"),
    ],
)
def test_the_sizes_that_have_to_be_above_1_are_told(view: str, sizes: str) -> None:
    text = f"import torch\n\ndef f(x):\n    b, c, d = x.shape\n    return {view}\n"
    (finding,) = check(text, "f.py")
    assert f"raises for {sizes} above 1 " in finding.message
