"""Results on symbolic layouts that people make: every stride is told, and is torch's for all sizes."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from families import Extent, Family, number, packed, size, spread, strongest, worlds

from torchlayout.layouts import Layout, broadcast, expand_to, output_layout, preserved, settle, strided, view
from torchlayout.sizes import MAYBE, YES

IMAGES = packed("B", "C", "H", "W")
CHANNELS_LAST = packed("B", "H", "W", "C").permute(0, 3, 1, 2)
SEQUENCE = packed("B", "T", "C")
TIME_FIRST = packed("T", "B", "C").permute(1, 0, 2)
HEADS = packed("B", "T", "N", "C").permute(0, 2, 1, 3)


def assert_is(layout: Layout, x: torch.Tensor, numbers: dict[str, int]) -> None:
    said = spread(layout, numbers)
    assert [extent for extent, _ in said] == list(x.shape)
    if x.numel():
        real = zip(x.shape, x.stride(), strict=True)
        assert [stride for extent, stride in said if extent != 1] == [step for extent, step in real if extent != 1]


CLONED = {
    "images": IMAGES,
    "channels_last": CHANNELS_LAST,
    "transposed": packed("B", "T").permute(1, 0),
    "heads": HEADS,
    "every second": packed("B", 6).step(1, 2),
    "every second, transposed": packed(6, "B").step(0, 2).permute(1, 0),
    "narrowed": packed("B", "2*C").narrow(1, "C"),
    "narrowed channels": packed("B", "H", "W", 4).permute(0, 3, 1, 2).narrow(1, 3),
    "a column of rows": packed("B", "T", "C").select(1).permute(1, 0),
    "repeated": packed("B", "C").expand(0, "T"),
    "repeated inside": packed("B", "C").expand(1, "T"),
    "repeated twice": packed("C").expand(1, "T").expand(0, "B"),
    "repeated transposed": packed("B", "C").permute(1, 0).expand(1, "T"),
    "nothing": packed("B", 0, "C").permute(2, 1, 0),
}


@pytest.mark.parametrize("family", CLONED.values(), ids=list(CLONED))
@pytest.mark.parametrize("world", ["assumed", "told"])
def test_clones(family: Family, world: str) -> None:
    facts, choices = worlds()[world]
    layout = preserved(family.layout, facts)
    for numbers in family.members(choices):
        assert_is(layout, family.make(numbers).clone(), numbers)


ADDED = {
    "alike": (SEQUENCE, SEQUENCE),
    "alike in channels_last": (CHANNELS_LAST, CHANNELS_LAST),
    "the first decides": (CHANNELS_LAST, IMAGES),
    "the first decides for packed": (IMAGES, CHANNELS_LAST),
    "another order": (SEQUENCE, TIME_FIRST),
    "a bias": (SEQUENCE, packed("C")),
    "a bias first": (packed("C"), TIME_FIRST),
    "a bias before packed": (packed("C"), SEQUENCE),
    "a position before packed": (packed("T", "C"), SEQUENCE),
    "a position behind packed": (SEQUENCE, packed("T", "C")),
    "a number before packed": (packed(), SEQUENCE),
    "a single before packed": (packed(1), SEQUENCE),
    "gray images": (packed("B", "H", "W", 1).permute(0, 3, 1, 2), packed("B", 1, "H", "W")),
    "gray images and RGB": (packed("B", 1, "H", "W"), packed("B", "H", "W", 3).permute(0, 3, 1, 2)),
    "RGB and gray images": (packed("B", "H", "W", 3).permute(0, 3, 1, 2), packed("B", 1, "H", "W")),
    "columns of one": (packed("T", 1, "B").permute(2, 1, 0), packed("B", 1, "T")),
    "a bias of images": (CHANNELS_LAST, packed("C", 1, 1)),
    "a position": (TIME_FIRST, packed("T", "C")),
    "a mask": (HEADS, packed("B", 1, "T", 1)),
    "a mask first": (packed("B", 1, "T", 1), HEADS),
    "a number": (TIME_FIRST, packed()),
    "repeated and packed": (packed("B", "C").expand(1, "T"), SEQUENCE),
    "repeated and transposed": (packed("B", "C").expand(1, "T"), TIME_FIRST),
    "narrowed": (packed("B", "2*C").narrow(1, "C"), packed("B", "C")),
    "two transposed": (packed("B", "T").permute(1, 0), packed("B", "T").permute(1, 0)),
    "two narrowed and transposed": (
        packed("2*B", "T").permute(1, 0).narrow(1, "B"),
        packed("2*B", "T").permute(1, 0).narrow(1, "B"),
    ),
    "each repeats the other": (packed("B", 1, "C"), packed(1, "T", "C")),
    "each repeats the other's last": (packed("B", "T", 1), packed("B", 1, "C")),
    "grown from both": (packed("B", 1).permute(0, 1), packed(1, "T")),
    "of rows and columns": (packed("T", "B").permute(1, 0), packed("T")),
    "of constants": (packed("B", 3, 4).permute(0, 2, 1), packed("B", 4, 3)),
}


@pytest.mark.parametrize(("left", "right"), ADDED.values(), ids=list(ADDED))
@pytest.mark.parametrize("world", ["assumed", "told"])
def test_sums(left: Family, right: Family, world: str) -> None:
    facts, choices = worlds()[world]
    layouts = [left.layout, right.layout]
    shape = broadcast([layout.shape for layout in layouts], facts)
    assert shape is not None
    layout = output_layout(layouts, shape, facts)
    for numbers in left.members(choices, right):
        assert_is(layout, left.make(numbers) + right.make(numbers), numbers)


ALWAYS_TOLD = {
    *("alike", "alike in channels_last", "a bias", "grown from both", "of constants", "gray images"),
    *("a bias before packed", "a position behind packed", "a number before packed", "a single before packed"),
    *("a position before packed", "each repeats the other", "each repeats the other's last"),
}


@pytest.mark.parametrize("name", ADDED)
def test_sums_where_sizes_may_be_one(name: str) -> None:
    """Whatever stride is told is torch's, and it is where packed ones are alike."""
    left, right = ADDED[name]
    facts, choices = worlds()["may be 1"]
    layouts = [left.layout, right.layout]
    shape = broadcast([layout.shape for layout in layouts], facts)
    if shape is None:
        assert name not in ALWAYS_TOLD
        return
    layout = output_layout(layouts, shape, facts)
    assert (None not in layout.strides) is (name in ALWAYS_TOLD)
    for numbers in left.members(choices, right):
        x = left.make(numbers) + right.make(numbers)
        for dim, extent, stride in zip(layout.dims, x.shape, x.stride(), strict=True):
            assert number(dim.size, numbers) == extent
            assert extent == 1 or dim.stride is None or number(dim.stride, numbers) == stride


