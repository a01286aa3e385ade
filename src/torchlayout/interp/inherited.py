"""Methods that an object has from `nn.Module` or from the torch module that its class extends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlayout.interp.conversions import turn
from torchlayout.interp.forgetting import forget
from torchlayout.interp.frame import Frame
from torchlayout.interp.instances import call_module, make_module
from torchlayout.interp.module_formats import computing, extend, extended_row
from torchlayout.interp.state import State
from torchlayout.interp.values import Container, Instance, Module, Super, Union_, Value
from torchlayout.program import nodes

if TYPE_CHECKING:
    from torchlayout.interp.calls import Arguments

SELF_RETURNING = frozenset({"to", "cuda", "cpu", "eval", "train", "half", "float", "double", "requires_grad_", "apply"})
"""Methods that give the module itself."""
INHERITED = SELF_RETURNING | {"__init__", "forward"}


def is_inherited(receiver: Value, name: str) -> bool:
    """Whether this method of a value is that of a class that is not linted."""
    if isinstance(receiver, Super) and isinstance(receiver.receiver, Instance):
        lineage = receiver.receiver.cls.lineage()
        behind = lineage[lineage.index(receiver.owner) + 1 :] if receiver.owner in lineage else lineage
        return all(name not in cls.members for cls in behind)
    if isinstance(receiver, Instance):
        return receiver.cls.lookup(name) is None
    if isinstance(receiver, Union_) and name == "to":  # of which one is turned, whichever it is
        modules = [choice for choice in receiver.choices if choice is not None]
        return all(isinstance(choice, Container) or is_inherited(choice, name) for choice in modules)
    return isinstance(receiver, Module)


def inherited(receiver: Value, name: str, arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """Call such a method."""
    from torchlayout.interp.calls import unknown_call

    value = receiver.receiver if isinstance(receiver, Super) else receiver
    if name == "__init__":
        row = extended_row(value.cls, receiver.owner) if isinstance(receiver, Super) else None
        if row is not None:
            extend(value, make_module(row, arguments, node.span, st, fr), st)
            return None
    elif name == "forward":
        module = value if isinstance(value, Module) else computing(value, st)
        if module is not None:
            return call_module(module, arguments, node, st, fr)
    else:
        if name == "to":
            turn(value, arguments, node.span, st, fr)
        return value
    if isinstance(value, Instance):
        forget([value], st, fr, node.span)
    return unknown_call(f".{name}", arguments, node, st, fr)
