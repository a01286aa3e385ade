"""What `self` is when a method is looked at on its own: the attributes that `__init__` leaves, and those that other
methods write.

An attribute that some other method writes may hold either value when a method starts. What `__init__` gave is joined
with what each such method gives when it is run once, its arguments and the other written attributes unknown; sizes
are forgotten there, since they belong to that call.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from torchlayout.interp.definitions import Method, member
from torchlayout.interp.frame import MAX_STEPS, Frame, OutOfBudget, Run
from torchlayout.interp.functions import own_arguments, run_body
from torchlayout.interp.joins import join
from torchlayout.interp.module_state import forget_parameters
from torchlayout.interp.state import State, cap, settled
from torchlayout.interp.stores import ANY, assigned, written_from_outside
from torchlayout.interp.touched import forget_touched
from torchlayout.interp.trace import Trace
from torchlayout.interp.values import Class, Container, Dictionary, Function, Instance, Module, Opaque, Tensor, Value
from torchlayout.layouts import contiguous, is_contiguous, settle, unknown_strides
from torchlayout.ops import Operand
from torchlayout.program.outline import Entry
from torchlayout.program.unit import Unit
from torchlayout.sizes import YES, Facts, Rest, Shape

MAX_SUBCLASSES = 6
"""Classes of the file derived from one, as whose object a method of it is looked at too."""
MAX_CONSIDERED = 64
"""Classes derived from one among which those are looked for."""
MAX_WRITERS = 8
"""Methods of one class, beside `__init__`, whose writes to attributes are followed; with more, all are unknown."""


def self_of(cls: Class) -> Instance:
    return Instance(cls, ("self", cls.name), "self")


def initialised(cls: Class, activity: Run) -> tuple[dict[Hashable, Value], Facts]:
    """The heap and the facts with which a method of the class starts, the arguments of `__init__` unknown."""
    known = activity.attributes.get(cls)
    if known is None:
        state = _after_init(cls, activity)
        activity.attributes[cls] = (state.heap, state.facts)  # for classes that contain themselves
        _put_writes(cls, state, activity)
        forget_touched(cls, state)
        forget_parameters(state)
        known = activity.attributes[cls] = (state.heap, state.facts)
    heap, facts = known
    activity.cut_short = activity.cut_short or cls in activity.cut_classes
    return dict(heap), facts.copy()


def _after_init(cls: Class, activity: Run) -> State:
    receiver = self_of(cls)
    state = State({}, {receiver.ref: Dictionary({})}, activity.new_facts())
    if _is_too_long(cls, activity):
        activity.last_step = activity.steps
        return state
    init = member(cls, "__init__", activity)
    if isinstance(init, Function):
        frame = Frame(
            activity, init.unit, "__init__", (("init", cls.name),), init.closure, owner=init.owner, receiver=receiver
        )
        counted = activity.call_steps, activity.called_at
        activity.call_steps, activity.called_at = 0, None
        allowed = activity.last_step
        activity.last_step = min(allowed, activity.steps + activity.init_limit)
        try:
            _, end = run_body(init, own_arguments(init, receiver, state, frame), state, frame)
            activity.last_step = allowed
        except OutOfBudget:  # whatever it has set so far it may have set anew
            end = State({}, {receiver.ref: Dictionary({})}, activity.new_facts())
            activity.last_step = activity.steps
        activity.call_steps, activity.called_at = counted
        if activity.cut_short:
            activity.cut_classes.add(cls)
        state = end if end is not None else state
    return state


def _is_too_long(cls: Class, activity: Run) -> bool:
    """Whether the `__init__` of a caller's class would take more steps than it may, as far as its words tell."""
    init = cls.lookup("__init__")
    if activity.init_limit == MAX_STEPS or not isinstance(init, Method) or init.owner.unit is not activity.unit:
        return False
    return activity.lengths.of(init.entry) > activity.init_limit


# ---------------------------------------------------------------- attributes that other methods write
def _put_writes(cls: Class, state: State, activity: Run) -> None:
    """Join into the attributes what other methods write."""
    receiver = self_of(cls)
    attributes = state.heap.get(receiver.ref)
    if not isinstance(attributes, Dictionary):
        return
    writers, by_others = _writers(cls), written_from_outside(cls.unit) | _written_by_heirs(cls)
    written = {name for names in writers.values() for name in names} | by_others
    if ANY in written:
        by_others = frozenset(attributes.items)
        written |= by_others
    written &= attributes.items.keys()
    if not written:
        return
    unknown = {name: Opaque((receiver.ref, name, "written"), f"self.{name}") for name in written}
    start = Dictionary({**attributes.items, **unknown}, attributes.rest, attributes.maybe)
    found: dict[str, list[Value]] = {name: [] for name in written}
    for name in written & by_others:
        found[name].append(unknown[name])
    if len(writers) > MAX_WRITERS:
        activity.note(f"{cls.unit.path}: {cls.name} has more than {MAX_WRITERS} methods that write attributes")
        for name in written:
            found[name].append(unknown[name])
        writers = {}
    for method, names in writers.items():
        end = _run_silently(cls, method, start, state, activity)
        for name in names & written:
            value = None if end is None else end[0].get(name)
            found[name].append(
                unknown[name] if end is None or value is None else _timeless(value, end[1], unknown[name])
            )
    items = dict(attributes.items)
    for name, values in found.items():
        for value in values:
            items[name] = cap(join(items[name], value, (receiver.ref, name)), (receiver.ref, name), state.facts)
    state.heap[receiver.ref] = Dictionary(items, attributes.rest, attributes.maybe)


