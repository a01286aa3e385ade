"""Taking away the statement `x = x.contiguous()`, of which without the call nothing but `x = x` would be left."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from torchlayout.program.nodes import Span
from torchlayout.program.places import CallSite
from torchlayout.program.source import Source
from torchlayout.rules import edits
from torchlayout.rules.edits import Edits
from torchlayout.rules.seen import Seen
from torchlayout.rules.way import Step, way_to

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

TO_A_TOOL = re.compile(r"#\s*(?:noqa|nosec|pragma|type\s*:|(?:fmt|isort|mypy|pylint|pyright|ruff|yapf|torchlayout)\b)")
"""Comments that mean something else, or nothing, on a line of their own."""


def without_statement(seen: Seen, call: CallSite) -> Edits:
    """The edits that take the statement of `x = x.contiguous()` away; none where it has to stay.

    A comment behind it stays on its line, and a block that would be empty holds `pass`. The statement stays where x
    may not be bound without it (then it raises), is deleted somewhere, or is no plain name: an attribute or item may
    do more than keep what it is given.
    """
    source, place = seen.unit.source, call.statement
    before = source.slice(Span(place.line, place.column, call.suffix.line, call.suffix.column))
    named = re.fullmatch(r"([^\W\d]\w*)\s*=\s*\1", before)
    if named is None or call.suffix[2:] != place[2:]:
        return ()
    way = way_to(seen.unit.tree, source, call.call)
    if len(way) < 3 or not _is_bound_before(named[1], way):
        return ()
    return edits.replace(place, "pass") if _is_alone(way) else _line_without(source, place)


def _line_without(source: Source, place: Span) -> Edits:
    """A statement taken out of its line, or with it; none where the line goes on from the one above."""
    before = source.line(place.line)[: place.column]
    after = source.line(place.end_line)[place.end_column :]
    if place.line > 1 and source.line(place.line - 1).endswith("\\"):
        return ()
    next_one = re.match(r"\s*;[ \t]*(?=[^\s#\\])", after)
    if next_one is not None:
        return edits.replace(_widened(place, 0, next_one.end()), "")
    separator = re.search(r"\s*;\s*$", before)
    if separator is not None:
        return edits.replace(_widened(place, place.column - separator.start(), 0), "")
    ending = re.match(r"\s*;?\s*", after)
    rest = after[ending.end() :] if ending else after
    if before.strip() or TO_A_TOOL.match(rest):
        return ()
    if rest.startswith("#"):
        return edits.replace(_widened(place, 0, len(after) - len(rest)), "")
    if rest:
        return ()
    if place.end_line < source.line_count:
        return edits.replace(Span(place.line, 0, place.end_line + 1, 0), "")
    above = place.line - 1
    return edits.replace(Span(above, len(source.line(above)), place.end_line, len(source.line(place.end_line))), "")


def _widened(place: Span, left: int, right: int) -> Span:
    return Span(place.line, place.column - left, place.end_line, place.end_column + right)


def _is_alone(way: Sequence[Step]) -> bool:
    """Whether a block holds nothing but the statement at the end of a way."""
    block = getattr(way[-3].node, way[-2].field)
    return isinstance(block, list) and len(block) == 1


def _is_bound_before(name: str, way: Sequence[Step]) -> bool:
    """Whether the name that is assigned at the end of a way is bound there already in the same scope: it is a
    parameter, or a statement binds it on every way to there."""
    inside = next(
        at for at in range(len(way) - 3, -1, -1) if isinstance(way[at].node, (*FUNCTIONS, ast.ClassDef, ast.Module))
    )
    scope = way[inside].node
    if isinstance(scope, ast.ClassDef) or any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Del) for node in ast.walk(scope)
    ):
        return False
    if isinstance(scope, FUNCTIONS) and any(isinstance(n, ast.arg) and n.arg == name for n in ast.walk(scope.args)):
        return True
    for (around, _), (inner, field) in zip(way[inside:-2], way[inside + 1 : -1], strict=True):
        block = getattr(around, field)
        if isinstance(inner, ast.stmt) and isinstance(block, list):
            if _bind(block[: block.index(inner)], name):
                return True
    return False


def _bind(statements: Iterable[ast.stmt], name: str) -> bool:
    """Whether the name is bound once the statements have run."""
    return any(_binds(statement, name) for statement in statements)


def _binds(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.Assign(targets=targets):
            return any(_is_target(target, name) for target in targets)
        case ast.AnnAssign(target=target, value=value):
            return value is not None and _is_target(target, name)
        case ast.AugAssign(target=target):
            return _is_target(target, name)
        case ast.If(body=body, orelse=orelse):
            return _bind(body, name) and _bind(orelse, name)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return any(item.optional_vars is not None and _is_target(item.optional_vars, name) for item in items)
        case _:
            return False


def _is_target(target: ast.expr, name: str) -> bool:
    match target:
        case ast.Name(id=bound):
            return bound == name
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return any(_is_target(part, name) for part in parts)
        case ast.Starred(value=value):
            return _is_target(value, name)
        case _:
            return False
