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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from torchlayout.program.source import Source

_MENTION = re.compile(r"[^\W\d]\w*")
_CALLED = re.compile(r"([^\W\d]\w*)\s*\(")


# ---------------------------------------------------------------- the gate
@lru_cache(maxsize=64)
def _gate(words: frozenset[str]) -> re.Pattern[str]:
    methods, names, marks = [], [], []
    for word in sorted(words):
        name = re.escape(word.strip(".( "))
        if not re.search(r"\w", word):
            marks.append(r"\s*".join(map(re.escape, word)) + ("(?!=)" if word.endswith("=") else ""))
        elif word.startswith("."):
            methods.append(name + r"\s*\(" if word.endswith("(") else name + r"\b")
        else:
            names.append(name + r"\s*\(" if word.endswith("(") else name + r"\b")
    parts = []
    if methods:
        parts.append(r"\.\s*(?:" + "|".join(methods) + ")")
    if names:
        parts.append(r"\b(?:" + "|".join(names) + ")")
    parts += marks
    return re.compile("|".join(parts) if parts else r"(?!)")


@lru_cache(maxsize=64)
def _by_companions(words: frozenset[str]) -> tuple[tuple[re.Pattern[str], re.Pattern[str] | None], ...]:
    """The words as patterns, each with the pattern of its companions, None for words that need none."""
    groups: dict[str, set[str]] = {}
    for word in words:
        head, _, companions = word.partition(" with ")
        groups.setdefault(companions, set()).add(head)
    return tuple(
        (_gate(frozenset(heads)), _gate(frozenset(companions.split())) if companions else None)
        for companions, heads in sorted(groups.items())
    )


def gate(text: str, words: Iterable[str]) -> bool:
    """Whether any sink word occurs in the text at all, be it in a comment.

    A word is a name; with a dot in front only an attribute counts, with `(` behind only a call. White space
    around the dot and before the parenthesis is allowed for. A word without letters (`+=`) counts as it stands.
    "word with a b c" counts where one of the companions a, b and c stands in the same function.
    """
    return any(
        heads.search(text) is not None and (companions is None or companions.search(text) is not None)
        for heads, companions in _by_companions(frozenset(words))
    )


# ---------------------------------------------------------------- entries
@dataclass(eq=False, slots=True)
class Entry:
    """A function, method or class, and the lines it takes (decorators included)."""

    kind: str
    """"function" or "class"."""
    name: str
    qualname: str
    """As Python's `__qualname__`, without `<locals>`: "Model.forward.inner"."""
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    start: int
    end: int
    parent: Entry | None
    children: list[Entry] = field(default_factory=list)
    imports: dict[str, str] = field(default_factory=dict)
    """What the entry's own body imports: local name -> dotted path."""
    assigned: dict[str, list[ast.expr | None]] = field(default_factory=dict)
    """A class body's own names, as in `Outline.assigned`."""
    sinks: list[int] = field(default_factory=list)
    """Lines that hold a sink word, those of inner entries left out; filled by `Outline.mark_sinks`."""

    @property
    def is_class(self) -> bool:
        return self.kind == "class"

    @property
    def is_method(self) -> bool:
        return self.kind == "function" and self.parent is not None and self.parent.is_class

    @property
    def nested(self) -> bool:
        """Whether a function is around it: it is then lowered as part of that function."""
        parent = self.parent
        while parent is not None:
            if not parent.is_class:
                return True
            parent = parent.parent
        return False

    @property
    def bases(self) -> tuple[str | None, ...]:
        """A class's bases as written, `nn.Module`; None for one that is no dotted name."""
        if not isinstance(self.node, ast.ClassDef):
            return ()
        return tuple(dotted(base) for base in self.node.bases)

    def child(self, name: str) -> Entry | None:
        """The last definition of that name directly in this one, which is the one that counts."""
        return next((entry for entry in reversed(self.children) if entry.name == name), None)

    def within(self) -> Iterator[Entry]:
        """This entry and all inside it."""
        stack = [self]
        while stack:
            entry = stack.pop()
            yield entry
            stack.extend(reversed(entry.children))

    @property
    def has_sinks(self) -> bool:
        """Whether it, or an entry inside it, holds a sink word."""
        return any(entry.sinks for entry in self.within())

    def __repr__(self) -> str:
        return f"<{self.kind} {self.qualname}, lines {self.start}-{self.end}>"


