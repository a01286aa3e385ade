"""Taking items: `value[index]` of tensors, lists, dicts and of what is not known."""

from __future__ import annotations

from torchlayout.interp import shapes
from torchlayout.interp.forgetting import item_of
from torchlayout.interp.frame import Frame
from torchlayout.interp.joins import join_all
from torchlayout.interp.operate import subscript
from torchlayout.interp.protocols import special
from torchlayout.interp.state import State
from torchlayout.interp.tensors import as_size, as_tensor
from torchlayout.interp.values import (
    Container,
    Dictionary,
    Instance,
    Many,
    Opaque,
    Slice,
    Tensor,
    Union_,
    Value,
    is_int,
    is_sequence,
    one_of_many,
)
from torchlayout.interp.values import Sequence as SequenceValue
from torchlayout.program import nodes
from torchlayout.sizes import Poly, Rest
from torchlayout.structs import replace


def take(value: Value, index: Value, node: nodes.Subscript, st: State, fr: Frame) -> Value:
    """`value[index]`."""
    unknown = Opaque((fr.place(node.span), "item"))
    value = st.load(value)
    if isinstance(value, Tensor):
        return subscript(fr, st, value, node, index)
    if isinstance(value, Union_):
        parts = [take(choice, index, node, st, fr) for choice in value.choices if choice is not None]
        return join_all(parts, fr.place(node.span))
    if isinstance(index, Union_):
        return join_all([take(value, choice, node, st, fr) for choice in index.choices], fr.place(node.span))
    if isinstance(value, SequenceValue):
        return _own_list(_take_item(value, index, unknown, st), node, st, fr)
    if isinstance(value, Many):
        if isinstance(index, Slice):
            return _own_list(Many(value.item, value.kind), node, st, fr)
        return one_of_many(value.item, fr.place(node.span))
    if isinstance(value, Dictionary):
        if isinstance(index, (str, int)) and index in value.items:
            return value.items[index]
        if isinstance(index, (Opaque, Poly)):
            held = [*value.items.values(), *([] if value.rest is None else [value.rest])]
            return join_all(held, unknown.key) if held else unknown
        return value.rest if value.rest is not None else unknown
    if isinstance(value, Container):
        inner = take(st.load(value.items), index, node, st, fr)
        return Container(value.kind, inner, (value.ref, "part")) if is_sequence(st.load(inner)) else inner
    if isinstance(value, Opaque):
        return _take_opaque(value, index, node, st, fr, unknown)
    if isinstance(value, Instance):
        found = special(value, "__getitem__", [index], node.span, st, fr)
        return unknown if found is None else found
    if isinstance(value, str) and isinstance(index, int):
        return Opaque((fr.place(node.span), "character"), kind="str")
    return unknown


def _own_list(part: Value, node: nodes.Subscript, st: State, fr: Frame) -> Value:
    """A slice of a list is another list."""
    is_list = is_sequence(part) and part.kind == "list"
    return st.hold(("list", fr.place(node.span)), part) if is_list else part


def _take_item(value: SequenceValue, index: Value, unknown: Opaque, st: State) -> Value:
    facts = st.facts
    if isinstance(index, Poly):
        index = facts.normal(index)
    sizes = value.kind == "size" or any(isinstance(item, Rest) for item in value.items)
    if isinstance(index, int) and not isinstance(index, bool):
        if sizes and all(isinstance(item, (int, Poly, Rest)) for item in value.items):
            found = shapes.item(tuple(value.items), index, facts)
            return unknown if found is None else found[0]
        if sizes:
            return unknown
        return value.items[index] if -len(value.items) <= index < len(value.items) else unknown
    if isinstance(index, Slice):
        bounds = [b if b is None else as_size(b, facts) for b in (index.lower, index.upper, index.step)]
        if not all(b is None or isinstance(b, int) for b in bounds) or bounds[2] == 0:
            return Many(join_all(list(value.items), (unknown.key, "any")), value.kind) if not sizes else unknown
        if not sizes:
            return SequenceValue(value.kind, value.items[slice(*bounds)])
        if bounds[2] in (None, 1) and all(isinstance(item, (int, Poly, Rest)) for item in value.items):
            part = shapes.part(tuple(value.items), bounds[0], bounds[1], facts)
            if part is not None:
                return SequenceValue("size", part)
        return unknown
    if sizes:
        return unknown
    return join_all(list(value.items), (unknown.key, "any"))


def _is_backwards(index: Value) -> bool:
    """A slice that is sure to have a negative step."""
    return isinstance(index, Slice) and isinstance(index.step, int) and index.step < 0


def _take_opaque(value: Opaque, index: Value, node: nodes.Subscript, st: State, fr: Frame, unknown: Opaque) -> Value:
    if isinstance(index, str):
        name = f"{value.name}[{index!r}]" if value.name else None
        return item_of(value, index, name, st)
    looks_like_tensor = isinstance(index, Slice) or (
        isinstance(index, SequenceValue)
        and index.kind == "tuple"
        and any(isinstance(item, (Slice, type(...), type(None))) for item in index.items)
    )
    if value.kind in ("tensor", "ndarray") or (isinstance(index, SequenceValue) and looks_like_tensor):
        if value.kind is None and isinstance(index, SequenceValue) and any(map(_is_backwards, index.items)):
            value = replace(value, kind="ndarray")  # a tensor takes no negative step
        tensor = as_tensor(value, st.facts)
        if tensor is not None:
            return subscript(fr, st, tensor, node, index)
    if value.kind is None and _is_backwards(index) and "from_numpy" in fr.unit.text:
        tensor = as_tensor(replace(value, kind="ndarray"), st.facts)
        found = None if tensor is None else subscript(fr, st, tensor, node, index)
        return replace(unknown, array=found if isinstance(found, Tensor) else None)
    if is_int(index) and not isinstance(index, Poly):
        return item_of(value, index, f"{value.name}[{index}]" if value.name else None, st)
    return unknown
