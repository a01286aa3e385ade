"""Convolutions, transposed convolutions, and the windows they are made of (`F.unfold`, `F.fold`)."""

from __future__ import annotations

from torchlayout.layouts import (
    Layout,
    channels_last,
    contiguous,
    is_contiguous,
    suggests_channels_last,
    unknown_strides,
)
from torchlayout.ops.formats import as_images, batched, fresh_spatial, image, spread, unbatched
from torchlayout.ops.table import Args, Transfer, op
from torchlayout.ops.transfers import autocast, promoted, size_after
from torchlayout.ops.values import Alias, DType, Operand, Outcome, Result, Unknowable
from torchlayout.sizes import MAYBE, NO, YES, Size, Truth

FRESH = Alias.FRESH
FORMAT_UNKNOWN = "the weight's memory format may not be known; sizes of 1 may leave the input's open"


# ---------------------------------------------------------------- memory format
def weight_layout(args: Args, spatial: int) -> Layout | None:
    """The weight's layout, None where not even its rank is known."""
    weight = args["weight"]
    if not isinstance(weight, Operand) or args.layout("weight").rank is None:
        return None
    return args.ranked("weight", spatial + 2)


def wants_channels_last(args: Args, layout: Layout, weight: Layout | None, spatial: int) -> Truth:
    """Whether the result is channels_last: where the input or the weight is; float64 is packed on CUDA all the same.

    `determine_backend_memory_format` of ATen/native/Convolution.cpp. In the assumed world a weight of which nothing
    is known is contiguous, and a dtype that is not known is not float64. One spatial dimension is handled as two, of a
    contiguous input.
    """
    operands = [value for value in (args["self"], args["weight"]) if isinstance(value, Operand)]
    doubtful = (DType("float64"),) if args.facts.assumed else (None, DType("float64"))
    open_dtype = any(operand.dtype in doubtful and operand.device != "cpu" for operand in operands)
    if spatial == 1:
        packed = contiguous(layout.shape)
        layout = packed if None in layout.strides or args.facts.assumed else Layout(packed.dims)
    of_input = suggests_channels_last(
        as_images(batched(layout, spatial), spatial), args.facts, 2 if spatial == 1 else None
    )
    if weight is None:
        return of_input if args.facts.assumed else of_input | MAYBE
    of_weight = suggests_channels_last(as_images(weight, spatial), args.facts, 2 if spatial == 1 else None)
    if args.facts.assumed and of_weight is MAYBE:
        of_weight = NO
    answer = of_input | of_weight
    return answer & MAYBE if open_dtype else answer


def formatted(args: Args, layout: Layout, sizes: tuple[Size, ...], wants: Truth, spatial: int) -> Result:
    """The result of these sizes (batch first), channels_last or contiguous or not known; without a batch if the
    input has none."""
    dtype = autocast(promoted([args["self"], args["weight"]]))
    if wants is NO:
        whole = contiguous(sizes)
    elif wants is YES and spatial == 2:
        whole = channels_last(sizes)
    elif wants is YES and spatial == 1:
        wide = channels_last((*sizes[:-1], 1, sizes[-1])).dims
        whole = Layout((*wide[:2], wide[3]))
    else:
        whole = unknown_strides(sizes)
    return Result(unbatched(whole, layout), dtype)


# ---------------------------------------------------------------- transfer functions
def _convolution(spatial: int) -> Transfer:
    def transfer(args: Args) -> Outcome:
        """channels_last where the input or the weight is, else contiguous"""
        layout, weight = image(args, spatial), weight_layout(args, spatial)
        if weight is None:
            channels: Size = args.facts.symbols.fresh("channels")
            space = fresh_spatial(args, spatial)
        else:
            channels, space = weight.sizes[0], convolved_sizes(args, layout.sizes[-spatial:], weight.sizes[2:])
        sizes = (batched(layout, spatial).sizes[0], channels, *space)
        return formatted(args, layout, sizes, wants_channels_last(args, layout, weight, spatial), spatial)

    return transfer


def convolved_sizes(args: Args, sizes: tuple[Size, ...], kernel: tuple[Size, ...]) -> tuple[Size, ...]:
    """Spatial sizes after a convolution; unknown ones where an argument is not known."""
    count = len(sizes)
    if args["padding"] == "same":
        return sizes
    try:
        padding = (0,) * count if args["padding"] == "valid" else spread(args, "padding", count)
        windows = zip(
            sizes, kernel, spread(args, "stride", count), padding, spread(args, "dilation", count), strict=True
        )
        return tuple(size_after(args.facts, size, k, s, p, d) for size, k, s, p, d in windows)
    except Unknowable:
        return fresh_spatial(args, count)


