"""Calls: of methods, operators of the table, functions and classes of the linted code, torch modules, builtins.

Everything that is not known gives an `Opaque` value, and forgets the contents of lists and dicts handed to it.
"""

from __future__ import annotations

from collections.abc import Callable

from torchlayout.interp import attributes, autograd, builtin_calls, decorating, expressions, methods, project, record
from torchlayout.interp.forgetting import forget
from torchlayout.interp.frame import Frame, describe
from torchlayout.interp.functions import call_function
from torchlayout.interp.inherited import INHERITED, inherited, is_inherited
from torchlayout.interp.instances import call_instance, call_module, instantiate, make_module, run_container
from torchlayout.interp.joins import join_all
from torchlayout.interp.operate import operate
from torchlayout.interp.state import State
from torchlayout.interp.tensors import as_tensor
from torchlayout.interp.text import expression_text
from torchlayout.interp.trace import Loop
from torchlayout.interp.values import (
    Bound,
    BoundFunction,
    Class,
    Container,
    Dictionary,
    Function,
    Held,
    Instance,
    Many,
    Module,
    Opaque,
    Partial,
    Path,
    Sequence,
    Super,
    Tensor,
    Union_,
    Value,
)
from torchlayout.layouts import channels_last, contiguous, unknown_strides
from torchlayout.ops import Op, Operand, find_function, find_method
from torchlayout.ops.modules import find_module
from torchlayout.program import nodes
from torchlayout.program.nodes import Span
from torchlayout.structs import struct


@struct(slots=True)
class Arguments:
    """Evaluated arguments. `open_ended`: there are more that are not known (`*args`, `**kwargs`)."""

    args: list[Value]
    kwargs: dict[str, Value]
    open_args: bool = False
    open_kwargs: bool = False

    def values(self) -> list[Value]:
        return [*self.args, *self.kwargs.values()]


def evaluate_arguments(node: nodes.Call, st: State, fr: Frame) -> Arguments:
    """The values of a call's arguments, in the order Python evaluates them, starred ones unpacked where known."""
    evaluate = expressions.evaluate
    found = Arguments([], {})
    for arg in node.args:
        value = evaluate(arg.value, st, fr)
        if arg.star == 1:
            inner = st.load(value)
            if isinstance(inner, Sequence) and inner.kind != "set":
                found.args.extend(inner.items)
            else:
                found.open_args = True
                found.args.append(Opaque((fr.place(node.span), "star")))
        elif arg.star == 2:
            inner = st.load(value)
            if isinstance(inner, Dictionary):
                sure = {k: v for k, v in inner.items.items() if isinstance(k, str) and k not in inner.maybe}
                found.kwargs.update(sure)
                found.open_kwargs = found.open_kwargs or inner.rest is not None or bool(inner.maybe)
            else:
                found.open_kwargs = True
        elif arg.keyword is not None:
            found.kwargs[arg.keyword] = value
        else:
            found.args.append(value)
    return found


def call(node: nodes.Call, st: State, fr: Frame) -> Value:
    """The value of a call expression."""
    evaluate = expressions.evaluate
    if isinstance(node.func, nodes.Attribute):
        receiver = evaluate(node.func.value, st, fr)
        if isinstance(receiver, Path):
            callee: Value = Path(f"{receiver.path}.{node.func.attr}")
        else:
            arguments = evaluate_arguments(node, st, fr)
            return call_method(receiver, node.func.attr, arguments, node, node.func.value, st, fr)
    else:
        callee = evaluate(node.func, st, fr)
    if isinstance(callee, Path) and callee.path == "builtins.super":
        return _super(node, st, fr)
    return call_value(callee, evaluate_arguments(node, st, fr), node, st, fr)


def _super(node: nodes.Call, st: State, fr: Frame) -> Value:
    if fr.owner is None or fr.receiver is None:
        return Opaque((fr.place(node.span), "super"))
    return Super(fr.owner, fr.receiver)


