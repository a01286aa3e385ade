"""einops: `rearrange`, `reduce`, `repeat`, `einsum`, `pack`, `unpack`, and its layers for torch.

What they do to layouts is what einops does to tensors (einops/einops.py, `_apply_recipe`): split dimensions, permute,
reduce, expand, and merge by `reshape`, which copies where the strides cannot express the merge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torchlayout.layouts import Dim, Layout, settle, the_rest, with_leading, with_rank, with_trailing
from torchlayout.ops.einops_patterns import DOTS, Axis, Side, compact, parse
from torchlayout.ops.modules import map_results, then
from torchlayout.ops.table import Args, find_function, find_method, op, select
from torchlayout.ops.values import UNKNOWN, Alias, Operand, Outcome, Result, Unknowable
from torchlayout.sizes import NO, YES, Extent, Facts, Poly, Rest, Shape, Size, product

REDUCTIONS = {"min": "amin", "max": "amax", "sum": "sum", "mean": "mean", "prod": "prod", "any": "any", "all": "all"}
"""einops' reductions, and torch's name for each."""
ONE_AT_A_TIME = ("prod", "any", "all")


def method(name: str, operand: Operand, *args: Any, **kwargs: Any) -> Outcome:
    """What a method of the table gives, of tensors or arrays as the operand is one."""
    facts = kwargs.pop("facts")
    found = select(find_method(name, operand.numpy), (operand, *args), kwargs)
    return UNKNOWN if found is None else found[0].apply(found[1], facts)


def lengths_of(pairs: Any, facts: Facts) -> dict[str, Size]:
    """The sizes given by keyword; those that are not known are left out."""
    return {name: facts.normal(size) for name, size in pairs if isinstance(size, (int, Poly))}


class Axes:
    """The dimensions of a tensor, cut into the axes of a pattern's left side."""

    def __init__(self, operand: Operand, left: Side, lengths: Mapping[str, Size], names: Any, facts: Facts) -> None:
        self.facts = facts
        self.lengths = lengths
        self.unread = {name for name, _ in names} - set(lengths)
        self.dims: dict[Axis, tuple[Dim, ...]] = {}
        layout = self._aligned(settle(operand.layout, facts), left)
        before = len(left.groups) if left.dots is None else left.dots
        after = max(len(left.groups) - before - 1, 0)
        dims = layout.dims
        for group, dim in zip(left.groups[:before], dims[:before], strict=True):
            self._cut(group, dim)
        if left.dots is not None:
            self.dims[DOTS] = dims[before : len(dims) - after]
            for group, dim in zip(left.groups[before + 1 :], dims[len(dims) - after :], strict=True):
                self._cut(group, dim)

    def _aligned(self, layout: Layout, left: Side) -> Layout:
        """The layout with as many dimensions known as the pattern names."""
        if left.dots is None:
            names = tuple(group[0].name if len(group) == 1 else None for group in left.groups)
            found = with_rank(layout, len(left.groups), self.facts, names)
        else:
            leading = with_leading(layout, left.dots, self.facts)
            found = leading and with_trailing(leading, len(left.groups) - left.dots - 1, self.facts)
            if found and the_rest(found) is None and len(found.dims) < len(left.groups) - 1:
                found = None
        if found is None:
            raise Unknowable("the pattern has another rank")
        return settle(found, self.facts)

    def _cut(self, group: Sequence[Axis], dim: Dim) -> None:
        """Split one dimension; its size then is the product of the axes', for einops has checked that."""
        if dim.rest is not None:
            raise Unknowable("a dimension that is not known")
        sizes = [self._length(axis) for axis in group]
        holes = [i for i, size in enumerate(sizes) if size is None]
        if len(holes) > 1 or any(group[i].name in self.unread for i in holes if len(group) > 1):
            raise Unknowable("a size that is not known")
        known = product(size for size in sizes if size is not None)
        if holes:
            sizes[holes[0]] = self.facts.quotient(dim.size, known)
        total = product(size for size in sizes if size is not None)
        if self.facts.learn_equal(dim.size, total) is NO:
            raise Unknowable("the pattern's sizes do not fit")
        stride = dim.stride
        for axis, size in zip(reversed(group), reversed(sizes), strict=True):
            assert size is not None
            self.dims[axis] = (Dim(size, stride),)
            stride = None if stride is None else stride * size

    def _length(self, axis: Axis) -> Size | None:
        return self.lengths.get(axis.name) if axis.length is None else axis.length

    def of(self, axis: Axis) -> tuple[Dim, ...]:
        return self.dims[axis]

    def added(self, axis: Axis) -> Dim:
        """An axis that `repeat` adds: expanded."""
        size = self._length(axis)
        if size is None:
            raise Unknowable(f"the size of {axis.name} is not known")
        return Dim(size, 0)


