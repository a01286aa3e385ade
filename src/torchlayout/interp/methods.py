"""Methods of tensors, of unknown objects, and of lists, dicts and strings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlayout.interp import record, shapes
from torchlayout.interp.forgetting import change_items, item_of
from torchlayout.interp.frame import Frame, describe
from torchlayout.interp.joins import join, join_all
from torchlayout.interp.operate import operate, replace_everywhere
from torchlayout.interp.state import State, with_operands
from torchlayout.interp.tensors import as_tensor
from torchlayout.interp.values import (
    MAX_WEIGHT,
    Container,
    Dictionary,
    Held,
    Many,
    Opaque,
    Pointer,
    Sequence,
    Tensor,
    Value,
    is_sequence,
    items_of,
)
from torchlayout.layouts import unknown_layout
from torchlayout.ops import Operand, find_method
from torchlayout.program import nodes
from torchlayout.sizes import Rest
from torchlayout.structs import replace

if TYPE_CHECKING:
    from torchlayout.interp.calls import Arguments

TENSOR_ONLY_METHODS = frozenset(
    "view permute contiguous unsqueeze reshape transpose flatten squeeze size dim expand expand_as view_as chunk "
    "unbind masked_fill masked_fill_ softmax matmul bmm narrow requires_grad_ detach clone is_contiguous numel unfold "
    "index_select gather scatter_ scatter_add_ unflatten movedim swapaxes as_strided type_as transpose_ t_ "
    "repeat_interleave stride storage_offset data_ptr ndimension mul_ add_ sub_ div_ clamp clamp_ sigmoid tanh relu "
    "cuda float half long bfloat16 to repeat topk argmax new_zeros new_ones new_full new_tensor new_empty roll "
    "log_softmax mm split t mean sum norm cumsum einsum masked_select copy_ fill_ zero_ mT T diagonal select flip amax "
    "amin sort cumprod logsumexp".split()
)  # fmt: skip
"""Methods whose call tells that an unknown object is a tensor."""
ARRAY_ONLY_METHODS = frozenset({"astype"})
"""Methods whose call tells that an unknown object is an array."""
LAYOUT_CHANGING = frozenset(
    "t_ transpose_ swapaxes_ swapdims_ squeeze_ unsqueeze_ resize_ resize_as_ set_ as_strided_ permute_".split()
)
"""Methods that change the layout of the object itself."""
CHANGING_ITEMS = frozenset(
    "append appendleft extend insert pop popleft popitem remove reverse clear update sort".split()
)
"""Methods that change what a list or a dict holds."""
AMBIGUOUS_METHODS = frozenset(
    "split to t repeat mean sum norm copy_ size dim flatten clone cuda float half diagonal select flip sort".split()
)
"""Of these, the ones that other common objects have too: they tell it only of parameters."""


def tensor_method(
    tensor: Tensor,
    name: str,
    arguments: Arguments,
    node: nodes.Call,
    receiver_node: nodes.Expr | None,
    st: State,
    fr: Frame,
) -> Value:
    """A method of a tensor or array."""
    place = fr.place(node.span)
    if name == "data_ptr":
        record.use(fr, [tensor], "operand", "data_ptr", "self", node.span)
        return Pointer(tensor)
    if name == "stride" and not arguments.args and not arguments.kwargs:
        record.use(fr, [tensor], "read", "stride", None, node.span)
        return Pointer(tensor, strides=True)
    if name == "size" and not tensor.numpy:
        record.use(fr, [tensor], "read", "size", None, node.span)
        return _size(tensor, arguments, st, fr, node)
    rows = find_method(name, tensor.numpy)
    if name in LAYOUT_CHANGING and (arguments.open_args or not rows):
        forget_layout(tensor, st, fr, node)
    if rows and not arguments.open_args:
        text = f"{name}({', '.join(describe(arg.value, 24) for arg in node.args)})"
        keywords = arguments.kwargs
        if name == "view" and "shape" in keywords and not tensor.numpy:
            # the word of `reshape`, which `view` does not take: with the right one a strided tensor is refused still
            keywords = {"size" if word == "shape" else word: given for word, given in keywords.items()}
        value = operate(
            fr, st, rows, [tensor, *arguments.args], keywords, node.span, name, "method", receiver_node, text,
            arguments.open_kwargs,
        )  # fmt: skip
        if name in LAYOUT_CHANGING and not isinstance(value, Tensor):
            return forget_layout(tensor, st, fr, node)
        if value is not None:
            if name in ("dim", "ndimension") and isinstance(value, Opaque):
                return Opaque((tensor.ident, "ndim"), None, True, None, "int")
            return value
    if rows:
        record.use(fr, [tensor], "operand", name, "self", node.span)
        return Opaque((place, "result"), None, True, tensor.origin, "tensor")
    from torchlayout.interp.calls import unknown_call

    if name in ("register_hook", "backward", "tolist", "item", "storage", "untyped_storage"):
        record.use(fr, [tensor], "operand", name, "self", node.span)
        return Opaque((place, name))
    record.foreign_call(fr, f".{name}", node.span, [tensor, *arguments.args], arguments.kwargs, st)
    return unknown_call(f".{name}", arguments, node, st, fr)


def forget_layout(tensor: Tensor, st: State, fr: Frame, node: nodes.Call) -> Tensor:
    """Forget how an object lies in memory, under all its names."""
    place = fr.place(node.span)
    unknown = Operand(unknown_layout((place, "changed"), st.facts), None, tensor.numpy, True)
    after = with_operands(tensor, (unknown,), (unknown,))
    replace_everywhere(st, tensor.ident, after)
    return after


def _size(tensor: Tensor, arguments: Arguments, st: State, fr: Frame, node: nodes.Call) -> Value:
    shape = shapes.shape_of(tensor, st.facts, tensor.ident, fr.run.proving)
    index = arguments.args[0] if arguments.args else arguments.kwargs.get("dim")
    if shape is None:
        return Opaque((tensor.ident, "shape", index if isinstance(index, int) else None), None)
    if index is None:
        return shapes.as_sequence(shape)
    if isinstance(index, int):
        found = shapes.item(shape, index, st.facts)
        if found is not None:
            return found[0]
    return st.facts.symbols.atom((fr.place(node.span), "size"))


def opaque_method(
    value: Opaque,
    name: str,
    arguments: Arguments,
    node: nodes.Call,
    receiver_node: nodes.Expr | None,
    st: State,
    fr: Frame,
) -> Value:
    """A method of something unknown: a tensor's, if only tensors have it."""
    from torchlayout.interp.calls import unknown_call

    if value.kind is None and name in ARRAY_ONLY_METHODS:
        value = replace(value, kind="ndarray")
    if value.array is not None and name in ARRAY_ONLY_METHODS | TENSOR_ONLY_METHODS:
        return tensor_method(value.array, name, arguments, node, receiver_node, st, fr)
    known = value.kind in ("tensor", "ndarray")
    tells = (name in TENSOR_ONLY_METHODS or name in LAYOUT_CHANGING) and value.kind is None and "torch" in fr.unit.text
    if known or (tells and (not value.weak or name not in AMBIGUOUS_METHODS)):
        tensor = as_tensor(value, st.facts)
        if tensor is not None:
            return tensor_method(tensor, name, arguments, node, receiver_node, st, fr)
    if name == "get" and arguments.args and isinstance(arguments.args[0], str):
        return item_of(value, arguments.args[0], None, st)
    if name in ("size", "dim") and value.kind is None:
        tensor = as_tensor(value, st.facts)
        if tensor is not None:
            return tensor_method(tensor, name, arguments, node, receiver_node, st, fr)
    if name in CHANGING_ITEMS:
        change_items(value, fr.place(node.span), st)
    result = unknown_call(f".{name}", arguments, node, st, fr)
    if isinstance(result, Opaque) and result.origin is None and value.origin is not None:
        return Opaque(result.key, result.name, result.weak, value.origin)
    return result


