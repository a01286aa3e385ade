"""Families of tensors: a symbolic layout, and the real tensor for each choice of sizes.

A `Family` is built by the same steps on both sides, so that what is answered for the layout can be held against torch
for many sizes at once: YES is right where it holds for all of them, NO where it holds for none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

import torch

from torchlayout.layouts import Dim, Layout, contiguous
from torchlayout.sizes import MAYBE, Atom, Facts, Size, Truth, single_atom, truth
from torchlayout.sizes.polynomial import substitute

FACTS = Facts()
SIZES = {name: FACTS.symbols.atom(name, name) for name in "BCHWTN"}
_ATOMS = {name: single_atom(size) for name, size in SIZES.items()}
ABOVE_ONE = (2, 3, 5)

RESTS = {name: FACTS.symbols.rest(name, name) for name in ("*x", "*y")}
_NUMELS = {name: single_atom(rest.numel) for name, rest in RESTS.items()}
SHAPES = ((2,), (3, 2), (2, 2, 3))
"""What stands for a run of unknown dimensions."""

Extent = int | str
Numbers = dict[str, Any]
"""A number for each size, and a shape for each rest."""


def size(extent: Extent) -> Size:
    """`"B"`, or a product such as `"C*H"`, or a number; for a rest such as `"*x"` its number of elements."""
    if extent in RESTS:
        return RESTS[str(extent)].numel
    total: Size = 1
    for part in extent.split("*") if isinstance(extent, str) else [extent]:
        total = total * (SIZES[part] if part in SIZES else int(part))
    return total


def number(of: Size | None, numbers: Numbers) -> int | None:
    """The value of a size with these numbers."""
    if of is None:
        return None
    values: dict[Atom, Size] = {atom: numbers[name] for name, atom in _ATOMS.items() if atom and name in numbers}
    values |= {atom: prod(numbers[name]) for name, atom in _NUMELS.items() if atom and name in numbers}
    value = substitute(FACTS.normal(of), values)
    return value if isinstance(value, int) else None


class Family:
    """One symbolic layout, and `make`, which makes the tensor of given numbers."""

    def __init__(self, layout: Layout, make: Callable[[Numbers], torch.Tensor], names: frozenset[str]) -> None:
        self.layout = layout
        self.make = make
        self.names = names

    def _then(
        self, dims: Sequence[Dim], step: Callable[[torch.Tensor, Numbers], torch.Tensor], *extents: Extent
    ) -> Family:
        make, names = self.make, self.names | _names(*extents)
        return Family(Layout(tuple(dims), self.layout.offset), lambda numbers: step(make(numbers), numbers), names)

    def permute(self, *order: int) -> Family:
        return self._then([self.layout.dims[i] for i in order], lambda x, _: x.permute(order))

    def transpose_last(self) -> Family:
        *others, left, right = self.layout.dims
        return self._then([*others, right, left], lambda x, _: x.transpose(-1, -2))

    def step(self, dim: int, by: int) -> Family:
        """Every `by`-th element of a dimension whose size is a number."""
        dims = list(self.layout.dims)
        old = dims[dim]
        assert isinstance(old.size, int) and old.stride is not None
        dims[dim] = Dim(-(-old.size // by), old.stride * by)
        index = (slice(None),) * dim + (slice(None, None, by),)
        return self._then(dims, lambda x, _: x[index])

    def narrow(self, dim: int, length: Extent) -> Family:
        """The first elements of a dimension."""
        dims = list(self.layout.dims)
        dims[dim] = Dim(size(length), dims[dim].stride)
        return self._then(dims, lambda x, numbers: x.narrow(dim, 0, number(size(length), numbers) or 0))

    def select(self, dim: int) -> Family:
        dims = list(self.layout.dims)
        del dims[dim]
        return self._then(dims, lambda x, _: x.select(dim, 0))

    def expand(self, dim: int, extent: Extent) -> Family:
        """With a new dimension, of stride 0."""
        dims = list(self.layout.dims)
        dims.insert(dim, Dim(size(extent), 0))

        def step(x: torch.Tensor, numbers: Numbers) -> torch.Tensor:
            x = x.unsqueeze(dim)
            return x.expand([number(size(extent), numbers) if i == dim else n for i, n in enumerate(x.shape)])

        return self._then(dims, step, extent)

    def members(self, choices: Sequence[int], *others: Family) -> Iterator[Numbers]:
        """All choices of numbers for the sizes of this and other families."""
        names = sorted(self.names.union(*(other.names for other in others)))
        for values in product(*(SHAPES if name in RESTS else choices for name in names)):
            yield dict(zip(names, values, strict=True))


def packed(*extents: Extent) -> Family:
    """A contiguous family."""

    def make(numbers: Numbers) -> torch.Tensor:
        shape: list[int] = []
        for extent in extents:
            shape.extend(numbers[str(extent)] if extent in RESTS else [number(size(extent), numbers) or 0])
        return torch.zeros(shape)

    shape = [RESTS[str(extent)] if extent in RESTS else size(extent) for extent in extents]
    return Family(contiguous(shape), make, _names(*extents))


def _names(*extents: Extent) -> frozenset[str]:
    found = {str(extent) for extent in extents if extent in RESTS}
    return frozenset(found | {name for extent in extents for name in str(extent).split("*") if name in SIZES})


def spread(layout: Layout, numbers: Numbers) -> list[tuple[int | None, int | None]]:
    """Sizes and strides in numbers, those of a rest one by one."""
    found: list[tuple[int | None, int | None]] = []
    for dim in layout.dims:
        stride = number(dim.stride, numbers)
        if dim.rest is None:
            found.append((number(dim.size, numbers), stride))
            continue
        inner = torch.zeros(numbers[dim.rest.name or ""])
        assert number(dim.size, numbers) == inner.numel()
        for extent, steps in zip(inner.shape, inner.stride(), strict=True):
            found.append((extent, None if stride is None else steps * stride))
    return found


def strongest(answers: Iterator[bool]) -> Truth:
    """The strongest answer that holds for all members."""
    seen = set(answers)
    return MAYBE if len(seen) == 2 else truth(seen.pop())


def worlds() -> dict[str, tuple[Facts, tuple[int, ...]]]:
    """Facts, and the numbers that they allow for each size."""
    told, unknown = Facts(FACTS.symbols), Facts(FACTS.symbols)
    for one in SIZES.values():
        told.learn_least(one, 2)
    return {"may be 1": (unknown, (1, 2, 3)), "assumed": (unknown.assumed_world, ABOVE_ONE), "told": (told, ABOVE_ONE)}
