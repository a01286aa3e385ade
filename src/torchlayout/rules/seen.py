"""What the interpreter saw of one file, with the questions that several rules ask of it.

Each question spells out which *world* it asks: what raises is told from the assumed one (that is how people call the
function), what is redundant from the proven one alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from torchlayout.interp.trace import Case, Origin, Site, SiteKey, Trace, Use, Visit
from torchlayout.layouts import is_channels_last, is_contiguous, settle
from torchlayout.layouts.ranks import ends_may_meet, next_to
from torchlayout.ops import Alias, Alternatives, MemoryFormat, Operand, Outcome, Refused, Result
from torchlayout.ops.values import UNKNOWN, is_unknown
from torchlayout.program.unit import Entry, Unit
from torchlayout.rules.base import Options
from torchlayout.rules.collectives import writes_into
from torchlayout.sizes import MAYBE, NO, YES, Facts, Rest, Truth, agree

Question = Callable[[Case], bool]

MAX_FOLLOWED = 64
"""Views of a value that are followed to find who uses it; beyond that its users count as not known."""


class Seen:
    """One file: its trace, its text, and what users said of their code."""

    def __init__(self, trace: Trace, unit: Unit, options: Options) -> None:
        self.trace = trace
        self.unit = unit
        self.options = options

    # -------------------------------------------------------------- sites
    @cached_property
    def sites(self) -> list[Site]:
        """The operations of this file, in the order of its text."""
        return [self.trace.sites[key] for key in sorted(self.trace.sites) if key[0] == self.trace.path]

    def named(self, *names: str) -> Iterator[Site]:
        """The sites of operators with these names, whatever they are called in the text."""
        wanted = [site for name in names for site in self._by_operator.get(name, ())]
        yield from wanted if len(names) == 1 else sorted({s.key: s for s in wanted}.values(), key=lambda s: s.key)

    @cached_property
    def _by_operator(self) -> dict[str, list[Site]]:
        found: dict[str, list[Site]] = {}
        for site in self.sites:
            for name in {visit.op.name for visit in site.visits.values()}:
                found.setdefault(name, []).append(site)
        return found

    @cached_property
    def refusing(self) -> list[Site]:
        """The operations that torch may refuse: it does in some case, or in some case that is not known."""
        return [
            site
            for site in self.sites
            if any(_may_refuse(case) for visit in site.visits.values() for case in (*visit.proven, *visit.assumed))
        ]

    def packing(self) -> Iterator[Site]:
        """The calls of `contiguous()`."""
        return self.named("contiguous")

    def site(self, key: SiteKey) -> Site | None:
        return self.trace.sites.get(key)

    @cached_property
    def written(self) -> dict[Entry | None, list[frozenset[SiteKey]]]:
        """For each function, None for the module: the sites that made what it writes to in place."""
        found: dict[Entry | None, list[frozenset[SiteKey]]] = {}
        at = self.unit.outline.at
        for key, writes in self.trace.writes.items():
            if key[0] == self.trace.path:
                found.setdefault(at(key[1].line), []).extend(write.made_by for write in writes)
        for site in self.sites:
            if writes_in_place(site):
                made = (visit.made_by.get("self", frozenset()) for visit in site.visits.values())
                found.setdefault(at(site.span.line), []).extend(made)
        return {function: list(dict.fromkeys(made)) for function, made in found.items()}

    # -------------------------------------------------------------- uses
    def uses(self, key: SiteKey) -> frozenset[Use]:
        return frozenset(self.trace.uses.get(key, ()))

    def uses_through_views(self, key: SiteKey) -> frozenset[Use] | None:
        """Who uses a value, where for a view of it those count who use the view. None: too many to follow."""
        found: set[Use] = set()
        pending, done = [key], {key}
        while pending:
            for use in self.uses(pending.pop()):
                is_view = use.how == "operand" and self._makes_view(use)
                if is_view and use.by not in done:
                    done.add(use.by)
                    pending.append(use.by)
                if not is_view or self._loses_track(use):
                    found.add(use)
            if len(done) > MAX_FOLLOWED:
                return None
        return frozenset(found)

    def _makes_view(self, use: Use) -> bool:
        site = self.site(use.by)
        if site is None or use.by in self.trace.writes:
            return False
        aliases = {visit.op.alias for visit in site.visits.values()}
        if site.name != "[]" and Alias.VIEW in aliases:
            return True
        return not aliases.isdisjoint((Alias.VIEW, Alias.MAYBE_VIEW)) and any(
            shares(case) is not NO for visit in site.visits.values() for case in visit.assumed
        )

    def _loses_track(self, use: Use) -> bool:
        """Whether it is not known what an operation gives: who uses that is not recorded."""
        site = self.site(use.by)
        return site is None or any(is_unknown(case.outcome) for visit in site.visits.values() for case in visit.assumed)

    def only_maker(self, site: Site, parameter: str = "self") -> Site | None:
        """The one site that made an operand, on every path."""
        makers = [visit.made_by.get(parameter, frozenset()) for visit in site.visits.values()]
        if not makers or any(keys != makers[0] for keys in makers) or len(makers[0]) != 1:
            return None
        (key,) = makers[0]
        return self.site(key)

    def only_user(self, site: Site) -> SiteKey | None:
        """The one operation that takes what a site makes, as its `self`; None where there are more, or others."""
        uses = [use for use in self.uses(site.key) if use.how != "read"]
        if len(uses) != 1 or uses[0].how != "operand" or uses[0].parameter != "self":
            return None
        return uses[0].by

    def is_write(self, use: Use) -> bool:
        """Whether a use changes the value's memory."""
        if use.how == "written":
            return True
        if use.by in self.trace.writes and use.name == "[]":
            return use.parameter == "self"
        if use.how == "argument":
            initializes = use.name.rpartition(".")[0] in ("torch.nn.init", "nn.init")
            return initializes or use.name.startswith(".copy_") or writes_into(use.name, use.parameter or "")
        if use.how != "operand":
            return False
        if use.parameter == "out":
            return True
        site = self.site(use.by)
        return use.parameter in ("self", "input", "tensor") and site is not None and writes_in_place(site)

    def is_written(self, key: SiteKey) -> bool:
        """Whether the value, or a view of it, may be written to after it was made (also where that is not known)."""
        found = self.uses_through_views(key)
        return found is None or any(self.is_write(use) for use in found)


