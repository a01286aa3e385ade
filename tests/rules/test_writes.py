"""LAY105 and LAY108 over the ways to write in place: each program is run on torch too."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from claims import CLAIMS
from programs import marks, run

import torchlayout

LOST = {
    "add_": "x.t().reshape(-1).add_(1)",
    "sub_ of flatten": "x.t().flatten().sub_(1)",
    "zero_ of contiguous": "x.t().contiguous().zero_()",
    "fill_ of a mask": "x[x > 0].fill_(0.0)",
    "mul_ of a list": "x[[0, 1]].mul_(2)",
    "copy_": "x.t().reshape(-1).copy_(torch.ones(12))",
    "masked_fill_": "x.t().contiguous().masked_fill_(x.t() > 0, 0.0)",
    "index_put_": "x.t().contiguous().index_put_((torch.tensor([0]),), torch.tensor(1.0))",
    "assignment": "x.t().reshape(-1)[0] = 1.0",
    "assignment to all": "x.t().contiguous()[...] = 1.0",
    "assignment by mask": "x.t().reshape(-1)[x.reshape(-1) > 0] = 1.0",
    "out": "torch.add(x.reshape(-1), 1, out=x.t().reshape(-1))",
    "init": "torch.nn.init.zeros_(x.t().reshape(-1))",
    "data": "x.data.t().reshape(-1).add_(1)",
    "a view of the copy": "x.t().reshape(-1).view(3, 4).add_(1)",
}

KEPT = {
    "through a view": "x.t().add_(1)",
    "reshape that is a view": "x.reshape(-1).add_(1)",
    "flatten that is a view": "x.flatten()[0] = 1.0",
    "contiguous that does nothing": "x.contiguous().zero_()",
    "assignment by mask": "x[x > 0] = 0.0",
    "augmented assignment by mask": "x[x > 0] += 1.0",
    "the result is used": "y = x.t().reshape(-1).add_(1)",
    "a clone, on purpose": "x.clone().add_(1)",
}

READ = (
    "print(a)", 's = f"{a}"', 's = f"{1:>{int(a[1])}}"', 's = "{}".format(a)', 's = "%s" % a', 's = "%s" % (a,)',
    "for v in a: print(v)", "sum(a)", "max(a)", "min(a[1], 3)", "2 in a", "not a[1]", "int(a[1])", "float(a[1])",
    "torch.zeros(int(a[1]), 3)", "d[int(a[1])] = 3", "d[a[1]] = 3", "s = {a[1]}", "x[:, a % 3] = 3", "y[a] = 3",
    "y[:, a] = 3", "y[[a[1], 1]] = 3", "s = q[a[1]]", "s = q[: a[1]]", "del q[a[1]]", "if a.any(): pass",
    "if a[1]: pass", "while a[1]: break", "assert a[0]", "s = 0 < a[0] < 3", "s = a[1] and 3", "s = 3 if a[1] else 4",
    "s = [i for i in q if a[1]]", "print(*a)", "s = [*a]", "s, *t = a", "list(a)", "zip(q, a)", "enumerate(a)",
    "list(map(int, a))", "abs(a)", "range(a[1])", "sorted(a)", "reversed(a)", "next(iter(a))", "s = [v for v in a]",
)  # fmt: skip
"""What looks at the elements of the copy `a`."""


def program(line: str, code: str = "") -> str:
    mark = f"  # {code}" if code else ""
    return f"""\
import torch


def update():
    x = torch.randn(3, 4)
    {line}{mark}
    return {"y" if line.startswith("y =") else "x"}


out = update()
"""


@pytest.mark.parametrize("line", LOST.values(), ids=LOST)
def test_a_write_to_a_copy_is_lost(line: str) -> None:
    source = program(line, "LAY108")
    seen = run(source)
    assert CLAIMS["LAY108"](source, 6, seen, "cpu")
    found = torchlayout.check(source)
    assert [(f.span.line, f.code) for f in found] == marks(source), [f.message for f in found]


@pytest.mark.parametrize("line", KEPT.values(), ids=KEPT)
def test_other_writes_are_left_alone(line: str) -> None:
    source = program(line)
    assert run(source).error is None
    assert not [f.message for f in torchlayout.check(source) if f.code in ("LAY105", "LAY108")]


def written_and(line: str) -> str:
    """A program that writes to a copy `a`, on line 7, and then does something else."""
    return f"""\
import torch


def update(y, q, d):
    x = torch.zeros(2, 3, dtype=torch.long)
    a = x.t().reshape(-1)
    a[0] = 2
    {line}


