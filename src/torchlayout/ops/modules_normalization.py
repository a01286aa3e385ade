"""Normalizations: batch, instance, group, layer, RMS, local response."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torchlayout.layouts import contiguous, with_trailing
from torchlayout.ops.formats import image
from torchlayout.ops.modules import Config, Forward, Parameters, Perhaps, Transfer, by, fresh, module, then
from torchlayout.ops.values import UNKNOWN, Outcome, Result, Unknowable
from torchlayout.sizes import Shape

TAIL = "Device? device=None, ScalarType? dtype=None"


def beside(weight: Shape | Perhaps | None, bias: Shape | Perhaps | None) -> Shape | Perhaps | None:
    """The bias of a layer that has none without a weight."""
    if weight is None or bias is None:
        return None
    return weight if isinstance(weight, Perhaps) else bias


def per_channel(count_name: str) -> Parameters:
    """Parameters of one number for each channel, and the running statistics."""

    def sizes(config: Config) -> Mapping[str, Shape | Perhaps | None]:
        shape = (config.size(count_name),)
        weight = config.having("affine", shape)
        found = {"weight": weight, "bias": beside(weight, config.having("bias", shape))}
        if count_name == "num_features":
            found.update(dict.fromkeys(("running_mean", "running_var"), config.having("track_running_stats", shape)))
            found["num_batches_tracked"] = config.having("track_running_stats", ())
        return found

    return sizes


def channels(call: Forward, ranks: tuple[int, ...]) -> None:
    """Learn the input's rank, where only one will do, and its number of channels."""
    layout = call.layout()
    if layout.rank is None and len(ranks) == 1:
        layout = call.ranked(rank=ranks[0])
    elif layout.rank is None:
        return
    elif ranks and layout.rank not in ranks:
        raise Unknowable("the input has another rank")
    call.equate(layout.sizes[1], call.config["num_features"])


def batch_norm(*ranks: int) -> Transfer:
    """The forward of `BatchNormNd`: the input has one of these ranks (any from 2 where none is given)."""

    def forward(call: Forward) -> Outcome:
        """as torch.nn.functional.batch_norm"""
        channels(call, ranks)
        mean, variance = call.parameter("running_mean"), call.parameter("running_var")
        training = UNKNOWN if mean is not None else True
        weight, bias = call.parameter("weight"), call.parameter("bias")
        return call.function("batch_norm", call["self"], mean, variance, weight, bias, training)

    forward.__doc__ = "as torch.nn.functional.batch_norm"
    return forward


def lazy_batch_norm(*ranks: int) -> Transfer:
    """The forward of `LazyBatchNormNd`, whose parameters take their size from the first input."""

    def forward(call: Forward) -> Outcome:
        channels(call, ranks)
        return call.function("batch_norm", call["self"], None, None, None, None, True)

    forward.__doc__ = "as torch.nn.functional.batch_norm"
    return forward


def instance_norm(count: int) -> Transfer:
    """The forward of `InstanceNormNd`: a batch, or a single one without its dimension."""

    def forward(call: Forward) -> Outcome:
        layout = image(call, count)
        if len(layout.dims) == count + 1:
            batch = call.method("unsqueeze", call["self"], 0)
            normalized = then(batch, lambda x: call.function("instance_norm", x))
            return then(normalized, lambda x: fresh(call.method("squeeze", x, 0)))
        if call.config.values.get("affine") is True:
            call.equate(layout.sizes[1], call.config["num_features"])
        return call.function("instance_norm", call["self"])

    forward.__doc__ = "as torch.nn.functional.instance_norm"
    return forward


def group_norm(call: Forward) -> Outcome:
    """as torch.nn.functional.group_norm"""
    layout = call.layout()
    if layout.rank is not None and layout.rank > 1:
        call.equate(layout.sizes[1], call.config["num_channels"])
    return call.function(
        "group_norm", call["self"], call.config["num_groups"], call.parameter("weight"), call.parameter("bias")
    )


