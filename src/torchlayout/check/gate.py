"""The text gate: which files need no parse at all.

A file is looked at only when its text mentions torch and a word that a selected rule could report on. A search in
the text costs microseconds, and a word in a comment merely costs a parse.
"""

from __future__ import annotations

FRAMEWORK = "torch"
"""Also part of `torchvision`, `torchlayout`, ...: whoever handles tensors says so in an import or an annotation."""


def mentions_framework(text: str) -> bool:
    """The cheapest test, which needs neither rules nor settings."""
    return FRAMEWORK in text


def may_report(text: str, codes: frozenset[str], own_words: frozenset[str] = frozenset()) -> bool:
    """Whether any of the rules with these codes could report on a file with this text; `own_words` are those that
    the settings add."""
    if not (codes and mentions_framework(text)):
        return False
    from torchlayout.check import analysis
    from torchlayout.program.outline import gate

    return gate(text, joined(analysis.sink_words(text, codes), own_words))


def joined(words: frozenset[str], own_words: frozenset[str]) -> frozenset[str]:
    """All sink words: without any of one's own the same object for file after file, whose hash is known."""
    return words | own_words if own_words else words
