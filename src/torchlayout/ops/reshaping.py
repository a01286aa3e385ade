"""view, reshape and their kin: the same elements in another shape, a view where strides can express it."""

from __future__ import annotations

from torchlayout.layouts import (
    Layout,
    contiguous,
    infer_shape,
    learn_even_splits,
    settle,
    settle_shape,
    unknown_strides,
    view,
)
from torchlayout.layouts import is_contiguous as is_packed
from torchlayout.ops.table import Args, op
from torchlayout.ops.transfers import itself, wrapped
from torchlayout.ops.values import Alias, Outcome, Refused, Result, Unknowable, is_unknown
from torchlayout.ops.views import real_dim
from torchlayout.sizes import MAYBE, NO, YES, Extent, Facts, Poly, Rest, Shape, product

VIEW, MAYBE_VIEW = Alias.VIEW, Alias.MAYBE_VIEW

NO_SUCH_VIEW = "view size is not compatible with input tensor's size and stride"


def viewed(args: Args, layout: Layout, shape: Shape) -> Outcome:
    """`x.view(shape)`. Raises `Refused` where the strides cannot express the shape."""
    facts = args.facts
    learn_numel(layout, shape, facts)
    answer = view(layout, shape, facts)
    if answer is None:
        raise Unknowable("another number of elements")
    if answer.exists is NO or answer.layout is None:
        raise Refused("view", NO_SUCH_VIEW, shape=infer_shape(layout.numel, settle_shape(shape, facts), facts))
    operand = args.operand()
    return Result(
        settle(answer.layout, facts),
        operand.dtype,
        YES,
        operand.numpy,
        exists=answer.exists,
        by_chance=answer.by_chance,
    )


def reshaped(args: Args, layout: Layout, shape: Shape) -> Outcome:
    """`x.reshape(shape)`: a view where one exists, else a packed copy."""
    facts = args.facts
    learn_numel(layout, shape, facts)
    answer = view(layout, shape, facts)
    if answer is None:
        raise Unknowable("another number of elements")
    wanted = infer_shape(layout.numel, settle_shape(shape, facts), facts)
    assert wanted is not None
    operand = args.operand()
    if answer.exists is YES and answer.layout is not None:
        return Result(settle(answer.layout, facts), operand.dtype, YES)
    if answer.exists is NO:
        return Result(settle(contiguous(wanted), facts), operand.dtype, NO)
    either = contiguous(wanted, None) if _flat_either_way(layout, wanted, facts) else unknown_strides(wanted)
    return Result(settle(either, facts), operand.dtype, MAYBE)


def _flat_either_way(layout: Layout, wanted: Shape, facts: Facts) -> bool:
    """Whether a result of one dimension is packed even as a view: its stride is that of the innermost dimension."""
    if len(wanted) != 1:
        return False
    for dim in reversed(layout.dims):
        one = facts.is_one(dim.size)
        if one is YES:
            continue
        return one is NO and dim.stride == 1
    return False


def learn_numel(layout: Layout, shape: Shape, facts: Facts) -> None:
    """Both shapes have as many elements, or the call raises whatever the strides."""
    learn_even_splits(shape, facts)
    if any(isinstance(extent, int) and extent < 0 for extent in shape):
        return
    facts.learn_equal(layout.numel, product(e.numel if isinstance(e, Rest) else e for e in shape))


def wanted_shape(args: Args, name: str) -> Shape:
    """The sizes asked for. One that is not known is an unknown of its own; -1 is taken to be written as such."""
    value = args.known(name)
    items = value if isinstance(value, (tuple, list)) else (value,)
    facts = args.facts
    shape: list[Extent] = []
    for place, item in enumerate(items):
        if isinstance(item, Rest):
            shape.append(item)
        elif isinstance(item, (int, Poly)) and not isinstance(item, bool):
            shape.append(facts.normal(item))
        elif is_unknown(item):
            shape.append(facts.symbols.fresh(("size", place)))
        else:
            raise Unknowable("a size that is no int")
    return tuple(shape)


def view_sizes(args: Args) -> Outcome:
    """the sizes given, over the same elements; raises where the strides cannot express them"""
    return viewed(args, args.layout(), wanted_shape(args, "size"))


