"""Running a function of the linted code on given arguments."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from torchlayout.interp import record
from torchlayout.interp.annotations import parameter_kind
from torchlayout.interp.forgetting import forget
from torchlayout.interp.frame import MAX_CALL_DEPTH, Frame
from torchlayout.interp.joins import join, join_all
from torchlayout.interp.state import State, join_states, settled
from torchlayout.interp.trace import Loop
from torchlayout.interp.values import ENDED, Dictionary, Function, Instance, Many, Opaque, Sequence, Value
from torchlayout.program import nodes
from torchlayout.program.nodes import Span

MAX_SAME_FUNCTION = 2
"""Activations of one function inside one another that are followed (recursion)."""


def bind_parameters(
    function: Function,
    args: list[Value],
    kwargs: Mapping[str, Value],
    open_ended: bool,
    st: State,
    fr: Frame,
    span: Span,
) -> dict[str, Value] | None:
    """The function's local names at its start; None where the call does not fit the parameters.

    `open_ended` tells that there are further arguments that are not known (`**kwargs`).
    """
    params = function.node.params
    env: dict[str, Value] = {}
    rest = list(args)
    left = dict(kwargs)
    place = fr.place(span)
    for param in params:
        if param.kind == "*":
            env[param.name] = Sequence("tuple", tuple(rest))
            rest = []
        elif param.kind == "**":
            env[param.name] = st.hold(
                ("kwargs", place, param.name), Dictionary(left, Opaque((place, "kwargs")) if open_ended else None)
            )
            left = {}
        elif param.kind == "positional" and rest:
            env[param.name] = rest.pop(0)
        elif param.name in left:
            env[param.name] = left.pop(param.name)
        elif open_ended:
            env[param.name] = Opaque((place, "argument", param.name), param.name)
        elif param.default is not None:
            env[param.name] = default_of(function, param, st, fr)
        else:
            return None
    return None if rest or (left and not open_ended) else env


def default_of(function: Function, param: nodes.Param, st: State, fr: Frame) -> Value:
    """The value of a parameter's default."""
    if param.name in function.defaults:
        return function.defaults[param.name]
    from torchlayout.interp.expressions import evaluate

    assert param.default is not None
    inner = Frame(fr.run, function.unit, function.name, (*fr.context, "default"), function.closure, depth=fr.depth)
    return evaluate(param.default, State({}, st.heap, st.facts, st.tests), inner)


def call_function(
    function: Function,
    args: list[Value],
    kwargs: Mapping[str, Value],
    span: Span,
    st: State,
    fr: Frame,
    *,
    open_ended: bool = False,
    loop: Loop | None = None,
) -> Value:
    """The value of a call. The state takes over what the function changes in the heap and learns of sizes.

    `loop` is the loop that calls the function per item, for functions handed to `map` and the like.
    """
    unknown = Opaque((fr.place(span), "call"), None)
    env = bind_parameters(function, args, kwargs, open_ended, st, fr, span)
    here = function.unit is fr.run.unit
    if (
        env is None
        or fr.depth >= MAX_CALL_DEPTH
        or _too_deep(function, fr)
        or not fr.run.follows(id_of(function), here)
    ):
        fr.run.left_off = True
        if fr.depth >= MAX_CALL_DEPTH:
            fr.run.note(f"{fr.unit.path}: calls inside one another deeper than {MAX_CALL_DEPTH}")
        record.arguments(fr, [*args, *kwargs.values()], function.name, span, st)
        forget([*args, *kwargs.values()], st, fr, span, everything=True)
        return unknown
    if isinstance(function.node, nodes.Function) and function.node.sliced:  # what is left out may take them
        record.arguments(fr, [*args[1:], *kwargs.values()], function.name, span, st)
    st.heap[fr.home] = Dictionary(dict(st.env))
    key = _summary_key(function, env, span, st, fr)
    known = fr.run.summaries.get(key) if key is not None else None
    if known is not None and _as_it_was(known[1], st):
        del st.heap[fr.home]
        return known[0]
    before = dict(st.heap)
    inner = Frame(
        fr.run,
        function.unit,
        function.name,
        (*fr.context, (fr.unit.path, span.line, span.column), id_of(function)),
        function.closure,
        caller=fr.site(span),
        owner=function.owner,
        receiver=args[0] if args else None,
        depth=fr.depth + 1,
        outer_loop=loop,
        around=fr.loops_around(loop),
        homes=function.homes,
        paths=fr.paths,
    )
    fr.run.entered.add(id_of(function))
    outermost = fr.run.called_at is None
    if outermost:
        fr.run.called_at = fr.run.steps
    value, end = run_body(function, env, st, inner)
    if outermost and fr.run.called_at is not None:
        fr.run.call_steps += fr.run.steps - fr.run.called_at
        fr.run.called_at = None
    if end is not None:
        st.heap, st.facts, st.tests = end.heap, end.facts, end.tests
    unchanged = key is not None and all(st.heap.get(ref) is held for ref, held in before.items())
    names = st.heap.pop(fr.home, None)
    if isinstance(names, Dictionary) and names is not before[fr.home]:
        st.env = dict(names.items)
    if value is _NOTHING:
        value = unknown
    if unchanged:
        fr.run.summaries[key] = (settled(value, st.facts), before, function.closure)
    return value


