"""Fourier transforms. The libraries behind them place results differently, so that strides are known only where all of
them agree: for tensors whose dimensions lie in memory in their own order, transformed along the last ones.

pocketfft packs. MKL and cuFFT sort the dimensions by their strides, those that are not transformed first, and pack them
in that order (`_exec_fft` of ATen/native/mkl/SpectralOps.cpp and ATen/native/cuda/SpectralOps.cpp).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from torchlayout.layouts import Dim, Layout, contiguous, is_contiguous, suggests_channels_last, unknown_strides
from torchlayout.ops.table import Args, Transfer, op
from torchlayout.ops.transfers import at_dim, elementwise_layout
from torchlayout.ops.values import Alias, Operand, Outcome, Result, Unknowable, is_unknown
from torchlayout.sizes import NO, YES, Extent, Facts, Size

FRESH = Alias.FRESH
LIBRARIES = "MKL, pocketfft and cuFFT place the results of other tensors and dimensions differently"
MOST_AT_ONCE = 3
"""Dimensions that cuFFT transforms in one go."""


# ---------------------------------------------------------------- sizes
def kept(size: Size, wanted: Size | None, args: Args) -> Size:
    return size if wanted is None else wanted


def halved(size: Size, wanted: Size | None, args: Args) -> Size:
    """Real input: half of the frequencies are enough."""
    return args.facts.floor_divide(kept(size, wanted, args), 2) + 1


def doubled(size: Size, wanted: Size | None, args: Args) -> Size:
    """Real output."""
    return 2 * (size - 1) if wanted is None else wanted


def lengths(args: Args, name: str, count: int) -> list[Size | None]:
    """The lengths asked for; None keeps the input's (-1 does too)."""
    value: Any = args[name]
    if value is None:
        return [None] * count
    items = value if isinstance(value, (tuple, list)) else (value,)
    if len(items) != count:
        raise Unknowable("as many lengths as dimensions are needed")
    fresh = [args.facts.symbols.fresh(("length", place)) for place in range(count)]
    return [
        None if item == -1 else fresh[i] if is_unknown(item) else args.facts.normal(item)
        for i, item in enumerate(items)
    ]


# ---------------------------------------------------------------- transforms
def _along(last: Any) -> Transfer:
    """One dimension, whose size `last` computes."""

    def transfer(args: Args) -> Outcome:
        """packed where the input's dimensions lie in order and the last one is transformed"""
        layout, place = at_dim(args, args.layout(), args.integer("dim"))
        if place < 0:
            raise Unknowable("no dimension to transform")
        (wanted,) = lengths(args, "n", 1)
        shape = (*layout.shape[:place], last(layout.sizes[place], wanted, args), *layout.shape[place + 1 :])
        return placed(args, layout, shape, place == len(shape) - 1)

    return transfer


def _over(last: Any, certain: bool = True) -> Transfer:
    """Several dimensions; `certain` False for those that no two libraries place alike."""

    def transfer(args: Args) -> Outcome:
        """packed where the input's dimensions lie in order and the last ones are transformed"""
        dims, wanted = transformed(args)
        layout = args.reaching(args.layout(), *dims)
        places = [dim % len(layout.dims) for dim in dims]
        shape = list(layout.shape)
        for i, place in enumerate(places):
            size = layout.sizes[place]
            shape[place] = (last if i == len(places) - 1 else kept)(size, wanted[i], args)
        trailing = places == list(range(len(shape) - len(places), len(shape)))
        # cuFFT transforms the two dimensions of a matrix of real numbers one after the other
        whole = last is kept or layout.rank is None or len(shape) > len(places) or len(places) == 1
        sure = trailing and whole and len(places) <= MOST_AT_ONCE and (certain or len(places) == 1)
        return placed(args, layout, tuple(shape), sure)

    return transfer


