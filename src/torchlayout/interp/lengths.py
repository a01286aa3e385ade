"""How long the `__init__` of a class will run, told from its words; nothing is parsed for it.

A word is about a step: of 142 `__init__`s of torchvision, timm and transformers (every 15th file), 40 of the 41 with
more than 450 words took more than 450 steps, and 85 of the 101 others did not.
"""

from __future__ import annotations

import re

from torchlayout.program.outline import Entry
from torchlayout.program.slicing import kept_lines
from torchlayout.program.unit import Unit

_WORD = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|#.*|\w+")
_CALLED = re.compile(r"\b([^\W\d]\w*)\(")


class Lengths:
    """The words of functions of one file, with those of all that they call in it. A string is one word."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._own: dict[Entry, tuple[int, list[Entry]]] = {}
        """Each function's own words, and what it calls."""

    def of(self, entry: Entry) -> int:
        """Of a function or method, or of the `__init__` of a class; each function that is called counts once."""
        words, found, pending = 0, {entry}, [entry]
        while pending:
            current = pending.pop()
            if current not in self._own:
                self._own[current] = self._find(current)
            own, called = self._own[current]
            words += own
            pending.extend(other for other in called if other not in found)
            found.update(called)
        return words

    def _find(self, entry: Entry) -> tuple[int, list[Entry]]:
        if entry.is_class:
            init = self.unit.method(entry, "__init__")
            return 0, [] if init is None else [init]
        text = self._text(entry)
        called = [self._called(name, entry) for name in dict.fromkeys(_CALLED.findall(text))]
        words = sum(not word.startswith("#") for word in _WORD.findall(text))
        return words, [other for other in dict.fromkeys(called) if other is not None]

    def _text(self, entry: Entry) -> str:
        pieces = kept_lines(self.unit, entry)
        if pieces is None:
            return self.unit.outline.code(entry)
        return "".join(self.unit.source.lines(first, last) for first, last in pieces[1:])

    def _called(self, name: str, entry: Entry) -> Entry | None:
        if name == "__init__" and entry.parent is not None:  # `super().__init__(...)`
            return next(iter(self.unit.bases(entry.parent)), None)
        found = self.unit.outline.find(name)
        return found if found is not None or entry.parent is None else self.unit.method(entry.parent, name)
