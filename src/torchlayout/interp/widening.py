"""Forgetting what still changes in a loop after several turns."""

from __future__ import annotations

from collections.abc import Hashable

from torchlayout.interp.state import State, with_operands
from torchlayout.interp.values import Held, Opaque, Tensor, Value, same
from torchlayout.layouts import unknown_layout
from torchlayout.ops import Operand


def widen_states(old: State, new: State, key: Hashable) -> State:
    """The new state with every value that differs from the old one forgotten."""
    for name, value in new.env.items():
        if not same(value, old.env.get(name)):
            new.env[name] = _forgotten(value, (key, name), new)
    for ref, value in new.heap.items():
        if not same(value, old.heap.get(ref)):
            new.heap[ref] = _forgotten(value, (key, ref), new)
    return new


def _forgotten(value: Value, key: Hashable, st: State) -> Value:
    if isinstance(value, Tensor):
        unknown = Operand(unknown_layout(key, st.facts), None, value.numpy, True)
        return with_operands(value, (unknown,), (unknown,))
    return value if isinstance(value, Held) else Opaque(("widened", key))
