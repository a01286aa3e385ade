"""Compares the operator table with eager torch, call by call.

A *verdict* on a call is one of: "exact" (everything said is right and everything was said), "unknown" (everything
said is right, something was left open), "wrong", "invalid" (torch refuses the call for reasons of its own), or
"absent" (the table has no row for it).
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from real_layouts import replica
from torch.utils._pytree import tree_map_only

from torchlayout.layouts import Layout, settle, strided
from torchlayout.ops import (
    UNKNOWN,
    Alternatives,
    DType,
    Fields,
    Many,
    MemoryFormat,
    Op,
    Operand,
    Outcome,
    Refused,
    Result,
    attribute,
    find_function,
    find_method,
    index,
    select,
    table,
)
from torchlayout.sizes import MAYBE, NO, YES, Facts

table.FORGIVING = False

OUT_OF_RANGE = re.compile(
    r"range|out of bounds|target|class values|\bindex|indices|quantile|probabilit|p_in|between 0 and 1|\brate\b|negative",
    re.IGNORECASE,
)
"""What torch says on a CPU of values that no operator may be given. A CUDA kernel that meets one asserts, and then no
other works in that process."""

LAYOUT_ERRORS = re.compile(
    r"view size is not compatible|more than one element of the written-to tensor|refers to a single memory location"
    r"|must have a last dimension with stride 1|negative strides|must be divisible by \d+ to view"
    r"|step must be greater than zero|stride\(\) must be divisible|self.stride\(-1\) must be 1"
    r"|stride\[-?\d+\] must be|internal overlap|single memory location"
)
"""What torch says when it refuses a call because of how a tensor lies in memory."""

RANDOM_SEED = 5
REFUSED_VALUES = "refused for its values"


@dataclass(frozen=True)
class Verdict:
    kind: str
    path: str
    detail: str = ""

    @property
    def counts(self) -> bool:
        return self.kind in ("exact", "unknown", "wrong")


# ---------------------------------------------------------------- from real values to the table's
@dataclass
class Abstraction:
    """Turns real arguments into the table's, and remembers which tensor each operand stands for."""

    device: str | None = None
    tensors: dict[int, Any] = field(default_factory=dict)
    operands: list[Operand] = field(default_factory=list)
    overrides: dict[int, Layout] = field(default_factory=dict)
    """Layouts to take instead of the real ones, by the id of the tensor."""
    usable: bool = True
    """False once a sparse, quantized or otherwise unusual tensor was met."""

    def __call__(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, np.ndarray):
            return self._keep(value, array_operand(value))
        if isinstance(value, torch.dtype):
            return DType(str(value).removeprefix("torch."))
        if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
            return DType(np.dtype(value).name)
        if isinstance(value, torch.memory_format):
            return MemoryFormat(str(value).removeprefix("torch."))
        if isinstance(value, (torch.device, torch.layout)):
            return str(value).removeprefix("torch.")
        if isinstance(value, torch.Size):
            return tuple(value)
        if isinstance(value, tuple):
            return tuple(self(item) for item in value)
        if isinstance(value, list):
            return [self(item) for item in value]
        if isinstance(value, slice):
            return slice(self(value.start), self(value.stop), self(value.step))
        if value is None or value is Ellipsis or isinstance(value, (bool, int, float, complex, str, range)):
            return value
        return UNKNOWN

    def _tensor(self, x: torch.Tensor) -> Operand:
        if x.layout is not torch.strided or x.is_quantized or x.is_nested or x.is_meta:
            self.usable = False
            return Operand(strided((), ()))
        operand = tensor_operand(x, self.device)
        if id(x) in self.overrides:
            operand = replace(operand, layout=self.overrides[id(x)])
        return self._keep(x, operand)

    def _keep(self, real: Any, operand: Operand) -> Operand:
        self.tensors[id(operand)] = real
        self.operands.append(operand)
        return operand


def tensor_operand(x: torch.Tensor, device: str | None = None) -> Operand:
    layout = strided(tuple(x.shape), x.stride(), x.storage_offset())
    return Operand(layout, DType(str(x.dtype).removeprefix("torch.")), device=device)


