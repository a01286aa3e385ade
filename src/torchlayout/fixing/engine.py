"""From findings to mended text: apply what goes together, check again, until nothing changes.

The engine knows nothing of files or settings: it is given a text and a function that checks a text. An editor
uses it on an unsaved buffer, the command line on what it read.
"""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from torchlayout.fixing.edits import apply_edits, plan
from torchlayout.program.source import Source
from torchlayout.rules.finding import Finding, Safety

MAX_ROUNDS = 50
"""Rounds of fixing and checking again for one text. Two suffice for most; each round mends at least one."""

Check = Callable[[str], "list[Finding]"]


@dataclass(slots=True)
class Fixed:
    """What fixing a text came to."""

    text: str
    findings: list[Finding]
    """What is left to report, at its places in `text`."""
    applied: Counter[str] = field(default_factory=Counter)
    """Fixes applied, by code."""
    notes: list[str] = field(default_factory=list)
    """What the user should know: a fix that was taken back, rounds that did not end."""


def parses(text: str) -> bool:
    """Whether both parsers that the project uses take the text. Imports libcst."""
    import libcst

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in the checked text are not ours to report
            ast.parse(text)
        libcst.parse_module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError, libcst.ParserSyntaxError):
        return False
    return True


def fix_text(
    text: str,
    check: Check,
    limit: Safety = Safety.SAFE,
    findings: list[Finding] | None = None,
    well_formed: Callable[[str], bool] = parses,
) -> Fixed:
    """Apply the fixes that are at most `limit` until none is left, at most MAX_ROUNDS times.

    `findings` are those of `text` where the caller has them already. A fix after which the text would no longer
    be `well_formed` is taken back alone; the others stay.
    """
    result = Fixed(text, check(text) if findings is None else findings)
    seen = {text}
    for _ in range(MAX_ROUNDS):
        chosen = plan(result.findings, Source(result.text), limit)
        mended, kept, refused = _apply(result.text, chosen, well_formed)
        result.notes += [n for n in map(_taken_back, refused) if n not in result.notes]
        if not kept or mended == result.text:
            return result
        if mended in seen:
            result.notes.append("fixes undo one another; stopped where they began to repeat")
            return result
        seen.add(mended)
        result.text = mended
        result.applied.update(finding.code for finding in kept)
        result.findings = check(mended)
    if plan(result.findings, Source(result.text), limit):
        result.notes.append(f"stopped after {MAX_ROUNDS} rounds of fixes; run again to go on")
    return result


def _apply(
    text: str, chosen: list[Finding], well_formed: Callable[[str], bool]
) -> tuple[str, list[Finding], list[Finding]]:
    """The text after the chosen fixes, those that were kept, and those that would have broken the text."""
    mended = _edited(text, chosen)
    if not chosen or well_formed(mended):
        return mended, chosen, []
    if not well_formed(text):
        return text, [], chosen
    # One of them breaks the text. Add them one by one and leave out the culprits.
    kept: list[Finding] = []
    refused: list[Finding] = []
    for finding in chosen:
        if well_formed(_edited(text, [*kept, finding])):
            kept.append(finding)
        else:
            refused.append(finding)
    return _edited(text, kept), kept, refused


def _edited(text: str, findings: Iterable[Finding]) -> str:
    return apply_edits(Source(text), [edit for f in findings if f.fix is not None for edit in f.fix.edits])


def _taken_back(finding: Finding) -> str:
    return f"the fix for {finding.code} on line {finding.span.line} would break the syntax and was left out"
