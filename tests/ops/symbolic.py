"""Symbolic inputs whose sizes are unknowns, or whose rank is, beside a real tensor that they may stand for.

A row is applied to the symbolic layout; the numbers of the real tensor are put into the answer, which then has to be
what torch gives for the real tensor. What the row has learnt of the sizes has to be true of them too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from conformance import Verdict, World, check_example

from torchlayout.layouts import Dim, Layout, contiguous, permuted_contiguous, settle
from torchlayout.sizes import Atom, Facts, Poly, Rest


@dataclass
class SymbolicWorld(World):
    """`numbers` says what each unknown of the input stands for, `shapes` the same for rests, by their keys."""

    numbers: dict[Atom, int] = field(default_factory=dict)
    shapes: dict[Any, tuple[int, ...]] = field(default_factory=dict)

    def number(self, size: Any) -> Any:
        if not isinstance(size, Poly):
            return size if isinstance(size, (bool, int, float, str)) else None
        total = 0
        for monomial, factor in size.terms.items():
            for atom in monomial:
                value = self.of_atom(atom)
                if value is None:
                    known = self.facts.normal(size)
                    return known if isinstance(known, int) else None
                factor *= value
            total += factor
        return total

    def of_atom(self, atom: Atom) -> int | None:
        if atom in self.numbers:
            return self.numbers[atom]
        key = atom.key
        if not isinstance(key, tuple):
            return None
        if len(key) == 3 and key[0] in OPERATIONS:
            left, right = self.number(key[1]), self.number(key[2])
            return None if left is None or right is None else OPERATIONS[key[0]](left, right)
        if key[0] == "numel":
            shape = self.shape_of(key[1])
            return None if shape is None else torch.Size(shape).numel()
        if key[0] == "size":
            shape = self.shape_of(key[1])
            return None if shape is None or not -len(shape) <= key[2] < len(shape) else shape[key[2]]
        return None

    def shape_of(self, key: Any) -> tuple[int, ...] | None:
        """The sizes that a rest stands for."""
        if key in self.shapes:
            return self.shapes[key]
        if isinstance(key, tuple) and key[0] in ("after", "before"):
            whole = self.shape_of(key[1])
            if whole is None or len(whole) < key[2]:
                return None
            return whole[key[2] :] if key[0] == "after" else whole[: len(whole) - key[2]]
        return None

    def spelled_out(self, layout: Layout) -> Layout:
        dims: list[Dim] = []
        for dim in settle(layout, self.facts).dims:
            shape = None if dim.rest is None else self.shape_of(dim.rest.key)
            if shape is None:
                dims.append(dim)
                continue
            stride = None if dim.stride is None else self.number(dim.stride)
            for inner in contiguous(shape).dims:
                assert isinstance(inner.stride, int)
                dims.append(Dim(inner.size, None if stride is None else inner.stride * stride))
        return Layout(tuple(dims), layout.offset)

    def untrue(self) -> list[str]:
        """What was learnt and is not true of the real tensor."""
        found = []
        for atom, size in self.facts.known.rewrites.items():
            left, right = self.of_atom(atom), self.number(size)
            if left is not None and right is not None and left != right:
                found.append(f"{atom} ({left}) == {size} ({right})")
        for rest, shape in self.facts.known.ranks.items():
            real = self.shape_of(rest.key)
            fixed = sum(not isinstance(extent, Rest) for extent in shape)
            if real is not None and (len(real) < fixed or (len(real) > fixed and fixed == len(shape))):
                found.append(f"{rest} has {len(real)} dimensions, not those of {shape}")
        return found


def _exact(a: int, b: int) -> int | None:
    return None if b == 0 or a % b else a // b


OPERATIONS: dict[str, Callable[[int, int], int | None]] = {
    "//": lambda a, b: a // b if b else None,
    "%": lambda a, b: a % b if b else None,
    "/": _exact,
    "min": min,
    "max": max,
}


@dataclass(frozen=True)
class Arrangement:
    """How an input lies in memory: its dimensions from the outermost in memory to the innermost; `gap` doubles the
    stride of one dimension's neighbours inside, `stretched` has stride 0, `known` says which sizes stay numbers."""

    sizes: tuple[int, ...]
    order: tuple[int, ...]
    gap: int | None = None
    stretched: int | None = None
    known: frozenset[int] = frozenset()

    def build(self, assumed: bool) -> tuple[torch.Tensor, SymbolicWorld]:
        """A real tensor, and the world in which the table sees it with unknown sizes."""
        facts = Facts()
        sizes: list[Any] = []
        world = SymbolicWorld(facts.assumed_world if assumed else facts)
        for place, number in enumerate(self.sizes):
            if place in self.known:
                sizes.append(number)
                continue
            size = facts.symbols.atom(("input", place), f"n{place}")
            (atom,) = size.atoms()
            world.numbers[atom] = number
            sizes.append(size)
        layout = self._layout(sizes)
        numbers = self._layout(self.sizes)
        extent = (
            1 + sum((n - 1) * s for n, s in zip(self.sizes, numbers.strides, strict=True) if n) if self.sizes else 1
        )  # type: ignore[misc]
        torch.manual_seed(len(self.sizes))
        x = (torch.rand(max(extent, 1)) + 0.1).as_strided(self.sizes, numbers.strides)  # type: ignore[arg-type]
        world.overrides[id(x)] = layout
        return x, world

    def _layout(self, sizes: Sequence[Any]) -> Layout:
        wide = [2 * size if place == self.gap else size for place, size in enumerate(sizes)]
        layout = permuted_contiguous(wide, self.order)
        strides = [0 if place == self.stretched else dim.stride for place, dim in enumerate(layout.dims)]
        return Layout(tuple(Dim(size, stride) for size, stride in zip(sizes, strides, strict=True)))


def unknown_rank(
    sizes: tuple[int, ...], assumed: bool, leading: int = 0, trailing: int = 0
) -> tuple[torch.Tensor, SymbolicWorld]:
    """A packed tensor of which the table knows some sizes at either end, as unknowns, and not how many it has."""
    facts = Facts()
    world = SymbolicWorld(facts.assumed_world if assumed else facts)
    extents: list[Any] = []
    for place, number in enumerate(sizes):
        if leading <= place < len(sizes) - trailing:
            if place == leading:
                extents.append(facts.symbols.rest("x", "x"))
            continue
        size = facts.symbols.atom(("input", place), f"n{place}")
        (atom,) = size.atoms()
        world.numbers[atom] = number
        extents.append(size)
    if leading + trailing >= len(sizes):
        extents.insert(leading, facts.symbols.rest("x", "x"))
    world.shapes["x"] = tuple(sizes[leading : len(sizes) - trailing])
    x = torch.rand(sizes) + 0.1
    world.overrides[id(x)] = contiguous(tuple(extents))
    return x, world


def check_symbolic(example: str, x: torch.Tensor, world: SymbolicWorld) -> Verdict:
    """The verdict on an example over a symbolic input; what it taught must be true as well."""
    verdict = check_example(example, x, world)
    untrue = world.untrue() if verdict.kind in ("exact", "unknown") else []
    return Verdict("wrong", verdict.path, f"{verdict.detail}: learnt {untrue}") if untrue else verdict
