"""Sink words: names whose call a rule could report on, such as `.view(`, looked for in the bare text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from torchlayout.program.occasions import OCCASIONS, Occasion


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


class Sinks(NamedTuple):
    """Sink words that count under the same condition."""

    plain: tuple[str, ...]
    """What stands in the text, however it is spaced, wherever one of them does."""
    heads: re.Pattern[str]
    """What finds them."""
    companions: re.Pattern[str] | None
    """What finds their companions; None: they need none."""
    occasion: Occasion | None
    """The closer look at a function's text that they ask for."""

    def may_stand_in(self, text: str) -> bool:
        """A first test, many times faster than the pattern."""
        return any(word in text for word in self.plain)


@lru_cache(maxsize=64)
def by_condition(words: frozenset[str]) -> tuple[Sinks, ...]:
    """The words, grouped by the condition under which they count (and by kind, so that each pattern starts alike)."""
    groups: dict[tuple[str, str, bool], set[str]] = {}
    for word in words:
        rest, _, occasion = word.partition(" if ")
        head, _, companions = rest.partition(" with ")
        groups.setdefault((companions, occasion, head.startswith(".")), set()).add(head)
    return tuple(
        Sinks(
            tuple(sorted({word.strip(".( ") if re.search(r"\w", word) else word[:1] for word in heads})),
            sink_pattern(frozenset(heads)),
            sink_pattern(frozenset(companions.split())) if companions else None,
            OCCASIONS[occasion] if occasion else None,
        )
        for (companions, occasion, _), heads in sorted(groups.items())
    )


def gate(text: str, words: Iterable[str]) -> bool:
    """Whether any sink word occurs in the text at all, be it in a comment.

    A word is a name; with a dot in front only an attribute counts, with `(` behind only a call. White space
    around the dot and before the parenthesis is allowed for. A word without letters (`+=`) counts as it stands.
    "word with a b c" counts where one of the companions a, b and c stands in the same function; "word if looped", or
    "word with a b c if looped", only in functions of which that holds (see `occasions`).
    """
    return any(
        sinks.may_stand_in(text)
        and sinks.heads.search(text) is not None
        and (sinks.companions is None or sinks.companions.search(text) is not None)
        for sinks in by_condition(frozenset(words))
    )
