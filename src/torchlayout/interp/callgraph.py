"""Who calls whom in one file, told by names from the outline and the text; nothing is parsed for it."""

from __future__ import annotations

import ast
import re

from torchlayout.program.outline import Entry, Outline, dotted

_SETTERS = r"\bsetattr\s*\(|\bregister_(?:buffer|parameter)\s*\(|__dict__|\.\s*data\s*=(?!=)"
_TESTS = re.compile(r"\bisinstance\s*\([^()]*(?:\([^()]*\)[^()]*)?\)")

SETS = re.compile(r"\.([^\W\d]\w*)\s*(?:\[[^\n=]{0,100}\]\s*)?(?::[^=\n]{1,100})?(?:[-+*/|&]|//|\*\*)?=(?!=)")
"""An attribute that is set."""
MANY = 100
"""Functions of a file from which on it is worth finding out where each word stands."""
FORWARDS = ("forward", "__call__")
GIVING_ITEMS = ("__iter__", "__next__", "__getitem__")


def is_decorated(entry: Entry, name: str) -> bool:
    """Whether a function of that name, alone or of a module, is among the decorators. Those with arguments count as
    calls."""
    return any((dotted(one) or "").rpartition(".")[2] == name for one in entry.node.decorator_list)


class Calls:
    """Who calls whom in one file, by name."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline
        self.outermost = [entry for entry in outline.entries if not entry.is_class and not entry.nested]
        self.by_name: dict[str, list[Entry]] = {}
        """Functions and methods that stand in no other, by name."""
        self.classes: dict[str, list[Entry]] = {}
        """Classes by name."""
        self._naming: dict[str, list[Entry]] = {}
        self._known_helpers: dict[Entry, list[Entry]] = {}
        for entry in outline.entries:
            if entry.is_class:
                self.classes.setdefault(entry.name, []).append(entry)
        self.aliases: dict[str, str] = {}
        """Module-level names of what a class has: "f" -> "Cls.apply" for `f = Cls.apply`."""
        for name, values in outline.assigned.items():
            text = dotted(values[0]) if isinstance(values[0], ast.Attribute) else None
            if text is not None and (text.partition(".")[0] in self.classes or text.endswith(".apply")):
                self.aliases[name] = text
        for entry in self.outermost:
            self.by_name.setdefault(entry.name, []).append(entry)

    def _mentioning(self, name: str) -> list[Entry]:
        """Functions in whose code the name stands."""
        known = self._naming.get(name)
        if known is None:
            several = len(self.outermost) > MANY
            known = self._naming[name] = [
                entry
                for entry in (self._around_mentions(name) if several else self.outermost)
                if name in self.outline.text(entry) and name in self.outline.mentions(entry)
            ]
        return known

    def _around_mentions(self, name: str) -> list[Entry]:
        """The outermost functions on whose lines a name stands."""
        found = {self.outline.outermost_at(start) for start in self.outline.places(name)}
        functions = (entry for entry in found if entry is not None and not entry.is_class)
        return sorted(functions, key=lambda entry: entry.start)

    def words(self, entry: Entry) -> frozenset[str]:
        """All words of a function, and those of what its module-level aliases stand for."""
        mentioned = self.outline.mentions(entry)
        named = mentioned & self.aliases.keys() if self.aliases else ()
        return mentioned.union(*(self.aliases[name].split(".") for name in named)) if named else mentioned

    def callers(self, callee: Entry) -> list[Entry]:
        """Functions whose text calls the name; for a module's forward, those of modules that hold one of its class."""
        owner = callee.parent if callee.is_method else None
        if owner is not None and callee.name == "__init__":
            return [entry for entry in self._mentioning(owner.name) if entry is not callee]
        if owner is None or callee.name not in FORWARDS:
            name = callee.name
            return [
                e
                for e in self._mentioning(name)
                if e is not callee and (name in self.outline.calls(e) or is_decorated(e, name))
            ]
        found: dict[Entry, None] = {}
        applied = [name for name, text in self.aliases.items() if text == f"{owner.name}.apply"]
        for entry in [entry for name in (owner.name, *applied) for entry in self._mentioning(name)]:
            holder = entry.parent
            if entry.name == "__init__" and holder is not None:
                found.update({e: None for e in holder.children if e.name in FORWARDS and e is not callee})
            elif entry is not callee:
                found[entry] = None
        return list(found)

    def helpers(self, caller: Entry) -> list[Entry]:
        """What a function calls in this file, as far as names tell; of the modules that its object holds, their
        forward, and what gives the items of objects."""
        known = self._known_helpers.get(caller)
        if known is None:
            known = self._known_helpers[caller] = self._helpers(caller)
        return known

    def _helpers(self, caller: Entry) -> list[Entry]:
        found: list[Entry] = []
        for name in self.outline.mentions(caller) & self.by_name.keys():
            found.extend(e for e in self.by_name.get(name, ()) if e.name not in FORWARDS and e is not caller)
        holder = caller.parent
        init = holder.child("__init__") if holder is not None else None
        mentioned = self.words(init) if init is not None else self._words_beside_tests(caller)
        for name in mentioned & self.classes.keys():
            owner = self.outline.find(name)
            if owner is not None and owner.is_class:
                found.extend(child for child in owner.children if child.name in (*FORWARDS, *GIVING_ITEMS))
        return found

    def _words_beside_tests(self, entry: Entry) -> frozenset[str]:
        """Its words, without classes of which it only asks whether something is an object."""
        code = self.outline.code(entry)
        tests = " ".join(_TESTS.findall(code)) if "isinstance" in code else ""
        asked = self.classes.keys() & set(re.findall(r"[^\W\d]\w*", tests))
        if not asked:
            return self.words(entry)
        rest = _TESTS.sub("", code)
        return self.words(entry) - {name for name in asked if re.search(rf"\b{name}\b", rest) is None}

    def _lineage(self, cls: Entry) -> dict[Entry, None]:
        """A class and those that it derives from, directly or not, as far as names tell."""
        found: dict[Entry, None] = {cls: None}
        pending = [cls]
        while pending:
            for name in pending.pop().bases:
                new = [base for base in self.classes.get(name or "", ()) if base not in found]
                found.update(dict.fromkeys(new))
                pending.extend(new)
        return found

    def is_module(self, cls: Entry) -> bool:
        """Whether a class derives from one named like `nn.Module`, as far as this file tells."""
        return any((name or "").endswith("Module") for known in self._lineage(cls) for name in known.bases)

    def may_set(self, names: frozenset[str]) -> bool:
        """Whether a function of the file other than an `__init__` may set one of these attributes, of any object."""
        named = "|".join(sorted(names))
        sets = re.compile(rf"\.\s*(?:{named})\s*(?:[-+*/|&@]?=(?!=)|,[^\n=()]*=(?!=)|:[^=\n]{{1,80}}=(?!=))|{_SETTERS}")
        return any(sets.search(self.outline.code(e)) is not None for e in self.outermost if e.name != "__init__")
