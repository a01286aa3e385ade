"""Gathering the outcomes of one call, of all alternatives in both worlds, into one value."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from torchlayout.interp.state import in_few
from torchlayout.interp.trace import Case, Origin, SiteKey
from torchlayout.interp.values import (
    Dictionary,
    Either,
    Many,
    Opaque,
    Tensor,
    Value,
    objects,
)
from torchlayout.interp.values import Sequence as SequenceValue
from torchlayout.layouts import is_contiguous, unknown_layout
from torchlayout.ops import UNKNOWN, Alias, Alternatives, Fields, Operand, Outcome, Refused, Result
from torchlayout.ops import Many as ManyOutcome
from torchlayout.ops.values import is_unknown
from torchlayout.sizes import MAYBE, NO, YES, Facts, Poly, Rest
from torchlayout.structs import struct


def gather(
    alias: Alias,
    proven: tuple[Case, ...],
    assumed: tuple[Case, ...],
    facts: Facts,
    place: Hashable,
    site: SiteKey,
    tensors: Mapping[str, Tensor],
    origin_text: str,
) -> Value:
    maker = Maker(facts, place, site, tensors, alias, origin_text)
    weak = all(case.weak for case in assumed)
    good_proven = [o for case in proven for o in _flatten(case.outcome)]
    good_assumed = [(o, case.weak) for case in assumed for o in _flatten(case.outcome)]
    return maker.value(good_proven, good_assumed, weak, ())


def _flatten(outcome: Outcome | Refused) -> list[Outcome]:
    """The alternatives of an outcome; a refusal is none."""
    if isinstance(outcome, Refused):
        return []
    if isinstance(outcome, Alternatives):
        return [item for alternative in outcome.outcomes for item in _flatten(alternative)]
    return [outcome]


@struct(slots=True)
class Maker:
    """Builds the value of one call from the outcomes of both worlds."""

    facts: Facts
    place: Hashable
    site: SiteKey
    tensors: Mapping[str, Tensor]
    alias: Alias
    origin_text: str

    def value(
        self, proven: Sequence[Outcome], assumed: Sequence[tuple[Outcome, bool]], weak: bool, part: tuple[Any, ...]
    ) -> Value:
        """The value whose outcomes these are. `part` names a component of the result."""
        known = [(outcome, w) for outcome, w in assumed if not is_unknown(outcome)]
        if not known:
            known = [(outcome, False) for outcome in proven if not is_unknown(outcome)]
        if not known:
            return Opaque((self.place, "result", *part), origin=self._origin_before(), strided=bool(self.tensors))
        first = known[0][0]
        if isinstance(first, Result):
            return self._tensor(proven, [(o, w) for o, w in known if isinstance(o, Result)], part)
        if isinstance(first, (tuple, Fields)):
            return self._parts(proven, known, weak, part)
        if isinstance(first, ManyOutcome):
            items = [(alternative, w) for o, w in known for item in _items(o) for alternative in _flatten(item)]
            inner = [a for o in proven for item in _items(o) for a in _flatten(item)]
            if not all(isinstance(o, (ManyOutcome, tuple)) for o in proven):
                inner = []
            return Many(self.value(inner, items, weak, (*part, "item")), "tuple")
        if isinstance(first, dict):
            return Dictionary({k: self.value([], [(v, False)], weak, (*part, k)) for k, v in first.items()})
        plain = [outcome for outcome, _ in known]
        if isinstance(first, bool) and any(outcome is not first for outcome in proven):
            return Opaque((self.place, "result", *part), kind="bool")  # both branches of a test can happen
        if all(type(o) is type(first) and o == first for o in plain):
            if isinstance(first, (int, Poly)) and any(other != first for other in proven):
                return self.facts.symbols.stand_in((self.place, "size", *part), first)
            return first
        return self._differing_sizes(plain, part)

    def _differing_sizes(self, plain: list[Outcome], part: tuple[Any, ...]) -> Value:
        """Sizes or constants that differ between the alternatives."""
        if all(isinstance(o, (int, Poly)) and not isinstance(o, bool) for o in plain):
            return self.facts.symbols.atom((self.place, "size", *part))
        return Opaque((self.place, "result", *part))

    def _parts(
        self, proven: Sequence[Outcome], known: Sequence[tuple[Outcome, bool]], weak: bool, part: tuple[Any, ...]
    ) -> Value:
        first = known[0][0]
        names = tuple(first.values) if isinstance(first, Fields) else ()
        parts = _items(first)
        kind = "size" if not names and parts and all(isinstance(i, (int, Poly, Rest)) for i in parts) else "tuple"
        count = len(parts)
        if any(type(o) is not type(first) or len(_items(o)) != count for o, _ in known):
            if kind == "size":
                return Opaque((self.place, "size", *part))
            everything = [(item, w) for o, w in known for item in _items(o)]
            return Many(self.value([], everything, weak, (*part, "item")), "tuple")
        fitting = [o for o in proven if type(o) is type(first) and len(_items(o)) == count]
        if len(fitting) != len(proven):
            fitting, proven = [], (UNKNOWN,)
        items: list[Value] = []
        for i in range(count):
            below = [a for o in fitting for a in _flatten(_items(o)[i])] if fitting else list(proven)
            above = [(a, w) for o, w in known for a in _flatten(_items(o)[i])]
            items.append(self.value(below, above, weak, (*part, i)))
        return SequenceValue(kind, tuple(items), names)

    def _tensor(
        self, proven: Sequence[Outcome], known: Sequence[tuple[Outcome, bool]], part: tuple[Any, ...]
    ) -> Tensor:
        below: list[Operand] = []
        for outcome in proven:
            operand = self._operand(outcome, False)
            if operand is None:
                below = []
                break
            if operand not in below:
                below.append(operand)
        above: list[Operand] = []
        for outcome, weak in known:
            operand = self._operand(outcome, weak)
            if operand is not None and operand not in above:
                above.append(operand)
        results = [outcome for outcome in (*(o for o, _ in known), *proven) if isinstance(outcome, Result)]
        if not below:
            below = [Operand(unknown_layout((self.place, "proven", *part), self.facts), None, above[0].numpy)]
        key = (self.place, "common", *part)
        proved = in_few(tuple(below), self.facts.proven_world, key)
        guessed = in_few(tuple(above), self.facts.assumed_world, key)
        known_alias = self.alias is not Alias.MAYBE_VIEW or all(
            isinstance(outcome, Result) and outcome.shares is not MAYBE for outcome in proven
        )
        return self._identified(proved, guessed, results, part, known_alias)

    def _identified(
        self,
        below: tuple[Operand, ...],
        above: tuple[Operand, ...],
        results: list[Result],
        part: tuple[Any, ...],
        known_alias: bool,
    ) -> Tensor:
        """The tensor with its identity, storages and origin."""
        source = self.tensors.get(results[0].of) or next(iter(self.tensors.values()), None)
        fresh: frozenset[Hashable] = frozenset([(self.place, *part)])
        shares = {result.shares for result in results}
        if source is None or shares == {NO}:
            storages = fresh
        elif shares == {YES}:
            storages = source.storages
        else:
            storages = source.storages | fresh
        ident: Hashable = (self.place, "value", *part)
        parameter = False
        made_by = frozenset([self.site])
        if source is not None and all(result.same_object for result in results):
            ident, parameter, made_by = source.ident, source.parameter, source.made_by | made_by
        elif source is not None and (not known_alias or any(result.same_object for result in results)):
            ident = Either(objects(source.ident) | {ident})
        if above == below:
            above = below
        return Tensor(below, above, ident, storages, self._origin(below, above, source), made_by, parameter)

    def _operand(self, outcome: Outcome, weak: bool) -> Operand | None:
        if not isinstance(outcome, Result):
            return None
        return Operand(outcome.layout, outcome.dtype, outcome.numpy, weak, self.facts.symbols.device)

    def _origin_before(self) -> Origin | None:
        source = next(iter(self.tensors.values()), None)
        return None if source is None else source.origin

    def _origin(self, below: tuple[Operand, ...], above: tuple[Operand, ...], source: Tensor | None) -> Origin | None:
        """How the result got its layout; nothing to tell for a packed one."""
        if all(is_contiguous(operand.layout, self.facts.assumed_world) is YES for operand in above):
            return None
        before = None
        for tensor in self.tensors.values():
            if tensor.origin is not None:
                before = tensor.origin
                break
        if source is not None and before is not None and tuple(above) == source.assumed:
            return before
        return Origin(self.site[1], self.site[0], self.origin_text, before)


def _items(outcome: Outcome) -> tuple[Outcome, ...]:
    """The items of a tuple or named tuple; of a list of unknown length its one item, and nothing of a tensor."""
    if isinstance(outcome, Fields):
        return tuple(outcome.values.values())
    if isinstance(outcome, ManyOutcome):
        return (outcome.item,)
    return outcome if isinstance(outcome, tuple) else ()
