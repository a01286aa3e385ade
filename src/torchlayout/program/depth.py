"""How deeply a piece of source is nested, measured on its `ast` before libcst sees it.

libcst's parser takes time quadratic in the depth of an expression, and overflows the native stack (which no
`except` catches) on very deep ones: some 3,000 levels of operators, or 10,000 operands of one `and`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from torchlayout.program.source import Source

MAX_DEPTH = 120
"""Levels of expressions and blocks inside one another that are followed. Lowering and interpreting recurse a
few Python frames a level, and Python allows 1000 in all."""
MAX_CHAIN = 500
"""Operands of `and` and `or` in one statement: libcst nests them although `ast` does not."""
_WORD = re.compile(r"\w+|[^\w\s]")


class CannotLower(Exception):
    """A piece of source that `ast` accepts is not lowered: libcst refuses it, or it is nested too deeply or
    too long. Callers treat what it would have said as unknown."""


def check_depth(source: Source, statements: Iterable[ast.stmt]) -> None:
    """Raise `CannotLower` where expressions or blocks are nested deeper than `MAX_DEPTH`.

    Blocks are walked; of expressions only those with enough words to be deep.
    """
    pending: list[tuple[Iterator[ast.stmt], int]] = [(iter(statements), 1)]
    while pending:
        body, depth = pending[-1]
        for statement in body:
            blocks = _blocks(statement)
            if blocks:
                if depth >= MAX_DEPTH:
                    raise CannotLower(f"line {statement.lineno}: blocks nested deeper than {MAX_DEPTH}")
                if _may_be_deep(source, statement, blocks[0][0]):
                    _check_expressions(statement, depth)
                pending.extend((iter(inner), depth + 1) for inner in blocks)
                break
            if _may_be_deep(source, statement, None):
                _check_expressions(statement, depth)
        else:
            pending.pop()


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    body = getattr(statement, "body", None)
    if body is None:
        cases = getattr(statement, "cases", None)
        return [case.body for case in cases] if cases else []
    blocks = [body]
    for name in ("orelse", "finalbody"):
        inner = getattr(statement, name, None)
        if inner:
            blocks.append(inner)
    blocks.extend(handler.body for handler in getattr(statement, "handlers", ()))
    return blocks


def _may_be_deep(source: Source, statement: ast.stmt, first: ast.stmt | None) -> bool:
    """Whether a simple statement, or the head of a compound one, has enough words to be deep."""
    last_line = (statement.end_lineno or statement.lineno) if first is None else first.lineno
    text = source.lines(first_line(statement), last_line)
    return len(text) > MAX_DEPTH and len(_WORD.findall(text)) > MAX_DEPTH


def _check_expressions(statement: ast.stmt, depth: int) -> None:
    """Measure the expressions of one statement, its inner blocks left out."""
    level: list[ast.AST] = [statement]
    operands = 0
    while level:
        if depth > MAX_DEPTH:
            raise CannotLower(f"line {statement.lineno}: expressions nested deeper than {MAX_DEPTH}")
        depth += 1
        following: list[ast.AST] = []
        for node in level:
            if isinstance(node, ast.BoolOp):
                operands += len(node.values)
            if operands > MAX_CHAIN:
                raise CannotLower(f"line {statement.lineno}: more than {MAX_CHAIN} operands of and/or")
            following.extend(child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt))
        level = following


def first_line(statement: ast.stmt) -> int:
    """The line where a statement starts, its decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])