def call_value(
    callee: Value, arguments: Arguments, node: nodes.Call, st: State, fr: Frame, loop: Loop | None = None
) -> Value:
    """Call a value. `loop` is the loop that calls it per item (`map` and the like)."""
    if isinstance(callee, Path):
        return call_path(callee.path, arguments, node, st, fr)
    if isinstance(callee, (Function, BoundFunction)):
        return call_linted(callee, arguments, node.span, st, fr, loop)
    if isinstance(callee, Class):
        args = [] if arguments.open_args else arguments.args
        open_ended = arguments.open_args or arguments.open_kwargs
        return instantiate(callee, args, arguments.kwargs, open_ended, node.span, st, fr)
    if isinstance(callee, Instance):
        return call_instance(callee, arguments, node, st, fr)
    if isinstance(callee, Module):
        return call_module(callee, arguments, node, st, fr)
    if isinstance(callee, Container):
        return run_container(callee, arguments, node, st, fr)
    if isinstance(callee, Bound):
        return call_method(callee.receiver, callee.name, arguments, node, None, st, fr)
    if isinstance(callee, Partial):
        merged = Arguments(
            [*callee.args, *arguments.args], {**dict(callee.kwargs), **arguments.kwargs}, arguments.open_args,
            arguments.open_kwargs,
        )  # fmt: skip
        return call_value(callee.function, merged, node, st, fr, loop)
    if isinstance(callee, Union_):
        return _each(callee, lambda choice: call_value(choice, arguments, node, st, fr, loop), node, fr)
    return unknown_call(expression_text(node.func), arguments, node, st, fr)


def call_linted(
    callee: Function | BoundFunction, arguments: Arguments, span: Span, st: State, fr: Frame, loop: Loop | None = None
) -> Value:
    """Call a function or method of the linted code."""
    function = callee.function if isinstance(callee, BoundFunction) else callee
    args = [callee.receiver, *arguments.args] if isinstance(callee, BoundFunction) else arguments.args
    if function.decorated and not arguments.open_args:
        function = decorating.with_decorators(function, fr.run) or function
    if function.decorated or arguments.open_args:
        forget([*args, *arguments.kwargs.values()], st, fr, span, everything=True)
        record.arguments(fr, arguments.values(), function.name, span, st)
        return Opaque((fr.place(span), "call"))
    return call_function(function, args, arguments.kwargs, span, st, fr, open_ended=arguments.open_kwargs, loop=loop)


