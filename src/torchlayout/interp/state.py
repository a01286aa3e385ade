"""The state of a run at one point: names, heap, and facts about sizes.

Control flow works on whole states. Take

    if c:
        x = x.t()
    y = x.view(-1)

Before the `if` the state is copied; each branch runs on its own copy; behind it `join` merges the two, and `x` keeps
both layouts as alternatives. A branch that returns or raises ends as None and takes no part in the join.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from types import MappingProxyType
from typing import TypeVar

from torchlayout.interp.joins import join, join_all
from torchlayout.interp.values import (
    MAX_ALTERNATIVES,
    MAX_WEIGHT,
    Dictionary,
    Held,
    Instance,
    Many,
    Opaque,
    Partial,
    Ref,
    Sequence,
    Tensor,
    Union_,
    Value,
    is_sequence,
    items_of,
    same,
)
from torchlayout.layouts import contiguous, is_contiguous, settle, unknown_layout, unknown_strides
from torchlayout.ops import Operand
from torchlayout.sizes import YES, Facts, Poly, Shape

Name = TypeVar("Name", bound=Hashable)

TENSORS_DEPTH = 4
"""Containers inside one another that are searched for tensors."""


class State:
    """Mutable; `copy` before a branch."""

    __slots__ = ("env", "facts", "heap", "tests")

    def __init__(
        self,
        env: dict[str, Value],
        heap: dict[Ref, Value],
        facts: Facts,
        tests: Mapping[Hashable, bool] = MappingProxyType({}),
    ) -> None:
        self.env = env
        self.heap = heap
        """Attributes of objects (as `Dictionary`) and the contents of lists and dicts, by ref."""
        self.facts = facts
        self.tests = tests
        """The conditions decided on the way here, with their outcome. Never changed, only replaced."""

    def copy(self) -> State:
        return State(dict(self.env), dict(self.heap), self.facts.copy(), self.tests)

    def become(self, other: State) -> None:
        """Take over another state's contents."""
        self.env, self.heap, self.facts, self.tests = other.env, other.heap, other.facts, other.tests

    def load(self, value: Value) -> Value:
        """The contents of a list or dict; any other value is itself."""
        if isinstance(value, Held):
            return self.heap.get(value.ref, Opaque(("lost", value.ref)))
        if isinstance(value, Union_) and any(isinstance(choice, Held) for choice in value.choices):
            return join_all([self.load(choice) for choice in value.choices], ("load", value.choices[0]))
        return value

    def hold(self, ref: Ref, contents: Value) -> Held:
        """A new list or dict with these contents."""
        self.heap[ref] = contents
        return Held(ref)

    def tensors_in(self, value: Value) -> list[Tensor]:
        """The tensors in a value and in the containers that it is made of, a few levels deep."""
        found: list[Tensor] = []
        visited = 0
        pending = [(value, TENSORS_DEPTH)]
        while pending and visited < MAX_WEIGHT:
            visited += 1
            value, depth = pending.pop()
            if isinstance(value, Tensor):
                found.append(value)
            elif depth:
                pending.extend((item, depth - 1) for item in reversed(self._inside(value)))
        return found

    def _inside(self, value: Value) -> list[Value]:
        """What a value is made of; of an object, its attributes."""
        value = self.load(value)
        if is_sequence(value):
            return items_of(value)
        if isinstance(value, Dictionary):
            return [*value.items.values(), *([] if value.rest is None else [value.rest])]
        if isinstance(value, Union_):
            return list(value.choices)
        if isinstance(value, Partial):
            return [*value.args, *(v for _, v in value.kwargs)]
        return [self.heap.get(value.ref)] if isinstance(value, Instance) else []

    def same_as(self, other: State) -> bool:
        return (
            self.env.keys() == other.env.keys()
            and self.heap.keys() == other.heap.keys()
            and all(same(value, other.env[name]) for name, value in self.env.items())
            and all(same(value, other.heap[ref]) for ref, value in self.heap.items())
            and self.facts.same_as(other.facts)
            and (self.tests is other.tests or self.tests == other.tests)
        )


def join_states(a: State | None, b: State | None, key: Hashable) -> State | None:
    """What holds whichever of two paths was taken; None where neither comes through."""
    if a is None or b is None:
        return b if a is None else a
    facts = a.facts.join(b.facts)
    env = _join_maps(a.env, b.env, a, b, facts, key)
    heap = _join_maps(a.heap, b.heap, a, b, facts, key)
    for ref in a.heap.keys() ^ b.heap.keys():
        if is_torch_module(ref):  # of which nothing is held on the other path: it is there as it was made
            heap[ref] = join(heap[ref], Dictionary({}), (key, ref))
    tests = a.tests
    if tests is not b.tests:
        tests = {asked: answer for asked, answer in a.tests.items() if b.tests.get(asked) is answer}
    return State(env, heap, facts, tests)


def is_torch_module(ref: Ref) -> bool:
    """Whether a ref of the heap is that of a `Module`."""
    return isinstance(ref, tuple) and len(ref) == 2 and ref[0] == "module"


def _join_maps(
    left: dict[Name, Value], right: dict[Name, Value], a: State, b: State, facts: Facts, key: Hashable
) -> dict[Name, Value]:
    merged = {**left, **right}  # in the order of the left, then what only the right has
    for name, value in left.items():
        other = merged[name]
        if value is not other:
            one, two = _alike(settled(value, a.facts), settled(other, b.facts), a, b)
            merged[name] = cap(join(one, two, (key, name)), (key, name), facts)
    return merged


