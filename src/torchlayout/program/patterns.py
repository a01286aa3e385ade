"""Lowering of `match` patterns: the names they bind, and the one value that a plain value pattern compares."""

from __future__ import annotations

from typing import Any

import libcst as cst

from torchlayout.program import nodes
from torchlayout.program.walk import Walk, identifier
from torchlayout.structs import field, struct


@struct(slots=True)
class Pattern:
    names: list[str] = field(default_factory=list)
    value: nodes.Expr | None = None
    irrefutable: bool = False


def lower_pattern(walk: Walk, node: cst.MatchPattern) -> Pattern:
    """Walk one pattern, all its words in source order."""
    pattern = Pattern()
    if isinstance(node, (cst.MatchValue, cst.MatchSingleton)):
        pattern.value = walk.expr(node.value)
    elif isinstance(node, cst.MatchAs):
        inner = None if node.pattern is None else lower_pattern(walk, node.pattern)
        pattern.irrefutable = inner is None or inner.irrefutable
        if inner is not None:
            pattern.names += inner.names
        if node.name is not None:
            _bind(walk, pattern, node.name)
        elif inner is None:
            walk.skip_to("_")
    elif isinstance(node, cst.MatchOr):
        inner_patterns = [lower_pattern(walk, element.pattern) for element in node.patterns]
        pattern.irrefutable = inner_patterns[-1].irrefutable
        for inner in inner_patterns:
            pattern.names += inner.names
    else:
        _collect(walk, node, pattern)
    pattern.names = list(dict.fromkeys(pattern.names))
    return pattern


def _bind(walk: Walk, pattern: Pattern, name: cst.Name) -> None:
    walk.skip_to(name.value)
    if name.value != "_":
        pattern.names.append(identifier(name.value))


def _collect(walk: Walk, node: Any, pattern: Pattern) -> None:
    """Sequence, mapping and class patterns: what their parts bind."""
    if isinstance(node, (cst.MatchList, cst.MatchTuple)):
        if isinstance(node, cst.MatchList):
            walk.cursor.skip_if_next("[")  # old releases of libcst give `case a, b` brackets too
        for element in node.patterns:
            if isinstance(element, cst.MatchStar):
                walk.skip_to("*")
                _star(walk, pattern, element.name)
            else:
                pattern.names += lower_pattern(walk, element.value).names
    elif isinstance(node, cst.MatchMapping):
        walk.skip_to("{")
        for item in node.elements:
            walk.expr(item.key)
            pattern.names += lower_pattern(walk, item.pattern).names
        if node.rest is not None:
            walk.skip_to("**")
            _bind(walk, pattern, node.rest)
    elif isinstance(node, cst.MatchClass):
        walk.expr(node.cls)
        for element in node.patterns:
            pattern.names += lower_pattern(walk, element.value).names
        for keyword in node.kwds:
            walk.skip_to(keyword.key.value)
            pattern.names += lower_pattern(walk, keyword.pattern).names


def _star(walk: Walk, pattern: Pattern, name: cst.Name | None) -> None:
    if name is None:
        walk.skip_to("_")
    else:
        _bind(walk, pattern, name)
