"""Which functions make tensors of the kinds that rules ask for, and which may hand some on.

Told by names and words, as in `callgraph`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from torchlayout.interp.callgraph import FORWARDS, Calls
from torchlayout.interp.sources import KNOWN, RARE, SOURCES, TURNED
from torchlayout.program.outline import Entry
from torchlayout.program.textflow import writes_into_copies

MAX_CALLS_AWAY = 3
"""Calls between a function and the one that makes what reaches it, of rare kinds."""


class Makers:
    """What the functions of one file make, by the kinds of `sources.SOURCES`."""

    def __init__(self, calls: Calls, imported: Callable[[str], Iterable[str]] | None = None) -> None:
        """`imported` gives the texts that define what an import leads to, where imports are followed."""
        self.calls = calls
        self.outline = calls.outline
        self._imported = imported
        self._strided_imports: dict[tuple[str, str], bool] = {}
        self._strided: dict[tuple[Entry, str], bool] = {}
        self._strided_names: dict[str, set[str]] = {}
        self._stands: dict[str, bool] = {}
        """Whether the words of a kind stand in the file at all."""

    @property
    def follows_imports(self) -> bool:
        return self._imported is not None

    def may_hand_over(self, caller: Entry, callee: Entry, source: str) -> bool:
        """Whether the caller, or something else that it calls, makes tensors of a kind, or tensors of known sizes."""
        if caller.name == "__init__" and caller.is_method:
            return TURNED.search(self.outline.code(caller)) is not None
        if self._makes(caller, source) or KNOWN.search(self.outline.code(caller)):
            return True
        calls = caller.name in FORWARDS  # else modules whose class is mentioned are made, and seldom called
        others = (e for e in self.calls.helpers(caller) if e is not callee and (calls or e.name not in FORWARDS))
        return any(self._makes(other, source) for other in others)

    def may_meet(self, entry: Entry, source: str) -> bool:
        """Whether something of a kind may reach the sinks of a function that is run on its own: it is made there, by
        what it calls, or by the `__init__` of its class."""
        return self._makes(entry, source) or self._is_made_around(entry, source)

    def _around(self, entry: Entry) -> list[Entry]:
        init = entry.parent.child("__init__") if entry.parent is not None else None
        return self.calls.helpers(entry) if init is None else [init, *self.calls.helpers(entry)]

    def _is_made_around(self, entry: Entry, source: str) -> bool:
        """Whether what a function calls makes tensors of a kind; of a rare kind, also what that calls in its turn."""
        if source not in RARE:
            return any(self._makes(other, source) for other in self._around(entry))
        if source not in self._stands:
            self._stands[source] = SOURCES[source].search(self.outline.source.clean) is not None
        if not (self._stands[source] or self._imported is not None):
            return False
        reached, seen = [entry], {entry}
        for _ in range(MAX_CALLS_AWAY):
            reached = [other for caller in reached for other in self._around(caller) if other not in seen]
            if any(self._makes(other, source) for other in reached):
                return True
            seen.update(reached)
        return False

    def _makes(self, entry: Entry, source: str) -> bool:
        """Whether a function makes tensors of a kind, or mentions what does outside functions or in other files."""
        known = self._strided.get((entry, source))
        if known is None:
            code = self.outline.code(entry)
            known = SOURCES[source].search(code) is not None or (source == "copied" and writes_into_copies(code))
            known = known or self._uses_strided_name(entry, source) or self._is_handed_strided(entry, source)
            self._strided[entry, source] = known
        return known

    def _uses_strided_name(self, entry: Entry, source: str) -> bool:
        """Whether it mentions a name that the module assigns such a tensor of torch."""
        names = self._strided_names.get(source)
        if names is None:
            names = {name for name in self.outline.assigned if self._is_assigned_strided(name, source)}
            self._strided_names[source] = names
        return bool(names) and not names.isdisjoint(self.outline.mentions(entry))

    def _is_assigned_strided(self, name: str, source: str) -> bool:
        values = self.outline.assigned[name]
        value = values[0] if len(values) == 1 else None
        if value is None or isinstance(value, ast.Constant):
            return False
        text = self.outline.source.lines(value.lineno, value.end_lineno or value.lineno)
        return "torch" in text and SOURCES[source].search(text) is not None

    def _is_handed_strided(self, entry: Entry, source: str) -> bool:
        """Whether a file that a name of the function is imported from makes such tensors."""
        if self._imported is None:
            return False
        paths = [self.outline.imports[name] for name in self.calls.words(entry) & self.outline.imports.keys()]
        for path in paths:
            if (path, source) not in self._strided_imports:
                texts = self._imported(path)
                found = any(SOURCES[source].search(text) is not None for text in texts)
                self._strided_imports[path, source] = found
        return any(self._strided_imports[path, source] for path in paths)
