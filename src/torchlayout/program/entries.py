"""Entries of the outline: the functions and classes of a file."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlayout.structs import field, struct


@struct(eq=False, slots=True)
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
    sources: set[str] = field(default_factory=set)
    """The kinds of tensors that these sink words ask for (see `gate`)."""

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