def transformed(args: Args) -> tuple[tuple[int, ...], list[Size | None]]:
    """The dimensions and the lengths asked for."""
    dims = args.integers("dim")
    if dims is not None:
        return dims, lengths(args, "s", len(dims))
    wanted = args["s"]
    if wanted is not None:
        count = len(wanted) if isinstance(wanted, (tuple, list)) else 1
        return tuple(range(-count, 0)), lengths(args, "s", count)
    count = len(args.ranked().dims)
    return tuple(range(count)), [None] * count


def placed(args: Args, layout: Layout, shape: tuple[Extent, ...], sure: bool) -> Result:
    return Result(contiguous(shape) if sure and lies_in_order(layout, args.facts) else unknown_strides(shape))


def lies_in_order(layout: Layout, facts: Facts) -> bool:
    """Whether sorting dimensions by stride, the largest first, certainly leaves all of them (but for sizes of 1) where
    they are."""
    if is_contiguous(layout, facts) is YES:
        return True
    if any(dim.rest is not None or dim.stride is None for dim in layout.dims):
        return False
    longer = [dim.stride for dim in layout.dims if facts.is_one(dim.size) is not YES]
    return all(a is not None and b is not None and facts.less(b, a) is YES for a, b in pairwise(longer))


def shifted(args: Args) -> Outcome:
    """the same sizes, packed; a CPU may follow channels_last"""
    layout = args.layout()
    known = suggests_channels_last(layout, args.facts) is NO
    return Result(contiguous(layout.shape) if known else unknown_strides(layout.shape), args.operand().dtype)


# ---------------------------------------------------------------- short-time transforms
def stft(args: Args) -> Outcome:
    """(batch, frequencies, frames), frequencies innermost; real results: two numbers innermost"""
    layout, points = args.ranked(), args.size("n_fft")
    if layout.rank not in (1, 2):
        raise Unknowable("a signal or a batch of them is needed")
    hop = args.facts.floor_divide(points, 4) if args["hop_length"] is None else args.size("hop_length")
    centred = args.flag("center")
    length = layout.sizes[-1] + (2 * args.facts.floor_divide(points, 2) if centred else 0)
    if args["align_to_window"] is True:
        raise Unknowable("frames aligned to the window are not followed")
    frames = args.facts.floor_divide(length - points, hop) + 1
    frequencies, as_complex = frequency_count(args, points), args["return_complex"]
    if is_unknown(as_complex):
        raise Unknowable("complex or real results")
    pairs = () if as_complex else (2,)
    shape = (*layout.sizes[:-1], frequencies, frames, *pairs)
    if not centred and not frames_in_order(args, layout, hop, points, frames):
        return Result(unknown_strides(shape))
    dims = contiguous((*layout.sizes[:-1], frames, frequencies, *pairs)).dims
    at = len(layout.dims) - 1
    return Result(Layout((*dims[:at], dims[at + 1], dims[at], *dims[at + 2 :])))


def frames_in_order(args: Args, layout: Layout, hop: Size, points: Size, frames: Size) -> bool:
    """Whether the frames, a strided view of the signal times the window, lie as (batch, frames, samples)."""
    signal = layout.dims[-1]
    if signal.stride is None:
        return is_contiguous(layout, args.facts) is YES
    if layout.rank == 1:
        return True
    view = Layout((layout.dims[0], Dim(frames, signal.stride * hop), Dim(points, signal.stride)))
    window, ways = args["window"], []
    if not isinstance(window, Operand):
        ways.append(view)
    if window is not None or args["win_length"] is not None:
        ways.append(elementwise_layout([Operand(view), Operand(contiguous((points,)))], args.facts))
    return all(lies_in_order(Layout(way.dims[:2]), args.facts) for way in ways)


def frequency_count(args: Args, points: Size) -> Size:
    onesided, dtype = args["onesided"], args.operand().dtype
    if onesided is None and dtype is not None:
        onesided = not dtype.is_complex
    if onesided is None and args.facts.assumed:
        onesided = True
    if not isinstance(onesided, bool):
        return args.facts.symbols.fresh("frequencies")
    return args.facts.floor_divide(points, 2) + 1 if onesided else points


