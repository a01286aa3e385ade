"""torchvision's functional transforms that matter for layouts, read from its source (0.15 to 0.29).

What they take may also be a PIL image, of which nothing is known: only arguments that are known to be tensors or
arrays give answers, except from `to_tensor` and its kin, whose result is a tensor whatever they take.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchlayout.layouts import (
    Layout,
    contiguous,
    is_contiguous,
    is_dense,
    permuted_contiguous,
    preserved,
    unknown_strides,
)
from torchlayout.ops.table import Args, Transfer, find_function, find_method, op, select
from torchlayout.ops.transfers import itself
from torchlayout.ops.values import UNKNOWN, Alias, DType, Operand, Outcome, Result, Unknowable
from torchlayout.sizes import MAYBE, NO, YES, Poly, Shape, Size, every

V1 = "torchvision.transforms.functional."
V2 = "torchvision.transforms.v2.functional."
HWC_ORDER = (1, 2, 0)
"""The dimensions of a (channels, height, width) view of an image that lies as (height, width, channels)."""


def both(*names: str) -> tuple[str, ...]:
    return tuple(prefix + name for name in names for prefix in (V1, V2))


def image(args: Args, name: str = "self") -> Operand:
    """An argument that is known to be a tensor."""
    operand = args.operand(name)
    if operand.numpy:
        raise Unknowable("an array")
    return operand


def fresh_image(args: Args) -> tuple[Size, ...]:
    symbols = args.facts.symbols
    return (symbols.fresh("channels", "C"), symbols.fresh("height", "H"), symbols.fresh("width", "W"))


def to_tensor(args: Args) -> Outcome:
    """(channels, height, width), packed: permuted, then `contiguous()`"""
    value = args["self"]
    if not isinstance(value, Operand):
        return Result(contiguous(fresh_image(args)))
    if not value.numpy:
        return UNKNOWN
    layout = args.layout()
    if layout.rank == 2:
        return _copied(Result(contiguous((1, *layout.shape))), value, args)
    layout = args.ranked(rank=3)
    height, width, channels = layout.sizes
    return _copied(Result(contiguous((channels, height, width))), value, args)


def _copied(result: Result, value: Operand, args: Args) -> Outcome:
    """`from_numpy(...)` refuses negative strides; `contiguous()` of what is packed shares its memory."""
    found = select(find_function("torch.from_numpy"), [value], {})
    if found is not None:
        found[0].apply(found[1], args.facts)
    floating = value.dtype is not None and value.dtype.name != "uint8"
    return Result(result.layout, value.dtype if floating else None, MAYBE)


def pil_to_tensor(args: Args) -> Outcome:
    """(channels, height, width) as a view of (height, width, channels): not contiguous"""
    if isinstance(args["self"], Operand):
        return UNKNOWN
    return Result(permuted_contiguous(fresh_image(args), HWC_ORDER))


def decoded(args: Args) -> Outcome:
    """JPEG and PNG: (channels, height, width) as a view of (height, width, channels): not contiguous"""
    if not args.facts.assumed:
        return UNKNOWN
    return Result(permuted_contiguous(fresh_image(args), HWC_ORDER), DType("uint8"))


def to_image(args: Args) -> Outcome:
    """of an array as `to_tensor`; of a tensor its memory"""
    value = args["self"]
    if not isinstance(value, Operand):
        return UNKNOWN
    return to_tensor(args) if value.numpy else Result(args.layout(), value.dtype, YES)


def flipped(dim: int) -> Transfer:
    def transfer(args: Args) -> Outcome:
        found = select(find_method("flip"), [image(args), (dim,)], {})
        return UNKNOWN if found is None else found[0].apply(found[1], args.facts)

    transfer.__doc__ = "as `Tensor.flip`"
    return transfer


def with_size(layout: Layout, height: Any, width: Any) -> Shape:
    """The shape with other last two sizes."""
    if not all(isinstance(size, (int, Poly)) for size in (height, width)):
        raise Unknowable("a size that is not known")
    return (*layout.shape[:-2], height, width)


def cropped(args: Args) -> Outcome:
    """a view where it lies within the image, else a padded copy"""
    operand = image(args)
    layout = args.reaching(args.layout(), -2)
    top, left, height, width = (args.size(name) for name in ("top", "left", "height", "width"))
    facts = args.facts
    rows, columns = layout.sizes[-2:]
    inside = (
        ~facts.less(top, 0)
        & ~facts.less(left, 0)
        & ~facts.less(rows, top + height)
        & ~facts.less(columns, left + width)
    )
    shape = with_size(layout, height, width)
    if inside is YES or (inside is MAYBE and facts.assumed):
        dims = [*layout.dims[:-2], layout.dims[-2]._replace(size=height), layout.dims[-1]._replace(size=width)]
        return Result(Layout(tuple(dims), None), operand.dtype, inside)
    return Result(unknown_strides(shape), operand.dtype, inside)


def pair(value: Any) -> tuple[Any, Any]:
    """An int or a list of one as both height and width."""
    if isinstance(value, (tuple, list)):
        if len(value) not in (1, 2):
            raise Unknowable("neither one size nor two")
        return value[0], value[-1]
    return value, value


def center_cropped(args: Args) -> Outcome:
    """a view where it lies within the image, else a padded copy"""
    operand = image(args)
    layout = args.reaching(args.layout(), -2)
    height, width = pair(args.known("output_size"))
    shape = with_size(layout, height, width)
    facts = args.facts
    inside = ~facts.less(layout.sizes[-2], height) & ~facts.less(layout.sizes[-1], width)
    if inside is YES or (inside is MAYBE and facts.assumed):
        dims = [*layout.dims[:-2], layout.dims[-2]._replace(size=height), layout.dims[-1]._replace(size=width)]
        return Result(Layout(tuple(dims), None), operand.dtype, inside)
    return Result(unknown_strides(shape), operand.dtype, MAYBE)


def like_packed(args: Args, shape: Shape, shares: Any = NO) -> Result:
    """Packed where the image is; else the strides are those that interpolation or padding chooses."""
    packed = is_contiguous(args.layout(), args.facts) is YES
    return Result(contiguous(shape) if packed else unknown_strides(shape), args.operand().dtype, shares)


def resized(args: Args) -> Outcome:
    """packed where the image is; the image itself where it has that size"""
    image(args)
    layout = args.reaching(args.layout(), -2)
    size = args.known("size")
    if isinstance(size, (tuple, list)) and len(size) == 2:
        shape = with_size(layout, *size)
        same = every(args.facts.equal(have, want) for have, want in zip(layout.sizes[-2:], size, strict=True))
        return itself(args) if same is YES else like_packed(args, shape, same)
    short = size[0] if isinstance(size, (tuple, list)) and len(size) == 1 else size
    height, width = layout.sizes[-2:]
    plain = isinstance(short, int) and isinstance(height, int) and isinstance(width, int)
    if plain and args["max_size"] is None:
        assert isinstance(height, int) and isinstance(width, int)
        longer = int(short * max(height, width) / min(height, width))
        new = (longer, short) if width <= height else (short, longer)
        return like_packed(args, with_size(layout, *new), MAYBE)
    symbols = args.facts.symbols
    return like_packed(args, with_size(layout, symbols.fresh("height"), symbols.fresh("width")), MAYBE)


def resized_crop(args: Args) -> Outcome:
    """the sizes asked for; of a packed image packed, unless the crop has that size already"""
    operand = image(args)
    layout = args.reaching(args.layout(), -2)
    size = args.known("size")
    if not isinstance(size, (tuple, list)) or len(size) != 2:
        return UNKNOWN
    return Result(unknown_strides(with_size(layout, *size)), operand.dtype, MAYBE)


def padded(args: Args) -> Outcome:
    """longer by the padding; packed where the image is"""
    image(args)
    layout = args.reaching(args.layout(), -2)
    left, top, right, bottom = _sides(args.known("padding"))
    height, width = layout.sizes[-2:]
    return like_packed(args, with_size(layout, height + top + bottom, width + left + right))


def _sides(padding: Any) -> Sequence[Any]:
    """Left, top, right, bottom."""
    if isinstance(padding, (int, Poly)):
        return (padding,) * 4
    if isinstance(padding, (tuple, list)) and all(isinstance(side, (int, Poly)) for side in padding):
        if len(padding) in (1, 2):
            return (padding[0], padding[-1]) * 2
        if len(padding) == 4:
            return padding
    raise Unknowable("a padding that is not known")


def normalized(args: Args) -> Outcome:
    """as `Tensor.clone`: strides in the same order; the image itself in place"""
    operand = image(args)
    if args["inplace"] is True:
        return Result(args.layout(), operand.dtype, YES, same_object=True)
    if args["inplace"] is not False:
        return UNKNOWN
    return Result(preserved(args.layout(), args.facts), operand.dtype)


def adjusted(args: Args) -> Outcome:
    """the same sizes; of a dense image its strides"""
    operand = image(args)
    layout = args.layout()
    dense = is_dense(layout, args.facts) is YES
    return Result(Layout(layout.dims) if dense else unknown_strides(layout.shape), operand.dtype)


def warped(args: Args) -> Outcome:
    """the same sizes; packed where the image is"""
    image(args)
    layout = args.layout()
    if args.values.get("expand", False) is not False:
        return UNKNOWN
    return like_packed(args, layout.shape)


def converted(args: Args) -> Outcome:
    """another dtype; strides in the same order, without gaps; the image itself where it has that dtype"""
    operand = image(args)
    dtype = args["dtype"] if isinstance(args["dtype"], DType) else None
    kept = preserved(args.layout(), args.facts)
    if dtype is not None and operand.dtype is not None:
        return itself(args) if dtype == operand.dtype else Result(kept, dtype)
    whole = args.layout()
    return Result(kept if kept.dims == whole.dims else unknown_strides(whole.shape), dtype, MAYBE)


def to_pil(args: Args) -> Outcome:
    """a PIL image"""
    del args
    return UNKNOWN


MAYBE_VIEW, FRESH = Alias.MAYBE_VIEW, Alias.FRESH
NO_TENSOR = "a PIL image"
STRIDED = "the image is not packed, or a PIL image"

# fmt: off
op("to_tensor(Any self) -> Tensor", alias=FRESH, layout=to_tensor, example="", spellings=both("to_tensor"), path_only=True, unknown="channels, height and width of a PIL image")
op("pil_to_tensor(Any self) -> Tensor", alias=FRESH, layout=pil_to_tensor, example="", spellings=both("pil_to_tensor"), path_only=True, unknown="channels, height and width")
op("to_image(Any self) -> Tensor", alias=MAYBE_VIEW, layout=to_image, example="", spellings=(f"{V2}to_image",), path_only=True, unknown=NO_TENSOR)
for _name in ("decode_image", "decode_jpeg", "decode_png", "read_image"):
    op(f"{_name}(Any self, **Any options) -> Tensor", alias=FRESH, layout=decoded, example="", spellings=(f"torchvision.io.{_name}", f"torchvision.io.image.{_name}"), path_only=True, unknown="the file's format is not known")
op("hflip(Any self) -> Tensor", alias=FRESH, layout=flipped(-1), example="", spellings=both("hflip", "horizontal_flip"), path_only=True, unknown=NO_TENSOR)
op("vflip(Any self) -> Tensor", alias=FRESH, layout=flipped(-2), example="", spellings=both("vflip", "vertical_flip"), path_only=True, unknown=NO_TENSOR)
op("crop(Any self, int top, int left, int height, int width) -> Tensor(a)", alias=MAYBE_VIEW, layout=cropped, example="", spellings=both("crop"), path_only=True, unknown="whether it lies within the image")
op("center_crop(Any self, Any output_size) -> Tensor(a)", alias=MAYBE_VIEW, layout=center_cropped, example="", spellings=both("center_crop"), path_only=True, unknown="whether it lies within the image")
op("resize(Any self, Any size, Any interpolation=None, int? max_size=None, Any antialias=True) -> Tensor", alias=MAYBE_VIEW, layout=resized, example="", spellings=both("resize"), path_only=True, unknown=STRIDED)
op("resized_crop(Any self, int top, int left, int height, int width, Any size, Any interpolation=None, Any antialias=True) -> Tensor", alias=MAYBE_VIEW, layout=resized_crop, example="", spellings=both("resized_crop"), path_only=True, unknown=STRIDED)
op("pad(Any self, Any padding, Any fill=0, str padding_mode='constant') -> Tensor", alias=FRESH, layout=padded, example="", spellings=both("pad"), path_only=True, unknown=STRIDED)
op("normalize(Any self, Any mean, Any std, bool inplace=False) -> Tensor", alias=MAYBE_VIEW, layout=normalized, example="", spellings=both("normalize"), path_only=True, unknown=NO_TENSOR)
for _name in ("adjust_brightness", "adjust_contrast", "adjust_saturation", "adjust_sharpness", "adjust_gamma", "invert", "solarize", "posterize"):
    op(f"{_name}(Any self, Any factor=None, Any gain=None) -> Tensor", alias=FRESH, layout=adjusted, example="", spellings=both(_name), path_only=True, unknown=STRIDED)
for _name, _options in {"rotate": "Any angle, Any interpolation=None, Any expand=False", "affine": "Any angle, Any translate, Any scale, Any shear", "perspective": "Any startpoints, Any endpoints", "gaussian_blur": "Any kernel_size, Any sigma=None"}.items():
    op(f"{_name}(Any self, {_options}, **Any options) -> Tensor", alias=FRESH, layout=warped, example="", spellings=both(_name), path_only=True, unknown=STRIDED)
op("convert_image_dtype(Any self, Any dtype=None) -> Tensor", alias=MAYBE_VIEW, layout=converted, example="", spellings=(*both("convert_image_dtype", "convert_dtype"), f"{V2}to_dtype"), path_only=True, unknown=NO_TENSOR)
op("to_pil_image(Any self, Any mode=None) -> Any", alias=FRESH, layout=to_pil, example="", spellings=both("to_pil_image"), path_only=True, unknown=NO_TENSOR)
# fmt: on
