"""Functions and classes of the linted code as values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from torchlayout.interp.frame import Frame, Run
from torchlayout.interp.loops import dotted, walk
from torchlayout.interp.names import from_constant
from torchlayout.interp.project import find
from torchlayout.interp.values import Class, Function, Opaque, Path, Ref, Value
from torchlayout.program import nodes
from torchlayout.program.unit import UNKNOWN, CannotLower, Entry, Unit

if TYPE_CHECKING:
    from torchlayout.interp.state import State

KEEPING_DECORATORS = frozenset(
    {
        "torch.no_grad", "torch.inference_mode", "torch.enable_grad", "torch.compile", "torch.jit.script",
        "torch.jit.export", "torch.jit.ignore", "torch.jit.unused", "torch.jit.script_method", "torch.compiler.disable",
        "torch._dynamo.disable", "torch.cuda.amp.autocast", "torch.amp.autocast", "torch.autocast",
        "torch.set_grad_enabled", "torch.cuda.amp.custom_fwd", "torch.cuda.amp.custom_bwd", "torch.amp.custom_fwd",
        "torch.amp.custom_bwd", "torch.fx.wrap", "torch.autograd.function.once_differentiable",
        "functools.lru_cache", "functools.cache", "functools.wraps",
        "abc.abstractmethod", "typing.override", "typing_extensions.override", "typing.no_type_check", "typing.final",
    }
)  # fmt: skip
"""Decorators under which a function gives what it gives without them."""
KINDS = {
    "staticmethod": "static",
    "classmethod": "class",
    "property": "property",
    "functools.cached_property": "property",
    "cached_property": "property",
}
"""Decorators that tell how a function is reached through its class."""
AUTOGRAD_FUNCTIONS = frozenset({"torch.autograd.Function", "torch.autograd.function.Function"})


def function_of(entry: Entry, unit: Unit, run: Run, owner: Class | None = None) -> Value:
    """The function of an entry at module or class level. A definition that cannot be lowered is unknown."""
    key = (unit.path, entry.qualname, entry.start)
    if key not in run.functions:
        try:
            node = unit.lowered_function(entry)
        except CannotLower as error:
            run.note(f"{unit.path}: {error}")
            return Opaque(("function", *key), entry.name)
        run.functions[key] = make_function(node, unit, {}, {}, owner)
    return run.functions[key]


def make_function(
    node: nodes.Function,
    unit: Unit,
    closure: Mapping[str, Value],
    defaults: Mapping[str, Value],
    owner: Class | None,
    homes: tuple[Ref, ...] = (),
) -> Value:
    """The value that a `def` binds its name to."""
    kind, decorated = "function", False
    for decorator in node.decorators:
        name = decorator_path(decorator, unit)
        if name in KINDS:
            kind = KINDS[name]
        elif not keeps(decorator, name):
            decorated = True
    return Function(node, unit, node.name, closure, defaults, owner, kind, homes, decorated)


def keeps(decorator: nodes.Expr, path: str) -> bool:
    """Whether a function gives under a decorator, whose dotted path this is, what it gives without it."""
    casts = isinstance(decorator, nodes.Call) and any(arg.keyword == "cast_inputs" for arg in decorator.args)
    return path in KEEPING_DECORATORS and not casts  # a copy of another dtype may lie otherwise


def rebound_names(node: nodes.Function) -> frozenset[str]:
    """The names of functions around it that a function rebinds (`nonlocal`)."""
    scopes = (found for found in walk(node.body) if isinstance(found, nodes.Scope) and found.kind == "nonlocal")
    return frozenset(name for scope in scopes for name in scope.names)


def decorator_path(decorator: nodes.Expr, unit: Unit) -> str:
    """The dotted path of a decorator, its arguments left out; "" for one that has none."""
    if isinstance(decorator, nodes.Call):
        decorator = decorator.func
    name = dotted(decorator) or ""
    return unit.resolve(name) or name


def class_of(entry: Entry, unit: Unit, run: Run) -> Value:
    """The class of an entry at module level."""
    key = (unit.path, entry.qualname, entry.start)
    found = run.classes.get(key)
    if found is not None:
        return found
    if key in run.classes:
        return Opaque(("class", *key), entry.name)
    run.classes[key] = None
    members: dict[str, Value] = {}
    cls = Class(entry.name, unit, tuple(_base(base, unit, run) for base in entry.bases), members)
    for name in entry.assigned:
        constant = unit.class_constant(entry, name)
        unknown = Opaque(("member", *key, name), f"{entry.name}.{name}")
        members[name] = unknown if constant is UNKNOWN else from_constant(constant)
    for child in entry.children:
        members[child.name] = Method(child, cls)
    run.classes[key] = cls
    return cls


class Method:
    """A method that is lowered when it is first looked up."""

    __slots__ = ("entry", "owner")

    def __init__(self, entry: Entry, owner: Class) -> None:
        self.entry = entry
        self.owner = owner

    def value(self, run: Run) -> Value:
        if self.entry.is_class:
            return class_of(self.entry, self.owner.unit, run)
        return function_of(self.entry, self.owner.unit, run, self.owner)


def member(cls: Class, name: str, run: Run) -> Value | None:
    """A method or class attribute, also inherited; None where no known class has it."""
    found = cls.lookup(name)
    return found.value(run) if isinstance(found, Method) else found


def _base(name: str | None, unit: Unit, run: Run) -> Value:
    if name is None:
        return Opaque(("base", unit.path))
    entry = unit.klass(name)
    if entry is not None:
        return class_of(entry, unit, run)
    path = unit.resolve(name) or name
    imported = find(path, unit, run)
    return imported if isinstance(imported, Class) else Path(path)


def local_class(node: nodes.Class, st: State, fr: Frame) -> Value:
    """The class that a `class` statement inside a function makes."""
    from torchlayout.interp.expressions import evaluate
    from torchlayout.interp.statements import execute_block

    bases = tuple(evaluate(base.value, st, fr) for base in node.bases if base.keyword is None)
    members: dict[str, Value] = {}
    cls = Class(node.name, fr.unit, bases, members)
    inner = st.copy()
    before = dict(inner.env)
    owner, fr.owner = fr.owner, cls
    end = execute_block(node.body, inner, fr)
    fr.owner = owner
    if end is not None:
        members.update({name: value for name, value in end.env.items() if before.get(name) is not value})
    return cls


def is_autograd_function(cls: Class) -> bool:
    """Whether a class derives from `torch.autograd.Function`, and from nothing that is not known."""
    return not AUTOGRAD_FUNCTIONS.isdisjoint(cls.outside_bases()) and cls.complete()


def is_module_class(cls: Class) -> bool:
    """Whether calling an instance runs its `forward`: a subclass of `nn.Module`, as far as names tell."""
    return any(path.startswith("torch.nn.") or path.endswith("Module") for path in cls.outside_bases()) or (
        cls.lookup("forward") is not None and cls.lookup("__call__") is None
    )