update(torch.zeros(6, 6), [0, 1, 2], {{}})
"""


@pytest.mark.parametrize("line", READ)
def test_a_copy_whose_elements_are_looked_at_is_read(line: str) -> None:
    source = written_and(line)
    assert run(source).error is None
    assert not [f.message for f in torchlayout.check(source) if f.code == "LAY108"]


@pytest.mark.parametrize("line", ["pass", "len(a)", "a.shape", "a.size(0)", "a.dtype", "a is None"])
def test_a_copy_that_is_asked_for_its_shape_is_not_read(line: str) -> None:
    source = written_and(line)
    assert run(source).error is None
    assert [(f.span.line, f.code) for f in torchlayout.check(source) if f.code == "LAY108"] == [(7, "LAY108")]


def test_an_index_of_an_assignment_is_read() -> None:
    source = """\
import torch


def scatter(y, n):
    rows = torch.arange(6).view(2, 3).t().reshape(-1)
    rows.clamp_(max=n - 1)
    y[rows] = 3
    return y


scatter(torch.zeros(4), 4)
"""
    assert run(source).error is None
    assert not torchlayout.check(source)


def test_a_copy_read_by_an_operation_that_gives_nobody_knows_what_is_read() -> None:
    source = """\
import torch


def weigh(labels, scale, n, decays):
    wanted = labels[..., 1:] != 0
    weights = wanted.clone().float()
    for i in range(n):
        decay = decays[i] + 1
        if scale:
            weights[i] *= decay
    return weights[wanted].view(-1)
"""
    assert run(f"{source}\n\nweigh(torch.ones(2, 4), True, 2, torch.ones(2, 3))\n").error is None
    assert not [f.message for f in torchlayout.check(source) if f.code == "LAY108"]


def test_a_copy_on_some_path_is_said_to_be_one() -> None:
    source = """\
import torch

def update(x, turn):
    rows, columns = x.shape
    y = x.t() if turn else x
    y.reshape(-1).add_(1)
"""
    (finding,) = torchlayout.check(source)
    assert finding.code == "LAY108" and "on some path" in finding.message


COLLECTIVES = """\
import torch
import torch.distributed as dist
from torch.distributed import irecv


def f(x, other, handles):
    rows, columns = x.shape
    x = x.t()
{lines}


def g():
    f(torch.zeros(3, 4), torch.zeros(4, 3), [])
