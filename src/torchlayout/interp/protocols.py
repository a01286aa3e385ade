"""Python's protocols of objects of linted classes: `for x in loader`, `dataset[i]` and `len(dataset)` run methods."""

from __future__ import annotations

from collections.abc import Callable

from torchlayout.interp.definitions import member
from torchlayout.interp.frame import Frame, LoopFrame
from torchlayout.interp.state import State, settled
from torchlayout.interp.trace import Loop
from torchlayout.interp.values import BoundFunction, Function, Instance, Many, Opaque, Value, one_of_many
from torchlayout.program.nodes import Span

Step = Callable[[State], Value]
"""Gives the next item, and changes the state as that does."""


def special(value: Value, name: str, args: list[Value], span: Span, st: State, fr: Frame) -> Value | None:
    """What an object's special method gives; None where no linted class defines it."""
    from torchlayout.interp.calls import Arguments, call_linted

    method = _method(value, name, fr)
    if method is None:
        return None
    found = call_linted(BoundFunction(method, value), Arguments(args, {}), span, st, fr)
    return Opaque((fr.place(span), name)) if found is None else found


def _method(value: Value, name: str, fr: Frame) -> Function | None:
    found = member(value.cls, name, fr.run) if isinstance(value, Instance) else None
    return found if isinstance(found, Function) and found.kind not in ("static", "class", "property") else None


def step_of(value: Value, span: Span, st: State, fr: Frame) -> Step | Value | None:
    """How to get each item of an object: by its iterator's `__next__`, or `__getitem__` of one number after another.

    Where `__iter__` gives something else to go through (a generator, a list), that; None where nothing is known.
    """
    iterator = special(value, "__iter__", [], span, st, fr)
    if iterator is None:
        if _method(value, "__getitem__", fr) is None:
            return None

        def item(state: State) -> Value:
            index = state.facts.symbols.atom((fr.place(span), "index"), None, 0)
            return special(value, "__getitem__", [index], span, state, fr)

        return item
    if not isinstance(iterator, Instance):
        return iterator
    if _method(iterator, "__next__", fr) is None:
        return None
    return lambda state: special(iterator, "__next__", [], span, state, fr)


def any_item(step: Step, span: Span, st: State, fr: Frame) -> Value:
    """What any of the turns of a loop over an object gets, with what all of them leave behind."""
    from torchlayout.interp.looping import fixpoint

    found: list[Value] = []

    def enter(state: State) -> bool:
        found[:] = [settled(step(state), state.facts)]
        return True

    loop = LoopFrame(Loop(span, "for"), (), fr.branches)
    fr.loops.append(loop)
    end = fixpoint((), span, loop, st, fr, enter, False)
    fr.loops.pop()
    if end is not None:
        st.become(end)
    return found[0]


def iterated(value: Instance, span: Span, st: State, fr: Frame) -> Value:
    """What a loop over an object goes through: like `iterate`."""
    from torchlayout.interp.iteration import iterate

    step = step_of(value, span, st, fr)
    if step is None:
        return Many(Opaque((fr.place(span), "iterated")), "tuple")
    return Many(any_item(step, span, st, fr), "tuple") if callable(step) else iterate(step, st, fr, span)


def following(value: Value, span: Span, st: State, fr: Frame) -> Value | None:
    """`next(value)` of an object; None where it has no `__next__`."""
    found = special(value, "__next__", [], span, st, fr)
    return None if found is None else one_of_many(found, fr.place(span))
