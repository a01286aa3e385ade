"""The one pass over a module's statements that fills an outline."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from torchlayout.program.entries import Entry

if TYPE_CHECKING:
    from torchlayout.program.outline import Outline


class Scan:
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


_HANDLERS: dict[type[ast.stmt], Callable[[Scan, Any, Entry | None, bool], bool | None]] = {
    ast.FunctionDef: Scan.definition,
    ast.AsyncFunctionDef: Scan.definition,
    ast.ClassDef: Scan.definition,
    ast.If: Scan.two_blocks,
    ast.For: Scan.two_blocks,
    ast.AsyncFor: Scan.two_blocks,
    ast.While: Scan.two_blocks,
    ast.With: Scan.with_block,
    ast.AsyncWith: Scan.with_block,
    ast.Try: Scan.try_block,
    ast.Match: Scan.match_block,
    ast.Import: Scan.imports,
    ast.ImportFrom: Scan.import_from,
    ast.Assign: Scan.assign,
    ast.AnnAssign: Scan.annotated,
    ast.AugAssign: Scan.augmented,
    ast.Delete: Scan.delete,
    ast.Global: Scan.globals,
}
if hasattr(ast, "TryStar"):  # Python 3.11
    _HANDLERS[ast.TryStar] = Scan.try_block