def _writers(cls: Class) -> dict[str, frozenset[str]]:
    """The methods that assign attributes of their first parameter, and which. Those that `__init__` calls have been
    run by it; to run them once more gives the like."""
    found: dict[str, frozenset[str]] = {}
    called: set[str] = {"__init__"}
    for part in cls.lineage():
        entry = part.unit.klass(part.name)
        init = entry.child("__init__") if entry is not None else None
        if init is not None:
            called |= part.unit.outline.calls(init)
    for part in cls.lineage():
        entry = part.unit.klass(part.name)
        for child in entry.children if entry is not None else ():
            if child.name not in called and child.name not in found and not child.is_class:
                names = frozenset(assigned(child, part.unit))
                if names:
                    found[child.name] = names
    return found


def _written_by_heirs(cls: Class) -> frozenset[str]:
    """Attributes that methods of classes derived from this one, in its file, assign."""
    owner = cls.unit.klass(cls.name)
    return frozenset(
        name
        for other in cls.unit.outline.entries
        if owner is not None and other.is_class and other is not owner and cls.unit.descends(other, owner)
        for child in other.children
        if not child.is_class and child.name != "__init__"
        for name in assigned(child, cls.unit)
    )


def _run_silently(
    cls: Class, name: str, start: Dictionary, state: State, activity: Run
) -> tuple[dict[str, Value], Facts] | None:
    """The attributes that a method leaves, and what it learnt; None where that is not known."""
    function = member(cls, name, activity)
    if not isinstance(function, Function) or function.kind in ("static", "class") or function.decorated:
        return None
    receiver = self_of(cls)
    before = State({}, {**state.heap, receiver.ref: start}, state.facts.copy())
    frame = Frame(
        activity, function.unit, name, (("written", cls.name, name),), function.closure, owner=function.owner,
        receiver=receiver,
    )  # fmt: skip
    trace, activity.trace = activity.trace, Trace(activity.unit.path)
    nested = len(activity.nested)
    try:
        _, end = run_body(function, own_arguments(function, receiver, before, frame), before, frame)
    except OutOfBudget:
        end = None
    finally:
        activity.trace = trace
        del activity.nested[nested:]
    attributes = end.heap.get(receiver.ref) if end is not None else None
    if end is None or not isinstance(attributes, Dictionary):
        return None
    return {k: v for k, v in attributes.items.items() if k not in attributes.maybe}, end.facts


def _timeless(value: Value, facts: Facts, unknown: Opaque) -> Value:
    """What a written value still tells once its method is over: no sizes of that call."""
    value = settled(value, facts)
    if value is None or isinstance(value, (bool, int, float, str, Module, Container, Instance)):
        return value
    if isinstance(value, Tensor):
        proven = tuple(_without_sizes(o, facts.proven_world, (unknown.key, i)) for i, o in enumerate(value.proven))
        assumed = tuple(_without_sizes(o, facts.assumed_world, (unknown.key, i)) for i, o in enumerate(value.assumed))
        return Tensor(proven, assumed, unknown.key, frozenset([unknown.key]), value.origin)
    return unknown


def _without_sizes(operand: Operand, facts: Facts, key: Hashable) -> Operand:
    """The operand with known numbers and contiguity kept, and unknowns of its own for the rest."""
    layout = settle(operand.layout, facts)
    if all(isinstance(dim.size, int) and isinstance(dim.stride, int) and dim.rest is None for dim in layout.dims):
        return operand
    shape: Shape = tuple(
        facts.symbols.rest((key, place)) if isinstance(extent, Rest)
        else extent if isinstance(extent, int)
        else facts.symbols.atom((key, place))
        for place, extent in enumerate(layout.shape)
    )  # fmt: skip
    packed = is_contiguous(layout, facts) is YES
    made = contiguous(shape) if packed else unknown_strides(shape)
    return Operand(made, operand.dtype, operand.numpy, operand.weak, operand.device)


# ---------------------------------------------------------------- subclasses
def heirs(owner: Entry, entry: Entry, unit: Unit) -> list[Entry]:
    """Classes of the file that inherit the method and override something that it, or `__init__`, may meet."""
    called = unit.outline.mentions(entry)
    considered = 0
    found: list[Entry] = []
    for other in unit.outline.entries:
        if other.is_class and other is not owner and unit.descends(other, owner):
            considered += 1
            if considered > MAX_CONSIDERED:
                break
            if unit.method(other, entry.name) is entry and _overrides(other, owner, called, unit):
                found.append(other)
    return found


def _overrides(other: Entry, owner: Entry, called: Iterable[str], unit: Unit) -> bool:
    between = [cls for cls in unit.ancestors(other) if cls is not owner and unit.descends(cls, owner)]
    names = {child.name for cls in between for child in cls.children} | {n for cls in between for n in cls.assigned}
    return "__init__" in names or not names.isdisjoint(called)


__all__ = ["MAX_SUBCLASSES", "heirs", "initialised", "self_of"]