def view_copy(args: Args) -> Outcome:
    """the sizes given, packed"""
    layout, shape = args.layout(), wanted_shape(args, "size")
    wanted = infer_shape(layout.numel, settle_shape(shape, args.facts), args.facts)
    if wanted is None:
        raise Unknowable("another number of elements")
    learn_numel(layout, shape, args.facts)
    return Result(settle(contiguous(wanted), args.facts), args.operand().dtype)


def view_like(args: Args) -> Outcome:
    """the sizes of another tensor; raises where the strides cannot express them"""
    return viewed(args, args.layout(), args.layout("other").shape)


def reshape_sizes(args: Args) -> Outcome:
    """the sizes given: a view where the strides can express them, else a packed copy"""
    return reshaped(args, args.layout(), wanted_shape(args, "shape"))


def reshape_like(args: Args) -> Outcome:
    """the sizes of another tensor: a view where the strides can express them, else a packed copy"""
    return reshaped(args, args.layout(), args.layout("other").shape)


def flattened(args: Args) -> Outcome:
    """dimensions merged: a view where they lie next to each other, else a packed copy"""
    start, end = args.integer("start_dim"), args.integer("end_dim")
    layout = args.layout()
    if layout.rank == 0:
        wrapped(start, 0), wrapped(end, 0)
        return reshaped(args, layout, (1,))
    if end == -1 and start >= 0:
        return _flattened_to_the_end(args, layout, start)
    layout = args.reaching(layout, start, end)
    count = len(layout.dims)
    first, last = start % count, end % count
    if layout.rank is None and (start < 0) == (end < 0) and end - start + 1 != last - first + 1:
        raise Unknowable("dimensions in the middle of an unknown rank")
    if first > last:
        raise Unknowable("start_dim comes after end_dim")
    if first == last and layout.dims[first].rest is None:
        return itself(args)
    merged = product(dim.size for dim in layout.dims[first : last + 1])
    return reshaped(args, layout, (*layout.shape[:first], merged, *layout.shape[last + 1 :]))


def _flattened_to_the_end(args: Args, layout: Layout, start: int) -> Outcome:
    """`x.flatten(1)`: how many dimensions are merged need not be known."""
    layout = args.reaching(layout, start - 1) if start else layout
    if len(layout.dims) <= start:
        raise Unknowable("start_dim is out of range")
    if len(layout.dims) == start + 1 and layout.dims[start].rest is None:
        return itself(args)
    merged = product(dim.size for dim in layout.dims[start:])
    return reshaped(args, layout, (*layout.shape[:start], merged))


def unflattened(args: Args) -> Outcome:
    """one dimension split; raises where the strides cannot express it"""
    sizes = wanted_shape(args, "sizes")
    layout, place = real_dim(args, args.integer("dim"))
    facts = args.facts
    size = layout.dims[place].size
    parts = infer_shape(size, sizes, facts)
    if parts is None:
        raise Unknowable("another number of elements")
    learn_numel(Layout((layout.dims[place],)), sizes, facts)
    return viewed(args, layout, (*layout.shape[:place], *parts, *layout.shape[place + 1 :]))


def raveled(args: Args) -> Outcome:
    """one dimension: a view where contiguous, else a packed copy"""
    layout = args.layout()
    answer = is_packed(layout, args.facts)
    flat = contiguous((layout.numel,), layout.offset if answer is YES else None if answer is MAYBE else 0)
    return Result(flat, args.operand().dtype, answer)


# fmt: off
op("view(Tensor(a) self, SymInt[] size) -> Tensor(a)", alias=VIEW, layout=view_sizes, example="x.view(-1)")
op("view_copy(Tensor self, SymInt[] size) -> Tensor", alias=Alias.FRESH, layout=view_copy, example="torch.view_copy(x, (-1,))")
op("view_as(Tensor(a) self, Tensor other) -> Tensor(a)", alias=VIEW, layout=view_like, example="x.view_as(torch.ones(x.numel()))")
op("reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", alias=MAYBE_VIEW, layout=reshape_sizes, example="x.reshape(2, -1)")
op("reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", alias=MAYBE_VIEW, layout=reshape_like, example="x.reshape_as(torch.ones(x.numel(), 1))")
op("flatten(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)", alias=MAYBE_VIEW, layout=flattened, example="x.flatten(1)")
op("unflatten(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)", alias=VIEW, layout=unflattened, example="x.unflatten(-1, (2, -1))")
op("ravel(Tensor(a) self) -> Tensor(a)", alias=MAYBE_VIEW, layout=raveled, example="x.ravel()")
# fmt: on