def call_path(path: str, arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """Call something imported or builtin, by its dotted path."""
    special = builtin_calls.BUILTIN_CALLS.get(path)
    if special is not None:
        value = special(arguments, node, st, fr)
        if value is not None:
            return value
        return Opaque((fr.place(node.span), "call"))
    known = known_return(path, arguments, node, st, fr)
    if known is not None:
        return known
    if not arguments.open_args:
        rows = find_function(path)
        if rows:
            _take_for_array(path, rows[0], arguments)
            text = describe(node)
            name = path.rpartition(".")[2]
            receiver = node.args[0].value if node.args and not node.args[0].star else None
            value = operate(
                fr, st, rows, arguments.args, arguments.kwargs, node.span, name, "function", receiver, text,
                arguments.open_kwargs,
            )  # fmt: skip
            return Opaque((fr.place(node.span), "call"), kind="tensor") if value is None else value
    row = find_module(path)
    if row is not None:
        return make_module(row, arguments, node.span, st, fr)
    found = project.resolve_import(path, fr)
    if found is not None and not isinstance(found, Path):
        return call_value(found, arguments, node, st, fr)
    return unknown_call(path, arguments, node, st, fr)


def _take_for_array(path: str, row: Op, arguments: Arguments) -> None:
    """Let the first argument be an array where the function takes nothing else, or makes one of what it is given."""
    given = arguments.args[0] if arguments.args else None
    if not (isinstance(given, Opaque) and given.kind is None):
        return
    first = row.signature.parameters[0]
    if path == "torch.from_numpy" or (path.startswith("numpy.") and first.kind == "Tensor" and not first.many):
        arguments.args[0] = given.array or Opaque(given.key, given.name, given.weak, given.origin, "ndarray")


def known_return(path: str, arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value | None:
    """The tensor that the settings say this function returns; None where they say nothing."""
    settings = fr.run.known_returns
    if not settings:
        return None
    layout = settings.get(path) or settings.get(path.rpartition(".")[2])
    if layout is None:
        return None
    record.foreign_call(fr, path, node.span, arguments.args, arguments.kwargs, st)
    place = fr.place(node.span)
    rest = st.facts.symbols.rest((place, "known"))
    if layout[0] == "contiguous":
        operand = Operand(contiguous((rest,)))
    elif layout[0] == "channels-last":
        operand = Operand(channels_last([st.facts.symbols.atom((place, "known", i)) for i in range(4)]))
    else:
        operand = Operand(unknown_strides((rest,)))
    return Tensor((operand,), (operand,), (place, "known"), frozenset([(place, "known")]))


def call_method(
    receiver: Value,
    name: str,
    arguments: Arguments,
    node: nodes.Call,
    receiver_node: nodes.Expr | None,
    st: State,
    fr: Frame,
) -> Value:
    """`receiver.name(...)`."""
    if isinstance(receiver, Tensor):
        return methods.tensor_method(receiver, name, arguments, node, receiver_node, st, fr)
    if isinstance(receiver, Opaque):
        return methods.opaque_method(receiver, name, arguments, node, receiver_node, st, fr)
    if name in INHERITED and is_inherited(receiver, name):
        return inherited(receiver, name, arguments, node, st, fr)
    if isinstance(receiver, Union_):
        tensor = as_tensor(receiver, st.facts) if find_method(name) and _has_tensor(receiver) else None
        if tensor is not None:
            return methods.tensor_method(tensor, name, arguments, node, receiver_node, st, fr)
        return _each(
            receiver, lambda choice: call_method(choice, name, arguments, node, receiver_node, st, fr), node, fr
        )
    if isinstance(receiver, (Held, Sequence, Many, Dictionary, str, Container)):
        return methods.container_method(receiver, name, arguments, node, st, fr)
    if isinstance(receiver, Instance) and name in ("parameters", "modules", "state_dict", "named_parameters"):
        return Many(Opaque((fr.place(node.span), "parameter"), None, True, None, "tensor"), "generator")
    if isinstance(receiver, Instance) and name in ("register_buffer", "register_parameter"):
        return _register(receiver, arguments, node, st, fr)
    found_value = attributes.get_attribute(receiver, name, node.span, st, fr)
    if isinstance(found_value, Bound) and found_value.receiver is receiver:
        if isinstance(receiver, Class):
            return autograd.apply(receiver, arguments, node, st, fr)
        return unknown_call(f".{name}", arguments, node, st, fr)
    if isinstance(found_value, Opaque) and isinstance(receiver, Instance):
        forget([receiver], st, fr, node.span)
        return unknown_call(f".{name}", arguments, node, st, fr, found_value.name)
    return call_value(found_value, arguments, node, st, fr)


def _register(receiver: Instance, arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """`self.register_buffer("name", tensor)`."""
    given = [*arguments.args, *(arguments.kwargs[k] for k in ("name", "tensor", "param") if k in arguments.kwargs)]
    if len(given) >= 2 and isinstance(given[0], str):
        tensor = given[1]
        if isinstance(tensor, Tensor):
            tensor = Tensor(
                tensor.proven, tensor.assumed, tensor.ident, tensor.storages, tensor.origin, tensor.made_by, True
            )
        attributes.set_attribute(receiver, given[0], tensor, node.span, st, fr)
    return None


def unknown_call(
    path: str, arguments: Arguments, node: nodes.Call, st: State, fr: Frame, name: str | None = None
) -> Value:
    """A call of something that is not known."""
    record.foreign_call(fr, path, node.span, arguments.args, arguments.kwargs, st)
    if fr.discarding == node.span:  # called for what it does, not for what it gives
        for value in arguments.values():
            record.possible_write(fr, value, path, node.span, st)
    forget(arguments.values(), st, fr, node.span)
    origin = next((t.origin for v in arguments.values() for t in st.tensors_in(v) if t.origin), None)
    return Opaque((fr.place(node.span), "call"), None, True, origin)


def _each(value: Union_, run: Callable[[Value], Value], node: nodes.Call, fr: Frame) -> Value:
    """Call each alternative, as a context of its own; None is left out, for calling it raises."""
    context = fr.context
    found: list[Value] = []
    for place, choice in enumerate(value.choices):
        if choice is not None:
            fr.context = (*context, ("choice", place))
            found.append(run(choice))
    fr.context = context
    return join_all(found, fr.place(node.span))


def _has_tensor(value: Union_) -> bool:
    return any(isinstance(choice, Tensor) for choice in value.choices)
