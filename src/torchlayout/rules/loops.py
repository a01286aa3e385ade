"""What the rules on loops share: how a loop is named, what a turn copies, and how a copy is hoisted."""

from __future__ import annotations

import ast
import re

from torchlayout.interp.trace import Site, Visit
from torchlayout.program.nodes import Span
from torchlayout.rules import edits, mend, tell
from torchlayout.rules.finding import Edit, Fix, Safety
from torchlayout.rules.seen import Seen, assumed_cases, is_packed, is_weak, shares
from torchlayout.sizes import NO


def of_the_loop(visit: Visit) -> str:
    """ "of the loop on line 5"."""
    loop = visit.loop
    if loop is None:
        return "of the loop"
    if loop.kind == "call":
        return f"of the function on line {loop.span.line}, which is called for every item"
    what = "comprehension" if loop.kind == "comprehension" else f"`{loop.kind}` loop"
    return f"of the {what} on line {loop.span.line}"


def what_is_copied(site: Site) -> str:
    """ "copies B*T elements", or "may copy"."""
    found = assumed_cases(site)
    cases = [case for _, case in found]
    answer = is_packed if site.name == "contiguous" else shares
    sure = all(answer(case) is NO and not is_weak(visit, case) for visit, case in found)
    operand = cases[0].operand() if cases else None
    count = tell.elements(operand, cases[0].facts) if operand is not None else None
    verb = "copies" if sure else "may copy"
    return f"{verb} {count}" if count else f"{verb} its tensor"


# ---------------------------------------------------------------- hoisting
def hoist(seen: Seen, site: Site) -> Fix | None:
    """Move a call of unchanged operands in front of its loop; None where the loop does not begin its line."""
    call = mend.call_at(seen, site.key)
    if call is None:
        return None
    source = seen.unit.source
    loop = _loop_around(seen, site.span) or call.statement
    text = source.slice(call.call)
    if "\n" in text:
        return None
    title = "Pack it in front of the loop"
    target = _assigned_alone(source.slice(call.statement), text)
    if target is not None and loop != call.statement and _assigned_once(seen, loop, target):
        before = edits.insert_line_before(source, loop, source.slice(call.statement))
        line = source.line(call.statement.line)
        alone = line[: call.statement.column].strip() == "" and line[call.statement.end_column :].strip() == ""
        if before and alone and not _only_statement(seen, call.statement):
            whole = Span(call.statement.line, 0, call.statement.line + 1, 0)
            return Fix(title, (*before, Edit(whole, "")), Safety.UNSAFE)
    name = _free_name(source.clean, text)
    before = edits.insert_line_before(source, loop, f"{name} = {text}")
    return Fix(title, (*before, Edit(call.call, name)), Safety.UNSAFE) if before else None


def _assigned_alone(statement: str, call: str) -> str | None:
    """The name that a statement assigns, where the call is all of its value."""
    match = re.fullmatch(r"([^\W\d]\w*)\s*=\s*(.*)", statement, re.DOTALL)
    return match[1] if match and match[2] == call else None


def _assigned_once(seen: Seen, loop: Span, name: str) -> bool:
    return len(re.findall(rf"\b{name}\b\s*(?:[-+*/@]?=[^=]|,|\bin\b)", seen.unit.source.slice(loop))) == 1


def _only_statement(seen: Seen, statement: Span) -> bool:
    """Whether a block would be empty without the statement."""
    for node in ast.walk(seen.unit.tree):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(block, list) and len(block) == 1 and isinstance(block[0], ast.stmt):
                if block[0].lineno == statement.line:
                    return True
    return False


def _free_name(text: str, call: str) -> str:
    """A name for the packed tensor that the file does not have yet."""
    receiver = re.match(r"(?:[^\W\d]\w*\.)*([^\W\d]\w*)\.contiguous\(", call)
    base = f"{receiver[1]}_contiguous" if receiver else "packed"
    name, number = base, 2
    while re.search(rf"\b{name}\b", text):
        name, number = f"{base}_{number}", number + 1
    return name


def _loop_around(seen: Seen, span: Span) -> Span | None:
    """The innermost `for` or `while` statement whose body holds a place."""
    found: Span | None = None
    source = seen.unit.source
    for node in ast.walk(seen.unit.tree):
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)) and node.body:
            last = node.body[-1]
            if node.body[0].lineno <= span.line <= (last.end_lineno or last.lineno):
                column = source.column_from_utf8(node.lineno, node.col_offset)
                end = source.column_from_utf8(node.end_lineno or 0, node.end_col_offset or 0)
                here = Span(node.lineno, column, node.end_lineno or node.lineno, end)
                if found is None or here.line >= found.line:
                    found = here
    return found
