"""Every operator that writes in place, on a tensor whose elements share memory: what torch refuses, LAY105 reports."""

from __future__ import annotations

import re

import pytest
import torch
from programs import run

import torchlayout
from torchlayout.ops import find_function, find_method
from torchlayout.ops.modules import all_modules
from torchlayout.ops.table import all_rows
from torchlayout.rules.in_place import IN_PLACE_WORDS
from torchlayout.rules.lay105_write_to_overlapping import SAME_EVERYWHERE

WORDS = {word.strip(".("): word for word in IN_PLACE_WORDS}
NAMESPACES = {"torch": torch, "torch.nn.functional": torch.nn.functional, "torch.nn.init": torch.nn.init}

WRITE_NOTHING = frozenset({
    "as_strided_", "detach_", "requires_grad_", "resize_", "resize_as_", "set_", "share_memory_", "squeeze_",
    "swapaxes_", "swapdims_", "t_", "transpose_", "unsqueeze_",
})  # fmt: skip
"""They change the layout, or what is known of the tensor."""

ARGUMENTS = {
    "add": "1", "addbmm": "y[None], y[None]", "addcdiv": "y, y", "addcmul": "y, y", "addmm": "y, y", "addmv": "y, y[0]",
    "addr": "y[0], y[0]", "alpha_dropout": "0.5, True", "apply": "abs", "baddbmm": "y[None], y[None]",
    "bernoulli": "0.5",
    "clamp": "0", "clamp_max": "0", "clamp_min": "0", "clip": "0", "constant": "1.0", "cumprod": "0", "cumsum": "0",
    "dropout": "0.5, True", "embedding_renorm": "torch.tensor([0]), 9.0, 2.0", "feature_alpha_dropout": "0.5, True",
    "feature_dropout": "0.5, True", "fill": "1", "fill_diagonal": "1", "geometric": "0.5",
    "index_add": "0, torch.tensor([0]), y[:1]", "index_copy": "0, torch.tensor([0]), y[:1]",
    "index_fill": "0, torch.tensor([0]), 1", "index_put": "(torch.tensor([0]),), torch.tensor(1.0)",
    "index_reduce": "0, torch.tensor([0]), y[:1], 'amax'", "lerp": "y, 0.5", "map": "y, max",
    "map2": "y, y, lambda a, b, c: a", "masked_fill": "y > 3, 1.0", "masked_scatter": "y > 0, y", "mvlgamma": "1",
    "polygamma": "1", "put": "torch.tensor([0]), torch.tensor([1.0])", "renorm": "2, 0, 1",
    "scatter": "0, y[:1].long(), 1.0", "scatter_add": "0, y[:1].long(), y",
    "scatter_reduce": "0, y[:1].long(), y, 'sum'", "sparse": "0.5", "threshold": "0.1, 20.0",
}  # fmt: skip
"""The arguments of operators beside the tensor, by name without the underscore; `y` is another tensor."""
OF_TWO = frozenset(
    "arctan2 atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copy copysign div divide"
    " eq float_power floor_divide fmod gcd ge greater greater_equal gt heaviside hypot igamma igammac lcm ldexp le less"
    " less_equal logical_and logical_or logical_xor lt mul multiply ne nextafter not_equal pow remainder sub subtract"
    " true_divide xlogy".split()
)
WHOLE = re.compile(r"bitwise|gcd|lcm")
"""Operators of integers."""
SHAPES = {"addmv_": "(4,)", "baddbmm_": "(1, 4, 4)", "dirac_": "(4, 4, 3)"}
WRITES_NO_MORE = frozenset({"embedding_renorm_"})
"""Rows that are too long raise; others are left as they are."""


def names() -> list[str]:
    """All names in torch that end as those of in-place operators do, and that the table has rows of."""
    found = {name for name in dir(torch.Tensor) if find_method(name)}
    for path, module in NAMESPACES.items():
        found |= {name for name in dir(module) if find_function(f"{path}.{name}")}
    return sorted(name for name in found if re.fullmatch(r"[^_].*[^_]_", name))


def program(call: str, name: str, shape: str = "(4, 4)") -> str:
    dtype = "int64" if WHOLE.search(name) else "float64" if name == "float_power_" else "float32"
    return f"""\
import torch
import torch.nn.functional as F
from torch import nn

def f():
    y = torch.ones(4, 4, dtype=torch.{dtype})
    x = torch.full((1,), 1, dtype=torch.{dtype}).expand({shape})
    {call}

f()
"""


