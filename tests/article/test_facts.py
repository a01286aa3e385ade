"""What a simple-minded linter gets wrong: each fact shown on torch, and told by the linter."""

from __future__ import annotations

import pytest
import torch

from torchlayout.check.engine import check

FACTS = {
    "flip copies and follows its input": ["x.flip(0)", "x.t().flip(0)"],
    "elementwise results keep permuted strides": [
        "x.t() + 1", "torch.relu(x.t())", "x.t().clone()", "x.t().to(torch.float64)", "torch.zeros_like(x.t())",
        "x.t() == x.t()",
    ],
    "gaps go in elementwise operators": ["x[:, ::2] + 1", "x[:, ::2].clone()"],
    "the first operand decides": ["x.t() + c", "c + x.t()"],
    "packed whatever came in": [
        "x.t().softmax(0)", "x.t().cumsum(0)", "x.t() @ x", "torch.bmm(v, v.transpose(1, 2))",
        "torch.nn.functional.linear(x.t(), x.t())", "torch.nn.functional.layer_norm(x.t(), (3,))",
        "torch.stack([x.t(), x.t()])", "x.t().roll(1, 0)", "x.t().repeat(2, 1)",
        "torch.nn.functional.conv1d(v, v)", "x.t()[mask]",
    ],
    "channels_last goes through": [
        "torch.cat([n, n])", "torch.nn.functional.pad(n, (1, 1))", "torch.nn.functional.max_pool2d(n, 2)",
        "torch.nn.functional.interpolate(n, scale_factor=2.0)",
    ],
    "sorting and choosing keep order": ["x.t().sort(0).values", "x.t().argsort(0)", "torch.where(x.t() > 0, x.t(), c)"],
    "some of them pack": ["x.t().topk(2, 0).values", "x.t().gather(0, i)", "x.t().index_select(0, k)"],
    "column-major results": ["torch.linalg.cholesky(s)", "torch.linalg.inv(s)", "torch.linalg.qr(s).Q"],
    "to(memory_format=) may do nothing": ["x.t().to(memory_format=torch.contiguous_format)"],
    "slices": [
        "v[:, 0]", "v[:, 1:]", "v[1:]", "v.chunk(2, 1)[0]", "v.split(2, 0)[0]", "v.unbind(1)[0]", "v.narrow(1, 0, 2)",
    ],
    "sizes of 1 never matter": ["torch.randn(1, 5).t()", "v[:1].transpose(0, 1)"],
    "views that split": ["v.permute(0, 2, 1).view(4, 6, 1, 3)", "v.permute(0, 2, 1).view(2, 2, 6, 3)"],
    "expanded": ["torch.ones(1, 3).expand(2, 3)", "torch.ones(1, 3).expand(2, 3).clone()"],
}  # fmt: skip

HEAD = """\
import torch
from torchlayout import reveal_layout

x = torch.randn(3, 4)
c = torch.randn(4, 3)
v = torch.randn(4, 3, 6)
n = torch.randn(2, 4, 6, 8).to(memory_format=torch.channels_last)
s = torch.eye(3) * 2
i = torch.zeros(2, 3, dtype=torch.int64)
k = torch.tensor([0, 2])
mask = torch.tensor([True, False, True, True])
"""

UNKNOWABLE = {"x.t()[mask]"}
"""What depends on values: the sizes are not known, but that it is packed is."""

CASES = [pytest.param(expression, id=f"{fact}: {expression}") for fact, group in FACTS.items() for expression in group]


@pytest.mark.parametrize("expression", CASES)
def test_the_linter_says_what_torch_does(expression: str) -> None:
    names: dict[str, torch.Tensor] = {}
    exec(HEAD, names)
    real = eval(expression, names)  # the facts above
    (found,) = check(HEAD + f"reveal_layout({expression})\n", "fact.py")
    layout = found.layout
    assert layout is not None
    assert layout["contiguous"] == ("yes" if real.is_contiguous() else "no")
    if expression in UNKNOWABLE:
        return
    assert layout["shape"] == [str(size) for size in real.shape]
    strides = layout["stride"]
    assert isinstance(strides, list)
    for size, stride, told in zip(real.shape, real.stride(), strides, strict=True):
        assert size == 1 or told == str(stride)


REFUSED = {
    "torch.randn(2, 3).expand(4, 2, 3).add_(1)": (RuntimeError, "LAY105"),
    "torch.from_numpy(np.zeros((2, 3))[::-1])": (ValueError, "LAY104"),
    "torch.tensor(np.zeros((2, 3))[:, ::-1])": (ValueError, "LAY104"),
    "torch.randn(2, 3)[::-1]": (ValueError, "LAY104"),
    "torch.view_as_complex(torch.randn(2, 3).t())": (RuntimeError, "LAY103"),
    "torch.randn(2, 4).t().view(torch.float64)": (RuntimeError, "LAY103"),
    "torch.randn(2, 4).t().view(8)": (RuntimeError, "LAY101"),
}


@pytest.mark.parametrize("expression", REFUSED)
def test_what_torch_refuses_is_reported(expression: str) -> None:
    import numpy as np

    error, code = REFUSED[expression]
    with pytest.raises(error):
        eval(expression, {"torch": torch, "np": np})
    program = f"import numpy as np\nimport torch\n\ny = {expression}\n"
    assert [finding.code for finding in check(program, "refused.py")] == [code]


SILENT = ["x.fill_(1)", "x.zero_()"]


@pytest.mark.parametrize("statement", SILENT)
def test_writes_that_torch_lets_pass_are_left_alone(statement: str) -> None:
    head = "import torch\n\nx = torch.randn(3).expand(2, 3)\n"
    exec(head + statement, {})
    assert not [finding for finding in check(f"{head}{statement}\n", "silent.py") if finding.code == "LAY105"]
