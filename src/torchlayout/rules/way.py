"""The way from the module down to a call: the syntax nodes around it, each with the field that it stands in."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from torchlayout.program.nodes import Span
from torchlayout.program.source import Source

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Loop = ast.For | ast.AsyncFor | ast.While
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef | ast.Module

Place = tuple[int, int]
"""A line, and a column in bytes, as `ast` counts."""


Node = TypeVar("Node", bound=ast.AST)
Told = TypeVar("Told")


class Step(NamedTuple):
    """A node on the way, and the field of its parent that it stands in."""

    node: ast.AST
    field: str


def way_to(tree: ast.Module, source: Source, call: Span) -> list[Step]:
    """The nodes from the module down to the call with this span, the call last; empty where there is none."""
    start, end = _range(source, call)
    return _way(tree, start, end, lambda here: isinstance(here, ast.Call) and _bounds(here) == (start, end))


def way_to_subscript(tree: ast.Module, source: Source, bracket: Span) -> list[Step]:
    """The same down to the `x[...]` whose opening bracket has this span."""
    start, end = _range(source, bracket)

    def is_it(here: ast.AST) -> bool:
        return isinstance(here, ast.Subscript) and _bounds(here.value)[1] <= start < _bounds(here.slice)[0]

    return _way(tree, start, end, is_it)


def _range(source: Source, span: Span) -> tuple[Place, Place]:
    return (
        (span.line, source.utf8_column(span.line, span.column)),
        (span.end_line, source.utf8_column(span.end_line, span.end_column)),
    )


def _way(tree: ast.Module, start: Place, end: Place, is_it: Callable[[ast.AST], bool]) -> list[Step]:
    way = [Step(tree, "")]
    while True:
        here = way[-1].node
        if is_it(here):
            return way
        inner = next((step for step in _children_near(here, start) if _holds(step.node, start, end)), None)
        if inner is None:
            return []
        way.append(inner)


def _children(node: ast.AST) -> Iterator[Step]:
    for field, value in ast.iter_fields(node):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                yield Step(part, field)


def _children_near(node: ast.AST, start: Place) -> Iterator[Step]:
    """The children of which one may hold a place: of a block the statement that starts last before it, and the one
    after, whose decorators stand before its start. Blocks may be long."""
    for field, value in ast.iter_fields(node):
        parts = value if isinstance(value, list) else [value]
        if parts and isinstance(parts[0], ast.stmt):
            after = bisect_right(parts, start, key=lambda statement: (statement.lineno, statement.col_offset))
            parts = parts[max(after - 1, 0) : after + 1]
        for part in parts:
            if isinstance(part, ast.AST):
                yield Step(part, field)


def _holds(node: ast.AST, start: Place, end: Place) -> bool:
    """Whether a node's text holds a range; one without a place of its own does where one of its parts does."""
    if not hasattr(node, "end_col_offset"):
        return any(_holds(step.node, start, end) for step in _children(node))
    first, last = _bounds(node)
    decorated = any(_holds(part, start, end) for part in getattr(node, "decorator_list", ()))
    return decorated or (first <= start and end <= last)


def _bounds(node: Any) -> tuple[Place, Place]:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def once_for_each(tell: Callable[[Node], Told]) -> Callable[[Node], Told]:
    """Keep what a function tells of a syntax node for as long as the node is there. What is told must not hold the
    node itself, or it would be there for ever."""
    known: WeakKeyDictionary[Node, Told] = WeakKeyDictionary()

    @wraps(tell)
    def told(node: Node) -> Told:
        if node not in known:
            known[node] = tell(node)
        return known[node]

    return told
