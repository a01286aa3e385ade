"""Program slices of `__init__`: only the statements on which the attributes depend that somebody reads.

A class sets dozens of attributes, and makes a whole model's layers; the methods that are looked at read a few. What
is left out is neither parsed nor run, so that reading such an attribute gives something unknown.

A *backward slice* (Weiser 1981): the statements are gone through from the last to the first; one that binds a needed
name or attribute is kept, and all words in it are needed from there on. Names are taken as words, wherever they
stand, so that more is kept than need be. Whole statements of the body are kept or left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlayout.program.outline import Entry, Outline
    from torchlayout.program.unit import Unit

_WORD = re.compile(r"[^\W\d]\w*")
_BY_NAME = re.compile(
    r"\b(?:getattr|setattr|delattr|hasattr)\(\s*[^,()]+(?:\([^()]*\))?,(?!\s*[\"'])|__dict__|\bvars\(|(?<![.\w])(?:exec|eval|locals)\("
)
"""Access to attributes whose name is computed."""
_REACHING = frozenset({"getattr", "setattr", "delattr", "hasattr", "__dict__", "vars", "exec", "eval", "locals"})
"""Of which one stands in every such text."""
_BLOCKS = ("body", "orelse", "finalbody")


def kept_lines(unit: Unit, entry: Entry) -> list[tuple[int, int]] | None:
    """The first and last line of each piece of an `__init__` that is to be read, its head included.

    None where all of it is: in a file of which `Unit.needed` says nothing, or where the lines cannot be told apart.
    """
    if unit.needed is None or entry.name != "__init__" or not entry.is_method or entry in unit.whole:
        return None
    assert not isinstance(entry.node, ast.ClassDef)
    body = entry.node.body
    if body[0].lineno <= entry.node.lineno or _share_lines(body):
        return None
    if computes_names(unit.outline, entry):
        return None
    args = [*entry.node.args.posonlyargs, *entry.node.args.args]
    this = args[0].arg if args else "self"
    wanted = _Wanted(unit, (unit.needed | _read_by_relatives(unit, entry)) - {this}, this)
    kept = [statement for statement in reversed(body) if wanted.take(statement)]
    if len(kept) == len(body):
        return None
    kept = kept or body[-1:]
    head = (entry.start, body[0].lineno - 1)
    return [head, *((statement.lineno, _last_line(statement)) for statement in reversed(kept))]


def _read_by_relatives(unit: Unit, entry: Entry) -> frozenset[str]:
    """Words in the `__init__` of classes that the entry's own derives from, or that derive from it."""
    owner = entry.parent
    assert owner is not None
    words: set[str] = set()
    for other in unit.outline.entries:
        if other.is_class and other is not owner and (unit.descends(other, owner) or unit.descends(owner, other)):
            init = other.child("__init__")
            if init is not None:
                words |= unit.outline.mentions(init)
    return frozenset(words)


def _share_lines(body: list[ast.stmt]) -> bool:
    return any(after.lineno <= _last_line(before) for before, after in pairwise(body))


def _last_line(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


class _Wanted:
    """What is needed so far of the names and attributes that statements bind."""

    def __init__(self, unit: Unit, needed: frozenset[str], this: str) -> None:
        self.source = unit.source
        self.needed = set(needed)
        self.this = this

    def take(self, statement: ast.stmt) -> bool:
        """Whether a statement is kept; then what it reads is needed too."""
        if not self._is_wanted(statement):
            return False
        self.needed |= self._words(statement) - {self.this}
        return True

    def _words(self, node: ast.stmt) -> set[str]:
        return set(_WORD.findall(self.source.lines(node.lineno, _last_line(node))))

    def _is_wanted(self, statement: ast.stmt) -> bool:
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Delete)):
            targets = statement.targets if isinstance(statement, (ast.Assign, ast.Delete)) else [statement.target]
            return any(name in self.needed for target in targets for name in _bound(target))
        if isinstance(statement, ast.Expr):
            return self._has_effect(statement)
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            return any((alias.asname or alias.name.partition(".")[0]) in self.needed for alias in statement.names)
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return statement.name in self.needed
        if isinstance(statement, ast.Assert):
            return self._reads_needed(statement.test)
        if isinstance(statement, (ast.Pass, ast.Raise)):
            return False
        if isinstance(statement, (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)):
            return self._holds_wanted(statement)
        return True

    def _holds_wanted(self, statement: ast.stmt) -> bool:
        """Whether a statement with blocks binds something needed, or does, in its head or in a block."""
        inner = list(_inside(statement))
        if isinstance(statement, ast.If) and any(isinstance(found, ast.Raise) for found in inner):
            if self._reads_needed(statement.test):
                return True
        if isinstance(statement, (ast.For, ast.AsyncFor)) and any(n in self.needed for n in _bound(statement.target)):
            return True
        return any(self._is_wanted(found) for found in inner)

    def _reads_needed(self, test: ast.expr) -> bool:
        return any(isinstance(node, ast.Name) and node.id in self.needed for node in ast.walk(test))

    def _has_effect(self, statement: ast.Expr) -> bool:
        """Whether an expression that stands alone may change something needed: calls of own methods always may."""
        call = statement.value
        if isinstance(call, ast.Constant):
            return False
        if not isinstance(call, ast.Call):
            return True
        if isinstance(call.func, ast.Attribute):
            receiver = call.func.value
            own = isinstance(receiver, ast.Name) and receiver.id == self.this
            named = call.args[0] if call.args else None
            if own and call.func.attr in ("register_buffer", "register_parameter", "add_module"):
                literal = isinstance(named, ast.Constant) and isinstance(named.value, str)
                return not literal or named.value in self.needed  # type: ignore[union-attr]
            if own or call.func.attr == "__init__":
                return True
        return not (self._words(statement) - {self.this}).isdisjoint(self.needed)


def _bound(target: ast.expr) -> Iterator[str]:
    """The names and attributes that an assignment to this target changes."""
    for node in ast.walk(target):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _inside(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements directly in the blocks of one."""
    for name in _BLOCKS:
        yield from getattr(statement, name, ())
    for handler in getattr(statement, "handlers", ()):
        yield from handler.body


def computes_names(outline: Outline, entry: Entry) -> bool:
    """Whether a function reaches attributes by a computed name."""
    return not _REACHING.isdisjoint(outline.mentions(entry)) and _BY_NAME.search(outline.code(entry)) is not None
