"""Compares a module's row with the real module, call by call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from conformance import Abstraction, Comparison, Verdict, World, Wrong, _describe, _tensors_in

from torchlayout.ops import UNKNOWN, Refused
from torchlayout.ops.modules import Constructed, ModuleRow
from torchlayout.sizes import Facts


def abstract(value: Any) -> Any:
    """A constructor's argument as the table takes it."""
    return value if isinstance(value, Constructed) else Abstraction()(value)


def check_module(
    real: torch.nn.Module,
    row: ModuleRow,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    inputs: Sequence[Any],
    options: Mapping[str, Any] | None = None,
    *,
    assumed: bool = True,
    device: str | None = None,
) -> Verdict:
    """Call a module that was constructed with `args` and `kwargs`, and ask its row; as `conformance.check_call`."""
    options = options or {}
    name = type(real).__name__
    config = row.bind([abstract(value) for value in args], {key: abstract(value) for key, value in kwargs.items()})
    if config is None:
        return Verdict("wrong", name, f"the constructor does not take {args} {kwargs}")
    abstraction = Abstraction(device)
    given = [abstraction(value) for value in inputs]
    given_options = {key: abstraction(value) for key, value in options.items()}
    described = f"{name}({args}, {kwargs}) of {_describe(inputs, options)}"
    facts = Facts().assumed_world if assumed else Facts()
    world = World(facts)
    bound = row.bind_forward(given, given_options) or {}
    try:
        outcome = row.forward(config, given, given_options, facts)
    except Refused as refusal:
        outcome = refusal
    try:
        with torch.no_grad():
            value = real(*inputs, **options)
    except Exception as error:
        return Verdict("invalid", name, f"{described}: {error}")
    if isinstance(outcome, Refused):
        return Verdict("wrong", name, f"{described}: refused ({outcome.message}), torch allows it")

    def owners(parameter: str) -> list[Any]:
        operand = bound.get(parameter, UNKNOWN)
        return [abstraction.tensors[id(operand)]] if id(operand) in abstraction.tensors else []

    given_tensors = _tensors_in([*inputs, *options.values()])
    comparison = Comparison(world.number, world.spelled_out, owners, given_tensors)
    try:
        comparison.compare(outcome, value)
    except Wrong as wrong:
        return Verdict("wrong", name, f"{described}: said {wrong}")
    return Verdict("exact" if comparison.exact else "unknown", name, described)