# ---------------------------------------------------------------- sites
KEEPING_DATA = frozenset({"requires_grad_", "share_memory_", "pin_memory_", "rename_", "retain_grad"})
"""Methods that end like in-place ones and write no data."""


def writes_in_place(site: Site) -> bool:
    return site.name not in KEEPING_DATA and any(visit.op.alias is Alias.INPLACE for visit in site.visits.values())


def known_visits(site: Site) -> list[Visit]:
    """All visits that can happen: those from known callers, and the function on its own if others may call it."""
    visits = list(site.visits.values())
    return [visit for visit in visits if visit.caller is not None or visit.public] or visits


def assumed_cases(site: Site) -> list[tuple[Visit, Case]]:
    """The cases of the assumed world in the visits that count for what people see."""
    return [(visit, case) for visit in site.relevant() for case in visit.assumed]


def always(site: Site, question: Question) -> bool:
    """Whether every proven case of every visit says so. (Nothing is taken for granted there, so none is weak.)

    A visit without proven cases was run only for what it hands on; what the function does on its own then says all.
    """
    visits = [visit for visit in known_visits(site) if visit.proven]
    return bool(visits) and all(all(map(question, visit.proven)) for visit in visits)


def is_weak(visit: Visit, case: Case) -> bool:
    """Whether an assumed case rests on more than the usual assumptions. It does not where the proven world has the
    very same strides, as behind an operator that packs whatever it is given."""
    if not case.weak:
        return False
    parameter = case.refused.parameter if case.refused is not None else "self"
    operand = case.operand(parameter)
    if operand is None or None in operand.layout.strides:
        return True
    proven = [one.operand(parameter) for one in visit.proven]
    return not any(one is not None and one.layout == operand.layout for one in proven)


def usually(site: Site, question: Question) -> bool:
    """Whether every assumed case that counts says so, and rests on nothing weak."""
    visits = site.relevant()
    return bool(visits) and all(
        visit.assumed and all(question(case) and not is_weak(visit, case) for case in visit.assumed) for visit in visits
    )


def sometimes(site: Site, question: Question) -> bool:
    """Whether some assumed case that counts says so, and rests on nothing weak."""
    return any(question(case) and not is_weak(visit, case) for visit, case in assumed_cases(site))


def innermost_loop(site: Site) -> str | None:
    """The kind of the loop around the site, None where there is none in some visit."""
    kinds = {visit.loop.kind if visit.loop is not None else None for visit in site.visits.values()}
    return None if None in kinds or not kinds else sorted(kind for kind in kinds if kind)[0]


# ---------------------------------------------------------------- cases
def format_asked(case: Case) -> MemoryFormat | None:
    """The memory format that `contiguous()` is asked for; None where that is not known."""
    value = case.bound.get("memory_format", MemoryFormat.CONTIGUOUS)
    if value is None:
        return MemoryFormat.CONTIGUOUS
    return value if isinstance(value, MemoryFormat) else None


def lies_in(operand: Operand, form: MemoryFormat | None, facts: Facts) -> Truth:
    """Whether a tensor lies in a memory format."""
    if form is MemoryFormat.CONTIGUOUS:
        return is_contiguous(operand.layout, facts)
    rank = {MemoryFormat.CHANNELS_LAST: 4, MemoryFormat.CHANNELS_LAST_3D: 5}.get(form) if form else None
    if rank is None or operand.layout.rank != rank:
        return MAYBE
    return is_channels_last(operand.layout, facts)


