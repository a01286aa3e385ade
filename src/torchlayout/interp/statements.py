"""Running statements over states.

`execute_block` returns the state behind the block, or None where control never gets there (every path returned,
raised, or jumped). See `state` for how branches are joined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchlayout.interp import record
from torchlayout.interp.decorating import decorate
from torchlayout.interp.definitions import local_class, make_function, rebound_names
from torchlayout.interp.expressions import binary, evaluate, note_guards
from torchlayout.interp.forgetting import forget
from torchlayout.interp.frame import Frame
from torchlayout.interp.guards import find_guard, find_statement_guard
from torchlayout.interp.joins import join_all
from torchlayout.interp.looping import run_for, run_while
from torchlayout.interp.loops import dotted
from torchlayout.interp.paths import parting, taken
from torchlayout.interp.refine import assume, outcome, truth_of
from torchlayout.interp.state import State, join_states
from torchlayout.interp.targets import bind_target
from torchlayout.interp.tensors import as_tensor
from torchlayout.interp.values import (
    Dictionary,
    Function,
    Held,
    Instance,
    Many,
    Opaque,
    Path,
    Tensor,
    is_sequence,
    items_of,
)
from torchlayout.program import nodes
from torchlayout.program.nodes import Span
from torchlayout.structs import replace


def execute_block(block: nodes.Block, st: State, fr: Frame) -> State | None:
    """Run statements one after another."""
    place = 0
    while place < len(block):
        statement = block[place]
        place += 1
        fr.run.step()
        if type(statement) is nodes.If:
            ends = _branches(statement, st, fr)
            until = parting(statement, block, place, ends, fr) if len(ends) == 2 else place
            end = _follow_each(ends, statement.span, block[place:until], fr)
            place = until
        else:
            end = _EXECUTORS[type(statement)](statement, st, fr)
        if end is None:
            return None
        st = end
        _may_throw(st, statement.span, fr)
    return st


def _may_throw(st: State, span: Span, fr: Frame) -> None:
    """Inside a `try`: an exception may leave its body from this state."""
    if fr.thrown is not None:
        joined = join_states(fr.thrown[0], st.copy(), (fr.place(span), "thrown"))
        assert joined is not None
        fr.thrown[0] = joined


def _follow_each(ends: list[State], span: Span, after: nodes.Block, fr: Frame) -> State | None:
    """The join of the ends of a test's branches, each having run alone through some statements behind it."""
    outer = fr.paths
    joined: State | None = None
    for place, end in enumerate(ends):
        last: State | None = end
        if after:
            fr.paths = (*outer, taken(span, place))
            _may_throw(end, span, fr)
            last = execute_block(after, end, fr)
        joined = join_states(joined, last, fr.place(span))
    fr.paths = outer
    return joined


# ---------------------------------------------------------------- simple statements
def _assign(node: nodes.Assign, st: State, fr: Frame) -> State:
    if node.value is None:
        return st
    source = node.value
    if isinstance(source, nodes.Comprehension) and source.kind == "generator":
        if isinstance(node.targets[0], nodes.Sequence):
            source = replace(source, kind="list")  # what is unpacked runs to its end at once
    value = evaluate(source, st, fr)
    find_guard(node, st, fr)
    for target in node.targets:
        bind_target(target, value, st, fr)
    return st


def _aug_assign(node: nodes.AugAssign, st: State, fr: Frame) -> State:
    old = evaluate(node.target, st, fr)
    if isinstance(old, Opaque) and st.facts.symbols.knows_rest(old.key):
        old = as_tensor(old, st.facts) or old  # it has been used as a tensor
    new = evaluate(node.value, st, fr)
    if isinstance(old, Tensor) and node.op != "@":  # which makes another
        record.write(fr, old, f"{node.op}=", node.span, st)
        record.use(fr, st.tensors_in(new), "operand", f"{node.op}=", "other", node.span)
        if isinstance(node.target, nodes.Subscript):
            return st
        bind_target(node.target, old, st, fr)
        return st
    if isinstance(old, Held) and node.op == "+":
        from torchlayout.interp.calls import Arguments
        from torchlayout.interp.methods import container_method

        call = nodes.Call(node.target, (), node.span)
        container_method(old, "extend", Arguments([new], {}), call, st, fr)
        return st
    if isinstance(old, Held):
        forget([old], st, fr, node.span)  # under whatever names
    bind_target(node.target, binary(node.op, old, new, node, st, fr), st, fr)
    return st


def _evaluate(node: nodes.Evaluate, st: State, fr: Frame) -> State:
    before = fr.discarding
    fr.discarding = node.value.span if isinstance(node.value, nodes.Call) else None
    evaluate(node.value, st, fr)
    fr.discarding = before
    return st


def _return(node: nodes.Return, st: State, fr: Frame) -> None:
    value = None if node.value is None else evaluate(node.value, st, fr)
    record.use(fr, st.tensors_in(value), "returned", fr.name, None, node.span)
    fr.returns.append((value, st))


def _raise(node: nodes.Raise, st: State, fr: Frame) -> None:
    for part in node.parts:
        evaluate(part, st, fr)


