"""The places around a call that a fix edits, found in the `ast` once there is a finding to mend."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right

from torchlayout.program.depth import first_line
from torchlayout.program.source import Source
from torchlayout.program.spans import Span
from torchlayout.program.tokens import comments
from torchlayout.structs import struct

# What may stand between two tokens: white space, a line joined to the next, a comment.
_GAP = re.compile(r"(?:\s|\\\n|#[^\n]*)*")


@struct(frozen=True, slots=True)
class Argument:
    """One argument as written, star or keyword and parentheses included; `value` without star and keyword."""

    keyword: str | None
    star: int
    span: Span
    value: Span


@struct(frozen=True, slots=True)
class CallSite:
    """A call `receiver.name(arguments)`, or `name(arguments)` without receiver."""

    call: Span
    """The whole call, from the start of its receiver to its closing parenthesis."""
    name: Span
    receiver: Span | None
    """What stands before the dot, its parentheses included; None for a call of a plain name."""
    suffix: Span
    """From the dot to the closing parenthesis: deleting it leaves the receiver. The whole call of a plain name."""
    parentheses: Span
    """From the opening to the closing parenthesis of the arguments."""
    arguments: tuple[Argument, ...]
    statement: Span
    """The innermost statement around the call; of a compound one, its head and its blocks."""
    discarded: bool
    """Whether the call is a statement of its own."""
    has_comment: bool
    """Whether a comment stands inside the call."""


def call_site(source: Source, tree: ast.Module, name: Span) -> CallSite | None:
    """The call whose name token has the given span; None where there is none."""
    statement = _statement_at(source, tree, name)
    if statement is None:
        return None
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and node.end_lineno is not None and node.end_lineno >= name.line:
            if _name_span(source, node.func) == name:
                return _site(source, node, statement, name)
    return None


def _statement_at(source: Source, tree: ast.Module, name: Span) -> ast.stmt | None:
    """The innermost statement that holds a position."""
    position = (name.line, source.utf8_column(name.line, name.column))
    blocks: list[list[ast.stmt]] = [tree.body]
    found: ast.stmt | None = None
    while True:
        inner = next((statement for block in blocks for statement in _near(block, position)), None)
        if inner is None:
            return found
        found = inner
        blocks = _inner_blocks(inner)


def _near(block: list[ast.stmt], position: tuple[int, int]) -> list[ast.stmt]:
    """The statement of a block that holds a position, if there is one: the last that starts before it, or the next
    one, whose decorators stand before its start."""
    after = bisect_right(block, position, key=lambda statement: (statement.lineno, statement.col_offset))
    return [statement for statement in block[max(after - 1, 0) : after + 1] if _holds(statement, position)]


def _holds(statement: ast.stmt, position: tuple[int, int]) -> bool:
    line = first_line(statement)
    first = (line, 0) if line < statement.lineno else (line, statement.col_offset)
    return first <= position < (statement.end_lineno or 0, statement.end_col_offset or 0)


def _inner_blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    found: list[list[ast.stmt]] = [getattr(statement, field, []) for field in ("body", "orelse", "finalbody")]
    for field in ("handlers", "cases"):
        found.extend(part.body for part in getattr(statement, field, ()))
    return found


def _name_span(source: Source, func: ast.expr) -> Span | None:
    if isinstance(func, ast.Attribute):
        line = func.end_lineno or func.lineno
        end = source.column_from_utf8(line, func.end_col_offset or 0)
        return Span(line, end - len(_written(source, line, end)), line, end)
    if isinstance(func, ast.Name):
        return _span(source, func)
    return None


def _written(source: Source, line: int, end: int) -> str:
    """The identifier that ends at a column, as written (`ast` gives it in normal form)."""
    match = re.search(r"\w+$", source.line(line)[:end])
    return match[0] if match else ""


def _span(source: Source, node: ast.expr | ast.stmt | ast.keyword) -> Span:
    end_line = node.end_lineno or node.lineno
    return Span(
        node.lineno,
        source.column_from_utf8(node.lineno, node.col_offset),
        end_line,
        source.column_from_utf8(end_line, node.end_col_offset or 0),
    )


def _offsets(source: Source, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
    span = _span(source, node)
    return source.offset(span.line, span.column), source.offset(span.end_line, span.end_column)


def _site(source: Source, node: ast.Call, statement: ast.stmt, name: Span) -> CallSite:
    text = source.clean
    call_start, call_end = _offsets(source, node)
    name_end = source.offset(name.end_line, name.end_column)
    receiver = None
    suffix_start = call_start
    if isinstance(node.func, ast.Attribute):
        receiver_end, suffix_start = _before_dot(text, _offsets(source, node.func.value)[1])
        receiver = source.span(_offsets(source, node.func)[0], receiver_end)
    # `(f)(x)`: the closing parentheses of the name come first.
    opening = _past_gap(text, name_end)
    while text[opening] == ")":
        opening = _past_gap(text, opening + 1)
    return CallSite(
        call=source.span(call_start, call_end),
        name=name,
        receiver=receiver,
        suffix=source.span(suffix_start, call_end),
        parentheses=source.span(opening, call_end),
        arguments=tuple(_arguments(source, node, opening)),
        statement=_span(source, statement),
        discarded=isinstance(statement, ast.Expr) and statement.value is node,
        has_comment=_has_comment(text, call_start, call_end),
    )


def _past_gap(text: str, position: int) -> int:
    match = _GAP.match(text, position)
    return match.end() if match else position


def _before_dot(text: str, position: int) -> tuple[int, int]:
    """From the end of a value: where its closing parentheses end, and where the dot after them stands."""
    end = position
    while True:
        position = _past_gap(text, position)
        if text[position] == ".":
            return end, position
        position += 1  # a closing parenthesis
        end = position


def _arguments(source: Source, node: ast.Call, opening: int) -> list[Argument]:
    text = source.clean
    written: list[ast.expr | ast.keyword] = sorted(
        [*node.args, *node.keywords], key=lambda part: (part.lineno, part.col_offset)
    )
    found = []
    boundary = opening + 1
    for part in written:
        start = _past_gap(text, boundary)
        keyword = part.arg if isinstance(part, ast.keyword) else None
        star = 0
        value = part.value if isinstance(part, (ast.keyword, ast.Starred)) else part
        value_start, value_end = _offsets(source, value)
        if value_start == opening:  # a generator without parentheses of its own
            value_start, value_end = start, len(text[: value_end - 1].rstrip())
        if isinstance(part, ast.Starred):
            star, lead = 1, text.index("*", start) + 1
        elif isinstance(part, ast.keyword):
            star = 2 if keyword is None else 0
            lead = text.index("**", start) + 2 if keyword is None else text.index("=", start) + 1
        else:
            lead = start
        lead = _past_gap(text, lead)
        end = _close(text, value_end, _count_open(text, lead, value_start))
        found.append(Argument(keyword, star, source.span(start, end), source.span(lead, end)))
        boundary = _past_gap(text, end)
        if text[boundary] == ",":
            boundary += 1
    return found


def _count_open(text: str, start: int, end: int) -> int:
    """Opening parentheses between two offsets with nothing but gaps around them."""
    count = 0
    position = start
    while position < end and text[position] == "(":
        count += 1
        position = _past_gap(text, position + 1)
    return count


def _close(text: str, position: int, count: int) -> int:
    for _ in range(count):
        position = _past_gap(text, position) + 1
    return position


def _has_comment(text: str, start: int, end: int) -> bool:
    return text.find("#", start, end) >= 0 and comments(text[start:end])
