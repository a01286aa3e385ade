"""Which functions are worth running: those that hold a sink word, and callers that may hand them a strided tensor.

All of it is told from the outline and the text; nothing is parsed for it.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from torchlayout.interp.callgraph import Calls, is_decorated
from torchlayout.interp.definitions import KEEPING_DECORATORS, KINDS
from torchlayout.interp.makers import Makers
from torchlayout.interp.sources import ALWAYS, KNOWN, STRIDED
from torchlayout.program.outline import Entry, dotted
from torchlayout.program.unit import Unit

LOOP = re.compile(r"\b(?:for|while)\b")

MAX_HOPS = 3
"""Calls between a function and the one with the sink word that it hands something to."""


def telling(makers: Makers, targets: list[Entry]) -> list[Entry]:
    """The functions with a sink word that can have a finding when run on their own: those that make strided tensors,
    call something that does, or pack tensors. Packed arguments alone give none."""
    return [
        entry
        for entry in targets
        if ALWAYS.search(makers.outline.code(entry))
        or any(makers.may_meet(entry, source) for source in sorted(sources(entry)))
    ]


def sources(entry: Entry) -> frozenset[str]:
    """The kinds of tensors that the sink words in a function ask for: keys of `SOURCES`."""
    return frozenset(source for inner in entry.within() for source in inner.sources)


def callers(makers: Makers, targets: list[Entry], unit: Unit) -> list[Entry]:
    """Functions that call a target, directly or through others, and may hand it a strided tensor.

    One that takes nothing is alike to all who call it, but for the loops around the call, and for those who make its
    object.

    The last in the file comes first: what stands later calls what stands before, so that most of the others are
    then seen from their own callers and need no second look.
    """
    calls = makers.calls
    wanted = {target: sources(target) for target in targets}
    found: set[Entry] = set()
    pending = [(target, 1, asked) for target, asked in wanted.items()]
    seen = dict(wanted)
    for callee, hops, asked in pending:
        if not makers.follows_imports and _is_wrapped(callee, unit):
            continue
        alike = is_alike_to_all(callee, calls)
        for caller in calls.callers(callee):
            if alike and not _makes_object_of(caller, callee, calls) and not _may_repeat(caller, callee, calls):
                continue
            new = asked - seen.get(caller, frozenset())
            if not new:
                continue
            seen[caller] = seen.get(caller, frozenset()) | new
            if hops < MAX_HOPS:
                pending.append((caller, hops + 1, new))
            if caller not in wanted and any(makers.may_hand_over(caller, callee, source) for source in new):
                found.add(caller)
    return sorted(found, key=lambda entry: -entry.start)


def _is_wrapped(entry: Entry, unit: Unit) -> bool:
    """Whether another file defines a decorator of a function: where it is not read, calls are not followed."""
    paths = map(unit.resolve, _decorator_names(entry))
    return any(path is not None and _may_replace(path) for path in paths)


def _may_replace(decorator: str) -> bool:
    """Whether a decorator, by its dotted path, may make something else of a function."""
    return decorator not in KEEPING_DECORATORS and decorator not in KINDS


def _makes_object_of(caller: Entry, method: Entry, calls: Calls) -> bool:
    """Whether a function other than an `__init__` mentions the class of a method: it may make the object, and hand it
    tensors."""
    owner = method.parent
    return owner is not None and caller.name != "__init__" and owner.name in calls.outline.mentions(caller)


def _may_repeat(caller: Entry, callee: Entry, calls: Calls) -> bool:
    """Whether a function loops around one that copies."""
    return "contiguous" in calls.outline.text(callee) and LOOP.search(calls.outline.code(caller)) is not None


def is_alike_to_all(entry: Entry, calls: Calls) -> bool:
    """Whether a function takes nothing, and its object, if any, is a module of which only `__init__` sets what the
    function reads; that is read anyway."""
    arguments = entry.node.args  # type: ignore[union-attr]
    if arguments.vararg is not None or arguments.kwarg is not None or arguments.kwonlyargs:
        return False
    named = [*arguments.posonlyargs, *arguments.args]
    if not entry.is_method or entry.parent is None:
        return not named
    if len(named) != 1 or is_decorated(entry, "staticmethod") or not calls.is_module(entry.parent):
        return False
    return not calls.may_set(calls.outline.mentions(entry))


def is_handed_over(name: str, defined: int, unit: Unit) -> bool:
    """Whether a function, defined on that line, is mentioned otherwise than by a call: somebody may call it later."""
    return any(not called for _, called in _mentions(name, defined, unit))


def module_hands_over(calls: Calls, run: Iterable[Entry]) -> bool:
    """Whether the module's own statements call such a function, or an object of its class, and make something that is
    strided or of known sizes."""
    outline = calls.outline
    own = (s for s in outline.tree.body if not isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef))
    text = "".join(outline.source.lines(s.lineno, s.end_lineno or s.lineno) for s in own)
    if not (STRIDED.search(text) or KNOWN.search(text)):
        return False
    names = {name for e in run for name in (e.name, e.parent.name if e.parent is not None else e.name)}
    return not names.isdisjoint(re.findall(r"\b([^\W\d]\w*)(?:\.apply)?\s*\(", text))


def is_reached_otherwise(entry: Entry, unit: Unit, run: set[Entry], module: bool) -> bool:
    """Whether a function may get arguments from elsewhere than from calls in the functions that are run, or, where
    `module` says that they are, in the module's own statements."""
    if any(_may_replace(unit.resolve(name) or name) for name in _decorator_names(entry)):
        return True
    for start, called in _mentions(entry.name, entry.node.lineno, unit):
        owner = unit.outline.outermost_at(start)
        known = module if owner is None else owner in run or owner is entry
        if not called or not known:
            return True
    return False


def _decorator_names(entry: Entry) -> Iterator[str]:
    """A function's decorators as they are written, arguments left out; "" for what is no dotted name."""
    for decorator in entry.node.decorator_list:
        yield dotted(decorator.func if isinstance(decorator, ast.Call) else decorator) or ""


def _mentions(name: str, defined: int, unit: Unit) -> Iterator[tuple[int, bool]]:
    """The offset of each mention of a name but its definition, and whether it is called there."""
    source = unit.source
    for start in unit.outline.places(name):
        line = bisect_right(source.starts, start)
        if not source.clean.endswith("def ", 0, start) or line < defined:
            yield start, source.clean.startswith("(", start + len(name))
