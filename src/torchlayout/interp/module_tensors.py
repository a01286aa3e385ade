"""Tensors at module level, such as `MASK = torch.ones(8, 8).tril().t()`, for the functions that mention them.

Told from the text: the name is assigned once, by a statement of the module itself, from calls of torch and of methods
of what these give; nobody rebinds it, or changes by its name how it lies in memory. It is evaluated when a function
asks for it.
"""

from __future__ import annotations

import ast
import re

from torchlayout.interp.frame import Frame
from torchlayout.interp.state import State, settled
from torchlayout.interp.touched import TURNING
from torchlayout.interp.trace import Trace
from torchlayout.interp.values import Tensor, Value
from torchlayout.ops import find_function
from torchlayout.program import nodes
from torchlayout.program.lowering import lower_statements
from torchlayout.program.outline import dotted
from torchlayout.program.unit import CannotLower, Unit
from torchlayout.structs import replace

MAX_NODES = 80
"""Nodes of a longer expression are not evaluated."""

_CHANGED = re.compile(r"\s*(?:(?:\.\s*\w+)*\s*\.\s*\w+_\s*\(|\.\s*(?:data|grad)\s*=|\[[^\n]*\]\s*\S{0,2}=(?!=))")
"""Behind a name: an in-place method, an assignment to its data, or into it."""
_NOT_EVALUATED = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Await, ast.NamedExpr)


def is_made(name: str, unit: Unit) -> bool:
    """Whether a module-level name stands for a tensor that can be told from the module's text."""
    outline = unit.outline
    values = outline.assigned.get(name, [])
    value = values[0] if len(values) == 1 else None
    if not isinstance(value, (ast.Call, ast.Attribute, ast.Subscript, ast.BinOp)) or name in outline.rebound:
        return False
    if name in outline.imports or outline.find(name) is not None:
        return False
    parts = list(ast.walk(value))
    if len(parts) > MAX_NODES or any(isinstance(part, _NOT_EVALUATED) for part in parts):
        return False
    made = [part for part in parts if isinstance(part, ast.Call) and not _is_method_of_made(part)]
    if not made or not all(_is_torch(part, unit) for part in made):
        return False
    clean = unit.source.clean
    if TURNING.search(clean):
        return False
    return not any(_CHANGED.match(clean, place + len(name)) for place in outline.places(name))


def _is_method_of_made(call: ast.Call) -> bool:
    """Whether it is `torch.f(...).method()`."""
    owner: ast.expr = call.func
    while isinstance(owner, (ast.Attribute, ast.Subscript)):
        owner = owner.value
    return isinstance(owner, (ast.Call, ast.BinOp))


def _is_torch(call: ast.Call, unit: Unit) -> bool:
    name = dotted(call.func)
    path = unit.resolve(name) if name else None
    return path is not None and path.startswith("torch.") and bool(find_function(path))


def module_tensor(name: str, unit: Unit, fr: Frame) -> Value | None:
    """The tensor that a module-level name stands for; None where that is not known."""
    if not is_made(name, unit):
        return None
    value = unit.outline.assigned[name][0]
    statement = next((one for one in unit.tree.body if getattr(one, "value", None) is value), None)
    if statement is None:
        return None
    try:
        (lowered,) = lower_statements(unit, [statement], {})
    except (CannotLower, ValueError):  # or there are several on one line
        return None
    if not isinstance(lowered, nodes.Assign) or lowered.value is None:
        return None
    run = fr.run
    state = State({}, {}, run.new_facts())
    frame = Frame(run, unit, "<module>", ("module tensor", name), {})
    trace = run.trace  # what the module's own statements do is told of elsewhere
    run.trace = Trace(unit.path, reads=trace.reads, notes=trace.notes)
    proving, run.proving = run.proving, True
    try:
        from torchlayout.interp.expressions import evaluate

        found = evaluate(lowered.value, state, frame)
    finally:
        run.trace, run.proving = trace, proving
    return replace(settled(found, state.facts), parameter=True) if isinstance(found, Tensor) else None
