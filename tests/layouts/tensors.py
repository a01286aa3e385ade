"""Hypothesis strategies for real tensors in any layout that people make, and for symbolic twins of them."""

from __future__ import annotations

from math import prod
from typing import Any

import torch
from hypothesis import strategies as st

from torchlayout.layouts import Layout, strided
from torchlayout.sizes import Atom, Facts, Size, product

SIZES = st.sampled_from([1, 1, 2, 3, 4, 6])


def layout_of(x: torch.Tensor) -> Layout:
    return strided(tuple(x.shape), x.stride(), x.storage_offset())


@st.composite
def tensors(draw: st.DrawFn, max_rank: int = 5, min_rank: int = 0, empty: bool = True) -> torch.Tensor:
    """Permuted, sliced, narrowed, expanded, unsqueezed, in windows, in any mixture."""
    sizes = SIZES | st.just(0) if empty else SIZES
    x = torch.zeros(draw(st.lists(sizes, min_size=min_rank, max_size=max_rank)))
    steps = ["permute", "slice", "narrow", "stretch", "select", "unfold"]
    for step in draw(st.lists(st.sampled_from(steps), max_size=4)):
        x = _changed(draw, x, step, max_rank, min_rank)
    return x


def _changed(draw: st.DrawFn, x: torch.Tensor, step: str, max_rank: int, min_rank: int) -> torch.Tensor:
    if step == "stretch" and x.dim() < max_rank:
        dim = draw(st.integers(0, x.dim()))
        x = x.unsqueeze(dim)
        return x.expand([draw(st.integers(1, 3)) if i == dim else n for i, n in enumerate(x.shape)])
    if not x.dim():
        return x
    dim = draw(st.integers(0, x.dim() - 1))
    if step == "permute":
        return x.permute(draw(st.permutations(range(x.dim()))))
    if step == "slice":
        return x[(slice(None),) * dim + (slice(draw(st.integers(0, 1)), None, draw(st.integers(1, 3))),)]
    if step == "narrow" and x.size(dim) > 1:
        return x.narrow(dim, 0, x.size(dim) - 1)
    if step == "unfold" and x.size(dim) and x.dim() < max_rank:
        return x.unfold(dim, draw(st.integers(1, x.size(dim))), draw(st.integers(1, 2)))
    if step == "select" and x.size(dim) and x.dim() > min_rank:
        return x.select(dim, 0)
    return x


@st.composite
def shapes_of(draw: st.DrawFn, numel: int) -> list[int]:
    """Shapes with so many elements, with ones among them, and maybe a -1."""
    factors: list[int] = []
    left = numel
    while left > 1:
        divisors = [k for k in range(2, left + 1) if left % k == 0]
        factors.append(draw(st.sampled_from(divisors)))
        left //= factors[-1]
    if numel == 0:
        factors = draw(st.lists(SIZES, max_size=2))
        factors.insert(draw(st.integers(0, len(factors))), 0)
    for _ in range(draw(st.integers(0, 2))):
        factors.insert(draw(st.integers(0, len(factors))), 1)
    if factors and draw(st.booleans()):
        place = draw(st.integers(0, len(factors) - 1))
        if prod(factors[:place] + factors[place + 1 :]):
            factors[place] = -1
    return factors


@st.composite
def together(draw: st.DrawFn, count: int) -> list[torch.Tensor]:
    """Tensors that broadcast together, often of one shape with different orders in memory."""
    first = draw(tensors(empty=False))
    found = [first]
    for _ in range(count - 1):
        if draw(st.integers(0, 3)) == 0:
            found.append(draw(tensors(empty=False)))
            continue
        order = draw(st.permutations(range(first.dim())))
        inverse = [order.index(i) for i in range(first.dim())]
        other = torch.zeros([first.shape[i] for i in order]).permute(inverse)
        for dim in range(other.dim()):
            if other.size(dim) > 1 and draw(st.integers(0, 4)) == 0:
                other = other.narrow(dim, 0, 1)
        while other.dim() and other.size(0) and draw(st.integers(0, 3)) == 0:
            other = other.select(0, 0)
        found.append(other)
    return found


class Twin:
    """A symbolic layout and the numbers that its unknowns stand for."""

    def __init__(self, assumed: bool = False) -> None:
        facts = Facts()
        self.facts = facts.assumed_world if assumed else facts
        self.values: dict[Atom, int] = {}

    def size(self, value: int, name: str) -> Size:
        size = self.facts.symbols.atom(name, name)
        (atom,) = size.atoms()
        self.values[atom] = value
        return size

    def number(self, size: Any) -> int | None:
        """The value of a size; None for one that holds an unknown of another kind."""
        size = self.facts.normal(size)
        if isinstance(size, int):
            return size
        total = 0
        for monomial, factor in size.terms.items():
            for atom in monomial:
                value = self.values.get(atom)
                if value is None and isinstance(atom.key, tuple) and atom.key[0] in ("/", "//"):
                    left, right = self.number(atom.key[1]), self.number(atom.key[2])
                    value = None if left is None or not right or left % right else left // right
                if value is None:
                    return None
                factor *= value
            total += factor
        return total


@st.composite
def twins(draw: st.DrawFn, assumed: bool = False) -> tuple[torch.Tensor, Layout, Twin, list[Size]]:
    """A real tensor, dense in some order or with gaps, its symbolic layout, and its symbolic sizes."""
    twin = Twin(assumed)
    least = 2 if assumed else 1
    numbers = draw(st.lists(st.integers(least, 5), min_size=1, max_size=4))
    sizes: list[Size] = [twin.size(n, f"n{i}") if draw(st.booleans()) else n for i, n in enumerate(numbers)]
    order = draw(st.permutations(range(len(sizes))))
    gap = draw(st.none() | st.sampled_from(list(order)))
    strides: dict[int, Size] = {}
    stride: Size = 1
    for place in reversed(order):
        strides[place] = stride
        stride = stride * sizes[place] * (2 if place == gap else 1)
    layout = strided(sizes, [strides[i] for i in range(len(sizes))])
    real = torch.empty_strided(numbers, [twin.number(strides[i]) or 0 for i in range(len(sizes))])
    return real, layout, twin, sizes


def numel(sizes: list[Size]) -> Size:
    return product(sizes)
