"""The functions of `torch.distributed` and the savers, under every name by which they are imported."""

from __future__ import annotations

import inspect

import pytest
import torch.distributed as dist

import torchlayout
from torchlayout import Settings
from torchlayout.rules.collectives import WRITTEN
from torchlayout.rules.contiguity_needs import NEEDS, Need

FORMS = {
    "from": ("from {module} import {name}", "{name}"),
    "the module by another name": ("import {module} as m", "m.{name}"),
    "the module from its package": ("from {package} import {last}", "{last}.{name}"),
    "the whole path": ("import {module}", "{module}.{name}"),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("need", [n for n in NEEDS if n.path != "torch.frombuffer"], ids=lambda need: need.path)
def test_every_function_is_seen_however_it_is_imported(need: Need, form: tuple[str, str]) -> None:
    module, _, name = need.path.rpartition(".")
    package, _, last = module.rpartition(".")
    imported, called = (text.format(module=module, name=name, package=package, last=last) for text in form)
    for _, keyword in need.arguments:
        value = "[x.t()]" if "list" in keyword or keyword == "tensors" else "x.t()"
        head = f"import torch\n{imported}\n\ndef f(x: torch.Tensor):\n    b, t = x.shape\n"
        source = f"{head}    {called}({keyword}={value})\n"
        found = torchlayout.check(source, settings=Settings(select=("LAY106",)))
        assert [finding.span.line for finding in found] == [6]


def test_collectives_may_be_imported_from_where_they_are_defined() -> None:
    source = """\
from torch.distributed.distributed_c10d import isend

def f(x):
    b, t = x.shape
    isend(x.t(), 1)
"""
    (finding,) = torchlayout.check(source, settings=Settings(select=("LAY106",)))
    assert finding.span.line == 5


@pytest.mark.parametrize("name", WRITTEN)
def test_results_are_written_into_the_first_argument(name: str) -> None:
    function = getattr(dist, name, None)
    if function is None:
        pytest.skip(f"this torch has no {name}")
    assert next(iter(inspect.signature(function).parameters)) == WRITTEN[name]


@pytest.mark.parametrize(
    ("call", "remedy"), [("all_reduce(x.t())", "copy the result back"), ("send(x.t(), 1)", "pack it")]
)
def test_a_copy_is_advised_where_it_loses_no_result(call: str, remedy: str) -> None:
    source = f"import torch\nimport torch.distributed as dist\n\ndef f(x: torch.Tensor):\n    dist.{call}\n"
    (found,) = torchlayout.check(source, settings=Settings(select=("LAY106",)))
    assert remedy in found.message
