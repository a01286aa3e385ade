"""Assigning to names, attributes, subscripts and tuples of them."""

from __future__ import annotations

from collections.abc import Hashable

from torchlayout.interp import record, shapes
from torchlayout.interp.assumptions import apply_to
from torchlayout.interp.attributes import set_attribute
from torchlayout.interp.forgetting import change_items, forget, item_of
from torchlayout.interp.frame import Frame
from torchlayout.interp.iteration import iterate
from torchlayout.interp.joins import join, join_all
from torchlayout.interp.names import home_of
from torchlayout.interp.operate import replace_everywhere
from torchlayout.interp.protocols import special
from torchlayout.interp.state import State, with_operands
from torchlayout.interp.tensors import as_tensor
from torchlayout.interp.values import (
    Dictionary,
    Held,
    Many,
    Opaque,
    Sequence,
    Tensor,
    Union_,
    Value,
    is_sequence,
    items_of,
    one_of_many,
)
from torchlayout.layouts import settle, with_rank
from torchlayout.ops import Operand
from torchlayout.program import nodes
from torchlayout.sizes import Poly, Rest, Shape, single_atom
from torchlayout.structs import replace


def bind_target(target: nodes.Expr, value: Value, st: State, fr: Frame) -> None:
    """`target = value`."""
    if isinstance(target, nodes.Name):
        bind_name(target.id, value, st, fr)
    elif isinstance(target, nodes.Sequence):
        _unpack(target, value, st, fr)
    elif isinstance(target, nodes.Starred):
        bind_target(target.value, value, st, fr)
    elif isinstance(target, nodes.Attribute):
        from torchlayout.interp.expressions import evaluate

        set_attribute(evaluate(target.value, st, fr), target.attr, value, target.span, st, fr)
    elif isinstance(target, nodes.Subscript):
        _set_item(target, value, st, fr)


def bind_name(name: str, value: Value, st: State, fr: Frame) -> None:
    """A name for a value; unknown sizes without a name of their own take it over."""
    if name.strip("_") == "":
        pass  # `_` is no name for anything
    elif isinstance(value, Poly):
        atom = single_atom(value)
        if atom is not None and (atom.name is None or (_is_query_name(atom.name) and not fr.paths)):
            atom.name = name  # on all paths
        value = apply_to(value, name, st.facts)
    elif isinstance(value, Opaque) and value.name is None:
        value = replace(value, name=name)
    if name in fr.globals:
        fr.run.globals[(fr.unit.path, name)] = Opaque(("global", fr.unit.path, name), name)
    home = home_of(name, st, fr) if name in fr.nonlocals else None
    if home is not None:
        st.heap[home[0]] = home[1].put(name, value)
    else:
        st.env[name] = value


def _name_of(target: nodes.Expr) -> str | None:
    """What a target calls a size; None for `_` and for what is no name."""
    return target.id if isinstance(target, nodes.Name) and target.id.strip("_") else None


def _is_query_name(name: str) -> bool:
    return name.endswith(")") and (".size(" in name or "len(" in name)


def _unpack(target: nodes.Sequence, value: Value, st: State, fr: Frame) -> None:
    """`a, b, *rest = value`."""
    names = target.items
    star = next((i for i, item in enumerate(names) if isinstance(item, nodes.Starred)), None)
    items = _parts(value, len(names), star, [_name_of(n) for n in names], target, st, fr)
    for item, part in zip(names, items, strict=True):
        bind_target(item, part, st, fr)


def _parts(
    value: Value, count: int, star: int | None, names: list[str | None], target: nodes.Sequence, st: State, fr: Frame
) -> list[Value]:
    """The `count` values that a target of that length takes; the starred one takes a list."""
    place = fr.place(target.span)
    value = st.load(value)
    if isinstance(value, Sequence) and value.kind == "set":
        value = iterate(value, st, fr, target.span)
    if isinstance(value, Union_):
        options = [_parts(c, count, star, names, target, st, fr) for c in value.choices if c is not None]
        if options:
            return [join_all(list(column), (place, i)) for i, column in enumerate(zip(*options, strict=True))]
    if isinstance(value, Sequence) and any(isinstance(item, Rest) for item in value.items):
        found = _unpack_shape(value, count, star, names, place, st)
        if found is not None:
            return found
    elif isinstance(value, Sequence):
        items = list(value.items)
        if star is None and len(items) == count:
            return items
        if star is not None and len(items) >= count - 1:
            after = count - star - 1
            middle = st.hold(("list", place), Sequence("list", tuple(items[star : len(items) - after])))
            return [*items[:star], middle, *items[len(items) - after :]]
    elif isinstance(value, Opaque) and value.key and isinstance(value.key, tuple) and value.key[-1] == "shape":
        shape = _of_rank(value.key[0], count, st, fr.run.proving) if star is None and len(value.key) == 2 else None
        sizes = None if shape is None else shapes.unpack(shape, count, st.facts, tuple(names))
        if sizes is not None:
            return list(sizes)
        return [st.facts.symbols.atom((value.key, i, count), name) for i, name in enumerate(names)]
    elif isinstance(value, (Tensor, Many)) or (isinstance(value, Opaque) and value.kind == "tensor"):
        part = iterate(value, st, fr, target.span)
        item = join_all(items_of(part), (place, "item"))
        found = [distinct(item, i, st) for i in range(count)]
        if star is not None:
            found[star] = st.hold(("list", place), Many(item, "list"))
        return found
    if not isinstance(value, Opaque):
        return [Opaque((place, "part", i), name, True) for i, name in enumerate(names)]
    if star is None:  # the items that `value[0]`, `value[1]`, ... are
        return [item_of(value, i, name, st) for i, name in enumerate(names)]
    return [Opaque((place, "part", i, value.key), name, True, value.origin) for i, name in enumerate(names)]