def _jump(node: nodes.Jump, st: State, fr: Frame) -> None:
    if fr.loop is not None:
        (fr.loop.breaks if node.kind == "break" else fr.loop.continues).append(st)


def tested(test: nodes.Expr, span: Span, st: State, fr: Frame) -> bool | None:
    """How a test comes out; None where that is not known."""
    value = evaluate(test, st, fr)
    record.truth(fr, value, span)
    return outcome(test, value, st, fr)


def _assert(node: nodes.Assert, st: State, fr: Frame) -> State | None:
    if tested(node.test, node.span, st, fr) is False:
        return None
    return st if assume(node.test, True, st, fr) else None


def _delete(node: nodes.Delete, st: State, fr: Frame) -> State:
    for target in node.targets:
        if isinstance(target, nodes.Name):
            st.env.pop(target.id, None)
        elif isinstance(target, nodes.Subscript):
            _delete_item(target, st, fr)
        elif isinstance(target, nodes.Attribute):
            holder = evaluate(target.value, st, fr)
            attributes = st.heap.get(holder.ref) if isinstance(holder, Instance) else None
            if isinstance(attributes, Dictionary):
                st.heap[holder.ref] = attributes.without(target.attr)
    return st


def _delete_item(target: nodes.Subscript, st: State, fr: Frame) -> None:
    """`del items[i]`."""
    holder = evaluate(target.value, st, fr)
    index = evaluate(target.index, st, fr)
    record.contents(fr, [index], "index", target.span, st)
    inner = st.load(holder)
    if not isinstance(holder, Held):
        return
    if isinstance(inner, Dictionary):
        known = isinstance(index, (str, int))
        st.heap[holder.ref] = inner.without(index) if known else inner.unsure()
    elif is_sequence(inner):
        st.heap[holder.ref] = Many(join_all(items_of(inner), (fr.place(target.span), "left")), "list")


def _scope(node: nodes.Scope, st: State, fr: Frame) -> State:
    if node.kind == "global":
        fr.globals.update(node.names)
    if node.kind == "nonlocal":
        fr.nonlocals.update(node.names)
    return st


def _import(node: nodes.Import, st: State, fr: Frame) -> State:
    for name, path in node.bindings:
        st.env[name] = Path(path)
    return st


def _function(node: nodes.Function, st: State, fr: Frame) -> State:
    defaults = {p.name: evaluate(p.default, st, fr) for p in node.params if p.default is not None}
    closure = {**fr.closure, **st.env}
    made = make_function(node, fr.unit, closure, defaults, fr.owner, (fr.home, *fr.homes))
    closure[node.name] = made
    fr.made.append((closure, rebound_names(node)))
    if isinstance(made, Function) and node.name not in fr.run.attributes:
        fr.run.nested.append((made, fr))
    if isinstance(made, Function) and made.decorated:
        made = closure[node.name] = decorate(made, st, fr) or made
    st.env[node.name] = made
    return st


def _class(node: nodes.Class, st: State, fr: Frame) -> State:
    st.env[node.name] = local_class(node, st, fr)
    return st


def _definition(node: nodes.Definition, st: State, fr: Frame) -> State:
    return st  # found by name when it is used


# ---------------------------------------------------------------- branches
def _branches(node: nodes.If, st: State, fr: Frame) -> list[State]:
    """The states in which the branches of an `if` end, those that never do left out."""
    find_statement_guard(node, fr)
    known = tested(node.test, node.span, st, fr)
    ends: list[State] = []
    for block, wanted in ((node.body, True), (node.orelse, False)):
        if known is (not wanted):
            continue
        branch = st.copy() if known is None else st
        if not assume(node.test, wanted, branch, fr):
            continue
        guards = len(fr.guards)
        note_guards(node.test, fr)
        fr.branches += 1
        end = execute_block(block, branch, fr)
        fr.branches -= 1
        del fr.guards[guards:]
        if end is not None:
            ends.append(end)
    return ends


def _match(node: nodes.Match, st: State, fr: Frame) -> State | None:
    subject = evaluate(node.subject, st, fr)
    record.contents(fr, [subject], "match", node.span, st)
    end: State | None = None
    exhausted = False
    for place, case in enumerate(node.cases):
        branch = st.copy()
        pattern = None if case.value is None else evaluate(case.value, branch, fr)
        plain = (str, int, bool, type(None))
        if case.value is not None and isinstance(subject, plain) and isinstance(pattern, plain) and subject != pattern:
            continue
        for name in case.names:
            whole = case.irrefutable and len(case.names) == 1
            branch.env[name] = subject if whole else Opaque((fr.place(node.span), place, name), name)
        if case.guard is not None:
            if truth_of(evaluate(case.guard, branch, fr), branch) is False:
                continue
            if not assume(case.guard, True, branch, fr):
                continue
        end = join_states(end, execute_block(case.body, branch, fr), (fr.place(node.span), place))
        if case.irrefutable and case.guard is None:
            exhausted = True
            break
    return end if exhausted else join_states(end, st, (fr.place(node.span), "none"))