def written(name: str) -> str:
    """A call of an in-place operator on `x`: the method where there is one."""
    base = name[:-1]
    arguments = "y" if base in OF_TWO else ARGUMENTS.get(base, "")
    if hasattr(torch.Tensor, name):
        return f"x.{name}({arguments})"
    path = next(path for path, module in NAMESPACES.items() if hasattr(module, name))
    return f"{path}.{name}(x{', ' * bool(arguments)}{arguments})"


def outcome(source: str) -> str:
    """What torch does: "raises", for the sake of the memory shared, or "runs"."""
    error = run(source).error
    assert error is None or "more than one element of the written-to tensor" in str(error), error
    return "runs" if error is None else "raises"


def reported(source: str) -> list[tuple[int, str]]:
    """The lines of LAY105's findings, each with what it says will happen."""
    found = [finding for finding in torchlayout.check(source) if finding.code == "LAY105"]
    return [(f.span.line, "raises" if " raises" in f.message else "runs") for f in found]


def test_every_name_is_a_word() -> None:
    assert [name for name in names() if name not in WORDS and name not in WRITE_NOTHING] == []


def test_every_word_is_an_operator() -> None:
    assert sorted(WORDS) == sorted(set(names()) - WRITE_NOTHING)


@pytest.mark.parametrize("name", sorted(WORDS))
@pytest.mark.filterwarnings("ignore")
def test_what_torch_refuses_is_reported(name: str) -> None:
    source = program(written(name), name, SHAPES.get(name, "(4, 4)"))
    told = outcome(source)
    assert reported(source) == ([] if name in SAME_EVERYWHERE | WRITES_NO_MORE else [(8, told)])
    assert told == "runs" or name not in SAME_EVERYWHERE


# ---------------------------------------------------------------- `inplace=True`
RANKS = {"dropout1d": "(2, 3, 4)", "dropout2d": "(2, 3, 4, 4)", "dropout3d": "(2, 3, 4, 4, 4)"}
FUNCTIONS = sorted({
    row.name for row in all_rows() if "bool inplace" in row.schema and hasattr(torch.nn.functional, row.name)
} - {"normalize"})  # fmt: skip
MODULES = sorted(
    row.name for row in all_modules() if "bool inplace" in row.schema and hasattr(torch.nn, row.name)
)  # fmt: skip


def shape_for(name: str) -> str:
    return RANKS.get(name.lower(), "(4, 4)")


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore")
def test_functions_told_to_write_in_place(name: str) -> None:
    more = "0.1, 20.0, " if name == "threshold" else "training=True, " if "dropout" in name else ""
    source = program(f"F.{name}(x, {more}inplace=True)", name, shape_for(name))
    assert reported(source) == [(8, "raises")] * (outcome(source) == "raises")
    assert reported(source.replace("inplace=True", "inplace=False")) == []


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.filterwarnings("ignore")
def test_modules_told_to_write_in_place(name: str) -> None:
    """Whether a dropout drops anything is decided by `train()` and `eval()`, wherever they are called."""
    more = "0.1, 20.0, " if name == "Threshold" else ""
    source = program(f"nn.{name}({more}inplace=True)(x)", name, shape_for(name))
    refused = outcome(source) == "raises" and "Dropout" not in name
    assert reported(source) == [(8, "raises")] * refused


@pytest.mark.parametrize("call", ["show(x)", "k.show(x)", "k.fill_(x)", "show(x, inplace=True)", "y.show(x)"])
def test_functions_that_are_not_known_may_only_read(call: str) -> None:
    source = (
        "import torch\nimport k\nfrom k import show\n\ndef f(y):\n    x = torch.zeros(1, 4).expand(3, 4)\n"
        f"    {call}\n    x = x.clone()\n    x += 1\n"
    )
    assert reported(source) == []


IN_A_MODULE = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU({})

    def forward(self, x):
        gray = x.mean(1, keepdim=True).expand(-1, 3, -1, -1)
        return self.act(gray)

Net()(torch.ones(2, 3, 4, 4))
"""


@pytest.mark.parametrize(("flag", "refused"), [("inplace=True", True), ("True", True), ("", False), ("False", False)])
def test_a_module_made_elsewhere_in_the_file(flag: str, refused: bool) -> None:
    source = IN_A_MODULE.format(flag)
    assert outcome(source) == ("raises" if refused else "runs")
    assert reported(source) == [(11, "raises")] * refused


def test_a_function_that_is_handed_the_tensor() -> None:
    source = "import torch\n\ndef g(x):\n    x.cumsum_(0)\n\ndef f():\n    g(torch.zeros(1, 4).expand(3, 4))\n\nf()\n"
    assert outcome(source) == "raises"
    assert reported(source) == [(4, "raises")]
