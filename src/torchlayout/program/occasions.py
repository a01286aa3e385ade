"""Closer looks at a function's text: whether a sink word in it stands where a rule could report it.

A sink word may ask for one of these after "if" (see `gate`). Nothing is parsed. An answer of False is a promise that
the rule has nothing to say (but of what is read into a variable that nobody uses); where the text is too long or too
odd to tell, the answer is True.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from torchlayout.program.textflow import assigned_to, bound_to, read_after, written_to

Occasion = Callable[[str, re.Pattern[str], "re.Pattern[str] | None"], bool]
"""Takes the function's text, what finds the sink words, and what finds their companions."""

_PER_ITEM = re.compile(r"\bmap\b|collate|__getitem__")
MAX_TEXT = 20_000
"""Characters of a function that is looked at more closely."""
MAX_LOOKS = 50
"""Writes in one function of which it is asked whether they are lost."""
NEAR = 4
"""Lines of one comprehension before and behind its `for`."""


def looped(text: str, heads: re.Pattern[str], companions: re.Pattern[str] | None) -> bool:
    """Whether a sink word stands in a loop or comprehension, or the function serves single items."""
    if _PER_ITEM.search(text):
        return True
    lines = text.split("\n")
    around: list[int] = []
    depth = 0
    for number, line in enumerate(lines):
        body = line.lstrip()
        continued = depth > 0
        depth = max(depth + sum(map(line.count, "([{")) - sum(map(line.count, ")]}")), 0)
        if not body or body[0] in "#)]}":
            continue
        indent = len(line) - len(body)
        while around and around[-1] >= indent and not continued:
            around.pop()
        if around and heads.search(line):
            return True
        loop = body.startswith(("for ", "while ", "async for "))
        if loop and body.rstrip().endswith((":", "(", "[", ",")):
            around.append(indent)
            loop = heads.search(line) is not None and body.count(" for ") > 0
        if (loop or " for " in body) and heads.search("\n".join(lines[max(number - NEAR, 0) : number + NEAR + 1])):
            return True
        if loop:
            around.append(indent)
    return False


def made(text: str, heads: re.Pattern[str], companions: re.Pattern[str] | None) -> bool:
    """Whether a method that is a sink word is called on what a companion made, directly or through a name, and what it
    writes may be lost."""
    return companions is None or _may_be_lost(text, heads, written_to, companions)


def written(text: str, heads: re.Pattern[str], companions: re.Pattern[str] | None) -> bool:
    """Whether what a sink word makes is assigned into (`x.reshape(-1)[0] = 1`), directly or through a name, and what is
    written may be lost."""
    return companions is None or _may_be_lost(text, companions, assigned_to, heads)


def _may_be_lost(
    text: str,
    writes: re.Pattern[str],
    target: Callable[[str, re.Match[str], re.Pattern[str]], str | None],
    makers: re.Pattern[str],
) -> bool:
    """Whether a write may go to what one of the makers made, and nobody read it afterwards; `target` tells where to."""
    if len(text) > MAX_TEXT:
        return True
    names: set[str] | None = None
    looks = 0
    for write in writes.finditer(text):
        name = target(text, write, makers)
        if name is None:
            return True
        names = bound_to(text, makers) if names is None else names
        if name in names:
            looks += 1
            if looks > MAX_LOOKS or not read_after(text, write.end(), name):
                return True
    return False


OCCASIONS: dict[str, Occasion] = {"looped": looped, "made": made, "written": written}
