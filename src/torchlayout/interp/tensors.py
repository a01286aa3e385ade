"""Applying a row of the operator table to abstract values: two worlds, and every alternative of the operands.

The proven and the assumed world go through the same transfer functions. Each tensor argument contributes its
alternatives; the row is applied to every combination (a bounded number), and the outcomes are gathered into one value.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from typing import Any

from torchlayout.interp.assumptions import apply_to
from torchlayout.interp.gathering import gather
from torchlayout.interp.joins import join_all, join_tensors
from torchlayout.interp.state import State, in_common
from torchlayout.interp.trace import Case, SiteKey
from torchlayout.interp.values import MAX_WEIGHT, PLAIN, Many, Opaque, Path, Tensor, Union_, Value, is_int, objects
from torchlayout.interp.values import Sequence as SequenceValue
from torchlayout.interp.values import Slice as SliceValue
from torchlayout.layouts import contiguous, settle, settle_shape, unknown_layout
from torchlayout.ops import (
    UNKNOWN,
    Alias,
    Alternatives,
    DType,
    Fields,
    MemoryFormat,
    Op,
    Operand,
    Outcome,
    Refused,
    Result,
)
from torchlayout.ops import Many as ManyOutcome
from torchlayout.ops.signature import parse
from torchlayout.ops.values import DTYPE_ALIASES, ITEM_SIZES, Deferred, is_unknown
from torchlayout.sizes import YES, Facts, Poly, Rest
from torchlayout.structs import replace, struct

NOT_TENSORS = frozenset({"int", "number", "str", "bool", "module", "dtype", "device", "object"})
"""Kinds of unknown values that are no tensors."""
MAX_COMBINATIONS = 8
"""Combinations of alternatives that are tried; beyond that, the first argument's, and what those of others share."""
MAX_NESTING = 16
"""Lists and tuples inside one another that an argument may be made of."""


