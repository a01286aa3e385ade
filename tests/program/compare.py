"""Two independent readings of one file, to be compared: where `ast` says each name stands, and where lowering does.

Left out on both sides: what stands inside f-strings (before Python 3.12 `ast` places it wrongly), `match`
patterns, type parameters and the values of type aliases, whose names lowering does not keep.
"""

from __future__ import annotations

import ast
import dataclasses
import unicodedata
from collections.abc import Iterator

from torchlayout.program import nodes
from torchlayout.program.source import Source
from torchlayout.program.unit import Unit

Place = tuple[int, int, str, str]
"""(line, column, kind, name)"""


def children(node: object) -> Iterator[object]:
    """The nodes directly inside a lowered node, or in a tuple of such."""
    if dataclasses.is_dataclass(node):
        for field in dataclasses.fields(node):
            yield getattr(node, field.name)
    elif isinstance(node, tuple) and not isinstance(node, nodes.Span):
        yield from node


def every(node: object, *, opaque: bool) -> Iterator[object]:
    """All nodes inside a lowered one; those in `Opaque` on request."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        if isinstance(current, nodes.Definition) or (isinstance(current, nodes.Opaque) and not opaque):
            continue
        if isinstance(current, nodes.Case):
            stack += [current.guard, current.body]
        else:
            stack.extend(children(current))


def lowered_places(lowered: object) -> list[Place]:
    found: list[Place] = []
    for node in every(lowered, opaque=False):
        if isinstance(node, nodes.Name):
            found.append((node.span.line, node.span.column, "name", node.id))
        elif isinstance(node, nodes.Attribute):
            found.append((node.span.line, node.span.column, "attribute", node.attr))
        elif isinstance(node, nodes.Call) and isinstance(node.func, (nodes.Name, nodes.Attribute)):
            name = node.func.id if isinstance(node.func, nodes.Name) else node.func.attr
            found.append((node.span.line, node.span.column, "call", name))
        elif isinstance(node, nodes.Param):
            found.append((node.span.line, node.span.column, "parameter", node.name))
    return sorted(found)


def ast_places(source: Source, tree: ast.AST) -> list[Place]:
    found: list[Place] = []

    def attribute(node: ast.Attribute) -> tuple[int, int]:
        line = node.end_lineno
        end = source.column_from_utf8(line, node.end_col_offset)
        text = source.line(line)
        width = len(node.attr)
        if text[end - width : end] != node.attr:  # written in another normal form
            width = next(w for w in range(1, 80) if unicodedata.normalize("NFKC", text[end - w : end]) == node.attr)
        return line, end - width

    def start(node: ast.expr | ast.arg) -> tuple[int, int]:
        return node.lineno, source.column_from_utf8(node.lineno, node.col_offset)

    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.JoinedStr, ast.pattern)) or type(node).__name__ == "TemplateStr":
            continue
        if type(node).__name__ == "TypeAlias":
            stack.append(node.name)
            continue
        if isinstance(node, ast.Name):
            found.append((*start(node), "name", node.id))
        elif isinstance(node, ast.Attribute):
            found.append((*attribute(node), "attribute", node.attr))
        elif isinstance(node, ast.arg):
            found.append((*start(node), "parameter", node.arg))
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                found.append((*start(node.func), "call", node.func.id))
            elif isinstance(node.func, ast.Attribute):
                found.append((*attribute(node.func), "call", node.func.attr))
        for name, value in ast.iter_fields(node):
            if name == "type_params":
                continue
            parts = value if isinstance(value, list) else [value]
            stack.extend(part for part in parts if isinstance(part, ast.AST))
    return sorted(found)


def compare(unit: Unit) -> None:
    """Assert that every definition of a file, and its module block, is placed as `ast` places it."""
    for entry in unit.outline.top:
        lowered = unit.lowered(entry)
        assert lowered_places(lowered) == ast_places(unit.source, entry.node), f"{unit.path}: {entry}"
        check_text(unit.source, lowered)
    definitions = {entry.node for entry in unit.outline.top}
    rest = ast.Module([statement for statement in unit.tree.body if statement not in definitions], [])
    assert lowered_places(unit.module_block()) == ast_places(unit.source, rest), unit.path
    check_text(unit.source, unit.module_block())


def check_text(source: Source, lowered: object) -> None:
    """Assert that every span holds what its node is about, also inside f-strings."""
    for node in every(lowered, opaque=True):
        text = expected = None
        if isinstance(node, nodes.Name):
            expected = node.id
        elif isinstance(node, nodes.Attribute):
            expected = node.attr
        elif isinstance(node, (nodes.Param, nodes.Function, nodes.Class)):
            expected = node.name
        elif isinstance(node, (nodes.Binary, nodes.Unary, nodes.BoolOp)):
            expected = node.op
        elif isinstance(node, nodes.AugAssign):
            expected = node.op + "="
        elif isinstance(node, nodes.Compare):
            expected = node.rest[0][0].partition(" ")[0]
            text = source.slice(node.span).split()[0]
        elif isinstance(node, nodes.Subscript):
            expected = "["
        elif isinstance(node, nodes.Slice):
            expected = ":"
        elif isinstance(node, nodes.Const) and isinstance(node.value, (str, bytes, int, float, complex)):
            literal = source.slice(node.span)
            value = ast.literal_eval(literal)
            if isinstance(value, (str, bytes)) and isinstance(node.value, type(value)):
                assert node.value.startswith(value)  # the first piece of a concatenation  # type: ignore[arg-type]
            else:
                assert value == node.value
            continue
        if expected is not None:
            text = source.slice(node.span) if text is None else text
            assert unicodedata.normalize("NFKC", text) == expected, (node, text)