def normalized_shape(config: Config) -> Shape:
    return config.shape("normalized_shape")


def trailing_weights(config: Config) -> Mapping[str, Shape | Perhaps | None]:
    """Parameters of the shape that is normalized."""
    shape = normalized_shape(config)
    weight = config.having("elementwise_affine", shape)
    bias = config.having("bias", shape) if "bias" in config.values else None
    return {"weight": weight, "bias": beside(weight, bias)}


def over_trailing(function: str) -> Transfer:
    """The forward of a normalization over the last dimensions, whose sizes the constructor was given."""

    def forward(call: Forward) -> Outcome:
        shape = normalized_shape(call.config)
        layout = with_trailing(call.layout(), len(shape), call.facts)
        if layout is None:
            raise Unknowable("the input has too few dimensions")
        for size, expected in zip(layout.sizes[-len(shape) :], shape, strict=True):
            call.equate(size, expected)
        return call.function(function, call["self"], shape)

    forward.__doc__ = f"as torch.nn.functional.{function}"
    return forward


def trailing_attributes(config: Config, name: str) -> Outcome:
    return normalized_shape(config) if name == "normalized_shape" else UNKNOWN


def cross_map(call: Forward) -> Outcome:
    """packed"""
    return Result(contiguous(call.ranked(rank=4).shape), call.operand().dtype)


BATCH = "int num_features, float eps=1e-05, float? momentum=0.1, bool affine=True, bool track_running_stats=True"
INSTANCE = "int num_features, float eps=1e-05, float momentum=0.1, bool affine=False, bool track_running_stats=False"
_BATCH_RANKS: Mapping[int, tuple[int, ...]] = {1: (2, 3), 2: (4,), 3: (5,)}


def lazy(schema: str) -> str:
    """Without the argument that a lazy module takes from its first input."""
    return schema.replace("int num_features, ", "")


def _add(count: int) -> None:
    ranks = _BATCH_RANKS[count]
    affine: Callable[[Config], Mapping[str, Shape | Perhaps | None]] = per_channel("num_features")
    module(f"BatchNorm{count}d({BATCH}, {TAIL}, *, bool bias=True) -> None", batch_norm(*ranks), parameters=affine)
    module(f"LazyBatchNorm{count}d({lazy(BATCH)}, {TAIL}, *, bool bias=True) -> None", lazy_batch_norm(*ranks))
    normalized = instance_norm(count)
    module(f"InstanceNorm{count}d({INSTANCE}, {TAIL}, *, bool bias=True) -> None", normalized, parameters=affine)
    module(f"LazyInstanceNorm{count}d({lazy(INSTANCE)}, {TAIL}, *, bool bias=True) -> None", normalized)


for _count in (1, 2, 3):
    _add(_count)

# fmt: off
module(f"SyncBatchNorm({BATCH}, Any? process_group=None, {TAIL}, *, bool bias=True) -> None", batch_norm(), parameters=per_channel("num_features"))
module(f"GroupNorm(int num_groups, int num_channels, float eps=1e-05, bool affine=True, {TAIL}, *, bool bias=True) -> None", group_norm, parameters=per_channel("num_channels"))
module(f"LayerNorm(int[] normalized_shape, float eps=1e-05, bool elementwise_affine=True, bool bias=True, {TAIL}) -> None", over_trailing("layer_norm"), parameters=trailing_weights, derived=trailing_attributes)
module(f"RMSNorm(int[] normalized_shape, float? eps=None, bool elementwise_affine=True, {TAIL}) -> None", over_trailing("rms_norm"), parameters=trailing_weights, derived=trailing_attributes)
module("LocalResponseNorm(int size, float alpha=0.0001, float beta=0.75, float k=1.0) -> None", by("local_response_norm", "size", "alpha", "beta", "k"))
module("CrossMapLRN2d(int size, float alpha=0.0001, float beta=0.75, float k=1) -> None", cross_map)
# fmt: on
