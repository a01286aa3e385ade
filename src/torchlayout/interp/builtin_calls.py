"""Python's builtins and the wrappers around calls that torch code uses.

Each handler gives the value of a call, or None where it is not known.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from torchlayout.interp import record
from torchlayout.interp.forgetting import forget, set_any
from torchlayout.interp.frame import Frame
from torchlayout.interp.iteration import (
    Handler,
    collection_of,
    dict_of,
    enumerate_of,
    iter_of,
    iterate,
    len_of,
    map_of,
    next_of,
    range_of,
    reversed_of,
    sorted_of,
    zip_of,
)
from torchlayout.interp.state import State
from torchlayout.interp.tensors import as_size, as_tensor, is_number
from torchlayout.interp.values import (
    Dictionary,
    Held,
    Instance,
    Opaque,
    Partial,
    Sequence,
    Tensor,
    Value,
    is_int,
)
from torchlayout.program import nodes
from torchlayout.sizes import Poly, Rest, product
from torchlayout.structs import replace

if TYPE_CHECKING:
    from torchlayout.interp.calls import Arguments


def _int(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    value = arguments.args[0] if len(arguments.args) == 1 else None
    if isinstance(value, bool):
        return int(value)
    if is_int(value):
        return value
    if isinstance(value, float) and abs(value) < 2**62:
        return int(value)
    if isinstance(value, Opaque) and value.whole is not None:
        return st.facts.normal(value.whole)
    if isinstance(value, Opaque) and value.kind in (None, "int") and (value.name or value.size is not None):
        return as_size(value, st.facts)
    return st.facts.symbols.atom((fr.place(node.span), "int"), None, None)


def _extreme(kind: str) -> Handler:
    def pick(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
        place = fr.place(node.span)
        values = arguments.args
        if len(values) == 1:
            inner = iterate(values[0], st, fr, node.span)
            values = list(inner.items) if isinstance(inner, Sequence) and "default" not in arguments.kwargs else []
        sizes = [as_size(value, st.facts) for value in values] if not arguments.open_args else []
        if "key" in arguments.kwargs or not sizes or not all(isinstance(size, (int, Poly)) for size in sizes):
            return Opaque((place, kind), kind="number" if values and all(map(is_number, values)) else None)
        result = sizes[0]
        for size in sizes[1:]:
            result = st.facts.extreme(kind, result, size)
        return _if_ints(result, values, place)

    return pick


def _if_ints(result: int | Poly, values: list[Value], place: Hashable) -> Value:
    """What a function gives for ints, where some of its arguments may be tensors."""
    if isinstance(result, Poly) and any(isinstance(value, Opaque) and value.kind is None for value in values):
        return Opaque((place, "if ints"), size=result)
    return result


def product_of(sequence: Sequence, st: State) -> Value | None:
    """The product of sizes; None where an item is no size."""
    sizes = [item.numel if isinstance(item, Rest) else as_size(item, st.facts) for item in sequence.items]
    return product(sizes) if all(isinstance(size, (int, Poly)) for size in sizes) else None


def _product(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """`math.prod(x.shape)`, `np.prod(...)`."""
    value = st.load(arguments.args[0]) if arguments.args else None
    if isinstance(value, Sequence):
        return product_of(value, st)
    return None


def _isinstance(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    return Opaque((fr.place(node.span), "isinstance"), kind="bool")


def _getattr(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    from torchlayout.interp.attributes import get_attribute

    if len(arguments.args) >= 2 and isinstance(arguments.args[1], str):
        return get_attribute(arguments.args[0], arguments.args[1], node.span, st, fr)
    return None


def _setattr(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    from torchlayout.interp.attributes import set_attribute

    if len(arguments.args) == 3 and isinstance(arguments.args[1], str):
        set_attribute(arguments.args[0], arguments.args[1], arguments.args[2], node.span, st, fr)
    elif len(arguments.args) == 3 and isinstance(arguments.args[0], Instance):
        set_any(arguments.args[0], arguments.args[2], fr.place(node.span), st)
    elif arguments.open_args:
        forget(arguments.args, st, fr, node.span, everything=True)
    return None


def _vars(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """`vars(x)`, by which any attribute may be set."""
    forget(arguments.args, st, fr, node.span, everything=True)
    return None


def _sum(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    value = st.load(arguments.args[0]) if len(arguments.args) == 1 and not arguments.kwargs else None
    if isinstance(value, Sequence):
        sizes = [as_size(item, st.facts) for item in value.items]
        if all(isinstance(size, (int, Poly)) for size in sizes):
            total: int | Poly = 0
            for size in sizes:
                total = total + size
            return _if_ints(total, list(value.items), fr.place(node.span))
    return None


def _partial(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    if not arguments.args or arguments.open_args or arguments.open_kwargs:
        return None
    return Partial(arguments.args[0], tuple(arguments.args[1:]), tuple(arguments.kwargs.items()))


def _checkpoint(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """`checkpoint(function, *args, use_reentrant=False)` gives what the function gives."""
    from torchlayout.interp.calls import Arguments, call_value

    if not arguments.args:
        return None
    own = {"use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug"}
    kwargs = {name: value for name, value in arguments.kwargs.items() if name not in own}
    inner = Arguments(arguments.args[1:], kwargs, arguments.open_args, arguments.open_kwargs)
    return call_value(arguments.args[0], inner, node, st, fr)


def _same(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """Wrappers that give back what they are given, or what behaves like it (`torch.compile`, `nn.Parameter`)."""
    return arguments.args[0] if arguments.args else None


def _copy(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """`copy.copy(x)`: another object over the same storage or items."""
    value = arguments.args[0] if arguments.args else None
    place = fr.place(node.span)
    if isinstance(value, Held):
        return st.hold(("copy", place), st.load(value))
    if isinstance(value, Tensor):
        return replace(value, ident=(place, "copy"))
    if isinstance(value, Instance):
        st.heap[("copy", place)] = st.heap.get(value.ref, Dictionary({}))
        return Instance(value.cls, ("copy", place))
    return Opaque((place, "copy"))


def _parameter(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    value = arguments.args[0] if arguments.args else arguments.kwargs.get("data")
    tensor = as_tensor(value, st.facts) if isinstance(value, (Tensor, Opaque)) else None
    if tensor is None:
        return None
    return Tensor(
        tensor.proven, tensor.assumed, (fr.place(node.span), "parameter"), tensor.storages, tensor.origin,
        tensor.made_by, True,
    )  # fmt: skip


def _reveal(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    value = arguments.args[0] if arguments.args else None
    tensor = as_tensor(value, st.facts) if value is not None else None
    if tensor is not None:
        record.reveal(fr, tensor, node.span, st)
    return value


def _silent(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """Calls that change nothing and give nothing of interest (`print`)."""
    return None


def _is_tensor(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    value = arguments.args[0] if arguments.args else None
    return True if isinstance(value, Tensor) and not value.numpy else None


def _number(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """`float(...)`, `math.sqrt(...)`: some number."""
    value = arguments.args[0] if len(arguments.args) == 1 else None
    return value if isinstance(value, float) else Opaque((fr.place(node.span), "number"), kind="number")


def _rounded(name: str) -> Handler:
    """`abs(x)`, `round(x)`: of a tensor, a tensor."""

    def compute(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
        from torchlayout.interp.calls import Arguments, call_method

        value = arguments.args[0] if arguments.args else None
        if isinstance(value, Tensor) or (isinstance(value, Opaque) and value.kind in ("tensor", "ndarray")):
            return call_method(value, name, Arguments(arguments.args[1:], arguments.kwargs), node, None, st, fr)
        return Opaque((fr.place(node.span), "number"), kind="number" if is_number(value) else None)

    return compute


def _slice(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    from torchlayout.interp.values import Slice

    if arguments.open_args:
        return None
    given = [*arguments.args, None, None, None]
    if len(arguments.args) == 1:
        return Slice(None, given[0], None)
    return Slice(given[0], given[1], given[2]) if arguments.args else None


def _looking(handler: Handler) -> Handler:
    """A call that looks at the elements of tensors, and gives nothing that depends on how they lie."""

    def look(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
        record.contents(fr, arguments.values(), "call", node.span, st)
        return handler(arguments, node, st, fr)

    return look


def _computing(handler: Handler) -> Handler:
    """A call that computes with tensors, and may give others."""

    def compute(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
        tensors = (tensor for value in arguments.values() for tensor in st.tensors_in(value))
        record.use(fr, tensors, "operand", "call", None, node.span)
        return handler(arguments, node, st, fr)

    return compute


BUILTIN_CALLS: dict[str, Handler] = {
    "builtins.len": len_of, "builtins.range": range_of, "builtins.zip": zip_of, "builtins.enumerate": enumerate_of,
    "builtins.reversed": reversed_of, "builtins.tuple": collection_of("tuple"), "builtins.list": collection_of("list"),
    "builtins.set": collection_of("set"), "builtins.sorted": sorted_of, "builtins.iter": iter_of,
    "builtins.dict": dict_of,
    "collections.OrderedDict": dict_of, "builtins.int": _int, "builtins.min": _extreme("min"),
    "builtins.max": _extreme("max"), "math.prod": _product, "numpy.prod": _product, "builtins.map": map_of,
    "builtins.isinstance": _isinstance, "builtins.getattr": _getattr, "builtins.setattr": _setattr,
    "builtins.sum": _sum, "functools.partial": _partial, "torch.utils.checkpoint.checkpoint": _checkpoint,
    "torch.compile": _same, "torch.jit.script": _same, "torch.jit.trace": _same, "torch.jit.ignore": _same,
    "torch.no_grad": _silent, "torch.nn.Parameter": _parameter, "torch.nn.parameter.Parameter": _parameter,
    "torch.nn.Buffer": _parameter, "torchlayout.reveal_layout": _reveal, "builtins.print": _silent,
    "builtins.slice": _slice, "torch.is_tensor": _is_tensor, "torch.jit.annotate": lambda a, n, s, f: (
        a.args[1] if len(a.args) == 2 else None
    ), "typing.cast": lambda a, n, s, f: a.args[1] if len(a.args) == 2 else None,
    "torch.Size": collection_of("tuple"), "builtins.float": _number, "builtins.abs": _rounded("abs"),
    "builtins.round": _rounded("round"),
    "math.sqrt": _number, "math.log": _number, "math.exp": _number, "math.pow": _number, "math.log2": _number,
    "math.cos": _number, "math.sin": _number, "time.time": _number, "copy.copy": _copy,
    "builtins.next": next_of, "builtins.vars": _vars,
}  # fmt: skip

for _path in (
    "builtins.float", "builtins.int", "builtins.print", "builtins.range", "builtins.sorted", "math.cos", "math.exp",
    "math.log", "math.log2", "math.pow", "math.sin", "math.sqrt",
):  # fmt: skip
    BUILTIN_CALLS[_path] = _looking(BUILTIN_CALLS[_path])
for _path in ("abs", "max", "min", "round", "sum"):
    BUILTIN_CALLS[f"builtins.{_path}"] = _computing(BUILTIN_CALLS[f"builtins.{_path}"])
for _path in ("math.prod", "numpy.prod"):
    BUILTIN_CALLS[_path] = _computing(BUILTIN_CALLS[_path])
