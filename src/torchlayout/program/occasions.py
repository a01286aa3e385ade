"""Closer looks at a function's text: whether a sink word in it stands where a rule could report it.

A sink word may ask for one of these after "if" (see `gate`). Nothing is parsed. An answer of False is a promise that
the rule has nothing to say; where the text is too odd to tell, the answer is True.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

Occasion = Callable[[str, re.Pattern[str], "re.Pattern[str] | None"], bool]
"""Takes the function's text, what finds the sink words, and what finds their companions."""

_PER_ITEM = re.compile(r"\bmap\b|collate|__getitem__")
_NAME = re.compile(r"([^\W\d]\w*)\s*$")
_BINDS = re.compile(r"\s*(?:(?:async\s+)?for\s+)?([\w\s.,()*\[\]]+?)\s*(?:(?::[^=\n()]*)?=(?!=)|\sin\s)")
_WALRUS = re.compile(r"([^\W\d]\w*)\s*:=")
_TARGET = re.compile(r"\s*([^\W\d][\w.]*)\s*(?:\[.*)?")
_OUT = re.compile(r"out\s*=\s*([^\W\d][\w.]*)")
_ARGUMENT = re.compile(r"\s*([^\W\d][\w.]*)\s*[,)]")
NEAR = 4
"""Lines of one comprehension before and behind its `for`."""
MAX_LINES = 12
"""Lines of one assignment, up to the word that is asked for."""
MAX_CHAIN = 200
"""Characters in front of a call in which its receiver's own calls are looked for."""


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
    """Whether a method that is a sink word is called on what a companion made, directly or through a name."""
    if companions is None:
        return True
    names: set[str] | None = None
    for match in heads.finditer(text):
        before = text[max(match.start() - MAX_CHAIN, 0) : match.start()].rstrip()
        receiver = _NAME.search(before)
        if receiver is None:
            line = before[before.rfind("\n") + 1 :]
            chain = line if sum(map(line.count, "([")) >= sum(map(line.count, ")]")) else before
            if companions.search(chain + ".") is not None:
                return True
            continue
        name = receiver[1]
        if name == "init":
            argument = _ARGUMENT.match(text, match.end())
            if argument is None:
                return True
            name = argument[1].rpartition(".")[2]
        names = _names_of(text, companions) if names is None else names
        if name in names:
            return True
    return False


def written(text: str, heads: re.Pattern[str], companions: re.Pattern[str] | None) -> bool:
    """Whether what a sink word makes is assigned into (`x.reshape(-1)[0] = 1`), directly or through a name."""
    if companions is None:
        return True
    names: set[str] | None = None
    for match in companions.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        target = text[start : match.end() - 1].rstrip("+-*/|&")
        if heads.search(target):
            return True
        found = _OUT.match(text, match.start()) or _TARGET.fullmatch(target)
        if found is None:
            return True
        names = _names_of(text, heads) if names is None else names
        if found[1].rpartition(".")[2] in names:
            return True
    return False


def _names_of(text: str, makers: re.Pattern[str]) -> set[str]:
    """The last parts of the names that may be bound to a value in which one of the makers stands."""
    names: set[str] = set()
    last = -1
    for match in makers.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        if start != last:
            last = start
            names.update(_bound(text, start))
    return names


def _bound(text: str, start: int) -> Iterator[str]:
    """The names that the statement around the line that begins at `start` binds, as far as its lines tell."""
    for _ in range(MAX_LINES):
        end = text.find("\n", start)
        line = text[start : end if end >= 0 else len(text)]
        yield from _WALRUS.findall(line)
        binding = _BINDS.match(line)
        if binding is not None:
            yield from (part.rpartition(".")[2] for part in re.findall(r"[^\W\d][\w.]*", binding[1]))
            return
        if not start or line.lstrip().startswith(("return ", "yield ", "if ", "raise ", "assert ")):
            return
        start = text.rfind("\n", 0, start - 1) + 1


OCCASIONS: dict[str, Occasion] = {"looped": looped, "made": made, "written": written}
