"""The text edits that rules' fixes are made of.

Each builder takes spans of the source (of a name, a receiver, a call's `.name(...)` suffix, an expression, a
statement; `program.unit` knows them) and returns edits that touch nothing else. Whether a comment lies inside
what is deleted, and the fix is therefore unsafe, is found when it is applied.
"""

from __future__ import annotations

import re

from torchlayout.program.nodes import Span
from torchlayout.program.source import Source
from torchlayout.rules.finding import Edit

Edits = tuple[Edit, ...]


def replace(span: Span, text: str) -> Edits:
    """Other text in the place of a span."""
    return (Edit(span, text),)


def replace_name(name: Span, new: str) -> Edits:
    """Another name for a method or function: `x.view(6)` to `x.reshape(6)`."""
    return replace(name, new)


def insert_after(span: Span, text: str) -> Edits:
    """Text right after a span."""
    return (Edit(Span(span.end_line, span.end_column, span.end_line, span.end_column), text),)


def insert_after_receiver(receiver: Span, call: str) -> Edits:
    """A call more in a chain: `x.view(6)` to `x.contiguous().view(6)` with the call `.contiguous()`.

    The receiver of a method binds as tightly as a call, so it needs no parentheses; for other expressions there is
    `wrap`.
    """
    return insert_after(receiver, call)


def wrap(expression: Span, before: str, after: str) -> Edits:
    """Text around an expression: `a + b` to `(a + b).contiguous()` with "(" and ").contiguous()"."""
    return (
        Edit(Span(expression.line, expression.column, expression.line, expression.column), before),
        *insert_after(expression, after),
    )


def call_method(source: Source, expression: Span, call: str) -> Edits:
    """A method call on any expression, with parentheses only where it needs them."""
    if binds_tightly(source.slice(expression)):
        return insert_after(expression, call)
    return wrap(expression, "(", ")" + call)


def binds_tightly(text: str) -> bool:
    """Whether `.name()` after the text applies to all of it: for names, calls, subscripts, parentheses, strings."""
    import ast

    try:
        body = ast.parse(f"({text}\n)", mode="eval").body
        suffixed = ast.parse(f"({text}\n.name)", mode="eval").body
    except SyntaxError:
        return False
    # A number would take the dot for itself, and `a + b.name` is a BinOp.
    return isinstance(suffixed, ast.Attribute) and ast.dump(suffixed.value) == ast.dump(body)


def assign_result(statement: Span, target: str) -> Edits:
    """Keep what a statement throws away: `x.contiguous()` to `x = x.contiguous()`."""
    return (Edit(Span(statement.line, statement.column, statement.line, statement.column), f"{target} = "),)


def insert_line_before(source: Source, statement: Span, text: str) -> Edits:
    """A line of its own before a statement, indented as the statement is.

    No edits where the statement does not begin its line (`if c: for ...`, `a; b`).
    """
    indent = source.line(statement.line)[: statement.column]
    if indent.strip():
        return ()
    return (Edit(Span(statement.line, 0, statement.line, 0), f"{indent}{text}\n"),)


def delete_method_call(source: Source, suffix: Span) -> Edits:
    """A call less in a chain: `x.contiguous().view(6)` to `x.view(6)`; `suffix` runs from the dot to the parenthesis.

    A suffix alone on its lines goes with them, and with a backslash that led to it; comments beside it stay.
    """
    before = source.line(suffix.line)[: suffix.column]
    after = source.line(suffix.end_line)[suffix.end_column :].strip()
    if before.strip() or after not in ("", "\\"):
        return replace(suffix, "")
    above = source.line(suffix.line - 1)
    joined = re.search(r"[ \t]*\\$", above) if "#" not in above else None
    if joined and not after:
        # The line above goes on nowhere now: take its backslash too.
        return replace(Span(suffix.line - 1, joined.start(), suffix.end_line, suffix.end_column), "")
    if suffix.end_line == source.line_count:
        return replace(suffix, "")
    return replace(Span(suffix.line, 0, suffix.end_line + 1, 0), "")
