"""What an operation would give if one of its operands had not been packed first.

The table answers: the operator is run again in the same world, with the strided tensor in the place of its copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchlayout.interp.trace import Case
from torchlayout.layouts import Layout
from torchlayout.ops import Op, Operand, Outcome, Refused
from torchlayout.rules.seen import results


class Unclear(Exception):
    """It cannot be told."""


def before_packing(case_layout: Layout, befores: Sequence[Case]) -> Operand:
    """The operand of the packing call that gave a tensor of this layout. Raises `Unclear` where none did, or several."""
    found = {
        before.operand(): None
        for before in befores
        if any(result.layout == case_layout for result in results(before.outcome))
    }
    operands = [operand for operand in found if operand is not None]
    if len(operands) != 1:
        raise Unclear
    return operands[0]


def outcome_without_copy(op: Op, case: Case, parameter: str, befores: Sequence[Case]) -> Outcome | Refused:
    """The outcome of a case with the strided tensor instead of its copy; `befores` are the packing call's cases."""
    operand = case.operand(parameter)
    if operand is None:
        raise Unclear
    return outcome_with(op, case, parameter, before_packing(operand.layout, befores))


def outcome_with(op: Op, case: Case, parameter: str, other: Operand) -> Outcome | Refused:
    """The outcome of a case with another operand."""
    bound: dict[str, Any] = dict(case.bound)
    bound[parameter] = Operand(other.layout, other.dtype, other.numpy, other.weak, other.device)
    try:
        return op.apply(bound, case.facts)
    except Refused as refused:
        return refused
    except AssertionError:
        raise Unclear from None  # a module's or a subscript's row, which the table does not run