def _alike(one: Value, two: Value, a: State, b: State) -> tuple[Value, Value]:
    """Something unknown that has been used as a tensor is one, beside a tensor."""
    from torchlayout.interp.tensors import as_tensor

    if isinstance(one, Opaque) and isinstance(two, Opaque) and _used_as_tensor(one, a) and _used_as_tensor(two, b):
        first, second = as_tensor(one, a.facts), as_tensor(two, b.facts)
        if first is not None and second is not None:
            return settled(first, a.facts), settled(second, b.facts)
    if isinstance(one, Opaque) and isinstance(two, Tensor) and _used_as_tensor(one, a):
        return settled(as_tensor(one, a.facts) or one, a.facts), two
    if isinstance(two, Opaque) and isinstance(one, Tensor) and _used_as_tensor(two, b):
        return one, settled(as_tensor(two, b.facts) or two, b.facts)
    return one, two


def _used_as_tensor(value: Opaque, st: State) -> bool:
    return value.kind == "tensor" or (value.kind is None and st.facts.symbols.knows_rest(value.key))


def settled(value: Value, facts: Facts) -> Value:
    """The value with what its own path has learnt put in, before that is forgotten in a join."""
    if isinstance(value, Tensor):
        proven = tuple(_settle_operand(operand, facts) for operand in value.proven)
        assumed = proven if value.assumed is value.proven else tuple(_settle_operand(o, facts) for o in value.assumed)
        if proven == value.proven and assumed == value.assumed:
            return value
        return with_operands(value, proven, assumed)
    if isinstance(value, Poly):
        return facts.normal(value)
    if isinstance(value, Sequence):
        return Sequence(value.kind, tuple(settled(item, facts) for item in value.items), value.names)
    if isinstance(value, Many):
        return Many(settled(value.item, facts), value.kind)
    if isinstance(value, Union_):
        return Union_(tuple(settled(choice, facts) for choice in value.choices))
    if isinstance(value, Dictionary):
        rest = None if value.rest is None else settled(value.rest, facts)
        return Dictionary({k: settled(v, facts) for k, v in value.items.items()}, rest, value.maybe)
    return value


def _settle_operand(operand: Operand, facts: Facts) -> Operand:
    layout = settle(operand.layout, facts)
    if layout is operand.layout or layout == operand.layout:
        return operand
    return Operand(layout, operand.dtype, operand.numpy, operand.weak, operand.device)


def with_operands(tensor: Tensor, proven: tuple[Operand, ...], assumed: tuple[Operand, ...]) -> Tensor:
    return Tensor(proven, assumed, tensor.ident, tensor.storages, tensor.origin, tensor.made_by, tensor.parameter)


def in_common(operands: tuple[Operand, ...], facts: Facts, key: Hashable) -> Operand:
    """One operand for several alternatives: the rank, sizes that agree, and contiguity, as far as they share them.

    A size in which they differ becomes an unknown that `key`, the rank and the dimension name, in both worlds: it is
    the size that the tensor really has there.
    """
    layouts = [settle(operand.layout, facts) for operand in operands]
    first = operands[0]
    rank = layouts[0].rank
    packed = all(is_contiguous(layout, facts) is YES for layout in layouts)
    if rank is None or any(layout.rank != rank for layout in layouts):
        shape: Shape = unknown_layout((key, facts.assumed), facts).shape
    else:
        columns = enumerate(zip(*(layout.sizes for layout in layouts), strict=True))
        shape = tuple(c[0] if all(s == c[0] for s in c) else facts.symbols.atom((key, rank, i)) for i, c in columns)
    dtype = first.dtype if all(operand.dtype == first.dtype for operand in operands) else None
    device = first.device if all(operand.device == first.device for operand in operands) else None
    made = contiguous(shape, None) if packed else unknown_strides(shape)
    return Operand(made, dtype, first.numpy, any(operand.weak for operand in operands), device)


def in_few(operands: tuple[Operand, ...], facts: Facts, key: Hashable) -> tuple[Operand, ...]:
    """The alternatives, packed ones of one rank put together unless they consist of numbers: they differ in sizes, and
    a size that is read from the tensor later is then the same in all that is made of it."""
    if len(operands) < 2:
        return operands
    groups: dict[Hashable, list[Operand]] = {}
    for operand in operands:
        rank, layout = operand.layout.rank, operand.layout
        open_sizes = rank is not None and not all(isinstance(dim.size, int) for dim in layout.dims)
        packed = open_sizes and is_contiguous(layout, facts) is YES
        groups.setdefault((rank, operand.weak) if packed else id(operand), []).append(operand)
    if len(groups) > MAX_ALTERNATIVES:
        return (in_common(operands, facts, key),)
    if len(groups) == len(operands):
        return operands
    return tuple(alike[0] if len(alike) == 1 else in_common(tuple(alike), facts, key) for alike in groups.values())


def cap(value: Value, key: Hashable, facts: Facts) -> Value:
    """Bound the alternatives of a joined value."""
    if isinstance(value, Tensor):
        proven = in_few(value.proven, facts.proven_world, ("wide", key))
        assumed = in_few(value.assumed, facts.assumed_world, ("wide", key))
        if proven is value.proven and assumed is value.assumed:
            return value
        return with_operands(value, proven, assumed)
    if isinstance(value, Union_) and len(value.choices) > MAX_ALTERNATIVES:
        return Opaque(("wide", key))
    return value
