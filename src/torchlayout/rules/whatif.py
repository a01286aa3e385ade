"""What operations would give if one of their operands had not been packed first.

The table answers: each operator is run again in the same world, with the strided tensor in the place of its copy, and
where its result lies otherwise than before, so are the operators that use that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from torchlayout.interp.trace import Case, Site, SiteKey, Use, Visit
from torchlayout.layouts import Layout, is_contiguous, same_layout
from torchlayout.ops import Operand, Outcome, Refused, Result, attribute, index
from torchlayout.rules.seen import Seen, results
from torchlayout.rules.strided_use import JOINING, VIEWS, Cost, cost
from torchlayout.sizes import YES, Facts
from torchlayout.structs import struct

MAX_STEPS = 32
"""Operations that are followed from one copy; beyond that it is not known who uses it."""

ASKS = frozenset({"size", "dim", "numel", "ndimension", "nelement", "element_size", "is_floating_point", "get_device"})
"""Queries that any layout answers alike."""
TELLS = frozenset({"stride", "storage_offset", "untyped_storage", "storage", "data_ptr"})
"""Queries whose answer is another one for the copy."""
PACKS = frozenset({"Linear", "LayerNorm", "Embedding", "RMSNorm", "linear", "layer_norm", "stack"})
"""Operators that give packed memory whatever they are given."""


class Unclear(Exception):
    """It cannot be told, or the copy is needed."""


@struct(frozen=True, slots=True)
class Swap:
    """A tensor's layout as it is, and the tensor that would stand in its place."""

    packed: Layout
    instead: Operand


# ---------------------------------------------------------------- one operator
def swaps_of(cases: Sequence[Case]) -> list[Swap]:
    """What stands in the place of the results of a packing call: its operands."""
    return [
        Swap(result.layout, operand)
        for case in cases
        if (operand := case.operand()) is not None
        for result in results(case.outcome)
    ]


def instead_of(layout: Layout, swaps: Sequence[Swap]) -> Operand:
    """The tensor in the place of one with this layout. Raises `Unclear` where none is known, or several."""
    found = list(dict.fromkeys(swap.instead for swap in swaps if swap.packed == layout))
    if len(found) != 1:
        raise Unclear
    return found[0]


def outcome_with(site: Site, visit: Visit, case: Case, parameter: str, value: Any) -> Outcome | Refused:
    """The outcome of a case with another argument. Raises `Unclear` for a module, which the table does not run."""
    bound: dict[str, Any] = {**case.bound, parameter: value}
    try:
        if site.kind == "subscript":
            return index(bound["self"], list(bound["indices"]), case.facts)
        if site.kind == "attribute":
            return attribute(bound["self"], site.name, case.facts)
        return visit.op.apply(bound, case.facts)
    except Refused as refused:
        return refused
    except AssertionError:
        raise Unclear from None


def copy_is_needed(site: Site, view: Site, *, proven: bool = False) -> bool:
    """Whether a view of packed memory does not exist over the tensor as it was before packing, in every case."""
    befores = site.visits.values() if proven else site.relevant()
    swaps = swaps_of([case for visit in befores for case in (visit.proven if proven else visit.assumed)])
    answers = []
    for visit in view.visits.values() if proven else view.relevant():
        for case in visit.proven if proven else visit.assumed:
            operand = case.operand()
            try:
                if operand is None:
                    return False
                other = instead_of(operand.layout, swaps)
                answers.append(isinstance(outcome_with(view, visit, case, "self", other), Refused))
            except Unclear:
                return False
    return bool(answers) and all(answers)


# ---------------------------------------------------------------- all users
@struct(slots=True)
class Verdict:
    """Who uses a copy that nobody needs: the operations' places, and how many of them copy by themselves."""

    users: list[SiteKey]
    hidden_copies: int = 0


