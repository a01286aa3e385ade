"""The way from the module down to a call: the syntax nodes around it, each with the field that it stands in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from torchlayout.program.nodes import Span
from torchlayout.program.source import Source


class Step(NamedTuple):
    """A node on the way, and the field of its parent that it stands in."""

    node: ast.AST
    field: str


def way_to(tree: ast.Module, source: Source, call: Span) -> list[Step]:
    """The nodes from the module down to the call with this span, the call last; empty where there is none."""
    start = (call.line, source.utf8_column(call.line, call.column))
    end = (call.end_line, source.utf8_column(call.end_line, call.end_column))
    way = [Step(tree, "")]
    while True:
        here = way[-1].node
        if isinstance(here, ast.Call) and _bounds(here) == (start, end):
            return way
        inner = next((step for step in _children(here) if _holds(step.node, start, end)), None)
        if inner is None:
            return []
        way.append(inner)


def _children(node: ast.AST) -> Iterator[Step]:
    for field, value in ast.iter_fields(node):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                yield Step(part, field)


def _holds(node: ast.AST, start: tuple[int, int], end: tuple[int, int]) -> bool:
    """Whether a node's text holds a range; one without a place of its own does where one of its parts does."""
    if not hasattr(node, "end_col_offset"):
        return any(_holds(step.node, start, end) for step in _children(node))
    first, last = _bounds(node)
    decorated = any(_holds(part, start, end) for part in getattr(node, "decorator_list", ()))
    return decorated or (first <= start and end <= last)


def _bounds(node: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
