"""`torch.einsum`, whose result may be a permuted view of a batched matrix product.

Mirrors `einsum` and `sumproduct_pair` of ATen/native/Linear.cpp: operands are permuted to a common order of labels
(those of the result first), pairs become one `bmm`, and the result is permuted back. Vocabulary: a *label* is a letter
of the equation, or the place of a dimension under an ellipsis (counted from its end).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Union

from torchlayout.layouts import (
    Dim,
    Layout,
    contiguous,
    settle,
    the_rest,
    unknown_strides,
    with_leading,
    with_rank,
    with_trailing,
)
from torchlayout.ops.table import Args, op
from torchlayout.ops.transfers import autocast, broadcast_shape, elementwise_layout, promoted
from torchlayout.ops.values import Alias, Operand, Outcome, Result, Unknowable, is_unknown
from torchlayout.sizes import MAYBE, NO, YES, Facts

Label = Union[str, int]
ELLIPSIS = "..."


class Equation(NamedTuple):
    """Each operand's labels and the result's, with "..." among them; the result's None where it is not written."""

    inputs: tuple[tuple[str, ...], ...]
    output: tuple[str, ...] | None


class Aligned(NamedTuple):
    """One operand: a dimension for each label of the common order, of size 1 where it lacks the label."""

    dims: tuple[Dim, ...]

    @property
    def layout(self) -> Layout:
        return Layout(self.dims)


# ---------------------------------------------------------------- the equation
def parsed(text: str) -> Equation:
    """Raises `Unknowable` for text that is no equation."""
    left, arrow, right = text.replace(" ", "").partition("->")
    inputs = tuple(_labels(part) for part in left.split(","))
    return Equation(inputs, _labels(right) if arrow else None)


def _labels(text: str) -> tuple[str, ...]:
    before, dots, after = text.partition("...")
    labels = (*before, *((ELLIPSIS,) if dots else ()), *after)
    if any(label != ELLIPSIS and not label.isalpha() for label in labels):
        raise Unknowable(f"{text!r} is no part of an equation")
    return labels


def from_sublists(values: Sequence[Any]) -> tuple[Equation, tuple[Any, ...]]:
    """The equation and the operands of `einsum(x, [0, 1], y, [1, 2], [0, 2])`."""
    operands, lists = tuple(values[0::2]), list(values[1::2])
    output = None
    if len(values) % 2:
        operands, output = operands[:-1], _listed(values[-1])
    return Equation(tuple(_listed(one) for one in lists), output), operands


def _listed(labels: Any) -> tuple[str, ...]:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    if not isinstance(labels, (tuple, list)):
        raise Unknowable("no list of labels")
    found: list[str] = []
    for label in labels:
        if label is not Ellipsis and not (isinstance(label, int) and 0 <= label < len(letters)):
            raise Unknowable("a label is not known")
        found.append(ELLIPSIS if label is Ellipsis else letters[label])
    return tuple(found)


def implicit_output(equation: Equation) -> tuple[str, ...]:
    """Without an arrow: the ellipsis, then the labels that occur once, in order."""
    seen = [label for labels in equation.inputs for label in labels]
    once = sorted(label for label in set(seen) if label != ELLIPSIS and seen.count(label) == 1)
    return ((ELLIPSIS,) if ELLIPSIS in seen else ()) + tuple(once)


# ---------------------------------------------------------------- operands in a common order
def by_label(layout: Layout, labels: tuple[str, ...]) -> dict[Label, Dim]:
    """A dimension for each label; a label given twice takes the diagonal. Ellipsis dimensions get numbers."""
    covered = len(layout.dims) - sum(label != ELLIPSIS for label in labels)
    if covered < 0 or (covered and ELLIPSIS not in labels):
        raise Unknowable("the equation does not fit the rank")
    names: list[Label] = []
    for label in labels:
        names += range(-covered, 0) if label == ELLIPSIS else [label]
    found: dict[Label, Dim] = {}
    for name, dim in zip(names, layout.dims, strict=True):
        old = found.get(name)
        if old is not None:
            stride = None if old.stride is None or dim.stride is None else old.stride + dim.stride
            dim = Dim(dim.size, stride)
        found[name] = dim
    return found