def dotted(node: ast.expr) -> str | None:
    """`torch.nn.Module` of a chain of names, None of anything else. `Generic[T]` counts as `Generic`."""
    if isinstance(node, ast.Subscript):
        node = node.value
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(node.id)
    return ".".join(reversed(parts))


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
        self._calls: dict[Entry, frozenset[str]] = {}
        self._mentions: dict[Entry, frozenset[str]] = {}
        _Walk(self).run()
        self._starts = [entry.start for entry in self.entries]

    # -------------------------------------------------------------- look-ups
    @property
    def top(self) -> list[Entry]:
        """Definitions at module level, also those under an `if` or `try`."""
        return [entry for entry in self.entries if entry.parent is None]

    def find(self, name: str) -> Entry | None:
        """The last module-level definition of a name."""
        return next((entry for entry in reversed(self.entries) if entry.parent is None and entry.name == name), None)

    def at(self, line: int) -> Entry | None:
        """The innermost entry whose lines hold `line`; None at module level."""
        index = bisect_right(self._starts, line) - 1
        entry = self.entries[index] if index >= 0 else None
        while entry is not None and entry.end < line:
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
            entry.sinks = []
        for heads, companions in _by_companions(chosen):
            self._mark(heads, companions)
        for lines in (self.module_sinks, *(entry.sinks for entry in self.entries)):
            lines[:] = sorted(set(lines))

    def _mark(self, heads: re.Pattern[str], companions: re.Pattern[str] | None) -> None:
        text, line, last = self.source.clean, 1, 0
        accompanied: dict[Entry | None, bool] = {}
        for match in heads.finditer(text):
            end = match.end()  # the name, where dot and name stand on two lines
            line += text.count("\n", last, end)
            last = end
            owner = self.at(line)
            if companions is not None:
                if owner not in accompanied:
                    accompanied[owner] = companions.search(text if owner is None else self.text(owner)) is not None
                if not accompanied[owner]:
                    continue
            (self.module_sinks if owner is None else owner.sinks).append(line)

    def targets(self) -> list[Entry]:
        """The outermost functions that hold a sink word, in order of their lines.

        Sinks in a class body itself stay with the class (`entry.sinks`), those at module level in `module_sinks`.
        """
        return [entry for entry in self.entries if not entry.is_class and not entry.nested and entry.has_sinks]

    # -------------------------------------------------------------- who mentions whom
    def text(self, entry: Entry) -> str:
        return self.source.lines(entry.start, entry.end)

    def calls(self, entry: Entry) -> frozenset[str]:
        """Names written as `name(` or `.name(` in the entry's lines, its own definition included."""
        found = self._calls.get(entry)
        if found is None:
            found = self._calls[entry] = frozenset(_CALLED.findall(self.text(entry)))
        return found

    def mentions(self, entry: Entry) -> frozenset[str]:
        """All words in the entry's lines."""
        found = self._mentions.get(entry)
        if found is None:
            found = self._mentions[entry] = frozenset(_MENTION.findall(self.text(entry)))
        return found

    def helpers(self, entry: Entry) -> list[Entry]:
        """Functions and classes of this file whose name the entry's text mentions, itself left out."""
        mentioned = self.mentions(entry)
        inside = set(entry.within())
        return [other for other in self.entries if other.name in mentioned and other not in inside]

    def callers(self, entry: Entry) -> list[Entry]:
        """Outermost functions that mention the entry's name, directly or through others, in order of lines.

        A class is reached through any function that mentions it; one that mentions a class reaches its
        `__init__` and `forward` too.
        """
        outermost = [other for other in self.entries if not other.is_class and not other.nested]
        found: set[Entry] = set()
        pending = [entry]
        while pending:
            callee = pending.pop()
            names = {callee.name}
            if callee.is_method and callee.parent is not None and callee.name in ("__init__", "__call__", "forward"):
                names = {callee.parent.name, callee.name}
            for other in outermost:
                if other not in found and other is not entry and other is not callee:
                    if not names.isdisjoint(self.mentions(other)):
                        found.add(other)
                        pending.append(other)
        return [other for other in outermost if other in found]


