"""Rows over symbolic sizes and unknown ranks: put numbers in, and the answer is torch's."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from symbolic import Arrangement, SymbolicWorld, check_symbolic, unknown_rank

from torchlayout.ops import all_rows
from torchlayout.ops.table import Op

ORDINARY = [
    Arrangement((4, 6), (0, 1)),
    Arrangement((4, 6), (1, 0)),
    Arrangement((4, 6), (0, 1), gap=1),
    Arrangement((4, 6), (0, 1), stretched=0),
    Arrangement((2, 4, 6), (0, 1, 2)),
    Arrangement((2, 4, 6), (0, 2, 1)),
    Arrangement((2, 4, 6), (0, 1, 2), known=frozenset({2})),
    Arrangement((2, 3, 4, 6), (0, 1, 2, 3)),
    Arrangement((2, 3, 4, 6), (0, 2, 3, 1)),
    Arrangement((6,), (0,)),
    Arrangement((6,), (0,), gap=0),
]
WITH_ONES = [
    Arrangement((1, 6), (0, 1)),
    Arrangement((4, 1), (1, 0)),
    Arrangement((2, 1, 6), (0, 2, 1)),
    Arrangement((2, 3, 1, 1), (0, 2, 3, 1)),
    Arrangement((1, 1, 4, 6), (0, 1, 2, 3), gap=2),
    Arrangement((1,), (0,)),
    Arrangement((2, 1, 4, 2), (0, 2, 3, 1)),
]
"""Unknown sizes that are 1: what is proven holds for them too."""
RANKS = [((3, 4, 6), 0, 0), ((2, 4, 6), 1, 0), ((2, 4, 6), 0, 1), ((2, 3, 4, 6), 1, 1), ((2, 3, 2, 4, 6), 0, 0)]
"""Sizes, and how many of them are known at either end. Code that names both ends of a tensor is taken to mean
different dimensions, so that these have more than two."""

NOT_FOR_ONES = {"chunk": "code that asks for n chunks is taken to get n", "unsafe_chunk": "the same"}


def _rows() -> list[Op]:
    seen: dict[int, Op] = {id(row): row for row in all_rows()}
    return [row for row in seen.values() if row.example]


ROWS = _rows()
EVERY_NTH = 3
"""Of the symbolic inputs, in the ordinary run; the full run takes all."""


def worlds(row: Op) -> Iterator[tuple[Any, tuple[torch.Tensor, SymbolicWorld]]]:
    for assumed in (False, True):
        for arrangement in ORDINARY:
            yield (arrangement, assumed), arrangement.build(assumed)
    for arrangement in WITH_ONES if row.name not in NOT_FOR_ONES else []:
        yield arrangement, arrangement.build(assumed=False)
    for sizes, leading, trailing in RANKS:
        yield (sizes, leading, trailing), unknown_rank(sizes, False, leading, trailing)


IDS = [f"{row.name}-{row.example}"[:60] for row in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_numbers_put_into_the_symbolic_answer_give_torchs(row: Op) -> None:
    compare(row, EVERY_NTH)


@pytest.mark.full
@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_every_symbolic_answer_gives_torchs(row: Op) -> None:
    compare(row, 1)


def compare(row: Op, step: int) -> None:
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for what, (x, world) in islice(worlds(row), ROWS.index(row) % step, None, step):
            try:
                verdict = check_symbolic(row.example, x, world)
            except ImportError as missing:
                pytest.skip(str(missing))
            if verdict.kind == "wrong":
                wrong.append(f"{what}: {verdict.detail}")
    assert not wrong, "\n".join(wrong[:8])


@st.composite
def arrangements(draw: st.DrawFn) -> Arrangement:
    rank = draw(st.integers(1, 5))
    sizes = tuple(draw(st.lists(st.integers(1, 6), min_size=rank, max_size=rank)))
    order = tuple(draw(st.permutations(range(rank))))
    place = st.none() | st.integers(0, rank - 1)
    known = draw(st.frozensets(st.integers(0, rank - 1)))
    return Arrangement(sizes, order, draw(place), draw(place), known)


VIEWS = [row for row in ROWS if row.transfer.__module__.endswith((".views", ".reshaping", ".copies", ".splitting"))]


@given(st.sampled_from([row for row in VIEWS if row.name not in NOT_FOR_ONES]), arrangements(), st.booleans())
def test_any_symbolic_input_gives_torchs_answer(row: Op, arrangement: Arrangement, assumed: bool) -> None:
    assumed = assumed and all(n > 1 or i in arrangement.known for i, n in enumerate(arrangement.sizes))
    x, world = arrangement.build(assumed)
    verdict = check_symbolic(row.example, x, world)
    assert verdict.kind != "wrong", verdict.detail