def _try(node: nodes.Try, st: State, fr: Frame) -> State | None:
    outer, fr.thrown = fr.thrown, [st.copy()]
    leaving = _Leaving(fr)
    expecting = any(_catches_runtime_error(handler.type) for handler in node.handlers)
    fr.caught += expecting
    end = execute_block(node.body, st, fr)
    fr.caught -= expecting
    (thrown,), fr.thrown = fr.thrown, outer
    if end is not None and node.orelse:
        end = execute_block(node.orelse, end, fr)
    for place, handler in enumerate(node.handlers):
        branch = thrown.copy()
        if handler.type is not None:
            evaluate(handler.type, branch, fr)
        if handler.name:
            branch.env[handler.name] = Opaque((fr.place(node.span), handler.name), handler.name)
        after = execute_block(handler.body, branch, fr)
        end = join_states(end, after, (fr.place(node.span), place))
    if node.finalbody:
        leaving.run(node.finalbody, fr)
        every = join_states(thrown, None if end is None else end.copy(), (fr.place(node.span), "finally"))
        end = None if end is None else execute_block(node.finalbody, end, fr)
        assert every is not None
        # the last run is the one that is told of: whatever way the body was left
        passed_on = execute_block(node.finalbody, every, fr)
    else:
        passed_on = thrown
    if outer is not None:
        outer[0] = join_states(outer[0], passed_on, (fr.place(node.span), "passed on")) or outer[0]
    return end


class _Leaving:
    """Ways out of a `try` by `return`, `break` and `continue`: its `finally` runs there too."""

    def __init__(self, fr: Frame) -> None:
        self.loop = fr.loop
        self.returned = len(fr.returns)
        self.jumped = (len(fr.loop.breaks), len(fr.loop.continues)) if fr.loop is not None else (0, 0)

    def run(self, block: nodes.Block, fr: Frame) -> None:
        returns = [(value, execute_block(block, state.copy(), fr)) for value, state in fr.returns[self.returned :]]
        fr.returns[self.returned :] = [(value, state) for value, state in returns if state is not None]
        if self.loop is not None:
            for states, start in zip((self.loop.breaks, self.loop.continues), self.jumped, strict=True):
                ends = [execute_block(block, state.copy(), fr) for state in states[start:]]
                states[start:] = [state for state in ends if state is not None]


SUPPRESSING = frozenset({"contextlib.suppress", "pytest.raises"})
"""Context managers that keep an exception to themselves."""


def _suppresses(item: nodes.Expr, fr: Frame) -> bool:
    name = dotted(item.func) if isinstance(item, nodes.Call) else None
    return name is not None and fr.unit.resolve(name) in SUPPRESSING


def _with(node: nodes.With, st: State, fr: Frame) -> State | None:
    if any(_suppresses(item, fr) for item, _ in node.items):
        outer, fr.thrown = fr.thrown, [st.copy()]
        end = _with_body(node, st, fr)
        (thrown,), fr.thrown = fr.thrown, outer
        return join_states(thrown, end, (fr.place(node.span), "suppressed"))
    return _with_body(node, st, fr)


def _catches_runtime_error(kind: nodes.Expr | None) -> bool:
    """Whether an `except` clause takes what torch raises."""
    if kind is None:
        return True
    kinds = kind.items if isinstance(kind, nodes.Sequence) else (kind,)
    return any(
        isinstance(one, nodes.Name) and one.id in ("RuntimeError", "Exception", "BaseException") for one in kinds
    )


def _expects_errors(item: nodes.Expr) -> bool:
    """`pytest.raises(...)`, `self.assertRaises(...)`, `contextlib.suppress(...)`."""
    if not isinstance(item, nodes.Call):
        return False
    name = item.func.attr if isinstance(item.func, nodes.Attribute) else getattr(item.func, "id", "")
    return name in ("raises", "assertRaises", "assertRaisesRegex", "suppress")


def _with_body(node: nodes.With, st: State, fr: Frame) -> State | None:
    expecting = any(_expects_errors(item) for item, _ in node.items)
    fr.caught += expecting
    try:
        return _entered(node, st, fr)
    finally:
        fr.caught -= expecting


def _entered(node: nodes.With, st: State, fr: Frame) -> State | None:
    for item, target in node.items:
        value = evaluate(item, st, fr)
        if target is not None:
            entered = value if isinstance(value, Tensor) else Opaque((fr.place(target.span), "entered"))
            bind_target(target, entered, st, fr)
    return execute_block(node.body, st, fr)


_EXECUTORS: dict[type, Callable[[Any, State, Frame], State | None]] = {
    nodes.Assign: _assign, nodes.AugAssign: _aug_assign, nodes.Evaluate: _evaluate, nodes.Return: _return,
    nodes.Raise: _raise, nodes.Jump: _jump, nodes.Assert: _assert, nodes.Delete: _delete, nodes.Scope: _scope,
    nodes.Import: _import, nodes.Function: _function, nodes.Class: _class, nodes.Definition: _definition,
    nodes.Match: _match, nodes.Try: _try, nodes.With: _with, nodes.For: run_for, nodes.While: run_while,
}  # fmt: skip
