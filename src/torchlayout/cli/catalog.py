"""What is known of a code: its rule, its name, the first sentence of its page."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from typing import Any

from torchlayout.check import analysis
from torchlayout.check.links import rule_url
from torchlayout.check.selection import OWN_CODES

__all__ = ["name_of", "page_of", "rule_of", "rule_url", "summary_of", "title_of"]


_OWN_PAGES = {
    "LAY901": "The linter failed on a file and checked nothing in it; all other files are checked. `--verbose` prints "
    "the traceback, and the message says where to report it.",
    "LAY902": "A comment suppresses findings of this linter where there are none. Reported when the setting "
    "`report-unused-suppressions` is on.",
}


@functools.lru_cache(maxsize=1)
def _by_code() -> dict[str, Any]:
    return {rule.code: rule for rule in analysis.rules()}


def rule_of(code: str) -> Any | None:
    """The rule with this code; None for the codes that the linter itself owns."""
    return _by_code().get(code)


def name_of(code: str) -> str:
    """The readable name: `view-of-noncontiguous`."""
    rule = rule_of(code)
    return str(rule.name) if rule is not None else OWN_CODES.get(code, code)


def page_of(code: str) -> str:
    """The rule's documentation, Markdown."""
    rule = rule_of(code)
    return inspect.cleandoc(str(rule.docs)) if rule is not None else _OWN_PAGES.get(code, "")


def summary_of(code: str) -> str:
    """The first sentence of the rule's page, one line."""
    page = page_of(code)
    words = " ".join(line.strip() for line in _first_paragraph(page.splitlines()))
    head, stop, _ = words.partition(". ")
    return head + stop.strip() or name_of(code)


def _first_paragraph(lines: list[str]) -> Iterator[str]:
    """The lines of the first paragraph, headings left out."""
    begun = False
    for line in lines:
        if line.startswith("#") or not line.strip():
            if begun:
                return
            continue
        begun = True
        yield line


def title_of(code: str) -> str:
    """The heading of a rule's page: `view-of-noncontiguous (LAY101)`."""
    return f"{name_of(code)} ({code})"
