"""Every example of every rule, run on torch: marked lines do what the rule says, the others run."""

from __future__ import annotations

import pytest
import torch
from claims import CLAIMS
from programs import examples, marks, run, same_values, without_marks

from torchlayout.rules.base import Example

DEVICES = [
    "cpu",
    pytest.param(
        "cuda",
        marks=[
            pytest.mark.cuda,
            pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device here"),
        ],
    ),
]
RAISING = ("LAY101", "LAY102", "LAY103", "LAY104", "LAY105", "LAY106")


def _skip_unless_there(example: Example, device: str) -> None:
    if example.needs == "cuda" and device != "cuda":
        pytest.skip("torch shows this on CUDA only")
    if example.needs not in (None, "cuda"):
        pytest.importorskip(example.needs)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("code", "example"), [pytest.param(c, e, id=i) for c, i, e in examples("invalid")])
def test_torch_bears_out_the_marks(code: str, example: Example, device: str) -> None:
    _skip_unless_there(example, device)
    seen = run(example.source, device)
    found = marks(example.source)
    assert code in {marked for _, marked in found}
    for line, marked in found:
        assert CLAIMS[marked](example.source, line, seen, device), (marked, line, seen.error, seen.at(line))
    if not any(marked in RAISING for _, marked in found):
        assert seen.error is None


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("example", [pytest.param(e, id=i) for _, i, e in examples("valid", "near_misses")])
def test_what_is_left_alone_runs(example: Example, device: str) -> None:
    _skip_unless_there(example, device)
    seen = run(example.source, device)
    assert seen.error is None, (seen.line, seen.error)
    for line, marked in marks(example.source):
        assert CLAIMS[marked](example.source, line, seen, device), (marked, line)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("code", "example"), [pytest.param(c, e, id=i) for c, i, e in examples("invalid") if e.fixed is not None]
)
def test_fixed_programs_run_and_compute_the_same(code: str, example: Example, device: str) -> None:
    _skip_unless_there(example, device)
    source = without_marks(example.source)
    for old, new in example.fixed or ():
        assert old in source
        source = source.replace(old, new)
    mended = run(source, device)
    assert mended.error is None, (mended.line, mended.error)
    if code not in RAISING:
        assert same_values(run(without_marks(example.source), device), mended)