def array_operand(a: np.ndarray) -> Operand:
    strides = [s // a.itemsize for s in a.strides]
    return Operand(strided(a.shape, strides, None), DType(a.dtype.name), numpy=True)


# ---------------------------------------------------------------- comparing
def _storage(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        while isinstance(x.base, np.ndarray):
            x = x.base
        return x.__array_interface__["data"][0]
    return x.untyped_storage()._cdata


def _shares(real: Any, other: Any) -> bool:
    if isinstance(real, np.ndarray) and isinstance(other, np.ndarray):
        return np.shares_memory(real, other) or (real.size == 0 and _storage(real) == _storage(other))
    if isinstance(real, np.ndarray) or isinstance(other, np.ndarray):
        array, tensor = (real, other) if isinstance(real, np.ndarray) else (other, real)
        return np.shares_memory(array, tensor.detach().numpy())
    return bool(_storage(real) == _storage(other)) or _overlap(real.untyped_storage(), other.untyped_storage())


def _overlap(one: Any, other: Any) -> bool:
    """Whether two storages hold the same bytes, as a tensor that came by DLPack does."""
    starts, ends = zip(*((s.data_ptr(), s.data_ptr() + s.nbytes()) for s in (one, other)), strict=True)
    return bool(max(starts) < min(ends))


def _tensors_in(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [tensor for item in value for tensor in _tensors_in(item)]
    return [value] if isinstance(value, (torch.Tensor, np.ndarray)) else []


class Wrong(Exception):
    pass


@dataclass
class Comparison:
    """Compares an outcome with a real value. `exact` turns False where something is left open."""

    concrete: Callable[[Any], Any]
    """The number that a size stands for; None where it is not known."""
    layout_of: Callable[[Layout], Layout]
    """A layout with all rests spelled out."""
    owners: Callable[[str], list[Any]]
    """The real tensors given for a parameter."""
    given: list[Any]
    exact: bool = True

    def compare(self, outcome: Outcome, real: Any) -> None:
        if outcome is UNKNOWN:
            self.exact = False
        elif isinstance(outcome, Alternatives):
            self._alternatives(outcome, real)
        elif isinstance(outcome, Many):
            self.exact = False
            if not isinstance(real, (tuple, list)):
                raise Wrong(f"a sequence, torch gives {type(real).__name__}")
            for item in real:
                self.compare(outcome.item, item)
        elif isinstance(outcome, Result):
            if not isinstance(real, (torch.Tensor, np.ndarray)):
                raise Wrong(f"a tensor, torch gives {type(real).__name__}")
            if not isinstance(real, torch.Tensor) or real.layout is torch.strided:
                self._result(outcome, real)
        elif isinstance(outcome, Fields):
            for name, item in outcome.values.items():
                if not hasattr(real, name):
                    raise Wrong(f"a field {name}")
                self.compare(item, getattr(real, name))
            if isinstance(real, tuple) and len(real) != len(outcome.values):
                raise Wrong(f"{len(outcome.values)} fields, torch gives {len(real)}")
        elif isinstance(outcome, (tuple, list)):
            if not isinstance(real, (tuple, list)):
                raise Wrong(f"a sequence, torch gives {type(real).__name__}")
            items = self._spread(outcome)
            if items is None:
                self.exact = False
                return
            if len(items) != len(real):
                raise Wrong(f"{len(items)} items, torch gives {len(real)}")
            for item, other in zip(items, real, strict=True):
                self.compare(item, other)
        else:
            self._value(outcome, real)

    def _spread(self, outcome: Sequence[Any]) -> list[Any] | None:
        """A sequence with rests replaced by their sizes."""
        items: list[Any] = []
        for item in outcome:
            if hasattr(item, "numel") and hasattr(item, "key"):
                sizes = self.layout_of(Layout((_rest_dim(item),))).dims
                if any(dim.rest for dim in sizes):
                    return None
                items += [dim.size for dim in sizes]
            else:
                items.append(item)
        return items

    def _value(self, outcome: Any, real: Any) -> None:
        if isinstance(outcome, DType):
            if isinstance(real, torch.dtype) and str(real) != f"torch.{outcome.name}":
                raise Wrong(f"{outcome.name}, torch gives {real}")
            return
        known = self.concrete(outcome)
        if known is None and outcome is not None:
            self.exact = False
        elif isinstance(real, (torch.Tensor, np.ndarray, tuple)) or known != real:
            raise Wrong(f"{known!r}, torch gives {real!r}")

    def _alternatives(self, outcome: Alternatives, real: Any) -> None:
        self.exact = False
        reasons = []
        for one in outcome.outcomes:
            try:
                self.compare(one, real)
            except Wrong as wrong:
                reasons.append(str(wrong))
            else:
                return
        raise Wrong("none of: " + "; ".join(reasons))

    def _result(self, result: Result, real: Any) -> None:
        layout = self.layout_of(result.layout)
        if result.exists is not YES:
            self.exact = False
        self._dtype(result, real)
        if any(dim.rest is not None for dim in layout.dims):
            self.exact = False
        else:
            self._dims(layout, real)
            offset = None if layout.offset is None else self.concrete(layout.offset)
            if offset is not None and isinstance(real, torch.Tensor) and real.storage_offset() != offset:
                raise Wrong(f"offset {offset}, torch gives {real.storage_offset()}")
        self._sharing(result, real)

    def _dtype(self, result: Result, real: Any) -> None:
        if result.numpy is not isinstance(real, np.ndarray):
            raise Wrong(f"numpy {result.numpy}, torch gives {type(real).__name__}")
        if result.dtype is not None and str(real.dtype).removeprefix("torch.") != result.dtype.name:
            raise Wrong(f"dtype {result.dtype.name}, torch gives {real.dtype}")

    def _dims(self, layout: Layout, real: Any) -> None:
        sizes, strides = list(real.shape), list(real.strides if isinstance(real, np.ndarray) else real.stride())
        if isinstance(real, np.ndarray):
            strides = [stride // real.itemsize for stride in strides]
        said = [self.concrete(dim.size) for dim in layout.dims]
        said_strides = [None if dim.stride is None else self.concrete(dim.stride) for dim in layout.dims]
        if len(said) != len(sizes) or any(a is not None and a != b for a, b in zip(said, sizes, strict=True)):
            raise Wrong(f"shape {said}, torch gives {sizes}")
        self.exact = self.exact and None not in said
        if 0 in sizes:
            return
        for size, mine, theirs in zip(sizes, said_strides, strides, strict=True):
            if size > 1 and mine is not None and mine != theirs:
                raise Wrong(f"strides {said_strides}, torch gives {strides} (shape {sizes})")
            if size > 1 and mine is None:
                self.exact = False

    def _sharing(self, result: Result, real: Any) -> None:
        if result.shares is MAYBE:
            self.exact = False
            return
        if isinstance(real, np.ndarray) or any(isinstance(owner, np.ndarray) for owner in self.given):
            if 0 in real.shape:
                return
        owners = self.owners(result.of) if result.shares is YES else self.given
        shared = any(_shares(real, owner) for owner in owners)
        if result.shares is NO and shared:
            raise Wrong("fresh storage, torch shares it")
        if result.shares is YES and owners and not shared:
            raise Wrong(f"the storage of {result.of}, torch has its own")
        if result.same_object and owners and not any(real is owner for owner in owners):
            raise Wrong("the same tensor object, torch gives another")


def _rest_dim(rest: Any) -> Any:
    from torchlayout.layouts import Dim

    return Dim(rest.numel, None, rest)


# ---------------------------------------------------------------- one call
def apply_table(
    rows: Sequence[Op], args: Sequence[Any], kwargs: Mapping[str, Any], facts: Facts
) -> tuple[Op | None, Mapping[str, Any], Outcome]:
    """What the table says of a call. Raises `Refused`."""
    chosen = select(rows, args, kwargs)
    if chosen is None:
        return None, {}, UNKNOWN
    row, bound = chosen
    return row, bound, row.apply(bound, facts)


def rows_of(path: str) -> Sequence[Op]:
    """The rows of a dotted path: `Tensor.f`, `ndarray.f`, `torch.f`, `F.f`, ...."""
    if path.startswith("Tensor."):
        return find_method(path.removeprefix("Tensor."))
    if path.startswith("ndarray."):
        return find_method(path.removeprefix("ndarray."), numpy=True)
    if path.startswith("F."):
        path = "torch.nn.functional." + path.removeprefix("F.")
    return find_function(path)


def real_function(path: str) -> Callable[..., Any]:
    """The real function of a dotted path."""
    if path.startswith("Tensor."):
        name = path.removeprefix("Tensor.")
        return lambda self, *args, **kwargs: getattr(self, name)(*args, **kwargs)
    if path.startswith("ndarray."):
        name = path.removeprefix("ndarray.")
        return lambda self, *args, **kwargs: getattr(self, name)(*args, **kwargs)
    value: Any = {"torch": torch, "F": F, "np": np, "numpy": np}.get(path.split(".")[0])
    if value is None:
        value = importlib.import_module(path.split(".")[0])
    for part in path.split(".")[1:]:
        value = getattr(value, part)
    return value  # type: ignore[no-any-return]


@dataclass
class World:
    """What the table is told of a call's tensors beyond their real layouts, and how to read its answers."""

    facts: Facts = field(default_factory=Facts)
    overrides: dict[int, Layout] = field(default_factory=dict)

    def number(self, size: Any) -> Any:
        """The number that a size stands for; None where it is not known."""
        return _number(self.facts, size)

    def spelled_out(self, layout: Layout) -> Layout:
        return settle(layout, self.facts)


def check_call(
    path: str,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    *,
    real: Callable[..., Any] | None = None,
    device: str | None = None,
    world: World | None = None,
) -> Verdict:
    """Run one call on torch and on the table, and compare. `path` as in `rows_of`; `real` overrides what is run.

    `device` is what the table is told of the tensors' device; None: nothing.
    """
    kwargs = kwargs or {}
    world = world or World()
    abstraction = Abstraction(device, overrides=world.overrides)
    table_args = [abstraction(value) for value in args]
    table_kwargs = {name: abstraction(value) for name, value in kwargs.items()}
    facts = world.facts
    if path in ("Tensor.__getitem__", "torch.Tensor.__getitem__"):
        items = table_args[1] if isinstance(table_args[1], tuple) else (table_args[1],)
        return _verdict(path, abstraction, lambda: (None, {"self": table_args[0]}, index(table_args[0], items, facts)),
                        real or (lambda x, i: x[i]), args, kwargs, world)  # fmt: skip
    if path.startswith("attribute."):
        name = path.removeprefix("attribute.")
        return _verdict(path, abstraction, lambda: (None, {"self": table_args[0]}, attribute(table_args[0], name, facts)),
                        real or (lambda x: getattr(x, name)), args, kwargs, world)  # fmt: skip
    rows = rows_of(path)
    if not rows:
        return Verdict("absent", path)
    return _verdict(path, abstraction, lambda: apply_table(rows, table_args, table_kwargs, facts),
                    real or real_function(path), args, kwargs, world)  # fmt: skip


def _verdict(
    path: str,
    abstraction: Abstraction,
    said: Callable[[], tuple[Op | None, Mapping[str, Any], Outcome]],
    real: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    world: World,
) -> Verdict:
    if not abstraction.usable:
        return Verdict("invalid", path, "no strided tensor")
    described = _describe(args, kwargs)
    refused: Refused | None = None
    bound: Mapping[str, Any] = {}
    outcome: Outcome = UNKNOWN
    try:
        _, bound, outcome = said()
    except Refused as error:
        refused = error
    given = _tensors_in([*args, *kwargs.values()])
    on_device = any(isinstance(one, torch.Tensor) and one.is_cuda for one in given)
    if on_device and refused_for_values(getattr(real, "bare", real), args, kwargs):
        return Verdict("invalid", path, f"{described}: {REFUSED_VALUES}")
    try:
        with torch.no_grad():
            value = real(*args, **kwargs)
    except Exception as error:
        return _torch_raised(path, refused, outcome, error, described)
    if refused is not None:
        return Verdict("wrong", path, f"{described}: refused ({refused.message}), torch allows it")

    def owners(name: str) -> list[Any]:
        value = bound.get(name)
        items = value if isinstance(value, (tuple, list)) else (value,)
        return [abstraction.tensors[id(item)] for item in items if id(item) in abstraction.tensors]

    comparison = Comparison(world.number, world.spelled_out, owners, given)
    try:
        comparison.compare(outcome, value)
    except Wrong as wrong:
        return Verdict("wrong", path, f"{described}: said {wrong}")
    return Verdict("exact" if comparison.exact else "unknown", path, described)


def refused_for_values(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether a CPU refuses the values of these tensors."""
    args, kwargs = tree_map_only(torch.Tensor, lambda x: x.detach().cpu(), (tuple(args), dict(kwargs)))
    try:
        with torch.no_grad():
            function(*args, **kwargs)
    except (RuntimeError, IndexError, ValueError) as error:
        return isinstance(error, IndexError) or OUT_OF_RANGE.search(str(error)) is not None
    except Exception:  # for another reason, which the device has too
        return False
    return False


def _number(facts: Facts, size: Any) -> Any:
    if isinstance(size, (bool, int, float, str)):
        return size
    try:
        size = facts.normal(size)
    except AttributeError:
        return None
    return size if isinstance(size, int) else None


def _torch_raised(path: str, refused: Refused | None, outcome: Outcome, error: Exception, described: str) -> Verdict:
    layout_error = LAYOUT_ERRORS.search(str(error)) is not None
    if refused is not None:
        return Verdict("exact" if layout_error else "invalid", path, f"{described}: {error}")
    if not layout_error:
        return Verdict("invalid", path, f"{described}: {error}")
    if isinstance(outcome, Result) and outcome.exists is YES:
        return Verdict("wrong", path, f"{described}: torch refuses it: {str(error).splitlines()[0]}")
    return Verdict("unknown", path, described)


def _describe(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    def one(value: Any) -> str:
        if isinstance(value, torch.Tensor):
            if value.layout is not torch.strided:
                return "<sparse>"
            return f"<{list(value.shape)}:{list(value.stride())} {str(value.dtype).removeprefix('torch.')}>"
        if isinstance(value, np.ndarray):
            return f"<array {list(value.shape)}:{[s // value.itemsize for s in value.strides]}>"
        if isinstance(value, (tuple, list)):
            return "(" + ", ".join(one(item) for item in value) + ")"
        return repr(value)

    return ", ".join([*(one(value) for value in args), *(f"{name}={one(value)}" for name, value in kwargs.items())])


# ---------------------------------------------------------------- examples
def check_example(example: str, x: torch.Tensor, world: World | None = None) -> Verdict:
    """Evaluate an example (an expression over `x`, `torch`, `F`, `np`, `einops`, and `a`, x as an array), comparing
    its outermost call, attribute or subscript; everything inside is evaluated by torch alone."""
    scope: dict[str, Any] = {"torch": torch, "F": F, "np": np, "x": x if world else replica(x)}
    if example.startswith(("np.", "a.")):
        scope["a"] = scope["x"].cpu().numpy()
    if "einops." in example:
        scope["einops"] = importlib.import_module("einops")
    tree = ast.parse(example, mode="eval").body

    def value_of(node: ast.expr) -> Any:
        torch.manual_seed(RANDOM_SEED)
        return eval(compile(ast.Expression(node), "<example>", "eval"), scope)

    if isinstance(tree, ast.Call):
        return _check_call_node(tree, value_of, world)
    if not isinstance(tree, (ast.Attribute, ast.Subscript)):
        raise ValueError(f"{example!r} is no call, attribute or subscript")
    try:
        owner = value_of(tree.value)
        item = value_of(tree.slice) if isinstance(tree, ast.Subscript) else None
    except Exception as error:
        return Verdict("invalid", example, str(error))
    if isinstance(tree, ast.Attribute):
        return check_call(f"attribute.{tree.attr}", [owner], world=world)
    return check_call("Tensor.__getitem__", [owner, item], world=world)


def _check_call_node(tree: ast.Call, value_of: Callable[[ast.expr], Any], world: World | None = None) -> Verdict:
    path = ast.unparse(tree.func)
    args: list[Any] = []
    if isinstance(tree.func, ast.Attribute):
        try:
            owner = value_of(tree.func.value)
        except Exception as error:
            return Verdict("invalid", path, str(error))
        if isinstance(owner, torch.Tensor):
            path, args = f"Tensor.{tree.func.attr}", [owner]
        elif isinstance(owner, np.ndarray):
            path, args = f"ndarray.{tree.func.attr}", [owner]
        elif path.startswith("np."):
            path = "numpy." + path.removeprefix("np.")
    try:
        for node in tree.args:
            if isinstance(node, ast.Starred):
                args.extend(value_of(node.value))
            else:
                args.append(value_of(node))
        kwargs = {keyword.arg: value_of(keyword.value) for keyword in tree.keywords if keyword.arg}
    except Exception as error:
        return Verdict("invalid", path, str(error))
    return check_call(path, args, kwargs, world=world)
