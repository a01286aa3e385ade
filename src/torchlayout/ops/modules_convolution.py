"""Convolutions and transposed convolutions, and their lazy forms.

Weights that `.to(memory_format=torch.channels_last)` converted make the result channels_last whatever came in; the
proven world therefore takes no weight to be as it was constructed (`modules.parameter`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torchlayout.layouts import contiguous, unknown_strides
from torchlayout.ops.modules import MEMORY_FORMAT, Config, Forward, Perhaps, Transfer, module, then
from torchlayout.ops.values import UNKNOWN, Operand, Outcome, Unknowable, is_unknown
from torchlayout.sizes import Shape


def weights(count: int, transposed: bool) -> Callable[[Config], Mapping[str, Shape | Perhaps | None]]:
    """The parameters of a convolution over `count` dimensions."""

    def sizes(config: Config) -> Mapping[str, Shape | Perhaps | None]:
        inputs, outputs, groups = config.size("in_channels"), config.size("out_channels"), config.size("groups")
        kernel = tuple(config.facts.normal(size) for size in config.spread("kernel_size", count))
        first, second = (inputs, outputs) if transposed else (outputs, inputs)
        weight = (first, config.facts.quotient(second, groups), *kernel)
        return {"weight": weight, "bias": bias(config)}

    return sizes


def bias(config: Config) -> Shape | Perhaps | None:
    return config.having("bias", (config.size("out_channels"),))


def lazy_weights(config: Config) -> Mapping[str, Shape | Perhaps | None]:
    return {"bias": bias(config)}


def attributes(count: int) -> Callable[[Config, str], Outcome]:
    """The constructor turns single ints into tuples."""

    def derived(config: Config, name: str) -> Outcome:
        if name in ("kernel_size", "stride", "padding", "dilation", "output_padding"):
            value = config[name]
            return value if isinstance(value, str) or is_unknown(value) else config.spread(name, count)
        return UNKNOWN

    return derived


def channels(call: Forward, count: int) -> Operand:
    """The weight, once the input's channels are known to be those that it was made for.

    With a batch dimension or without one, they stand in the same place from the end.
    """
    layout = call.reaching(call.layout(), -count - 1)
    if layout.rank not in (None, count + 1, count + 2):
        raise Unknowable("the input has another rank")
    found = layout.sizes[-count - 1]
    config = call.config
    if call.row.name.startswith("Lazy"):
        values: Mapping[str, Any] = {**config.values, "in_channels": found}
        shape = weights(count, "Transpose" in call.row.name)(Config(values, call.facts))["weight"]
        assert isinstance(shape, tuple)
        known = count == 1 or (call.facts.assumed and config.values.get(MEMORY_FORMAT) is None)
        return Operand(contiguous(shape) if known else unknown_strides(shape))
    call.equate(found, config["in_channels"])
    weight = call.parameter("weight")
    assert weight is not None
    return weight


def convolved(count: int) -> Transfer:
    """The forward of `ConvNd`."""

    def forward(call: Forward) -> Outcome:
        config = call.config
        weight, function = channels(call, count), f"conv{count}d"
        options: dict[str, Any] = {name: config.spread(name, count) for name in ("stride", "dilation")}
        options["groups"] = config["groups"]
        padding, mode = config.known("padding"), config.known("padding_mode")
        if mode == "zeros":
            options["padding"] = padding if isinstance(padding, str) else config.spread("padding", count)
            return call.function(function, call["self"], weight, call.parameter("bias"), **options)
        padded = call.function("pad", call["self"], around(config, count), mode=mode)
        return then(padded, lambda x: call.function(function, x, weight, call.parameter("bias"), **options))

    forward.__doc__ = f"as torch.nn.functional.conv{count}d"
    return forward


def around(config: Config, count: int) -> tuple[Any, ...]:
    """The padding as `F.pad` wants it: both sides of each dimension, the last one first."""
    padding = config.known("padding")
    if padding == "valid":
        return (0,) * (2 * count)
    if padding != "same":
        return tuple(size for size in reversed(config.spread("padding", count)) for _ in range(2))
    sides: list[Any] = []
    for dilation, kernel in zip(config.spread("dilation", count), config.spread("kernel_size", count), strict=True):
        total = dilation * (kernel - 1)
        left = config.facts.floor_divide(total, 2)
        sides[:0] = [left, total - left]
    return tuple(sides)


def transposed(count: int) -> Transfer:
    """The forward of `ConvTransposeNd`."""

    def forward(call: Forward) -> Outcome:
        config = call.config
        weight = channels(call, count)
        options = {name: config.spread(name, count) for name in ("stride", "padding", "dilation")}
        output = call["output_size"]
        if output is None:
            options["output_padding"] = config.spread("output_padding", count)
        else:
            options["output_padding"] = missing(call, count, options)
        return call.function(
            f"conv_transpose{count}d", call["self"], weight, call.parameter("bias"), groups=config["groups"], **options
        )

    forward.__doc__ = f"as torch.nn.functional.conv_transpose{count}d"
    return forward


def missing(call: Forward, count: int, options: Mapping[str, tuple[Any, ...]]) -> tuple[Any, ...]:
    """The output padding that reaches `output_size` (`_output_padding` in torch/nn/modules/conv.py)."""
    wanted, sizes = call.shape("output_size")[-count:], call.layout().sizes[-count:]
    kernel = call.config.spread("kernel_size", count)
    result: list[Any] = []
    for i in range(count):
        stride, padding, dilation = options["stride"][i], options["padding"][i], options["dilation"][i]
        least = (sizes[i] - 1) * stride - 2 * padding + dilation * (kernel[i] - 1) + 1
        result.append(call.facts.normal(wanted[i] - least))
    return tuple(result)


def add(name: str, middle: str, count: int) -> None:
    """The row of one class."""
    flipped = "Transpose" in name
    options = (
        "Any stride=1, Any padding=0, Any output_padding=0, int groups=1, bool bias=True, Any dilation=1"
        if flipped
        else "Any stride=1, Any padding=0, Any dilation=1, int groups=1, bool bias=True"
    )
    module(
        f"{name}({middle}int out_channels, Any kernel_size, {options}, str padding_mode='zeros', "
        "Device? device=None, ScalarType? dtype=None) -> None",
        (transposed if flipped else convolved)(count),
        takes="Tensor self, int[]? output_size=None" if flipped else "Tensor self",
        parameters=weights(count, flipped) if middle else lazy_weights,
        derived=attributes(count),
        words="channels_last where the input or the weight is; else packed" if count > 1 else "",
    )


for _count in (1, 2, 3):
    for _name in (f"Conv{_count}d", f"ConvTranspose{_count}d"):
        add(_name, "int in_channels, ", _count)
        add(f"Lazy{_name}", "", _count)
