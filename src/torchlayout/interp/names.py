"""What a name stands for: local, enclosing, module-level, imported, or builtin."""

from __future__ import annotations

import builtins
from typing import Any

from torchlayout.interp.frame import Frame, Run
from torchlayout.interp.state import State
from torchlayout.interp.values import (
    ENDED,
    Bound,
    BoundFunction,
    Class,
    Dictionary,
    Function,
    Opaque,
    Path,
    Ref,
    Sequence,
    Value,
)
from torchlayout.program.nodes import NOWHERE
from torchlayout.program.unit import UNKNOWN, Entry, Unit

BUILTINS = frozenset(dir(builtins))


def lookup(name: str, st: State, fr: Frame) -> Value:
    """The value of a name where the state is."""
    if name in st.env and name not in fr.globals and name not in fr.nonlocals:
        return st.env[name]
    home = home_of(name, st, fr)
    if home is not None:
        return home[1].items[name]
    if name in fr.closure:
        return fr.closure[name]
    return module_name(name, fr.unit, fr)


def home_of(name: str, st: State, fr: Frame) -> tuple[Ref, Dictionary] | None:
    """The names of the function around this one that holds this name, while it runs; None where it has ended, too."""
    for ref in fr.homes:
        names = st.heap.get(ref)
        if isinstance(names, Dictionary):
            if name in names.items:
                return ref, names
        elif name in fr.closure.get(ENDED, ()):
            return None
    return None


def module_name(name: str, unit: Unit, fr: Frame) -> Value:
    """The value of a module-level name."""
    key = (unit.path, name)
    run = fr.run
    if key not in run.globals:
        run.globals[key] = Opaque(("global", *key), name)  # for names defined through themselves
        run.globals[key] = _module_name(name, unit, fr)
    return run.globals[key]


def _module_name(name: str, unit: Unit, fr: Frame) -> Value:
    from torchlayout.interp.definitions import class_of, function_of

    function = unit.function(name)
    if function is not None and name not in unit.outline.rebound:
        return function_of(function, unit, fr.run)
    klass = unit.klass(name)
    if klass is not None and name not in unit.outline.rebound:
        return class_of(klass, unit, fr.run)
    constant = unit.constant(name)
    if constant is not UNKNOWN:
        return from_constant(constant)
    path = unit.resolve(name)
    if path is not None:
        return Path(path)
    alias = alias_of(name, unit, fr.run)
    if alias is not None:
        return alias
    if name in unit.outline.assigned:
        from torchlayout.interp.module_tensors import module_tensor

        made = module_tensor(name, unit, fr)
        if made is not None:
            return made
    if name in BUILTINS and name not in unit.outline.assigned and name not in unit.outline.imports:
        return Path(f"builtins.{name}")
    return Opaque(("global", unit.path, name), name)


def alias_of(name: str, unit: Unit, run: Run) -> Value | None:
    """`LayerNorm = nn.LayerNorm` or `apply = Cls.apply` at module level."""
    import ast

    values = unit.outline.assigned.get(name, [])
    if len(values) != 1 or not isinstance(values[0], (ast.Attribute, ast.Name)) or name in unit.outline.rebound:
        return None
    from torchlayout.program.outline import dotted

    text = dotted(values[0]) or ""
    path = unit.resolve(text)
    if path is not None:
        return Path(path)
    owner, _, method = text.rpartition(".")
    entry = unit.klass(owner)
    return None if entry is None else method_of_class(entry, method, unit, run)


def method_of_class(entry: Entry, name: str, unit: Unit, run: Run) -> Value | None:
    """A function or autograd `apply` that a class of the file has by that name; None where it is something else."""
    from torchlayout.interp.attributes import get_attribute
    from torchlayout.interp.definitions import class_of

    cls = class_of(entry, unit, run)
    if not isinstance(cls, Class) or entry.name in unit.outline.rebound:
        return None
    frame = Frame(run, unit, "<module>", ("module", "alias"), {})
    found = get_attribute(cls, name, NOWHERE, State({}, {}, run.new_facts()), frame)
    return found if isinstance(found, (Function, BoundFunction, Bound)) else None


def from_constant(value: Any) -> Value:
    """A folded constant of the program as an abstract value."""
    if isinstance(value, tuple):
        return Sequence("tuple", tuple(from_constant(item) for item in value))
    return value
