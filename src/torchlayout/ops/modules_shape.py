"""Modules that only move elements: Flatten, Unflatten, pixel and channel shuffles, Fold, padding, Upsample."""

from __future__ import annotations

from torchlayout.ops.modules import Forward, by, module
from torchlayout.ops.values import Outcome, Unknowable


def flattened(call: Forward) -> Outcome:
    """as `Tensor.flatten`"""
    return call.method("flatten", call["self"], call.config["start_dim"], call.config["end_dim"])


def unflattened(call: Forward) -> Outcome:
    """as `Tensor.unflatten`"""
    return call.method("unflatten", call["self"], call.config["dim"], call.config["unflattened_size"])


def padded(mode: str, count: int, value: bool = False) -> None:
    """The row of one padding module."""

    def forward(call: Forward) -> Outcome:
        padding = call.config.spread("padding", 2 * count)
        if mode == "constant":
            return call.function("pad", call["self"], padding, mode, call.config["value"] if value else 0)
        return call.function("pad", call["self"], padding, mode)

    forward.__doc__ = "as torch.nn.functional.pad"
    name = {"constant": "Constant" if value else "Zero", "reflect": "Reflection", "replicate": "Replication"}
    prefix = name.get(mode, "Circular")
    module(f"{prefix}Pad{count}d(Any padding{', float value' if value else ''}) -> None", forward)


def nearest(call: Forward) -> Outcome:
    """as torch.nn.functional.interpolate"""
    return interpolated(call, "nearest", None)


def bilinear(call: Forward) -> Outcome:
    """as torch.nn.functional.interpolate"""
    return interpolated(call, "bilinear", True)


def interpolated(call: Forward, mode: str, align_corners: bool | None) -> Outcome:
    if call.config["size"] is None and call.config["scale_factor"] is None:
        raise Unknowable("either size or scale_factor must be given")
    return call.function(
        "interpolate",
        call["self"],
        size=call.config["size"],
        scale_factor=call.config["scale_factor"],
        mode=mode,
        align_corners=align_corners,
    )


# fmt: off
module("Flatten(int start_dim=1, int end_dim=-1) -> None", flattened)
module("Unflatten(Any dim, Any unflattened_size) -> None", unflattened)
module("PixelShuffle(int upscale_factor) -> None", by("pixel_shuffle", "upscale_factor"))
module("PixelUnshuffle(int downscale_factor) -> None", by("pixel_unshuffle", "downscale_factor"))
module("ChannelShuffle(int groups) -> None", by("channel_shuffle", "groups"))
module("Fold(Any output_size, Any kernel_size, Any dilation=1, Any padding=0, Any stride=1) -> None", by("fold", "output_size", "kernel_size", "dilation", "padding", "stride"))
module("Unfold(Any kernel_size, Any dilation=1, Any padding=0, Any stride=1) -> None", by("unfold", "kernel_size", "dilation", "padding", "stride"))
module("Upsample(Any? size=None, Any? scale_factor=None, str mode='nearest', bool? align_corners=None, bool? recompute_scale_factor=None) -> None", by("interpolate", "size", "scale_factor", "mode", "align_corners", "recompute_scale_factor"))
module("UpsamplingNearest2d(Any? size=None, Any? scale_factor=None) -> None", nearest)
module("UpsamplingBilinear2d(Any? size=None, Any? scale_factor=None) -> None", bilinear)
for _count in (1, 2, 3):
    padded("constant", _count)
    padded("constant", _count, value=True)
    padded("reflect", _count)
    padded("replicate", _count)
    padded("circular", _count)
# fmt: on