def _of_rank(ident: Hashable, rank: int, st: State, proving: bool) -> Shape | None:
    """The shape of the tensor of this identity, now that its rank is told: alternatives of other ranks are dropped."""
    tensor = next((v for v in st.env.values() if isinstance(v, Tensor) and v.ident == ident), None)
    if tensor is None:
        return None
    proven, assumed = (_ranked(operands, rank, st) for operands in (tensor.proven, tensor.assumed))
    if not proven or not assumed:
        return None
    tensor = with_operands(tensor, proven, assumed)
    replace_everywhere(st, ident, tensor)
    return shapes.shape_of(tensor, st.facts, ident, proving)


def _ranked(operands: tuple[Operand, ...], rank: int, st: State) -> tuple[Operand, ...]:
    found: list[Operand] = []
    for operand in operands:
        own = st.facts.copy()  # true of this alternative, not of every tensor that it may come from
        layout = with_rank(operand.layout, rank, own)
        if layout is not None:
            found.append(replace(operand, layout=settle(layout, own)))
    return tuple(dict.fromkeys(found))


def distinct(item: Value, place: Hashable, st: State) -> Value:
    """One of several items that are known only to be alike: unknowns in it are not those of the others."""
    if isinstance(item, Opaque):
        return Opaque((item.key, "part", place), None, item.weak, item.origin, item.kind)
    if isinstance(item, Poly):
        return st.facts.symbols.atom(("part", item, place))
    return one_of_many(item, place)


def _unpack_shape(
    value: Sequence, count: int, star: int | None, names: list[str | None], place: Hashable, st: State
) -> list[Value] | None:
    shape = tuple(value.items)
    if not all(isinstance(item, (int, Poly, Rest)) for item in shape):
        return None
    if star is None:
        found = shapes.unpack(shape, count, st.facts, tuple(names))
        return None if found is None else list(found)
    after = count - star - 1
    middle = shapes.part(shape, star, -after if after else None, st.facts)
    if middle is None:
        return None
    front = shapes.part(shape, 0, star, st.facts) if star else ()
    back = shapes.part(shape, -after, None, st.facts) if after else ()
    if front is None or back is None:
        return None
    return [*front, st.hold(("list", place), Sequence("list", middle)), *back]


def _set_item(target: nodes.Subscript, value: Value, st: State, fr: Frame) -> None:
    """`x[...] = value`: of a tensor it writes in place, of a list or dict it changes the contents."""
    from torchlayout.interp.expressions import evaluate
    from torchlayout.interp.items import take

    holder = evaluate(target.value, st, fr)
    index = evaluate(target.index, st, fr)
    record.contents(fr, [index], "index", target.span, st)
    if isinstance(holder, Opaque) and holder.kind in ("tensor", "ndarray"):
        holder = as_tensor(holder, st.facts) or holder
    if isinstance(holder, Tensor):
        part = take(holder, index, target, st, fr)
        written = part if isinstance(part, Tensor) and part.storages & holder.storages else holder
        record.write(fr, written, "[]=", target.span, st)
        record.use(fr, st.tensors_in(value), "operand", "[]=", "value", target.span)
        return
    if isinstance(holder, Opaque):
        record.possible_write(fr, holder, "[]=", target.span, st)
        if not isinstance(index, Sequence):  # which no list takes
            change_items(holder, fr.place(target.span), st)
        forget([value], st, fr, target.span)
    record.use(fr, st.tensors_in(value), "contained", "[]=", None, target.span)
    special(holder, "__setitem__", [index, value], target.span, st, fr)
    if not isinstance(holder, Held):
        return
    inner = st.load(holder)
    place = fr.place(target.span)
    if isinstance(inner, Dictionary):
        if isinstance(index, (str, int)):
            st.heap[holder.ref] = inner.put(index, value)
        else:
            rest = value if inner.rest is None else join(inner.rest, value, (place, "rest"))
            joined = {k: join(v, value, (place, k)) for k, v in inner.items.items()}
            st.heap[holder.ref] = Dictionary(joined, rest, inner.maybe)
    elif is_sequence(inner):
        items = _with_item(inner, index, value, st)
        if items is None:
            st.heap[holder.ref] = Many(join_all([*items_of(inner), value], (place, "item")), "list")
        else:
            st.heap[holder.ref] = Sequence(inner.kind, items, inner.names)


def _with_item(sequence: Value, index: Value, value: Value, st: State) -> tuple[Value, ...] | None:
    """The items of a list with the one at `index` replaced; None where it cannot be told which one that is."""
    if not isinstance(sequence, Sequence) or not isinstance(index, int):
        return None
    items: Shape | tuple[Value, ...] | None = sequence.items
    if any(isinstance(item, Rest) for item in sequence.items):
        sizes = all(isinstance(item, (int, Poly, Rest)) for item in sequence.items)
        items = shapes.reaching(tuple(sequence.items), index, st.facts) if sizes else None
    if items is None or not -len(items) <= index < len(items):
        return None
    changed = list(items)
    changed[index] = value
    return tuple(changed)
