"""einops' `pack` and `unpack`, and its layers for torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torchlayout.layouts import settle, with_rank
from torchlayout.ops.einops_patterns import Side, compact, parse_packing, parse_side
from torchlayout.ops.einops_rows import FRESH, MAYBE_VIEW, called, lengths_of, method, of_tensor, transformed, unshared
from torchlayout.ops.modules import Config, Forward, map_results, module, then
from torchlayout.ops.table import Args, op
from torchlayout.ops.values import UNKNOWN, Operand, Outcome, Result, Unknowable
from torchlayout.sizes import Poly, Shape, Size, product


def packed(args: Args) -> Outcome:
    """each reshaped to one packed axis, then as torch.cat; and the packed shapes"""
    before, after = parse_packing(args.known("pattern"))
    facts = args.facts
    flat: list[Operand] = []
    shapes: list[Shape] = []
    for operand in args.operands("tensors"):
        layout = settle(operand.layout, facts)
        if operand.numpy or layout.rank is None or layout.rank < before + after:
            return UNKNOWN
        end = layout.rank - after
        shapes.append(layout.shape[before:end])
        wanted = (*layout.shape[:before], product(layout.sizes[before:end]), *layout.shape[end:])
        reshaped = method("reshape", operand, wanted, facts=facts)
        if not isinstance(reshaped, Result):
            return UNKNOWN
        flat.append(Operand(reshaped.layout, reshaped.dtype))
    return unshared(called("torch.cat", facts, tuple(flat), before)), tuple(shapes)


def unpacked(args: Args) -> Outcome:
    """narrowed along the packed axis, each reshaped"""
    before, after = parse_packing(args.known("pattern"))
    facts = args.facts
    operand = args.operand("tensor")
    layout = with_rank(args.layout("tensor"), before + 1 + after, facts)
    if layout is None or operand.numpy:
        return UNKNOWN
    shapes = [_sizes(shape) for shape in args.known("packed_shapes")]
    lengths = _lengths(shapes, layout.sizes[before])
    outcomes: list[Outcome] = []
    start: Size = 0
    for shape, length in zip(shapes, lengths, strict=True):
        piece = method("narrow", Operand(layout, operand.dtype), before, start, length, facts=facts)
        wanted = (*layout.shape[:before], *shape, *layout.shape[before + 1 :])
        reshaped = then(piece, lambda x, wanted=wanted: method("reshape", x, wanted, facts=facts))  # type: ignore[misc]
        outcomes.append(map_results(reshaped, of_tensor))
        start = start + length
    return tuple(outcomes)


def _sizes(shape: Any) -> tuple[Size, ...]:
    if not isinstance(shape, (tuple, list)) or not all(isinstance(size, (int, Poly)) for size in shape):
        raise Unknowable("the packed shapes are not known")
    return tuple(shape)


def _lengths(shapes: Sequence[tuple[Size, ...]], total: Size) -> list[Size]:
    """How long each piece is; one shape may hold a -1."""
    lengths: list[Size] = [-1 if -1 in shape else product(shape) for shape in shapes]
    holes = [i for i, length in enumerate(lengths) if length == -1]
    if len(holes) > 1:
        raise Unknowable("two shapes with a -1")
    if holes:
        lengths[holes[0]] = total - sum((length for length in lengths if length != -1), 0)
    return lengths


# ---------------------------------------------------------------- layers
def rearrange_layer(call: Forward) -> Outcome:
    """as einops.rearrange"""
    return transformed(
        call.operand(), call.config.known("pattern"), "rearrange", call.config["axes_lengths"], call.facts
    )


def reduce_layer(call: Forward) -> Outcome:
    """as einops.reduce"""
    config = call.config
    reduction = config.known("reduction")
    name = reduction if isinstance(reduction, str) else None
    return transformed(call.operand(), config.known("pattern"), "reduce", config["axes_lengths"], call.facts, name)


def mixed_weights(config: Config) -> Mapping[str, Shape | None]:
    """The weight, in its own axes' order; the bias, broadcast to the output's axes."""
    lengths = dict(config.known("axes_lengths"))
    weight = parse_side(config.known("weight_shape")).axes
    shape = tuple(lengths.get(axis.name, UNKNOWN) for axis in weight)
    if any(not isinstance(size, (int, Poly)) for size in shape):
        raise Unknowable("a size that is not known")
    return {"weight": shape}


def mixed(call: Forward) -> Outcome:
    """as torch.einsum between two einops.rearrange"""
    config = call.config
    left, right = (parse_side(text) for text in config.known("pattern").split("->"))
    weight = parse_side(config.known("weight_shape"))
    pairs = config["axes_lengths"]
    lengths = lengths_of(pairs, call.facts)
    flat = " ".join(axis.name for axis in left.axes)
    outcome: Outcome = transformed(call.operand(), _splitting(left), "rearrange", _given(left, lengths), call.facts)
    inside = " ".join(axis.name for axis in weight.axes)
    outside = " ".join(axis.name for axis in right.axes)
    equation = compact(f"{flat}, {inside} -> {outside}")
    found = call.parameter("weight")
    outcome = unshared(then(outcome, lambda x: called("torch.einsum", call.facts, equation, x, found)))
    if all(len(group) == 1 for group in right.groups):
        return outcome
    merging = f"{outside} -> {_written(right)}"
    return unshared(then(outcome, lambda x: transformed(x, merging, "rearrange", (), call.facts)))


def _written(side: Side) -> str:
    groups = [" ".join(axis.name for axis in group) for group in side.groups]
    return " ".join(text if len(group) == 1 else f"({text})" for text, group in zip(groups, side.groups, strict=True))


def _splitting(left: Side) -> str:
    return f"{_written(left)} -> {' '.join(axis.name for axis in left.axes)}"


def _given(side: Side, lengths: Mapping[str, Size]) -> tuple[tuple[str, Size], ...]:
    return tuple((axis.name, lengths[axis.name]) for axis in side.axes if axis.name in lengths)


# fmt: off
op("pack(Tensor[] tensors, str pattern) -> (Tensor, Any)", alias=FRESH, layout=packed, example="einops.pack([x, x], 'a *')", spellings=("einops.pack", "einops.packing.pack", "einops.array_api.pack"), unknown="the tensors' ranks are not known", path_only=True)
op("unpack(Tensor tensor, Any packed_shapes, str pattern) -> Tensor[]", alias=MAYBE_VIEW, layout=unpacked, example="einops.unpack(x, [(1,), (-1,)], 'a *')", spellings=("einops.unpack", "einops.packing.unpack", "einops.array_api.unpack"), unknown="the packed shapes are not known", path_only=True)
module("Rearrange(str pattern, **int axes_lengths) -> None", rearrange_layer, spellings=("einops.layers.torch.Rearrange",))
module("Reduce(str pattern, Any reduction, **int axes_lengths) -> None", reduce_layer, spellings=("einops.layers.torch.Reduce",))
module("EinMix(str pattern, str weight_shape, str? bias_shape=None, **int axes_lengths) -> None", mixed, parameters=mixed_weights, spellings=("einops.layers.torch.EinMix",), unknown="as torch.einsum")
# fmt: on
