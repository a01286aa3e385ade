"""Lowering of operators: arithmetic, comparison, `and`, `or`, `not`, and the conditional."""

from __future__ import annotations

from typing import Any

import libcst as cst

from torchlayout.program import nodes
from torchlayout.program.walk import EXPRESSIONS, Walk

_OPERATORS: dict[type, str] = {
    cst.Add: "+", cst.Subtract: "-", cst.Multiply: "*", cst.Divide: "/", cst.FloorDivide: "//", cst.Modulo: "%",
    cst.Power: "**", cst.MatrixMultiply: "@", cst.LeftShift: "<<", cst.RightShift: ">>", cst.BitAnd: "&",
    cst.BitOr: "|", cst.BitXor: "^", cst.And: "and", cst.Or: "or", cst.Minus: "-", cst.Plus: "+",
    cst.BitInvert: "~", cst.Not: "not", cst.LessThan: "<", cst.LessThanEqual: "<=", cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=", cst.Equal: "==", cst.In: "in", cst.NotIn: "not in", cst.Is: "is",
    cst.IsNot: "is not", cst.NotEqual: "!=",
}  # fmt: skip


def _binary(walk: Walk, node: cst.BinaryOperation) -> nodes.Expr:
    # A long sum is nested to the left: go down it without recursion.
    spine: list[cst.BinaryOperation] = []
    leftmost: Any = node
    while type(leftmost) is cst.BinaryOperation:
        spine.append(leftmost)
        leftmost = leftmost.left
    left = walk.expr(leftmost)
    for operation in reversed(spine):
        word = _OPERATORS[type(operation.operator)]
        span = walk.take(word)
        left = nodes.Binary(word, left, walk.expr(operation.right), span)
    return left


def _boolean(walk: Walk, node: cst.BooleanOperation) -> nodes.Expr:
    kind = type(node.operator)
    word = _OPERATORS[kind]
    rest: list[cst.BaseExpression] = []
    leftmost: Any = node
    while type(leftmost) is cst.BooleanOperation and type(leftmost.operator) is kind:
        rest.append(leftmost.right)
        leftmost = leftmost.left
    values = [walk.expr(leftmost)]
    span = None
    for value in reversed(rest):
        place = walk.take(word)
        span = span or place
        values.append(walk.expr(value))
    return nodes.BoolOp(word, tuple(values), span or values[0].span)


def _unary(walk: Walk, node: cst.UnaryOperation) -> nodes.Expr:
    word = _OPERATORS[type(node.operator)]
    span = walk.take(word)
    return nodes.Unary(word, walk.expr(node.expression), span)


def _comparison(walk: Walk, node: cst.Comparison) -> nodes.Expr:
    left = walk.expr(node.left)
    rest = []
    span = None
    for comparison in node.comparisons:
        word = _OPERATORS[type(comparison.operator)]
        first, _, second = word.partition(" ")
        place = walk.take(first)
        if second:
            end = walk.take(second)
            place = nodes.Span(place.line, place.column, end.end_line, end.end_column)
        span = span or place
        rest.append((word, walk.expr(comparison.comparator)))
    return nodes.Compare(left, tuple(rest), span or left.span)


def _conditional(walk: Walk, node: cst.IfExp) -> nodes.Expr:
    body = walk.expr(node.body)
    span = walk.take("if")
    test = walk.expr(node.test)
    walk.skip_to("else")
    return nodes.Conditional(test, body, walk.expr(node.orelse), span)


EXPRESSIONS.update(
    {
        cst.BinaryOperation: _binary,
        cst.BooleanOperation: _boolean,
        cst.UnaryOperation: _unary,
        cst.Comparison: _comparison,
        cst.IfExp: _conditional,
    }
)
