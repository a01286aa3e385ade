"""Writing the trace: visits of sites, uses of values, calls of foreign functions, writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from torchlayout.interp.conditions import is_answer
from torchlayout.interp.frame import Frame, describe
from torchlayout.interp.state import State
from torchlayout.interp.tensors import Applied, as_tensor
from torchlayout.interp.trace import ForeignArgument, ForeignCall, Reveal, Site, SiteKey, Use, Visit, Write
from torchlayout.interp.values import Opaque, Pointer, Tensor, Value, choices
from torchlayout.ops import Op
from torchlayout.program import nodes
from torchlayout.program.nodes import Span


def visit(
    fr: Frame,
    span: Span,
    name: str,
    kind: str,
    op: Op,
    applied: Applied,
    receiver: nodes.Expr | None,
    unchanged: bool,
    listed: Mapping[str, Iterable[Tensor]] = MappingProxyType({}),
) -> None:
    """Record one run of an operation. `listed` are the tensors in lists among its arguments, by parameter."""
    key = fr.site(span)
    site = fr.run.trace.sites.get(key)
    if site is None:
        site = fr.run.trace.sites[key] = Site(key, name, kind)
    loop = fr.loop
    text = describe(receiver) if receiver is not None else name
    fr.run.visited.append((key, fr.way))
    site.visits[fr.way] = Visit(
        op,
        applied.proven,
        applied.assumed,
        {parameter: tensor.origin for parameter, tensor in applied.tensors.items()},
        {parameter: tensor.made_by for parameter, tensor in applied.tensors.items()}
        | {parameter: frozenset().union(*(t.made_by for t in tensors)) for parameter, tensors in listed.items()},
        fr.caller,
        loop.loop if loop is not None else fr.outer_loop,
        unchanged,
        fr.discarding == span,
        text,
        text in fr.guards,
        fr.caught > 0,
        fr.public,
    )


def use(fr: Frame, tensors: Iterable[Tensor], how: str, name: str, parameter: str | None, span: Span) -> None:
    """Record that values are taken by something."""
    key = fr.site(span)
    for tensor in tensors:
        for maker in tensor.made_by:
            uses = fr.run.trace.uses.setdefault(maker, set())
            uses.add(Use(how, name, parameter, key, _made_outside(fr, maker)))


def arguments(fr: Frame, values: Iterable[Value], name: str, span: Span, st: State) -> None:
    """Record that tensors, in containers too, are handed to a call that is not followed, or not in full."""
    use(fr, (tensor for value in values for tensor in st.tensors_in(value)), "argument", name, None, span)


def contents(fr: Frame, values: Iterable[Value], name: str, span: Span, st: State) -> None:
    """Record that the elements of tensors, in containers too, are looked at: printed, in an f-string, as an index."""
    use(fr, (tensor for value in values for tensor in st.tensors_in(value)), "contents", name, None, span)


def truth(fr: Frame, value: Value, span: Span) -> None:
    """Record that a value is asked whether it is true; of a container this looks at no tensor inside."""
    use(fr, (choice for choice in choices(value) if isinstance(choice, Tensor)), "contents", "bool", None, span)


def _made_outside(fr: Frame, made: SiteKey) -> bool:
    """Whether a loop runs here, in this function or around a call that led here, but not where the value was made."""
    loop = fr.loop
    if loop is not None and not _inside(made[1], loop.loop.span):
        return True
    if not fr.around:
        return False
    site = fr.run.trace.sites.get(made)
    visits = site.visits if site is not None else ()
    ways = [way for way in visits if isinstance(way, tuple) and way[0] == fr.context[0]]
    return not all(around.holds(made, way) for around in fr.around for way in ways or [()])


def _inside(inner: Span, outer: Span) -> bool:
    return (outer.line, outer.column) <= (inner.line, inner.column) <= (outer.end_line, outer.end_column)


def operand_uses(fr: Frame, applied: Applied, name: str, span: Span) -> None:
    for parameter, tensor in applied.tensors.items():
        use(fr, [tensor], "operand", name, parameter, span)


def in_lists(row: Op, args: Iterable[Value], kwargs: Mapping[str, Value], st: State) -> dict[str, list[Tensor]]:
    """The tensors inside lists, tuples and dicts among the arguments of an operator, by parameter."""
    names = (parameter.name for parameter in row.signature.parameters)
    found = {
        name: st.tensors_in(value)
        for name, value in [*zip(names, args, strict=False), *kwargs.items()]
        if not isinstance(value, Tensor)
    }
    return {name: tensors for name, tensors in found.items() if tensors}


def foreign_call(
    fr: Frame, path: str, span: Span, args: Iterable[Value], kwargs: Mapping[str, Value], st: State
) -> None:
    """Record a call of a function outside the table, if a tensor goes into it."""
    arguments: dict[int | str, ForeignArgument] = {}
    given: list[tuple[int | str, Value]] = [*enumerate(args), *kwargs.items()]
    strided = any(isinstance(value, Pointer) and value.strides for _, value in given)
    for place, value in given:
        pointer = isinstance(value, Pointer) and not value.strides
        tensors = [value.tensor] if isinstance(value, Pointer) and pointer else st.tensors_in(value)
        if tensors:
            arguments[place] = ForeignArgument(
                tuple((operand, st.facts.proven_world) for t in tensors for operand in t.proven),
                tuple((operand, st.facts.assumed_world) for t in tensors for operand in t.assumed),
                next((t.origin for t in tensors if t.origin is not None), None),
                pointer,
                strided,
            )
            use(fr, tensors, "argument", path, str(place), span)
    if arguments:
        calls = fr.run.trace.calls.setdefault(fr.site(span), [])
        loop = fr.loop
        calls.append(ForeignCall(path, arguments, loop.loop if loop is not None else fr.outer_loop, fr.caller))


def reveal(fr: Frame, tensor: Tensor, span: Span, st: State) -> None:
    fr.run.trace.reveals.setdefault(span, {})[fr.way] = as_reveal(tensor, st)


def as_reveal(tensor: Tensor, st: State) -> Reveal:
    facts = st.facts.copy()  # what is learnt later is not known here
    return Reveal(
        tuple((operand, facts.proven_world) for operand in tensor.proven),
        tuple((operand, facts.assumed_world) for operand in tensor.assumed),
        tensor.origin,
    )


def possible_write(fr: Frame, value: Value, op: str, span: Span, st: State) -> None:
    """Record a write into what may be a tensor."""
    if isinstance(value, Opaque) and is_answer(value):
        return
    tensor = as_tensor(value, st.facts)
    if tensor is not None:
        write(fr, tensor, op, span, st)


def write(fr: Frame, tensor: Tensor, op: str, span: Span, st: State) -> None:
    """Record a write into a tensor by an assignment."""
    seen = as_reveal(tensor, st)
    writes = fr.run.trace.writes.setdefault(fr.site(span), [])
    writes.append(Write(op, seen.proven, seen.assumed, tensor.made_by, tensor.origin, True))
    use(fr, [tensor], "written", op, None, span)
