"""Expressions as short text, for messages and for names of unknowns."""

from __future__ import annotations

from functools import lru_cache

from torchlayout.program import nodes


@lru_cache(maxsize=1024)  # the same few are asked for on every turn and from every caller
def expression_text(node: nodes.Expr) -> str:
    """`x.transpose(1, 2)`; "..." stands for anything that is not a name, a constant or a simple call of them."""
    if isinstance(node, nodes.Name):
        return node.id
    if isinstance(node, nodes.Attribute):
        inner = expression_text(node.value)
        return (
            f"({inner}).{node.attr}" if isinstance(node.value, (nodes.Binary, nodes.Unary)) else f"{inner}.{node.attr}"
        )
    if isinstance(node, nodes.Const):
        return "..." if node.value is ... else repr(node.value)
    if isinstance(node, nodes.Call):
        return f"{expression_text(node.func)}({', '.join(_argument_text(arg) for arg in node.args)})"
    if isinstance(node, nodes.Subscript):
        return f"{expression_text(node.value)}[{_index_text(node.index)}]"
    if isinstance(node, nodes.Unary):
        return f"{node.op}{' ' if node.op == 'not' else ''}{expression_text(node.operand)}"
    if isinstance(node, nodes.Binary):
        return f"{expression_text(node.left)} {node.op} {expression_text(node.right)}"
    if isinstance(node, nodes.Sequence):
        inner = ", ".join(expression_text(item) for item in node.items)
        return f"[{inner}]" if node.kind == "list" else f"({inner})"
    if isinstance(node, nodes.Starred):
        return f"*{expression_text(node.value)}"
    if isinstance(node, nodes.Slice):
        return _index_text(node)
    return "..."


def _argument_text(arg: nodes.Arg) -> str:
    text = "*" * arg.star + expression_text(arg.value)
    return f"{arg.keyword}={text}" if arg.keyword else text


def _index_text(node: nodes.Expr) -> str:
    if isinstance(node, nodes.Slice):
        lower = expression_text(node.lower) if node.lower else ""
        upper = expression_text(node.upper) if node.upper else ""
        return f"{lower}:{upper}" + (f":{expression_text(node.step)}" if node.step else "")
    if isinstance(node, nodes.Sequence) and node.kind == "tuple":
        return ", ".join(_index_text(item) for item in node.items)
    return expression_text(node)
