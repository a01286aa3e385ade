"""Lowering of libcst statements. Imported only once a piece of source is lowered, for it imports libcst."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import libcst as cst

from torchlayout.program import nodes
from torchlayout.program.expressions import arguments, parameters
from torchlayout.program.patterns import lower_pattern
from torchlayout.program.tokens import BadTokens
from torchlayout.program.walk import Walk

LowerStatement: TypeAlias = "Callable[[Walk, Any], nodes.Stmt | None]"


def block(walk: Walk, body: Iterable[cst.CSTNode]) -> nodes.Block:
    """A sequence of statements; `pass` leaves nothing."""
    statements: list[nodes.Stmt] = []
    for node in body:
        if type(node) is cst.SimpleStatementLine:
            for small in node.body:
                statement = STATEMENTS[type(small)](walk, small)
                if statement is not None:
                    statements.append(statement)
        else:
            statement = STATEMENTS[type(node)](walk, node)
            if statement is not None:
                statements.append(statement)
    return tuple(statements)


def _suite(walk: Walk, suite: cst.BaseSuite) -> nodes.Block:
    return block(walk, suite.body)


def _orelse(walk: Walk, node: cst.Else | cst.Finally | None) -> nodes.Block:
    return () if node is None else block(walk, node.body.body)


# ---------------------------------------------------------------- simple statements
def _evaluate(walk: Walk, node: cst.Expr) -> nodes.Stmt:
    value = walk.expr(node.value)
    return nodes.Evaluate(value, value.span)


def _assign(walk: Walk, node: cst.Assign) -> nodes.Stmt:
    targets = tuple([walk.expr(target.target) for target in node.targets])
    return nodes.Assign(targets, walk.expr(node.value), None, targets[0].span)


def _annotated(walk: Walk, node: cst.AnnAssign) -> nodes.Stmt:
    target = walk.expr(node.target)
    annotation = walk.expr(node.annotation.annotation)
    value = walk.expr(node.value) if node.value is not None else None
    return nodes.Assign((target,), value, annotation, target.span)


_AUGMENTED: dict[type, str] = {
    cst.AddAssign: "+", cst.SubtractAssign: "-", cst.MultiplyAssign: "*", cst.MatrixMultiplyAssign: "@",
    cst.DivideAssign: "/", cst.FloorDivideAssign: "//", cst.ModuloAssign: "%", cst.PowerAssign: "**",
    cst.LeftShiftAssign: "<<", cst.RightShiftAssign: ">>", cst.BitAndAssign: "&", cst.BitOrAssign: "|",
    cst.BitXorAssign: "^",
}  # fmt: skip


def _augmented(walk: Walk, node: cst.AugAssign) -> nodes.Stmt:
    target = walk.expr(node.target)
    op = _AUGMENTED[type(node.operator)]
    span = walk.take(op + "=")
    return nodes.AugAssign(target, op, walk.expr(node.value), span)


def _return(walk: Walk, node: cst.Return) -> nodes.Stmt:
    span = walk.take("return")
    return nodes.Return(walk.expr(node.value) if node.value is not None else None, span)


def _raise(walk: Walk, node: cst.Raise) -> nodes.Stmt:
    span = walk.take("raise")
    parts = [] if node.exc is None else [walk.expr(node.exc)]
    if node.cause is not None:
        parts.append(walk.expr(node.cause.item))
    return nodes.Raise(tuple(parts), span)


def _jump(kind: str) -> LowerStatement:
    return lambda walk, node: nodes.Jump(kind, walk.take(kind))


def _pass(walk: Walk, node: cst.Pass) -> None:
    walk.skip_to("pass")


def _assert(walk: Walk, node: cst.Assert) -> nodes.Stmt:
    span = walk.take("assert")
    test = walk.expr(node.test)
    return nodes.Assert(test, walk.expr(node.msg) if node.msg is not None else None, span)


def _delete(walk: Walk, node: cst.Del) -> nodes.Stmt:
    span = walk.take("del")
    target = walk.expr(node.target)
    if isinstance(target, nodes.Sequence):
        return nodes.Delete(target.items, span)
    return nodes.Delete((target,), span)


def _scope(kind: str) -> LowerStatement:
    def lower(walk: Walk, node: cst.Global | cst.Nonlocal) -> nodes.Stmt:
        span = walk.take(kind)
        return nodes.Scope(kind, tuple([walk.name(item.name)[0] for item in node.names]), span)

    return lower


def _import(walk: Walk, node: cst.Import) -> nodes.Stmt:
    span = walk.take("import")
    bindings = []
    for alias in node.names:
        path = _dotted(walk, alias.name)
        local = _alias(walk, alias)
        bindings.append((local, path) if local else (path.partition(".")[0],) * 2)
    return nodes.Import(tuple(bindings), span)


def _import_from(walk: Walk, node: cst.ImportFrom) -> nodes.Stmt:
    """`from m import *` binds the name "*" to "m"."""
    span = walk.take("from")
    module = "." * len(node.relative) + (_dotted(walk, node.module) if node.module is not None else "")
    walk.skip_to("import")
    if isinstance(node.names, cst.ImportStar):
        return nodes.Import((("*", module),), span)
    prefix = module if not module or module.endswith(".") else module + "."
    bindings = []
    for alias in node.names:
        name = _dotted(walk, alias.name)
        bindings.append((_alias(walk, alias) or name, prefix + name))
    return nodes.Import(tuple(bindings), span)


def _dotted(walk: Walk, node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Attribute):
        head = _dotted(walk, node.value)
        return f"{head}.{walk.name(node.attr)[0]}"
    if isinstance(node, cst.Name):
        return walk.name(node)[0]
    raise BadTokens("import of something that is no name")


def _alias(walk: Walk, alias: cst.ImportAlias) -> str | None:
    if alias.asname is None or not isinstance(alias.asname.name, cst.Name):
        return None
    walk.skip_to("as")
    return walk.name(alias.asname.name)[0]


def _type_alias(walk: Walk, node: Any) -> nodes.Stmt:
    """`type X = value`: the value is evaluated only when somebody asks, so X is something we do not follow."""
    walk.skip_to("type")
    name = walk.expr(node.name)
    _type_parameters(walk, node.type_parameters)
    walk.expr(node.value)
    return nodes.Assign((name,), nodes.Opaque((), name.span), None, name.span)


def _type_parameters(walk: Walk, node: Any) -> None:
    """Go past `[T: bound = default, *Ts, **P]`; bounds and defaults are evaluated lazily, if at all."""
    if node is None:
        return
    walk.skip_to("[")
    for item in node.params:
        walk.skip_to(item.param.name.value)
        if getattr(item.param, "bound", None) is not None:
            walk.expr(item.param.bound)
        if getattr(item, "default", None) is not None:
            walk.expr(item.default)


# ---------------------------------------------------------------- compound statements
def _if(walk: Walk, node: cst.If, keyword: str = "if") -> nodes.Stmt:
    span = walk.take(keyword)
    test = walk.expr(node.test)
    body = _suite(walk, node.body)
    orelse = node.orelse
    if isinstance(orelse, cst.If):
        return nodes.If(test, body, (_if(walk, orelse, "elif"),), span)
    return nodes.If(test, body, _orelse(walk, orelse), span)


def _for(walk: Walk, node: cst.For) -> nodes.Stmt:
    span = walk.take("for")
    target = walk.expr(node.target)
    iterable = walk.expr(node.iter)
    body = _suite(walk, node.body)
    return nodes.For(target, iterable, body, _orelse(walk, node.orelse), span)


def _while(walk: Walk, node: cst.While) -> nodes.Stmt:
    span = walk.take("while")
    test = walk.expr(node.test)
    body = _suite(walk, node.body)
    return nodes.While(test, body, _orelse(walk, node.orelse), span)


def _try(walk: Walk, node: cst.Try | cst.TryStar) -> nodes.Stmt:
    span = walk.take("try")
    body = _suite(walk, node.body)
    handlers = []
    for handler in node.handlers:
        walk.skip_to("except")
        kind = walk.expr(handler.type) if handler.type is not None else None
        name = None
        if handler.name is not None and isinstance(handler.name.name, cst.Name):
            walk.skip_to("as")
            name = walk.name(handler.name.name)[0]
        handlers.append(nodes.Handler(kind, name, _suite(walk, handler.body)))
    orelse = _orelse(walk, node.orelse)
    return nodes.Try(body, tuple(handlers), orelse, _orelse(walk, node.finalbody), span)


def _with(walk: Walk, node: cst.With) -> nodes.Stmt:
    span = walk.take("with")
    items = []
    for item in node.items:
        value = walk.expr(item.item)
        items.append((value, walk.expr(item.asname.name) if item.asname is not None else None))
    return nodes.With(tuple(items), _suite(walk, node.body), span)


def _match(walk: Walk, node: cst.Match) -> nodes.Stmt:
    span = walk.take("match")
    subject = walk.expr(node.subject)
    cases = []
    for case in node.cases:
        walk.skip_to("case")
        pattern = lower_pattern(walk, case.pattern)
        guard = walk.expr(case.guard) if case.guard is not None else None
        body = _suite(walk, case.body)
        cases.append(nodes.Case(tuple(pattern.names), pattern.value, pattern.irrefutable, guard, body))
    return nodes.Match(subject, tuple(cases), span)


def _function(walk: Walk, node: cst.FunctionDef) -> nodes.Stmt:
    decorators = tuple([walk.expr(decorator.decorator) for decorator in node.decorators])
    walk.skip_to("def")
    name, span = walk.name(node.name)
    _type_parameters(walk, getattr(node, "type_parameters", None))
    outer = walk.yields
    params = parameters(walk, node.params)
    returns = walk.expr(node.returns.annotation) if node.returns is not None else None
    walk.yields = False
    body = _suite(walk, node.body)
    generator, walk.yields = walk.yields, outer
    return nodes.Function(name, params, body, decorators, returns, node.asynchronous is not None, generator, span)


def _class(walk: Walk, node: cst.ClassDef) -> nodes.Stmt:
    decorators = tuple([walk.expr(decorator.decorator) for decorator in node.decorators])
    walk.skip_to("class")
    name, span = walk.name(node.name)
    _type_parameters(walk, getattr(node, "type_parameters", None))
    bases = arguments(walk, (*node.bases, *node.keywords))
    return nodes.Class(name, bases, _suite(walk, node.body), decorators, span)


class _Dispatch(dict[type, LowerStatement]):
    def __missing__(self, kind: type) -> LowerStatement:
        raise BadTokens(f"no lowering for {kind.__name__}")


STATEMENTS: dict[type, LowerStatement] = _Dispatch(
    {
        cst.Expr: _evaluate,
        cst.Assign: _assign,
        cst.AnnAssign: _annotated,
        cst.AugAssign: _augmented,
        cst.Return: _return,
        cst.Raise: _raise,
        cst.Break: _jump("break"),
        cst.Continue: _jump("continue"),
        cst.Pass: _pass,
        cst.Assert: _assert,
        cst.Del: _delete,
        cst.Global: _scope("global"),
        cst.Nonlocal: _scope("nonlocal"),
        cst.Import: _import,
        cst.ImportFrom: _import_from,
        cst.If: _if,
        cst.For: _for,
        cst.While: _while,
        cst.Try: _try,
        cst.TryStar: _try,
        cst.With: _with,
        cst.Match: _match,
        cst.FunctionDef: _function,
        cst.ClassDef: _class,
    }
)
if hasattr(cst, "TypeAlias"):  # libcst 1.1 and later
    STATEMENTS[cst.TypeAlias] = _type_alias
