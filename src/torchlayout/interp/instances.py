"""Objects of linted classes, torch modules and their containers: making them and calling them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torchlayout.interp import record
from torchlayout.interp.definitions import is_module_class, member
from torchlayout.interp.frame import Frame, describe
from torchlayout.interp.functions import call_function
from torchlayout.interp.joins import join_all
from torchlayout.interp.module_formats import computing, configs_of, extend, extended_row
from torchlayout.interp.module_state import may_be_hooked
from torchlayout.interp.operate import pseudo_row
from torchlayout.interp.state import State
from torchlayout.interp.tensors import apply, to_argument
from torchlayout.interp.values import (
    BoundFunction,
    Class,
    Container,
    Dictionary,
    Function,
    Instance,
    Many,
    Module,
    Opaque,
    Sequence,
    Tensor,
    Value,
    is_sequence,
    items_of,
)
from torchlayout.ops import Alias, Alternatives
from torchlayout.ops.modules import ANYTHING, Constructed, ModuleRow
from torchlayout.ops.values import UNKNOWN, Deferred
from torchlayout.program import nodes
from torchlayout.program.nodes import Span
from torchlayout.sizes import Facts

if TYPE_CHECKING:
    from torchlayout.interp.calls import Arguments

SIZES = frozenset({"int", "float", "Scalar", "Any"})
"""Kinds of parameters in which an unknown value is taken for an unknown number."""
MAX_SEQUENTIAL = 40
"""Modules of one `Sequential` that are run one after another."""


def instantiate(
    cls: Class, args: list[Value], kwargs: Mapping[str, Value], open_ended: bool, span: Span, st: State, fr: Frame
) -> Value:
    """`Cls(...)`."""
    ref = ("object", fr.place(span), cls.name)
    if "typing.NamedTuple" in cls.outside_bases() or _is_dataclass(cls):
        made = _record_object(cls, args, kwargs, open_ended, ref, span, st, fr)
        if made is not None:
            return made
    instance = Instance(cls, ref)
    st.heap[ref] = Dictionary({})
    init = member(cls, "__init__", fr.run)
    if isinstance(init, Function):
        call_function(init, [instance, *args], kwargs, span, st, fr, open_ended=open_ended)
        return instance
    record.arguments(fr, [*args, *kwargs.values()], cls.name, span, st)
    row = extended_row(cls)
    if row is not None:
        from torchlayout.interp.calls import Arguments

        made = make_module(row, Arguments(args, dict(kwargs), open_ended, open_ended), span, st, fr)
        extend(instance, made, st)
    return instance


def _is_dataclass(cls: Class) -> bool:
    import ast

    entry = cls.unit.klass(cls.name)
    if entry is None:
        return False
    for decorator in entry.node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        if name == "dataclass":
            return True
    return False


def _field_names(cls: Class) -> list[str]:
    """Annotated fields of a dataclass or NamedTuple, those of bases first."""
    import ast

    names: list[str] = []
    for part in reversed(cls.lineage()):
        entry = part.unit.klass(part.name)
        if entry is not None:
            for statement in entry.node.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    if statement.target.id not in names:
                        names.append(statement.target.id)
    return names


def _record_object(
    cls: Class,
    args: list[Value],
    kwargs: Mapping[str, Value],
    open_ended: bool,
    ref: Any,
    span: Span,
    st: State,
    fr: Frame,
) -> Value | None:
    names = _field_names(cls)
    if len(args) > len(names):
        return None
    items = dict(zip(names, args, strict=False))
    items.update({name: value for name, value in kwargs.items() if name in names})
    for name in names:
        if name not in items:
            default = None if open_ended else member(cls, name, fr.run)
            items[name] = Opaque((ref, name)) if default is None else default
    record.use(fr, [t for v in items.values() for t in st.tensors_in(v)], "contained", cls.name, None, span)
    if "typing.NamedTuple" in cls.outside_bases():
        return Sequence("tuple", tuple(items[name] for name in names), tuple(names))
    st.heap[ref] = Dictionary(items)
    return Instance(cls, ref)


def call_instance(instance: Instance, arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """`obj(...)`: its `__call__`, or a module's `forward`."""
    from torchlayout.interp.calls import call_linted, unknown_call

    method = member(instance.cls, "__call__", fr.run)
    if method is None and is_module_class(instance.cls):
        method = member(instance.cls, "forward", fr.run)
    if isinstance(method, Function):
        return call_linted(BoundFunction(method, instance), arguments, node.span, st, fr)
    module = computing(instance, st) if method is None else None
    if module is not None:
        return call_module(module, arguments, node, st, fr)
    return unknown_call(instance.path or instance.cls.name, arguments, node, st, fr)


# ---------------------------------------------------------------- torch modules
def make_module(row: ModuleRow, arguments: Arguments, span: Span, st: State, fr: Frame) -> Value:
    """`nn.Linear(...)` and the like; containers hold what they are given."""
    ref = ("module", fr.place(span))
    if row.container is not None:
        return _make_container(row.container, arguments, ref, st)
    if arguments.open_args or arguments.open_kwargs:
        return Opaque((fr.place(span), "module"), None, True, None, "module")
    args = [_config_value(value, st) for value in arguments.args]
    kwargs = {name: _config_value(value, st) for name, value in arguments.kwargs.items()}
    config = row.bind(args, kwargs)
    if config is None:
        return Opaque((fr.place(span), "module"), None, True, None, "module")
    kinds = row.kinds
    st.heap.pop(ref, None)  # of the module that an earlier turn of a loop made here
    return Module(row, {name: _resolved(value, kinds[name], st) for name, value in config.items()}, ref)


