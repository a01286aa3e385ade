"""The modules of torch.nn: what they are constructed with, and what their forward gives.

Vocabulary: a *configuration* is the constructor's arguments, bound; a *forward* is one call of the module. Most
forwards only call a function of torch.nn.functional, and so does the table: the function's row is the one truth.
The files `modules_*.py` beside this one hold the rows, by kind.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Union

from torchlayout.layouts import contiguous, unknown_strides, with_trailing
from torchlayout.ops import signature as signatures
from torchlayout.ops.copies import RANK_OF_FORMAT, in_format
from torchlayout.ops.table import Args, find_function, find_method, select
from torchlayout.ops.values import (
    UNKNOWN,
    Alternatives,
    DType,
    Fields,
    Many,
    MemoryFormat,
    Operand,
    Outcome,
    Result,
    Unknowable,
    is_unknown,
)
from torchlayout.sizes import NO, Facts, Rest, Shape
from torchlayout.structs import struct

MODULE_FILES = (
    "modules_linear", "modules_pointwise", "modules_convolution", "modules_pooling", "modules_normalization",
    "modules_shape", "modules_recurrent", "modules_attention", "modules_losses", "modules_containers", "einops_layers",
    "vision_classes",
)  # fmt: skip
"""The files of module rows, imported when the first module is looked up."""


MEMORY_FORMAT = "(memory format)"
"""Where a configuration tells the memory format that the parameters were turned into; without it, they are as made."""
ANYTHING = "Any self"
"""What a forward takes that needs no tensor."""


@struct(frozen=True, slots=True)
class Perhaps:
    """The shape of a parameter that the module may lack: what decides that is not known."""

    shape: Shape


class Config(Args):
    """The constructor's arguments, as `Args` reads arguments; names that were never given are not known."""

    __slots__ = ()

    def __init__(self, values: Mapping[str, Any], facts: Facts) -> None:
        self.values = values
        self.facts = facts

    def __getitem__(self, name: str) -> Any:
        return self.values.get(name, UNKNOWN)

    def known(self, name: str) -> Any:
        return signatures.require(self[name])

    def having(self, name: str, shape: Shape) -> Shape | Perhaps | None:
        """The shape of a parameter that the module has where this argument is true."""
        value = self[name]
        if not isinstance(value, bool):
            return Perhaps(shape)
        return shape if value else None

    def spread(self, name: str, count: int) -> tuple[Any, ...]:
        """An argument given as one int or a tuple of `count` ints, as a tuple (torch's `_pair` and kin)."""
        value = self.known(name)
        items = tuple(value) if isinstance(value, (tuple, list)) else (value,) * count
        if len(items) != count:
            raise Unknowable(f"{name} has {len(items)} items, not {count}")
        return items