def as_tensor(value: Value, facts: Facts) -> Tensor | None:
    """The value as a tensor; an unknown one becomes a tensor of unknown rank (see `Opaque`)."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, Opaque) and value.kind not in NOT_TENSORS:
        name = value.name
        rest = facts.symbols.rest(value.key, name)
        numpy = value.kind == "ndarray"
        device = facts.symbols.device
        proven = Operand(unknown_layout(value.key, facts, name), numpy=numpy, device=device)
        layout = proven.layout if value.strided else contiguous((rest,))
        assumed = Operand(layout, numpy=numpy, weak=value.weak, device=device)
        storages: frozenset[Hashable] = frozenset([("storage", key) for key in objects(value.key)])
        return Tensor((proven,), (assumed,), value.key, storages, value.origin)
    if isinstance(value, Union_):
        tensors = [t for t in (as_tensor(v, facts) for v in value.choices) if t is not None]
        if tensors:
            joined = join_all(list(tensors), ("choice", *(tensor.ident for tensor in tensors)))
            return joined if isinstance(joined, Tensor) else tensors[0]
    return None


def as_size(value: Value, facts: Facts) -> Any:
    """The value as an int: a `Size`, or `UNKNOWN` for what cannot be one."""
    if isinstance(value, Opaque):
        if value.kind in ("str", "tensor", "module", "ndarray", "number", "dtype", "device", "object"):
            return UNKNOWN
        if value.size is not None:
            return facts.normal(value.size)
        return apply_to(facts.normal(facts.symbols.atom(("value", value.key), value.name, None)), value.name, facts)
    if isinstance(value, Poly):
        return facts.normal(value)
    return value if isinstance(value, (int, Rest)) else UNKNOWN


def to_argument(value: Value, state: State) -> Any:
    """An abstract value as an argument of the table, tensors and unknowns deferred until the parameter is known."""
    return _argument(value, state, [MAX_WEIGHT], MAX_NESTING)


def _argument(value: Value, state: State, room: list[int], depth: int) -> Any:
    """The same for a part; `room` is how many more are looked at: lists may hold one another, even themselves."""
    room[0] -= 1
    if depth == 0 or room[0] < 0:
        return UNKNOWN
    value = state.load(value)
    if isinstance(value, (Tensor, Opaque, Union_)):
        if isinstance(value, Union_):
            kept = tuple(choice for choice in value.choices if choice is not None)
            if len(kept) == 1:
                return _argument(kept[0], state, room, depth - 1)
        if isinstance(value, Opaque) and value.kind == "number":
            return SOME_NUMBER
        return Deferred(value)
    if isinstance(value, Poly):
        return state.facts.normal(value)
    if isinstance(value, (DType, MemoryFormat, Rest, *PLAIN)):
        return value
    if isinstance(value, SequenceValue):
        return tuple(_argument(item, state, room, depth - 1) for item in value.items)
    if isinstance(value, Many):
        return ManyOutcome(_argument(value.item, state, room, depth - 1))
    if isinstance(value, SliceValue):
        return slice(*(_argument(part, state, room, depth - 1) for part in (value.lower, value.upper, value.step)))
    if isinstance(value, Path):
        return path_constant(value.path)
    return UNKNOWN


SOME_NUMBER = 1.5
"""Stands for a float that is not known: its value never matters for a layout."""


def path_constant(path: str) -> Any:
    """`torch.float32`, `torch.channels_last`, `np.uint8`, ... as an argument; UNKNOWN for anything else."""
    module, _, name = path.rpartition(".")
    if module == "torch":
        name = DTYPE_ALIASES.get(name, name)
        if name in ITEM_SIZES:
            return DType(name)
        if name in MemoryFormat._value2member_map_:
            return MemoryFormat(name)
    elif module == "numpy":
        if name in ITEM_SIZES:
            return DType(name)
        if name == "newaxis":
            return None
    elif module == "math" and name in ("pi", "e", "inf"):
        return 3.14
    return UNKNOWN


@struct(slots=True)
class Applied:
    """What came of applying a row: the value, and the cases for the trace."""

    value: Value
    proven: tuple[Case, ...]
    assumed: tuple[Case, ...]
    tensors: dict[str, Tensor]
    """The tensor arguments by parameter."""


Runner = Callable[[Mapping[str, Any], Facts], Outcome]
"""Applies an operator to bound arguments in the world of the facts; raises `Refused`."""


def apply(
    run: Runner,
    alias: Alias,
    kinds: Mapping[str, str],
    bound: Mapping[str, Any],
    state: State,
    place: Hashable,
    site: SiteKey,
    origin_text: str,
    proving: bool = True,
) -> Applied:
    """Apply an operator to bound arguments that may hold deferred values.

    Without `proving` the proven world is left out: its cases are none, and of the value nothing is proven.

    `kinds` gives each parameter's schema type; `place` is the key of unknowns that belong to this call.
    """
    tensors: dict[str, Tensor] = {}
    template = {name: bound[name] for name in kinds}
    for name, value in template.items():
        if type(value) in _HOLDING:
            template[name] = value = _resolve(value, kinds[name], state.facts)
            for tensor in _tensors(value):
                tensors.setdefault(name, tensor)
    state.facts.symbols.place = place
    first = next(iter(tensors.values()), None)
    proven = _cases(run, template, state.facts.proven_world, True, first) if proving else ()
    if proving and all(_same_in_both(tensor) for tensor in tensors.values()) and _settled_outcomes(proven):
        assumed = proven
    else:
        world = state.facts.assumed_world
        if state.facts.symbols.standing:
            template = {name: _as_assumed(value, world) for name, value in template.items()}
        assumed = _cases(run, template, world, False, first)
    value = gather(alias, proven, assumed, state.facts, place, site, tensors, origin_text)
    return Applied(value, proven, assumed, tensors)


def apply_row(
    row: Op,
    bound: Mapping[str, Any],
    state: State,
    place: Hashable,
    site: SiteKey,
    origin_text: str,
    proving: bool = True,
) -> Applied:
    """Apply a row of the table."""
    kinds = _kinds(row.schema)
    if len(bound) > len(kinds):
        kinds = kinds | {name: "Tensor" for name in bound if name not in kinds}
    return apply(row.apply, row.alias, kinds, bound, state, place, site, origin_text, proving)


_HOLDING = frozenset({Deferred, Tensor, ManyOutcome, tuple, slice})
"""The kinds of arguments that are, or hold, what is not the same in all cases."""

SHAPE, DIMS, LIST = "shape", "dims", "list"
"""Kinds of parameters that take a list of ints: the sizes of the result, something for each dimension, and others. A
single argument may be that list, or stand for one item; of others it counts as an int, as `split(n)` mostly means."""
_INTS = (SHAPE, DIMS, LIST)
_LISTS = {"size": SHAPE, "sizes": SHAPE, "shape": SHAPE, "repeats": DIMS, "dims": DIMS}


@cache
def _kinds(schema: str) -> dict[str, str]:
    """The schema type of each parameter; of a list of ints, `SHAPE`, `DIMS` or `LIST`."""
    kinds = {}
    for parameter in parse(schema).parameters:
        kinds[parameter.name] = "Tensor" if parameter.name == "operands" else parameter.kind
        if parameter.many and parameter.kind == "int":
            kinds[parameter.name] = _LISTS.get(parameter.name, LIST)
    return kinds


def may_be_list(value: Opaque, facts: Facts) -> bool:
    """Whether a value that is not known, used as sizes, may be several: nothing says that it is an int."""
    if value.kind is not None:
        return False
    return value.key not in facts.symbols.ints


def note_int(value: Value, facts: Facts) -> None:
    """Keep in mind that a value is used as only an int can be."""
    if isinstance(value, Opaque) and value.kind is None:
        facts.symbols.ints.add(value.key)


def _same_in_both(tensor: Tensor) -> bool:
    return tensor.proven is tensor.assumed or tensor.proven == tensor.assumed


def _settled_outcomes(cases: tuple[Case, ...]) -> bool:
    """Whether the proven outcomes say all there is to say."""
    return bool(cases) and all(_settled(case.outcome) for case in cases)


def _settled(outcome: Outcome) -> bool:
    if isinstance(outcome, Refused) or is_unknown(outcome):
        return False
    if isinstance(outcome, Result):
        return all(dim.stride is not None for dim in outcome.layout.dims) and getattr(outcome, "exists", YES) is YES
    if isinstance(outcome, tuple):
        return all(_settled(item) for item in outcome)
    if isinstance(outcome, Fields):
        return all(_settled(item) for item in outcome.values.values())
    if isinstance(outcome, ManyOutcome):
        return _settled(outcome.item)
    return not isinstance(outcome, Alternatives)


def _resolve(value: Any, kind: str, facts: Facts) -> Any:
    """Replace deferred values by what the parameter's kind makes of them; tensors stay abstract for now."""
    if isinstance(value, Deferred):
        inner = value.value
        if isinstance(inner, Tensor):
            return UNKNOWN if kind in ("int", *_INTS) else inner
        if kind == "Tensor":
            return _operand(inner, facts) or UNKNOWN
        if kind in (SHAPE, DIMS) and isinstance(inner, Opaque) and may_be_list(inner, facts):
            return facts.symbols.rest(("items", inner.key)) if kind == SHAPE else UNKNOWN
        if kind == "int":
            note_int(inner, facts)
        if kind in ("int", "Scalar", "float", *_INTS):
            return as_size(inner, facts)
        if kind == "Any" and isinstance(inner, Union_) and all(map(is_int, inner.choices)):
            return facts.symbols.fresh("int")
        if kind == "Any" and (isinstance(inner, Union_) or getattr(inner, "kind", None) in ("tensor", "ndarray")):
            return as_tensor(inner, facts) or UNKNOWN
        if kind == "Index" and isinstance(inner, Opaque) and inner.kind == "int":
            return as_size(inner, facts)
        return UNKNOWN
    if isinstance(value, tuple):
        item_kind = "int" if kind in _INTS else kind
        return tuple(_resolve(item, item_kind, facts) for item in value)
    if isinstance(value, ManyOutcome):
        known = kind == "Tensor" or (kind == "Any" and isinstance(value.item, (tuple, ManyOutcome)))
        return ManyOutcome(_resolve(value.item, kind, facts)) if known else UNKNOWN
    if isinstance(value, slice):
        return slice(*(_resolve(part, "int", facts) for part in (value.start, value.stop, value.step)))
    return value


