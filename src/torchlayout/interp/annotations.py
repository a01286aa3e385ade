"""What annotations and defaults tell of a function's parameters."""

from __future__ import annotations

import re

from torchlayout.interp.frame import Frame
from torchlayout.interp.loops import dotted
from torchlayout.interp.state import State
from torchlayout.interp.tensors import note_int
from torchlayout.interp.values import Dictionary, Function, Many, Opaque, Sequence, Tensor, Union_, Value
from torchlayout.layouts import contiguous, unknown_strides
from torchlayout.ops import Operand, find_method
from torchlayout.program import nodes
from torchlayout.sizes import Extent

TENSOR_PATHS = frozenset(
    {"torch.Tensor", "torch.FloatTensor", "torch.LongTensor", "torch.IntTensor", "torch.BoolTensor", "torch.HalfTensor",
     "torch.nn.Parameter", "torch.nn.parameter.Parameter", "Tensor", "torch.ByteTensor", "torch.cuda.FloatTensor"}
)  # fmt: skip
PLAIN_KINDS = {
    "int": "int",
    "float": "number",
    "bool": "bool",
    "str": "str",
    "torch.dtype": "dtype",
    "torch.device": "device",
}
WRAPPERS = frozenset({"Optional", "Union", "Annotated", "Final", "Required", "NotRequired", "ClassVar"})
LISTS = frozenset({"list", "List", "Sequence", "Iterable", "Iterator", "Collection", "set", "Set"})
_DIMENSION = re.compile(r"[A-Za-z_]\w*$")


def parameter_kind(function: Function, param: nodes.Param, st: State, fr: Frame) -> Value:
    """The value of a parameter of which only the declaration is known."""
    key = (function.unit.path, function.name, function.node.span.line, param.name)
    if param.kind == "*":
        return Many(Opaque((*key, "item"), None, True), "tuple")
    if param.kind == "**":
        return st.hold((*key, "kwargs"), Dictionary({}, Opaque((*key, "item"), None, True)))
    if param.annotation is not None:
        value = from_annotation(param.annotation, key, param.name, function, st)
        if value is not None:
            default = param.default
            return _or_none(value) if isinstance(default, nodes.Const) and default.value is None else value
    value = Opaque(key, param.name, False)
    if isinstance(param.default, nodes.Const) and isinstance(param.default.value, int):
        note_int(value, st.facts)  # a number mostly, though callers may hand over a tensor
    return value


def from_annotation(
    node: nodes.Expr, key: tuple[object, ...], name: str, function: Function, st: State
) -> Value | None:
    """The value that an annotation describes; None where it tells nothing."""
    if isinstance(node, nodes.Const) and isinstance(node.value, str):
        return _from_text(node.value, key, name, function)
    if isinstance(node, nodes.Binary) and node.op == "|":
        return _one_of((node.left, node.right), key, name, function, st)
    if isinstance(node, nodes.Subscript):
        return _subscripted(node, key, name, function, st)
    return _plain(dotted(node), key, name, function)


def _one_of(
    parts: tuple[nodes.Expr, ...], key: tuple[object, ...], name: str, function: Function, st: State
) -> Value | None:
    """The value of one type, or None where that is among the types; None where there are more."""
    types = [part for part in parts if not (isinstance(part, nodes.Const) and part.value is None)]
    found = from_annotation(types[0], key, name, function, st) if len(types) == 1 else None
    return _or_none(found) if len(types) < len(parts) else found


def _or_none(value: Value | None) -> Value | None:
    """The value of an optional type. What is not known may be None anyway."""
    return value if isinstance(value, (Opaque, Union_)) or value is None else Union_((None, value))


def _plain(text: str | None, key: tuple[object, ...], name: str, function: Function) -> Value | None:
    if text is None:
        return None
    path = function.unit.resolve(text) or text
    if path in TENSOR_PATHS or path.endswith(".Tensor"):
        return Opaque(key, name, False, None, "tensor")
    if path in ("numpy.ndarray", "np.ndarray"):
        return Opaque(key, name, False, None, "ndarray")
    kind = PLAIN_KINDS.get(path)
    if kind is not None:
        return Opaque(key, name, False, None, kind)
    if _has_methods_of_its_own(text, function):
        return Opaque(key, name, True, None, "object")
    if path.startswith("torch.nn.") and path.rpartition(".")[2][:1].isupper():
        return Opaque(key, name, True, None, "module")
    return None


def _has_methods_of_its_own(text: str, function: Function) -> bool:
    """Whether this is a class of the file that defines what tensors have too (`view`, `transpose`)."""
    entry = function.unit.klass(text)
    if entry is None:
        return False
    classes = [entry, *function.unit.ancestors(entry)]
    return any(not child.is_class and find_method(child.name) for cls in classes for child in cls.children)


