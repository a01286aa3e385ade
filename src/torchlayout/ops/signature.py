"""torch's operator signatures, read from the schema text that the table holds verbatim, and argument binding.

The grammar is that of `native_functions.yaml`: `name.overload(Type name=default, *, Type name) -> Type`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from torchlayout.ops.values import DType, Many, MemoryFormat, Operand, Unknowable, is_unknown
from torchlayout.sizes import Poly, Rest
from torchlayout.structs import struct


@struct(frozen=True, slots=True)
class Parameter:
    """`kind` is the schema type without its suffixes: "Tensor", "int", "float", "bool", "Scalar", "str",
    "ScalarType", "MemoryFormat", "Layout", "Device", "Any", ...; `many` for a list of them, `optional` for `?`."""

    name: str
    kind: str
    many: bool
    optional: bool
    default: Any
    required: bool
    keyword_only: bool
    rest: bool = False
    """`**name`: takes all other keywords, bound as a tuple of (keyword, value) pairs."""


@struct(frozen=True, slots=True)
class Signature:
    name: str
    overload: str
    parameters: tuple[Parameter, ...]
    returns: str


def name_of(schema: str) -> str:
    """`permute` of `permute(Tensor(a) self, int[] dims) -> Tensor(a)`, without parsing the rest."""
    return schema[: schema.index("(")].split(".")[0]


@cache
def parse(schema: str) -> Signature:
    """Raises ValueError for text that is no schema."""
    head, _, rest = schema.partition("(")
    close = _closing(rest)
    name, _, overload = head.partition(".")
    parameters: list[Parameter] = []
    keyword_only = False
    for text in _split(rest[:close]):
        if text == "*":
            keyword_only = True
        elif text.startswith("**"):
            kind, _, extra = text[2:].partition(" ")
            parameters.append(Parameter(extra, kind, False, False, (), False, True, True))
        else:
            parameters.append(_parameter(text, keyword_only))
    return Signature(name, overload, tuple(parameters), rest[close + 1 :].replace("->", "").strip())


def _closing(text: str) -> int:
    depth = 0
    for i, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return i
    raise ValueError(f"no closing parenthesis in {text!r}")


def _split(text: str) -> list[str]:
    parts: list[str] = []
    depth = start = 0
    for i, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def _parameter(text: str, keyword_only: bool) -> Parameter:
    declared, _, default = text.partition("=")
    kind, _, name = declared.strip().rpartition(" ")
    kind = kind.strip()
    optional = kind.endswith("?")
    kind = kind.rstrip("?")
    many = kind.endswith("]")
    if many:
        kind = kind[: kind.rindex("[")].rstrip("?")
    if "(" in kind:
        kind = kind[: kind.index("(")]
    if kind == "SymInt":
        kind = "int"
    value = _default(default.strip()) if default else None
    return Parameter(name, kind, many, optional, value, not default, keyword_only)


def _default(text: str) -> Any:
    constants = {"None": None, "True": True, "False": False}
    if text in constants:
        return constants[text]
    if text.startswith("["):
        return tuple(_default(part) for part in _split(text[1:-1]))
    if text in ("contiguous_format", "preserve_format", "channels_last"):
        return MemoryFormat(text)
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text.strip("'\"")


def bind(signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
    """Arguments by parameter name, defaults filled in; None where the signature does not allow the call.

    As in torch, a list of ints that is the only positional parameter left may be given as separate arguments
    (`x.permute(0, 2, 1)`), and NumPy's names `axis`, `keepdims` and `x`/`input` stand for torch's.
    """
    bound: dict[str, Any] = {}
    positional = [p for p in signature.parameters if not p.keyword_only]
    rest = list(args)
    for place, parameter in enumerate(positional):
        if not rest:
            break
        spread = (
            parameter.many
            and parameter.kind in ("int", "Any", "Tensor")
            and not isinstance(rest[0], (tuple, list, Many))
        )
        if spread and rest and place == len(positional) - 1:
            if parameter.kind == "int" and not all(_is_extent(value) for value in rest):
                return None
            if len(rest) > 1 or parameter.kind == "int" or isinstance(rest[0], Operand):
                bound[parameter.name] = rest[0] if len(rest) == 1 and is_unknown(rest[0]) else tuple(rest)
                rest = []
                break
        value = rest.pop(0)
        if not _fits(value, parameter):
            return None
        bound[parameter.name] = value
    if rest:
        return None
    names = {p.name: p for p in signature.parameters if not p.rest}
    rest_name = next((p.name for p in signature.parameters if p.rest), None)
    for keyword, value in kwargs.items():
        name = keyword if keyword in names else _numpy_name(keyword, names)
        if name is None and rest_name is not None:
            bound[rest_name] = (*bound.get(rest_name, ()), (keyword, value))
            continue
        if name is None or name in bound or not _fits(value, names[name]):
            return None
        bound[name] = value
    for parameter in signature.parameters:
        if parameter.name not in bound:
            if parameter.required:
                return None
            bound[parameter.name] = parameter.default
    return bound


_NUMPY_NAMES = {
    "axis": "dim", "axes": "dims", "keepdims": "keepdim", "input": "self", "x": "self", "other": "tensor", "x1": "self",
    "x2": "other", "a": "self", "arr": "self", "m": "self", "ary": "self",
}  # fmt: skip


def _numpy_name(keyword: str, names: Mapping[str, Parameter]) -> str | None:
    other = _NUMPY_NAMES.get(keyword)
    return other if other in names else None


def _is_extent(value: Any) -> bool:
    return (
        is_unknown(value) or isinstance(value, (Poly, Rest)) or (isinstance(value, int) and not isinstance(value, bool))
    )


_SCALARS = (int, float, complex, bool, Poly)
_KINDS: dict[str, tuple[type, ...]] = {
    "Tensor": (Operand,),
    "int": (int, Poly),
    "float": (int, float, Poly),
    "bool": (bool,),
    "Scalar": _SCALARS,
    "str": (str,),
    "ScalarType": (DType,),
    "MemoryFormat": (MemoryFormat,),
}


def _fits(value: Any, parameter: Parameter) -> bool:
    if is_unknown(value) or parameter.kind == "Any":
        return True
    if value is None:
        return parameter.optional or (parameter.default is None and not parameter.required)
    if parameter.many:
        if isinstance(value, Many):
            return parameter.kind in ("Tensor", "int")
        if isinstance(value, (tuple, list)):
            return all(_is_item(item, parameter.kind) for item in value)
        return _is_item(value, parameter.kind) and parameter.kind != "Tensor"
    return _is_item(value, parameter.kind)


def _is_item(value: Any, kind: str) -> bool:
    if is_unknown(value) or kind == "Any":
        return True
    if value is None:
        return kind == "Tensor"
    if isinstance(value, Rest):
        return kind in ("int", "float")
    allowed = _KINDS.get(kind)
    if allowed is None:
        return not isinstance(value, Operand)
    if isinstance(value, bool) and kind in ("int", "float"):
        return kind == "float"
    return isinstance(value, allowed)


def require(value: Any) -> Any:
    """The value, or `Unknowable` where it is not known."""
    if is_unknown(value):
        raise Unknowable("an argument is not known")
    return value
