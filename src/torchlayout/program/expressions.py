"""Lowering of libcst expressions. Imported only once a piece of source is lowered, for it imports libcst.

Each function takes the walk and one libcst node, visits the node's parts in the order in which they stand in
the text (the cursor counts on it), and returns the lowered node.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import libcst as cst

from torchlayout.program import literals, nodes, operators
from torchlayout.program.walk import EXPRESSIONS, Lower, Walk, identifier

# ---------------------------------------------------------------- names, literals
_SINGLETONS = {"None": None, "True": True, "False": False}


def _name(walk: Walk, node: cst.Name) -> nodes.Expr:
    word = node.value
    span = walk.take(word)
    if word in _SINGLETONS:
        return nodes.Const(_SINGLETONS[word], span)
    return nodes.Name(identifier(word), span)


def _attribute(walk: Walk, node: cst.Attribute) -> nodes.Expr:
    value = walk.expr(node.value)
    word = node.attr.value
    return nodes.Attribute(value, identifier(word), walk.take(word))


def _ellipsis(walk: Walk, node: cst.Ellipsis) -> nodes.Expr:
    return nodes.Const(..., walk.take("..."))


# ---------------------------------------------------------------- calls, subscripts
def _call(walk: Walk, node: cst.Call) -> nodes.Expr:
    func = walk.expr(node.func)
    return nodes.Call(func, arguments(walk, node.args) if node.args else (), func.span)


def arguments(walk: Walk, args: Iterable[cst.Arg]) -> tuple[nodes.Arg, ...]:
    """The arguments of a call, or the bases and keywords of a class."""
    lowered = []
    for arg in args:
        keyword = arg.keyword
        name = None
        if keyword is not None:
            name = identifier(keyword.value)
            walk.skip_to(keyword.value)
        lowered.append(nodes.Arg(walk.expr(arg.value), name, len(arg.star)))
    return tuple(lowered)


def _subscript(walk: Walk, node: cst.Subscript) -> nodes.Expr:
    value = walk.expr(node.value)
    span = walk.take("[")
    elements = node.slice
    items = tuple([_index(walk, element.slice) for element in elements])
    if len(items) == 1 and not isinstance(elements[0].comma, cst.Comma) and not isinstance(items[0], nodes.Starred):
        return nodes.Subscript(value, items[0], span)
    return nodes.Subscript(value, nodes.Sequence("tuple", items, items[0].span), span)


def _index(walk: Walk, node: Any) -> nodes.Expr:
    if isinstance(node, cst.Index):
        if getattr(node, "star", None):  # PEP 646
            span = walk.take("*")
            return nodes.Starred(walk.expr(node.value), span)
        return walk.expr(node.value)
    lower = walk.expr(node.lower) if node.lower is not None else None
    span = walk.take(":")
    upper = walk.expr(node.upper) if node.upper is not None else None
    if not isinstance(node.second_colon, cst.MaybeSentinel):
        walk.skip_to(":")
    step = walk.expr(node.step) if node.step is not None else None
    return nodes.Slice(lower, upper, step, span)


# ---------------------------------------------------------------- displays, comprehensions
def _tuple(walk: Walk, node: cst.Tuple) -> nodes.Expr:
    items = tuple([walk.expr(element) for element in node.elements])
    return nodes.Sequence("tuple", items, items[0].span if items else walk.take("("))


def _list(walk: Walk, node: cst.List) -> nodes.Expr:
    span = walk.take("[")
    return nodes.Sequence("list", tuple([walk.expr(element) for element in node.elements]), span)


def _set(walk: Walk, node: cst.Set) -> nodes.Expr:
    span = walk.take("{")
    return nodes.Sequence("set", tuple([walk.expr(element) for element in node.elements]), span)


def _element(walk: Walk, node: cst.Element) -> nodes.Expr:
    return walk.expr(node.value)


def _starred(walk: Walk, node: cst.StarredElement) -> nodes.Expr:
    span = walk.take("*")
    return nodes.Starred(walk.expr(node.value), span)


def _dict(walk: Walk, node: cst.Dict) -> nodes.Expr:
    span = walk.take("{")
    items: list[tuple[nodes.Expr | None, nodes.Expr]] = []
    for element in node.elements:
        if isinstance(element, cst.DictElement):
            key = walk.expr(element.key)
            items.append((key, walk.expr(element.value)))
        else:
            walk.skip_to("**")
            items.append((None, walk.expr(element.value)))
    return nodes.Mapping(tuple(items), span)


def _comprehension(kind: str, bracket: str | None) -> Lower:
    def lower(walk: Walk, node: Any) -> nodes.Expr:
        span = walk.take(bracket) if bracket else None
        element = walk.expr(node.elt)
        return nodes.Comprehension(kind, element, _clauses(walk, node.for_in), span or element.span)

    return lower


def _dict_comprehension(walk: Walk, node: cst.DictComp) -> nodes.Expr:
    span = walk.take("{")
    key = walk.expr(node.key)
    element = nodes.Sequence("tuple", (key, walk.expr(node.value)), key.span)
    return nodes.Comprehension("dict", element, _clauses(walk, node.for_in), span)


def _clauses(walk: Walk, clause: cst.CompFor | None) -> tuple[nodes.Clause, ...]:
    clauses = []
    while clause is not None:
        target = walk.expr(clause.target)
        iterable = walk.expr(clause.iter)
        clauses.append(nodes.Clause(target, iterable, tuple([walk.expr(condition.test) for condition in clause.ifs])))
        clause = clause.inner_for_in
    return tuple(clauses)


# ---------------------------------------------------------------- the rest
def _lambda(walk: Walk, node: cst.Lambda) -> nodes.Expr:
    span = walk.take("lambda")
    outer = walk.yields
    params = parameters(walk, node.params)
    body = walk.expr(node.body)
    walk.yields = outer
    return nodes.Lambda(params, body, span)


def parameters(walk: Walk, node: cst.Parameters) -> nodes.Params:
    """The parameters of a function or lambda, in order."""
    found = [_parameter(walk, param, "positional") for param in (*node.posonly_params, *node.params)]
    if isinstance(node.star_arg, cst.Param):
        found.append(_parameter(walk, node.star_arg, "*"))
    found.extend(_parameter(walk, param, "keyword") for param in node.kwonly_params)
    if node.star_kwarg is not None:
        found.append(_parameter(walk, node.star_kwarg, "**"))
    return tuple(found)


def _parameter(walk: Walk, node: cst.Param, kind: str) -> nodes.Param:
    name, span = walk.name(node.name)
    annotation = walk.expr(node.annotation.annotation) if node.annotation is not None else None
    default = walk.expr(node.default) if node.default is not None else None
    return nodes.Param(name, kind, default, annotation, span)


def _walrus(walk: Walk, node: cst.NamedExpr) -> nodes.Expr:
    target = walk.expr(node.target)
    span = walk.take(":=")
    value = walk.expr(node.value)
    if isinstance(target, nodes.Name):
        return nodes.Walrus(target, value, span)
    return nodes.Opaque((value,), span)


def _yield(walk: Walk, node: cst.Yield) -> nodes.Expr:
    walk.yields = True
    span = walk.take("yield")
    if isinstance(node.value, cst.From):
        return nodes.Yield(walk.expr(node.value.item), True, span)
    return nodes.Yield(walk.expr(node.value) if node.value is not None else None, False, span)


def _await(walk: Walk, node: cst.Await) -> nodes.Expr:
    span = walk.take("await")
    return nodes.Await(walk.expr(node.expression), span)


EXPRESSIONS.update(
    {
        cst.Name: _name,
        cst.Attribute: _attribute,
        cst.Ellipsis: _ellipsis,
        cst.Call: _call,
        cst.Subscript: _subscript,
        cst.Tuple: _tuple,
        cst.List: _list,
        cst.Set: _set,
        cst.Element: _element,
        cst.StarredElement: _starred,
        cst.Dict: _dict,
        cst.ListComp: _comprehension("list", "["),
        cst.SetComp: _comprehension("set", "{"),
        cst.GeneratorExp: _comprehension("generator", None),
        cst.DictComp: _dict_comprehension,
        cst.Lambda: _lambda,
        cst.NamedExpr: _walrus,
        cst.Yield: _yield,
        cst.Await: _await,
    }
)

__all__ = ["EXPRESSIONS", "Walk", "arguments", "identifier", "literals", "operators", "parameters"]