ODD: dict[str, list[tuple[tuple[Extent, ...], tuple[Extent, ...]]]] = {
    "one that cannot tell": [(("B", "C", 1), ("C", 0, 7))],
    "the second decides": [(("B", "C"), ("C", 1)), ((1, 1, "C"), (1, 0, 1))],
    "neither can tell of the first": [((1, 4, "C"), (0, "C", 1)), ((1, 1, "C"), (1, "C", 1))],
    "a number besides": [((1, 2, "C"), (7, "C", 1)), ((), ())],
    "a single between": [(("B", 1, "C"), (1, 64, "B")), (("B", 4, "C"), ("4*C", "C", 1))],
}
"""Operands by their sizes and strides, packed but for those of dimensions of size 1."""


@pytest.mark.parametrize("name", ODD)
def test_strides_of_single_dimensions_take_part(name: str) -> None:
    """They can turn others round."""
    operands = ODD[name]
    for world, (facts, choices) in worlds().items():
        layouts = [strided([size(n) for n in shape], [size(n) for n in strides]) for shape, strides in operands]
        shape = broadcast([layout.shape for layout in layouts], facts)
        if shape is None:
            continue
        layout = output_layout(layouts, shape, facts)
        assert None not in layout.strides or world == "may be 1" or name == "one that cannot tell"
        for values in product(choices, repeat=2):
            numbers = dict(zip("BC", values, strict=True))
            real = [
                torch.empty_strided(
                    [number(n, numbers) or 0 for n in one.sizes], [number(n, numbers) for n in one.strides]
                )
                for one in layouts
            ]
            x = sum(real[1:], start=real[0]) if len(real) > 1 else -real[0]
            for dim, extent, stride in zip(layout.dims, x.shape, x.stride(), strict=True):
                assert extent == 1 or dim.stride is None or number(dim.stride, numbers) == stride


EXPANDED: dict[str, tuple[Family, tuple[Extent, ...]]] = {
    "as it is": (TIME_FIRST, ("B", "T", "C")),
    "in front": (TIME_FIRST, ("N", "B", "T", "C")),
    "ones": (packed("B", 1, "C"), ("B", "T", "C")),
    "ones and in front": (packed(1, "C"), (2, "B", "C")),
    "to one": (packed(1, "C"), (1, "C")),
}


@pytest.mark.parametrize(("family", "shape"), EXPANDED.values(), ids=list(EXPANDED))
def test_expanding(family: Family, shape: tuple[Extent, ...]) -> None:
    target = packed(*shape)
    for facts, choices in worlds().values():
        layout = expand_to(family.layout, target.layout.shape, facts)
        assert layout is not None
        for numbers in family.members(choices, target):
            assert_is(layout, family.make(numbers).expand(target.make(numbers).shape), numbers)