# ---------------------------------------------------------------- the walk over the statements
class _Walk:
    """One pass over the statements of a module, without recursion (an `elif` chain nests deeply)."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline
        # Blocks still to do: statements, the entry around them, and whether the block is a second choice
        # (`except`, `else`), whose imports and assignments yield to those of the first.
        self.pending: list[tuple[Iterator[ast.stmt], Entry | None, bool]] = []

    def run(self) -> None:
        pending = self.pending
        pending.append((iter(self.outline.tree.body), None, False))
        handlers = _HANDLERS
        while pending:
            statements, owner, weak = pending[-1]
            for statement in statements:
                handler = handlers.get(type(statement))
                if handler is not None and handler(self, statement, owner, weak):
                    break  # a block was put on top; this one goes on after it
            else:
                pending.pop()

    def push(self, owner: Entry | None, *blocks: tuple[list[ast.stmt], bool]) -> bool:
        for body, weak in reversed(blocks):
            if body:
                self.pending.append((iter(body), owner, weak))
        return True

    def definition(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, owner: Entry | None, weak: bool
    ) -> bool:
        start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        entry = Entry(
            "class" if isinstance(node, ast.ClassDef) else "function",
            node.name,
            node.name if owner is None else f"{owner.qualname}.{node.name}",
            node,
            start,
            node.end_lineno or node.lineno,
            owner,
        )
        self.outline.entries.append(entry)
        if owner is not None:
            owner.children.append(entry)
        return self.push(entry, (node.body, False))

    def two_blocks(self, node: ast.If | ast.For | ast.AsyncFor | ast.While, owner: Entry | None, weak: bool) -> bool:
        if not isinstance(node, (ast.If, ast.While)):
            self.rebind(node.target, None, owner, weak)
        return self.push(owner, (node.body, weak), (node.orelse, True))

    def with_block(self, node: ast.With | ast.AsyncWith, owner: Entry | None, weak: bool) -> bool:
        for item in node.items:
            if item.optional_vars is not None:
                self.rebind(item.optional_vars, None, owner, weak)
        return self.push(owner, (node.body, weak))

    def try_block(self, node: ast.Try, owner: Entry | None, weak: bool) -> bool:
        handlers = [(handler.body, True) for handler in node.handlers]
        return self.push(owner, (node.body, weak), *handlers, (node.orelse, weak), (node.finalbody, weak))

    def match_block(self, node: ast.Match, owner: Entry | None, weak: bool) -> bool:
        return self.push(owner, *((case.body, index > 0 or weak) for index, case in enumerate(node.cases)))

    def imports(self, node: ast.Import, owner: Entry | None, weak: bool) -> None:
        for alias in node.names:
            if alias.asname:
                self.bind(alias.asname, alias.name, owner, weak)
            else:
                first = alias.name.partition(".")[0]
                self.bind(first, first, owner, weak)

    def import_from(self, node: ast.ImportFrom, owner: Entry | None, weak: bool) -> None:
        module = "." * node.level + (node.module or "")
        prefix = module + "." if node.module else module
        for alias in node.names:
            if alias.name == "*":
                self.outline.star_imports.append(module)
            else:
                self.bind(alias.asname or alias.name, prefix + alias.name, owner, weak)

    def bind(self, name: str, path: str, owner: Entry | None, weak: bool) -> None:
        imports = self.outline.imports if owner is None else owner.imports
        if weak:
            imports.setdefault(name, path)
        else:
            imports[name] = path

    def assign(self, node: ast.Assign, owner: Entry | None, weak: bool) -> None:
        if owner is None or owner.is_class:
            for target in node.targets:
                self.rebind(target, node.value, owner, weak)

    def annotated(self, node: ast.AnnAssign, owner: Entry | None, weak: bool) -> None:
        if node.value is not None:
            self.rebind(node.target, node.value, owner, weak)

    def augmented(self, node: ast.AugAssign, owner: Entry | None, weak: bool) -> None:
        self.rebind(node.target, None, owner, weak)

    def delete(self, node: ast.Delete, owner: Entry | None, weak: bool) -> None:
        for target in node.targets:
            self.rebind(target, None, owner, weak)

    def rebind(self, target: ast.expr, value: ast.expr | None, owner: Entry | None, weak: bool) -> None:
        if owner is not None and not owner.is_class:
            return
        names = self.outline.assigned if owner is None else owner.assigned
        if isinstance(target, ast.Name):
            names.setdefault(target.id, []).append(value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                self.rebind(element, None, owner, weak)
        elif isinstance(target, ast.Starred):
            self.rebind(target.value, None, owner, weak)

    def globals(self, node: ast.Global, owner: Entry | None, weak: bool) -> None:
        self.outline.rebound.update(node.names)


_HANDLERS: dict[type[ast.stmt], Callable[[_Walk, Any, Entry | None, bool], bool | None]] = {
    ast.FunctionDef: _Walk.definition,
    ast.AsyncFunctionDef: _Walk.definition,
    ast.ClassDef: _Walk.definition,
    ast.If: _Walk.two_blocks,
    ast.For: _Walk.two_blocks,
    ast.AsyncFor: _Walk.two_blocks,
    ast.While: _Walk.two_blocks,
    ast.With: _Walk.with_block,
    ast.AsyncWith: _Walk.with_block,
    ast.Try: _Walk.try_block,
    ast.Match: _Walk.match_block,
    ast.Import: _Walk.imports,
    ast.ImportFrom: _Walk.import_from,
    ast.Assign: _Walk.assign,
    ast.AnnAssign: _Walk.annotated,
    ast.AugAssign: _Walk.augmented,
    ast.Delete: _Walk.delete,
    ast.Global: _Walk.globals,
}
if hasattr(ast, "TryStar"):  # Python 3.11
    _HANDLERS[ast.TryStar] = _Walk.try_block
