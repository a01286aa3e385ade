"""Running one operator of the table at a place in the source."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from typing import Any

from torchlayout.interp import record
from torchlayout.interp.assumptions import is_too_new
from torchlayout.interp.frame import Frame, describe
from torchlayout.interp.joins import join_tensors
from torchlayout.interp.loops import unchanged_in_loop
from torchlayout.interp.state import State, with_operands
from torchlayout.interp.tensors import Applied, apply, apply_row, as_tensor, to_argument
from torchlayout.interp.values import Dictionary, Held, Instance, Many, Opaque, Tensor, Union_, Value, objects
from torchlayout.interp.values import Sequence as SequenceValue
from torchlayout.layouts import contiguous, unknown_layout
from torchlayout.ops import UNKNOWN, Alias, Op, Operand, Refused, attribute, index, select
from torchlayout.program import nodes
from torchlayout.program.nodes import Span
from torchlayout.sizes import Facts
from torchlayout.structs import replace

QUERIES = frozenset(
    {"size", "dim", "numel", "stride", "is_contiguous", "ndimension", "nelement", "item", "element_size"}
)
"""Rows that only ask: they touch no memory, so they are no use of a copy."""

PLACING = frozenset({"device", "dtype", "requires_grad", "pin_memory", "generator", "non_blocking"})
"""Keywords that tell nothing of how a copy lies but the size of its elements."""


def operate(
    fr: Frame,
    st: State,
    rows: Sequence[Op],
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    span: Span,
    name: str,
    kind: str,
    receiver: nodes.Expr | None = None,
    text: str | None = None,
    open_ended: bool = False,
) -> Value | None:
    """The value of a call of an operator; None where no overload takes these arguments.

    `open_ended` tells that there are further keywords that are not known.
    """
    arguments = [to_argument(value, st) for value in args]
    keywords = {key: to_argument(value, st) for key, value in kwargs.items()}
    found = select(rows, arguments, keywords)
    if found is None:
        return None
    row, bound = found
    if open_ended:
        given = {p.name for p in row.signature.parameters[: len(args)] if not p.keyword_only} | keywords.keys()
        given |= PLACING if row.alias is Alias.FRESH else set()
        bound = {key: value if key in given else UNKNOWN for key, value in bound.items()}
    if is_too_new(row, fr.run.options.target_torch_version):
        return None
    applied = apply_row(row, bound, st, fr.place(span), fr.site(span), text or name, fr.run.proving)
    unchanged = name == "contiguous" and receiver is not None and unchanged_in_loop(fr, st, receiver, args[0])
    listed = record.in_lists(row, args, kwargs, st)
    if kwargs.get("inplace") is True and args:
        record.possible_write(fr, args[0], name, span, st)
    if name not in QUERIES:
        record.visit(fr, span, name, kind, row, applied, receiver, unchanged, listed)
    record.operand_uses(fr, applied, name, span)
    for parameter, tensors in listed.items():
        record.use(fr, tensors, "operand", name, parameter, span)
    if row.alias is Alias.INPLACE or (row.name.endswith("_") and not row.name.endswith("__")):
        _update_in_place(st, applied)
    if "out" in applied.tensors:
        _update_out(st, applied, fr.place(span))
    return _mended(applied, fr, span)


def _update_out(st: State, applied: Applied, place: Hashable) -> None:
    """What is given as `out=` is resized where the result has other sizes; every name of it sees that."""
    before, after = applied.tensors["out"], applied.value
    if not isinstance(after, Tensor):
        operand = Operand(unknown_layout((place, "out"), st.facts))
        after = with_operands(before, (operand,), (operand,))
    if after.proven != before.proven or after.assumed != before.assumed:
        replace_everywhere(st, before.ident, after)


def _mended(applied: Applied, fr: Frame, span: Span) -> Value:
    """The value, for a refused call what it would be once it is mended: a packed tensor of the shape asked for."""
    if not applied.assumed or not all(isinstance(case.outcome, Refused) for case in applied.assumed):
        return applied.value
    case = applied.assumed[0]
    shape = getattr(case.outcome, "shape", None)
    if shape is None:
        return Opaque((fr.place(span), "refused"), kind="tensor")
    operand = Operand(contiguous(shape), weak=True)
    source = next(iter(applied.tensors.values()), None)
    storages = source.storages if source is not None else frozenset()
    place = fr.place(span)
    below: tuple[Operand, ...] = (operand,)
    if isinstance(applied.value, Tensor) and not all(isinstance(case.outcome, Refused) for case in applied.proven):
        below = applied.value.proven  # it may work after all, and is then as the view would be
    return Tensor(below, (operand,), (place, "mended"), storages | {place}, None, frozenset([fr.site(span)]))


def _update_in_place(st: State, applied: Applied) -> None:
    """An in-place operator may change the layout of the object; every name of it sees that."""
    before, after = applied.tensors.get("self"), applied.value
    if before is None or not isinstance(after, Tensor):
        return
    if after.proven == before.proven and after.assumed == before.assumed:
        return
    replace_everywhere(st, before.ident, after)


def replace_everywhere(st: State, ident: Hashable, after: Tensor) -> None:
    """Give every name and container item that is this object its new layout, and those that may be it both."""
    for store in (st.env, st.heap):
        for name, value in store.items():
            changed = _replaced(value, ident, after, st.facts, 3)
            if changed is not value:
                store[name] = changed  # type: ignore[index]


def _replaced(value: Value, ident: Hashable, after: Tensor, facts: Facts, depth: int) -> Value:
    if isinstance(value, Opaque):
        if value.key == ident:
            return replace(after, ident=ident)
        may_be = not objects(value.key).isdisjoint(objects(ident))
        tensor = as_tensor(value, facts) if may_be else None
        value = value if tensor is None else tensor
    if isinstance(value, Tensor):
        if value.ident == ident:
            return with_operands(value, after.proven, after.assumed)
        if objects(value.ident).isdisjoint(objects(ident)):
            return value
        both = join_tensors(value, after, ident)
        return with_operands(value, both.proven, both.assumed)
    if depth == 0 or isinstance(value, (Held, Instance)):
        return value
    if isinstance(value, SequenceValue):
        items = tuple(_replaced(item, ident, after, facts, depth - 1) for item in value.items)
        changed = any(new is not old for new, old in zip(items, value.items, strict=True))
        return SequenceValue(value.kind, items, value.names) if changed else value
    if isinstance(value, Many):
        item = _replaced(value.item, ident, after, facts, depth - 1)
        return Many(item, value.kind) if item is not value.item else value
    if isinstance(value, Dictionary):
        inside = {k: _replaced(v, ident, after, facts, depth - 1) for k, v in value.items.items()}
        changed = any(inside[k] is not value.items[k] for k in inside)
        return Dictionary(inside, value.rest, value.maybe) if changed else value
    if isinstance(value, Union_):
        found = tuple(_replaced(choice, ident, after, facts, depth - 1) for choice in value.choices)
        return Union_(found) if any(a is not b for a, b in zip(found, value.choices, strict=True)) else value
    return value


# ---------------------------------------------------------------- subscripts and attributes
def subscript(fr: Frame, st: State, tensor: Tensor, node: nodes.Subscript, index_value: Value) -> Value:
    """`x[...]` of a tensor or array."""
    items = (
        index_value.items if isinstance(index_value, SequenceValue) and index_value.kind == "tuple" else (index_value,)
    )
    arguments = tuple(to_argument(item, st) for item in items)

    def run(bound: Mapping[str, Any], facts: Facts) -> Any:
        operand = bound["self"]
        return index(operand, list(bound["indices"]), facts) if isinstance(operand, Operand) else None

    text = f"{describe(node)}"
    applied = apply(
        run, Alias.VIEW, {"self": "Tensor", "indices": "Index"}, {"self": tensor, "indices": arguments}, st,
        fr.place(node.span), fr.site(node.span), text, fr.run.proving,
    )  # fmt: skip
    record.visit(fr, node.span, "[]", "subscript", SUBSCRIPT, applied, node.value, False)
    record.operand_uses(fr, applied, "[]", node.span)
    return applied.value


def read_attribute(fr: Frame, st: State, tensor: Tensor, name: str, span: Span) -> Value | None:
    """`x.T`, `x.data`, ...; None where it is no attribute that the table knows."""

    def run(bound: Mapping[str, Any], facts: Facts) -> Any:
        return attribute(bound["self"], name, facts)

    applied = apply(
        run,
        Alias.VIEW,
        {"self": "Tensor"},
        {"self": tensor},
        st,
        fr.place(span),
        fr.site(span),
        f".{name}",
        fr.run.proving,
    )
    if isinstance(applied.value, Opaque):
        return None
    if isinstance(applied.value, Tensor):
        record.visit(fr, span, name, "attribute", ATTRIBUTE, applied, None, False)
        record.operand_uses(fr, applied, name, span)
    return applied.value


def _no_transfer(args: Any) -> Any:
    raise AssertionError("subscripts, attributes and modules are not run by a row")


@cache
def pseudo_row(schema: str, alias: Alias) -> Op:
    """What stands in the trace for an operation that the table holds no row of."""
    return Op(schema, alias, _no_transfer, "", "", (), None, None, False, False)


SUBSCRIPT = pseudo_row("__getitem__(Tensor(a) self, Any indices) -> Tensor(a)", Alias.VIEW)
ATTRIBUTE = pseudo_row("__getattr__(Tensor(a) self) -> Tensor(a)", Alias.VIEW)
