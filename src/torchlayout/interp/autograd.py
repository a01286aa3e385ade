"""`torch.autograd.Function`: `Cls.apply(...)` runs the class's `forward`.

How torch hands on what forward returns (torch/csrc/autograd/custom_function.cpp, `_process_backward_mode_ad`): a tensor
that is one of the arguments comes back as another object over the same memory, laid out alike, unless it was marked
dirty, when it is the argument itself; any other comes back as it is, and so do lists and what is no tensor. A tuple of
any kind comes back as a plain one.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from torchlayout.interp import record
from torchlayout.interp.attributes import get_attribute
from torchlayout.interp.definitions import member
from torchlayout.interp.frame import Frame
from torchlayout.interp.functions import bind_parameters
from torchlayout.interp.state import State
from torchlayout.interp.tensors import as_tensor
from torchlayout.interp.values import (
    BoundFunction,
    Class,
    Either,
    Function,
    Many,
    Opaque,
    Sequence,
    Tensor,
    Union_,
    Value,
    choices,
    items_of,
    objects,
)
from torchlayout.program import nodes
from torchlayout.sizes import Rest
from torchlayout.structs import replace

if TYPE_CHECKING:
    from torchlayout.interp.calls import Arguments


def apply(cls: Class, arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """`Cls.apply(...)` of an autograd function. Of the context nothing is kept: each call has one of its own."""
    from torchlayout.interp.calls import Arguments, call_linted, unknown_call

    name = f"{cls.name}.apply"
    forward = get_attribute(cls, "forward", node.span, st, fr)
    if not isinstance(forward, (Function, BoundFunction)):
        return unknown_call(name, arguments, node, st, fr)
    if fr.run.options.need_contiguous:  # the settings may name it
        record.foreign_call(fr, name, node.span, arguments.args, arguments.kwargs, st)
    place = fr.place(node.span)
    context = Opaque((place, "ctx"), "ctx")
    setup = member(cls, "setup_context", fr.run)
    if setup is None:
        given = Arguments([context, *arguments.args], arguments.kwargs, arguments.open_args, arguments.open_kwargs)
        value = call_linted(forward, given, node.span, st, fr)
    else:
        value = call_linted(forward, arguments, node.span, st, fr)
        if isinstance(setup, Function):
            output = st.hold((place, "output"), Sequence("list", (value,)))  # setup_context may turn it
            inputs = _inputs(forward, arguments, node, st, fr)
            call_linted(setup, Arguments([context, inputs, value], {}), node.span, st, fr)
            (value,) = items_of(st.heap.pop(output.ref))
    handed = frozenset(key for argument in arguments.values() for key in _keys(argument))
    return _handed_on(value, handed, (place, "applied"), st)


def _inputs(forward: Function | BoundFunction, arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """What `setup_context` gets for the inputs: a tuple of them, defaults filled in."""
    function = forward.function if isinstance(forward, BoundFunction) else forward
    bound = None
    if not arguments.open_args and function is forward:
        bound = bind_parameters(function, arguments.args, arguments.kwargs, arguments.open_kwargs, st, fr, node.span)
    if bound is None or any(param.kind.startswith("*") for param in function.node.params):
        return Many(Opaque((fr.place(node.span), "input")), "tuple")
    return Sequence("tuple", tuple(bound.values()))


def _keys(value: Value) -> frozenset[Hashable]:
    """What an argument that may be a tensor goes by."""
    found: frozenset[Hashable] = frozenset()
    for choice in choices(value):
        if isinstance(choice, Tensor):
            found |= objects(choice.ident)
        elif isinstance(choice, Opaque):
            found |= objects(choice.key)
    return found


def _handed_on(value: Value, handed: frozenset[Hashable], key: Hashable, st: State) -> Value:
    """What the caller gets for what forward returned."""
    if isinstance(value, Sequence) and value.kind in ("tuple", "size"):
        if any(isinstance(item, Rest) for item in value.items):
            return value
        return Sequence(
            "tuple", tuple(_another(item, handed, (key, place), st) for place, item in enumerate(value.items))
        )
    if isinstance(value, Union_):
        return Union_(tuple(_handed_on(choice, handed, (key, place), st) for place, choice in enumerate(value.choices)))
    if isinstance(value, Many) and value.kind == "tuple":
        return Many(_another(value.item, handed, key, st), "tuple")
    return _another(value, handed, key, st)


def _another(value: Value, handed: frozenset[Hashable], key: Hashable, st: State) -> Value:
    """An argument that comes back: itself, if it was marked dirty, or another object over the same memory."""
    if isinstance(value, Union_):
        return Union_(tuple(_another(choice, handed, (key, place), st) for place, choice in enumerate(value.choices)))
    if isinstance(value, Opaque) and not handed.isdisjoint(objects(value.key)):
        if value.kind != "tensor":  # nor need it be one: a number comes back as it is
            return replace(value, key=key)
        value = as_tensor(value, st.facts)
    if isinstance(value, Tensor) and not handed.isdisjoint(objects(value.ident)):
        return replace(value, ident=Either(objects(value.ident) | {key}))
    return value
