"""The state of one walk over a libcst tree, shared by the lowering of expressions, statements and patterns."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any, TypeAlias

import libcst as cst

from torchlayout.program import nodes
from torchlayout.program.tokens import BadTokens, Cursor

Lower: TypeAlias = "Callable[[Walk, Any], nodes.Expr]"


class Dispatch(dict[type, Lower]):
    """What lowers each class of libcst expressions."""

    def __missing__(self, kind: type) -> Lower:
        raise BadTokens(f"no lowering for {kind.__name__}")


EXPRESSIONS = Dispatch()
"""Filled by `expressions` and the modules it is made of."""


class Walk:
    """One walk over a tree: the cursor, and whether the function being walked holds a `yield` of its own."""

    __slots__ = ("cursor", "skip_to", "take", "yields")

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.take = cursor.take
        self.skip_to = cursor.skip_to
        self.yields = False

    def expr(self, node: cst.CSTNode) -> nodes.Expr:
        return EXPRESSIONS[type(node)](self, node)

    def name(self, node: cst.Name) -> tuple[str, nodes.Span]:
        """An identifier and its place."""
        return identifier(node.value), self.take(node.value)


def identifier(text: str) -> str:
    """Python compares identifiers in normal form NFKC."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)