def _as_it_was(before: Mapping[Hashable, Value], st: State) -> bool:
    """Whether the objects and modules that the call may reach hold what they held."""
    for ref, held in before.items():
        now = st.heap.get(ref)
        if now is not held and isinstance(held, Dictionary) and not _is_names(ref) and now != held:
            return False
    return True


def _is_names(ref: Hashable) -> bool:
    """Whether a ref of the heap holds the names of an activation (`Frame.home`)."""
    return isinstance(ref, tuple) and ref[0] == "names"


def _summary_key(function: Function, env: dict[str, Value], span: Span, st: State, fr: Frame) -> object | None:
    """What a call's value depends on: the function, and its arguments with all that is known of them put in. Another
    call, with the same arguments, makes other objects.

    None where that cannot be told: a generator, or an argument that cannot be compared.
    """
    if function.node.generator if isinstance(function.node, nodes.Function) else False:
        return None
    given: list[object] = [fr.context, span, id(function.node), id(function.closure)]
    for name, value in env.items():
        inner = st.load(value)
        given.append((name, type(inner), settled(inner, st.facts)))
        if isinstance(inner, Instance):
            given.append(st.heap.get(inner.ref))
    given.extend(settled(st.heap.get(ref), st.facts) for ref in function.homes)
    given.append(frozenset(st.tests.items()))
    key = tuple(given)
    try:
        hash(key)
    except TypeError:
        return None
    return key


def id_of(function: Function) -> tuple[str, int]:
    """What tells activations of one function from those of another."""
    return (function.name, function.node.span.line)


def _too_deep(function: Function, fr: Frame) -> bool:
    return sum(part == id_of(function) for part in fr.context) >= MAX_SAME_FUNCTION


_NOTHING = object()


def run_body(function: Function, env: dict[str, Value], st: State, inner: Frame) -> tuple[Value, State | None]:
    """Run a function's body; its value, and the state at its end (None where it never returns)."""
    from torchlayout.interp.expressions import evaluate
    from torchlayout.interp.statements import execute_block

    start = State(env, st.heap, st.facts, st.tests)
    if isinstance(function.node, nodes.Lambda):
        value = evaluate(function.node.body, start, inner)
        _close(inner, start)
        return value, start
    end = execute_block(function.node.body, start.copy(), inner)
    if end is not None:
        inner.returns.append((None, end))
    key = (inner.place(function.node.span), "return")
    value = _NOTHING
    state: State | None = None
    for returned, at in inner.returns:
        if state is None:
            value, state = returned, at
            continue
        value = join(settled(value, state.facts), settled(returned, at.facts), key)
        state = join_states(state, at, key)
    if state is not None:
        _close(inner, state)
    if function.node.generator:
        return Many(join_all(inner.yields, key), "generator"), state or start
    return value, state


def _close(fr: Frame, end: State) -> None:
    """Functions that outlive the one that made them see its names as they were in the end."""
    for closure, rebound in fr.made:
        closure.update({name: settled(value, end.facts) for name, value in end.env.items()})
        closure.update({name: Opaque((fr.home, "rebound", name), name) for name in rebound if name in closure})
        closure[ENDED] = closure.get(ENDED, frozenset()) | end.env.keys()


def own_arguments(function: Function, receiver: Value, st: State, fr: Frame) -> dict[str, Value]:
    """The local names of a function that is looked at on its own: its parameters are unknown."""
    env: dict[str, Value] = {}
    params = function.node.params
    for place, param in enumerate(params):
        if place == 0 and receiver is not None:
            env[param.name] = receiver
        else:
            env[param.name] = parameter_kind(function, param, st, fr)
    return env
