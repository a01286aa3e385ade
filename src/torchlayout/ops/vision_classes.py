"""torchvision's transforms as classes: their functions with what they were constructed with, or at random.

What they take may be a PIL image as well; what is said here is said of tensors, and of what `ToTensor` and its kin make.
"""

from __future__ import annotations

from typing import Any

from torchlayout.layouts import unknown_strides
from torchlayout.ops.modules import ANYTHING, Forward, by, module
from torchlayout.ops.modules_containers import inside
from torchlayout.ops.transfers import itself
from torchlayout.ops.values import Alternatives, Outcome, Result, Unknowable
from torchlayout.ops.vision import NO_TENSOR, STRIDED, V1, V2, image, pair, with_size
from torchlayout.sizes import MAYBE


def center_crop(call: Forward) -> Outcome:
    """as torchvision.transforms.functional.center_crop"""
    return call.function(f"{V1}center_crop", call["self"], call.config["size"])


def classes(name: str) -> tuple[str, ...]:
    return (
        f"torchvision.transforms.{name}",
        f"torchvision.transforms.transforms.{name}",
        f"torchvision.transforms.v2.{name}",
    )


# ---------------------------------------------------------------- at random
def flipped_at_random(name: str) -> Any:
    def forward(call: Forward) -> Outcome:
        image(call)
        whole = itself(call)
        flip = call.function(V1 + name, call["self"])
        odds = call.config["p"]
        return flip if odds == 1 else whole if odds == 0 else Alternatives((whole, flip))

    forward.__doc__ = f"the image itself, or as torchvision.transforms.functional.{name}"
    return forward


def cut_at_random(call: Forward) -> Outcome:
    """the size asked for; a view, or of a padded or resized image a copy"""
    operand = image(call)
    layout = call.reaching(call.layout(), -2)
    return Result(unknown_strides(with_size(layout, *pair(call.config.known("size")))), operand.dtype, MAYBE)


def coloured_at_random(call: Forward) -> Outcome:
    """the same sizes; the image itself where nothing is drawn"""
    operand = image(call)
    return Result(unknown_strides(call.layout().shape), operand.dtype, MAYBE)


def rotated_at_random(call: Forward) -> Outcome:
    """the same sizes, unless the image is enlarged to hold all of it"""
    if call.config["expand"] is not False:
        raise Unknowable("as large as the angle asks for")
    return coloured_at_random(call)


def grey(call: Forward) -> Outcome:
    """one channel, or three of the same numbers"""
    operand = image(call)
    layout = call.reaching(call.layout(), -3)
    shape = (*layout.shape[:-3], call.config.known("num_output_channels"), *layout.shape[-2:])
    return Result(unknown_strides(shape), operand.dtype, MAYBE)


RANDOM = "a PIL image; what is drawn decides"

# fmt: off
module("Compose(Any transforms) -> None", inside, takes=ANYTHING, container="composed", spellings=classes("Compose"), words="as the transforms, one after another")
module("ToTensor() -> None", by(V1 + "to_tensor"), takes=ANYTHING, spellings=classes("ToTensor"))
module("PILToTensor() -> None", by(V1 + "pil_to_tensor"), takes=ANYTHING, spellings=classes("PILToTensor"))
module("ToImage() -> None", by(V2 + "to_image"), takes=ANYTHING, spellings=("torchvision.transforms.v2.ToImage",))
module("Normalize(Any mean, Any std, bool inplace=False) -> None", by(V1 + "normalize", "mean", "std", "inplace"), takes=ANYTHING, spellings=classes("Normalize"), unknown=NO_TENSOR)
module("Resize(Any size, Any interpolation=None, int? max_size=None, Any antialias=True) -> None", by(V1 + "resize", "size", "max_size"), takes=ANYTHING, spellings=classes("Resize"), unknown=STRIDED)
module("CenterCrop(Any size) -> None", center_crop, takes=ANYTHING, spellings=classes("CenterCrop"), unknown=STRIDED)
module("Pad(Any padding, Any fill=0, str padding_mode='constant') -> None", by(V1 + "pad", "padding"), takes=ANYTHING, spellings=classes("Pad"), unknown=STRIDED)
for _name, _function in (("RandomHorizontalFlip", "hflip"), ("RandomVerticalFlip", "vflip")):
    module(f"{_name}(float p=0.5) -> None", flipped_at_random(_function), takes=ANYTHING, spellings=classes(_name), unknown=RANDOM)
module("RandomCrop(Any size, Any padding=None, bool pad_if_needed=False, Any fill=0, str padding_mode='constant') -> None", cut_at_random, takes=ANYTHING, spellings=classes("RandomCrop"), unknown=RANDOM)
module("RandomResizedCrop(Any size, Any scale=None, Any ratio=None, Any interpolation=None, Any antialias=True) -> None", cut_at_random, takes=ANYTHING, spellings=classes("RandomResizedCrop"), unknown=RANDOM)
module("ColorJitter(Any brightness=0, Any contrast=0, Any saturation=0, Any hue=0) -> None", coloured_at_random, takes=ANYTHING, spellings=classes("ColorJitter"), unknown=RANDOM)
module("RandomRotation(Any degrees, Any interpolation=None, bool expand=False, Any center=None, Any fill=0) -> None", rotated_at_random, takes=ANYTHING, spellings=classes("RandomRotation"), unknown=RANDOM)
module("GaussianBlur(Any kernel_size, Any sigma=None) -> None", coloured_at_random, takes=ANYTHING, spellings=classes("GaussianBlur"), unknown=STRIDED)
module("RandomErasing(float p=0.5, Any scale=None, Any ratio=None, Any value=0, bool inplace=False) -> None", coloured_at_random, takes=ANYTHING, spellings=classes("RandomErasing"), unknown=RANDOM)
module("RandomGrayscale(float p=0.1) -> None", coloured_at_random, takes=ANYTHING, spellings=classes("RandomGrayscale"), unknown=RANDOM)
module("Grayscale(int num_output_channels=1) -> None", grey, takes=ANYTHING, spellings=classes("Grayscale"), unknown=STRIDED)
module("ConvertImageDtype(Any dtype) -> None", by(V1 + "convert_image_dtype", "dtype"), takes=ANYTHING, spellings=classes("ConvertImageDtype"), unknown=NO_TENSOR)
module("ToDtype(Any dtype, bool scale=False) -> None", by(V1 + "convert_image_dtype", "dtype"), takes=ANYTHING, spellings=("torchvision.transforms.v2.ToDtype",), unknown=NO_TENSOR)
# fmt: on