VIEWED: dict[str, tuple[Family, tuple[Extent, ...]]] = {
    "flat": (SEQUENCE, ("B*T*C",)),
    "flat by -1": (SEQUENCE, (-1,)),
    "rows": (SEQUENCE, ("B*T", "C")),
    "rows by -1": (SEQUENCE, (-1, "C")),
    "split": (packed("B", "T", "N*C"), ("B", "T", "N", "C")),
    "split by -1": (packed("B", "T", "N*C"), ("B", "T", "N", -1)),
    "merged heads": (HEADS, ("B", "T", "N*C")),
    "merged batch and heads": (HEADS, ("B*N", "T", "C")),
    "merged time and channels": (HEADS, ("B", "N", "T*C")),
    "heads with ones": (HEADS, ("B", 1, "N", "T", "C", 1)),
    "heads as they are": (HEADS, ("B", "N", "T", "C")),
    "other heads": (HEADS, ("B", "T", "N", "C")),
    "flat channels_last": (CHANNELS_LAST, ("B", "C", "H*W")),
    "flat channels_last by -1": (CHANNELS_LAST, ("B", -1)),
    "groups of channels_last": (packed("B", "H", "W", "N*C").permute(0, 3, 1, 2), ("B", "N", "C", "H", "W")),
    "all of channels_last": (CHANNELS_LAST, ("B", "C*H*W")),
    "transposed": (packed("B", "T").permute(1, 0), ("B*T",)),
    "transposed with one": (packed("B", "T").permute(1, 0), ("T", 1, "B")),
    "transposed split": (packed("B", "2*T").permute(1, 0), ("T", 2, "B")),
    "transposed split by 3": (packed("B", 6).permute(1, 0), (2, 3, "B")),
    "transposed not split": (packed("2*B", 6).permute(1, 0), (4, "3*B")),
    "transposed not split inside": (packed("3*B", 4).permute(1, 0), (2, "2*B", 3)),
    "narrowed": (packed("B", "2*C").narrow(1, "C"), ("B*C",)),
    "narrowed split": (packed("B", "4*C").narrow(1, "2*C"), ("B", 2, "C")),
    "narrowed rows": (packed("2*B", "C").narrow(0, "B"), ("B*C",)),
    "rows of some": (packed("B", "2*T", "C").narrow(1, "T"), ("B", "T*C")),
    "rows of some and batch": (packed("B", "2*T", "C").narrow(1, "T"), ("B*T", "C")),
    "every second": (packed("B", 6).step(1, 2), ("B", 3)),
    "every second in one": (packed("B", 6).step(1, 2), ("B*3",)),
    "every second of all": (packed(8).step(0, 2), (2, 2)),
    "repeated": (packed("B", "C").expand(0, "T"), ("T*B", "C")),
    "repeated rows": (packed("B", "C").expand(0, "T"), ("T", "B*C")),
    "repeated twice": (packed("C").expand(0, "T").expand(0, "B"), ("B*T", "C")),
    "nothing": (packed("B", 0).permute(1, 0), (0, "B")),
    "number": (packed(), (1, 1)),
    "one": (packed(1, 1), ()),
}


BY_CHANCE = {"transposed not split"}
"""2*B and 3*B are equal for a size of 0, which counts where sizes may be 1."""


@pytest.mark.parametrize("name", VIEWED)
def test_views(name: str) -> None:
    """The strongest answer that torch allows."""
    family, shape = VIEWED[name]
    for world, (facts, choices) in worlds().items():
        answer = view(family.layout, tuple(size(extent) for extent in shape), facts)
        assert answer is not None
        members = list(family.members(choices))
        strong = strongest(_view(family, shape, numbers) is not None for numbers in members)
        assert answer.exists is strong or (name in BY_CHANCE and world == "may be 1" and answer.exists is MAYBE)
        if answer.exists is YES:
            assert answer.layout is not None
            for numbers in members:
                x = _view(family, shape, numbers)
                assert x is not None
                assert_is(settle(answer.layout, facts), x, numbers)


def _view(family: Family, shape: tuple[Extent, ...], numbers: dict[str, int]) -> torch.Tensor | None:
    try:
        return family.make(numbers).view([number(size(extent), numbers) or 0 for extent in shape])
    except RuntimeError:
        return None


def test_a_view_that_exists_where_sizes_happen_to_agree_does_so_by_chance() -> None:
    for world in ("assumed", "told"):
        facts, _ = worlds()[world]
        some = view(packed("B", "T").narrow(1, "C").layout, (size("B*C"),), facts)
        assert some is not None and some.exists is MAYBE and some.by_chance
        unknown = view(Layout(tuple(dim._replace(stride=None) for dim in HEADS.layout.dims)), (-1,), facts)
        assert unknown is not None and unknown.exists is MAYBE and not unknown.by_chance
