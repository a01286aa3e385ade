"""LAY104 where little is known of what is reversed: each program is run on torch too."""

from __future__ import annotations

import pytest
from programs import marks, run

import torchlayout

REFUSED = (
    ("x: torch.Tensor", "x[::-1]", "torch.zeros(3)"),
    ("x: torch.Tensor", "x[..., ::-1]", "torch.zeros(3, 4)"),
    ("x: torch.Tensor", "x[:, ::-1, :]", "torch.zeros(3, 4, 5)"),
    ("x", "torch.from_numpy(np.array(x)[:, :, ::-1])", "np.ones((3, 4, 5))"),
    ("x", "torch.from_numpy(np.array(x)[::-1])", "[1.0, 2.0]"),
    ("x", "torch.from_numpy(np.asarray(x)[::-1])", "[1.0, 2.0]"),
    ("x", "torch.as_tensor(np.asarray(x)[..., ::-1])", "np.ones((3, 4))"),
    ("x", "torch.from_numpy(np.flip(x))", "np.ones(3)"),
    ("x", "torch.from_numpy(np.flip(x))", "np.ones((3, 4, 5))"),
    ("x", "torch.from_numpy(np.flip(x, 0))", "np.ones((3, 4))"),
    ("x", "torch.from_numpy(np.flip(x, axis=(0, 1)))", "np.ones((3, 4))"),
    ("x", "torch.from_numpy(np.flipud(x))", "np.ones((3, 4))"),
    ("x", "torch.from_numpy(np.fliplr(x))", "np.ones((3, 4))"),
    ("x", "torch.tensor(np.rot90(x))", "np.ones((3, 4))"),
    ("x", "torch.from_numpy(np.rot90(x, 2))", "np.ones((3, 4, 5))"),
    ("x", "torch.from_numpy(np.rot90(x, -1))", "np.ones((3, 4))"),
)

ACCEPTED = (
    ("x", "x[::-1]", "np.ones(3)"),
    ("x", "x[:, :, ::-1]", "np.ones((3, 4, 5))"),
    ("x", "np.array(x)[:, ::-1]", "torch.ones(3, 4)"),
    ("x: torch.Tensor", "x.numpy()[::-1]", "torch.ones(3, 4)"),
    ("x: torch.Tensor", "np.asarray(x)[..., ::-1]", "torch.ones(3, 4)"),
    ("x", "torch.tensor(x[::-1])", "[1.0, 2.0]"),
    ("x", "torch.from_numpy(np.array(x))", "np.ones(3)"),
    ("x", "torch.from_numpy(np.array(x)[::-1].copy())", "np.ones(3)"),
    ("x", "torch.from_numpy(np.flip(np.flip(x)))", "np.ones((3, 4))"),
    ("x", "torch.from_numpy(np.flipud(np.flipud(x)))", "np.ones((3, 4))"),
    ("x", "torch.from_numpy(np.rot90(x, 4))", "np.ones((3, 4))"),
    ("x", "torch.from_numpy(np.rot90(np.rot90(x, -1)) + 0)", "np.ones((3, 4))"),
)


def program(parameter: str, line: str, argument: str, code: str = "") -> str:
    return f"""\
import numpy as np
import torch


def reverse({parameter}):
    return {line}{f"  # {code}" if code else ""}


reverse({argument})
"""


def function_alone(source: str) -> str:
    """The program without its call, from which the shapes would be known."""
    return source.rpartition("\n\n\n")[0] + "\n"


@pytest.mark.parametrize(("parameter", "line", "argument"), REFUSED)
def test_a_reversed_array_or_tensor_is_refused(parameter: str, line: str, argument: str) -> None:
    source = program(parameter, line, argument, "LAY104")
    assert run(source).error is not None
    found = torchlayout.check(function_alone(source))
    assert [(f.span.line, f.code) for f in found] == marks(source), [f.message for f in found]


@pytest.mark.parametrize(("parameter", "line", "argument"), ACCEPTED)
def test_what_may_be_reversed_is_left_alone(parameter: str, line: str, argument: str) -> None:
    source = program(parameter, line, argument)
    assert run(source).error is None
    assert not [f.message for f in torchlayout.check(function_alone(source)) if f.code == "LAY104"]


def test_a_parameter_that_is_made_an_array_may_be_reversed() -> None:
    source = program("x: torch.Tensor", "x[::-1]", "torch.ones(3)").replace(
        "    return", "    x = x.numpy()\n    return"
    )
    assert run(source).error is None
    assert not torchlayout.check(function_alone(source))


def test_the_reversal_is_named_whatever_came_after_it() -> None:
    source = """\
import numpy as np
import torch

image = np.zeros((4, 5, 3))[:, :, ::-1]
image = image.transpose(2, 0, 1)
torch.from_numpy(image[None])
"""
    (finding,) = torchlayout.check(source)
    assert finding.code == "LAY104"
    assert "made so by `np.zeros((4, 5, 3))[:, :, ::-1]` on line 4" in finding.message
