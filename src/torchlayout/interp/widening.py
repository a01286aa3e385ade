"""Forgetting what still changes in a loop after several turns."""

from __future__ import annotations

from collections.abc import Hashable

from torchlayout.interp.state import State, in_common, with_operands
from torchlayout.interp.values import Dictionary, Held, Many, Opaque, Tensor, Value, same


def widen_states(old: State, new: State, key: Hashable) -> State:
    """The new state with every value that differs from the old one forgotten."""
    for name, value in new.env.items():
        if not same(value, old.env.get(name)):
            new.env[name] = _forgotten(value, old.env.get(name), (key, name), new)
    for ref, value in new.heap.items():
        if not same(value, old.heap.get(ref)):
            new.heap[ref] = _forgotten(value, old.heap.get(ref), (key, ref), new)
    return new


def _forgotten(value: Value, before: Value, key: Hashable, st: State) -> Value:
    """The value without what differs from that before; of a container, item by item."""
    if same(value, before):
        return value
    if isinstance(value, Dictionary) and isinstance(before, Dictionary):
        items = {k: _forgotten(v, before.items.get(k), (key, k), st) for k, v in value.items.items()}
        rest = None if value.rest is None else _forgotten(value.rest, before.rest, (key, "rest"), st)
        return Dictionary(items, rest, value.maybe | before.maybe)
    if isinstance(value, Many) and isinstance(before, Many):
        return Many(_forgotten(value.item, before.item, (key, "item"), st), value.kind)
    if isinstance(value, Tensor):
        proven = in_common(value.proven, st.facts.proven_world, (key, "proven"))
        assumed = in_common(value.assumed, st.facts.assumed_world, (key, "assumed"))
        if proven.layout.shape == assumed.layout.shape and proven.layout.strides == assumed.layout.strides:
            assumed = proven
        return with_operands(value, (proven,), (assumed,))
    return value if isinstance(value, Held) else Opaque(("widened", key))
