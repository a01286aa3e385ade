"""What is known of a value that is one thing on one path and another on another."""

from __future__ import annotations

from collections.abc import Hashable

from torchlayout.interp.values import (
    MAX_ALTERNATIVES,
    Dictionary,
    Either,
    Many,
    Opaque,
    Sequence,
    Tensor,
    Union_,
    Value,
    choices,
    is_sequence,
    items_of,
    objects,
    same,
)
from torchlayout.ops import Operand
from torchlayout.sizes import Rest


def join(a: Value, b: Value, key: Hashable) -> Value:
    """What is known of a name that holds `a` on one path and `b` on another."""
    if same(a, b):
        return a
    if isinstance(a, Tensor) and isinstance(b, Tensor) and a.numpy == b.numpy:
        return join_tensors(a, b, key)
    if isinstance(a, Sequence) and isinstance(b, Sequence) and len(a.items) == len(b.items) and a.kind == b.kind:
        if not any(isinstance(item, Rest) for item in (*a.items, *b.items)):
            items = tuple(join(x, y, (key, i)) for i, (x, y) in enumerate(zip(a.items, b.items, strict=True)))
            return Sequence(a.kind, items, a.names if a.names == b.names else ())
    if isinstance(a, Dictionary) and isinstance(b, Dictionary):
        return _join_dictionaries(a, b, key)
    if isinstance(a, Many) and isinstance(b, Many) and a.kind == b.kind:
        return Many(join(a.item, b.item, (key, "item")), a.kind)
    if is_sequence(a) and is_sequence(b) and a.kind == b.kind:
        item = join_all([*items_of(a), *items_of(b)], (key, "item"))
        return Many(item, a.kind)
    if isinstance(a, Opaque) and isinstance(b, Opaque):
        return Opaque(("join", key), None, a.weak or b.weak, a.origin or b.origin)
    return _union(a, b, key)


def _union(a: Value, b: Value, key: Hashable) -> Value:
    found: list[Value] = []
    for value in (*choices(a), *choices(b)):
        for place, other in enumerate(found):
            if same(value, other):
                break
            if isinstance(value, Tensor) and isinstance(other, Tensor) and value.numpy == other.numpy:
                found[place] = join_tensors(other, value, key)
                break
        else:
            found.append(value)
    if len(found) == 1:
        return found[0]
    if len(found) > MAX_ALTERNATIVES:
        return Opaque(("join", key))
    return Union_(tuple(found))


def _join_dictionaries(a: Dictionary, b: Dictionary, key: Hashable) -> Value:
    rest = a.rest if b.rest is None else b.rest if a.rest is None else join(a.rest, b.rest, (key, "rest"))
    items = {k: join(v, b.items[k], (key, k)) for k, v in a.items.items() if k in b.items}
    maybe = set(a.maybe | b.maybe)
    for name, value in (*a.items.items(), *b.items.items()):
        if name not in items:
            items[name] = value
            maybe.add(name)
    return Dictionary(items, rest, frozenset(maybe))


def join_tensors(a: Tensor, b: Tensor, key: Hashable) -> Tensor:
    """Alternatives are kept, up to a few."""
    return Tensor(
        _join_operands(a.proven, b.proven),
        _join_operands(a.assumed, b.assumed),
        a.ident if a.ident == b.ident else Either(objects(a.ident) | objects(b.ident)),
        a.storages | b.storages,
        a.origin if a.origin == b.origin or b.origin is None else (b.origin if a.origin is None else a.origin),
        a.made_by | b.made_by,
        a.parameter or b.parameter,
    )


def _join_operands(a: tuple[Operand, ...], b: tuple[Operand, ...]) -> tuple[Operand, ...]:
    if a == b:
        return a
    merged = list(a)
    merged.extend(operand for operand in b if operand not in merged)
    return tuple(merged)


def join_all(values: list[Value], key: Hashable) -> Value:
    """The join of any number of values; an unknown for none."""
    if not values:
        return Opaque(("empty", key))
    result = values[0]
    for value in values[1:]:
        result = join(result, value, key)
    return result
