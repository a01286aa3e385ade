"""torch's own catalogue of operators: the table's answers over its sample inputs and their variants.

The ordinary run takes few samples and few variants of each operator, always the same ones; `-m full` takes all.
"""

from __future__ import annotations

import functools
from typing import Any

import pytest
from sweep import Tally, both, catalogue, sweep

SAMPLES, FORMS = 2, 4
EXACT_SHARE, COVERED_SHARE = 0.95, 0.95
"""Exact has to be this share of an operator's comparisons, over this share of the operators."""

INFOS = catalogue()


def _name(info: Any) -> str:
    return f"{info.name}.{info.variant_test_name}" if info.variant_test_name else str(info.name)


IDS = [_name(info) for info in INFOS]


def _assert_right(tally: Tally) -> None:
    assert not tally.counts["wrong"], "\n".join(tally.wrong)


@functools.cache
def sampled(place: int) -> tuple[Tally, Tally]:
    """The ordinary run's tallies of one operator, without and with the device known."""
    return both(INFOS[place], "cpu", SAMPLES, FORMS)


@pytest.mark.parametrize("place", range(len(INFOS)), ids=IDS)
def test_no_answer_is_wrong(place: int) -> None:
    for tally in sampled(place):
        _assert_right(tally)


@pytest.mark.full
@pytest.mark.parametrize("info", INFOS, ids=IDS)
def test_no_answer_is_wrong_on_any_sample(info: Any) -> None:
    _assert_right(sweep(info, "cpu"))
    _assert_right(sweep(info, "cpu", SAMPLES * 2, FORMS * 2, told_device="cpu"))


@pytest.mark.cuda
@pytest.mark.parametrize("info", INFOS, ids=IDS)
def test_no_answer_is_wrong_on_cuda(info: Any) -> None:
    _assert_right(sweep(info, "cuda", SAMPLES * 2, FORMS * 2))
    _assert_right(sweep(info, "cuda", SAMPLES, FORMS, told_device="cuda"))


def test_most_operators_are_known_exactly() -> None:
    """With the device known: where backends differ in the layout, the table says so without it."""
    tallies = {name: sampled(place)[1] for place, name in enumerate(IDS)}
    compared = {name: tally for name, tally in tallies.items() if tally.compared}
    below = {name: round(tally.share, 2) for name, tally in compared.items() if tally.share < EXACT_SHARE}
    share = 1 - len(below) / len(compared)
    assert share >= COVERED_SHARE, f"{share:.1%} of {len(compared)} operators; below: {below}"