def common_order(output: tuple[str, ...], operands: list[dict[Label, Dim]]) -> tuple[list[Label], int]:
    """All labels, those of the result first, and how many these are."""
    depth = max((-name for dims in operands for name in dims if isinstance(name, int)), default=0)
    order: list[Label] = []
    for label in output:
        order += range(-depth, 0) if label == ELLIPSIS else [label]
    kept = len(order)
    if ELLIPSIS not in output:
        order += range(-depth, 0)
    order += sorted({name for dims in operands for name in dims if isinstance(name, str)} - set(output))
    return order, kept


def aligned(dims: dict[Label, Dim], order: list[Label]) -> Aligned:
    return Aligned(tuple(dims.get(label, Dim(1, 1)) for label in order))


# ---------------------------------------------------------------- contraction
def summed(one: Aligned, places: list[int]) -> Aligned:
    """`x.sum(places, keepdim=True)`: packed."""
    if not places:
        return one
    shape = tuple(1 if place in places else dim.extent for place, dim in enumerate(one.dims))
    return Aligned(contiguous(shape).dims)


def contracted(left: Aligned, right: Aligned, kept: int, facts: Facts) -> Layout:
    """The product of two operands summed over all places from `kept` on. Raises `Unknowable` where sizes of 1 that
    may be there would change the order."""
    sums: list[int] = []
    for place in range(kept, len(left.dims)):
        of_left, of_right = (facts.is_one(one.dims[place].size) for one in (left, right))
        if MAYBE in (of_left, of_right):
            raise Unknowable("a size may be 1")
        if of_left is NO and of_right is NO:
            sums.append(place)
        elif of_left is NO:
            left = summed(left, [place])
        elif of_right is NO:
            right = summed(right, [place])
    if not sums:
        whole = elementwise_layout([Operand(left.layout), Operand(right.layout)], facts)
    else:
        whole = Layout(multiplied(left, right, sums, facts))
    return Layout(whole.dims[:kept])


def multiplied(left: Aligned, right: Aligned, sums: list[int], facts: Facts) -> tuple[Dim, ...]:
    """`sumproduct_pair`: the dimensions of a `bmm` of (both, left only, summed) by (both, summed, right only)."""
    both: list[int] = []
    lefts: list[int] = []
    rights: list[int] = []
    for place, (a, b) in enumerate(zip(left.dims, right.dims, strict=True)):
        if place in sums:
            continue
        of_left, of_right = facts.is_one(a.size), facts.is_one(b.size)
        if MAYBE in (of_left, of_right):
            raise Unknowable("a size may be 1")
        (both if of_left is NO and of_right is NO else lefts if of_left is NO else rights).append(place)
    plain = placed(left, right, [*both, *lefts, *sums, *rights], sums)
    if lefts and rights and rights[-1] < lefts[0]:
        # recent versions of torch swap the operands here, so that the result comes out packed
        swapped = placed(left, right, [*both, *rights, *sums, *lefts], sums)
        return tuple(p if p == s else Dim(p.size, None, p.rest) for p, s in zip(plain, swapped, strict=True))
    return plain


def placed(left: Aligned, right: Aligned, order: list[int], sums: list[int]) -> tuple[Dim, ...]:
    """Packed with the dimensions in this order in memory, given back in their own order."""
    sizes = [
        Dim(1, 1) if place in sums else (a if b.size == 1 and b.rest is None else b)
        for place, (a, b) in enumerate(zip(left.dims, right.dims, strict=True))
    ]
    packed = contiguous([sizes[place].extent for place in order]).dims
    return tuple(packed[order.index(place)] for place in range(len(order)))


