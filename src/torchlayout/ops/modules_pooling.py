"""Poolings, their inverses, and their adaptive forms."""

from __future__ import annotations

from torchlayout.ops.modules import Forward, Transfer, by, module
from torchlayout.ops.values import Outcome

INDICES = "Tensor self, Tensor indices, int[]? output_size=None"
MAX = ("kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode")
AVERAGE = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad")


def unpooled(count: int) -> Transfer:
    """The forward of `MaxUnpoolNd`."""

    def forward(call: Forward) -> Outcome:
        options = {name: call.config[name] for name in ("kernel_size", "stride", "padding")}
        return call.function(
            f"max_unpool{count}d", call["self"], call["indices"], output_size=call["output_size"], **options
        )

    forward.__doc__ = f"as torch.nn.functional.max_unpool{count}d"
    return forward


def fractional(count: int) -> Transfer:
    """The forward of `FractionalMaxPoolNd`."""
    return by(f"fractional_max_pool{count}d", "kernel_size", "output_size", "output_ratio", "return_indices")


# fmt: off
for _n in (1, 2, 3):
    _divisor = "" if _n == 1 else ", int? divisor_override=None"
    module(f"MaxPool{_n}d(Any kernel_size, Any? stride=None, Any padding=0, Any dilation=1, bool return_indices=False, bool ceil_mode=False) -> None", by(f"max_pool{_n}d", *MAX))
    module(f"AvgPool{_n}d(Any kernel_size, Any? stride=None, Any padding=0, bool ceil_mode=False, bool count_include_pad=True{_divisor}) -> None", by(f"avg_pool{_n}d", *AVERAGE, *(() if _n == 1 else ("divisor_override",))))
    module(f"LPPool{_n}d(float norm_type, Any kernel_size, Any? stride=None, bool ceil_mode=False) -> None", by(f"lp_pool{_n}d", "norm_type", "kernel_size", "stride", "ceil_mode"))
    module(f"AdaptiveAvgPool{_n}d(Any output_size) -> None", by(f"adaptive_avg_pool{_n}d", "output_size"))
    module(f"AdaptiveMaxPool{_n}d(Any output_size, bool return_indices=False) -> None", by(f"adaptive_max_pool{_n}d", "output_size", "return_indices"))
    module(f"MaxUnpool{_n}d(Any kernel_size, Any? stride=None, Any padding=0) -> None", unpooled(_n), takes=INDICES)
for _n in (2, 3):
    module(f"FractionalMaxPool{_n}d(Any kernel_size, Any? output_size=None, Any? output_ratio=None, bool return_indices=False, Any? _random_samples=None) -> None", fractional(_n))
# fmt: on
