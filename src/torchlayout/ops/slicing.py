"""What a slice selects from a dimension, with bounds and steps that may be symbolic."""

from __future__ import annotations

from typing import Any, NamedTuple

from torchlayout.layouts import Dim
from torchlayout.ops.values import Refused, Unknowable, is_unknown
from torchlayout.sizes import NO, YES, Facts, Poly, Size


class Cut(NamedTuple):
    """What is left of a dimension, and at which of its indices it starts (None: not known)."""

    dim: Dim
    start: Size | None


def cut(dim: Dim, piece: slice, facts: Facts, numpy: bool = False, place: int = 0) -> Cut:
    """`x[start:stop:step]` along one dimension. Raises `Refused` for a negative step on a tensor.

    `place` tells apart the unknown sizes of one subscript.
    """
    step = _step(piece.step, facts)
    if isinstance(step, int) and step < 0:
        if not numpy:
            raise Refused("negative-stride", "slices of tensors cannot have a negative step")
        return _backwards(dim, piece, step, facts, place)
    if step == 0:
        raise Unknowable("a step of 0")
    start = _bound(piece.start, dim.size, 0, facts)
    stop = _bound(piece.stop, dim.size, dim.size, facts)
    stride = None if dim.stride is None or step is None else dim.stride * step
    length = None if start is None or stop is None else _length(start, stop, facts)
    if length is None:
        length = _difference(piece, facts)
    if length is not None and step is not None and step != 1:
        length = facts.floor_divide(length + step - 1, step) if step != length else 1
    if step is None or length is None:
        return Cut(Dim(facts.symbols.fresh(("slice", place)), stride), start)
    return Cut(Dim(facts.normal(length), stride), start)


def _step(value: Any, facts: Facts) -> Size | None:
    """The step; None where it is not known. An unknown one is positive: torch takes no other."""
    if value is None:
        return 1
    if isinstance(value, Poly):
        return facts.normal(value)
    if isinstance(value, int):
        return int(value)
    if is_unknown(value):
        return None
    raise Unknowable("a step that is no int")


def _bound(value: Any, size: Size, default: Size, facts: Facts) -> Size | None:
    """A bound as an index between 0 and the size, as Python clamps it; None where that is not known."""
    if value is None:
        return default
    if is_unknown(value):
        return None
    if not isinstance(value, (int, Poly)):
        raise Unknowable("a bound that is no int")
    value = facts.normal(value)
    if isinstance(value, int):
        if value < 0:
            return _from_end(size, -value, facts)
        if isinstance(size, int):
            return min(int(value), size)
        return int(value) if value <= 1 else _at_most(value, size, facts)
    low, high = facts.bounds(value)
    if high is not None and high < 0:
        return _from_end(size, -value, facts)
    if low is not None and low >= 0:
        return _at_most(value, size, facts)
    return value if facts.assumed else None


def _at_most(value: Size, size: Size, facts: Facts) -> Size:
    """The smaller one. Code is assumed to slice within the dimension."""
    if facts.less(size, value) is NO and facts.equal(size, value) is YES:
        return size
    larger = facts.less(size, value)
    if larger is YES:
        return size
    if larger is NO or facts.assumed:
        return value
    return facts.extreme("min", value, size)


def _from_end(size: Size, back: Size, facts: Facts) -> Size:
    """`size - back`, at least 0. A dimension is taken to have an element."""
    if isinstance(size, int) and isinstance(back, int):
        return max(size - back, 0)
    if back == 1 or facts.assumed or facts.less(size, back) is NO:
        return size - back
    return facts.extreme("max", size - back, 0)


def _length(start: Size, stop: Size, facts: Facts) -> Size | None:
    length = facts.normal(stop - start)
    if isinstance(length, int):
        return max(length, 0)
    if facts.less(stop, start) is YES:
        return 0
    if start == 0 or facts.assumed or facts.less(stop, start) is NO or start == 1:
        return length
    return None


def _difference(piece: slice, facts: Facts) -> Size | None:
    """`x[i : i + w]` has w elements where it stays within the dimension, which only the assumed world takes for
    granted."""
    if not facts.assumed or not isinstance(piece.start, (int, Poly)) or not isinstance(piece.stop, (int, Poly)):
        return None
    length = facts.normal(piece.stop - piece.start)
    return length if facts.less(length, 0) is NO else None


def _backwards(dim: Dim, piece: slice, step: int, facts: Facts, place: int) -> Cut:
    """A negative step, which NumPy allows."""
    stride = None if dim.stride is None else dim.stride * step
    size = facts.normal(dim.size)
    bounds = (piece.start, piece.stop)
    if isinstance(size, int) and all(bound is None or isinstance(bound, int) for bound in bounds):
        chosen = range(size)[piece.start : piece.stop : step]
        return Cut(Dim(len(chosen), stride), chosen.start)
    if bounds == (None, None):
        length = size if step == -1 else facts.floor_divide(size - step - 1, -step)
        return Cut(Dim(length, stride), size - 1)
    return Cut(Dim(facts.symbols.fresh(("slice", place)), stride), None)
