"""What is known of a code: its rule, its name, the first sentence of its page."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from torchlayout.check import analysis
from torchlayout.check.links import rule_url
from torchlayout.check.selection import OWN_CODES, known_codes

__all__ = ["find_code", "name_of", "page_of", "rule_of", "rule_url", "summary_of", "title_of"]


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
    paragraphs = [p for p in page_of(code).split("\n\n") if p.strip() and not p.lstrip().startswith("#")]
    text = " ".join(paragraphs[0].split()) if paragraphs else name_of(code)
    head, stop, _ = text.partition(". ")
    return head + (stop.strip() if stop else "")


def title_of(code: str) -> str:
    """The heading of a rule's page: `view-of-noncontiguous (LAY101)`."""
    return f"{name_of(code)} ({code})"


def find_code(text: str) -> str | None:
    """The code that a user means by a code or a name, in any case; None where there is no such rule."""
    wanted = text.strip().lower()
    return next((code for code in known_codes() if wanted in (code.lower(), name_of(code).lower())), None)