def is_packed(case: Case) -> Truth:
    """Whether the operand of a `contiguous()` lies already in the format asked for."""
    operand = case.operand()
    return MAYBE if operand is None else lies_in(operand, format_asked(case), case.facts)


def _may_refuse(case: Case) -> bool:
    outcome = case.outcome
    if type(outcome) is Result:
        return outcome.exists is MAYBE
    return isinstance(outcome, Refused) or any(result.exists is MAYBE for result in results(outcome))


def results(outcome: Outcome | Refused) -> Iterator[Result]:
    """The tensors that an outcome may be."""
    if isinstance(outcome, Result):
        yield outcome
    elif isinstance(outcome, Alternatives):
        for one in outcome.outcomes:
            yield from results(one)


def shares(case: Case) -> Truth:
    """Whether the one tensor that a case gives lies in its input's storage; MAYBE where that is not known."""
    return agree(result.shares for result in results(case.outcome))


def copies(case: Case) -> bool:
    """Whether the case surely makes a copy."""
    return shares(case) is NO


def strides_known(operand: Operand, facts: Facts) -> bool:
    """Whether each dimension that can be longer than 1 has a known stride, and the rank is known."""
    layout = operand.layout
    return layout.rank is not None and all(
        dim.stride is not None or facts.is_one(dim.size) is YES for dim in layout.dims
    )


def first_origin(visits: Iterable[Visit], parameter: str = "self") -> Origin | None:
    for visit in visits:
        origin = visit.origins.get(parameter)
        if origin is not None:
            return origin
    return None


def rank_decides(visit: Visit, case: Case) -> bool:
    """Whether a refusal rests on dimensions that may not be there: with none in the place of a tensor's unknown
    ones, torch does what is asked."""
    parameter = case.refused.parameter if case.refused is not None else "self"
    operand = case.operand(parameter)
    rests = [dim.rest for dim in settle(operand.layout, case.facts).dims if dim.rest] if operand is not None else []
    if not rests:
        learnt_later = operand is not None and any(dim.rest for dim in operand.layout.dims)
        return learnt_later and not _is_refused(visit, case.bound, case.facts)
    facts = without(rests, case.facts)
    return not _is_refused(visit, case.bound, facts) or _works_overlapped(visit, case, parameter)


def without(rests: Iterable[Rest], facts: Facts) -> Facts:
    """What is known if these runs of unknown dimensions have none."""
    facts = facts.copy()
    for rest in rests:
        facts.bind(rest, ())
    return facts


def outcome_with(visit: Visit, bound: Mapping[str, object], facts: Facts) -> Outcome | Refused:
    """What the operator of a visit gives for other arguments or facts; UNKNOWN where its row cannot be run again."""
    try:
        return visit.op.apply(bound, facts)
    except Refused as refusal:
        return refusal
    except AssertionError:
        return UNKNOWN


def _is_refused(visit: Visit, bound: Mapping[str, object], facts: Facts) -> bool:
    return isinstance(outcome_with(visit, bound, facts), Refused)


def _works_overlapped(visit: Visit, case: Case, parameter: str) -> bool:
    """Whether torch does what is asked if the last dimension known from the front is the first known from the back
    (`x.transpose(0, 1)` and `x.size(-1)` of a matrix)."""
    operand = case.operand(parameter)
    if operand is None:
        return False
    layout = settle(operand.layout, case.facts)
    gap = next(place for place, dim in enumerate(layout.dims) if dim.rest is not None)
    if not 0 < gap < len(layout.dims) - 1:
        return False
    front, back = layout.dims[:gap], layout.dims[gap + 1 :]
    rest = layout.dims[gap].rest
    assert rest is not None
    if not ends_may_meet(rest):
        return False
    facts = case.facts.copy()
    told = {facts.normal(dim.size) for dim in (*front, *back)}
    gone = [size not in told for size in map(facts.normal, next_to(rest, facts))]
    if gone[:1] == [True]:
        dims = (*front, *back[1:])  # `x[:, 0]` and `x.size(-1)` of a matrix: what is told from the back was taken away
    elif gone[1:] == [True]:
        dims = (*front[:-1], *back)
    elif len(layout.dims) >= 4:
        facts.learn_equal(front[-1].size, back[0].size)
        dims = (*front[:-1], *back)
    else:
        return False
    facts.bind(rest, ())
    bound = {**case.bound, parameter: replace(operand, layout=layout.replace(dims))}
    return not _is_refused(visit, bound, facts)


def refusal(site: Site, kind: str, weak: bool = False) -> tuple[Visit, Case, str] | None:
    """Where torch refuses a call for a reason other than a view: the visit and case to tell of, and the words
    " on some path" where other paths work. What only a weak case says counts where `weak` asks for it."""
    for visit in site.relevant():
        for cases in (visit.assumed, visit.proven):
            for case in cases:
                if case.refused is not None and case.refused.kind == kind and (weak or not is_weak(visit, case)):
                    if rank_decides(visit, case):
                        continue
                    whole = all(other.refused is not None for other in cases)
                    return visit, case, "" if whole else " on some path"
    return None
