"""Which branches are followed further by themselves.

Behind an `if` the states of its branches are mostly joined, and a tensor that was turned in one of them is from then on
either. Where the same is asked again further down,

    if channels_last:
        x = x.permute(0, 3, 1, 2)
    ...
    if not channels_last:
        x = x.view(n, -1)

only half of the combinations can happen, so each branch is followed alone as far as that.
"""

from __future__ import annotations

from collections.abc import Hashable

from torchlayout.interp.frame import Frame
from torchlayout.interp.loops import walk
from torchlayout.interp.state import State
from torchlayout.interp.text import expression_text
from torchlayout.interp.trace import Site, Trace, Visit
from torchlayout.interp.values import Sequence, Tensor, Union_, Value, same
from torchlayout.program import nodes
from torchlayout.program.nodes import Span
from torchlayout.structs import replace

PATH = "path"
"""Marks the branches taken in the keys of visits."""

MAX_PATHS = 2
"""Tests inside one another whose branches are followed alone: four ways through a block at most."""
MAX_BEHIND = 100
"""Statements behind a test that are searched for the same test."""


def parting(node: nodes.If, block: nodes.Block, behind: int, ends: list[State], fr: Frame) -> int:
    """How far the branches of a test are better followed alone: the place in the block behind the last statement that
    asks the same, from that place on; `behind` where they are joined at once."""
    if len(fr.paths) >= MAX_PATHS or behind == len(block) or not _differ(*ends):
        return behind
    known = fr.run.parting.get(id(node))
    if known is None:
        # the node is kept, so that no other takes over its id
        known = fr.run.parting[id(node)] = (node, _last_asked(_subjects(node.test), block, behind))
    return max(known[1], behind)


def _last_asked(asked: set[str], block: nodes.Block, behind: int) -> int:
    """The place behind the last statement that asks the same, or asks for a name that was given the answer."""
    last = behind
    for place in range(behind, min(len(block), behind + MAX_BEHIND)):
        statement = block[place]
        if not asked.isdisjoint(_asked_in(statement)):
            last = place + 1
            if isinstance(statement, nodes.Assign):
                asked = asked | {target.id for target in statement.targets if isinstance(target, nodes.Name)}
    return last


def _differ(a: State, b: State) -> bool:
    """Whether some name holds tensors that lie otherwise on one path than on the other."""
    return any(
        value is not other and (_holds_tensor(value) or _holds_tensor(other)) and not same(value, other)
        for name, value in a.env.items()
        if (other := b.env.get(name, value)) is not value
    )


def _holds_tensor(value: Value) -> bool:
    if isinstance(value, Sequence):
        return any(isinstance(item, Tensor) for item in value.items)
    return isinstance(value, Tensor) or (
        isinstance(value, Union_) and any(isinstance(c, Tensor) for c in value.choices)
    )


def _subjects(test: nodes.Expr) -> set[str]:
    """What a test asks about, as text: of comparisons with a constant the other side."""
    if isinstance(test, nodes.Unary):
        return _subjects(test.operand)
    if isinstance(test, nodes.BoolOp):
        return set().union(*map(_subjects, test.values))
    if isinstance(test, nodes.Compare):
        sides = [test.left, *(side for _, side in test.rest)]
        return {text for side in sides if not isinstance(side, nodes.Const) for text in [expression_text(side)]}
    if isinstance(test, nodes.Walrus):
        return {test.target.id}
    return {expression_text(test)}


def _asked_in(statement: nodes.Stmt) -> set[str]:
    """What the tests in a statement ask about."""
    found: set[str] = set()
    for node in walk(statement):
        if isinstance(node, (nodes.If, nodes.Conditional, nodes.Assert)):
            found |= _subjects(node.test)
        elif isinstance(node, nodes.Assign) and isinstance(node.value, (nodes.Unary, nodes.Compare, nodes.BoolOp)):
            found |= _subjects(node.value)  # `turned = mode != "packed"`, asked later
    return {text for text in found if "..." not in text}


def taken(span: Span, place: int) -> Hashable:
    """The key of one branch of the test there."""
    return (PATH, span.line, span.column, place)


def merge_paths(trace: Trace) -> None:
    """Make one visit of those of the same context that came by different branches: the run's work is done, and to
    rules they are alternatives like any others."""
    for site in trace.sites.values():
        if any(_is_path(way[-1]) for way in site.visits if isinstance(way, tuple) and way):
            site.visits = _merged(site)


def _is_path(part: Hashable) -> bool:
    return isinstance(part, tuple) and part[:1] == (PATH,)


def _merged(site: Site) -> dict[Hashable, Visit]:
    groups: dict[Hashable, list[Visit]] = {}
    for way, visit in site.visits.items():
        assert isinstance(way, tuple)
        groups.setdefault(tuple(part for part in way if not _is_path(part)), []).append(visit)
    return {context: visits[0] if len(visits) == 1 else _one(visits) for context, visits in groups.items()}


def _one(visits: list[Visit]) -> Visit:
    told = next((v for v in visits if any(case.refused is not None for case in v.assumed)), visits[0])
    origins = {name: origin for visit in visits for name, origin in visit.origins.items() if origin is not None}
    makers = {name: visit.made_by.get(name, frozenset()) for visit in visits for name in visit.made_by}
    for name in makers:
        makers[name] = frozenset().union(*(visit.made_by.get(name, frozenset()) for visit in visits))
    return replace(
        told,
        proven=tuple(case for visit in visits for case in visit.proven),
        assumed=tuple(case for visit in visits for case in visit.assumed),
        origins={**told.origins, **{n: o for n, o in origins.items() if told.origins.get(n) is None}},
        made_by=makers,
        unchanged_in_loop=all(visit.unchanged_in_loop for visit in visits),
        guarded=all(visit.guarded for visit in visits),
        caught=all(visit.caught for visit in visits),
    )