# ---------------------------------------------------------------- lists, dicts, strings
def container_method(receiver: Value, name: str, arguments: Arguments, node: nodes.Call, st: State, fr: Frame) -> Value:
    """What a method of a list, tuple, dict or string gives, and what it does to the container."""
    inner = st.load(receiver)
    place = fr.place(node.span)
    if isinstance(receiver, str):  # "{}".format(x)
        record.contents(fr, arguments.values(), name, node.span, st)
        return Opaque((place, "text"), kind="str")
    if isinstance(receiver, Container):
        return _container_of_modules(receiver, name, arguments, node, st, fr)
    if isinstance(inner, Dictionary):
        return _dictionary_method(receiver, inner, name, arguments, node, st, fr)
    if is_sequence(inner):
        return _list_method(receiver, inner, name, arguments, node, st, fr)
    from torchlayout.interp.calls import unknown_call

    return unknown_call(f".{name}", arguments, node, st, fr)


def _list_method(
    receiver: Value, inner: Value, name: str, arguments: Arguments, node: nodes.Call, st: State, fr: Frame
) -> Value:
    place = fr.place(node.span)
    args = arguments.args
    in_loop = bool(fr.loops)
    if name in ("append", "insert", "add", "appendleft") and args:
        new = args[-1]
        record.use(fr, st.tensors_in(new), "contained", name, None, node.span)
        if isinstance(inner, Sequence) and not in_loop and name in ("append", "add"):
            made: Value = Sequence(inner.kind, (*inner.items, new))
        else:
            made = Many(join_all([*items_of(inner), new], (place, "item")), inner.kind)
        if isinstance(receiver, Held):
            st.heap[receiver.ref] = made
        return None
    if name in ("extend", "update", "__iadd__") and args:
        other = st.load(args[0])
        known = isinstance(inner, Sequence) and isinstance(other, Sequence) and not in_loop
        if known and inner.weight + other.weight <= MAX_WEIGHT:
            made = Sequence(inner.kind, inner.items + other.items)
        else:
            extra = items_of(other) if is_sequence(other) else [Opaque((place, "extended"))]
            made = Many(join_all([*items_of(inner), *extra], (place, "item")), "list")
        if isinstance(receiver, Held):
            st.heap[receiver.ref] = made
        return None
    if name in ("pop", "popleft"):
        known = isinstance(inner, Sequence) and not any(isinstance(item, Rest) for item in inner.items)
        if known and inner.items and not in_loop and (not args or _is_end(args[0])):
            first = name == "popleft" or (bool(args) and args[0] == 0)
            if isinstance(receiver, Held):
                st.heap[receiver.ref] = Sequence(inner.kind, inner.items[1:] if first else inner.items[:-1])
            return inner.items[0] if first else inner.items[-1]
        item = join_all(items_of(inner), (place, "item"))
        if isinstance(receiver, Held):
            st.heap[receiver.ref] = Many(item, "list")
        return item
    if name in ("copy",):
        return st.hold(("list", place), inner)
    if name in ("reverse", "sort", "clear", "remove") or name.startswith("__"):
        if isinstance(receiver, Held):
            items = [*items_of(inner), *args] if name.startswith("__") else items_of(inner)
            st.heap[receiver.ref] = Many(join_all(items, (place, "item")), "list")
        return Opaque((place, name)) if name.startswith("__") else None
    if name == "numel" and isinstance(inner, Sequence):
        from torchlayout.interp.builtin_calls import product_of

        return product_of(inner, st) or Opaque((place, "numel"), kind="int")
    return Opaque((place, name))