def _config_value(value: Value, st: State) -> Any:
    """A constructor argument; what unknown ones are is told by the parameter that they meet."""
    value = st.load(value)
    return Constructed(value.row, configs_of(value, st)[-1]) if isinstance(value, Module) else to_argument(value, st)


def _resolved(value: Any, kind: str, st: State) -> Any:
    """A constructor argument of this kind: an unknown one is an unknown int where it may be one."""
    from torchlayout.interp.tensors import as_size, note_int

    item = kind.removesuffix("[]")
    if isinstance(value, Deferred):
        may_be_size = isinstance(value.value, Opaque) and item in SIZES
        if kind == "int":
            note_int(value.value, st.facts)
        return as_size(value.value, st.facts) if may_be_size else UNKNOWN
    return tuple([_resolved(part, item, st) for part in value]) if type(value) is tuple else value


def _make_container(kind: str, arguments: Arguments, ref: Any, st: State) -> Value:
    if kind == "composed" and len(arguments.args) != 1:
        return Opaque((ref, "composed"), None, True, None, "module")
    if kind == "sequential":
        first = st.load(arguments.args[0]) if len(arguments.args) == 1 else None
        items: Value = first if isinstance(first, Dictionary) else Sequence("list", tuple(arguments.args))
        if arguments.open_args:
            items = Many(join_all(_opened(arguments.args, st), (ref, "item")), "list")
    elif arguments.args:
        items = st.load(arguments.args[0])
    else:
        items = Dictionary({}) if "dict" in kind else Sequence("list", ())
    if kind == "wrapper":
        return arguments.args[0] if arguments.args else Opaque((ref, "wrapped"))
    return Container(kind, st.hold((ref, "items"), items), ref)


def _opened(values: list[Value], st: State) -> list[Value]:
    return [item for value in values for item in (items_of(st.load(value)) if is_sequence(st.load(value)) else [value])]


def call_module(module: Module, arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """The forward of a torch module."""
    fr.run.step()
    row = module.row
    place = fr.place(node.span)
    args = [to_argument(value, st) for value in arguments.args]
    kwargs = {name: to_argument(value, st) for name, value in arguments.kwargs.items()}
    bound = None if arguments.open_args or arguments.open_kwargs else row.bind_forward(args, kwargs)
    if bound is None or may_be_hooked(fr.unit) or may_be_hooked(fr.run.unit):
        record.foreign_call(fr, row.name, node.span, arguments.args, arguments.kwargs, st)
        return Opaque((place, "call"))
    configs = configs_of(module, st)
    # what a transform takes need be no tensor: a PIL image is none
    kinds = dict.fromkeys(bound, "Any" if row.takes == ANYTHING else "Tensor")

    def run(values: Mapping[str, Any], facts: Facts) -> Any:
        outcomes = [row.forward(config, (), values, facts) for config in configs]
        return outcomes[0] if len(outcomes) == 1 else Alternatives(tuple(outcomes))

    text = row.name if row.spellings else f"nn.{row.name}"
    applied = apply(run, Alias.FRESH, kinds, bound, st, place, fr.site(node.span), text, fr.run.proving)
    op = pseudo_row(f"{row.name}({row.takes}) -> Any", Alias.FRESH)
    record.visit(fr, node.span, row.name, "module", op, applied, node.func, False)
    record.operand_uses(fr, applied, row.name, node.span)
    return applied.value


def run_container(container: Container, arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """`Sequential(...)(x)`: one module after another."""
    fr.run.step()
    from torchlayout.interp.calls import Arguments, call_value, unknown_call

    inner = st.load(container.items)
    if isinstance(inner, Dictionary) and inner.rest is None:
        inner = Sequence("list", tuple(inner.items.values()))
    alone = container.kind == "composed" and len(arguments.args) == 1 and not arguments.kwargs
    if not alone and (container.kind != "sequential" or not arguments.args):
        return unknown_call(describe(node.func), arguments, node, st, fr)
    value: Value = arguments.args[0]
    context = fr.context
    if isinstance(inner, Sequence) and len(inner.items) <= MAX_SEQUENTIAL:
        for place, module in enumerate(inner.items):
            fr.context = (*context, ("item", place))
            value = call_value(module, Arguments([value], {}), node, st, fr)
        fr.context = context
        return value
    if isinstance(inner, Many):
        once = call_value(inner.item, Arguments([value], {}), node, st, fr)
        if isinstance(once, Tensor):
            joined = join_all([value, once], (fr.place(node.span), "repeat"))
            fr.context = (*context, ("item", "again"))
            twice = call_value(inner.item, Arguments([joined], {}), node, st, fr)
            fr.context = context
            return join_all([value, once, twice], (fr.place(node.span), "repeated"))  # there may be none
        return join_all([value, once], (fr.place(node.span), "repeated"))
    return unknown_call(describe(node.func), arguments, node, st, fr)
