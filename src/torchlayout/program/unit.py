"""One file as the interpreter and the rules see it: outline, lowered definitions, names, constants, places."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from torchlayout.program.constants import UNKNOWN, Unknown, fold
from torchlayout.program.depth import CannotLower, DepthGuard
from torchlayout.program.outline import Entry, Outline
from torchlayout.program.source import Source
from torchlayout.program.spans import Span

if TYPE_CHECKING:  # what most files never need is imported when it is
    from torchlayout.program import nodes
    from torchlayout.program.places import CallSite

MAX_NAMES_DEEP = 20
"""Module-level constants whose values mention one another that are followed."""
MAX_LOOKUPS = 1000
"""Names that are looked up for the value of one constant."""


class Unit:
    """One file: its text and what is known of it, each part made when first asked for.

    `tree` is the `ast.Module` of the same text, where somebody has it already (flake8 does). `outline`, and all
    that needs it, raises `SyntaxError` where the text is no Python (also for a null byte, or for nesting that
    the parser refuses).
    """

    def __init__(self, path: str, text: str, tree: ast.Module | None = None) -> None:
        self.path = path
        self.text = text
        self.needed: frozenset[str] | None = None
        """Words in the functions that may run: of each `__init__`, only what these read is lowered. None: all of it."""
        self.whole: frozenset[Entry] = frozenset()
        """Functions that are lowered whole all the same."""
        self.source = Source(text)
        self._tree = tree
        self._lowered: dict[Entry, nodes.Function | nodes.Class | CannotLower] = {}
        self._ancestors: dict[Entry, dict[Entry, None]] = {}
        self._blocks: dict[Entry | None, nodes.Block | CannotLower] = {}

    def __repr__(self) -> str:
        return f"<Unit {self.path}>"

    @cached_property
    def tree(self) -> ast.Module:
        return self._tree if self._tree is not None else parse(self.source.clean, self.path)

    @cached_property
    def depth_guard(self) -> DepthGuard:
        return DepthGuard(self.source)

    @cached_property
    def outline(self) -> Outline:
        return Outline(self.source, self.tree)

    # -------------------------------------------------------------- lowering
    def lowered(self, entry: Entry) -> nodes.Function | nodes.Class:
        """The lowered definition, made once. Raises `CannotLower`, each time it is asked."""
        found = self._lowered.get(entry)
        if found is None:
            from torchlayout.program.lowering import lower

            try:
                found = lower(self, entry)
            except CannotLower as error:
                found = error
            self._lowered[entry] = found
        if isinstance(found, CannotLower):
            raise found.with_traceback(None)
        return found

    def lowered_function(self, entry: Entry) -> nodes.Function:
        """As `lowered`, for an entry that is a function."""
        from torchlayout.program import nodes

        found = self.lowered(entry)
        if not isinstance(found, nodes.Function):
            raise CannotLower(f"{entry.qualname} is no function")
        return found

    def module_block(self) -> nodes.Block:
        """The module's own statements; its definitions stand among them as `Definition`. Raises `CannotLower`."""
        return self._block(None, self.tree.body)

    def class_block(self, entry: Entry) -> nodes.Block:
        """A class body's own statements; its methods stand among them as `Definition`. Raises `CannotLower`."""
        first = entry.node.body[0]
        before = self.source.line(first.lineno)[: self.source.column_from_utf8(first.lineno, first.col_offset)]
        if before.strip():  # `class A: x = 1`
            return self.lowered(entry).body
        return self._block(entry, entry.node.body)

    def _block(self, owner: Entry | None, body: list[ast.stmt]) -> nodes.Block:
        found = self._blocks.get(owner)
        if found is None:
            from torchlayout.program.lowering import lower_statements

            direct = set(body)
            children = self.outline.top if owner is None else owner.children
            entries: dict[ast.stmt, Entry] = {entry.node: entry for entry in children if entry.node in direct}
            try:
                found = lower_statements(self, body, entries)
            except CannotLower as error:
                found = error
            self._blocks[owner] = found
        if isinstance(found, CannotLower):
            raise found.with_traceback(None)
        return found

    def forget(self) -> None:
        """Let go of what was made, when the file is done: it is made anew if asked for.

        Classes and their methods refer to one another and to the unit: they wait for the garbage collector, which would
        go through all this too.
        """
        self._lowered.clear()
        self._blocks.clear()
        self.__dict__.pop("outline", None)

    # -------------------------------------------------------------- definitions
    def function(self, name: str) -> Entry | None:
        """The module-level function of that name."""
        entry = self.outline.find(name)
        return entry if entry is not None and not entry.is_class else None

    def klass(self, name: str) -> Entry | None:
        """The module-level class of that name, or of a dotted one (`Outer.Inner`)."""
        head, *rest = name.split(".")
        entry = self.outline.find(head)
        for part in rest:
            entry = entry.child(part) if entry is not None else None
        return entry if entry is not None and entry.is_class else None

    def bases(self, entry: Entry) -> list[Entry]:
        """The bases of a class that are classes of this file, in the order written."""
        found = []
        for base in entry.bases:
            known = self.klass(base) if base is not None else None
            if known is not None and known is not entry and known.start < entry.start:
                found.append(known)
        return found

    def ancestors(self, entry: Entry) -> list[Entry]:
        """The class and those it inherits from in this file, nearest first (depth first, each once)."""
        return list(self._ancestry(entry))

    def descends(self, entry: Entry, other: Entry) -> bool:
        """Whether a class is another one or inherits from it, within this file."""
        return other in self._ancestry(entry)

    def _ancestry(self, entry: Entry) -> dict[Entry, None]:
        found = self._ancestors.get(entry)
        if found is None:
            found = self._ancestors[entry] = {}
            stack = [entry]
            while stack:
                current = stack.pop()
                if current not in found:
                    found[current] = None
                    stack.extend(reversed(self.bases(current)))
        return found

    def method(self, entry: Entry, name: str) -> Entry | None:
        """A method of a class, own or inherited within this file (a base outside it may define it otherwise)."""
        for known in self.ancestors(entry):
            found = known.child(name)
            if found is not None:
                return None if found.is_class else found
        return None

    def external_bases(self, entry: Entry) -> list[str | None]:
        """The resolved dotted paths of all bases, direct or not, outside this file; None for one unknown."""
        found: list[str | None] = []
        for known in self.ancestors(entry):
            inside = {base.qualname for base in self.bases(known)}
            found.extend(
                self.resolve(base) or base if base is not None else None
                for base in known.bases
                if base is None or base not in inside
            )
        return found

    # -------------------------------------------------------------- names
    def resolve(self, name: str, entry: Entry | None = None) -> str | None:
        """The full dotted path of a dotted name that starts at an import, seen from inside `entry`.

        `F.conv2d` gives `torch.nn.functional.conv2d`; a relative import keeps its leading dots. None where the
        first part is not imported, or the module itself also defines it. (A function's own variables of that
        name are the caller's business.)
        """
        head, dot, rest = name.partition(".")
        scope = entry
        while scope is not None:
            if head in scope.imports:
                return scope.imports[head] + dot + rest
            scope = scope.parent
        outline = self.outline
        path = outline.imports.get(head)
        if path is None or head in outline.rebound or outline.find(head) is not None:
            return None
        # `except ImportError: flash_attn = None` leaves the name an import; any other value does not.
        for value in outline.assigned.get(head, ()):
            if not (isinstance(value, ast.Constant) and value.value in (None, False)):
                return None
        return path + dot + rest

    def constant(self, name: str) -> object | Unknown:
        """The value of a module-level name that is assigned once and is built of literals, else `UNKNOWN`."""
        return self._constant(name, 0, [MAX_LOOKUPS])

    def _constant(self, name: str, depth: int, left: list[int]) -> object | Unknown:
        """The same for a name that another one's value mentions; `left` is how many more may be looked up."""
        left[0] -= 1
        outline = self.outline
        values = outline.assigned.get(name, [])
        if len(values) != 1 or values[0] is None or depth > MAX_NAMES_DEEP or left[0] < 0:
            return UNKNOWN
        if name in outline.rebound or name in outline.imports or outline.find(name) is not None:
            return UNKNOWN
        return fold(values[0], lambda other: self._constant(other, depth + 1, left))

    def class_constant(self, entry: Entry, name: str) -> object | Unknown:
        """The same for a name that a class body assigns."""
        values = entry.assigned.get(name, [])
        if len(values) != 1 or values[0] is None:
            return UNKNOWN
        return fold(values[0], self.constant)

    # -------------------------------------------------------------- sinks
    def mark_sinks(self, words: Iterable[str]) -> None:
        """See `Outline.mark_sinks`."""
        self.outline.mark_sinks(words)

    # -------------------------------------------------------------- places, for fixes
    def call_at(self, name: Span) -> CallSite | None:
        """What a fix needs to know of the call whose name token has this span; None where there is none."""
        from torchlayout.program.places import call_site

        return call_site(self.source, self.tree, name)


def parse(text: str, path: str = "<text>") -> ast.Module:
    """`ast.parse`, whatever goes wrong being a `SyntaxError`."""
    import warnings

    try:
        with warnings.catch_warnings():  # a bad escape in the file is not this program's to complain of
            warnings.simplefilter("ignore")
            return ast.parse(text, path)
    except (ValueError, RecursionError, MemoryError) as error:
        raise SyntaxError(str(error) or type(error).__name__, (path, 1, 1, None)) from None


__all__ = ["UNKNOWN", "CannotLower", "Entry", "Unit", "Unknown", "parse"]
