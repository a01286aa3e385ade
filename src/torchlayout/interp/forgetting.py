"""Forgetting what a call that is not followed may have changed."""

from __future__ import annotations

from collections.abc import Hashable

from torchlayout.interp.frame import Frame
from torchlayout.interp.joins import join, join_all
from torchlayout.interp.state import State
from torchlayout.interp.values import (
    Container,
    Dictionary,
    Function,
    Held,
    Instance,
    Many,
    Module,
    Opaque,
    Sequence,
    Tensor,
    Union_,
    Value,
    choices,
    is_sequence,
    items_of,
)
from torchlayout.program import nodes
from torchlayout.program.nodes import Span

MAX_NESTED = 4
"""Lists, dicts and objects inside one another whose contents a call may change."""


def forget(values: list[Value], st: State, fr: Frame, span: Span, *, everything: bool = False) -> None:
    """A callee that is not followed may change the lists, dicts and objects that it is given, and those in them.

    Of objects only tensors are forgotten; with `everything`, all that is no module.
    """
    place = fr.place(span)
    pending = [(value, MAX_NESTED) for value in values]
    seen: set[Hashable] = set()
    while pending:
        value, depth = pending.pop()
        for choice in choices(value):
            if isinstance(choice, (Held, Instance)) and choice.ref not in seen:
                seen.add(choice.ref)
                if depth:
                    pending.extend((item, depth - 1) for item in _inside(st.heap.get(choice.ref), (Held,)))
                if isinstance(choice, Held):
                    forget_items(choice, Opaque((place, "changed", choice.ref)), place, st)
                else:
                    forget_attributes(choice, st, fr, span, everything=everything)
            elif isinstance(choice, Function):
                _forget_rebound(choice, st, place)
            elif depth:
                pending.extend((item, depth - 1) for item in _inside(choice, (Held, Instance)))


def _forget_rebound(function: Function, st: State, key: Hashable) -> None:
    """Whoever gets a function may call it, which gives names around it other values (`nonlocal`)."""
    from torchlayout.interp.definitions import rebound_names

    if not isinstance(function.node, nodes.Function):
        return
    for name in rebound_names(function.node):
        if name in st.env:
            st.env[name] = join(st.env[name], Opaque((key, "rebound", name), name), (key, name))
        for ref in function.homes:
            names = st.heap.get(ref)
            if isinstance(names, Dictionary) and name in names.items:
                value = join(names.items[name], Opaque((key, "rebound", name), name), (key, name))
                st.heap[ref] = names.put(name, value)


def _inside(value: Value, kinds: tuple[type, ...]) -> list[Value]:
    """What a container holds that may be changed in place, or may hold such."""
    items = value.items.values() if isinstance(value, Dictionary) else items_of(value)
    return [item for item in items if isinstance(item, (*kinds, Union_, Sequence, Many, Function))]


def forget_items(value: Held, unknown: Opaque, key: Hashable, st: State) -> None:
    """What a list or dict holds may be something else by now: each item is one of those it held, or the unknown."""
    inner = st.load(value)
    if isinstance(inner, Dictionary):
        st.heap[value.ref] = Dictionary({}, join_all([*inner.items.values(), unknown], (key, "items")))
    elif is_sequence(inner):
        st.heap[value.ref] = Many(join_all([*items_of(inner), unknown], (key, "items")), "list")


def item_of(value: Opaque, index: int | str, name: str | None, st: State) -> Opaque:
    """One item of what may be a list or a dict: the same one each time, until the items change."""
    since = st.heap.get(("items", value.key))
    return Opaque((since.key if isinstance(since, Opaque) else value.key, "item", index), name, True, value.origin)


def change_items(value: Opaque, place: Hashable, st: State) -> None:
    """What is not known gets other items, if it has any."""
    st.heap["items", value.key] = Opaque((place, "items", value.key))


def set_any(value: Instance, new: Value, key: Hashable, st: State) -> None:
    """Some attribute of an object is set: any of those it has may be the new value."""
    attributes = st.heap.get(value.ref)
    if isinstance(attributes, Dictionary):
        st.heap[value.ref] = attributes.overlaid(Dictionary({}, new), key)


def forget_attributes(value: Instance, st: State, fr: Frame, span: Span, *, everything: bool = False) -> None:
    """Forget what a call that is not followed may have set on an object."""
    attributes = st.heap.get(value.ref)
    if not isinstance(attributes, Dictionary):
        return
    items = dict(attributes.items)
    for name, item in items.items():
        if isinstance(item, (Tensor, Held)) and not getattr(item, "parameter", False):
            items[name] = Opaque((fr.place(span), "changed", value.ref, name))
        elif everything and not isinstance(item, (Tensor, Module, Container, Instance, Function)):
            items[name] = Opaque((fr.place(span), "changed", value.ref, name), f"{value.path or 'self'}.{name}")
    st.heap[value.ref] = Dictionary(items, attributes.rest, attributes.maybe)
