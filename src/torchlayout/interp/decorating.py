"""Functions under decorators of the linted code: `@deco def f(...)` is `f = deco(f)`.

A decorator runs once, when the function is made, and what it gives is what every call runs. So of the names that it
leaves to the function it gives (its closure) only those count that nobody can change: functions, classes and constants.
"""

from __future__ import annotations

from collections.abc import Hashable

from torchlayout.interp import expressions
from torchlayout.interp.definitions import KINDS, decorator_path, keeps
from torchlayout.interp.frame import Frame, OutOfBudget, Run
from torchlayout.interp.loops import dotted, walk
from torchlayout.interp.project import resolve_import
from torchlayout.interp.state import State
from torchlayout.interp.touched import TURNING
from torchlayout.interp.trace import Trace
from torchlayout.interp.values import ENDED, PLAIN, BoundFunction, Class, Function, Opaque, Path, Sequence, Value
from torchlayout.ops import DType, MemoryFormat
from torchlayout.program import nodes
from torchlayout.structs import replace


def with_decorators(function: Function, run: Run) -> Function | None:
    """What the decorators of a function at module or class level make of it; None where that cannot be told."""
    if function.homes:  # the names around it have other values by now
        return None
    key = ("decorated", function)
    if key not in run.functions:
        run.functions[key] = None  # for decorators that call what they decorate
        run.functions[key] = _decorated_apart(function, run)
    found: Function | None = run.functions[key]
    return found


def _decorated_apart(function: Function, run: Run) -> Function | None:
    """The same, run as the module's own statements run it, with nothing told of it."""
    place = ("decorators", function.unit.path, function.name, function.node.span.line)
    frame = Frame(run, function.unit, "<module>", place, {})
    trace, entered, nested, visited = run.trace, set(run.entered), len(run.nested), len(run.visited)
    counted = run.call_steps, run.called_at, run.cut_short
    run.trace = Trace(function.unit.path, reads=trace.reads, notes=trace.notes)
    run.call_steps, run.called_at = 0, None
    try:
        made = decorate(function, State({}, {}, run.new_facts()), frame)
    except OutOfBudget:
        made = None
    finally:
        run.trace, run.entered = trace, entered
        run.call_steps, run.called_at, run.cut_short = counted
        del run.nested[nested:], run.visited[visited:]
    return made if made is not None and _keep_constants(made, place) else None


def decorate(function: Function, st: State, fr: Frame) -> Function | None:
    """What the decorators of a function make of it where the state is; None where that is not followed."""
    from torchlayout.interp.calls import Arguments, call_linted

    assert isinstance(function.node, nodes.Function)
    made: Value = replace(function, kind="function", decorated=False)
    in_class = False
    for decorator in reversed(function.node.decorators):
        path = decorator_path(decorator, function.unit)
        if path in KINDS:
            in_class = True
        elif not keeps(decorator, path):
            applied = None if in_class else _applied(decorator, function, st, fr)
            made = None if applied is None else call_linted(applied, Arguments([made], {}), decorator.span, st, fr)
            if not isinstance(made, Function) or made.decorated:
                return None
    found: Function = replace(made, kind=function.kind)
    return found


def _applied(decorator: nodes.Expr, function: Function, st: State, fr: Frame) -> Function | BoundFunction | None:
    """The function of the linted code that a decorator is, or that its call gives."""
    callee = decorator.func if isinstance(decorator, nodes.Call) else decorator
    names = {found.id for found in walk(decorator) if isinstance(found, nodes.Name)}
    if dotted(callee) is None or (function.owner is not None and not names.isdisjoint(function.owner.members)):
        return None
    value = expressions.evaluate(callee, st, fr)
    if isinstance(value, Path):
        value = resolve_import(value.path, fr)
    if not isinstance(value, (Function, BoundFunction)) or _stands_later(value, function):
        return None
    if isinstance(decorator, nodes.Call):
        value = expressions.evaluate(decorator, st, fr)
    return value if isinstance(value, (Function, BoundFunction)) else None


def _stands_later(value: Function | BoundFunction, function: Function) -> bool:
    """Whether a decorator is defined after what it decorates, so that another of its name was meant."""
    decorator = value.function if isinstance(value, BoundFunction) else value
    later = decorator.node.span.line > function.node.span.line
    return later and decorator.unit is function.unit and not function.homes


def _keep_constants(made: Function, place: tuple[Hashable, ...]) -> bool:
    """Make unknown, in closures and defaults, what calls may change. False where it may be a tensor that calls turn,
    since an unknown tensor has the same sizes each time it is looked up."""
    pending, seen, turned = [made], set(), False
    while pending:
        function = pending.pop()
        for names in (function.closure, function.defaults):
            if id(names) in seen or not isinstance(names, dict):
                continue
            seen.add(id(names))
            for name, value in names.items():
                if isinstance(value, Function):
                    pending.append(value)
                elif name != ENDED and not _is_constant(value):
                    names[name] = Opaque((*place, len(seen), name), name)
                    turned = turned or TURNING.search(function.unit.source.clean) is not None
    return not turned


def _is_constant(value: Value) -> bool:
    if isinstance(value, Sequence):
        return value.kind == "tuple" and all(map(_is_constant, value.items))
    return isinstance(value, (*PLAIN, Class, Path, Opaque, DType, MemoryFormat))
