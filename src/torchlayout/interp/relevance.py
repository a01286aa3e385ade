"""Which words the functions mention that may run, so that of each `__init__` only what they read need be known.

Told from the outline and the text, as in `callgraph`; nothing is parsed for it. A function may run if it is looked at,
or if one that may run mentions its name; a class's special methods and `forward`, if its name is mentioned.
"""

from __future__ import annotations

from collections.abc import Iterable

from torchlayout.interp.callgraph import SETS, Calls
from torchlayout.program.outline import Entry
from torchlayout.program.slicing import computes_names
from torchlayout.program.unit import Unit


def mark_needed(unit: Unit, calls: Calls, roots: Iterable[Entry]) -> None:
    """Fill `Unit.needed` and `Unit.whole`, given the functions that are looked at."""
    chosen = list(roots)
    reach = _Reach(calls)
    reach.add(chosen)
    if not any(computes_names(unit.outline, entry) for entry in reach.found):
        unit.whole = frozenset(chosen)
        unit.needed = frozenset(reach.words)


class _Reach:
    """The functions that may run, and their words."""

    def __init__(self, calls: Calls) -> None:
        self.outline = calls.outline
        self.found: dict[Entry, None] = {}
        self.words: set[str] = set()
        self._functions = calls.by_name
        self._classes = calls.classes
        self._words_of = calls.words
        self._entered: dict[Entry, None] = {}

    def add(self, entries: Iterable[Entry]) -> None:
        """Take in functions, all that they may call, and the methods that write attributes which these read."""
        self._follow(list(entries))
        while writers := [method for cls in self._entered for method in cls.children if self._writes(method)]:
            self._follow(writers)

    def _writes(self, method: Entry) -> bool:
        if method in self.found or method.is_class or method.name == "__init__":
            return False
        return any(name in self.words for name in SETS.findall(self.outline.code(method)))

    def _follow(self, pending: list[Entry]) -> None:
        while pending:
            entry = pending.pop()
            if entry in self.found:
                continue
            self.found[entry] = None
            mentioned = self._words_of(entry)
            self.words |= mentioned
            pending.extend(self._named_in(mentioned))
            if entry.is_method and entry.parent is not None:
                pending.extend(self._enter(entry.parent))

    def _named_in(self, words: frozenset[str]) -> list[Entry]:
        found = [
            entry
            for name in words & self._functions.keys()
            for entry in self._functions[name]
            if not (entry.is_method and (name == "forward" or _is_special(name)))
        ]
        for name in words & self._classes.keys():
            for cls in self._classes[name]:
                found.extend(self._enter(cls))
        return found

    def _enter(self, cls: Entry) -> list[Entry]:
        """What may run of a class because an object of it is made; its `__init__` itself is sliced."""
        if cls in self._entered:
            return []
        self._entered[cls] = None
        found = [
            child
            for child in cls.children
            if child.name != "__init__" and (child.name == "forward" or _is_special(child.name))
        ]
        init = cls.child("__init__")
        if init is not None:
            found.extend(self._named_in(self.outline.mentions(init)))
        for base in cls.bases:
            for other in self._classes.get((base or "").rpartition(".")[2], ()):
                found.extend(self._enter(other))
        return found


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
