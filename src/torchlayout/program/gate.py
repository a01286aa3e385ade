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


_BETWEEN = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")}


@lru_cache(maxsize=1)
def words_in(text: str) -> frozenset[str]:
    """All names in a text, and what else stands between ASCII marks and blanks. The gate asks, and then the outline."""
    return frozenset(text.translate(_BETWEEN).split())


class Sinks(NamedTuple):
    """Sink words that count under the same condition."""

    names: frozenset[str]
    """Of which one is among the words of a text, however it is spaced, wherever one of them stands; none: marks."""
    heads: re.Pattern[str]
    """What finds them."""
    companions: re.Pattern[str] | None
    """What finds their companions; None: they need none."""
    occasion: Occasion | None
    """The closer look at a function's text that they ask for."""
    source: str
    """The kind of tensor without which there is nothing to report; empty: any that is not packed."""

    def may_stand_among(self, words: frozenset[str]) -> bool:
        """A first test on the words of a text (`words_in`), many times faster than the pattern."""
        return not self.names or not self.names.isdisjoint(words)


@lru_cache(maxsize=64)
def by_condition(words: frozenset[str]) -> tuple[Sinks, ...]:
    """The words, grouped by the condition under which they count (and by kind, so that each pattern starts alike)."""
    groups: dict[tuple[str, str, str, str], set[str]] = {}
    for word in words:
        rest, _, source = word.partition(" of ")
        rest, _, occasion = rest.partition(" if ")
        head, _, companions = rest.partition(" with ")
        kind = "mark" if not re.search(r"\w", head) else "attribute" if head.startswith(".") else "name"
        groups.setdefault((companions, occasion, source, kind), set()).add(head)
    return tuple(
        Sinks(
            frozenset() if kind == "mark" else frozenset(word.strip(".( ") for word in heads),
            sink_pattern(frozenset(heads)),
            sink_pattern(frozenset(companions.split())) if companions else None,
            OCCASIONS[occasion] if occasion else None,
            source,
        )
        for (companions, occasion, source, kind), heads in sorted(groups.items())
    )


def gate(text: str, words: Iterable[str]) -> bool:
    """Whether any sink word occurs in the text at all, be it in a comment.

    A word is a name; with a dot in front only an attribute counts, with `(` behind only a call. White space
    around the dot and before the parenthesis is allowed for. A word without letters (`+=`) counts as it stands.
    "word with a b c" counts where one of the companions a, b and c stands in the same function; "word if looped", or
    "word with a b c if looped", only in functions of which that holds (see `occasions`). "... of shared" names the kind
    of tensor that must reach it (see `interp.sources.SOURCES`), which is no matter of the gate.
    """
    present = words_in(text)
    return any(
        sinks.may_stand_among(present)
        and sinks.heads.search(text) is not None
        and (sinks.companions is None or sinks.companions.search(text) is not None)
        for sinks in by_condition(frozenset(words))
    )