def _from_text(text: str, key: tuple[object, ...], name: str, function: Function) -> Value | None:
    """A quoted annotation, where it is a plain name."""
    text = text.strip()
    for wrapper in ("Optional[", "typing.Optional["):
        if text.startswith(wrapper) and text.endswith("]"):
            text = text[len(wrapper) : -1].strip()
    text = text.removesuffix("| None").strip()
    return _plain(text, key, name, function) if re.fullmatch(r"[\w.]+", text) else None


def _subscripted(
    node: nodes.Subscript, key: tuple[object, ...], name: str, function: Function, st: State
) -> Value | None:
    head = (dotted(node.value) or "").rpartition(".")[2]
    inside = node.index.items if isinstance(node.index, nodes.Sequence) else (node.index,)
    if head == "Annotated":
        shaped = _annotated_shape(inside, key, name, st)
        return shaped if shaped is not None else from_annotation(inside[0], key, name, function, st)
    if head in WRAPPERS:
        found = _one_of(inside, key, name, function, st)
        return _or_none(found) if head == "Optional" else found
    if head in LISTS:
        item = from_annotation(inside[0], (*key, "item"), f"{name}[i]", function, st)
        return None if item is None else st.hold((*key, "list"), Many(item, "list"))
    if head in ("tuple", "Tuple"):
        return _tuple(inside, key, name, function, st)
    if len(inside) == 2 and isinstance(inside[1], nodes.Const) and isinstance(inside[1].value, str):
        base = _plain(dotted(inside[0]), key, name, function)
        if isinstance(base, Opaque) and base.kind in ("tensor", "ndarray"):
            return shaped_tensor(inside[1].value.split(), key, name, st, base.kind == "ndarray")
    return None


def _tuple(
    inside: tuple[nodes.Expr, ...], key: tuple[object, ...], name: str, function: Function, st: State
) -> Value | None:
    if len(inside) == 2 and isinstance(inside[1], nodes.Const) and inside[1].value is ...:
        item = from_annotation(inside[0], (*key, "item"), f"{name}[i]", function, st)
        return None if item is None else Many(item, "tuple")
    items = [
        from_annotation(part, (*key, i), f"{name}[{i}]", function, st) or Opaque((*key, i), f"{name}[{i}]", True)
        for i, part in enumerate(inside)
    ]
    return Sequence("tuple", tuple(items))


def _annotated_shape(inside: tuple[nodes.Expr, ...], key: tuple[object, ...], name: str, st: State) -> Value | None:
    """`Annotated[Tensor, Shape("B", 3)]` and `Annotated[Tensor, Shape["B T"]]`, as shape checkers write it."""
    for part in inside[1:]:
        items: tuple[nodes.Expr, ...] = ()
        if isinstance(part, nodes.Call) and (dotted(part.func) or "").endswith("Shape"):
            items = tuple(arg.value for arg in part.args)
        elif isinstance(part, nodes.Subscript) and (dotted(part.value) or "").endswith("Shape"):
            items = part.index.items if isinstance(part.index, nodes.Sequence) else (part.index,)
        if items and all(isinstance(item, (nodes.Const, nodes.Name)) for item in items):
            words = [item.id if isinstance(item, nodes.Name) else str(getattr(item, "value", "")) for item in items]
            return shaped_tensor(" ".join(words).replace(",", " ").split(), key, name, st, False)
    return None


def shaped_tensor(words: list[str], key: tuple[object, ...], name: str, st: State, numpy: bool) -> Tensor:
    """A tensor whose dimensions an annotation names (jaxtyping's syntax: "b t 3", "*batch d", "...", "_")."""
    shape: list[Extent] = []
    symbols = st.facts.symbols
    scope = key[:3]
    for place, word in enumerate(words):
        if word.startswith("#"):  # this size, or 1
            word = "_"
        word = word.partition("=")[2] or word
        if word.startswith(("*", "...")):
            label = word.lstrip("*.") or place
            shape.append(symbols.rest(("annotated", *scope, label), word.lstrip("*.") or None))
        elif word.isdigit():
            shape.append(int(word))
        elif _DIMENSION.match(word) and word != "_":
            shape.append(symbols.atom(("annotated", *scope, word), word))
        else:
            shape.append(symbols.atom(("annotated", *key, place)))
    proven, assumed = Operand(unknown_strides(shape), numpy=numpy), Operand(contiguous(shape), numpy=numpy)
    return Tensor((proven,), (assumed,), key, frozenset([("storage", key)]))