def _is_end(index: Value) -> bool:
    return type(index) is int and index in (0, -1)


def _dictionary_method(
    receiver: Value, inner: Dictionary, name: str, arguments: Arguments, node: nodes.Call, st: State, fr: Frame
) -> Value:
    place = fr.place(node.span)
    args = arguments.args
    everything = [*inner.items.values(), *([] if inner.rest is None else [inner.rest])]
    if name in ("get", "pop", "setdefault") and args:
        key = args[0]
        fallback = args[1] if len(args) > 1 else None
        known = isinstance(key, (str, int))
        if known and key in inner.items and key not in inner.maybe:
            found: Value = inner.items[key]
        elif known and key in inner.items:
            found = join(inner.items[key], fallback, (place, "item"))
        elif known and inner.rest is None:
            found = fallback
        else:
            found = join_all([*everything, fallback], (place, "item"))
        if isinstance(receiver, Held) and name != "get":
            if not known:
                rest = join_all([*everything, found], (place, "rest"))
                st.heap[receiver.ref] = Dictionary(inner.items, rest).unsure()
            elif name == "setdefault":
                st.heap[receiver.ref] = inner.put(key, found)
            else:
                st.heap[receiver.ref] = inner.without(key)
        return found
    if name in ("clear", "popitem") and isinstance(receiver, Held):
        st.heap[receiver.ref] = Dictionary({}) if name == "clear" else inner.unsure()
        return None if name == "clear" else Opaque((place, name))
    sure = inner.rest is None and not inner.maybe
    if name == "values":
        if sure:
            return Sequence("tuple", tuple(inner.items.values()))
        return Many(join_all(everything, (place, "value")), "tuple")
    if name == "keys":
        if sure:
            return Sequence("tuple", tuple(inner.items))
        return Many(Opaque((place, "key"), kind="str"), "tuple")
    if name == "items":
        if sure:
            return Sequence("tuple", tuple(Sequence("tuple", pair) for pair in inner.items.items()))
        pair = Sequence("tuple", (Opaque((place, "key"), kind="str"), join_all(everything, (place, "value"))))
        return Many(pair, "tuple")
    if name == "copy":
        return st.hold(("dict", place), inner)
    if name == "update" and isinstance(receiver, Held):
        from torchlayout.interp.iteration import updated

        st.heap[receiver.ref] = updated(inner, arguments, place, st)
        return None
    if name.startswith("__") and isinstance(receiver, Held):  # `d.__setitem__("x", y)`
        st.heap[receiver.ref] = Dictionary({}, Opaque((place, "changed")))
    return Opaque((place, name))


def _container_of_modules(
    receiver: Container, name: str, arguments: Arguments, node: nodes.Call, st: State, fr: Frame
) -> Value:
    inner = st.load(receiver.items)
    if name in ("append", "extend", "insert") and isinstance(receiver.items, Held):
        _list_method(receiver.items, inner, name, arguments, node, st, fr)
        return receiver
    if name in ("values", "children"):
        return inner
    if name == "items" and isinstance(inner, Dictionary):
        return _dictionary_method(receiver, inner, name, arguments, node, st, fr)
    if name in ("parameters", "named_parameters"):
        return Many(Opaque((fr.place(node.span), "parameter"), None, True, None, "tensor"), "generator")
    if name in ("forward", "__call__"):
        from torchlayout.interp.instances import run_container

        return run_container(receiver, arguments, node, st, fr)
    if name == "to":
        from torchlayout.interp.conversions import turn

        turn(receiver, arguments, node.span, st, fr)
    return receiver if name in ("to", "cuda", "eval", "train", "half", "float") else Opaque((fr.place(node.span), name))
