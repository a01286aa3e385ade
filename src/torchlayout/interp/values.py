"""Abstract values: what the interpreter knows of a Python object.

Known constants (None, bools, ints, floats, strings, `...`) stand for themselves, and so do symbolic integers (`Poly`),
dtypes and memory formats. Everything else is one of the classes below. A value is immutable; what can change (the
items of a list, the attributes of an object) lies in the state's heap under the value's `ref`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from torchlayout.interp.trace import Origin, SiteKey
from torchlayout.ops import Operand
from torchlayout.sizes import Poly, Rest
from torchlayout.structs import field, replace, struct

if TYPE_CHECKING:
    from torchlayout.ops.modules import ModuleRow
    from torchlayout.program import nodes
    from torchlayout.program.unit import Unit

MAX_ALTERNATIVES = 4
"""Layouts kept for one tensor, and kinds of value kept for one name; beyond that, it is unknown."""
ENDED = "<ended>"
"""See `Function.homes`."""
MAX_WEIGHT = 10_000
"""Values inside one another that are kept. Nested tuples share what they hold (`t = (t, t)`), so that a few lines can
make more of them than any walk over them would ever see the end of."""

Ref = Hashable
NO_SITES: frozenset[SiteKey] = frozenset()


@struct(frozen=True, slots=True)
class Opaque:
    """A value that is not known. Used as a tensor, it is one of unknown rank; used as an int, an unknown int.

    `weak` is False for a function's own parameter, whose contiguity is part of the usual assumptions, and True for
    what a call or attribute that is not known gave.
    """

    key: Hashable
    name: str | None = None
    weak: bool = True
    origin: Origin | None = field(default=None, compare=False)
    kind: str | None = None
    """"int", "str", "tensor", "module", "ndarray" where an annotation or a use tells so much."""
    strided: bool = False
    """Nothing is assumed of its layout: an operator of the table made it, and could not tell."""
    size: Poly | None = None
    """What it is if it turns out to be an int: of `n * d`, where both may be ints or tensors, the product."""
    whole: Poly | None = None
    """What `int` makes of it if it is a number: of `n / d` the whole part."""
    array: Tensor | None = field(default=None, compare=False)
    """What it is if it turns out to be an array: of `x[::-1]`, which may be a list, the array read backwards."""


@struct(frozen=True, slots=True)
class Tensor:
    """A tensor or NumPy array: its alternatives in the proven and in the assumed world."""

    proven: tuple[Operand, ...]
    assumed: tuple[Operand, ...]
    ident: Hashable
    """The same for names of one and the same object."""
    storages: frozenset[Hashable]
    """Storages that it may lie in."""
    origin: Origin | None = field(default=None, compare=False)
    made_by: frozenset[SiteKey] = NO_SITES
    parameter: bool = False
    """An `nn.Parameter` or buffer, which an optimizer or loader may write to."""

    @property
    def numpy(self) -> bool:
        return self.assumed[0].numpy


@struct(frozen=True, slots=True)
class Sequence:
    """A tuple, set or torch.Size of known length, or the contents of a list. Items of a size may be `Rest`; `names`
    for named tuples."""

    kind: str
    items: tuple[Value, ...]
    names: tuple[str, ...] = ()
    weight: int = field(default=1, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", 1 + sum(map(weight_of, self.items)))


@struct(frozen=True, slots=True)
class Many:
    """A sequence of unknown length whose items are all like `item`."""

    item: Value
    kind: str = "list"
    weight: int = field(default=1, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", 1 + weight_of(self.item))


@struct(frozen=True, slots=True)
class Dictionary:
    """The contents of a dict with known keys; `rest` is what any other key holds (None: there is no other key)."""

    items: Mapping[Any, Value]
    rest: Value | None = None
    maybe: frozenset[Any] = frozenset()
    """The keys among `items` that are not there on every path."""
    weight: int = field(default=1, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", 1 + weight_of(self.rest) + sum(map(weight_of, self.items.values())))

    def put(self, name: Any, value: Value) -> Dictionary:
        """With `items[name]` set."""
        return Dictionary({**self.items, name: value}, self.rest, self.maybe - {name})

    def without(self, name: Any) -> Dictionary:
        return Dictionary({k: v for k, v in self.items.items() if k != name}, self.rest, self.maybe - {name})

    def unsure(self) -> Dictionary:
        """Where any of the items may have been taken out."""
        return Dictionary(self.items, self.rest, frozenset(self.items))

    def overlaid(self, other: Dictionary, key: Hashable) -> Dictionary:
        """`{**self, **other}`; `other` with a rest and no items is one of which nothing is known."""
        from torchlayout.interp.joins import join, join_all

        items = dict(self.items)
        for name, value in other.items.items():
            unsure = name in other.maybe and name in items
            items[name] = join(items[name], value, (key, name)) if unsure else value
        if other.rest is not None:
            items = {k: v if k in other.items else join(v, other.rest, (key, k)) for k, v in items.items()}
        rests = [rest for rest in (self.rest, other.rest) if rest is not None]
        rest = join_all(rests, (key, "rest")) if rests else None
        maybe = (self.maybe - (other.items.keys() - other.maybe)) | (other.maybe - self.items.keys())
        return Dictionary(items, rest, maybe)

    def __hash__(self) -> int:
        return hash(tuple(self.items))


@struct(frozen=True, slots=True)
class Held:
    """A list or dict, whose contents lie in the heap under `ref`."""

    ref: Ref


@struct(frozen=True, slots=True)
class Slice:
    lower: Value
    upper: Value
    step: Value


@struct(frozen=True, slots=True)
class Path:
    """Something imported that is not (yet) evaluated, by its dotted path: a module, function, class or constant."""

    path: str


@struct(frozen=True, eq=False, slots=True)
class Function:
    """A function of the linted code: a def or lambda, with the names visible where it was made."""

    node: nodes.Function | nodes.Lambda
    unit: Unit
    name: str
    closure: Mapping[str, Value]
    defaults: Mapping[str, Value]
    owner: Class | None = None
    """The class whose body it stands in, for `super()`."""
    kind: str = "function"
    """"function", "static", "class" or "property"."""
    homes: tuple[Ref, ...] = ()
    """Where the names of the functions around it lie in the heap while these run, the innermost first. Python looks
    names up when the function is called, so these count before `closure`, which is what the names held in the end.
    Under `ENDED` lie in it the names of the functions that have ended."""
    decorated: bool = False
    """Some decorator may make something else of it (see `decorating`)."""


@struct(frozen=True, eq=False, slots=True)
class Class:
    """A class of the linted code."""

    name: str
    unit: Unit
    bases: tuple[Value, ...]
    members: Mapping[str, Value]
    """Methods and class attributes."""
    fields: tuple[tuple[str, Value | None], ...] = ()
    """A dataclass's or named tuple's fields in order, with defaults."""

    def lookup(self, name: str) -> Value | None:
        """A member found here or in a known base."""
        for cls in self.lineage():
            if name in cls.members:
                return cls.members[name]
        return None

    def lineage(self) -> list[Class]:
        """This class and its known bases, in the order of lookup."""
        order: list[Class] = []
        queue: list[Value] = [self]
        while queue:
            cls = queue.pop(0)
            if isinstance(cls, Class) and cls not in order:
                order.append(cls)
                queue = [*cls.bases, *queue]
        return order

    def outside_bases(self) -> list[str]:
        """Dotted paths of bases that are not in the linted code."""
        return [base.path for cls in self.lineage() for base in cls.bases if isinstance(base, Path)]

    def complete(self) -> bool:
        """Whether every base is known: code of the project, or an empty shell such as `nn.Module`."""
        known = all(isinstance(base, (Class, Path)) for cls in self.lineage() for base in cls.bases)
        return known and all(path in SHELLS for path in self.outside_bases())


SHELLS = frozenset(
    {
        "torch.nn.Module", "torch.nn.modules.module.Module", "torch.nn.modules.Module", "object", "abc.ABC",
        "torch.utils.data.Dataset", "typing.NamedTuple", "typing.Generic", "typing.Protocol", "enum.Enum",
        "torch.autograd.Function", "torch.autograd.function.Function", "torch.jit.ScriptModule",
    }
)  # fmt: skip
"""Bases that add nothing to the attributes that a class sets itself."""


@struct(frozen=True, slots=True)
class Instance:
    """An object of a linted class; its attributes lie in the heap."""

    cls: Class
    ref: Ref
    path: str | None = None
    """How the code reaches it, for names of unknown attributes: "self", "self.attn"."""
    several: bool = False
    """It is one of several that are described as one: what is done to it may not be done to another."""


@struct(frozen=True, slots=True)
class Module:
    """A `torch.nn` module made with known arguments."""

    row: ModuleRow
    config: Mapping[str, Any]
    ref: Ref
    several: bool = False

    def __hash__(self) -> int:
        return hash(self.ref)


@struct(frozen=True, slots=True)
class Container:
    """`Sequential`, `ModuleList`, `ModuleDict`, `ParameterList`; the modules lie in `items`."""

    kind: str
    items: Value
    ref: Ref
    several: bool = False


@struct(frozen=True, slots=True)
class Bound:
    """A method looked up on a value, not called yet."""

    receiver: Value
    name: str
    span: nodes.Span


@struct(frozen=True, slots=True)
class BoundFunction:
    """A function of the linted code with its `self` (or class)."""

    function: Function
    receiver: Value


@struct(frozen=True, slots=True)
class Partial:
    function: Value
    args: tuple[Value, ...]
    kwargs: tuple[tuple[str, Value], ...]


@struct(frozen=True, slots=True)
class Super:
    """`super()` inside a method of `owner`, for this receiver."""

    owner: Class
    receiver: Value


@struct(frozen=True, slots=True)
class Pointer:
    """`x.data_ptr()` of a tensor, or `x.stride()` of one where `strides` is set."""

    tensor: Tensor
    strides: bool = False


@struct(frozen=True, slots=True)
class Union_:
    """One of several values of different kinds (a tensor or None)."""

    choices: tuple[Value, ...]
    weight: int = field(default=1, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", 1 + sum(map(weight_of, self.choices)))


Value: TypeAlias = Any
"""A known constant, a `Poly`, `Rest`, `DType` or `MemoryFormat`, or one of the classes of this file."""


@struct(frozen=True, slots=True)
class Either:
    """The identity of a tensor that is one of several objects."""

    idents: frozenset[Hashable]


@struct(frozen=True, slots=True)
class Earlier:
    """The key of what a loop made in an earlier turn (see `earlier`)."""

    loop: Hashable
    at: tuple[Hashable, ...]
    """The name that holds it, and the way to it from there."""
    key: Hashable
    """What it went by in the turn that made it."""


def objects(ident: Hashable) -> frozenset[Hashable]:
    """The objects that a tensor of this identity may be."""
    if isinstance(ident, Earlier):
        return frozenset([ident, ident.key])
    return ident.idents if isinstance(ident, Either) else frozenset([ident])


def weight_of(value: Value) -> int:
    """How many values there are inside one another; what lies in the heap counts as one."""
    return value.weight if type(value) in NESTING else 1


NESTING = frozenset({Sequence, Many, Dictionary, Union_})
"""The kinds of values that hold others."""


def one_of_many(item: Value, place: Hashable) -> Value:
    """A tensor or module that is one of several of which only one is described: what happens to it may or may not
    happen to another."""
    if isinstance(item, Tensor):
        return replace(item, ident=Either(objects(item.ident) | {(item.ident, "one", place)}))
    if isinstance(item, (Module, Container, Instance)):
        return replace(item, several=True)
    return item


PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))


def choices(value: Value) -> tuple[Value, ...]:
    """The alternatives of a value; just itself for most."""
    return value.choices if isinstance(value, Union_) else (value,)


def is_int(value: Value) -> bool:
    """A known or symbolic int, but no bool."""
    return isinstance(value, Poly) or (isinstance(value, int) and not isinstance(value, bool))


def same(a: Value, b: Value) -> bool:
    """Equality that keeps True, 1 and 1.0 apart."""
    return a is b or (type(a) is type(b) and bool(a == b))


def is_sequence(value: Value) -> bool:
    return isinstance(value, (Sequence, Many))


def items_of(value: Value) -> list[Value]:
    """The items of a sequence, each once."""
    if isinstance(value, Sequence):
        return [Opaque(("item", i.key), kind="int") if isinstance(i, Rest) else i for i in value.items]
    return [value.item] if isinstance(value, Many) else []