def _transposed(spatial: int) -> Transfer:
    def transfer(args: Args) -> Outcome:
        """channels_last where the input or the weight is, else contiguous"""
        layout, weight = image(args, spatial), weight_layout(args, spatial)
        if weight is None:
            channels: Size = args.facts.symbols.fresh("channels")
            space = fresh_spatial(args, spatial)
        else:
            channels = weight.sizes[1] * args.size("groups")
            space = transposed_sizes(args, layout.sizes[-spatial:], weight.sizes[2:])
        sizes = (batched(layout, spatial).sizes[0], channels, *space)
        return formatted(args, layout, sizes, wants_channels_last(args, layout, weight, spatial), spatial)

    return transfer


def transposed_sizes(args: Args, sizes: tuple[Size, ...], kernel: tuple[Size, ...]) -> tuple[Size, ...]:
    count = len(sizes)
    try:
        names = ("stride", "padding", "output_padding", "dilation")
        stride, padding, extra, dilation = (spread(args, name, count) for name in names)
    except Unknowable:
        return fresh_spatial(args, count)
    return tuple(
        (sizes[i] - 1) * stride[i] - 2 * padding[i] + dilation[i] * (kernel[i] - 1) + extra[i] + 1 for i in range(count)
    )


def windows(args: Args) -> Outcome:
    """(N, channels times kernel, number of windows), packed"""
    layout = image(args, 2)
    kernel, stride = spread(args, "kernel_size", 2), spread(args, "stride", 2)
    padding, dilation = spread(args, "padding", 2), spread(args, "dilation", 2)
    count: Size = 1
    for i in range(2):
        count = count * size_after(args.facts, layout.sizes[i - 2], kernel[i], stride[i], padding[i], dilation[i])
    columns = layout.sizes[-3] * kernel[0] * kernel[1]
    return Result(contiguous((*layout.sizes[:-3], columns, count)), args.operand().dtype)


def folded(args: Args) -> Outcome:
    """(N, channels, the output size), packed"""
    layout = args.ranked() if args.layout().rank is not None else args.ranked(rank=3)
    if layout.rank not in (2, 3):
        raise Unknowable("fold takes two or three dimensions")
    kernel = spread(args, "kernel_size", 2)
    channels = args.facts.quotient(layout.sizes[-2], kernel[0] * kernel[1])
    return Result(contiguous((*layout.sizes[:-2], channels, *spread(args, "output_size", 2))), args.operand().dtype)


def conv_tbc(args: Args) -> Outcome:
    """(time, batch, channels), packed"""
    layout, weight = args.ranked("self", 3), args.ranked("weight", 3)
    if is_contiguous(layout, args.facts) is not YES:
        raise Unknowable("it takes views that may not exist")
    time = layout.sizes[0] + 2 * args.size("pad") - weight.sizes[0] + 1
    return Result(contiguous((time, layout.sizes[1], weight.sizes[2])))


# fmt: off
for _n in (1, 2, 3):
    _schema = f"conv{_n}d(Tensor self, Tensor weight, Tensor? bias=None, SymInt[{_n}] stride=1, SymInt[{_n}] padding=0, SymInt[{_n}] dilation=1, SymInt groups=1) -> Tensor"
    op(_schema, alias=FRESH, layout=_convolution(_n), example=f"F.conv{_n}d(x, torch.ones(4, x.size(1){', 2' * _n}))", unknown=FORMAT_UNKNOWN)
    op(_schema.replace(f"SymInt[{_n}] padding=0", "str padding='valid'").replace("d(", "d.padding(", 1), alias=FRESH, layout=_convolution(_n), example=f"F.conv{_n}d(x, torch.ones(4, x.size(1){', 3' * _n}), padding='same')", unknown=FORMAT_UNKNOWN)
    op(f"conv_transpose{_n}d.input(Tensor self, Tensor weight, Tensor? bias=None, SymInt[{_n}] stride=1, SymInt[{_n}] padding=0, SymInt[{_n}] output_padding=0, SymInt groups=1, SymInt[{_n}] dilation=1) -> Tensor", alias=FRESH, layout=_transposed(_n), example=f"F.conv_transpose{_n}d(x, torch.ones(x.size(1), 4{', 2' * _n}), stride=2)", unknown=FORMAT_UNKNOWN)
op("unfold(Tensor self, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1) -> Tensor", alias=FRESH, layout=windows, example="F.unfold(x, 2)", spellings=("torch.nn.functional.unfold",), path_only=True)
op("fold(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1) -> Tensor", alias=FRESH, layout=folded, example="F.fold(F.unfold(x, 2), x.shape[-2:], 2)")
op("conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor", alias=FRESH, layout=conv_tbc, example="F.conv_tbc(x, torch.ones(1, x.size(2), 4), torch.ones(4))")
# fmt: on
