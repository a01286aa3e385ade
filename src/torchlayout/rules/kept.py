"""Values that are kept where the interpreter does not follow them.

Vocabulary: *held* (a name of the function that may hold a value, or something made with it). The interpreter records
who uses a value; a name that a `lambda`, a class body, a default or `locals()` takes along is used at another time,
which it does not record. What is told here is told from the text alone, whatever the order of statements.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlayout.interp.trace import Site
from torchlayout.rules.seen import Seen
from torchlayout.rules.way import way_to, way_to_subscript

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
    if any(_takes_all(node) for node in ast.walk(scope)):
        return True
    statement = next(node for node in reversed(way) if isinstance(node, ast.stmt))
    held = _held(scope, statement, way[-1])
    return bool(held) and any(_keeps(node, held) for node in _inside(scope))


def _takes_all(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TAKE_ALL


def _inside(scope: Scope) -> Iterator[ast.AST]:
    for statement in scope.body:
        yield from ast.walk(statement)


# ---------------------------------------------------------------- who holds it
def _held(scope: Scope, statement: ast.stmt, call: ast.AST) -> set[str]:
    """The names that the statement of a call binds, and those that are bound with the help of such a name."""
    held: set[str] = set()
    for value, targets in (binding for node in ast.walk(statement) for binding in _bindings(node)):
        if any(node is call for node in ast.walk(value)):
            held |= targets
    bindings = [binding for node in _inside(scope) for binding in _bindings(node)]
    while True:
        more = {name for value, names in bindings if _mentions(value, held) for name in names} - held
        if not more:
            return held
        held |= more


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


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))


# ---------------------------------------------------------------- who keeps it
def _keeps(node: ast.AST, held: set[str]) -> bool:
    """Whether a node takes a held name along."""
    parts: list[ast.expr | None] = []
    match node:
        case ast.Lambda() | ast.ClassDef():
            return _mentions(node, held)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            outside = [node.args, *node.decorator_list, *([node.returns] if node.returns else ())]
            return any(_mentions(part, held) for part in outside)
        case ast.Nonlocal(names=names) | ast.Global(names=names):
            return not held.isdisjoint(names)
        case ast.Starred(value=value):
            return isinstance(value, ast.Name) and value.id in held
        case ast.Call():
            parts = [*node.args, *(keyword.value for keyword in node.keywords)]
        case ast.Assign() | ast.Return():
            parts = [node.value]
        case ast.Tuple() | ast.List():
            parts = [*node.elts]
    return any(isinstance(part, ast.Attribute) and _is_method_of(part, held) for part in parts)


def _is_method_of(node: ast.Attribute, held: set[str]) -> bool:
    """Whether `x.name` is a method of a held x, to be called later."""
    return node.attr not in DATA and isinstance(node.value, ast.Name) and node.value.id in held
