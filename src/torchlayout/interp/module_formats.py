"""The memory format that the parameters of a torch module are in, and the torch module that a linted class extends.

`Module.to(memory_format=...)` changes a module in place, so what it did is held in the heap, beside the attributes that
code has set on the module: a module with nothing there is as its constructor made it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from torchlayout.interp.state import State, is_torch_module
from torchlayout.interp.stores import written_somewhere
from torchlayout.interp.touched import touched
from torchlayout.interp.values import Class, Dictionary, Instance, Module, Opaque, Value, choices
from torchlayout.ops.modules import MEMORY_FORMAT, ModuleRow, find_module
from torchlayout.ops.values import UNKNOWN, MemoryFormat
from torchlayout.structs import replace

FORMAT = "(memory format)"
"""Where the format stands among the attributes of a module; no name is written so."""
EXTENDED = "(extended)"
"""Where the torch module that a linted class extends stands among the attributes of an object."""
WITH_LAYOUT = ("weight", "bias")
"""Parameters of torch modules that may have four dimensions or more."""


def configs_of(module: Module, st: State) -> list[Mapping[str, Any]]:
    """The module's configuration, with the memory format that its parameters are in by now: one for each that they may
    be in, where paths differ."""
    held = st.heap.get(module.ref)
    if held is None:
        return [module.config]
    if not isinstance(held, Dictionary) or any(name in held.items for name in WITH_LAYOUT):
        return [{**module.config, MEMORY_FORMAT: UNKNOWN}]
    if FORMAT not in held.items:
        return [module.config]
    forms = choices(held.items[FORMAT])
    known = all(isinstance(form, MemoryFormat) for form in forms)
    found: list[Mapping[str, Any]]
    found = [{**module.config, MEMORY_FORMAT: form if known else UNKNOWN} for form in (forms if known else (None,))]
    return [module.config, *found] if known and FORMAT in held.maybe else found


def set_format(module: Module, form: MemoryFormat | None, st: State) -> None:
    """The parameters of the module are in this format from now on; None: in one that is not known."""
    held = st.heap.get(module.ref)
    before = held if isinstance(held, Dictionary) else Dictionary({})
    unknown = form is None or module.several
    st.heap[module.ref] = before.put(FORMAT, Opaque((module.ref, FORMAT)) if unknown else form)


def lose_format(ident: Hashable, st: State) -> None:
    """A parameter was given other data: if it is a torch module's, what the module computes with is not known."""
    if isinstance(ident, tuple) and len(ident) == 2 and ident[1] in WITH_LAYOUT and is_torch_module(ident[0]):
        held = st.heap.get(ident[0])
        before = held if isinstance(held, Dictionary) else Dictionary({})
        st.heap[ident[0]] = before.put(FORMAT, Opaque((ident[0], FORMAT)))


# ---------------------------------------------------------------- classes that extend a torch module
def extended_row(cls: Class, after: Class | None = None) -> ModuleRow | None:
    """The torch module whose `__init__` comes next behind `after`, if no linted class has one before it."""
    lineage = cls.lineage()
    behind = lineage[lineage.index(after) + 1 :] if after in lineage else lineage
    if any("__init__" in part.members for part in behind) or not all(map(_is_readable, lineage)):
        return None
    found = [find_module(path) for path in cls.outside_bases()]
    row = found[0] if len(found) == 1 else None
    return row if row is not None and row.container is None and not row.spellings else None


def _is_readable(cls: Class) -> bool:
    """Whether what its attributes hold is told by what sets them."""
    return "__setattr__" not in cls.members and "__getattr__" not in cls.members and "_apply" not in cls.members


def extended_module(instance: Instance, st: State) -> Module | None:
    """The torch module that the object is, where its `__init__` has been seen to run."""
    attributes = st.heap.get(instance.ref)
    if not isinstance(attributes, Dictionary) or EXTENDED in attributes.maybe:
        return None
    found = attributes.items.get(EXTENDED)
    return found if isinstance(found, Module) else None


def extend(instance: Instance, made: Value, st: State) -> None:
    """The object is a torch module made so; not known, where that is not."""
    attributes = st.heap.get(instance.ref)
    if isinstance(made, Module) and isinstance(attributes, Dictionary):
        st.heap[instance.ref] = attributes.put(EXTENDED, replace(made, several=instance.several))


def is_changed(cls: Class, name: str) -> bool:
    """Whether the file sets this attribute of some object, or changes how it lies in memory."""
    return any(name in written_somewhere(part.unit) or name in touched(part.unit).layouts for part in cls.lineage())


def computing(instance: Instance, st: State) -> Module | None:
    """The torch module whose `forward` the object inherits; None where the class changes what that computes with."""
    module = extended_module(instance, st)
    if module is None:
        return None
    own = {name for cls in instance.cls.lineage() for name in cls.members} - HARMLESS
    used = module.config.keys() | {*WITH_LAYOUT, "running_mean", "running_var"}
    changed = any(name.startswith("_") for name in own) or any(is_changed(instance.cls, name) for name in used)
    return None if changed or own & used else module


HARMLESS = frozenset({"__init__", "__call__", "__repr__", "__str__", "__doc__", "__constants__"})
"""Names that begin like private ones but have no part in what a torch module computes."""
