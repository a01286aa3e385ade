"""The text gate: which files need no parse at all.

A file is looked at only when its text mentions torch and one of the words that a selected rule could report
on. Plain substring tests: they cost microseconds, and a word in a comment merely costs a parse.
"""

from __future__ import annotations

FRAMEWORK = "torch"
"""Also part of `torchvision`, `torchlayout`, ...: whoever handles tensors says so in an import or an annotation."""


def mentions_framework(text: str) -> bool:
    """The cheapest test, which needs neither rules nor settings."""
    return FRAMEWORK in text


def may_report(text: str, codes: frozenset[str]) -> bool:
    """Whether any of the rules with these codes could report on a file with this text."""
    from torchlayout.check import analysis

    return mentions_framework(text) and any(
        word in text for rule in analysis.rules() if rule.code in codes for word in rule.words
    )
