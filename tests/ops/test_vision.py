"""torchvision's functional transforms. Where torchvision is installed they run beside the rows; the facts themselves
(what is permuted, what is packed) are tested without it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from conformance import array_operand, check_call
from modules_conformance import abstract, check_module
from real_layouts import variants

from torchlayout.layouts import contiguous, is_contiguous
from torchlayout.ops import UNKNOWN, Alternatives, Operand, Refused, Result, find_function, select
from torchlayout.ops.modules import find_module
from torchlayout.sizes import NO, YES, Facts

V1, V2 = "torchvision.transforms.functional.", "torchvision.transforms.v2.functional."
CALLS: list[tuple[str, list[Any]]] = [
    ("hflip", []),
    ("vflip", []),
    ("crop", [1, 1, 3, 4]),
    ("crop", [-1, 0, 3, 4]),
    ("center_crop", [[3, 4]]),
    ("center_crop", [2]),
    ("center_crop", [[12, 4]]),
    ("resize", [[5, 7]]),
    ("resize", [4]),
    ("resize", [[6, 8]]),
    ("resized_crop", [1, 1, 3, 4, [5, 7]]),
    ("pad", [1]),
    ("pad", [[1, 2]]),
    ("pad", [[1, 2, 3, 0]]),
    ("normalize", [[0.5, 0.4, 0.3], [1.0, 2.0, 3.0]]),
    ("adjust_brightness", [1.5]),
    ("adjust_contrast", [1.5]),
    ("adjust_saturation", [1.5]),
    ("adjust_gamma", [1.5]),
    ("invert", []),
    ("rotate", [30.0]),
    ("gaussian_blur", [[3, 3]]),
    ("convert_image_dtype", [torch.float64]),
    ("convert_image_dtype", [torch.float32]),
]


def said(path: str, *args: Any, facts: Facts | None = None) -> Any:
    found = select(find_function(path), args, {})
    return UNKNOWN if found is None else found[0].apply(found[1], facts or Facts())


@pytest.mark.parametrize(("name", "args"), CALLS, ids=lambda value: str(value).replace(" ", ""))
def test_like_torchvision(name: str, args: list[Any]) -> None:
    pytest.importorskip(
        "torchvision.transforms.v2.functional", reason="torchvision is not among the packages that the tests need"
    )
    for shape in ((3, 6, 8), (2, 3, 6, 8)):
        for _, x in variants(torch.rand(shape), shrink=False):
            for prefix in (V1, V2):
                if prefix == V2 and name == "convert_image_dtype":
                    continue
                verdict = check_call(prefix + name, [x, *args])
                assert verdict.kind in ("exact", "unknown", "invalid"), f"{prefix}{name} {verdict.detail}"


def test_arrays_like_torchvision() -> None:
    pytest.importorskip(
        "torchvision.transforms.v2.functional", reason="torchvision is not among the packages that the tests need"
    )
    for array in (np.zeros((4, 5, 3), np.float32), np.zeros((4, 5), np.uint8), np.zeros((3, 4, 5), np.uint8).T):
        for path in (f"{V1}to_tensor", f"{V2}to_image"):
            verdict = check_call(path, [array])
            assert verdict.kind in ("exact", "unknown", "invalid"), verdict.detail
    from PIL import Image
    from torchvision import transforms

    image = Image.new("RGB", (5, 4))
    for name in ("ToTensor", "PILToTensor"):
        row = find_module(f"torchvision.transforms.{name}")
        assert row is not None
        verdict = check_module(getattr(transforms, name)(), row, [], {}, [image])
        assert verdict.kind in ("exact", "unknown"), verdict.detail


def test_images_become_packed_tensors_or_views() -> None:
    facts = Facts()
    packed, strided = said(f"{V1}to_tensor", UNKNOWN, facts=facts), said(f"{V1}pil_to_tensor", UNKNOWN, facts=facts)
    assert isinstance(packed, Result) and is_contiguous(packed.layout, facts) is YES
    assert isinstance(strided, Result) and is_contiguous(strided.layout, facts.assumed_world) is NO
    assert packed.layout.rank == strided.layout.rank == 3


def test_arrays_become_packed_tensors() -> None:
    tensor = said(f"{V1}to_tensor", array_operand(np.zeros((4, 5, 3))))
    assert tensor.layout.sizes == (3, 4, 5)
    assert is_contiguous(tensor.layout, Facts()) is YES
    with pytest.raises(Refused):
        said(f"{V1}to_tensor", array_operand(np.zeros((4, 5, 3))[:, ::-1]))


def test_crops_are_views() -> None:
    facts = Facts()
    crop = said(f"{V1}crop", Operand(contiguous((3, 32, 32))), 2, 2, 8, 8, facts=facts)
    assert crop.shares is YES
    assert is_contiguous(crop.layout, facts) is NO
    outside = said(f"{V1}center_crop", Operand(contiguous((3, 32, 32))), 40, facts=facts)
    assert outside.layout.sizes == (3, 40, 40)
    assert outside.shares is not YES


def test_images_that_are_no_tensors_give_nothing() -> None:
    for name in ("hflip", "resize", "normalize", "to_pil_image"):
        arguments = {"resize": [4], "normalize": [[0.5], [0.5]]}.get(name, [])
        assert said(V1 + name, UNKNOWN, *arguments) is UNKNOWN


CLASSES: list[tuple[str, list[Any], tuple[int, ...] | None]] = [
    ("Normalize", [[0.5], [0.5]], (3, 8, 8)),
    ("Resize", [(4, 4)], (3, 4, 4)),
    ("CenterCrop", [4], (3, 4, 4)),
    ("Pad", [1], (3, 10, 10)),
    ("RandomHorizontalFlip", [], None),
    ("RandomHorizontalFlip", [1], (3, 8, 8)),
    ("RandomVerticalFlip", [0], (3, 8, 8)),
    ("RandomCrop", [4], (3, 4, 4)),
    ("RandomCrop", [(12, 4), 2], (3, 12, 4)),
    ("RandomResizedCrop", [(4, 5)], (3, 4, 5)),
    ("ColorJitter", [0.5, 0.5], (3, 8, 8)),
    ("RandomRotation", [30], (3, 8, 8)),
    ("GaussianBlur", [3], (3, 8, 8)),
    ("RandomErasing", [1.0], (3, 8, 8)),
    ("RandomGrayscale", [0.5], (3, 8, 8)),
    ("Grayscale", [], (1, 8, 8)),
    ("Grayscale", [3], (3, 8, 8)),
    ("ConvertImageDtype", [torch.float64], (3, 8, 8)),
    ("ConvertImageDtype", [torch.uint8], (3, 8, 8)),
    ("ConvertImageDtype", [torch.float32], (3, 8, 8)),
    ("Resize", [(8, 8)], (3, 8, 8)),
]
"""Transforms as classes, and what they make of an image of 3 channels, 8 by 8."""


@pytest.mark.parametrize(("name", "args", "sizes"), CLASSES, ids=lambda value: str(value).replace(" ", ""))
def test_sizes_that_classes_give(name: str, args: list[Any], sizes: tuple[int, ...] | None) -> None:
    for path in (f"torchvision.transforms.{name}", f"torchvision.transforms.v2.{name}"):
        row = find_module(path)
        assert row is not None
        config = row.bind([abstract(value) for value in args], {})
        assert config is not None
        outcome = row.forward(config, [Operand(contiguous((3, 8, 8)))], {}, Facts())
        assert isinstance(outcome, Alternatives) if sizes is None else outcome.layout.sizes == sizes
        assert row.forward(config, [UNKNOWN], {}, Facts()) is UNKNOWN


@pytest.mark.parametrize(("name", "args", "sizes"), CLASSES, ids=lambda value: str(value).replace(" ", ""))
def test_classes_like_torchvision(name: str, args: list[Any], sizes: tuple[int, ...] | None) -> None:
    pytest.importorskip(
        "torchvision.transforms.v2.functional", reason="torchvision is not among the packages that the tests need"
    )
    from torchvision import transforms
    from torchvision.transforms import v2

    for module, path in ((transforms, "torchvision.transforms."), (v2, "torchvision.transforms.v2.")):
        row = find_module(path + name)
        assert row is not None
        torch.manual_seed(7)
        for _, x in [*variants(torch.rand(3, 8, 8), shrink=False), *variants(torch.rand(2, 3, 8, 8), shrink=False)]:
            for _ in range(4):
                verdict = check_module(getattr(module, name)(*args), row, args, {}, [x])
                assert verdict.kind in ("exact", "unknown", "invalid"), verdict.detail


@pytest.mark.parametrize("name", ["ToTensor", "PILToTensor", "Normalize", "Resize", "CenterCrop", "Pad"])
def test_classes(name: str) -> None:
    row = find_module(f"torchvision.transforms.{name}")
    assert row is not None
    args = {"Normalize": [[0.5], [0.5]], "Resize": [(4, 4)], "CenterCrop": [4], "Pad": [1]}.get(name, [])
    config = row.bind(args, {})
    assert config is not None
    outcome = row.forward(config, [Operand(contiguous((3, 8, 8)))], {}, Facts())
    assert isinstance(outcome, Result) or name.endswith("ToTensor")
