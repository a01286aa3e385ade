"""What flows where in the text of one function, as far as names tell. Nothing is parsed.

Names are words, wherever they stand; an attribute counts by its last part. What a statement binds is read from the
lines that it begins on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_NAME = re.compile(r"([^\W\d]\w*)\s*$")
_BINDS = re.compile(r"\s*(?:(?:async\s+)?for\s+)?([\w\s.,()*\[\]]+?)\s*(?:(?::[^=\n()]*)?=(?!=)|\sin\s)")
_WALRUS = re.compile(r"\b([^\W\d]\w*)\s*:=")
_TARGET = re.compile(r"\s*([^\W\d][\w.]*)\s*(?:\[.*)?")
_OUT = re.compile(r"out\s*=\s*([^\W\d][\w.]*)")
_DECLARED = re.compile(r"\s*(?:(?:async\s+)?def\b.*|(?:\*{0,2}\w+\s*,\s*)*\*{0,2}\w+\s*:[^\[]*\[.*)")
"""What stands before the `=` of `x: Optional[Tensor] = None`."""
_ARGUMENT = re.compile(r"\s*([^\W\d][\w.]*)\s*[,)]")
_MODULES = frozenset({"init", "torch", "functional", "F", "nn"})
"""Names before functions that write to their first argument, as in `F.relu_(x)`."""
_METHOD = re.compile(r"\.\s*([^\W\d]\w*)\s*$")
_BRACKETS = re.compile(r"[()\[\]{}]")
_INDEXED_WRITE = re.compile(r"\]\s*\.\s*\w+_\(")
_LITERAL = re.compile(r"\"[^\"]*\"|'[^']*'")
_PARTS = re.compile(r"[()\[\]{},:]|[^()\[\]{},:]+")
_PLAIN = re.compile(r"\s*(?:[-+]?\s*\d*|\.\.\.|None|True|False|[rbfu]*\"[^\"]*\"|[rbfu]*'[^']*')\s*")
_HEADS = (
    "if ", "elif ", "while ", "for ", "async ", "with ", "try", "except", "else", "assert ", "def ", "del ",
    ")", "]", "}", "@",
)  # fmt: skip
_OTHERWISE = ("else", "elif", "except")
_LEAVES = re.compile(r"\b(?:return|yield|break|continue|except|finally)\b")
_ASKED = "shape|size|dim|numel|ndim|dtype|device|stride|is_contiguous|data_ptr|requires_grad"
"""Attributes that tell nothing of the elements."""
MAX_LINES = 12
"""Lines of one assignment, up to the word that is asked for."""
MAX_WIDTH = 1_000
"""Characters of a line of which it is told what it binds; in a longer one all names may be bound."""
MAX_CHAIN = 200
"""Characters in front of a call in which its receiver's own calls are looked for."""


def written_to(text: str, call: re.Match[str], companions: re.Pattern[str]) -> str | None:
    """What a call in place writes to, as `_receiver` tells it: its receiver, or the first argument of a function."""
    name = _receiver(text, call.start(), companions)
    if name not in _MODULES:
        return name
    argument = _ARGUMENT.match(text, call.end())
    return argument[1].rpartition(".")[2] if argument is not None else None


def _receiver(text: str, end: int, companions: re.Pattern[str]) -> str | None:
    """The name at the start of a chain of subscripts and in-place calls that ends at an offset, empty where it starts
    otherwise; None where a companion stands in the chain, or it is too long to tell."""
    first = max(end - MAX_CHAIN, 0)
    own = True
    while end > first:
        before = text[first:end].rstrip()
        if before.endswith("]"):
            start = _opening(before)
            if start is None or _may_copy(before[start + 1 : -1], text):
                return None
        elif before.endswith(")"):
            start = _opening(before)
            method = _METHOD.search(before[:start]) if start is not None else None
            if method is None:
                return None if companions.search(before) is not None else ""
            if companions.search(f".{method[1]}(") is not None:
                return None
            own = own and method[1].endswith("_")
            start = method.start()
        else:
            name = _NAME.search(before)
            return name[1] if name is not None and own else ""
        end = first + start
    return None


def _opening(text: str) -> int | None:
    """Where the bracket opens that the last character closes."""
    depth = 0
    for match in _BRACKETS.finditer(text[::-1]):
        depth += 1 if match[0] in ")]}" else -1
        if depth == 0:
            return len(text) - match.end()
    return None


def writes_into_copies(text: str) -> bool:
    """Whether something is written into what indexing may have copied: `x[mask].add_(1)`."""
    return any(_is_copying_index(text, match.start()) for match in _INDEXED_WRITE.finditer(text))


