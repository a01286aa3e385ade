"""Running the analysis over one file: which functions are looked at, and with what arguments.

Every function that holds something a rule could report on is run on its own, its parameters unknown; and so are the
functions that call it, so that it is seen with the arguments that they hand over.
"""

from __future__ import annotations

from functools import partial

from torchlayout.interp.callgraph import Calls
from torchlayout.interp.definitions import class_of, function_of, member
from torchlayout.interp.frame import (
    MAX_CALL_STEPS,
    MAX_CALLER_CALL_STEPS,
    MAX_CALLER_INIT_STEPS,
    MAX_CALLER_STEPS,
    MAX_STEPS,
    Frame,
    LoopAround,
    Options,
    OutOfBudget,
    Run,
)
from torchlayout.interp.functions import id_of, own_arguments, run_body
from torchlayout.interp.leaving import forget_privacy, forget_vague, leave_off
from torchlayout.interp.makers import Makers
from torchlayout.interp.paths import merge_paths
from torchlayout.interp.project import texts
from torchlayout.interp.receivers import MAX_SUBCLASSES, heirs, initialised, self_of
from torchlayout.interp.relevance import mark_needed
from torchlayout.interp.roots import callers, is_handed_over, is_reached_otherwise, module_hands_over, telling
from torchlayout.interp.state import State
from torchlayout.interp.statements import execute_block
from torchlayout.interp.trace import Loop, Trace
from torchlayout.interp.values import Class, Dictionary, Function, Value
from torchlayout.program.nodes import Span
from torchlayout.program.unit import CannotLower, Entry, Unit

PER_ITEM_METHODS = frozenset({"__getitem__", "collate_fn", "collate", "__call__", "_collate_fn"})
"""Functions that data loading calls for every sample or batch."""
WHOLE_FILE = Span(1, 0, 1 << 30, 0)


def run(unit: Unit, options: Options) -> Trace:
    """The trace of one file."""
    activity = Run(unit, options)
    targets = unit.outline.targets()
    activity.proving = any(not _is_public(e.name) and ".contiguous" in unit.outline.text(e) for e in targets)
    activity.limit, activity.call_limit = MAX_CALLER_STEPS, MAX_CALLER_CALL_STEPS
    activity.init_limit = MAX_CALLER_INIT_STEPS
    calls = Calls(unit.outline)
    makers = Makers(calls, partial(texts, unit=unit, run=activity) if options.follow_imports else None)
    calling, alone = callers(makers, targets, unit), telling(makers, targets)
    module = bool(unit.outline.module_sinks) or module_hands_over(calls, targets)
    if not module:  # whose own statements may read anything
        mark_needed(unit, calls, {*calling, *alone})
    activity.private = {
        _id_of(entry)
        for entry in targets
        if not _is_public(entry.name) and not is_reached_otherwise(entry, unit, {*calling, *alone}, module)
    }
    activity.targets = set(map(_id_of, targets))
    activity.alone = set(map(_id_of, alone))
    for entry in calling:
        if _id_of(entry) not in activity.entered:
            _look_at(entry, activity)
    activity.proving, activity.limit, activity.call_limit = True, MAX_STEPS, MAX_CALL_STEPS
    activity.init_limit = MAX_STEPS
    for entry in alone:
        _look_at(entry, activity)
    if module:
        _look_at_module(activity)
    if activity.left_off:
        forget_privacy(activity)
    if activity.parting:
        merge_paths(activity.trace)
    for failure in dict.fromkeys(activity.symbols.failures):
        activity.note(f"{unit.path}: {failure}")
    return activity.trace


def _id_of(entry: Entry) -> tuple[str, int]:
    """What `functions.id_of` gives for the function that this entry becomes."""
    return (entry.name, entry.node.lineno)


