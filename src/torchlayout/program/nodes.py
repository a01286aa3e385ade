"""The lowered program: what a function does, without its spelling.

Some thirty small immutable classes. `lowering` makes them from libcst trees; `interp` runs them. A node's
`span` is the place people look at: the operation's own name token (`view` in `x.t().view(6)`), for a
subscript its opening bracket, for an operator the operator token where known, else the left operand.

Vocabulary: *expression*, *statement*, *block* (a tuple of statements), *target* (an expression that can be
assigned to).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar, Union

from torchlayout.program.spans import NOWHERE, Span
from torchlayout.structs import struct

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform

    from torchlayout.program.outline import Entry


T = TypeVar("T")

if TYPE_CHECKING:
    # Immutable to whoever type-checks.
    @dataclass_transform(frozen_default=True, eq_default=False)
    def node(cls: type[T]) -> type[T]: ...

else:
    node = struct(eq=False, slots=True)


# ---------------------------------------------------------------- expressions
@node
class Const:
    """None, True, 3, 1.5, "text", b"bytes", ... (Ellipsis)."""

    value: object
    span: Span


@node
class Name:
    id: str
    span: Span


@node
class Attribute:
    """`value.attr`; the span is that of `attr`."""

    value: Expr
    attr: str
    span: Span


class Arg(NamedTuple):
    """One argument of a call. `star` is 0, 1 for `*value`, 2 for `**value`."""

    value: Expr
    keyword: str | None
    star: int


@node
class Call:
    """The span is that of the called name: `view` in `x.view(6)`."""

    func: Expr
    args: tuple[Arg, ...]
    span: Span


@node
class Subscript:
    """`value[index]`; several indices come as one tuple `Sequence`."""

    value: Expr
    index: Expr
    span: Span


@node
class Slice:
    lower: Expr | None
    upper: Expr | None
    step: Expr | None
    span: Span


@node
class Sequence:
    """A display; `kind` is "tuple", "list" or "set". Items may be `Starred`."""

    kind: str
    items: tuple[Expr, ...]
    span: Span


@node
class Starred:
    value: Expr
    span: Span


@node
class Mapping:
    """A dict display; the key None stands for `**value`."""

    items: tuple[tuple[Expr | None, Expr], ...]
    span: Span


@node
class Binary:
    """`op` is Python's operator: "+", "@", "//", ..."""

    op: str
    left: Expr
    right: Expr
    span: Span


@node
class Unary:
    """`op` is "-", "+", "~" or "not"."""

    op: str
    operand: Expr
    span: Span


@node
class Compare:
    """`left op0 right0 op1 right1 ...`; operators as in Python, with "not in" and "is not" as one."""

    left: Expr
    rest: tuple[tuple[str, Expr], ...]
    span: Span


@node
class BoolOp:
    """`op` is "and" or "or"; chains of one operator are flattened."""

    op: str
    values: tuple[Expr, ...]
    span: Span


@node
class Conditional:
    """`body if test else orelse`."""

    test: Expr
    body: Expr
    orelse: Expr
    span: Span


@node
class Lambda:
    params: Params
    body: Expr
    span: Span


class Clause(NamedTuple):
    """`for target in iter if condition ...` of a comprehension."""

    target: Expr
    iter: Expr
    conditions: tuple[Expr, ...]


@node
class Comprehension:
    """`kind` is "list", "set", "dict" or "generator"; a dict's element is a tuple (key, value)."""

    kind: str
    element: Expr
    clauses: tuple[Clause, ...]
    span: Span


@node
class Walrus:
    target: Name
    value: Expr
    span: Span


@node
class Yield:
    """`yield value`, and `yield from value` (`whole`)."""

    value: Expr | None
    whole: bool
    span: Span


@node
class Await:
    value: Expr
    span: Span


@node
class Opaque:
    """An expression whose value we do not follow (f-strings); its parts are still evaluated, in order."""

    parts: tuple[Expr, ...]
    span: Span


