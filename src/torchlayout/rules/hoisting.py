"""Moving an unchanged `contiguous()` in front of its loop.

Vocabulary: *way* (the syntax nodes from the module down to the call, each with the field it stands in), *guard*
(whatever lets a turn of the loop pass the call by: a condition, a `try`, a `with`, an earlier `continue`). A call
behind a guard stays where it is: in front of the loop it would run where it never ran, on what the guard ruled out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from torchlayout.interp.trace import Site
from torchlayout.program.nodes import Span
from torchlayout.program.places import CallSite
from torchlayout.program.source import Source
from torchlayout.rules import edits, mend
from torchlayout.rules.finding import Edit, Fix, Safety
from torchlayout.rules.seen import Seen
from torchlayout.rules.way import Comprehension, Loop, Scope, Step, once_for_each, way_to

TITLE = "Pack it in front of the loop"

CONSUMERS = frozenset({"all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"})
"""Builtins that run through a generator at once, so that it does what a list would."""

Leave = ast.Continue | ast.Break | ast.Return | ast.Raise | ast.Assert
Pause = ast.Yield | ast.YieldFrom | ast.Await


def hoist(seen: Seen, site: Site) -> Fix | None:
    """The fix for a call of unchanged operands in a loop; None where a guard stands in between, or no line of its own
    can be put before the loop."""
    call = mend.call_at(seen, site.key)
    if call is None:
        return None
    source = seen.unit.source
    text = source.slice(call.call)
    way = way_to(seen.unit.tree, source, call.call)
    place = place_before_loop(way)
    if "\n" in text or place is None:
        return None
    span = _span(source, place)
    return _moved_whole(seen, call, way, span) or _named(source, call, span)


def _moved_whole(seen: Seen, call: CallSite, way: list[Step], loop: Span) -> Fix | None:
    """The fix for `y = x.contiguous()` in a loop's own block: the assignment moves. None where that would be seen."""
    statement, around = way[-2].node, way[-3].node
    if not isinstance(statement, ast.Assign) or not isinstance(around, Loop) or len(around.body) == 1:
        return None
    match statement.targets:
        case [ast.Name(id=name)]:
            pass
        case _:
            return None
    source, place = seen.unit.source, _span(seen.unit.source, statement)
    line = source.line(place.line)
    if place.line != place.end_line or line[: place.column].strip() or line[place.end_column :].strip():
        return None
    if not _only_later(name, statement, around, next(step.node for step in reversed(way) if _is_scope(step.node))):
        return None
    before = edits.insert_line_before(source, loop, source.slice(place))
    whole = Edit(Span(place.line, 0, place.line + 1, 0), "")
    return Fix(TITLE, (*before, whole), Safety.UNSAFE) if before else None


def _named(source: Source, call: CallSite, loop: Span) -> Fix | None:
    """The fix that gives the packed tensor a name of its own in front of the loop."""
    text = source.slice(call.call)
    name = _free_name(source, call)
    before = edits.insert_line_before(source, loop, f"{name} = {text}")
    return Fix(TITLE, (*before, Edit(call.call, name)), Safety.UNSAFE) if before else None


# ---------------------------------------------------------------- guards
def place_before_loop(way: Sequence[Step]) -> ast.stmt | None:
    """The statement before which the call may stand: its loop, or the one that holds its comprehension."""
    depth = next((at for at in range(len(way) - 2, 0, -1) if _is_loop(way[at].node)), 0)
    if not depth or any(_is_scope(step.node) for step in way[depth:]):
        return None
    loop = way[depth].node
    if not _reached_on_every_turn(way[depth:]) or _pauses(loop):
        return None
    if isinstance(loop, ast.stmt):
        return loop
    start = next(at for at in range(depth, 0, -1) if isinstance(way[at].node, ast.stmt))
    scope = next(step.node for step in reversed(way[:depth]) if _is_scope(step.node))
    # What a class body binds is not seen inside its comprehensions.
    if isinstance(scope, ast.ClassDef) or (way[start].field == "orelse" and _is_elif(way[start - 1].node)):
        return None
    at_once = not isinstance(loop, ast.GeneratorExp) or _is_consumed(way[depth - 1].node)
    statement = way[start].node
    assert isinstance(statement, ast.stmt)
    return statement if at_once and _evaluated_first(way[start : depth + 1]) else None


def _is_loop(node: ast.AST) -> bool:
    return isinstance(node, Loop | Comprehension)


@once_for_each
def _pauses(loop: ast.AST) -> bool:
    return any(isinstance(node, Pause) for node in ast.walk(loop))