def users_that_need_nothing(seen: Seen, site: Site) -> Verdict:
    """All users of a copy, none of which needs it or runs faster with it. Raises `Unclear` otherwise."""
    swaps = swaps_of([case for visit in site.visits.values() for case in visit.assumed])
    if not swaps:
        raise Unclear
    verdict = Verdict([])
    pending, done = [(site.key, swaps)], 0
    while pending:
        key, swaps = pending.pop()
        for use in sorted(seen.uses(key), key=Use.sort_key):
            done += 1
            if done > MAX_STEPS:
                raise Unclear
            moved = _weigh(seen, use, key, swaps, verdict)
            if moved:
                pending.append((use.by, moved))
    if not verdict.users:
        raise Unclear
    return verdict


def _weigh(seen: Seen, use: Use, key: SiteKey, swaps: list[Swap], verdict: Verdict) -> list[Swap]:
    """Count one use; what stands in the place of its results, where these would lie otherwise."""
    if use.how == "read" and use.name in TELLS:
        raise Unclear
    if use.how in ("read", "contents") or (use.how == "operand" and use.name in ASKS):
        return []
    site = seen.site(use.by)
    if use.how != "operand" or use.in_loop or site is None or use.parameter is None or seen.is_write(use):
        raise Unclear
    moved: list[Swap] = []
    costs: set[Cost] = set()
    for visit in site.relevant():
        if key in visit.made_by.get(use.parameter, ()):
            for case in visit.assumed:
                costs.add(_cost(visit, case, use.parameter, swaps))
                moved += _moved(site, visit, case, use.parameter, swaps)
    if not costs or Cost.PAYS in costs:
        raise Unclear
    if Cost.HIDDEN_COPY in costs:
        verdict.hidden_copies += 1
    if site.name not in ("[]", "T") and not all(visit.op.name in VIEWS for visit in site.visits.values()):
        verdict.users.append(use.by)
    elif use.name in ("reshape", "flatten", "contiguous") and not moved:
        verdict.users.append(use.by)
    return moved


def _cost(visit: Visit, case: Case, parameter: str, swaps: list[Swap]) -> Cost:
    value = case.bound.get(parameter)
    if isinstance(value, Operand):
        return cost(visit.op.name, parameter, case.bound, instead_of(value.layout, swaps), case.facts)
    return Cost.FREE if visit.op.name in JOINING else Cost.PAYS


def _moved(site: Site, visit: Visit, case: Case, parameter: str, swaps: list[Swap]) -> Iterator[Swap]:
    """The results of a case that would lie otherwise. Raises `Unclear` where the call would be refused."""
    if visit.op.name in PACKS:
        return
    value = case.bound.get(parameter)
    if isinstance(value, Operand):
        other: Any = instead_of(value.layout, swaps)
    elif isinstance(value, (tuple, list)) and all(isinstance(item, Operand) for item in value):
        other = tuple(_instead_or_same(item, swaps) for item in value)
    else:
        raise Unclear
    after = outcome_with(site, visit, case, parameter, other)
    before = case.outcome
    if isinstance(after, Refused) or isinstance(before, Refused):
        raise Unclear
    was, becomes = list(_tensors(before)), list(_tensors(after))
    if not was or len(was) != len(becomes):
        raise Unclear
    for old, new in zip(was, becomes, strict=True):
        if new.exists is not YES:
            raise Unclear
        if not _lie_alike(old.layout, new.layout, case.facts):
            yield Swap(old.layout, Operand(new.layout, new.dtype, new.numpy))


def _lie_alike(a: Layout, b: Layout, facts: Facts) -> bool:
    """Whether two layouts of the same sizes have the same strides; sizes do not depend on how an operand lies."""
    if is_contiguous(a, facts) is YES and is_contiguous(b, facts) is YES:
        return True
    return same_layout(a, b, facts) is YES


def _instead_or_same(item: Operand, swaps: list[Swap]) -> Operand:
    found = [swap.instead for swap in swaps if swap.packed == item.layout]
    return found[0] if found else item


def _tensors(outcome: Outcome) -> Iterator[Result]:
    """The tensors of an outcome, those in tuples too, in order."""
    if isinstance(outcome, tuple):
        for item in outcome:
            yield from _tensors(item)
    elif hasattr(outcome, "values") and isinstance(outcome.values, dict):
        for item in outcome.values.values():
            yield from _tensors(item)
    else:
        yield from results(outcome)
