"""Every row's example, on eager torch over many layouts: sizes, strides of dimensions longer than 1, shared storage."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext

import pytest
import torch
import torch.nn.functional as F
from conformance import Verdict, check_example, refused_for_values, rows_of
from real_layouts import inputs

from torchlayout.ops import all_rows
from torchlayout.ops.table import Op

EVERY_NTH = 7
"""Of the input layouts, in the ordinary run; the full run takes all."""


def _rows() -> list[Op]:
    seen: dict[int, Op] = {id(row): row for row in all_rows()}
    return [row for row in seen.values() if row.example]


ROWS = _rows()
INPUTS = inputs()
IDS = [f"{row.name}-{row.example}"[:60] for row in ROWS]


def run_example(row: Op, device: str, step: int) -> Counter[str]:
    """Verdicts on a row's example, what it makes of nothing made on the device too. Fails on a wrong one."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    number = ROWS.index(row) % step
    for name, x in INPUTS[number::step] if device == "cpu" else inputs(device)[number::step]:
        try:
            with nullcontext() if device == "cpu" else torch.device(device):
                verdict: Verdict = check_example(row.example, x)
        except ImportError as missing:
            pytest.skip(str(missing))
        counts[verdict.kind] += 1
        if verdict.kind in ("wrong", "absent"):
            wrong.append(f"{row.example} on {name}: {verdict.kind}: {verdict.detail}")
    assert not wrong, "\n".join(wrong[:10])
    return counts


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_the_example_agrees_with_torch(row: Op) -> None:
    counts = run_example(row, "cpu", EVERY_NTH)
    if not counts["exact"] and not row.unknown:
        assert run_example(row, "cpu", 1)["exact"], f"{row.example} never comes out exact, and the row says not why"


@pytest.mark.full
@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_the_example_agrees_with_torch_in_every_layout(row: Op) -> None:
    run_example(row, "cpu", 1)


@pytest.mark.cuda
@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_the_example_agrees_with_cuda(row: Op) -> None:
    run_example(row, "cuda", EVERY_NTH)


def test_values_that_a_device_would_assert_on() -> None:
    """They are tried on a CPU first: a CUDA kernel that meets one takes the whole process with it."""
    x, weight = torch.rand(3), torch.rand(4, 2)
    assert refused_for_values(torch.embedding, [weight, torch.tensor([9])], {})
    assert refused_for_values(torch.index_select, [x, 0, torch.tensor([3])], {})
    assert refused_for_values(F.nll_loss, [weight, torch.tensor([0, 1, 2, 0])], {})
    assert refused_for_values(F.one_hot, [torch.tensor([3]), 2], {})
    assert refused_for_values(torch.bernoulli, [x + 2], {})
    assert not refused_for_values(torch.index_select, [x, 0, torch.tensor([2])], {})
    assert not refused_for_values(torch.add, [x, weight], {})


def test_a_row_without_an_example_says_what_it_leaves_open() -> None:
    silent = [row.schema for row in all_rows() if not row.example and not row.unknown]
    assert not silent


def test_every_row_is_found_by_its_name() -> None:
    lost = [
        row.schema for row in all_rows() if not row.numpy and not row.spellings and not rows_of(f"Tensor.{row.name}")
    ]
    assert not lost


def test_every_spelling_finds_its_row() -> None:
    for row in all_rows():
        for path in row.spellings:
            found = rows_of(path if "." in path else f"Tensor.{path}")
            assert row in found or row.numpy, f"{path} finds another row than {row.schema}"


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_every_schema_can_be_read(row: Op) -> None:
    assert row.signature.name == row.name
    assert row.words, f"{row.schema} has no words for docs/ops.md"


def test_a_wrong_row_is_caught() -> None:
    """The machinery itself: a row that claims a packed result for `t` is wrong on a matrix."""
    from dataclasses import replace

    from conformance import check_call

    from torchlayout.layouts import contiguous
    from torchlayout.ops import Result, find_method, table

    row = find_method("t")[0]
    lie = replace(row, transfer=lambda args: Result(contiguous(tuple(reversed(args.layout().sizes)))))
    table._ROWS["t"], kept = [lie], table._ROWS["t"]
    try:
        verdict = check_call("Tensor.t", [torch.rand(2, 3)])
    finally:
        table._ROWS["t"] = kept
    assert verdict.kind == "wrong"
    assert "strides" in verdict.detail