def _is_copying_index(text: str, end: int) -> bool:
    """Whether the subscript whose bracket closes at an offset may copy."""
    before = text[max(end - MAX_CHAIN, 0) : end + 1]
    start = _opening(before)
    return start is None or _may_copy(before[start + 1 : -1], text)


def _may_copy(index: str, text: str) -> bool:
    """Whether indexing so may copy, in a function with this text: numbers, slices and keys of dictionaries do not."""
    depth = 0
    items = [""]
    for mark in _PARTS.findall(index):
        depth += (mark in "([{") - (mark in ")]}")
        if mark == "," and not depth:
            items.append("")
        elif depth or mark not in ")]}":
            items[-1] += mark if not depth or mark != ":" else " "
    return any(":" not in item and not _PLAIN.fullmatch(item) and not _counts(item.strip(), text) for item in items)


def _counts(name: str, text: str) -> bool:
    """Whether a loop of the function counts with this name."""
    return (
        name.isidentifier() and re.search(rf"\bfor\s+\(?{name}\b[^\n]*?\bin\s+(?:enumerate|range)\b", text) is not None
    )


def assigned_to(text: str, mark: re.Match[str], makers: re.Pattern[str]) -> str | None:
    """The name that an assignment into something (`x[0] = 1`, `x += 1`, `out=x`) writes to, empty for a declaration;
    None where a maker stands there, or it is too odd to tell."""
    start = text.rfind("\n", 0, mark.start()) + 1
    target = text[start : mark.end() - 1].rstrip("+-*/|&")
    if _DECLARED.fullmatch(target):
        return ""
    found = _OUT.match(text, mark.start()) or _TARGET.fullmatch(target)
    return None if found is None or makers.search(target) else found[1].rpartition(".")[2]


def read_after(text: str, offset: int, name: str) -> bool:
    """Whether what a name holds at an offset of a function's text is surely read afterwards, by a statement of the same
    block or of one around it, before the name is bound anew or something leads elsewhere."""
    end = text.find("\n", offset) + 1
    level, loops = _blocks_around(text[:end])
    read = re.compile(
        rf"(?<![.\w])(?<!len\()(?<!type\()(?<!id\()(?<!isinstance\(){name}\b(?!\s+is\b|\s*[\[=,:]|\s*\.\s*(?:{_ASKED}|\w+_\())"
    )
    bound = re.compile(rf"\b{name}\s*(?:[,:][^\n=]*)?:?=(?!=)|\b(?:for|as|del|global)\b[^\n]*\b{name}\b")
    passing = False  # a branch that is not the one taken
    for line in text[end:].split("\n") if end else ():
        body = line.lstrip(" \t")
        if not body or body[0] in ")]}":
            continue
        indent = len(line) - len(body)
        if indent <= level:
            passing = (passing or indent < level) and body.startswith(_OTHERWISE)
            level = indent
            if any(indent <= loop for loop in loops):
                return False
            if (
                not body.startswith(_HEADS)
                and read.search(_LITERAL.sub("", body.partition(" = ")[2] or body)) is not None
            ):
                return True
        if not passing and (bound.search(line) is not None or _LEAVES.search(line) is not None):
            return False
    return False


def _blocks_around(text: str) -> tuple[int, list[int]]:
    """The indentation of the last line, and of the heads of the loops around it."""
    level: int | None = None
    first = 0
    loops = []
    for line in reversed(text.split("\n")):
        body = line.lstrip(" \t")
        indent = len(line) - len(body)
        if not body or (level is not None and (indent >= level or body[0] in ")]}")):
            continue
        first = indent if level is None else first
        level = indent
        if body.startswith(("for ", "while ", "async ")):
            loops.append(indent)
    return first, loops


def bound_to(text: str, makers: re.Pattern[str]) -> set[str]:
    """The last parts of the names that may be bound to a value in which one of the makers stands."""
    names: set[str] = set()
    last = -1
    for match in makers.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        if match[0].startswith("]") and not _is_copying_index(text, match.start()):
            continue
        if start != last:
            last = start
            names.update(_bound(text, start))
    return names


def _bound(text: str, start: int) -> Iterator[str]:
    """The names that the statement around the line that begins at `start` binds, as far as its lines tell."""
    for _ in range(MAX_LINES):
        end = text.find("\n", start)
        line = text[start : end if end >= 0 else len(text)]
        if len(line) > MAX_WIDTH:
            yield from re.findall(r"[^\W\d]\w*", line)
            return
        yield from _WALRUS.findall(line)
        binding = _BINDS.match(line)
        if binding is not None:
            yield from (part.rpartition(".")[2] for part in re.findall(r"[^\W\d][\w.]*", binding[1]))
            return
        if not start or line.lstrip().startswith(("return ", "yield ", "if ", "raise ", "assert ")):
            return
        start = text.rfind("\n", 0, start - 1) + 1
