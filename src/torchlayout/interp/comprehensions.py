"""List, set and dict comprehensions, and generator expressions."""

from __future__ import annotations

from torchlayout.interp import record
from torchlayout.interp.frame import Frame, LoopFrame
from torchlayout.interp.iteration import iterate
from torchlayout.interp.joins import join_all
from torchlayout.interp.loops import walk
from torchlayout.interp.state import State, join_states, settled
from torchlayout.interp.trace import Loop
from torchlayout.interp.values import Dictionary, Many, Sequence, Value, items_of
from torchlayout.program import nodes
from torchlayout.program.nodes import Span

MAX_UNROLLED = 8
"""Items of a sequence of known length that are told apart."""


def comprehension(node: nodes.Comprehension, st: State, fr: Frame) -> Value:
    """The value of a comprehension; its own names do not leak."""
    outer = st.copy()
    loop = LoopFrame(Loop(_range_of(node), "comprehension"), (node.clauses, node.element), fr.branches)
    fr.loops.append(loop)
    context = fr.context
    values, complete = _run(node, 0, st, fr)
    fr.context = context
    fr.loops.pop()
    place = fr.place(node.span)
    values = [settled(value, st.facts) for value in values]
    own = {found.id for clause in node.clauses for found in walk((clause.target,)) if isinstance(found, nodes.Name)}
    kept = {name: outer.env[name] for name in own if name in outer.env}
    around = {name: value for name, value in st.env.items() if name not in own}  # changed in place, or by `:=`
    inner = State({**around, **kept}, st.heap, st.facts, st.tests)
    surely = complete and node.kind != "generator"  # which may be left unfinished, as `any` does
    end = inner if surely else join_states(outer, inner, (place, "after"))
    assert end is not None
    st.become(end)
    if node.kind == "dict":
        return st.hold(("dict", place), _dictionary(values, complete, place))
    if complete:
        made: Value = Sequence("tuple" if node.kind == "generator" else node.kind, tuple(values))
    else:
        made = Many(join_all(values, (place, "item")), "tuple" if node.kind == "generator" else node.kind)
    return st.hold(("list", place), made) if node.kind == "list" else made


def _dictionary(values: list[Value], complete: bool, place: object) -> Dictionary:
    pairs = [value.items for value in values if isinstance(value, Sequence) and len(value.items) == 2]
    if complete and all(isinstance(pair[0], (str, int)) for pair in pairs):
        return Dictionary({pair[0]: pair[1] for pair in pairs})
    return Dictionary({}, join_all([pair[1] for pair in pairs], (place, "value")))


def _range_of(node: nodes.Comprehension) -> Span:
    """From the element to the last clause, as far as spans tell."""
    spans = [node.span, node.element.span, *(clause.iter.span for clause in node.clauses)]
    first = min(spans, key=lambda span: (span.line, span.column))
    last = max(spans, key=lambda span: (span.end_line, span.end_column))
    return Span(first.line, first.column, last.end_line, last.end_column)


def _run(node: nodes.Comprehension, depth: int, st: State, fr: Frame) -> tuple[list[Value], bool]:
    """The elements, and whether each stands for exactly one."""
    from torchlayout.interp.expressions import evaluate
    from torchlayout.interp.refine import assume
    from torchlayout.interp.targets import bind_target

    if depth == len(node.clauses):
        return [evaluate(node.element, st, fr)], True
    clause = node.clauses[depth]
    items = iterate(evaluate(clause.iter, st, fr), st, fr, clause.iter.span)
    exact = isinstance(items, Sequence) and len(items.items) <= MAX_UNROLLED
    members = list(items.items) if exact else [join_all(items_of(items), (fr.place(clause.iter.span), "item"))]
    complete = exact
    found: list[Value] = []
    context = fr.context
    for place, item in enumerate(members):
        if exact:
            fr.context = (*context, ("item", depth, place))
        bind_target(clause.target, item, st, fr)
        dead = False
        for condition in clause.conditions:
            from torchlayout.interp.refine import truth_of

            value = evaluate(condition, st, fr)
            record.truth(fr, value, condition.span)
            known = truth_of(value, st)
            if known is False or not assume(condition, True, st, fr):
                dead = True
                break
            if known is None:
                complete = False
        if dead:
            continue
        values, whole = _run(node, depth + 1, st, fr)
        complete = complete and whole
        found.extend(values)
    fr.context = context
    return found, complete