class Forward(Args):
    """One call of a module: its forward's arguments (the first one is `self`, as in the table) and configuration."""

    __slots__ = ("config", "row")

    def __init__(self, row: ModuleRow, config: Config, values: Mapping[str, Any], facts: Facts) -> None:
        self.row = row
        self.config = config
        self.values = values
        self.facts = facts

    def function(self, name: str, *args: Any, **kwargs: Any) -> Outcome:
        """What `torch.nn.functional.NAME` (or `torch.NAME`, or a full path) gives."""
        return self._apply(find_function(name if "." in name else f"torch.nn.functional.{name}"), args, kwargs)

    def method(self, name: str, *args: Any, **kwargs: Any) -> Outcome:
        """What the tensor method gives."""
        return self._apply(find_method(name), args, kwargs)

    def _apply(self, rows: Sequence[Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Outcome:
        found = select(rows, args, kwargs)
        if found is None:
            return UNKNOWN
        row, bound = found
        return map_results(row.apply(bound, self.facts), lambda result: self._renamed(result, bound))

    def _renamed(self, result: Result, bound: Mapping[str, Any]) -> Result:
        """A result that names, for its storage, the forward's parameter instead of the function's."""
        if result.shares is NO:
            return result
        operand = bound.get(result.of)
        name = next((name for name, value in self.values.items() if value is operand), None)
        if name is None:
            return Result(result.layout, result.dtype, NO, result.numpy)
        return Result(result.layout, result.dtype, result.shares, result.numpy, name, result.same_object)

    def parameter(self, name: str) -> Operand | None:
        """A parameter of the module as an argument, None where the module has none of that name. One that it may lack
        is there: no layout depends on that."""
        found = self.row.attribute(self.config.values, name, self.facts)
        if isinstance(found, Alternatives):
            found = found.outcomes[0]
        if found is None:
            return None
        if not isinstance(found, Result):
            raise Unknowable(f"{name} is not known")
        return Operand(found.layout, found.dtype)

    def last_is(self, size: Any) -> None:
        """Learn that the input's last dimension has this size: the call worked."""
        layout = with_trailing(self.layout(), 1, self.facts)
        if layout is None:
            raise Unknowable("the input has no dimension")
        self.equate(layout.sizes[-1], size)

    def equate(self, size: Any, expected: Any) -> None:
        """Learn that both sizes are equal. Raises `Unknowable` where they cannot be: the call fails."""
        if is_unknown(expected) or isinstance(expected, Rest) or isinstance(size, Rest):
            return
        if self.facts.learn_equal(size, expected) is NO:
            raise Unknowable(f"a size of {size} where {expected} is wanted")


Transfer = Callable[[Forward], Outcome]
Parameters = Callable[[Config], Mapping[str, Union[Shape, Perhaps, None]]]
"""The sizes of each parameter and buffer, None for one that the configuration leaves out."""


def no_parameters(config: Config) -> Mapping[str, Shape | None]:
    del config
    return {}


@struct(frozen=True, eq=False)
class ModuleRow:
    """One module class."""

    schema: str
    """The constructor, as a signature; `(...)` takes anything."""
    takes: str
    """The forward's parameters, as in a signature; torch's `input` is called `self`."""
    transfer: Transfer
    parameters: Parameters
    derived: Callable[[Config, str], Outcome] | None
    """Attributes that the constructor computes."""
    container: str | None
    """"sequential", "composed" (the same of a list), "list", "dict", "parameter-list", "parameter-dict" or "wrapper": the modules inside do the work."""
    demands: Mapping[str, str]
    """Forward parameters that some backend wants contiguous, and which backend and why."""
    words: str
    unknown: str | None
    spellings: tuple[str, ...]

    @property
    def name(self) -> str:
        return signatures.name_of(self.schema)

    @property
    def kinds(self) -> Mapping[str, str]:
        """The kind of each parameter of the constructor, by name; "int[]" for a list of ints."""
        if self.schema.endswith("(...)"):
            return {}
        return {p.name: p.kind + "[]" * p.many for p in signatures.parse(self.schema).parameters}

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
        """The configuration; None where the constructor does not allow these arguments."""
        if self.schema.endswith("(...)"):
            return {}
        return signatures.bind(signatures.parse(self.schema), args, kwargs)

    def bind_forward(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
        """The forward's arguments by parameter name; `Result.of` refers to these names."""
        return signatures.bind(signatures.parse(f"forward({self.takes}) -> Any"), args, kwargs)

    def forward(
        self, config: Mapping[str, Any], args: Sequence[Any], kwargs: Mapping[str, Any], facts: Facts
    ) -> Outcome:
        """The outcome of a call in the world of `facts`. Raises `Refused` where torch would, for a layout."""
        bound = self.bind_forward(args, kwargs)
        return UNKNOWN if bound is None else self.apply(config, bound, facts)

    def apply(self, config: Mapping[str, Any], bound: Mapping[str, Any], facts: Facts) -> Outcome:
        """`forward` with arguments that `bind_forward` has bound."""
        try:
            return self.transfer(Forward(self, Config(config, facts), bound, facts))
        except Unknowable:
            return UNKNOWN

    def attribute(self, config: Mapping[str, Any], name: str, facts: Facts) -> Outcome:
        """An attribute of the constructed module: a parameter or buffer as a `Result` (None where it is left out, both
        where that is not known), a configured size or value as it was given."""
        values = Config(config, facts)
        try:
            parameters = self.parameters(values)
            if name in parameters:
                shape, form = parameters[name], config.get(MEMORY_FORMAT)
                if isinstance(shape, Perhaps):
                    return Alternatives((parameter(shape.shape, facts, values["dtype"], form), None))
                return None if shape is None else parameter(shape, facts, values["dtype"], form)
            if self.derived is not None:
                found = self.derived(values, name)
                if not is_unknown(found):
                    return found
        except Unknowable:
            return UNKNOWN
        return config.get(name, UNKNOWN)


@struct(frozen=True, eq=False)
class Constructed:
    """A module as the argument of another one's constructor."""

    row: ModuleRow
    config: Mapping[str, Any]

    def called(self, args: Sequence[Any], facts: Facts) -> Outcome:
        """Its forward with these arguments."""
        return self.row.forward(self.config, args, {}, facts)


def parameter(shape: Shape, facts: Facts, dtype: Any = None, form: Any = None) -> Result:
    """A parameter of this shape. `.to(memory_format=...)` of a module converts those with four or five dimensions,
    so that only the assumed world takes these as they were constructed, or as they were last turned (`form`)."""
    layout = contiguous(shape)
    if len(shape) in RANKS_CONVERTED and not (facts.assumed and form is None):
        layout = unknown_strides(shape)
        if facts.assumed and isinstance(form, MemoryFormat) and RANK_OF_FORMAT.get(form, len(shape)) == len(shape):
            layout = in_format(contiguous(shape), form, facts)
    return Result(layout, dtype if isinstance(dtype, DType) else None)


RANKS_CONVERTED = (4, 5)
"""Numbers of dimensions of the parameters and buffers that `Module.to(memory_format=...)` converts."""


def map_results(outcome: Outcome, change: Callable[[Result], Outcome]) -> Outcome:
    """The outcome with every result in it changed."""
    if isinstance(outcome, Result):
        return change(outcome)
    if isinstance(outcome, tuple):
        return tuple(map_results(item, change) for item in outcome)
    if isinstance(outcome, Fields):
        return Fields({name: map_results(item, change) for name, item in outcome.values.items()})
    if isinstance(outcome, Many):
        return Many(map_results(outcome.item, change))
    if isinstance(outcome, Alternatives):
        return Alternatives(tuple(map_results(item, change) for item in outcome.outcomes))
    return outcome


def then(outcome: Outcome, use: Callable[[Operand], Outcome]) -> Outcome:
    """Hand the one tensor of an outcome to the next function; each alternative on its own."""
    if isinstance(outcome, Result):
        return use(Operand(outcome.layout, outcome.dtype, outcome.numpy))
    if isinstance(outcome, Alternatives):
        return Alternatives(tuple(then(item, use) for item in outcome.outcomes))
    return UNKNOWN


def fresh(outcome: Outcome) -> Outcome:
    """The outcome in storage of its own, whatever its inputs to that function were."""
    return map_results(outcome, lambda result: Result(result.layout, result.dtype, NO, result.numpy))


_MODULES: dict[str, ModuleRow] = {}
_PATHS: dict[str, ModuleRow] = {}
_loaded = False


def module(
    schema: str,
    forward: Transfer,
    *,
    takes: str = "Tensor self",
    parameters: Parameters = no_parameters,
    derived: Callable[[Config, str], Outcome] | None = None,
    container: str | None = None,
    demands: Mapping[str, str] | None = None,
    words: str = "",
    unknown: str | None = None,
    spellings: Sequence[str] = (),
) -> ModuleRow:
    """Add a row: a class of torch.nn, or one found under `spellings` only."""
    words = words or (forward.__doc__ or "").strip().split("\n")[0]
    row = ModuleRow(
        schema, takes, forward, parameters, derived, container, demands or {}, words, unknown, tuple(spellings)
    )
    if spellings:
        _PATHS.update((path, row) for path in spellings)
    else:
        _MODULES[row.name] = row
    return row


def by(function: str, *names: str, learn: Callable[[Forward], None] | None = None, **fixed: Any) -> Transfer:
    """The forward that calls `torch.nn.functional.FUNCTION` (or a full path) with these arguments of the configuration.

    `learn` first takes over what the module's own checks say of the input's sizes.
    """

    def forward(call: Forward) -> Outcome:
        if learn is not None:
            learn(call)
        operands = [call[parameter.name] for parameter in signatures.parse(f"f({call.row.takes})").parameters]
        return call.function(function, *operands, **{name: call.config[name] for name in names}, **fixed)

    forward.__doc__ = f"as {function if '.' in function else f'torch.nn.functional.{function}'}"
    return forward


def _load() -> None:
    global _loaded
    if _loaded:
        return
    _loaded = True
    package = __name__.rpartition(".")[0]
    for name in MODULE_FILES:
        importlib.import_module(f"{package}.{name}")


def find_module(path: str) -> ModuleRow | None:
    """The row of a module class by its full dotted path (`torch.nn.Conv2d`, `torch.nn.modules.conv.Conv2d`)."""
    _load()
    found = _PATHS.get(path)
    if found is not None:
        return found
    if path.startswith("torch.nn."):
        parts = path.split(".")[2:]
        if (
            len(parts) == 1
            or (len(parts) == 3 and parts[0] == "modules")
            or (len(parts) == 2 and parts[0] == "modules")
        ):
            return _MODULES.get(parts[-1])
    return None


def all_modules() -> Iterator[ModuleRow]:
    """Every row, those of other packages last."""
    _load()
    yield from _MODULES.values()
    yield from dict.fromkeys(_PATHS.values())
