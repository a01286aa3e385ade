"""The rules: found by walking this package, one file a code.

A file `lay101_view_of_noncontiguous.py` holds the class `ViewOfNoncontiguous` with the code LAY101 and the name
view-of-noncontiguous. To add a rule, add a file.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from torchlayout.rules.base import Options, Rule

if TYPE_CHECKING:
    from torchlayout.interp.trace import Trace
    from torchlayout.program.nodes import Span
    from torchlayout.program.unit import Unit
    from torchlayout.rules.finding import Finding

_FILE = re.compile(r"lay\d{3}_\w+")


def _found() -> tuple[Rule, ...]:
    rules = []
    for entry in pkgutil.iter_modules(__path__):
        if _FILE.fullmatch(entry.name):
            module = importlib.import_module(f"{__name__}.{entry.name}")
            name = "".join(part.capitalize() for part in entry.name.split("_")[1:])
            rules.append(getattr(module, name)())
    return tuple(sorted(rules, key=lambda rule: rule.code))


RULES: tuple[Rule, ...] = _found()
"""One object for each code, in order of code."""

BY_CODE = {rule.code: rule for rule in RULES}

PRECEDENCE: tuple[tuple[str, ...], ...] = (
    ("LAY101", "LAY102", "LAY103"),
    ("LAY105", "LAY108"),
    ("LAY202", "LAY201", "LAY203", "LAY204", "LAY402"),
    ("LAY202", "LAY201", "LAY301", "LAY302"),
    ("LAY301", "LAY204"),
    ("LAY201", "LAY403"),
    ("LAY108", "LAY303", "LAY401"),
)
"""Codes that would say the same of one place: only the first of each line that holds there is reported."""


def _with_rivals(codes: frozenset[str]) -> set[str]:
    """The codes, and those that may take a place from one of them."""
    wanted = set(codes)
    for group in PRECEDENCE:
        held = [index for index, code in enumerate(group) if code in codes]
        wanted.update(group[: max(held, default=0)])
    return wanted


def run_rules(trace: Trace, unit: Unit, codes: Iterable[str], options: Options | None = None) -> list[Finding]:
    """The findings of the given codes in the trace's own file, in order of place."""
    from torchlayout.rules.seen import Seen

    options = options or Options()
    seen = Seen(trace, unit, options)
    wanted = frozenset(codes)
    found: list[Finding] = []
    for code in sorted(_with_rivals(wanted)):
        if code in BY_CODE and (options.need_contiguous or _counts_in(unit.text, BY_CODE[code])):
            found.extend(BY_CODE[code].check(seen))
    held = {(finding.span, finding.code) for finding in found}
    kept = {f.sort_key(): f for f in found if f.code in wanted and not _yields(f, held)}
    return [kept[key] for key in sorted(kept)]


def _yields(finding: Finding, held: set[tuple[Span, str]]) -> bool:
    """Whether a code that takes precedence holds at the same place."""
    for group in PRECEDENCE:
        if finding.code in group:
            before = group[: group.index(finding.code)]
            if any((finding.span, code) in held for code in before):
                return True
    return False


def sink_words(codes: Iterable[str], text: str | None = None) -> frozenset[str]:
    """The sink words of the rules with these codes; given a file's text, of those that can say anything there."""
    rules = [rule for code in codes if (rule := BY_CODE.get(code)) is not None]
    counting = [rule for rule in rules if text is None or _counts_in(text, rule)]
    texts = {held for rule in counting for held in rule.words_beside if text is None or held in text}
    return _words_of(frozenset(rule.code for rule in counting), frozenset(texts))


@cache
def _words_of(codes: frozenset[str], texts: frozenset[str]) -> frozenset[str]:
    """The sink words of the rules with these codes, in a file that holds these texts."""
    rules = [BY_CODE[code] for code in codes]
    found = [(rule.source, word) for rule in rules for word in rule.words]
    for rule in rules:
        found += [(rule.source, w) for held, words in rule.words_beside.items() if held in texts for w in words]
    return frozenset(f"{word} of {source}" if source else word for source, word in found)


def _counts_in(text: str, rule: Rule) -> bool:
    """Whether a file with this text holds one of the words beside which the rule's own count."""
    return not rule.beside or any(word in text for word in rule.beside)


__all__ = ["BY_CODE", "PRECEDENCE", "RULES", "Options", "Rule", "run_rules", "sink_words"]