def transformed(
    operand: Operand, pattern: str, operation: str, pairs: Any, facts: Facts, reduction: str | None = None
) -> Outcome:
    """What einops makes of a tensor."""
    left, right = parse(pattern, operation)
    axes = Axes(operand, left, lengths_of(pairs, facts), pairs, facts)
    kept = [axis for axis in right.axes if axis in axes.dims]
    reduced = [axis for axis in left.axes if axis not in right.axes]
    layout = Layout(tuple(dim for axis in (*kept, *reduced) for dim in axes.of(axis)), operand.layout.offset)
    view: Outcome = Result(layout, operand.dtype, YES, operand.numpy)
    count = sum(len(axes.of(axis)) for axis in reduced)
    if count:
        if reduction not in REDUCTIONS or any(dim.rest for axis in reduced for dim in axes.of(axis)):
            return UNKNOWN
        view = then(view, lambda x: unshared(_reduced(x, str(reduction), count, facts)))
    added = [axis for axis in right.axes if axis not in axes.dims]
    if added:
        view = map_results(view, lambda result: _expanded(result, axes, right))
    if all(
        len(group) == 1 and (group[0] is not DOTS or place == right.dots) for place, group in enumerate(right.groups)
    ):
        return view
    merged = _merged_shape(axes, right)
    return map_results(view, lambda result: _merged(result, merged, facts))


def _merged_shape(axes: Axes, right: Side) -> Shape:
    """A dimension for each group; `...` outside of brackets keeps its own."""
    shape: list[Extent] = []
    for place, group in enumerate(right.groups):
        extents = [
            dim.extent for axis in group for dim in (axes.dims[axis] if axis in axes.dims else [axes.added(axis)])
        ]
        shape += extents if place == right.dots else [product(map(_size, extents))]
    return tuple(shape)


def _size(extent: Extent) -> Size:
    return extent.numel if isinstance(extent, Rest) else extent


def unshared(outcome: Outcome) -> Outcome:
    return map_results(outcome, lambda result: Result(result.layout, result.dtype, NO, result.numpy))


def _reduced(operand: Operand, reduction: str, count: int, facts: Facts) -> Outcome:
    """Reduce the last dimensions."""
    name = reduction if operand.numpy else REDUCTIONS[reduction]
    if reduction not in ONE_AT_A_TIME or operand.numpy:
        axes = tuple(range(-count, 0))
        return method(name, operand, facts=facts, **{"axis" if operand.numpy else "dim": axes})
    outcome: Outcome = Result(operand.layout, operand.dtype)
    for _ in range(count):
        outcome = then(outcome, lambda x: method(name, x, facts=facts, dim=-1))
    return outcome


def _expanded(result: Result, axes: Axes, right: Side) -> Result:
    """The result with the axes that `repeat` adds, of stride 0."""
    left = list(result.layout.dims)
    dims: list[Dim] = []
    for axis in right.axes:
        if axis in axes.dims:
            count = len(axes.of(axis))
            dims, left = [*dims, *left[:count]], left[count:]
        else:
            dims.append(axes.added(axis))
    return Result(result.layout.replace(dims), result.dtype, result.shares, result.numpy)


def _merged(result: Result, shape: Shape, facts: Facts) -> Outcome:
    """The last step, a `reshape`."""
    operand = Operand(result.layout, result.dtype, result.numpy)
    shares = result.shares

    def from_input(merged: Result) -> Result:
        return Result(merged.layout, merged.dtype, merged.shares & shares, merged.numpy)

    return map_results(method("reshape", operand, shape, facts=facts), from_input)


# ---------------------------------------------------------------- functions
def _row(args: Args, operation: str, reduction: str | None = None) -> Outcome:
    pattern = args.known("pattern")
    value = args.known("tensor")
    pairs = args["axes_lengths"]
    if isinstance(value, tuple):
        items = args.operands("tensor")
        if not items or items[0].numpy:
            return UNKNOWN
        stacked = called("torch.stack", args.facts, items)
        return then(stacked, lambda x: unshared(transformed(x, pattern, operation, pairs, args.facts, reduction)))
    outcome = transformed(args.operand("tensor"), pattern, operation, pairs, args.facts, reduction)
    return map_results(outcome, of_tensor)


def of_tensor(result: Result) -> Result:
    return Result(result.layout, result.dtype, result.shares, result.numpy, of="tensor")