"""
LOST_RESULTS = {
    "all_reduce": "dist.all_reduce(x.contiguous())",
    "all_reduce by keyword": "dist.all_reduce(tensor=x.contiguous(), op=dist.ReduceOp.MAX)",
    "all_reduce of a reshape": "dist.all_reduce(x.reshape(-1))",
    "all_reduce of a mask": "dist.all_reduce(x[x > 0])",
    "recv": "dist.recv(x.contiguous(), 0)",
    "irecv": "dist.irecv(x.contiguous(), 0).wait()",
    "irecv by its name": "irecv(x.contiguous(), 0).wait()",
    "irecv with a handle": "work = irecv(x.contiguous(), 0)\nwork.wait()",
    "scatter": "dist.scatter(x.contiguous(), None)",
    "all_gather_into_tensor": "dist.all_gather_into_tensor(x.contiguous(), other)",
    "reduce_scatter_tensor": "dist.reduce_scatter_tensor(x.contiguous(), other)",
    "all_to_all_single": "dist.all_to_all_single(x.contiguous(), other)",
    "a copy with a name": "packed = x.contiguous()\ndist.all_reduce(packed)",
    "a view of the copy": "dist.all_reduce(x.contiguous().view(-1))",
    "an asynchronous one": "dist.all_reduce(x.contiguous(), async_op=True)",
}
KEPT_RESULTS = {
    "the copy is returned": "packed = x.contiguous()\ndist.all_reduce(packed)\nreturn packed",
    "the copy is read": "packed = x.contiguous()\ndist.all_reduce(packed)\nx.copy_(packed)",
    "the copy is stored": "packed = x.contiguous()\ndist.all_reduce(packed)\nother.packed = packed",
    "a view of the copy is kept": "flat = x.contiguous().view(-1)\ndist.all_reduce(flat)\nreturn flat",
    "nothing is copied": "dist.all_reduce(x.t().contiguous())",
    "broadcast may only send": "dist.broadcast(x.contiguous(), 0)",
    "reduce may only send": "dist.reduce(x.contiguous(), 0)",
    "send": "dist.send(x.contiguous(), 0)",
    "the input": "dist.all_gather_into_tensor(other, x.contiguous())",
    "the handle gives it back": "work = dist.all_reduce(x.contiguous(), async_op=True)\nreturn work.result()",
    "the handle is returned": "return dist.all_reduce(x.contiguous(), async_op=True)",
    "the handle is kept": "handles.append(dist.all_reduce(x.contiguous(), async_op=True))",
    "the handle is handed on": "work = dist.all_reduce(x.contiguous(), async_op=True)\nhandles.append(work)",
    "the handle is kept for others": "global work\nwork = dist.all_reduce(x.contiguous(), async_op=True)\nwork.wait()",
    "a function that gives its result": "dist.nn.functional.all_reduce(x.contiguous())",
}


def with_collective(lines: str) -> list[str]:
    body = "".join(f"    {line}\n" for line in lines.split("\n"))
    source = COLLECTIVES.replace("{lines}\n", body)
    return [finding.message for finding in torchlayout.check(source) if finding.code == "LAY108"]


@pytest.mark.parametrize("lines", LOST_RESULTS.values(), ids=LOST_RESULTS)
def test_a_result_that_a_collective_writes_to_a_copy_is_lost(lines: str) -> None:
    (message,) = with_collective(lines)
    assert message.startswith("what `") and "keep the copy by a name" in message


@pytest.mark.parametrize("lines", KEPT_RESULTS.values(), ids=KEPT_RESULTS)
def test_results_that_somebody_may_read_are_left_alone(lines: str) -> None:
    assert not with_collective(lines)


def test_a_collective_leaves_its_result_in_the_copy_only() -> None:
    if not dist.is_available():
        pytest.skip("torch is built without torch.distributed")
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        x = torch.arange(6.0).view(2, 3).t()
        packed, gathered = x.contiguous(), torch.zeros(2, 3).t()
        work = dist.all_reduce(packed, async_op=True)
        work.wait()
        assert work.result()[0].data_ptr() == packed.data_ptr()
        dist.all_gather_into_tensor(gathered.contiguous(), packed)
        assert not gathered.any() and packed.any()
    finally:
        dist.destroy_process_group()


SHARED = {
    "add_": "rows.add_(1)",
    "augmented": "rows += 1",
    "copy_": "rows.copy_(torch.randn(3, 4))",
    "whole": "rows[:] = torch.randn(3, 4)",
    "a column": "rows[:, 0] = torch.randn(3)",
    "out": "torch.add(torch.ones(3, 4), 1, out=rows)",
    "init": "torch.nn.init.normal_(rows)",
    "masked_scatter_": "rows.masked_scatter_(torch.ones(3, 4, dtype=torch.bool), torch.randn(12))",
}
SILENT = {
    "a row": "rows[0] = torch.randn(4)",
    "a row, augmented": "rows[0] += 1",
    "by mask": "rows[torch.zeros(3, 4, dtype=torch.bool)] = 1.0",
    "masked_fill_": "rows.masked_fill_(torch.zeros(3, 4, dtype=torch.bool), 1.0)",
    "index_fill_": "rows.index_fill_(0, torch.tensor([0]), 1.0)",
}


def expanded(line: str) -> str:
    return f"import torch\n\ndef f(x):\n    rows = torch.zeros(1, 4).expand(3, 4)\n    {line}  # LAY105\n\nf(0)\n"


@pytest.mark.parametrize("line", SHARED.values(), ids=SHARED)
def test_writes_that_torch_refuses(line: str) -> None:
    source = expanded(line)
    seen = run(source)
    assert isinstance(seen.error, RuntimeError) and "more than one element" in str(seen.error)
    (finding,) = torchlayout.check(source)
    assert (finding.code, finding.span.line) == ("LAY105", 5) and "raises" in finding.message


@pytest.mark.parametrize("line", SILENT.values(), ids=SILENT)
@pytest.mark.filterwarnings("ignore")
def test_writes_that_go_astray_silently(line: str) -> None:
    source = expanded(line)
    assert run(source).error is None
    (finding,) = torchlayout.check(source)
    assert (finding.code, finding.span.line) == ("LAY105", 5) and "silently" in finding.message


def test_windows_that_overlap_are_written_several_times() -> None:
    assert torch.arange(5.0).unfold(0, 3, 1).add_(1) is not None  # torch lets it pass
    source = "import torch\n\ndef f(x):\n    torch.arange(5.0).unfold(0, 3, 1).add_(1)\n"
    (finding,) = torchlayout.check(source)
    assert finding.code == "LAY105" and "silently" in finding.message
