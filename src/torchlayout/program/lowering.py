"""From a piece of source to lowered nodes: cut the lines, parse them with libcst, walk the tree once.

libcst is imported by the first call here, never before. Its parser takes time quadratic in the depth of an
expression and overflows the native stack on very deep ones, so `depth` looks first.
"""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from torchlayout.program import nodes
from torchlayout.program.depth import CannotLower, first_line
from torchlayout.program.outline import Entry
from torchlayout.program.repeats import Repeats
from torchlayout.program.slicing import kept_lines
from torchlayout.structs import replace

if TYPE_CHECKING:
    from torchlayout.program.unit import Unit

MAX_CHARACTERS = 1_000_000
"""Text that is parsed at one time: about one second of libcst."""

_repeats = Repeats()

_FORM_FEED = re.compile(r"^[ \t\f]*\f", re.MULTILINE)


def lower(unit: Unit, entry: Entry) -> nodes.Function | nodes.Class:
    """Lower one function, method or class, with all that is inside it.

    Raises `CannotLower`. `unit.lowered(entry)` does the same and remembers it.
    """
    unit.depth_guard.check([entry.node])
    first = entry.start
    while entry.node.decorator_list and first > 1 and not unit.source.line(first).lstrip().startswith("@"):
        first -= 1  # a decorator in parentheses: `ast` knows where the expression starts, not the `@`
    pieces = kept_lines(unit, entry)
    block = _lower_lines(unit, [(first, entry.end)] if pieces is None else [(first, pieces[0][1]), *pieces[1:]])
    found = block[0] if len(block) == 1 else None
    if isinstance(found, nodes.Function):
        return found if pieces is None else replace(found, sliced=True)
    if isinstance(found, nodes.Class):
        return found
    raise CannotLower(f"line {entry.start}: not one definition")


def lower_statements(unit: Unit, body: list[ast.stmt], entries: dict[ast.stmt, Entry]) -> nodes.Block:
    """Lower statements of one block; each that is in `entries` becomes a `Definition`, and is not parsed.

    Raises `CannotLower`.
    """
    rest = [statement for statement in body if statement not in entries]
    unit.depth_guard.check(rest)
    pieces: list[tuple[int, int]] = []
    for statement in rest:
        first, last = first_line(statement), statement.end_lineno or statement.lineno
        if pieces and first <= pieces[-1][1] + 1:
            pieces[-1] = (pieces[-1][0], max(last, pieces[-1][1]))
        else:
            pieces.append((first, last))
    lowered = _lower_lines(unit, pieces) if pieces else ()
    definitions = [nodes.Definition(entry.name, entry, _name_span(unit, entry)) for entry in entries.values()]
    if not definitions:
        return lowered
    return tuple(sorted([*lowered, *definitions], key=lambda statement: statement.span.line))


def _name_span(unit: Unit, entry: Entry) -> nodes.Span:
    """Where the name of a definition stands."""
    line = entry.node.lineno
    text = unit.source.line(line)
    start = unit.source.column_from_utf8(line, entry.node.col_offset)
    match = re.compile(r"(?:async\s+)?(?:def|class)\s+").match(text, start)
    column = match.end() if match else start
    return nodes.Span(line, column, line, column + len(entry.name))


def parse_block(text: str) -> nodes.Block:
    """Lower a text of its own, whole, without measuring its depth first. Raises `CannotLower`."""
    text = _ended(text)
    return _parse(text, list(range(1, text.count("\n") + 1)), {}, indented=False)


def load_parser() -> None:
    """Import what parsing needs, before it is needed."""
    import libcst  # noqa: F401


# ---------------------------------------------------------------- cutting and parsing
def _lower_lines(unit: Unit, pieces: list[tuple[int, int]]) -> nodes.Block:
    """Lower whole lines of the file, given as (first, last) line numbers, in one parse."""
    source = unit.source
    text = "".join(_ended(source.lines(first, last)) for first, last in pieces)
    lines = [line for first, last in pieces for line in range(first, last + 1)]
    shifts: dict[int, int] = {}
    if "\f" in text:
        text = _without_form_feeds(text, lines, shifts)
    if len(text) > MAX_CHARACTERS:
        raise CannotLower(f"line {lines[0]}: {len(text)} characters at one time")
    if text[0] in " \t":
        text = "if 1:\n" + text
        lines.insert(0, lines[0])
        return _parse(text, lines, shifts, indented=True)
    return _parse(text, lines, shifts, indented=False)


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _without_form_feeds(text: str, lines: list[int], shifts: dict[int, int]) -> str:
    """Python's indentation starts anew after a form feed; libcst does not know. Take what is before it away."""

    def strip(match: re.Match[str]) -> str:
        shifts[lines[text.count("\n", 0, match.start())]] = len(match[0])
        return ""

    return _FORM_FEED.sub(strip, text)


def _parse(text: str, lines: list[int], shifts: dict[int, int], *, indented: bool) -> nodes.Block:
    # The tree dies as soon as it is walked: collecting garbage meanwhile only costs time.
    collecting = gc.isenabled()
    gc.disable()
    try:
        if shifts:
            return _parse_and_walk(text, lines, shifts, indented)
        return _repeats.lowered((indented, text), lines, lambda: _parse_and_walk(text, lines, {}, indented))
    finally:
        if collecting:
            gc.enable()


def _parse_and_walk(text: str, lines: list[int], shifts: dict[int, int], indented: bool) -> nodes.Block:
    import libcst as cst

    from torchlayout.program.statements import block
    from torchlayout.program.tokens import BadTokens, Cursor
    from torchlayout.program.walk import Walk

    try:
        module = cst.parse_module(text)
    except BaseException as error:
        # Beside its syntax errors libcst has failed checks and logic errors of its own; where its native part
        # panics, what arrives is no `Exception`.
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise _refusal(lines[0], error) from None
        raise
    try:
        walk = Walk(Cursor(text, lines, shifts))
        body: Iterable[cst.CSTNode] = module.body
        if indented:
            outer = module.body[0]
            if not isinstance(outer, cst.If):
                raise CannotLower(f"line {lines[0]}: not a block")
            walk.skip_to("if")
            walk.skip_to("1")
            body = outer.body.body
        return block(walk, body)
    except (BadTokens, RecursionError) as error:
        raise _refusal(lines[0], error) from None


def _refusal(line: int, error: BaseException) -> CannotLower:
    reason = str(error).splitlines()
    return CannotLower(f"line {line}: {type(error).__name__}: {reason[0] if reason else ''}")