def _operand(value: Value, facts: Facts) -> Tensor | None:
    """What a parameter that takes tensors makes of a value. Where it may be a number, that is one more alternative, for
    a number leaves the layout to the other operands."""
    tensor = as_tensor(value, facts)
    if tensor is None or not isinstance(value, Union_) or not any(map(is_number, value.choices)):
        return tensor
    scalar = (Operand(contiguous(()), numpy=tensor.numpy),)
    number = Tensor(scalar, scalar, ("number", tensor.ident), frozenset())
    return join_tensors(tensor, number, ("operand", tensor.ident))


def is_number(value: Value) -> bool:
    """A number, known or not, and surely no tensor."""
    return isinstance(value, (int, float, Poly)) or (isinstance(value, Opaque) and value.kind in ("number", "int"))


def _as_assumed(value: Any, facts: Facts) -> Any:
    """An argument with the sizes that only the assumed world knows."""
    if isinstance(value, Poly):
        return facts.normal(value)
    if isinstance(value, tuple):
        return tuple(_as_assumed(item, facts) for item in value)
    if isinstance(value, slice):
        return slice(*(_as_assumed(part, facts) for part in (value.start, value.stop, value.step)))
    return value


def _tensors(value: Any) -> Sequence[Tensor]:
    if isinstance(value, Tensor):
        return (value,)
    if isinstance(value, tuple):
        return [t for item in value for t in _tensors(item)] if value else ()
    return _tensors(value.item) if isinstance(value, ManyOutcome) else ()


