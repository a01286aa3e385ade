"""Builtins that make sequences and go through them: `len`, `range`, `zip`, `map`, `list`, `dict`, `next`, ..."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

from torchlayout.interp import record
from torchlayout.interp.frame import Frame
from torchlayout.interp.joins import join_all
from torchlayout.interp.state import State
from torchlayout.interp.tensors import as_size, as_tensor
from torchlayout.interp.trace import Loop
from torchlayout.interp.values import (
    Container,
    Dictionary,
    Instance,
    Many,
    Opaque,
    Sequence,
    Tensor,
    Value,
    is_int,
    is_sequence,
    items_of,
    one_of_many,
)
from torchlayout.layouts import settle_shape, with_leading
from torchlayout.program import nodes
from torchlayout.sizes import Poly, Rest

if TYPE_CHECKING:
    from torchlayout.interp.calls import Arguments

Handler = Callable[["Arguments", nodes.Call, State, Frame], Value]
"""Gives the value of a call, or None where it is not known."""
MAX_RANGE = 8
"""Turns of a `range` of known length that are told apart."""


def iterate(value: Value, st: State, fr: Frame, span: nodes.Span) -> Value:
    """What a loop over a value goes through: a `Sequence` of known length or a `Many`."""
    value = st.load(value)
    if isinstance(value, Container):
        return iterate(value.items, st, fr, span)
    if isinstance(value, Sequence) and any(isinstance(item, Rest) for item in value.items):
        return Many(st.facts.symbols.atom((fr.place(span), "size")), "tuple")
    if is_sequence(value) and value.kind == "set":  # in some order
        return Many(join_all(items_of(value), (fr.place(span), "item")), "tuple")
    if is_sequence(value):
        return value
    if isinstance(value, Dictionary):
        if value.rest is None and not value.maybe:
            return Sequence("tuple", tuple(value.items))
        return Many(Opaque((fr.place(span), "key"), kind="str"), "tuple")
    tensor = value if isinstance(value, Tensor) else None
    if tensor is None and isinstance(value, Opaque) and value.kind in ("tensor", "ndarray"):
        tensor = as_tensor(value, st.facts)
    if tensor is not None:
        record.contents(fr, [tensor], "iter", span, st)
        return Many(_first_item(tensor, st, fr, span), "tuple")
    if isinstance(value, Instance):
        from torchlayout.interp.protocols import iterated

        return iterated(value, span, st, fr)
    return Many(Opaque((fr.place(span), "iterated"), None, True), "tuple")


def _first_item(tensor: Tensor, st: State, fr: Frame, span: nodes.Span) -> Value:
    """Iterating a tensor gives `x[0]`, `x[1]`, ..."""
    from torchlayout.interp.operate import subscript

    node = nodes.Subscript(nodes.Name("x", span), nodes.Const(0, span), span)
    return subscript(fr, st, tensor, node, 0)


def len_of(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """`len(x)`: the number of items, the first size of a tensor, or an unknown int."""
    value = st.load(arguments.args[0]) if arguments.args else None
    if isinstance(value, Sequence) and value.kind == "set":
        value = set(value.items) if all(isinstance(item, (str, int)) for item in value.items) else None
    if isinstance(value, set):
        return len(value)
    if isinstance(value, Sequence):
        rests = [item for item in value.items if isinstance(item, Rest)]
        if not rests:
            return len(value.items)
        if not all(isinstance(item, (int, Poly, Rest)) for item in value.items):
            return Opaque(("rank", rests[0].key), None, True, None, "int")
        settled = settle_shape(tuple(value.items), st.facts)
        if not any(isinstance(item, Rest) for item in settled):
            return len(settled)
        return Opaque(("rank", rests[0].key), None, True, None, "int")
    if isinstance(value, Dictionary) and value.rest is None and not value.maybe:
        return len(value.items)
    if isinstance(value, Container):
        return len_of(type(arguments)([value.items], {}), node, st, fr)
    if isinstance(value, Tensor):
        record.use(fr, [value], "read", "len", None, node.span)
        layout = with_leading(value.assumed[0].layout, 1, st.facts)
        if len(value.assumed) == 1 and layout is not None:
            return layout.dims[0].size
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Instance):
        from torchlayout.interp.protocols import special

        length = special(value, "__len__", [], node.span, st, fr)
        if is_int(length):
            return length
    if isinstance(value, Opaque):
        since = st.heap.get(("items", value.key))
        key, name = (since.key, None) if isinstance(since, Opaque) else (value.key, value.name)
        return st.facts.symbols.atom(("len", key), f"len({name})" if name else None)
    return st.facts.symbols.atom((fr.place(node.span), "len"))


def range_of(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """`range(n)`: its turns told apart where they are few, else one unknown int."""
    args = [as_size(value, st.facts) for value in arguments.args]
    if args and all(isinstance(value, int) for value in args) and not (len(args) == 3 and args[2] == 0):
        numbers = range(*args)
        if len(numbers) <= MAX_RANGE:
            return Sequence("tuple", tuple(numbers))
    from_zero = len(args) < 2 and not arguments.open_args
    return Many(st.facts.symbols.atom((fr.place(node.span), "index"), None, 0 if from_zero else None), "range")


def zip_of(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """`zip(a, b)`: pairs, as many as the shortest has where all are of known length."""
    place = fr.place(node.span)
    if arguments.open_args:  # `zip(*batch)`: the items are tuples of unknown length
        return Many(Many(Opaque((place, "iterated")), "tuple"), "tuple")
    parts = [iterate(value, st, fr, node.span) for value in arguments.args]
    if parts and all(isinstance(part, Sequence) for part in parts):
        return Sequence("tuple", tuple(Sequence("tuple", row) for row in zip(*(p.items for p in parts), strict=False)))
    return Many(Sequence("tuple", tuple(join_all(items_of(p), (place, i)) for i, p in enumerate(parts))), "tuple")


def enumerate_of(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """`enumerate(xs)`: pairs of a number and an item."""
    if not arguments.args:
        return None
    part = iterate(arguments.args[0], st, fr, node.span)
    start = arguments.args[1] if len(arguments.args) > 1 else arguments.kwargs.get("start", 0)
    if isinstance(part, Sequence) and isinstance(start, int):
        return Sequence("tuple", tuple(Sequence("tuple", (start + i, v)) for i, v in enumerate(part.items)))
    index = st.facts.symbols.atom((fr.place(node.span), "index"))
    return Many(Sequence("tuple", (index, join_all(items_of(part), fr.place(node.span)))), "tuple")


def reversed_of(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """`reversed(xs)`: the items from the last to the first."""
    part = iterate(arguments.args[0], st, fr, node.span) if arguments.args else None
    return Sequence("tuple", part.items[::-1]) if isinstance(part, Sequence) else part


def collection_of(kind: str) -> Handler:
    """`tuple(xs)`, `list(xs)` or `set(xs)`."""

    def convert(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
        if not arguments.args:
            made: Value = Sequence(kind, ())
        else:
            part = iterate(arguments.args[0], st, fr, node.span)
            loaded = st.load(arguments.args[0])
            if isinstance(loaded, Sequence) and loaded.kind == "size":
                part = loaded
            sizes = kind == "tuple" and isinstance(part, Sequence) and any(isinstance(i, Rest) for i in part.items)
            made = Sequence("size" if sizes else kind, part.items) if isinstance(part, Sequence) else part
            if isinstance(made, Many):
                made = Many(made.item, kind)
        return made if kind == "tuple" else st.hold(("list", fr.place(node.span)), made)

    return convert


def sorted_of(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """`sorted(xs)`: the items in an order that is not known."""
    part = iterate(arguments.args[0], st, fr, node.span) if arguments.args else None
    known = isinstance(part, Sequence) and all(type(item) is int for item in part.items)
    if isinstance(part, Sequence) and known and not arguments.kwargs:
        made: Value = Sequence("list", tuple(sorted(part.items)))
    else:
        items = items_of(part) if part is not None else []
        made = Many(join_all(items, (fr.place(node.span), "item")), "list")
    return st.hold(("list", fr.place(node.span)), made)


def dict_of(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """`dict(...)`, of pairs, of another dict, of keyword arguments."""
    place = fr.place(node.span)
    return st.hold(("dict", place), updated(Dictionary({}), arguments, place, st))


def updated(before: Dictionary, arguments: Arguments, place: Hashable, st: State) -> Dictionary:
    """What `update(...)` with these arguments, those of `dict(...)`, makes of a dict."""
    unknown = Dictionary({}, Opaque((place, "rest")))
    for value in arguments.args[:1]:
        given = st.load(value)
        before = before.overlaid(given if isinstance(given, Dictionary) else unknown, (place, "given"))
    if arguments.open_kwargs:
        before = before.overlaid(unknown, (place, "open"))
    return before.overlaid(Dictionary(arguments.kwargs), place)


def map_of(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """`map(f, xs)`: what the function gives for each item."""
    from torchlayout.interp.calls import Arguments, call_value

    if len(arguments.args) < 2:
        return None
    function, *given = arguments.args
    parts = [iterate(value, st, fr, node.span) for value in given]
    loop = Loop(node.span, "call")
    if all(isinstance(part, Sequence) for part in parts) and not arguments.open_args:
        rows = list(zip(*(part.items for part in parts), strict=False))
        context = fr.context
        found: list[Value] = []
        for place, row in enumerate(rows[:MAX_RANGE]):
            fr.context = (*context, ("item", place))
            found.append(call_value(function, Arguments(list(row), {}), node, st, fr, loop))
        fr.context = context
        if len(rows) <= MAX_RANGE:
            return Sequence("tuple", tuple(found))
        return Many(join_all(found, fr.place(node.span)), "tuple")
    once = [join_all(items_of(part), (fr.place(node.span), i)) for i, part in enumerate(parts)]
    return Many(call_value(function, Arguments(once, {}, arguments.open_args), node, st, fr, loop), "tuple")


def iter_of(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """`iter(x)`: what gives the items of x."""
    from torchlayout.interp.protocols import special

    value = arguments.args[0] if len(arguments.args) == 1 else None
    made = special(value, "__iter__", [], node.span, st, fr)
    return value if made is None else made


def next_of(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """`next(iterator)`: one of its items."""
    if not arguments.args:
        return None
    from torchlayout.interp.protocols import following

    found = following(arguments.args[0], node.span, st, fr)
    if found is not None:
        return join_all([found, *arguments.args[1:]], (fr.place(node.span), "next"))
    items = iterate(arguments.args[0], st, fr, node.span)
    place = fr.place(node.span)
    return one_of_many(join_all([*items_of(items), *arguments.args[1:]], (place, "next")), place)
