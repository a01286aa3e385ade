"""How deeply a piece of source is nested, measured on its `ast` before libcst sees it.

libcst's parser (1.9) takes time quadratic in the depth of an expression and exponential in the brackets of a
`match` pattern or of `del`, and it overflows the native stack, which no `except` catches, on some 3,000 levels
of operators, 10,000 operands of one `and`, 50,000 dots of one import.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from torchlayout.program.source import Source

MAX_DEPTH = 120
"""Levels of expressions and blocks inside one another that are followed. Lowering and interpreting recurse a
few Python frames a level, and Python allows 1000 in all."""
MAX_CHAIN = 500
"""Operands of `and` and `or` in one statement: libcst nests them although `ast` does not."""
MAX_BRACKETS = 8
"""Brackets inside one another in a `match` pattern or a `del`."""
MAX_WORK = 200_000
"""What deep statements of one file may cost libcst together, in units of some ten microseconds."""
FREE_DEPTH, FREE_BRACKETS = 30, 3
"""Up to here what a statement costs libcst is taken for no more than its length."""

# Every level of an expression needs one of these, in libcst's tree too.
_LEVEL = re.compile(r"[(\[{.:=+\-*/%@&|^~<>]|\b(?:and|or|not|lambda|if|for|await|yield)\b")
_BRACKET = re.compile(r"[(\[{]|([)\]}])")


class CannotLower(Exception):
    """A piece of source that `ast` accepts is not lowered: libcst refuses it, or it is nested too deeply or
    too long. Callers treat what it would have said as unknown."""


class DepthGuard:
    """Refuses what libcst would choke on. One for each file, for `MAX_WORK` counts over the file."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._work = 0

    def check(self, statements: Iterable[ast.stmt]) -> None:
        """Raise `CannotLower` where expressions or blocks are nested deeper than `MAX_DEPTH`, or dearly.

        Blocks are walked; of expressions only those with enough words to be deep.
        """
        pending: list[tuple[Iterator[ast.stmt], int]] = [(iter(statements), 1)]
        while pending:
            body, depth = pending[-1]
            for statement in body:
                blocks: Sequence[list[ast.stmt]] = () if type(statement) in _SIMPLE else _blocks(statement)
                if self._may_be_deep(statement, blocks[0][0] if blocks else None):
                    self._spend_depth(statement, depth)
                special = _SPECIAL.get(type(statement))
                if special is not None:
                    special(self, statement)
                if blocks:
                    if depth >= MAX_DEPTH:
                        raise CannotLower(f"line {statement.lineno}: blocks nested deeper than {MAX_DEPTH}")
                    pending.extend((iter(inner), depth + 1) for inner in blocks)
                    break
            else:
                pending.pop()

    def _may_be_deep(self, statement: ast.stmt, first: ast.stmt | None) -> bool:
        """Whether a simple statement, or the head of a compound one, has enough words to be deep."""
        source = self._source
        if first is None and statement.end_lineno == statement.lineno:
            # Many such may share a line: look at this one's part of it only.
            column, end_column = statement.col_offset, statement.end_col_offset or 0
            if end_column - column <= FREE_DEPTH:
                return False
            if source.is_ascii:
                start = source.starts[statement.lineno - 1]
                return len(_LEVEL.findall(source.clean, start + column, start + end_column)) > FREE_DEPTH
        last_line = (statement.end_lineno or statement.lineno) if first is None else first.lineno
        return len(_LEVEL.findall(source.lines(first_line(statement), last_line))) > FREE_DEPTH

    def _spend(self, statement: ast.stmt, work: int) -> None:
        self._work += work
        if self._work > MAX_WORK:
            raise CannotLower(f"line {statement.lineno}: more deeply nested statements than one file may have")

    def _spend_depth(self, statement: ast.stmt, depth: int) -> None:
        """Measure the expressions of one statement, its inner blocks left out."""
        level: list[ast.AST] = [statement]
        operands = height = 0
        while level:
            height += 1
            if depth + height > MAX_DEPTH:
                raise CannotLower(f"line {statement.lineno}: expressions nested deeper than {MAX_DEPTH}")
            following: list[ast.AST] = []
            for node in level:
                if isinstance(node, ast.BoolOp):
                    operands += len(node.values)
                for name in node._fields:
                    value = getattr(node, name, None)
                    if isinstance(value, ast.AST):
                        following.append(value)
                    elif isinstance(value, list) and value and not isinstance(value[0], ast.stmt):
                        following.extend(part for part in value if isinstance(part, ast.AST))
            level = following
        if operands > MAX_CHAIN:
            raise CannotLower(f"line {statement.lineno}: more than {MAX_CHAIN} operands of and/or")
        if height > FREE_DEPTH:
            self._spend(statement, (height - FREE_DEPTH) ** 2)

    def _check_dots(self, statement: ast.Import | ast.ImportFrom) -> None:
        names = [alias.name for alias in statement.names]
        if isinstance(statement, ast.ImportFrom) and statement.module:
            names.append(statement.module)
        if any(name.count(".") > MAX_DEPTH for name in names):
            raise CannotLower(f"line {statement.lineno}: more than {MAX_DEPTH} dots")

    def _check_delete(self, statement: ast.Delete) -> None:
        self._check_brackets(statement, statement, statement.lineno, 0)

    def _check_patterns(self, statement: ast.Match) -> None:
        line, column = statement.subject.end_lineno or statement.lineno, statement.subject.end_col_offset or 0
        for case in statement.cases:
            self._check_brackets(statement, case.guard or case.body[0], line, column)
            last = case.body[-1]
            line, column = last.end_lineno or last.lineno, last.end_col_offset or 0

    def _check_brackets(self, statement: ast.stmt, until: ast.AST, line: int, column: int) -> None:
        """Count how far brackets are nested from a place to the start of a node, or the end of a `del`.

        Columns are UTF-8 bytes, as `ast` gives them. Brackets in strings and comments count too.
        """
        source = self._source
        if until is statement:
            end_line, end_column = statement.end_lineno or line, statement.end_col_offset or 0
        else:
            end_line, end_column = getattr(until, "lineno", line), getattr(until, "col_offset", 0)
        start = source.offset(line, source.column_from_utf8(line, column))
        end = source.offset(end_line, source.column_from_utf8(end_line, end_column))
        brackets = deepest = 0
        for bracket in _BRACKET.finditer(source.clean, start, end):
            brackets += -1 if bracket[1] else 1
            deepest = max(deepest, brackets)
        if deepest > MAX_BRACKETS:
            raise CannotLower(f"line {statement.lineno}: brackets nested deeper than {MAX_BRACKETS}")
        if deepest > FREE_BRACKETS:
            self._spend(statement, 4**deepest)


_SIMPLE = frozenset(
    {ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Raise, ast.Assert, ast.Pass, ast.Continue}
    | {ast.Break, ast.Import, ast.ImportFrom, ast.Delete, ast.Global, ast.Nonlocal}
)
_SPECIAL: dict[type[ast.stmt], Callable[[DepthGuard, Any], None]] = {
    ast.Import: DepthGuard._check_dots,
    ast.ImportFrom: DepthGuard._check_dots,
    ast.Delete: DepthGuard._check_delete,
    ast.Match: DepthGuard._check_patterns,
}


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a compound statement, in order; none of a simple one."""
    body = getattr(statement, "body", None)
    if body is None:
        cases = getattr(statement, "cases", None)
        return [case.body for case in cases] if cases else []
    blocks = [body]
    blocks.extend(handler.body for handler in getattr(statement, "handlers", ()))
    for name in ("orelse", "finalbody"):
        inner = getattr(statement, name, None)
        if inner:
            blocks.append(inner)
    return blocks


def first_line(statement: ast.stmt) -> int:
    """The line where a statement starts, its decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])
