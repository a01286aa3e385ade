"""Symbolic layouts that people make: the answer is the strongest one that torch allows for all sizes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from families import Family, packed, strongest, worlds

from torchlayout.layouts import (
    Layout,
    has_overlap,
    is_channels_last,
    is_contiguous,
    is_dense,
    suggests_channels_last,
)
from torchlayout.sizes import MAYBE, Facts, Truth


def _channels_last(x: torch.Tensor) -> bool:
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return x.dim() in formats and x.is_contiguous(memory_format=formats[x.dim()])


def _suggests(x: torch.Tensor) -> bool:
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return x.dim() in formats and x.to(memory_format=formats[x.dim()]) is x


def _overlaps(x: torch.Tensor) -> bool:
    places = torch.arange(x.untyped_storage().nbytes()).as_strided(x.size(), x.stride())
    return places.unique().numel() < places.numel()


QUESTIONS: dict[str, tuple[Callable[[Layout, Facts], Truth], Callable[[torch.Tensor], bool]]] = {
    "contiguous": (is_contiguous, torch.Tensor.is_contiguous),
    "dense": (is_dense, torch.ops.aten.is_non_overlapping_and_dense),
    "overlap": (has_overlap, _overlaps),
    "channels_last": (is_channels_last, _channels_last),
    "suggests": (suggests_channels_last, _suggests),
}
IMAGES = packed("B", "C", "H", "W")
VIDEO = packed("B", "C", "T", "H", "W")
FAMILIES = {
    "images": IMAGES,
    "images in channels_last": packed("B", "H", "W", "C").permute(0, 3, 1, 2),
    "one image in channels_last": packed(1, "H", "W", "C").permute(0, 3, 1, 2),
    "RGB in channels_last": packed("B", "H", "W", 3).permute(0, 3, 1, 2),
    "gray": packed("B", 1, "H", "W"),
    "gray in channels_last": packed("B", "H", "W", 1).permute(0, 3, 1, 2),
    "RGB": packed("B", 3, "H", "W"),
    "RGB of 4 by 4": packed("B", 3, 4, 4),
    "RGB of 4 by 4 in channels_last": packed("B", 4, 4, 3).permute(0, 3, 1, 2),
    "columns first": IMAGES.permute(0, 1, 3, 2),
    "batch last": IMAGES.permute(1, 2, 3, 0),
    "video": VIDEO,
    "video in channels_last_3d": packed("B", "T", "H", "W", "C").permute(0, 4, 1, 2, 3),
    "video, time first": VIDEO.permute(0, 2, 1, 3, 4),
    "sequence": packed("B", "T", "C"),
    "sequence, time first": packed("B", "T", "C").permute(1, 0, 2),
    "sequence of heads": packed("B", "T", "H", "C").permute(0, 2, 1, 3),
    "transposed": packed("B", "T").permute(1, 0),
    "every second": packed("B", 6).step(1, 2),
    "every second of the first": packed(6, "B").step(0, 2),
    "every second image in channels_last": packed(6, "H", "W", "C").step(0, 2).permute(0, 3, 1, 2),
    "a column": packed("B", "T").select(1),
    "a row": packed("B", "T").select(0),
    "all but the end": packed("B", "2*C").narrow(1, "C"),
    "all but the last rows": packed("2*B", "C").narrow(0, "B"),
    "a query of three": packed("B", "T", 3, "C").select(2),
    "three of four channels": packed("B", 4, "H", "W").narrow(1, 3),
    "three of four channels last": packed("B", "H", "W", 4).permute(0, 3, 1, 2).narrow(1, 3),
    "repeated": packed("B", "C").expand(0, "T"),
    "repeated inside": packed("B", "C").expand(1, "T"),
    "repeated last": packed("B", "C").expand(2, 4),
    "repeated channels": packed("B", "H", "W").expand(1, 3),
    "repeated once": packed("B", "C").expand(0, 1),
    "number": packed(),
    "one": packed(1, 1),
    "nothing": packed("B", 0, "C"),
    "nothing, transposed": packed("B", 0, "C").permute(2, 1, 0),
    "nothing in channels_last": packed("B", "H", 0, "C").permute(0, 3, 1, 2),
    "known sizes": packed(2, 3, 4).permute(0, 2, 1),
}


LOOSE = {
    "every second of the first",
    "every second image in channels_last",
    "repeated",
    "repeated inside",
    "repeated channels",
}
"""Where a stride is no product of the inner sizes, and these may be 1 or 0, even this is not told."""


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", FAMILIES)
def test_where_sizes_may_be_one(name: str, question: str) -> None:
    """Little is told of order, as strides may be equal, but whether all lies in one given order is."""
    family = FAMILIES[name]
    asked, real = QUESTIONS[question]
    facts, choices = worlds()["may be 1"]
    answer = asked(family.layout, facts)
    strong = strongest(real(family.make(numbers)) for numbers in family.members(choices))
    if question in ("contiguous", "channels_last") and name not in LOOSE:
        assert answer is strong
    elif question in ("dense", "overlap") and family.layout.packed:
        assert answer is strong
    else:
        assert answer is strong or answer is MAYBE


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))
def test_the_strongest_answer(family: Family, question: str) -> None:
    asked, real = QUESTIONS[question]
    for world in ("assumed", "told"):
        facts, choices = worlds()[world]
        answer = asked(family.layout, facts)
        strong = strongest(real(family.make(numbers)) for numbers in family.members(choices))
        # what torch suggests depends on strides of dimensions of size 1 too, of which only assumptions are certain
        weaker = question == "suggests" and 1 in family.layout.sizes and world == "told"
        assert answer is strong or (weaker and answer is MAYBE)