def _is_scope(node: ast.AST) -> bool:
    return isinstance(node, Scope)


def _is_elif(node: ast.AST) -> bool:
    """Whether the `else` of an `if` may be an `elif`, before which there is no room for a statement."""
    return isinstance(node, ast.If) and len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)


def _is_consumed(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CONSUMERS


def _reached_on_every_turn(way: Sequence[Step]) -> bool:
    """Whether each turn of the loop that the way starts at comes to its end."""
    (loop, _), (inner, field) = way[0], way[1]
    if isinstance(loop, Comprehension):
        return field in ("elt", "key", "value") and not any(part.ifs for part in loop.generators) and _plain(way[1:])
    assert isinstance(loop, Loop)
    if field != "body":
        return False
    body = _body(loop)
    return body.place[id(inner)] <= body.always and _evaluated_first(way[1:])


def _evaluated_first(way: Sequence[Step]) -> bool:
    """Whether running the statement that the way starts at always comes to its end, once."""
    statement, field = way[0].node, way[1].field if len(way) > 1 else ""
    match statement:
        case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Expr() | ast.Return() | ast.Delete() | ast.Raise():
            reached = True
        case ast.For() | ast.AsyncFor():
            reached = field == "iter"
        case ast.If() | ast.Assert():
            reached = field == "test"
        case ast.Match():
            reached = field == "subject"
        case _:
            reached = False
    return reached and _plain(way[1:])


def _plain(way: Sequence[Step]) -> bool:
    """Whether evaluating the expression that the way starts at always evaluates its end."""
    for (node, _), (inner, field) in pairwise(way):
        match node:
            case ast.IfExp():
                skipped = field != "test"
            case ast.BoolOp():
                skipped = inner is not node.values[0]
            case ast.Compare():
                skipped = field == "comparators" and inner is not node.comparators[0]
            case _:
                skipped = False
        if skipped:
            return False
    return True


class _Body(NamedTuple):
    """What stands where in a loop's block."""

    place: dict[int, int]
    """For each node in it, by its `id`, the place of its statement in the block."""
    always: int
    """The last place that every turn comes to: it holds the first statement that may end the turn, or that says what
    must hold after it."""


@once_for_each
def _body(loop: Loop) -> _Body:
    place: dict[int, int] = {}
    always = len(loop.body)
    for at, statement in enumerate(loop.body):
        for node in ast.walk(statement):
            place[id(node)] = at
            if isinstance(node, Leave):
                always = min(always, at)
    return _Body(place, always)


# ---------------------------------------------------------------- names
def _only_later(name: str, assignment: ast.Assign, loop: ast.AST, scope: ast.AST) -> bool:
    """Whether a name is bound by this assignment alone, and read only after it inside the loop's block."""
    assert isinstance(loop, Loop)
    place = _body(loop).place
    at, target = place[id(assignment)], id(assignment.targets[0])
    mentions = _mentions(scope)[name]
    return all(node == target or (is_read and place.get(node, -1) >= at) for node, is_read in mentions)


@once_for_each
def _mentions(scope: ast.AST) -> dict[str, list[tuple[int, bool]]]:
    """For each name, the nodes that mention it, by their `id`, and whether each reads it."""
    found: dict[str, list[tuple[int, bool]]] = {}
    for node in ast.walk(scope):
        for name in _names(node):
            is_read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
            found.setdefault(name, []).append((id(node), is_read))
    return found


def _names(node: ast.AST) -> Iterator[str]:
    """The names that a node itself mentions, whether it reads or binds them."""
    for field in ("id", "name", "arg", "asname", "rest"):
        value = getattr(node, field, None)
        if isinstance(value, str):
            yield value
    if isinstance(node, ast.Global | ast.Nonlocal):
        yield from node.names


def _free_name(source: Source, call: CallSite) -> str:
    """A name for the packed tensor that the file does not have yet."""
    receiver = source.slice(call.receiver) if call.receiver is not None else ""
    last = receiver.rpartition(".")[2]
    base = f"{last}_contiguous" if re.fullmatch(r"(?:[^\W\d]\w*\.)*[^\W\d]\w*", receiver) else "packed"
    name, number = base, 2
    while re.search(rf"\b{name}\b", source.clean):
        name, number = f"{base}_{number}", number + 1
    return name


def _span(source: Source, node: ast.stmt) -> Span:
    end_line = node.end_lineno or node.lineno
    end = source.column_from_utf8(end_line, node.end_col_offset or 0)
    return Span(node.lineno, source.column_from_utf8(node.lineno, node.col_offset), end_line, end)
