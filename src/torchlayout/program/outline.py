"""The outline of a file: its functions, classes, imports and module-level names, from the cheap `ast`.

Only statements that can hold definitions are walked, expressions never. Everything more costly (which
functions hold a *sink word*, which names a function mentions) comes from a regular expression over the text.

Vocabulary: *entry* (a function or class), *sink word* (a name whose call a rule could report on, such as
`.view(`), *companion* (a word that must stand in the same function for a sink word to count), *target* (an outermost
function whose lines hold a sink word).
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property

from torchlayout.program.entries import Entry, dotted
from torchlayout.program.gate import Sinks, by_condition, gate, words_in
from torchlayout.program.scan import Scan
from torchlayout.program.source import Source

_MENTION = re.compile(r"[^\W\d]\w*")
_STRINGS = (
    r"""("{3}(?:\\[\s\S]|[^\\])*?"{3}|'{3}(?:\\[\s\S]|[^\\])*?'{3}|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*')"""
)
_REMARK = re.compile(rf"^[ \t]*#.*\n|(?<=\s)#.*|{_STRINGS}", re.MULTILINE)
"""Comments, and as a group strings, in which a # begins none."""
_CALLED = re.compile(r"\b([^\W\d]\w*)\s*\(")


class Outline:
    """The definitions, imports and module-level names of one file."""

    def __init__(self, source: Source, tree: ast.Module) -> None:
        self.source = source
        self.tree = tree
        self.entries: list[Entry] = []
        """All of them, outer before inner, in order of their lines."""
        self.imports: dict[str, str] = {}
        """Module-level imports: local name -> dotted path; relative ones keep their dots."""
        self.star_imports: list[str] = []
        self.assigned: dict[str, list[ast.expr | None]] = {}
        """Module-level names -> the value of each assignment, None where it is not a plain `name = value`."""
        self.rebound: set[str] = set()
        """Names that a function declares `global`."""
        self.module_sinks: list[int] = []
        """Lines of module level that hold a sink word."""
        self._words: frozenset[str] | None = None
        self._code: dict[Entry, str] = {}
        self._calls: dict[Entry, frozenset[str]] = {}
        self._mentions: dict[Entry, frozenset[str]] = {}
        Scan(self).run()
        self._starts = [entry.start for entry in self.entries]
        self._top = {entry.name: entry for entry in self.top}

    # -------------------------------------------------------------- look-ups
    @property
    def top(self) -> list[Entry]:
        """Definitions at module level, also those under an `if` or `try`."""
        return [entry for entry in self.entries if entry.parent is None]

    def find(self, name: str) -> Entry | None:
        """The last module-level definition of a name."""
        return self._top.get(name)

    def at(self, line: int) -> Entry | None:
        """The innermost entry whose lines hold `line`; None at module level."""
        index = bisect_right(self._starts, line) - 1
        entry = self.entries[index] if index >= 0 else None
        while entry is not None and entry.end < line:
            entry = entry.parent
        return entry

    def outermost_at(self, offset: int) -> Entry | None:
        """The outermost function around an offset, or the class whose own statement stands there; None at module level.

        Of a method that is the method, not its class.
        """
        entry = self.at(bisect_right(self.source.starts, offset))
        while entry is not None and (entry.nested or entry.is_class) and entry.parent is not None:
            entry = entry.parent
        return entry

    # -------------------------------------------------------------- sinks
    def mark_sinks(self, words: Iterable[str]) -> None:
        """Find the sink words: fills `Entry.sinks` and `module_sinks`."""
        chosen = frozenset(words)
        if chosen == self._words:
            return
        self._words = chosen
        self.module_sinks = []
        for entry in self.entries:
            entry.sinks, entry.sources = [], set()
        present = words_in(self.source.clean)
        for sinks in by_condition(chosen):
            if sinks.may_stand_among(present):
                self._mark(sinks)
        for lines in (self.module_sinks, *(entry.sinks for entry in self.entries)):
            lines[:] = sorted(set(lines))

    def _mark(self, sinks: Sinks) -> None:
        text, line, last = self.source.clean, 1, 0
        counts: dict[Entry | None, bool] = {}
        for match in sinks.heads.finditer(text):
            end = match.end()  # the name, where dot and name stand on two lines
            line += text.count("\n", last, end)
            last = end
            start = text.rfind("\n", 0, end) + 1
            if text[start:end].lstrip().startswith("#"):
                continue
            owner = self.at(line)
            if _in_docstring(self.tree if owner is None else owner.node, line):
                continue
            if owner not in counts:
                counts[owner] = _counts(sinks, text if owner is None else self.code(owner))
            if not counts[owner]:
                continue
            if owner is None:
                self.module_sinks.append(line)
            else:
                owner.sinks.append(line)
                owner.sources.add(sinks.source)

    def targets(self) -> list[Entry]:
        """The outermost functions that hold a sink word, in order of their lines.

        Sinks in a class body itself stay with the class (`entry.sinks`), those at module level in `module_sinks`.
        """
        return [entry for entry in self.entries if not entry.is_class and not entry.nested and entry.has_sinks]

    # -------------------------------------------------------------- who mentions whom
    def text(self, entry: Entry) -> str:
        return self.source.lines(entry.start, entry.end)

    def code(self, entry: Entry) -> str:
        """The same without its docstring and without comments."""
        found = self._code.get(entry)
        if found is None:
            first = _docstring(entry.node)
            found = self.text(entry)
            end = 0 if first is None else first.end_lineno or first.lineno
            alone = len(entry.node.body) == 1 or entry.node.body[1].lineno > end
            if first is not None and first.lineno > entry.node.lineno and alone:
                found = self.source.lines(entry.start, first.lineno - 1) + self.source.lines(end + 1, entry.end)
            if "#" in found:
                found = _REMARK.sub(r"\1", found)
            self._code[entry] = found
        return found

    def calls(self, entry: Entry) -> frozenset[str]:
        """Names written as `name(` or `.name(` in the entry's lines, its own definition included."""
        found = self._calls.get(entry)
        if found is None:
            found = self._calls[entry] = frozenset(_CALLED.findall(self.code(entry)))
        return found

    def mentions(self, entry: Entry) -> frozenset[str]:
        """All words in the entry's lines."""
        found = self._mentions.get(entry)
        if found is None:
            found = self._mentions[entry] = frozenset(_MENTION.findall(self.code(entry)))
        return found

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for match in _MENTION.finditer(self.source.clean):
            found.setdefault(match[0], []).append(match.start())
        return found

    def places(self, name: str) -> list[int]:
        """The offsets at which a word stands, wherever in the text."""
        return self._places.get(name, [])


def _docstring(definition: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> ast.stmt | None:
    first = definition.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return first
    return None


def _in_docstring(definition: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, line: int) -> bool:
    first = _docstring(definition)
    return first is not None and first.lineno <= line <= (first.end_lineno or first.lineno)


def _counts(sinks: Sinks, text: str) -> bool:
    """Whether sink words count in a definition with this text."""
    if sinks.companions is not None and sinks.companions.search(text) is None:
        return False
    return sinks.occasion is None or sinks.occasion(text, sinks.heads, sinks.companions)


__all__ = ["Entry", "Outline", "dotted", "gate"]
