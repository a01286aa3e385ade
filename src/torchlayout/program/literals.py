"""Lowering of numbers and strings."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

import libcst as cst

from torchlayout.program import nodes
from torchlayout.program.walk import EXPRESSIONS, Walk


def _number(walk: Walk, node: cst.Integer | cst.Float | cst.Imaginary) -> nodes.Expr:
    word = node.value
    span = walk.take(word)
    try:
        return nodes.Const(int(word) if word.isdecimal() and word.isascii() else ast.literal_eval(word), span)
    except (ValueError, SyntaxError, OverflowError):  # more digits than Python converts
        return nodes.Opaque((), span)


def _string(walk: Walk, node: cst.SimpleString) -> nodes.Expr:
    word = node.value
    span = walk.cursor.take_text(word)
    quote = word[:3] if word.startswith(('"""', "'''")) else word[:1]
    if quote[0] in "\"'" and "\\" not in word:
        return nodes.Const(word[len(quote) : -len(quote)], span)
    try:
        return nodes.Const(_evaluated(word), span)
    except (ValueError, SyntaxError):  # a bad escape
        return nodes.Opaque((), span)


def _evaluated(word: str) -> object:
    import warnings

    with warnings.catch_warnings():  # "\d" in somebody's text is none of our business
        warnings.simplefilter("ignore")
        return ast.literal_eval(word)


def _concatenated(walk: Walk, node: cst.ConcatenatedString) -> nodes.Expr:
    parts: list[nodes.Expr] = []
    rest: Any = node
    while isinstance(rest, cst.ConcatenatedString):  # nested to the right, as long as the text has pieces
        parts.append(walk.expr(rest.left))
        rest = rest.right
    parts.append(walk.expr(rest))
    span = parts[0].span
    texts = [part.value for part in parts if isinstance(part, nodes.Const)]
    if len(texts) == len(parts):
        if all(isinstance(text, str) for text in texts):
            return nodes.Const("".join(map(str, texts)), span)
        if all(isinstance(text, bytes) for text in texts):
            return nodes.Const(b"".join(text for text in texts if isinstance(text, bytes)), span)
    return nodes.Opaque(tuple(part for part in parts if not isinstance(part, nodes.Const)), span)


def _formatted(walk: Walk, node: Any) -> nodes.Expr:
    span = walk.take(node.start)
    return nodes.Opaque(tuple(_fields(walk, node.parts)), span)


def _fields(walk: Walk, parts: Iterable[Any] | None) -> list[nodes.Expr]:
    found: list[nodes.Expr] = []
    for part in parts or ():
        expression = getattr(part, "expression", None)
        if expression is not None:
            found.append(walk.expr(expression))
            found.extend(_fields(walk, part.format_spec))
    return found


EXPRESSIONS.update(
    {
        cst.Integer: _number,
        cst.Float: _number,
        cst.Imaginary: _number,
        cst.SimpleString: _string,
        cst.ConcatenatedString: _concatenated,
        cst.FormattedString: _formatted,
    }
)
if hasattr(cst, "TemplatedString"):  # libcst 1.8.3 and later
    EXPRESSIONS[cst.TemplatedString] = _formatted
