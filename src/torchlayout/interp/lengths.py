"""How long the `__init__` of a class will run, told from its words; nothing is parsed for it.

A word is about a step: of 174 `__init__`s of torchvision, timm and transformers (every 15th file), 54 of the 55 with
more than 450 words took more than 450 steps, and 103 of the 119 others did not.
"""

from __future__ import annotations

import re

from torchlayout.program.outline import Entry
from torchlayout.program.slicing import kept_lines
from torchlayout.program.unit import Unit

_WORD = re.compile(r"#.*|\w+")
_CALLED = re.compile(r"\b([^\W\d]\w*)\(")


class Lengths:
    """The words of functions of one file, with those of what they call in it, each of which counts once."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._known: dict[Entry, int] = {}

    def of(self, entry: Entry) -> int:
        """Of a function or method, or of the `__init__` of a class."""
        known = self._known.get(entry)
        if known is None:
            self._known[entry] = 0  # while those that it calls are counted, which may call it in turn
            known = self._known[entry] = self._find(entry)
        return known

    def _find(self, entry: Entry) -> int:
        if entry.is_class:
            init = self.unit.method(entry, "__init__")
            return 0 if init is None else self.of(init)
        text = self._text(entry)
        called = [self._called(name, entry) for name in dict.fromkeys(_CALLED.findall(text))]
        words = sum(not word.startswith("#") for word in _WORD.findall(text))
        return words + sum(self.of(other) for other in called if other is not None)

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