def _cases(
    run: Runner, template: Mapping[str, Any], facts: Facts, proven: bool, first: Tensor | None
) -> tuple[Case, ...]:
    """One case for each combination of the tensors' alternatives; those that cannot be (mismatched) drop out."""
    distinct: list[Tensor] = []
    holding = [name for name, value in template.items() if type(value) in _HOLDING]
    for name in holding:
        for tensor in _tensors(template[name]):
            if not any(tensor is other for other in distinct):
                distinct.append(tensor)
    options = [tensor.proven if proven else tensor.assumed for tensor in distinct]
    total = 1
    for option in options:
        total *= len(option)
    if total > MAX_COMBINATIONS:
        options = [
            options[0],
            *((in_common(o, facts, ("common", t.ident)),) for o, t in zip(options[1:], distinct[1:], strict=True)),
        ]
    cases: list[Case] = []
    combinations = list(itertools.product(*options))
    for combination in combinations:
        chosen = {id(tensor): operand for tensor, operand in zip(distinct, combination, strict=True)}
        bound = {**template, **{name: _fill(template[name], chosen) for name in holding}}
        weak = first is not None and chosen[id(first)].weak and not proven
        own = facts if len(combinations) == 1 else facts.copy()  # what one alternative teaches is not true of others
        try:
            outcome: Outcome | Refused = run(bound, own)
            if own is not facts:
                outcome = _settled_in(outcome, own)
        except Refused as refusal:
            outcome = refusal
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, AssertionError) as error:
            facts.symbols.failures.append(f"an operator of the table failed: {error!r}")
            outcome = UNKNOWN
        cases.append(Case(bound, outcome, own, weak))
    if len(cases) > 1:
        _learn_from_all(cases, facts, proven)
        known = [case for case in cases if not is_unknown(case.outcome)]
        if known and not proven:
            if any(case.weak and is_unknown(case.outcome) for case in cases):
                return tuple(replace(case, weak=True) for case in known)  # a path of which too little is known
            return tuple(known)
    return tuple(cases)


def _learn_from_all(cases: Sequence[Case], facts: Facts, proven: bool) -> None:
    """Take over what every alternative that may be the real one teaches."""
    possible = [case.facts for case in cases if not isinstance(case.outcome, Refused)]
    if not proven:
        possible = [case.facts for case in cases if not (isinstance(case.outcome, Refused) or is_unknown(case.outcome))]
    if possible:
        learnt = possible[0]
        for other in possible[1:]:
            learnt = learnt.join(other)
        facts.become(learnt)


def _settled_in(outcome: Outcome, facts: Facts) -> Outcome:
    """An outcome with what its own alternative teaches put in."""
    if isinstance(outcome, Result):
        return replace(outcome, layout=settle(outcome.layout, facts))
    if isinstance(outcome, tuple):
        if any(isinstance(item, Rest) for item in outcome):
            return settle_shape(outcome, facts)
        return tuple(_settled_in(item, facts) for item in outcome)
    if isinstance(outcome, Fields):
        return Fields({name: _settled_in(item, facts) for name, item in outcome.values.items()})
    if isinstance(outcome, ManyOutcome):
        return outcome if isinstance(outcome.item, Operand) else ManyOutcome(_settled_in(outcome.item, facts))
    if isinstance(outcome, Alternatives):
        return Alternatives(tuple(_settled_in(item, facts) for item in outcome.outcomes))
    return facts.normal(outcome) if isinstance(outcome, Poly) else outcome


def _fill(value: Any, chosen: Mapping[int, Operand]) -> Any:
    if isinstance(value, Tensor):
        return chosen[id(value)]
    if isinstance(value, ManyOutcome):
        return ManyOutcome(_fill(value.item, chosen))
    return tuple(_fill(item, chosen) for item in value) if isinstance(value, tuple) else value
