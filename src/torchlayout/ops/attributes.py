"""Attributes of tensors and arrays: `x.T`, `x.shape`, `x.data`."""

from __future__ import annotations

from collections.abc import Callable

from torchlayout.layouts import (
    Layout,
    contiguous,
    is_contiguous,
    is_dense,
    settle,
    the_rest,
    unknown_strides,
    with_rank,
    with_trailing,
)
from torchlayout.ops.values import UNKNOWN, Alternatives, DType, Operand, Outcome, Result
from torchlayout.sizes import MAYBE, YES, Facts


def attribute(operand: Operand, name: str, facts: Facts) -> Outcome:
    """What `operand.name` is; UNKNOWN for an attribute that is not known here (methods are not)."""
    reader = _READERS.get(name)
    if reader is None or (operand.numpy and name not in _OF_ARRAYS):
        return UNKNOWN
    return reader(operand, settle(operand.layout, facts), facts)


def _same(operand: Operand, layout: Layout) -> Result:
    return Result(layout, operand.dtype, YES, operand.numpy)


def _reversed(operand: Operand, layout: Layout, facts: Facts) -> Outcome:
    """`x.T`: all dimensions in reverse order."""
    if the_rest(layout) is not None:
        return UNKNOWN
    return _same(operand, layout.replace(reversed(layout.dims)))


def _matrix(operand: Operand, layout: Layout, facts: Facts) -> Outcome:
    """`x.mT`: the last two dimensions swapped."""
    found = with_trailing(layout, 2, facts)
    if found is None:
        return UNKNOWN
    *rest, rows, columns = found.dims
    return _same(operand, found.replace([*rest, columns, rows]))


def _adjoint(operand: Operand, layout: Layout, facts: Facts) -> Outcome:
    """`x.mH`: the last two dimensions swapped; of a complex tensor its conjugate is a view too, lazily."""
    return _matrix(operand, layout, facts)


def _hermitian(operand: Operand, layout: Layout, facts: Facts) -> Outcome:
    """`x.H`: of a matrix."""
    if layout.rank == 0:
        return _same(operand, layout)
    found = with_rank(layout, 2, facts)
    return UNKNOWN if found is None else _same(operand, found.replace(reversed(found.dims)))


def _data(operand: Operand, layout: Layout, facts: Facts) -> Outcome:
    return _same(operand, layout)


def _part(shift: int) -> Callable[[Operand, Layout, Facts], Outcome]:
    """`x.real`, `x.imag`: every second number of a complex tensor; a real tensor itself."""

    def part(operand: Operand, layout: Layout, facts: Facts) -> Outcome:
        if operand.dtype is None:
            real = UNKNOWN if shift else _same(operand, layout)
            complex_part = _every_second(operand, layout, shift)
            return complex_part if shift else Alternatives((real, complex_part))
        if operand.dtype.is_complex:
            return _every_second(operand, layout, shift)
        return UNKNOWN if shift else _same(operand, layout)

    return part


_PART_DTYPES = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}


def _every_second(operand: Operand, layout: Layout, shift: int) -> Result:
    dims = [dim._replace(stride=None if dim.stride is None else dim.stride * 2) for dim in layout.dims]
    offset = None if layout.offset is None else layout.offset * 2 + shift
    dtype = DType(_PART_DTYPES[operand.dtype.name]) if operand.dtype and operand.dtype.name in _PART_DTYPES else None
    return Result(Layout(tuple(dims), offset), dtype, YES, operand.numpy)


def _gradient(operand: Operand, layout: Layout, facts: Facts) -> Outcome:
    """`p.grad` is None or has its tensor's sizes. In the assumed world, where no program assigns another, autograd packs
    it, but that a leaf which is dense keeps its strides (torch/csrc/autograd/utils/grad_layout_contract.h) and others
    do not (retain_grad)."""
    packed = is_contiguous(layout, facts) | ~is_dense(layout, facts) if facts.assumed else MAYBE
    placed = contiguous(layout.shape) if packed is YES else unknown_strides(layout.shape)
    return Alternatives((Result(placed, operand.dtype, MAYBE), None))


def _shape(operand: Operand, layout: Layout, facts: Facts) -> Outcome:
    return layout.shape


def _rank(operand: Operand, layout: Layout, facts: Facts) -> Outcome:
    return UNKNOWN if layout.rank is None else layout.rank


def _is_cuda(operand: Operand, layout: Layout, facts: Facts) -> Outcome:
    return UNKNOWN if operand.device is None else operand.device.startswith("cuda")


def _dtype(operand: Operand, layout: Layout, facts: Facts) -> Outcome:
    return operand.dtype or UNKNOWN


def _device(operand: Operand, layout: Layout, facts: Facts) -> Outcome:
    return operand.device or UNKNOWN


def _item_size(operand: Operand, layout: Layout, facts: Facts) -> Outcome:
    size = operand.dtype.itemsize if operand.dtype else None
    return UNKNOWN if size is None else size


def _bytes(operand: Operand, layout: Layout, facts: Facts) -> Outcome:
    size = operand.dtype.itemsize if operand.dtype else None
    return UNKNOWN if size is None else layout.numel * size


def _count(operand: Operand, layout: Layout, facts: Facts) -> Outcome:
    """`a.size` of an array: its number of elements (of a tensor `size` is a method)."""
    return layout.numel if operand.numpy else UNKNOWN


_READERS: dict[str, Callable[[Operand, Layout, Facts], Outcome]] = {
    "T": _reversed, "mT": _matrix, "H": _hermitian, "mH": _adjoint, "data": _data, "real": _part(0), "imag": _part(1),
    "grad": _gradient, "shape": _shape, "ndim": _rank, "is_cuda": _is_cuda, "dtype": _dtype, "device": _device,
    "itemsize": _item_size, "nbytes": _bytes, "size": _count,
}  # fmt: skip
_OF_ARRAYS = frozenset({"T", "mT", "real", "imag", "shape", "ndim", "dtype", "itemsize", "nbytes", "size"})
