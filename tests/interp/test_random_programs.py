"""Random programs: what the linter says of them must not contradict what torch does when they run."""

from __future__ import annotations

from random import Random

import pytest
import torch
from differing import Comparison, compare
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_programs import RandomProgram, write

SAMPLE = range(120)
MANY = range(120, 3120)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def check(program: RandomProgram) -> Comparison:
    found = compare(program)
    assert not found.wrong, "\n".join([*found.wrong[:4], program.source])
    return found


def test_sample() -> None:
    """A part that is the same on every machine; it must compare something of each kind."""
    found = [check(write(Random(seed))) for seed in SAMPLE]
    assert sum(one.facts for one in found) > 3000
    assert sum(one.views for one in found) > 150
    assert sum(one.packs for one in found) > 250
    assert sum(one.reported for one in found) > 5


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_any(random: Random) -> None:
    """The same with Hypothesis choosing, so that what it finds is made small."""
    check(write(random))


@pytest.mark.full
@pytest.mark.parametrize("start", MANY[::100])
def test_many(start: int) -> None:
    for seed in range(start, start + 100):
        check(write(Random(seed)))


def test_the_same_seed_gives_the_same_program() -> None:
    assert write(Random(7)).source == write(Random(7)).source


def test_a_wrong_claim_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail: an interpreter that takes every slice for contiguous is caught."""
    from torchlayout.interp import operate
    from torchlayout.layouts import contiguous
    from torchlayout.ops import Operand, Result
    from torchlayout.ops import index as real

    def packed(operand: Operand, indices: list[object], facts: object) -> object:
        outcome = real(operand, indices, facts)  # type: ignore[arg-type]
        if isinstance(outcome, Result):
            return Result(contiguous(outcome.layout.shape), outcome.dtype, outcome.shares, outcome.numpy)
        return outcome

    monkeypatch.setattr(operate, "index", packed)
    assert any(compare(write(Random(seed))).wrong for seed in range(20))
