"""Which attributes the text of a method, or of a file, writes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from torchlayout.program.outline import Entry
from torchlayout.program.unit import Unit

ANY = "*"
"""Stands for attributes whose names are not in the text."""
_SETATTR = re.compile(r"""\bsetattr\(\s*(\w+)\s*,\s*(?:["'](\w+)["']\s*,)?""")
_DICT = re.compile(r"\b(\w+)\.__dict__\s*(?:=|\[|\|=|\.(?:update|setdefault|pop|clear)\b)|\bvars\(\s*(\w+)\s*\)")


def assigned(entry: Entry, unit: Unit) -> Iterator[str]:
    """Attributes of the first parameter that a method assigns; `ANY` where it computes their names."""
    assert not isinstance(entry.node, ast.ClassDef)
    args = entry.node.args
    params = [*args.posonlyargs, *args.args]
    if params:
        yield from (name for receiver, name in _stores(entry.node) if receiver == params[0].arg)
        yield from _assigned_by_name(unit.outline.code(entry), params[0].arg)


def _assigned_by_name(text: str, this: str) -> Iterator[str]:
    if "setattr(" in text:
        yield from (found[2] or ANY for found in _SETATTR.finditer(text) if found[1] == this)
    if "__dict__" in text or "vars(" in text:
        yield from (ANY for found in _DICT.finditer(text) if this in found.groups())


def _stores(node: ast.AST) -> Iterator[tuple[str | None, str]]:
    """(receiver, attribute) of each assignment to an attribute; the receiver's name, None for what is no name."""
    pending = [node]
    while pending:
        statement = pending.pop()
        for found in _targets(statement):
            if isinstance(found, ast.Attribute) and isinstance(found.ctx, (ast.Store, ast.Del)):
                yield (found.value.id if isinstance(found.value, ast.Name) else None), found.attr
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(statement, block, None)
            if isinstance(inner, list):
                pending.extend(inner)


def _targets(statement: ast.AST) -> Iterator[ast.AST]:
    """The nodes in what a statement binds; expressions, which hold most nodes, are not walked."""
    if isinstance(statement, (ast.Assign, ast.Delete)):
        roots: list[ast.expr] = statement.targets
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor)):
        roots = [statement.target]
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        roots = [item.optional_vars for item in statement.items if item.optional_vars is not None]
    else:
        return
    for root in roots:
        if isinstance(root, ast.Name):
            continue
        yield from ast.walk(root)


class _Written(NamedTuple):
    somewhere: frozenset[str]
    from_outside: frozenset[str]


def _written(unit: Unit) -> _Written:
    """Found once for each file."""
    known: _Written | None = unit.__dict__.get("written")
    if known is None:
        stores = list(_stores(unit.tree))
        outside = frozenset(name for receiver, name in stores if receiver not in ("self", "cls", "ctx"))
        known = unit.__dict__["written"] = _Written(frozenset(name for _, name in stores), outside)
    return known


def written_from_outside(unit: Unit) -> frozenset[str]:
    """Attributes that the file assigns on objects other than a method's own (`model.attn.window = 4`)."""
    return _written(unit).from_outside


def written_somewhere(unit: Unit) -> frozenset[str]:
    """Attributes that the file assigns on any object, a class among them."""
    return _written(unit).somewhere
