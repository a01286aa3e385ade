"""Views where all sizes and strides are numbers: torch's own strides, those of dimensions of size 1 included.

`layouts.view` leaves those open, since nothing depends on them but what sorts dimensions by stride afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from torchlayout.layouts import Layout, contiguous, is_concrete, strided
from torchlayout.sizes import Shape


def numbered_view(layout: Layout, shape: Shape) -> Layout | None:
    """`x.view(shape)` of as many elements; None where no such view exists. All has to be numbers."""
    assert is_concrete(layout)
    sizes, strides, wanted = numbers(layout.sizes), numbers(layout.strides), numbers(shape)
    if not sizes:
        return strided(wanted, [1] * len(wanted), layout.offset)
    if 0 in sizes:
        return layout if wanted == sizes else contiguous(wanted, layout.offset)
    found = cut(sizes, strides, wanted)
    return None if found is None else strided(wanted, found, layout.offset)


def numbers(values: Iterable[object]) -> list[int]:
    return [value for value in values if isinstance(value, int)]


def cut(sizes: Sequence[int], strides: Sequence[int], shape: Sequence[int]) -> list[int] | None:
    """`computeStride` of ATen/TensorUtils.cpp: chunks of adjacent dimensions, each cut into the dimensions asked for."""
    found = [0] * len(shape)
    place = len(shape) - 1
    base, elements, covered = strides[-1], 1, 1
    for dim in reversed(range(len(sizes))):
        elements *= sizes[dim]
        if dim and (sizes[dim - 1] == 1 or strides[dim - 1] == elements * base):
            continue
        while place >= 0 and (covered < elements or shape[place] == 1):
            found[place] = covered * base
            covered *= shape[place]
            place -= 1
        if covered != elements:
            return None
        if dim:
            base, elements, covered = strides[dim - 1], 1, 1
    return found if place < 0 else None
