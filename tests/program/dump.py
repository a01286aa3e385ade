"""Lowered nodes as short text, without spans, for tests to compare."""

from __future__ import annotations

import dataclasses

from torchlayout.program import nodes


def dump(node: object) -> str:
    """`Call(Attribute(x, view), [3])` and the like; fields that are None, empty or False are left out."""
    if isinstance(node, nodes.Name):
        return node.id
    if isinstance(node, nodes.Const):
        return repr(node.value)
    if isinstance(node, nodes.Definition):
        return f"Definition({node.name})"
    if isinstance(node, nodes.Arg):
        return "*" * node.star + (f"{node.keyword}=" if node.keyword else "") + dump(node.value)
    if isinstance(node, (nodes.Clause, nodes.Handler, nodes.Case, nodes.Param)):
        fields = [(name, getattr(node, name)) for name in node._fields if name != "span"]
        return type(node).__name__ + _fields(fields)
    if isinstance(node, tuple):
        return "[" + ", ".join(map(dump, node)) + "]"
    if dataclasses.is_dataclass(node):
        fields = [(field.name, getattr(node, field.name)) for field in dataclasses.fields(node) if field.name != "span"]
        return type(node).__name__ + _fields(fields)
    return str(node)


def _fields(fields: list[tuple[str, object]]) -> str:
    return (
        "("
        + ", ".join(dump(value) for _, value in fields if value is not None and value != () and value is not False)
        + ")"
    )