def _look_at(entry: Entry, activity: Run) -> None:
    """Run one function on its own."""
    activity.new_budget()
    activity.start(("alone", *_id_of(entry)))  # what is left off before it runs takes nothing from the one before
    try:
        if entry.is_method and entry.parent is not None:
            _look_at_method(entry, entry.parent, activity)
        else:
            function = function_of(entry, activity.unit, activity)
            if isinstance(function, Function):
                _run_alone(function, None, State({}, {}, activity.new_facts()), activity)
        if activity.cut_short:
            forget_vague(activity)
    except OutOfBudget:
        activity.note(f"{activity.unit.path}:{entry.start}: {entry.qualname} takes too many steps; left off")
        leave_off(activity)
    except RecursionError:
        activity.note(f"{activity.unit.path}:{entry.start}: {entry.qualname} is nested too deeply; left off")
        leave_off(activity)


def _look_at_method(entry: Entry, owner: Entry, activity: Run) -> None:
    cls = class_of(owner, activity.unit, activity)
    if not isinstance(cls, Class):
        return
    initialised(cls, activity)
    if activity.steps >= activity.last_step:
        raise OutOfBudget  # before its own code is parsed
    function = member(cls, entry.name, activity)
    if not isinstance(function, Function):
        return
    _run_for(function, cls, (), activity)
    derived = heirs(owner, entry, activity.unit)
    if len(derived) > MAX_SUBCLASSES:
        activity.note(
            f"{activity.unit.path}:{entry.start}: {entry.qualname} is inherited by more than {MAX_SUBCLASSES}"
        )
    for heir in derived[:MAX_SUBCLASSES]:
        sub = class_of(heir, activity.unit, activity)
        if isinstance(sub, Class):
            _run_for(function, sub, (sub.name,), activity)


def _run_for(function: Function, cls: Class, as_heir: tuple[str, ...], activity: Run) -> None:
    """Run a method as an object of this class meets it."""
    heap, facts = initialised(cls, activity)
    receiver: Value = self_of(cls)
    if function.kind == "static":
        receiver = None
    elif function.kind == "class":
        receiver = cls
    if function.name == "__init__":
        heap = {self_of(cls).ref: Dictionary({})}
    _run_alone(function, receiver, State({}, heap, facts), activity, as_heir)


def _run_alone(function: Function, receiver: Value, state: State, activity: Run, as_heir: tuple[str, ...] = ()) -> None:
    per_item = function.name in PER_ITEM_METHODS
    loop = Loop(function.node.span, "call") if per_item and _handles_items(function) else None
    root = ("alone", function.name, function.node.span.line, *as_heir)
    frame = Frame(
        activity, function.unit, function.name, (root,), function.closure, owner=function.owner, receiver=receiver,
        outer_loop=loop, public=id_of(function) not in activity.private,
    )  # fmt: skip
    activity.start(root)
    nested = len(activity.nested)
    _, end = run_body(function, own_arguments(function, receiver, state, frame), state, frame)
    state = state if end is None else end
    for inner, _ in activity.nested[nested:]:
        escapes = inner.decorated or is_handed_over(inner.name, inner.node.span.line, inner.unit)
        if escapes or not _was_called(inner, activity):
            context = (("alone", inner.name, inner.node.span.line),)
            often = LoopAround(inner.unit.path, WHOLE_FILE, context)  # who has it may call it any number of times
            inner_frame = Frame(
                activity, inner.unit, inner.name, context, inner.closure, owner=inner.owner, public=escapes,
                around=(often,) if escapes else (),
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
    activity.new_budget()
    unit = activity.unit
    frame = Frame(activity, unit, "<module>", ("module",), {})
    activity.start("module")
    try:
        execute_block(unit.module_block(), State({}, {}, activity.new_facts()), frame)
    except CannotLower as error:
        activity.note(f"{unit.path}: {error}")
    except (OutOfBudget, RecursionError):
        activity.note(f"{unit.path}: the module's own statements take too many steps; left off")
        leave_off(activity)
