"""What may have become of a module since it was made: of its parameters and buffers, and of its forward.

Whoever holds a module may give its parameters other strides or another dtype (`m.to(memory_format=...)`, `m.half()`,
`m.weight.data = ...`, `load_state_dict(..., assign=True)`). So nothing is *proven* of how one lies in memory when it is
read from a module; and where the file itself does such things to an attribute of that name, nothing is assumed either.
"""

from __future__ import annotations

import re

from torchlayout.interp.state import State, with_operands
from torchlayout.interp.stores import written_from_outside
from torchlayout.interp.touched import TURNED, TURNED_BY_ANY_NAME, TURNING
from torchlayout.interp.values import Dictionary, Tensor
from torchlayout.layouts import settle, unknown_strides
from torchlayout.ops import Operand
from torchlayout.program.unit import Unit
from torchlayout.sizes import Facts

_TURN_ALL = [
    re.compile(pattern)
    for pattern in (
        r"assign(?<!\wassign)\s*=\s*True", r"register_parametrization(?<!\wregister_parametrization)\b",
        r"\.(?<!self\.)register_parameter\b", r"setattr(?<!\wsetattr)\s*\(\s*(?!self\b|cls\b)",
    )
]  # fmt: skip
_HOOK = [
    re.compile(pattern)
    for pattern in (
        r"register_(?<!\wregister_)(?:module_)?forward_(?:pre_)?hook\b", r"\.(?<!self\.)forward\s*=(?!=)",
        r"setattr(?<!\wsetattr)\s*\([^\n]*forward",
    )
]  # fmt: skip
"""Each of these begins with plain text, which is found many times faster than one of several."""


def vague(tensor: Tensor, facts: Facts) -> Tensor:
    """A parameter or buffer as it is read from a module: of its strides and dtype nothing is proven."""
    proven = tuple(dict.fromkeys(_vague(operand, facts) for operand in tensor.proven))
    return with_operands(tensor, proven, tensor.assumed)


def _vague(operand: Operand, facts: Facts) -> Operand:
    layout = settle(operand.layout, facts)
    if layout.rank is None or layout.rank > 1:  # one dimension has no other order
        layout = unknown_strides(layout.shape)
    return Operand(layout, None, operand.numpy, operand.weak, operand.device)


def forget_parameters(state: State) -> None:
    """The same for those that an `__init__` has left in attributes, before a method starts."""
    for ref, held in list(state.heap.items()):
        if isinstance(held, Dictionary):
            found = {
                name: vague(value, state.facts.proven_world)
                for name, value in held.items.items()
                if isinstance(value, Tensor) and value.parameter
            }
            if found:
                state.heap[ref] = Dictionary({**held.items, **found}, held.rest, held.maybe)


def may_be_turned(name: str, unit: Unit) -> bool:
    """Whether the file may give a parameter of this name, of some torch module, another value or other strides."""
    known: frozenset[str] | None = unit.__dict__.get("turned_parameters")
    if known is None:
        text = unit.source.clean
        everything = _stands(_TURN_ALL, text) or (TURNING.search(text) and TURNED_BY_ANY_NAME.search(text))
        known = frozenset(["*"] if everything else written_from_outside(unit).union(TURNED.findall(text)))
        unit.__dict__["turned_parameters"] = known
    return name in known or "*" in known


def may_be_hooked(unit: Unit) -> bool:
    """Whether the file gives some module a hook, or another forward, that may change what it gives."""
    known: bool | None = unit.__dict__.get("hooked")
    if known is None:
        known = unit.__dict__["hooked"] = _stands(_HOOK, unit.source.clean)
    return known


def _stands(patterns: list[re.Pattern[str]], text: str) -> bool:
    return any(pattern.search(text) for pattern in patterns)


__all__ = ["forget_parameters", "may_be_hooked", "may_be_turned", "vague"]