# ---------------------------------------------------------------- the operator
def einsum(args: Args) -> Outcome:
    """two operands: a batched product permuted to the order asked for; one: a view, or packed when something is summed"""
    values = args.known("operands")
    values = (values,) if isinstance(values, Operand) else values
    if isinstance(values, (tuple, list)) and len(values) == 1 and isinstance(values[0], (tuple, list)):
        values = values[0]
    text = args.values.get("equation")
    if is_unknown(text) or not isinstance(values, (tuple, list)):
        raise Unknowable("the equation is not known")
    equation, tensors = (parsed(text), tuple(values)) if isinstance(text, str) else from_sublists(tuple(values))
    if len(equation.inputs) != len(tensors) or not all(isinstance(one, Operand) for one in tensors):
        raise Unknowable("not as many tensors as the equation has")
    output = implicit_output(equation) if equation.output is None else equation.output
    layouts = [ranked(one, labels, args.facts) for one, labels in zip(tensors, equation.inputs, strict=True)]
    covered = [under_ellipsis(*pair) for pair in zip(layouts, equation.inputs, strict=True) if ELLIPSIS in pair[1]]
    if any(the_rest(layout) is not None for layout in layouts) and len(set(covered)) > 1:
        raise Unknowable("the dimensions under the ellipsis cannot be compared")
    operands = [by_label(layout, labels) for layout, labels in zip(layouts, equation.inputs, strict=True)]
    order, kept = common_order(output, operands)
    if len(tensors) == 1:
        return of_one(args, aligned(operands[0], order), kept, tensors[0])
    shape = result_shape(operands, order[:kept], args.facts)
    dtype = autocast(promoted(tensors))
    if len(tensors) > 2:
        return Result(unknown_strides(shape), dtype)
    try:
        whole = contracted(aligned(operands[0], order), aligned(operands[1], order), kept, args.facts)
    except Unknowable:
        return Result(unknown_strides(shape), dtype)
    return Result(
        Layout(
            tuple(Dim(s.size, d.stride, s.rest) for s, d in zip(unknown_strides(shape).dims, whole.dims, strict=True))
        ),
        dtype,
    )


def ranked(operand: Operand, labels: tuple[str, ...], facts: Facts) -> Layout:
    """The layout with as many dimensions as the equation says; with an ellipsis, those on either side of it known."""
    if ELLIPSIS not in labels:
        layout = with_rank(operand.layout, len(labels), facts)
    else:
        before = labels.index(ELLIPSIS)
        layout = with_leading(operand.layout, before, facts)
        layout = None if layout is None else with_trailing(layout, len(labels) - 1 - before, facts)
        layout = None if layout is None else settle(layout, facts)
    if layout is None or (the_rest(layout) is not None and ELLIPSIS not in labels):
        raise Unknowable("the equation does not fit the rank")
    return layout


def under_ellipsis(layout: Layout, labels: tuple[str, ...]) -> tuple[Any, ...]:
    before = labels.index(ELLIPSIS)
    return layout.shape[before : len(layout.dims) - (len(labels) - 1 - before)]


def result_shape(operands: list[dict[Label, Dim]], labels: list[Label], facts: Facts) -> tuple[Any, ...]:
    shape: list[Any] = []
    for label in labels:
        extents = [dims[label].extent for dims in operands if label in dims]
        found = broadcast_shape([(extent,) for extent in extents], facts)
        if found is None:
            raise Unknowable("the sizes of a label differ")
        shape += found
    return tuple(shape)


def of_one(args: Args, one: Aligned, kept: int, operand: Operand) -> Outcome:
    """One operand: a view of it, or its sum."""
    dims = one.dims[:kept]
    if kept == len(one.dims):
        return Result(Layout(dims, operand.layout.offset), operand.dtype, YES, of="operands")
    return Result(contiguous([dim.extent for dim in dims]), autocast(operand.dtype))


# fmt: off
SEVERAL = "three and more operands are multiplied in an order that depends on what is installed; some orders depend on torch's version"
op("einsum(str equation, Any[] operands) -> Tensor", alias=Alias.MAYBE_VIEW, layout=einsum, example="torch.einsum('...ij,...kj->...ik', x, x)", spellings=("torch.functional.einsum",), unknown=SEVERAL)
op("einsum.sublists(Any[] operands) -> Tensor", alias=Alias.MAYBE_VIEW, layout=einsum, example="torch.einsum(x, [..., 0, 1], x, [..., 2, 1], [..., 2, 0])", unknown=SEVERAL)
# fmt: on
