"""Sink words: names whose call a rule could report on, such as `.view(`, looked for in the bare text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache


@lru_cache(maxsize=64)
def sink_pattern(words: frozenset[str]) -> re.Pattern[str]:
    """What finds the sink words in a text."""
    methods, names, marks = [], [], []
    for word in sorted(words):
        name = re.escape(word.strip(".( "))
        if not re.search(r"\w", word):
            marks.append(r"\s*".join(map(re.escape, word)) + ("(?!=)" if word.endswith("=") else ""))
        elif word.startswith("."):
            methods.append(name + r"\s*\(" if word.endswith("(") else name + r"\b")
        else:
            names.append(name + r"\s*\(" if word.endswith("(") else name + r"\b")
    parts = []
    if methods:
        parts.append(r"\.\s*(?:" + "|".join(methods) + ")")
    if names:
        parts.append(r"\b(?:" + "|".join(names) + ")")
    parts += marks
    return re.compile("|".join(parts) if parts else r"(?!)")


@lru_cache(maxsize=64)
def by_companions(words: frozenset[str]) -> tuple[tuple[re.Pattern[str], re.Pattern[str] | None], ...]:
    """The words as patterns, each with the pattern of its companions, None for words that need none."""
    groups: dict[str, set[str]] = {}
    for word in words:
        head, _, companions = word.partition(" with ")
        groups.setdefault(companions, set()).add(head)
    return tuple(
        (sink_pattern(frozenset(heads)), sink_pattern(frozenset(companions.split())) if companions else None)
        for companions, heads in sorted(groups.items())
    )


def gate(text: str, words: Iterable[str]) -> bool:
    """Whether any sink word occurs in the text at all, be it in a comment.

    A word is a name; with a dot in front only an attribute counts, with `(` behind only a call. White space
    around the dot and before the parenthesis is allowed for. A word without letters (`+=`) counts as it stands.
    "word with a b c" counts where one of the companions a, b and c stands in the same function.
    """
    return any(
        heads.search(text) is not None and (companions is None or companions.search(text) is not None)
        for heads, companions in by_companions(frozenset(words))
    )
