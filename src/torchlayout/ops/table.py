"""The operator table: its rows, how a call finds its row, and how a row is applied.

A row is one line: torch's own signature verbatim, whether the result is a view, its transfer function, an example
that the tests run on eager torch. The files beside this one hold the rows, by kind; they are imported when the
first operator is looked up.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from torchlayout.layouts import Layout, settle, the_rest, with_leading, with_rank, with_trailing
from torchlayout.ops import derived
from torchlayout.ops import signature as signatures
from torchlayout.ops.values import UNKNOWN, Alias, Operand, Outcome, Refused, Unknowable
from torchlayout.sizes import Facts, Poly, Rest, Shape, Size
from torchlayout.structs import replace, struct

ROW_MODULES = (
    "views", "reshaping", "dtype_views", "copies", "pointwise", "activations", "reductions", "matmul", "einsum",
    "convolution", "pooling", "resizing", "normalization", "rearranging", "joining", "splitting", "gathering",
    "factories", "random", "indexing", "sorting", "spectral", "linalg", "linalg_solving", "attention", "masked", "internals", "recurrent", "losses",
    "inplace", "queries", "handed_over", "numpy_rows", "numpy_copies", "numpy_math", "numpy_joining", "numpy_factories",
    "einops_rows", "einops_layers", "vision",
)  # fmt: skip
"""The files of rows, all beside this one."""


class Args:
    """The bound arguments of one call, as a transfer function reads them.

    Each reader raises `Unknowable` where the argument is not known or is not of the kind asked for.
    """

    __slots__ = ("facts", "op", "values")

    def __init__(self, op: Op, values: Mapping[str, Any], facts: Facts) -> None:
        self.op = op
        self.values = values
        self.facts = facts

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def known(self, name: str) -> Any:
        return signatures.require(self.values[name])

    def operand(self, name: str = "self") -> Operand:
        value = self.known(name)
        if not isinstance(value, Operand):
            raise Unknowable(f"{name} is no tensor")
        return value

    def operands(self, name: str) -> tuple[Operand, ...]:
        """A list of tensors."""
        value = self.known(name)
        if not isinstance(value, (tuple, list)) or not all(isinstance(item, Operand) for item in value):
            raise Unknowable(f"{name} is no known list of tensors")
        return tuple(value)

    def layout(self, name: str = "self") -> Layout:
        """The tensor's layout with all that is known put in; its rank may be unknown."""
        return settle(self.operand(name).layout, self.facts)

    def ranked(self, name: str = "self", rank: int | None = None) -> Layout:
        """The tensor's layout with a known rank; given `rank`, an unknown one is learnt to be that."""
        layout = self.layout(name)
        if rank is not None:
            found = with_rank(layout, rank, self.facts)
            if found is None:
                raise Unknowable(f"{name} has another rank than {rank}")
            return found
        if the_rest(layout) is not None:
            raise Unknowable(f"the rank of {name} is not known")
        return layout

    def reaching(self, layout: Layout, *dims: int) -> Layout:
        """The layout with at least these dimensions known, counted from either end as their sign says."""
        for dim in dims:
            found = with_leading(layout, dim + 1, self.facts) if dim >= 0 else with_trailing(layout, -dim, self.facts)
            if found is None:
                raise Unknowable(f"there is no dimension {dim}")
            layout = found
        return settle(layout, self.facts)

    def integer(self, name: str) -> int:
        """A known Python int."""
        value = self.known(name)
        if isinstance(value, Poly):
            value = self.facts.normal(value)
        if not isinstance(value, int):
            raise Unknowable(f"{name} is not a known int")
        return int(value)

    def size(self, name: str) -> Size:
        """An int that may be symbolic."""
        value = self.known(name)
        if not isinstance(value, (int, Poly)):
            raise Unknowable(f"{name} is not an int")
        return self.facts.normal(value)

    def flag(self, name: str) -> bool:
        value = self.known(name)
        if not isinstance(value, bool):
            raise Unknowable(f"{name} is not a known bool")
        return value

    def integers(self, name: str) -> tuple[int, ...] | None:
        """A list of known ints (a single int counts as a list of one); None where it was not given."""
        value = self.known(name)
        if value is None:
            return None
        items = value if isinstance(value, (tuple, list)) else (value,)
        result: list[int] = []
        for item in items:
            item = self.facts.normal(item) if isinstance(item, Poly) else item
            if not isinstance(item, int):
                raise Unknowable(f"{name} holds an int that is not known")
            result.append(int(item))
        return tuple(result)

    def shape(self, name: str) -> Shape:
        """A list of sizes, symbolic ones and rests allowed (a single int counts as a list of one)."""
        value = self.known(name)
        items = value if isinstance(value, (tuple, list)) else (value,)
        for item in items:
            if isinstance(item, bool) or not isinstance(item, (int, Poly, Rest)):
                raise Unknowable(f"{name} holds a size that is not known")
        return tuple(item if isinstance(item, Rest) else self.facts.normal(item) for item in items)