Expr = Union[
    Const, Name, Attribute, Call, Subscript, Slice, Sequence, Starred, Mapping, Binary, Unary, Compare, BoolOp,
    Conditional, Lambda, Comprehension, Walrus, Yield, Await, Opaque,
]  # fmt: skip


# ---------------------------------------------------------------- statements
@node
class Assign:
    """`a = b = value`; `annotation` for `a: T = value` (value None for a bare `a: T`)."""

    targets: tuple[Expr, ...]
    value: Expr | None
    annotation: Expr | None
    span: Span


@node
class AugAssign:
    """`target op= value`; `op` without the equals sign."""

    target: Expr
    op: str
    value: Expr
    span: Span


@node
class Evaluate:
    """An expression statement: its value is thrown away."""

    value: Expr
    span: Span


@node
class If:
    test: Expr
    body: Block
    orelse: Block
    span: Span


@node
class For:
    target: Expr
    iter: Expr
    body: Block
    orelse: Block
    span: Span


@node
class While:
    test: Expr
    body: Block
    orelse: Block
    span: Span


class Handler(NamedTuple):
    type: Expr | None
    name: str | None
    body: Block


@node
class Try:
    body: Block
    handlers: tuple[Handler, ...]
    orelse: Block
    finalbody: Block
    span: Span


@node
class With:
    """`with value as target, ...:`; target None where there is none."""

    items: tuple[tuple[Expr, Expr | None], ...]
    body: Block
    span: Span


class Case(NamedTuple):
    """One arm of a match. `names` are what its pattern binds; `value` is the constant or dotted name of a
    pure value pattern (`case 3:`), `irrefutable` says it always matches (`case _:`, `case x:`)."""

    names: tuple[str, ...]
    value: Expr | None
    irrefutable: bool
    guard: Expr | None
    body: Block


@node
class Match:
    subject: Expr
    cases: tuple[Case, ...]
    span: Span


@node
class Return:
    value: Expr | None
    span: Span


@node
class Raise:
    parts: tuple[Expr, ...]
    span: Span


@node
class Jump:
    """`kind` is "break" or "continue"."""

    kind: str
    span: Span


@node
class Assert:
    test: Expr
    message: Expr | None
    span: Span


@node
class Delete:
    targets: tuple[Expr, ...]
    span: Span


@node
class Scope:
    """`global a, b` and `nonlocal a, b`; `kind` is the keyword."""

    kind: str
    names: tuple[str, ...]
    span: Span


@node
class Import:
    """`bindings` maps each local name to the dotted path it stands for (relative ones start with dots)."""

    bindings: tuple[tuple[str, str], ...]
    span: Span


class Param(NamedTuple):
    """`kind` is "positional" (positional-only too), "keyword" (keyword-only), "*" or "**"."""

    name: str
    kind: str
    default: Expr | None
    annotation: Expr | None
    span: Span


Params = tuple[Param, ...]


@node
class Function:
    """A `def`; the span is that of its name. `generator` tells that its own body holds a yield, `sliced` that part of
    the body was left out (see `slicing`)."""

    name: str
    params: Params
    body: Block
    decorators: tuple[Expr, ...]
    returns: Expr | None
    is_async: bool
    generator: bool
    span: Span
    sliced: bool = False


@node
class Class:
    name: str
    bases: tuple[Arg, ...]
    body: Block
    decorators: tuple[Expr, ...]
    span: Span


@node
class Definition:
    """A `def` or `class` in a module's or class's own block, not lowered yet: it binds `name` to what
    `Unit.lowered(entry)` gives. The span is that of the name."""

    name: str
    entry: Entry
    span: Span


Stmt = Union[
    Assign, AugAssign, Evaluate, If, For, While, Try, With, Match, Return, Raise, Jump, Assert, Delete, Scope, Import,
    Function, Class, Definition,
]  # fmt: skip
Block = tuple[Stmt, ...]

__all__ = ["NOWHERE", "Span"]
