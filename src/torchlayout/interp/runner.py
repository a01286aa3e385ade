"""Running the analysis over one file: which functions are looked at, and with what arguments.

Every function that holds something a rule could report on is run on its own, its parameters unknown; and so are the
functions that call it, so that it is seen with the arguments that they hand over.
"""

from __future__ import annotations

from torchlayout.interp.attributes import Container
from torchlayout.interp.definitions import class_of, function_of, member
from torchlayout.interp.frame import MAX_CALLER_STEPS, MAX_STEPS, Frame, Options, OutOfBudget, Run
from torchlayout.interp.functions import own_arguments, run_body
from torchlayout.interp.roots import callers, telling
from torchlayout.interp.state import State
from torchlayout.interp.statements import execute_block
from torchlayout.interp.trace import Loop, Trace
from torchlayout.interp.values import Class, Dictionary, Function, Instance, Value
from torchlayout.program.unit import CannotLower, Entry, Unit
from torchlayout.sizes import Facts

PER_ITEM_METHODS = frozenset({"__getitem__", "collate_fn", "collate", "__call__", "_collate_fn"})
"""Functions that data loading calls for every sample or batch."""


def run(unit: Unit, options: Options) -> Trace:
    """The trace of one file."""
    activity = Run(unit, options)
    targets = unit.outline.targets()
    activity.proving = any(not _is_public(e.name) and ".contiguous" in unit.outline.text(e) for e in targets)
    activity.limit = MAX_CALLER_STEPS
    for entry in callers(unit, targets):
        if (entry.name, entry.node.lineno) not in activity.entered:
            _look_at(entry, activity)
    activity.proving, activity.limit = True, MAX_STEPS
    for entry in telling(unit, targets):
        _look_at(entry, activity)
    if unit.outline.module_sinks:
        _look_at_module(activity)
    return activity.trace


def _look_at(entry: Entry, activity: Run) -> None:
    """Run one function on its own."""
    activity.total_steps += activity.steps
    activity.steps = 0
    try:
        if entry.is_method and entry.parent is not None:
            _look_at_method(entry, entry.parent, activity)
        else:
            function = function_of(entry, activity.unit, activity)
            if isinstance(function, Function):
                _run_alone(function, None, State({}, {}, activity.new_facts()), activity)
    except OutOfBudget:
        activity.note(f"{activity.unit.path}:{entry.start}: {entry.qualname} takes too many steps; left off")
    except RecursionError:
        activity.note(f"{activity.unit.path}:{entry.start}: {entry.qualname} is nested too deeply; left off")


def _look_at_method(entry: Entry, owner: Entry, activity: Run) -> None:
    cls = class_of(owner, activity.unit, activity)
    if not isinstance(cls, Class):
        return
    function = member(cls, entry.name, activity)
    if not isinstance(function, Function):
        return
    heap, facts = initialised(cls, activity)
    receiver: Value = Instance(cls, ("self", cls.name), "self")
    if function.kind == "static":
        receiver = None
    elif function.kind == "class":
        receiver = cls
    if entry.name == "__init__":
        heap = {("self", cls.name): Dictionary({})}
    _run_alone(function, receiver, State({}, heap, facts), activity)


def initialised(cls: Class, activity: Run) -> tuple[dict[object, Value], Facts]:
    """The heap and the facts that the class's `__init__` leaves, its arguments unknown."""
    known = activity.attributes.get(cls)
    if known is None:
        ref = ("self", cls.name)
        state = State({}, {ref: Dictionary({})}, activity.new_facts())
        init = member(cls, "__init__", activity)
        if isinstance(init, Function):
            frame = Frame(activity, init.unit, "__init__", (("init", cls.name),), init.closure, owner=init.owner)
            receiver = Instance(cls, ref, "self")
            frame.receiver = receiver
            try:
                _, end = run_body(init, own_arguments(init, receiver, state, frame), state, frame)
            except OutOfBudget:
                end = None
            state = end if end is not None else state
        known = activity.attributes[cls] = (state.heap, state.facts)
    heap, facts = known
    return dict(heap), facts.copy()


def _run_alone(function: Function, receiver: Value, state: State, activity: Run) -> None:
    per_item = function.name in PER_ITEM_METHODS
    loop = Loop(function.node.span, "call") if per_item and _handles_items(function) else None
    frame = Frame(
        activity, function.unit, function.name, (("alone", function.name, function.node.span.line),), function.closure,
        owner=function.owner, receiver=receiver, outer_loop=loop, public=_is_public(function.name),
    )  # fmt: skip
    nested = len(activity.nested)
    _, end = run_body(function, own_arguments(function, receiver, state, frame), state, frame)
    state = state if end is None else end
    for inner, _ in activity.nested[nested:]:
        if not _was_called(inner, activity):
            inner_frame = Frame(
                activity, inner.unit, inner.name, (("alone", inner.name, inner.node.span.line),), inner.closure,
                owner=inner.owner, public=False,
            )  # fmt: skip
            run_body(inner, own_arguments(inner, None, state, inner_frame), state.copy(), inner_frame)
    del activity.nested[nested:]


def _is_public(name: str) -> bool:
    return not name.startswith("_") or name.endswith("__")


def _handles_items(function: Function) -> bool:
    """`__call__` of a module is no per-item function; `__getitem__` and collate functions are."""
    return function.name != "__call__"


def _was_called(function: Function, activity: Run) -> bool:
    """Whether some visit so far stands inside this function."""
    start = function.node.span.line
    last = max((s.span.line for s in getattr(function.node, "body", ())), default=start)
    return any(start <= key[1].line <= last for key in activity.trace.sites if key[0] == function.unit.path)


def _look_at_module(activity: Run) -> None:
    """Run the module's own statements."""
    activity.total_steps += activity.steps
    activity.steps = 0
    unit = activity.unit
    frame = Frame(activity, unit, "<module>", ("module",), {})
    try:
        execute_block(unit.module_block(), State({}, {}, activity.new_facts()), frame)
    except CannotLower as error:
        activity.note(f"{unit.path}: {error}")
    except (OutOfBudget, RecursionError):
        activity.note(f"{unit.path}: the module's own statements take too many steps; left off")


__all__ = ["Container", "run"]
