"""Running loops: turn by turn over a few known items, else until another turn brings nothing new."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from torchlayout.interp import statements
from torchlayout.interp.earlier import Carried
from torchlayout.interp.expressions import evaluate
from torchlayout.interp.frame import MAX_ROUNDS, MAX_WIDENED_ROUNDS, Frame, LoopFrame, OutOfBudget
from torchlayout.interp.iteration import MAX_RANGE, iterate
from torchlayout.interp.joins import join_all
from torchlayout.interp.protocols import step_of
from torchlayout.interp.refine import assume, truth_of
from torchlayout.interp.state import State, join_states
from torchlayout.interp.targets import bind_target
from torchlayout.interp.trace import Loop
from torchlayout.interp.values import Instance, Sequence, Value, items_of, one_of_many
from torchlayout.interp.widening import widen_states
from torchlayout.program import nodes
from torchlayout.program.nodes import Span


def _block_span(span: Span, block: nodes.Block) -> Span:
    """From a loop's head to the start of its last inner statement, and on to the end of that line."""
    last = span
    stack: list[nodes.Block] = [block]
    while stack:
        for statement in stack.pop():
            if statement.span > last:
                last = statement.span
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(statement, name, None)
                if isinstance(inner, tuple):
                    stack.append(inner)
    return Span(span.line, span.column, max(last.end_line, last.line), 1 << 20)


def run_for(node: nodes.For, st: State, fr: Frame) -> State | None:
    """The state behind a `for` loop, None where control never gets there."""
    value = evaluate(node.iter, st, fr)
    step = step_of(value, node.iter.span, st, fr) if isinstance(value, Instance) else None
    items = None if callable(step) else iterate(value if step is None else step, st, fr, node.iter.span)
    rebinding = nodes.Assign((node.target,), None, None, node.span)
    loop = LoopFrame(Loop(_block_span(node.span, node.body), "for"), (node.body, rebinding), fr.branches)
    fr.loops.append(loop)
    if isinstance(items, Sequence) and len(items.items) <= MAX_RANGE:
        end = _unrolled(node, items.items, loop, st, fr)
    else:
        once = isinstance(items, Sequence) and bool(items.items)
        given = step if callable(step) else _any_of(items, fr.place(node.span))

        def enter(state: State) -> bool:
            bind_target(node.target, given(state), state, fr)
            return True

        end = fixpoint(node.body, node.span, loop, st, fr, enter, once)
    fr.loops.pop()
    return _left(node, end, loop, fr)


def _any_of(items: Value, place: Hashable) -> Callable[[State], Value]:
    """What each turn of a loop over these gets: one of them."""
    item = one_of_many(join_all(items_of(items), (place, "item")), place)
    return lambda state: item


def _left(node: nodes.For | nodes.While, end: State | None, loop: LoopFrame, fr: Frame) -> State | None:
    """The state behind a loop: after its `else`, where it ran to its end, or after a `break`."""
    if node.orelse and end is not None:
        end = statements.execute_block(node.orelse, end, fr)
    for place, state in enumerate(loop.breaks):
        end = join_states(end, state, (fr.place(node.span), "break", place))
    return end


def _unrolled(node: nodes.For, items: tuple[Value, ...], loop: LoopFrame, st: State, fr: Frame) -> State | None:
    """A loop over a few known items, one turn after another."""
    context = fr.context
    state: State | None = st
    for place, item in enumerate(items):
        if state is None:
            break
        fr.context = (*context, ("turn", node.span.line, place))
        bind_target(node.target, item, state, fr)
        state = statements.execute_block(node.body, state, fr)
        for other in loop.continues:
            state = join_states(state, other, (fr.place(node.span), "continue", place))
        loop.continues.clear()
    fr.context = context
    return state


def run_while(node: nodes.While, st: State, fr: Frame) -> State | None:
    """The same for a `while` loop."""
    loop = LoopFrame(Loop(_block_span(node.span, node.body), "while"), (node.body, node.test), fr.branches)
    fr.loops.append(loop)
    forever = isinstance(node.test, nodes.Const) and bool(node.test.value)

    def enter(state: State) -> bool:
        known = statements.tested(node.test, node.span, state, fr)
        return known is not False and assume(node.test, True, state, fr)

    end = fixpoint(node.body, node.span, loop, st, fr, enter, False)
    fr.loops.pop()
    if forever:
        end = None
    elif end is not None:
        known = truth_of(evaluate(node.test, end, fr), end)
        if known is True or not assume(node.test, False, end, fr):
            end = None
    return _left(node, end, loop, fr)


def fixpoint(
    body: nodes.Block,
    span: Span,
    loop: LoopFrame,
    st: State,
    fr: Frame,
    enter: Callable[[State], bool],
    once: bool,
) -> State | None:
    """Run a body until another turn changes nothing; `once` says that it runs at least once.

    The state at the head is joined with that at the end of each turn; after `MAX_ROUNDS` whatever still changes is
    forgotten, so that it comes to an end. `enter` is what happens at the head of each turn; False: there is none.
    """
    head = st
    last: State | None = None
    key = (fr.place(span), "head")
    carried = Carried(fr.unit.path, _block_span(span, body), fr.context)
    for turn in range(MAX_ROUNDS + MAX_WIDENED_ROUNDS):
        loop.breaks.clear()
        state = head.copy()
        last = statements.execute_block(body, state, fr) if enter(state) else None
        for place, other in enumerate(loop.continues):
            last = join_states(last, other, (key, "continue", place))
        loop.continues.clear()
        if last is None:
            break
        joined = join_states(head, carried.over(head, last.copy()), key)
        assert joined is not None
        settled_already = joined.same_as(head)
        if not settled_already and turn >= MAX_ROUNDS - 1:
            if turn == MAX_ROUNDS - 1:
                fr.run.note(f"{fr.unit.path}:{span.line}: a loop still changed after {MAX_ROUNDS} turns")
            joined = widen_states(head, joined, key)
            settled_already = joined.same_as(head)
        if settled_already:
            break
        if turn == MAX_ROUNDS + MAX_WIDENED_ROUNDS - 1:
            raise OutOfBudget  # what is not settled may not be told
        head = joined
    if once:
        return last
    return head if last is None else join_states(st, last, (key, "exit"))
