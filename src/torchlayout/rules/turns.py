"""Places in a loop that not every turn comes to: a cache is filled once, a line is printed on every hundredth step.

Vocabulary: *side* (whether a place is reached where a test holds, or where it does not). What is told rests on the
text of the tests alone. A mode that the loop leaves as it is (`if self.training:`) lets every turn through, or none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from torchlayout.interp.trace import Site
from torchlayout.rules.seen import Seen
from torchlayout.rules.way import Comprehension, Loop, Scope, Step, once_for_each, way_to

Around = Loop | Comprehension

SIZES = frozenset({"ndim", "shape"})
"""Attributes of tensors that a test compares with an int, none of which counts turns."""


def is_passed_by(seen: Seen, site: Site) -> bool:
    """Whether a call in a loop, or in a function that is called for every item, stands under a test that lets few
    turns through: for None, for membership, of a count, or of a flag that the loop sets."""
    call = seen.unit.call_at(site.span)
    if call is None:
        return False
    way = way_to(seen.unit.tree, seen.unit.source, call.call)
    start = max((at for at, step in enumerate(way) if isinstance(step.node, Scope)), default=0)
    loops = [at for at in range(start, len(way) - 1) if isinstance(way[at].node, Around)]
    inner = loops[-1] if loops else start
    tests = _Tests([way[at].node for at in loops])
    return any(tests.are_few(test, holds) for test, holds in _tests(way[inner:]))


def _tests(way: Sequence[Step]) -> Iterator[tuple[ast.expr, bool]]:
    """The tests behind which a way ends, each with whether it holds there."""
    outermost = way[0].node
    if isinstance(outermost, Comprehension):
        yield from ((test, True) for part in outermost.generators for test in part.ifs)
    for (node, _), (_, field) in pairwise(way):
        if isinstance(node, ast.If | ast.IfExp) and field != "test":
            yield node.test, field == "body"


class _Tests:
    """What tests say inside a loop; the loops around the place are given from the outermost in."""

    def __init__(self, loops: Sequence[ast.AST]) -> None:
        self.set_here = _set_in(loops[-1]) if loops else frozenset()
        self.counting = _set_in(loops[0]) if loops else frozenset()
        self.items = _items(loops[-1]) if loops else frozenset()
        self.in_loop = bool(loops)

    def are_few(self, test: ast.expr, holds: bool) -> bool:
        """Whether few turns come to the side of a test on which it holds, or does not."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return self.are_few(inner, not holds)
            case ast.BoolOp(op=op, values=values):
                enough = any if isinstance(op, ast.And) is holds else all
                return enough(self.are_few(value, holds) for value in values)
            case ast.NamedExpr(value=value):
                return self.are_few(value, holds)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compares(left, op, right, holds)
            case ast.BinOp(op=ast.Mod(), left=left, right=right):
                return self._counts(left, right)
            case ast.Name() | ast.Attribute():
                return ast.unparse(test) in self.set_here
        return False

    def _compares(self, left: ast.expr, op: ast.cmpop, right: ast.expr, holds: bool) -> bool:
        match op:
            case ast.Is() | ast.IsNot() if isinstance(right, ast.Constant) and right.value is None:
                # What was filled once is None no more. Where it is not, only what the loop sets tells turns apart.
                is_none = isinstance(op, ast.Is) is holds
                return is_none or ast.unparse(left) in self.set_here - self.items
            case ast.In() | ast.NotIn():
                # Of one item, whether it holds a key is a mode; whether a cache has the item is not.
                return self.in_loop or isinstance(op, ast.NotIn) is holds
            case ast.Eq() | ast.NotEq():
                return self._counts(left, right)
        return False

    def _counts(self, left: ast.expr, right: ast.expr) -> bool:
        """Whether a number that turns change is compared."""
        parts = [part for side in (left, right) for part in _numbers(side)]
        if not all(parts):
            return False
        if any(isinstance(part, ast.Name) and part.id in self.counting for part in parts):
            return True
        # An attribute may be counted up elsewhere (`self.step`); a name of the function may not.
        named = any(isinstance(part, ast.Attribute) for part in parts)
        return named and any(isinstance(side, ast.Constant) and type(side.value) is int for side in (left, right))


def _numbers(side: ast.expr) -> Iterator[ast.expr | None]:
    """The names, attributes and constants that a number is reckoned from; None for whatever else stands there."""
    match side:
        case ast.BinOp(left=left, right=right):
            yield from _numbers(left)
            yield from _numbers(right)
        case ast.UnaryOp(operand=operand):
            yield from _numbers(operand)
        case ast.Name() | ast.Constant():
            yield side
        case ast.Attribute(attr=attribute) if attribute not in SIZES:
            yield side
        case ast.Call(func=ast.Name(id="len")):
            yield ast.Constant(0)
        case _:
            yield None


@once_for_each
def _set_in(loop: ast.AST) -> frozenset[str]:
    """The names and dotted names that a loop binds, its items among them."""
    return frozenset(
        ast.unparse(node)
        for node in ast.walk(loop)
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store)
    )


def _items(loop: ast.AST) -> frozenset[str]:
    targets: list[ast.AST] = []
    if isinstance(loop, ast.For | ast.AsyncFor):
        targets = [loop.target]
    elif isinstance(loop, Comprehension):
        targets = [part.target for part in loop.generators]
    return frozenset(node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))
