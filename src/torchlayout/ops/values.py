"""What operators take and give, free of syntax.

An argument is an `Operand` (a tensor or array), a `Size` (an int or polynomial), a plain Python value (bool, float,
str, None), a `DType`, a `MemoryFormat`, a tuple of arguments, a `Shape` with rests in it, or `UNKNOWN`.
A transfer function returns a `Result`, a tuple of them (for a named tuple a `Fields`), a `Many`, or `UNKNOWN`.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, Union

from torchlayout.layouts import Layout
from torchlayout.sizes import NO, YES, Shape, Truth
from torchlayout.structs import field, struct


class _Unknown:
    """The value of which nothing is known."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()


class Deferred(_Unknown):
    """A value whose kind depends on the parameter that it meets; the caller puts an `Operand` or a size in its
    place once the arguments are bound. Transfer functions never see one."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


def is_unknown(value: object) -> bool:
    return isinstance(value, _Unknown)


class Alias(enum.Enum):
    """Whether a result shares storage with its input, as the table's column says."""

    VIEW = "view"
    MAYBE_VIEW = "maybe a view"
    FRESH = "copy"
    INPLACE = "the tensor itself"


class MemoryFormat(enum.Enum):
    CONTIGUOUS = "contiguous_format"
    CHANNELS_LAST = "channels_last"
    CHANNELS_LAST_3D = "channels_last_3d"
    PRESERVE = "preserve_format"


@struct(frozen=True, slots=True)
class DType:
    """A dtype by torch's canonical name: "float32", "int64", "bool", ... For NumPy's dtypes the same names."""

    name: str

    @property
    def itemsize(self) -> int | None:
        return ITEM_SIZES.get(self.name)

    @property
    def is_floating(self) -> bool:
        return self.name.startswith(("float", "bfloat"))

    @property
    def is_complex(self) -> bool:
        return self.name.startswith("complex")


ITEM_SIZES = {
    "bool": 1, "uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "uint32": 4, "int32": 4, "uint64": 8, "int64": 8,
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "complex32": 4, "complex64": 8, "complex128": 16,
    "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1,
}  # fmt: skip
"""Bytes of one element, by dtype name."""

DTYPE_ALIASES = {
    "float": "float32", "double": "float64", "half": "float16", "int": "int32", "long": "int64", "short": "int16",
    "cfloat": "complex64", "cdouble": "complex128", "chalf": "complex32",
}  # fmt: skip


@struct(frozen=True, slots=True)
class Operand:
    """A tensor (`numpy` False) or a NumPy array (True; its strides too are in elements and may be negative).

    `dtype` None: not known. `weak` tells that the layout rests on more than the usual assumptions, such as a
    contiguous result of a call that is not known. `device` is "cpu", "cuda" or None.
    """

    layout: Layout
    dtype: DType | None = None
    numpy: bool = False
    weak: bool = False
    device: str | None = None


@struct(frozen=True, slots=True)
class Result:
    """One tensor that an operator returns. `shares` tells whether it lies in its input's storage."""

    layout: Layout
    dtype: DType | None = None
    shares: Truth = NO
    numpy: bool = False
    of: str = "self"
    """The parameter whose storage it shares."""
    same_object: bool = False
    """The very tensor that came in (`contiguous()` of a contiguous tensor, in-place operators)."""
    exists: Truth = YES
    """Whether the call succeeds as far as layouts go; MAYBE where it depends on what is not known."""
    by_chance: bool = False
    """Where MAYBE: it succeeds only if sizes that the code tells apart happen to agree."""


@struct(frozen=True)
class Fields:
    """A named tuple: `.max(dim)` has `values` and `indices`. Fields are in order."""

    values: Mapping[str, Outcome] = field(default_factory=dict)


@struct(frozen=True, slots=True)
class Many:
    """A tuple or list of unknown length whose items are all alike: an outcome, and as `Many(operand)` an argument."""

    item: Outcome | Operand


@struct(frozen=True, slots=True)
class Alternatives:
    """One of these, depending on what is not known (a view or a copy, with or without a last partial chunk)."""

    outcomes: tuple[Outcome, ...]


Outcome = Union[Result, tuple["Outcome", ...], Fields, Many, Alternatives, _Unknown, int, Any]
"""Sizes and plain values (from `x.size()`, `x.dim()`) are outcomes too."""


class Unknowable(Exception):
    """Raised by a transfer function that cannot tell: an argument is not known, or the call is not allowed."""


class Refused(Exception):
    """Raised by a transfer function where torch refuses the call because of a layout.

    `kind` says for what reason: "view" (no such view), "dtype-view", "negative-stride", "overlap-write",
    "needs-contiguous".
    """

    def __init__(self, kind: str, message: str, parameter: str = "self", shape: Shape | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.parameter = parameter
        self.shape = shape
        """The shape that was asked for, where it is known: what a mended call would give."""