def called(path: str, facts: Facts, *args: Any) -> Outcome:
    found = select(find_function(path), args, {})
    return UNKNOWN if found is None else found[0].apply(found[1], facts)


def rearranged(args: Args) -> Outcome:
    """dimensions split, permuted and merged; a copy only where a merge asks for one"""
    return _row(args, "rearrange")


def repeated(args: Args) -> Outcome:
    """as rearrange, the new axes expanded (stride 0); a copy where they are merged"""
    return _row(args, "repeat")


def reduced(args: Args) -> Outcome:
    """dimensions split and permuted, then as the reduction gives, then merged"""
    reduction = args.known("reduction")
    return _row(args, "reduce", reduction if isinstance(reduction, str) else None)


def summed(args: Args) -> Outcome:
    """as torch.einsum"""
    *operands, pattern = args.known("tensors_and_pattern")
    if not isinstance(pattern, str) or not operands or not all(isinstance(x, Operand) for x in operands):
        return UNKNOWN
    if operands[0].numpy:
        return UNKNOWN
    return called("torch.einsum", args.facts, compact(pattern), *operands)


def parsed_shape(args: Args) -> Outcome:
    """a dict of sizes by axis name"""
    names = args.known("pattern").split()
    layout = with_rank(args.layout("x"), len(names), args.facts)
    if layout is None or "..." in names:
        return UNKNOWN
    return {name: size for name, size in zip(names, layout.sizes, strict=True) if name != "_"}


def to_numpy(args: Args) -> Outcome:
    """an array with the tensor's strides"""
    operand = args.operand("tensor")
    return Result(args.layout("tensor"), operand.dtype, YES, numpy=True, of="tensor")


def path(name: str) -> tuple[str, ...]:
    return (f"einops.{name}", f"einops.einops.{name}", f"einops.array_api.{name}")


MAYBE_VIEW, FRESH, VIEW = Alias.MAYBE_VIEW, Alias.FRESH, Alias.VIEW
MERGES = "a merge of dimensions whose sizes or strides are not known may copy or not"

# fmt: off
op("rearrange(Tensor tensor, str pattern, **int axes_lengths) -> Tensor(a)", alias=MAYBE_VIEW, layout=rearranged, example="einops.rearrange(x, 'a b -> b a')", spellings=path("rearrange"), unknown=MERGES, path_only=True)
op("rearrange.list(Tensor[] tensor, str pattern, **int axes_lengths) -> Tensor", alias=FRESH, layout=rearranged, example="einops.rearrange([x, x], 'n a b -> a n b')", spellings=path("rearrange"), unknown=MERGES, path_only=True)
op("reduce(Tensor tensor, str pattern, Any reduction, **int axes_lengths) -> Tensor", alias=MAYBE_VIEW, layout=reduced, example="einops.reduce(x, 'a b -> b', 'sum')", spellings=path("reduce"), unknown="the reduction is a function of its own", path_only=True)
op("reduce.list(Tensor[] tensor, str pattern, Any reduction, **int axes_lengths) -> Tensor", alias=FRESH, layout=reduced, example="einops.reduce([x, x], 'n a b -> b a', 'sum')", spellings=path("reduce"), unknown="the reduction is a function of its own", path_only=True)
op("repeat(Tensor tensor, str pattern, **int axes_lengths) -> Tensor(a)", alias=MAYBE_VIEW, layout=repeated, example="einops.repeat(x, 'a b -> a b c', c=2)", spellings=path("repeat"), unknown=MERGES, path_only=True)
op("repeat.list(Tensor[] tensor, str pattern, **int axes_lengths) -> Tensor", alias=FRESH, layout=repeated, example="einops.repeat([x, x], 'n a b -> n a b c', c=2)", spellings=path("repeat"), unknown=MERGES, path_only=True)
op("einsum(Any[] tensors_and_pattern) -> Tensor", alias=MAYBE_VIEW, layout=summed, example="einops.einsum(x, x, 'a b, a b -> a')", spellings=("einops.einsum", "einops.einops.einsum"), unknown="as torch.einsum", path_only=True)
op("parse_shape(Tensor x, str pattern) -> Any", alias=FRESH, layout=parsed_shape, example="einops.parse_shape(x, 'a b')", spellings=("einops.parse_shape", "einops.einops.parse_shape"), path_only=True, unknown="the pattern has an ellipsis")
op("asnumpy(Tensor tensor) -> Any", alias=VIEW, layout=to_numpy, example="einops.asnumpy(x)", spellings=("einops.asnumpy", "einops.einops.asnumpy", "einops.array_api.asnumpy"), path_only=True)

# fmt: on
