"""Whether a name that a fix writes stands for the module it means, at the place where it is written.

Vocabulary: *dominate* (an import dominates a place that cannot be reached without running it: it stands earlier in a
block around the place).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from torchlayout.program.nodes import Span
from torchlayout.program.unit import Unit
from torchlayout.rules.way import Comprehension, Scope, Step, once_for_each, way_to


def stands_for(unit: Unit, call: Span, name: str, module: str) -> bool:
    """Whether `name`, written inside the call with this span, is sure to be that module when the call runs.

    It is where nothing in the file binds the name but imports of the module, and one of them dominates the call in the
    scope that the name is looked up in. (What `if TYPE_CHECKING:` imports is not there when the program runs, and a
    function may be called before an import below it.)
    """
    names, way = _bound_in_file(unit.tree), way_to(unit.tree, unit.source, call)
    if name in names.otherwise or names.imports.get(name) != {module}:
        return False
    for depth, scope in _scopes_around(way):
        if name in _imported_in_scope(scope):
            line = _last_import(way[depth:], name)
            return line > 0 and not (scope is unit.tree and any(star > line for star in names.stars))
    return False


def _scopes_around(way: Sequence[Step]) -> Iterator[tuple[int, ast.AST]]:
    """The scopes in which a name at the end of a way is looked up, the innermost first, each with its place on the
    way. What a class body binds is seen in that body itself, not in the scopes inside it."""
    inside = False
    for depth in range(len(way) - 1, -1, -1):
        node = way[depth].node
        if isinstance(node, Scope | Comprehension):
            if not (inside and isinstance(node, ast.ClassDef)):
                yield depth, node
            inside = True


def _last_import(way: Sequence[Step], name: str) -> int:
    """The line of the last import of a name, in the scope that the way starts at, that dominates the end of the way;
    0 where there is none."""
    line = 0
    for (around, _), (inner, field) in pairwise(way):
        if isinstance(inner, ast.stmt):
            start = inner.lineno, inner.col_offset
            held = (place for place, *where in _imports_in_blocks(around) if where == [field, name] and place < start)
            line = max((first for first, _ in held), default=line)
        if isinstance(inner, Scope):
            break
    return line


@once_for_each
def _imports_in_blocks(node: ast.AST) -> list[tuple[tuple[int, int], str, str]]:
    """The imports that stand directly in the blocks of a node: their place, the block's field, the name."""
    return [
        ((statement.lineno, statement.col_offset), field, local)
        for field, block in ast.iter_fields(node)
        if isinstance(block, list)
        for statement in block
        if isinstance(statement, ast.stmt)
        for local, _ in _imported(statement)
    ]


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The names that an import binds, with the dotted paths they stand for; none for other nodes."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            first = alias.name.partition(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (first, first)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name, f"{'.' * node.level}{node.module or ''}.{alias.name}"


class _Bound(NamedTuple):
    """What binds names in a file, in whatever scope."""

    imports: dict[str, set[str]]
    """The dotted paths of which a name is an import."""
    otherwise: frozenset[str]
    """Names that something else binds or deletes, or that are said to be another scope's."""
    stars: tuple[int, ...]
    """The lines of `from m import *`."""


@once_for_each
def _bound_in_file(tree: ast.AST) -> _Bound:
    imports: dict[str, set[str]] = {}
    otherwise: set[str] = set()
    stars = []
    for node in ast.walk(tree):
        for local, path in _imported(node):
            imports.setdefault(local, set()).add(path)
            if local == "*":
                stars.append(node.lineno)  # type: ignore[attr-defined]
        otherwise.update(_bound_by(node))
    return _Bound(imports, frozenset(otherwise), tuple(stars))


def _bound_by(node: ast.AST) -> Iterator[str]:
    """The names that a node binds, unless it is an import."""
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            yield node.id
    elif isinstance(node, ast.Global | ast.Nonlocal):
        yield from node.names
    elif isinstance(node, ast.arg):
        yield node.arg
    elif not isinstance(node, ast.alias):
        # definitions, `except ... as name`, patterns, parameters of types
        for field in ("name", "rest"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                yield value


@once_for_each
def _imported_in_scope(scope: ast.AST) -> frozenset[str]:
    """The names that imports bind in a scope, the scopes inside it left out."""
    found: set[str] = set()
    pending = list(ast.iter_child_nodes(scope))
    while pending:
        node = pending.pop()
        found.update(local for local, _ in _imported(node))
        if not isinstance(node, Scope):
            pending.extend(ast.iter_child_nodes(node))
    return frozenset(found)