Transfer = Callable[[Args], Outcome]

ODD_ARGUMENTS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""What a transfer function may run into when a call is one that torch refuses: the outcome is then unknown."""

FORGIVING = True
"""False in the tests, where a transfer function has to raise `Unknowable` itself."""


@struct(frozen=True)
class Op:
    """One row of the table."""

    schema: str
    alias: Alias
    transfer: Transfer
    example: str
    words: str
    """The resulting layout in words, for docs/ops.md."""
    spellings: tuple[str, ...]
    """Dotted paths under which it is called, beside `torch.NAME`, `torch.nn.functional.NAME` and `Tensor.NAME`."""
    since: str | None
    unknown: str | None
    """Why the answer may be unknown where it may; None: the row always knows."""
    numpy: bool
    varies: bool
    """Backends differ in the layout: the answer is then unknown unless a device is given."""

    @property
    def name(self) -> str:
        return signatures.name_of(self.schema)

    @property
    def signature(self) -> signatures.Signature:
        return signatures.parse(self.schema)

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
        return signatures.bind(self.signature, args, kwargs)

    def apply(self, bound: Mapping[str, Any], facts: Facts) -> Outcome:
        """The outcome of a call in the world of `facts`. Raises `Refused` where torch would, for its layout."""
        args = Args(self, bound, facts)
        try:
            outcome = self.transfer(args)
        except Unknowable:
            outcome = UNKNOWN
        except ODD_ARGUMENTS:
            if not FORGIVING:
                raise
            outcome = UNKNOWN
        return derived.into(self.name, bound["out"], outcome, facts) if "out" in bound else outcome


_ROWS: dict[str, list[Op]] = {}
"""Rows by method or function name."""
_PATHS: dict[str, list[Op]] = {}
"""Rows by dotted path, for those that are spelt otherwise."""
_NUMPY_METHODS: dict[str, list[Op]] = {}
_PATH_ONLY: list[Op] = []
_DERIVED: dict[str, tuple[Op, ...]] = {}
"""Rows of `f_` and `f_copy` that were made from those of `f`, by their names."""
_loaded = False


def op(
    schema: str,
    *,
    alias: Alias,
    layout: Transfer,
    example: str,
    words: str = "",
    spellings: Sequence[str] = (),
    since: str | None = None,
    unknown: str | None = None,
    numpy: bool = False,
    varies: bool = False,
    path_only: bool = False,
) -> Op:
    """Add a row. `numpy` rows are found as methods of arrays and under their spellings only, `path_only` rows under
    their spellings alone. A spelling without a dot is another name of the same method and function (`concat`)."""
    words = words or (layout.__doc__ or "").strip().split("\n")[0]
    row = Op(schema, alias, layout, example, words, tuple(spellings), since, unknown, numpy, varies)
    named = _NUMPY_METHODS if numpy else _ROWS
    if path_only:
        _PATH_ONLY.append(row)
    else:
        named.setdefault(row.name, []).append(row)
    for path in spellings:
        (_PATHS if "." in path else named).setdefault(path, []).append(row)
    return row


def _load() -> None:
    global _loaded
    if _loaded:
        return
    _loaded = True
    package = __name__.rpartition(".")[0]
    for name in ROW_MODULES:
        importlib.import_module(f"{package}.{name}")


FUNCTION_NAMESPACES = (
    "torch.nn.functional.", "torch.Tensor.", "torch.special.", "torch.", "torch._C._nn.", "torch.functional.",
)  # fmt: skip


def find_function(path: str) -> Sequence[Op]:
    """The rows (overloads) of a function by its full dotted path, none if it is no operator."""
    _load()
    found = _PATHS.get(path)
    if found is not None:
        return found
    for namespace in FUNCTION_NAMESPACES:
        if path.startswith(namespace) and "." not in path[len(namespace) :]:
            return _rows(path[len(namespace) :])
    return ()


def find_method(name: str, numpy: bool = False) -> Sequence[Op]:
    """The rows (overloads) of a method of tensors, or of NumPy arrays."""
    _load()
    return _NUMPY_METHODS.get(name, ()) if numpy else _rows(name)


def _rows(name: str) -> Sequence[Op]:
    """The rows of a name; those of `f_` and of `f_copy` are made from those of `f`."""
    found = _ROWS.get(name)
    if found is not None:
        return found
    made = _DERIVED.get(name)
    if made is None:
        made = ()
        if name.endswith("_copy"):
            made = tuple(_copying(row) for row in _ROWS.get(name[:-5], ()) if row.alias is Alias.VIEW)
        elif name.endswith("_"):
            made = tuple(_in_place(row) for row in _ROWS.get(name[:-1], ()))
        if made:
            _DERIVED[name] = made
    return made


def _in_place(row: Op) -> Op:
    schema = row.schema.replace(row.name, row.name + "_", 1)
    transfer = derived.in_place(row.name, row.transfer, row.alias is Alias.VIEW)
    return replace(row, schema=schema, alias=Alias.INPLACE, transfer=transfer, spellings=(), words="the tensor itself")


def _copying(row: Op) -> Op:
    schema = row.schema.replace(row.name, row.name + "_copy", 1)
    transfer = derived.packed_copy(row.transfer)
    return replace(row, schema=schema, alias=Alias.FRESH, transfer=transfer, spellings=(), words=f"{row.words}; packed")


OPERATORS = {
    "+": "add", "-": "sub", "*": "mul", "/": "true_divide", "//": "floor_divide", "%": "remainder", "**": "pow",
    "@": "matmul", "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<<": "bitwise_left_shift",
    ">>": "bitwise_right_shift", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne",
}  # fmt: skip
"""The method that a binary operator of Python calls."""

UNARY_OPERATORS = {"-": "neg", "+": "positive", "~": "bitwise_not"}


def find_operator(symbol: str, unary: bool = False, in_place: bool = False) -> Sequence[Op]:
    """The rows of a Python operator, none for one that tensors do not have; `in_place` for `+=`.

    With a number on the left (`2 - x`) the tensor is the first argument all the same: the number has no part in the
    layout.
    """
    name = (UNARY_OPERATORS if unary else OPERATORS).get(symbol)
    if name is None:
        return ()
    return find_method(name + "_" if in_place else name)


def all_rows() -> Iterator[Op]:
    _load()
    for table in (_ROWS, _NUMPY_METHODS):
        for rows in table.values():
            yield from rows
    yield from _PATH_ONLY


def select(rows: Sequence[Op], args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Op, dict[str, Any]] | None:
    """The first overload that the arguments fit, and the arguments bound; None where there is none.

    Every row takes `out=`, which its schema does not name.
    """
    out = kwargs.get("out")
    if "out" in kwargs:
        kwargs = {name: value for name, value in kwargs.items() if name != "out"}
    for row in rows:
        bound = row.bind(args, kwargs)
        if bound is not None:
            return row, bound if out is None else {**bound, "out": out}
    return None


__all__ = [
    "Args", "Op", "Refused", "Transfer", "all_rows", "find_function", "find_method", "find_operator", "op",
    "select",
]  # fmt: skip
