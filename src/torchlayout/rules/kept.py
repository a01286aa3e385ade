"""Values that are kept where the interpreter does not follow them.

Vocabulary: *held* (a name of the function that may hold a value, or something made with it). The interpreter records
who uses a value; a name that a `lambda`, a class body, a default or `locals()` takes along is used at another time,
which it does not record. What is told here is told from the text alone, whatever the order of statements.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from torchlayout.interp.trace import Site
from torchlayout.rules.seen import Seen
from torchlayout.rules.way import once_for_each, way_to, way_to_subscript

TAKE_ALL = frozenset({"dir", "eval", "exec", "globals", "locals", "vars"})
"""Builtins that reach names which stand nowhere in their arguments."""

DATA = frozenset({
    "T", "H", "mT", "mH", "data", "device", "dtype", "grad", "imag", "is_cuda", "itemsize", "layout", "nbytes", "ndim",
    "real", "requires_grad", "shape",
})  # fmt: skip
"""Attributes of tensors that are no methods; a method that is not called at once is kept."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = Function | ast.Module


def may_be_kept_unseen(seen: Seen, site: Site) -> bool:
    """Whether what a site of this file makes may outlive its function, or be used in it, without a recorded use."""
    call = seen.unit.call_at(site.span)
    if call is not None:
        steps = way_to(seen.unit.tree, seen.unit.source, call.call)
    elif site.name == "[]":
        steps = way_to_subscript(seen.unit.tree, seen.unit.source, site.span)
    else:
        return False
    way = [step.node for step in steps]
    start = max((at for at, node in enumerate(way) if isinstance(node, Scope)), default=-1)
    if start < 0:
        return False
    if any(isinstance(node, ast.Lambda | ast.ClassDef | ast.arguments) for node in way[start:]):
        return True
    scope = way[start]
    assert isinstance(scope, Scope)
    kept = _kept_names(scope)
    if kept is None:
        return True
    statement = next(at for at in range(len(way) - 1, -1, -1) if isinstance(way[at], ast.stmt))
    return not kept.isdisjoint(_held(way[statement:]))


@once_for_each
def _kept_names(scope: Scope) -> frozenset[str] | None:
    """The names of a scope that something takes along, and those with the help of which such a name is bound. None
    where any name may be taken."""
    if any(_takes_all(node) for node in ast.walk(scope)):
        return None
    kept: set[str] = set()
    makers: dict[str, set[str]] = {}
    for node in _inside(scope):
        kept.update(_taken(node))
        for value, targets in _bindings(node):
            helping = _mentioned(value) if targets else set()
            for target in targets:
                makers.setdefault(target, set()).update(helping)
    pending = list(kept)
    while pending:
        more = makers.get(pending.pop(), set()) - kept
        kept |= more
        pending.extend(more)
    return frozenset(kept)


def _takes_all(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TAKE_ALL


def _inside(scope: Scope) -> Iterator[ast.AST]:
    for statement in scope.body:
        yield from ast.walk(statement)


# ---------------------------------------------------------------- who holds it
def _held(way: Sequence[ast.AST]) -> set[str]:
    """The names that the statement of a call binds to what it makes: the way leads from the statement to the call."""
    held: set[str] = set()
    for node in way:
        for value, targets in _bindings(node):
            if any(part is value for part in way):
                held |= targets
    return held


def _bindings(node: ast.AST) -> Iterator[tuple[ast.AST, set[str]]]:
    """What a node binds names to."""
    if isinstance(node, ast.Assign):
        yield node.value, {name for target in node.targets for name in _stored(target)}
    elif isinstance(node, ast.AnnAssign | ast.AugAssign) and node.value is not None:
        yield node.value, _stored(node.target)
    elif isinstance(node, ast.For | ast.AsyncFor):
        yield node.iter, _stored(node.target)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield node.context_expr, _stored(node.optional_vars)
    elif isinstance(node, ast.Match):
        yield node.subject, {name for part in ast.walk(node) if (name := getattr(part, "name", None))}
    elif isinstance(node, ast.NamedExpr):
        yield node.value, _stored(node.target)


def _stored(target: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _mentioned(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


# ---------------------------------------------------------------- who keeps it
def _taken(node: ast.AST) -> set[str]:
    """The names that a node takes along."""
    parts: list[ast.expr | None] = []
    match node:
        case ast.Lambda() | ast.ClassDef():
            return _mentioned(node)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            outside = [node.args, *node.decorator_list, *([node.returns] if node.returns else ())]
            return {name for part in outside for name in _mentioned(part)}
        case ast.Nonlocal(names=names) | ast.Global(names=names):
            return set(names)
        case ast.Starred(value=ast.Name(id=name)):
            return {name}
        case ast.Call():
            parts = [*node.args, *(keyword.value for keyword in node.keywords)]
        case ast.Assign() | ast.Return():
            parts = [node.value]
        case ast.Tuple() | ast.List():
            parts = [*node.elts]
    return {name for name in map(_whose_method, parts) if name is not None}


def _whose_method(node: ast.expr | None) -> str | None:
    """The x of an `x.name` that may be a method, to be called later."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if attribute not in DATA:
            return name
    return None
