"""A small concrete tensor that lies in memory as a symbolic one does.

Vocabulary: *model* (sizes and strides small enough to draw), *cell* (one element's place in the drawing).

Names of sizes get small numbers, long dimensions are shortened, and strides follow: dimensions that lie next to
each other still do, gaps stay gaps, and a stride of 0 stays 0.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

from torchlayout.rules.drawing import Drawing, Picture

MAX_ELEMENTS = 36
MAX_SIZE = 4
MAX_GAP = 2
_SYMBOL_SIZES = (2, 3, 4)


class Model(NamedTuple):
    """Offsets of the elements in row-major order, and the sizes they are arranged in."""

    shape: tuple[int, ...]
    offsets: tuple[int, ...]


def models(drawing: Drawing) -> tuple[Model | None, Model | None]:
    """The tensors before and after as models with the same sizes for the same names; None for what has no picture:
    an unknown size or stride, no dimension at all, or more dimensions than can be drawn."""
    symbols: dict[str, int] = {}
    before = _numbers(drawing.before, symbols)
    after = _numbers(drawing.after, symbols) if drawing.after is not None else None
    sizes = [numbers[0] for numbers in (before, after) if numbers is not None]
    short = _shorten(sizes)
    return _model(before, short), _model(after, short)


Numbers = tuple["tuple[int, ...]", "tuple[int, ...]"]


def _numbers(picture: Picture, symbols: dict[str, int]) -> Numbers | None:
    try:
        shape = tuple(_value(text, symbols) for text in picture.shape)
        stride = tuple(_value(text, symbols) for text in picture.stride)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError):
        return None
    if not shape or len(shape) != len(stride) or min(shape) < 1 or min(stride) < 0:
        return None
    return shape, stride


def _value(text: str, symbols: dict[str, int]) -> int:
    """The number of a size's expression; anything but arithmetic is a name. ValueError for "?"."""
    return _evaluate(ast.parse(text.strip(), mode="eval").body, symbols)


def _evaluate(node: ast.expr, symbols: dict[str, int]) -> int:
    if isinstance(node, ast.Constant):
        if not isinstance(node.value, int):
            raise ValueError(f"{node.value!r} is no size")
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluate(node.operand, symbols)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        left, right = _evaluate(node.left, symbols), _evaluate(node.right, symbols)
        match node.op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case _:
                return left * right
    name = ast.unparse(node)
    if name not in symbols:
        symbols[name] = _SYMBOL_SIZES[len(symbols) % len(_SYMBOL_SIZES)]
    return symbols[name]


def _shorten(shapes: Sequence[tuple[int, ...]]) -> dict[int, int]:
    """For each size, the size to draw: the same in all shapes, so that dimensions can be recognised."""
    short = {size: min(size, MAX_SIZE) for shape in shapes for size in shape}
    while any(math.prod(short[size] for size in shape) > MAX_ELEMENTS for shape in shapes):
        largest = max(short, key=lambda size: (short[size], size))
        if short[largest] == 1:
            break
        short[largest] -= 1
    return short


def _model(numbers: Numbers | None, short: dict[int, int]) -> Model | None:
    if numbers is None:
        return None
    shape, stride = numbers
    small = tuple(short[size] for size in shape)
    strides = list(stride)
    if small != shape:
        extent = small_extent = 1  # what the dimensions seen so far span, in the tensor and in the model
        for dim in sorted(range(len(shape)), key=lambda dim: (stride[dim], shape[dim])):
            if stride[dim] == 0 or shape[dim] == 1:
                continue
            gap = stride[dim] - extent
            strides[dim] = small_extent + min(gap, MAX_GAP) if gap >= 0 else max(1, min(stride[dim], small_extent))
            extent, small_extent = stride[dim] * shape[dim], strides[dim] * small[dim]
    indices = itertools.product(*(range(size) for size in small))
    return Model(small, tuple(sum(i * s for i, s in zip(index, strides, strict=True)) for index in indices))
