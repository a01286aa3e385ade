"""The table of who refuses strided tensors, asked of torch where one process on a CPU can show it."""

from __future__ import annotations

import importlib
import inspect
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from programs import run

import torchlayout
from torchlayout import Settings
from torchlayout.fixing.engine import fix_text
from torchlayout.ops import find_function
from torchlayout.rules.contiguity_needs import NEEDS, Need, find
from torchlayout.rules.finding import Safety


def function_of(need: Need) -> Any:
    module, _, name = need.path.rpartition(".")
    if module.startswith("safetensors"):
        pytest.importorskip("safetensors.torch")
    found = getattr(importlib.import_module(module), name, None)
    if found is None:
        pytest.skip(f"torch {torch.__version__} has no {need.path}")
    return found


@pytest.fixture
def alone() -> Iterator[None]:
    """A process group of this process."""
    if not dist.is_available():
        pytest.skip("torch is built without torch.distributed")
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        yield
    finally:
        dist.destroy_process_group()


@pytest.mark.parametrize("need", NEEDS, ids=[need.path for need in NEEDS])
def test_arguments_are_where_the_table_has_them(need: Need) -> None:
    names = list(inspect.signature(function_of(need)).parameters)
    for position, keyword in need.arguments:
        assert names[position] == keyword


def strided() -> torch.Tensor:
    return torch.randn(4, 6)[:, :4]


@pytest.mark.parametrize("name", ["isend", "irecv", "recv"])
def test_point_to_point_refuses_with_gloo(alone: None, name: str) -> None:
    with pytest.raises(RuntimeError, match="has to be contiguous"):
        getattr(dist, name)(strided(), 0)


def test_all_to_all_single_refuses_its_input_on_every_backend(alone: None) -> None:
    with pytest.raises(ValueError, match="must be contiguous"):
        dist.all_to_all_single(torch.empty(4, 4), strided())
    channels_last = torch.randn(2, 3, 4, 4).to(memory_format=torch.channels_last)
    dist.all_to_all_single(torch.empty(2, 3, 4, 4), channels_last)
    need = find("torch.distributed.all_to_all_single")
    assert need is not None and need.dense_enough


@pytest.mark.parametrize("name", ["all_reduce", "broadcast", "reduce", "gather", "scatter"])
def test_gloo_accepts_what_the_table_says_nccl_refuses(alone: None, name: str) -> None:
    """NCCL needs GPUs and could not be run: its test is `check_gpu_single_tensor` in ProcessGroupNCCL.cpp."""
    need = find(f"torch.distributed.{name}")
    assert need is not None and need.where == "with NCCL"
    lists = {"gather": [torch.empty(4, 4)], "scatter": [torch.empty(4, 4)]}
    arguments = {"broadcast": (0,), "reduce": (0,), "all_reduce": ()}.get(name, (lists.get(name),))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(dist, name)(strided(), *arguments)


def test_safetensors_refuses() -> None:
    safetensors = pytest.importorskip("safetensors.torch")
    with pytest.raises(ValueError, match="non contiguous"):
        safetensors.save({"weight": strided()})
    with tempfile.TemporaryDirectory() as folder, pytest.raises(ValueError, match="non contiguous"):
        safetensors.save_file({"weight": strided()}, str(Path(folder) / "a.safetensors"))


ARRAYS = {
    "every other column": "np.ones((4, 6))[:, ::2]",
    "columns from the start": "np.ones((4, 6))[:, :3]",
    "rows from the start": "np.ones((4, 6))[:2]",
    "turned": "np.ones((4, 6)).T",
    "turned twice": "np.ones((4, 6)).T.T",
    "turned, of one row": "np.ones((1, 6)).T",
    "reversed": "np.ones(6)[::-1]",
    "broadcast": "np.broadcast_to(np.ones(3), (4, 3))",
    "packed again": "np.ones((4, 6)).T.copy()",
    "bytes": "bytearray(16)[::2]",
}


@pytest.mark.parametrize("by", ["", "buffer="])
@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_buffers_of_arrays(array: str, by: str) -> None:
    """What torch refuses is reported, and mended by the fix; what it takes is left alone."""
    source = f"import numpy as np\nimport torch\n\nout = torch.frombuffer({by}{array}, dtype=torch.float64)\n"
    error = run(source).error
    assert error is None or "could not retrieve buffer" in str(error)
    assert [finding.code for finding in torchlayout.check(source)] == ["LAY106"] * (error is not None)
    assert run(fix_text(source, torchlayout.check, Safety.UNSAFE).text).error is None


def test_the_table_holds_no_operators() -> None:
    """Calls of operators are not recorded as calls of other functions: rows refuse for themselves."""
    assert [need.path for need in NEEDS if find_function(need.path)] == []


ALONE = Settings(select=("LAY106",))


def asked(need: Need, place: int | str) -> str:
    """A program that hands a strided tensor to one argument."""
    given = ", ".join(["y"] * place + ["x.t()"]) if isinstance(place, int) else f"{place}=x.t()"
    module = need.path.rpartition(".")[0]
    return (
        f"import torch\nimport {module}\n\n\ndef f(x: torch.Tensor, y):\n    a, b = x.shape\n    {need.path}({given})\n"
    )


@pytest.mark.parametrize("inside", ["{}", "[{}]", "{{'a': {}}}"])
@pytest.mark.parametrize("need", NEEDS, ids=[need.path for need in NEEDS])
def test_the_linter_reports_every_argument(need: Need, inside: str) -> None:
    for place in {place for argument in need.arguments for place in argument}:
        source = asked(need, place).replace("x.t()", inside.format("x.t()"))
        (finding,) = torchlayout.check(source, settings=ALONE)
        assert finding.span.line == 7
        assert need.says in finding.message and need.where in finding.message
        packed = source.replace("x.t()", "x.t().contiguous()")
        assert torchlayout.check(packed, settings=ALONE) == []


def test_a_cpu_accepts_strided_hidden_states() -> None:
    """cuDNN does not (`rnn: hx is not contiguous`), which needs a GPU to be seen: LAY106's example shows it there."""
    hidden = torch.zeros(3, 2, 8).transpose(0, 1)
    torch.nn.GRU(4, 8, num_layers=2)(torch.randn(5, 3, 4), hidden)


SOURCE = """\
import torch
from kernels import fused

def f(x: torch.Tensor):
    b, t, c = x.shape
    fused(x, x.transpose(1, 2), scale=x.transpose(1, 2))
"""


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [(("0",), 0), (("1",), 1), (("scale",), 1), (("1", "scale"), 2), (("*",), 2), (("other",), 0)],
)
def test_functions_that_users_name(arguments: tuple[str, ...], reported: int) -> None:
    settings = Settings(select=("LAY106",), need_contiguous=(("kernels.fused", arguments),))
    found = torchlayout.check(SOURCE, settings=settings)
    assert [finding.code for finding in found] == ["LAY106"] * reported
    bare = Settings(select=("LAY106",), need_contiguous=(("fused", arguments),))
    assert len(torchlayout.check(SOURCE, settings=bare)) == reported
