"""Python's builtins and the wrappers around calls that torch code uses.

Each handler gives the value of a call, or None where it is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

from torchlayout.interp import record
from torchlayout.interp.forgetting import forget, set_any
from torchlayout.interp.frame import Frame
from torchlayout.interp.state import State
from torchlayout.interp.tensors import as_size, as_tensor, is_number
from torchlayout.interp.trace import Loop
from torchlayout.interp.values import (
    Container,
    Dictionary,
    Held,
    Instance,
    Many,
    Opaque,
    Partial,
    Sequence,
    Tensor,
    Value,
    is_int,
    is_sequence,
    items_of,
    join_all,
    one_of_many,
)
from torchlayout.layouts import settle_shape, with_leading
from torchlayout.program import nodes
from torchlayout.sizes import Poly, Rest, product
from torchlayout.structs import replace

if TYPE_CHECKING:
    from torchlayout.interp.calls import Arguments

Handler = Callable[["Arguments", nodes.Call, State, Frame], Value]
MAX_RANGE = 8
"""Turns of a `range` of known length that are told apart."""


def iterate(value: Value, st: State, fr: Frame, span: nodes.Span) -> Value:
    """What a loop over a value goes through: a `Sequence` of known length or a `Many`."""
    value = st.load(value)
    if isinstance(value, Container):
        return iterate(value.items, st, fr, span)
    if isinstance(value, Sequence) and any(isinstance(item, Rest) for item in value.items):
        return Many(st.facts.symbols.atom((fr.place(span), "size")), "tuple")
    if is_sequence(value) and value.kind == "set":  # in some order
        return Many(join_all(items_of(value), (fr.place(span), "item")), "tuple")
    if is_sequence(value):
        return value
    if isinstance(value, Dictionary):
        if value.rest is None and not value.maybe:
            return Sequence("tuple", tuple(value.items))
        return Many(Opaque((fr.place(span), "key"), kind="str"), "tuple")
    tensor = value if isinstance(value, Tensor) else None
    if tensor is None and isinstance(value, Opaque) and value.kind in ("tensor", "ndarray"):
        tensor = as_tensor(value, st.facts)
    if tensor is not None:
        record.contents(fr, [tensor], "iter", span, st)
        return Many(_first_item(tensor, st, fr, span), "tuple")
    if isinstance(value, Instance):
        from torchlayout.interp.protocols import iterated

        return iterated(value, span, st, fr)
    return Many(Opaque((fr.place(span), "iterated"), None, True), "tuple")


def _first_item(tensor: Tensor, st: State, fr: Frame, span: nodes.Span) -> Value:
    """Iterating a tensor gives `x[0]`, `x[1]`, ..."""
    from torchlayout.interp.operate import subscript

    node = nodes.Subscript(nodes.Name("x", span), nodes.Const(0, span), span)
    return subscript(fr, st, tensor, node, 0)


def _len(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    value = st.load(arguments.args[0]) if arguments.args else None
    if isinstance(value, Sequence) and value.kind == "set":
        value = set(value.items) if all(isinstance(item, (str, int)) for item in value.items) else None
    if isinstance(value, set):
        return len(value)
    if isinstance(value, Sequence):
        rests = [item for item in value.items if isinstance(item, Rest)]
        if not rests:
            return len(value.items)
        if not all(isinstance(item, (int, Poly, Rest)) for item in value.items):
            return Opaque(("rank", rests[0].key), None, True, None, "int")
        settled = settle_shape(tuple(value.items), st.facts)
        if not any(isinstance(item, Rest) for item in settled):
            return len(settled)
        return Opaque(("rank", rests[0].key), None, True, None, "int")
    if isinstance(value, Dictionary) and value.rest is None and not value.maybe:
        return len(value.items)
    if isinstance(value, Container):
        return _len(type(arguments)([value.items], {}), node, st, fr)
    if isinstance(value, Tensor):
        record.use(fr, [value], "read", "len", None, node.span)
        layout = with_leading(value.assumed[0].layout, 1, st.facts)
        if len(value.assumed) == 1 and layout is not None:
            return layout.dims[0].size
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Instance):
        from torchlayout.interp.protocols import special

        length = special(value, "__len__", [], node.span, st, fr)
        if is_int(length):
            return length
    if isinstance(value, Opaque):
        since = st.heap.get(("items", value.key))
        key, name = (since.key, None) if isinstance(since, Opaque) else (value.key, value.name)
        return st.facts.symbols.atom(("len", key), f"len({name})" if name else None)
    return st.facts.symbols.atom((fr.place(node.span), "len"))


def _range(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    args = [as_size(value, st.facts) for value in arguments.args]
    if args and all(isinstance(value, int) for value in args) and not (len(args) == 3 and args[2] == 0):
        numbers = range(*args)
        if len(numbers) <= MAX_RANGE:
            return Sequence("tuple", tuple(numbers))
    from_zero = len(args) < 2 and not arguments.open_args
    return Many(st.facts.symbols.atom((fr.place(node.span), "index"), None, 0 if from_zero else None), "range")


def _zip(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    place = fr.place(node.span)
    if arguments.open_args:  # `zip(*batch)`: the items are tuples of unknown length
        return Many(Many(Opaque((place, "iterated")), "tuple"), "tuple")
    parts = [iterate(value, st, fr, node.span) for value in arguments.args]
    if parts and all(isinstance(part, Sequence) for part in parts):
        return Sequence("tuple", tuple(Sequence("tuple", row) for row in zip(*(p.items for p in parts), strict=False)))
    return Many(Sequence("tuple", tuple(join_all(items_of(p), (place, i)) for i, p in enumerate(parts))), "tuple")


def _enumerate(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    if not arguments.args:
        return None
    part = iterate(arguments.args[0], st, fr, node.span)
    start = arguments.args[1] if len(arguments.args) > 1 else arguments.kwargs.get("start", 0)
    if isinstance(part, Sequence) and isinstance(start, int):
        return Sequence("tuple", tuple(Sequence("tuple", (start + i, v)) for i, v in enumerate(part.items)))
    index = st.facts.symbols.atom((fr.place(node.span), "index"))
    return Many(Sequence("tuple", (index, join_all(items_of(part), fr.place(node.span)))), "tuple")


def _reversed(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    part = iterate(arguments.args[0], st, fr, node.span) if arguments.args else None
    return Sequence("tuple", part.items[::-1]) if isinstance(part, Sequence) else part


def _as(kind: str) -> Handler:
    def convert(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
        if not arguments.args:
            made: Value = Sequence(kind, ())
        else:
            part = iterate(arguments.args[0], st, fr, node.span)
            loaded = st.load(arguments.args[0])
            if isinstance(loaded, Sequence) and loaded.kind == "size":
                part = loaded
            sizes = kind == "tuple" and isinstance(part, Sequence) and any(isinstance(i, Rest) for i in part.items)
            made = Sequence("size" if sizes else kind, part.items) if isinstance(part, Sequence) else part
            if isinstance(made, Many):
                made = Many(made.item, kind)
        return made if kind == "tuple" else st.hold(("list", fr.place(node.span)), made)

    return convert


def _sorted(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    part = iterate(arguments.args[0], st, fr, node.span) if arguments.args else None
    known = isinstance(part, Sequence) and all(type(item) is int for item in part.items)
    if isinstance(part, Sequence) and known and not arguments.kwargs:
        made: Value = Sequence("list", tuple(sorted(part.items)))
    else:
        items = items_of(part) if part is not None else []
        made = Many(join_all(items, (fr.place(node.span), "item")), "list")
    return st.hold(("list", fr.place(node.span)), made)


def _dict(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    place = fr.place(node.span)
    return st.hold(("dict", place), updated(Dictionary({}), arguments, place, st))


def updated(before: Dictionary, arguments: Arguments, place: Hashable, st: State) -> Dictionary:
    """What `update(...)` with these arguments, those of `dict(...)`, makes of a dict."""
    unknown = Dictionary({}, Opaque((place, "rest")))
    for value in arguments.args[:1]:
        given = st.load(value)
        before = before.overlaid(given if isinstance(given, Dictionary) else unknown, (place, "given"))
    if arguments.open_kwargs:
        before = before.overlaid(unknown, (place, "open"))
    return before.overlaid(Dictionary(arguments.kwargs), place)


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


def _map(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    from torchlayout.interp.calls import Arguments, call_value

    if len(arguments.args) < 2:
        return None
    function, *given = arguments.args
    parts = [iterate(value, st, fr, node.span) for value in given]
    loop = Loop(node.span, "call")
    if all(isinstance(part, Sequence) for part in parts) and not arguments.open_args:
        rows = list(zip(*(part.items for part in parts), strict=False))
        context = fr.context
        found: list[Value] = []
        for place, row in enumerate(rows[:MAX_RANGE]):
            fr.context = (*context, ("item", place))
            found.append(call_value(function, Arguments(list(row), {}), node, st, fr, loop))
        fr.context = context
        if len(rows) <= MAX_RANGE:
            return Sequence("tuple", tuple(found))
        return Many(join_all(found, fr.place(node.span)), "tuple")
    once = [join_all(items_of(part), (fr.place(node.span), i)) for i, part in enumerate(parts)]
    return Many(call_value(function, Arguments(once, {}, arguments.open_args), node, st, fr, loop), "tuple")


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


def _iter(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """`iter(x)`: what gives the items of x."""
    from torchlayout.interp.protocols import special

    value = arguments.args[0] if len(arguments.args) == 1 else None
    made = special(value, "__iter__", [], node.span, st, fr)
    return value if made is None else made


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


def _next(arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """`next(iterator)`: one of its items."""
    if not arguments.args:
        return None
    from torchlayout.interp.protocols import following

    found = following(arguments.args[0], node.span, st, fr)
    if found is not None:
        return join_all([found, *arguments.args[1:]], (fr.place(node.span), "next"))
    items = iterate(arguments.args[0], st, fr, node.span)
    place = fr.place(node.span)
    return one_of_many(join_all([*items_of(items), *arguments.args[1:]], (place, "next")), place)


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
    "builtins.len": _len, "builtins.range": _range, "builtins.zip": _zip, "builtins.enumerate": _enumerate,
    "builtins.reversed": _reversed, "builtins.tuple": _as("tuple"), "builtins.list": _as("list"),
    "builtins.set": _as("set"), "builtins.sorted": _sorted, "builtins.iter": _iter, "builtins.dict": _dict,
    "collections.OrderedDict": _dict, "builtins.int": _int, "builtins.min": _extreme("min"),
    "builtins.max": _extreme("max"), "math.prod": _product, "numpy.prod": _product, "builtins.map": _map,
    "builtins.isinstance": _isinstance, "builtins.getattr": _getattr, "builtins.setattr": _setattr,
    "builtins.sum": _sum, "functools.partial": _partial, "torch.utils.checkpoint.checkpoint": _checkpoint,
    "torch.compile": _same, "torch.jit.script": _same, "torch.jit.trace": _same, "torch.jit.ignore": _same,
    "torch.no_grad": _silent, "torch.nn.Parameter": _parameter, "torch.nn.parameter.Parameter": _parameter,
    "torch.nn.Buffer": _parameter, "torchlayout.reveal_layout": _reveal, "builtins.print": _silent,
    "builtins.slice": _slice, "torch.is_tensor": _is_tensor, "torch.jit.annotate": lambda a, n, s, f: (
        a.args[1] if len(a.args) == 2 else None
    ), "typing.cast": lambda a, n, s, f: a.args[1] if len(a.args) == 2 else None,
    "torch.Size": _as("tuple"), "builtins.float": _number, "builtins.abs": _rounded("abs"),
    "builtins.round": _rounded("round"),
    "math.sqrt": _number, "math.log": _number, "math.exp": _number, "math.pow": _number, "math.log2": _number,
    "math.cos": _number, "math.sin": _number, "time.time": _number, "copy.copy": _copy,
    "builtins.next": _next, "builtins.vars": _vars,
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