def istft(args: Args) -> Outcome:
    """(batch, samples), packed"""
    layout, points = args.ranked(), args.size("n_fft")
    hop = args.facts.floor_divide(points, 4) if args["hop_length"] is None else args.size("hop_length")
    if args["length"] is not None:
        samples = args.facts.symbols.fresh("samples") if is_unknown(args["length"]) else args.size("length")
    else:
        cut = 2 * args.facts.floor_divide(points, 2) if args.flag("center") else 0
        samples = points + hop * (layout.sizes[-1] - 1) - cut
    return Result(contiguous((*layout.sizes[:-2], samples)))


def every_frequency(args: Args) -> Outcome:
    """a vector"""
    return Result(contiguous((args.size("n"),)))


def half_of_frequencies(args: Args) -> Outcome:
    """a vector, as long as the result of `rfft`"""
    return Result(contiguous((args.facts.floor_divide(args.size("n"), 2) + 1,)))


def windowed(args: Args) -> Outcome:
    """a vector"""
    return Result(contiguous((args.size("M"),)))


# fmt: off
WINDOW = "ScalarType? dtype=None, Any layout=None, Any device=None, bool requires_grad=False) -> Tensor"


def _row(schema: str, transfer: Transfer, name: str, call: str, unknown: str | None = LIBRARIES) -> None:
    op(schema, alias=FRESH, layout=transfer, example=f"torch.fft.{call}", spellings=(f"torch.fft.{name}",), varies=True, unknown=unknown)


for _name, _last in (("fft", kept), ("ifft", kept), ("rfft", halved), ("irfft", doubled), ("hfft", doubled), ("ihfft", halved)):
    _x = "x" if _name in ("fft", "ifft", "rfft", "ihfft") else "x.to(torch.complex64)"
    _certain = _name != "ihfft"
    _row(f"fft_{_name}(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", _along(_last), _name, f"{_name}({_x})")
    _row(f"fft_{_name}2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor", _over(_last, _certain), _name + "2", f"{_name}2({_x})")
    _row(f"fft_{_name}n(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor", _over(_last, _certain), _name + "n", f"{_name}n({_x}, dim=(-1,))")
for _name in ("fftshift", "ifftshift"):
    _row(f"fft_{_name}(Tensor self, int[1]? dim=None) -> Tensor", shifted, _name, f"{_name}(x)", "a CPU may follow channels_last, CUDA packs")
for _name, _transfer in (("fftfreq", every_frequency), ("rfftfreq", half_of_frequencies)):
    op(f"{_name}(int n, float d=1.0, *, {WINDOW}", alias=FRESH, layout=_transfer, example=f"torch.fft.{_name}(5)", spellings=(f"torch.fft.{_name}",), path_only=True)
op("stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, str pad_mode='reflect', bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor", alias=FRESH, layout=stft, example="torch.stft(x, 4, 2, return_complex=True)", unknown="a batch whose signals do not lie one after the other, without `center`")
op("istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) -> Tensor", alias=FRESH, layout=istft, example="torch.istft(torch.stft(x, 4, 2, return_complex=True), 4, 2)")
for _name in ("bartlett", "blackman", "cosine", "hamming", "hann", "nuttall"):
    op(f"{_name}(int M, *, bool sym=True, {WINDOW}", alias=FRESH, layout=windowed, example=f"torch.signal.windows.{_name}(5)", spellings=(f"torch.signal.windows.{_name}",), path_only=True)
for _name, _more, _call in (("exponential", "Any center=None, float tau=1.0", "5"), ("gaussian", "float std=1.0", "5"), ("kaiser", "float beta=12.0", "5"), ("general_hamming", "float alpha=0.54", "5"), ("general_cosine", "Any a", "5, a=[0.5, 0.5]")):
    op(f"{_name}(int M, *, {_more}, bool sym=True, {WINDOW}", alias=FRESH, layout=windowed, example=f"torch.signal.windows.{_name}({_call})", spellings=(f"torch.signal.windows.{_name}",), path_only=True)
# fmt: on
