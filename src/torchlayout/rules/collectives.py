"""Collectives that write their result into an argument, and what becomes of the handles that they give.

Vocabulary: *handle* (the `Work` that a call gives where it does not wait: `async_op=True`, `irecv`). `handle.result()`
gives the tensors back that were written to; who only waits for it does not read them.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlayout.interp.trace import SiteKey
    from torchlayout.rules.seen import Seen

WRITTEN: dict[str, str] = {
    "all_reduce": "tensor", "scatter": "tensor", "recv": "tensor", "irecv": "tensor",
    "all_gather_into_tensor": "output_tensor", "all_gather_single": "output_tensor", "reduce_scatter": "output",
    "reduce_scatter_tensor": "output", "reduce_scatter_single": "output", "all_to_all_single": "output",
}  # fmt: skip
"""For each, its first argument, which on every rank holds the result afterwards."""
WRITTEN_BY_SOME: dict[str, str] = {"broadcast": "tensor", "reduce": "tensor", "all_reduce_coalesced": "tensors"}
"""The same of those where one rank only sends, or all but one, and of one that takes a list."""

MODULES = ("torch.distributed", "torch.distributed.distributed_c10d")
WAITING = frozenset({"wait", "is_completed"})
"""Methods of a handle that do not give the tensors."""


def writes_into(path: str, place: str) -> bool:
    """Whether a function, by its dotted path, writes into the argument with this position or keyword."""
    module, _, name = path.rpartition(".")
    return module in MODULES and name in WRITTEN and place in ("0", WRITTEN[name])


def handle_is_dropped(seen: Seen, key: SiteKey) -> bool:
    """Whether what a call gives is thrown away, or kept by a name that is only waited for."""
    from torchlayout.rules.way import way_to

    call = seen.unit.call_at(key[1])
    way = [step.node for step in way_to(seen.unit.tree, seen.unit.source, call.call)] if call is not None else []
    if not way:
        return False
    at = max(place for place, node in enumerate(way) if isinstance(node, ast.stmt))
    match way[at]:
        case ast.Expr(value=value):
            return value is way[-1] or _is_waited_for(value, way[-1])
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is way[-1]:
            scopes = (node for node in reversed(way[:at]) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
            return _only_waits(next(scopes, None), name)
    return False


def _is_waited_for(value: ast.expr, call: ast.AST) -> bool:
    """`call(...).wait()`"""
    match value:
        case ast.Call(func=ast.Attribute(value=inner, attr=attribute)):
            return inner is call and attribute in WAITING
    return False


def _only_waits(scope: ast.AST | None, name: str) -> bool:
    """Whether a local name of a function serves only to wait; one of the module may be used from anywhere."""
    if scope is None:
        return False
    waited = {id(node.value) for node in ast.walk(scope) if isinstance(node, ast.Attribute) and node.attr in WAITING}
    for node in ast.walk(scope):
        if isinstance(node, ast.Global | ast.Nonlocal) and name in node.names:
            return False
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) and id(node) not in waited:
            return False
    return True
