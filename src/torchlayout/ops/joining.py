"""Several tensors into one: cat, stack and their kin."""

from __future__ import annotations

from collections.abc import Sequence

from torchlayout.layouts import (
    Dim,
    Layout,
    ShapeMismatch,
    broadcast,
    channels_last,
    contiguous,
    expand_to,
    is_contiguous,
    settle,
    suggests_channels_last,
    unknown_strides,
    with_leading,
    with_trailing,
)
from torchlayout.ops.table import Args, op
from torchlayout.ops.transfers import promoted, wrapped
from torchlayout.ops.values import Alias, Many, Operand, Outcome, Result, Unknowable
from torchlayout.sizes import MAYBE, NO, YES, Extent, Facts, Rest, Shape, Size, Truth, every, product

FRESH, VIEW = Alias.FRESH, Alias.VIEW


def given(args: Args, name: str = "tensors") -> tuple[list[Operand], bool]:
    """The tensors of a list, and whether these are all; of a list of unknown length one that stands for each."""
    value = args.known(name)
    if isinstance(value, Many):
        if not isinstance(value.item, Operand):
            raise Unknowable("a list of what is no tensor")
        return [value.item], False
    operands = list(args.operands(name))
    if not operands:
        raise Unknowable("an empty list")
    return operands, True


# ---------------------------------------------------------------- cat
def joined(layouts: Sequence[Layout], dim: int, facts: Facts, whole: bool = True) -> Layout:
    """The layout of a concatenation: channels_last where torch takes all tensors for such, else packed."""
    layouts = [settle(layout, facts) for layout in layouts]
    counted = [layout for layout in layouts if not _is_legacy_empty(layout)] or [layouts[0]]
    known = [_reaching(layout, dim, facts) for layout in counted]
    first = known[0]
    rank = len(first.dims)
    place = wrapped(dim, rank) if first.rank is not None else dim % rank
    total: Size = 0
    for layout in known:
        if len(layout.dims) != rank and layout.rank is not None and first.rank is not None:
            raise Unknowable("ranks differ")
        at = place if dim >= 0 else len(layout.dims) + dim
        if layout.dims[at].rest is not None:
            raise Unknowable("a dimension that is not known")
        total = total + layout.dims[at].size
    if not whole:
        total = facts.symbols.fresh("cat")
    shape = (*_agreed(known, place, facts)[:place], facts.normal(total), *_agreed(known, place, facts)[place + 1 :])
    return _in_common_format(layouts, shape, facts)


def _is_legacy_empty(layout: Layout) -> bool:
    """`torch.tensor([])`, which torch skips."""
    return len(layout.dims) == 1 and layout.dims[0].rest is None and layout.dims[0].size == 0


def _reaching(layout: Layout, dim: int, facts: Facts) -> Layout:
    found = with_leading(layout, dim + 1, facts) if dim >= 0 else with_trailing(layout, -dim, facts)
    if found is None or not found.dims:
        raise Unknowable(f"there is no dimension {dim}")
    return found


def _agreed(layouts: Sequence[Layout], place: int, facts: Facts) -> Shape:
    """The shape, dimension by dimension the best known of all tensors: torch asks them to be equal."""
    first = layouts[0]
    extents = list(first.shape)
    for other in layouts[1:]:
        if len(other.dims) != len(extents):
            continue
        for i, extent in enumerate(other.shape):
            mine = extents[i]
            if i == place or isinstance(extent, Rest) or isinstance(mine, Rest):
                continue
            if facts.equal(mine, extent) is NO:
                raise Unknowable("sizes differ")
            facts.learn_equal(mine, extent)
            if isinstance(extent, int):
                extents[i] = extent
    return tuple(extents)


def _in_common_format(layouts: Sequence[Layout], shape: Shape, facts: Facts) -> Layout:
    """`cat_compute_output_memory_format` in ATen/native/TensorShape.cpp."""
    answer = every(_suggests(layout, facts) for layout in layouts)
    if answer is NO:
        return contiguous(shape)
    if answer is MAYBE or any(isinstance(extent, Rest) for extent in shape):
        return unknown_strides(shape)
    return channels_last([extent for extent in shape if not isinstance(extent, Rest)])


def _suggests(layout: Layout, facts: Facts) -> Truth:
    answer = suggests_channels_last(layout, facts)
    if answer is MAYBE and is_contiguous(layout, facts) is YES:
        # row-major strides never look like channels_last; only sizes of 1 let others be called contiguous too
        return NO
    return answer


def concatenated(args: Args) -> Outcome:
    """the sizes along one dimension added; channels_last where all tensors are, else packed"""
    operands, whole = given(args)
    layout = joined([operand.layout for operand in operands], args.integer("dim"), args.facts, whole)
    return Result(layout, promoted(operands))


# ---------------------------------------------------------------- stacking
def stacked(args: Args) -> Outcome:
    """a dimension more; packed, but channels_last tensors stay so where the new dimension is not the last"""
    operands, whole = given(args)
    facts = args.facts
    dim = args.integer("dim")
    layouts = [settle(operand.layout, facts) for operand in operands]
    first = next((layout for layout in layouts if layout.rank is not None), layouts[0])
    count: Size = len(operands) if whole else facts.symbols.fresh("stack")
    if dim >= 0:
        first = _reaching(first, dim - 1, facts) if dim else first
        place = dim
    else:
        first = _reaching(first, dim + 1, facts) if dim < -1 else first
        place = len(first.dims) + 1 + dim
    if not 0 <= place <= len(first.dims):
        raise Unknowable("out of range")
    layouts = [settle(layout, facts) for layout in layouts]
    return Result(_stack_layout(layouts, settle(first, facts).shape, place, count, facts), promoted(operands))


def _stack_layout(layouts: list[Layout], shape: Shape, place: int, count: Size, facts: Facts) -> Layout:
    """torch concatenates along the dimension and splits it, or, for a new last dimension, what is unsqueezed."""
    last = place == len(shape)
    inputs = [layout.replace([*layout.dims, Dim(1, 1)]) for layout in layouts] if last else layouts
    wanted = (*shape[:place], count, *shape[place:])
    answer = every(_suggests(layout, facts) for layout in inputs)
    if answer is NO:
        return contiguous(wanted)
    extents = [extent for extent in shape if not isinstance(extent, Rest)]
    if answer is MAYBE or len(extents) < len(shape):
        return unknown_strides(wanted)
    if last:
        return channels_last([*extents, count])
    size = extents[place]
    joint = channels_last([*extents[:place], size * count, *extents[place + 1 :]]).dims
    stride = joint[place].stride
    assert stride is not None
    return Layout((*joint[:place], Dim(count, stride * size), Dim(size, stride), *joint[place + 1 :]))


def at_least(layout: Layout, rank: int) -> Layout:
    """With leading and trailing dimensions of size 1, as `atleast_1d`, `atleast_2d` and `atleast_3d` add them."""
    if layout.rank is None:
        raise Unknowable("an unknown rank")
    dims = list(layout.dims)
    if not dims:
        return layout.replace([Dim(1, 1)] * rank)
    if rank >= 2 and len(dims) == 1:
        dims.insert(0, Dim(1, _outer(dims[0])))
    if rank == 3 and len(dims) == 2:
        dims.append(Dim(1, 1))
    return layout.replace(dims)


def _outer(dim: Dim) -> Size | None:
    return None if dim.stride is None else dim.size * dim.stride


def _stacked_along(rank: int, dim: int, args: Args) -> Outcome:
    operands, whole = given(args)
    layouts = [at_least(settle(operand.layout, args.facts), rank) for operand in operands]
    return Result(joined(layouts, dim, args.facts, whole), promoted(operands))


def stacked_sideways(args: Args) -> Outcome:
    """joined along the second dimension, vectors along their only one"""
    operands, _ = given(args)
    first = at_least(settle(operands[0].layout, args.facts), 1)
    return _stacked_along(1, 0 if len(first.dims) == 1 else 1, args)


def stacked_down(args: Args) -> Outcome:
    """joined along the first dimension, vectors as rows"""
    return _stacked_along(2, 0, args)


def stacked_deep(args: Args) -> Outcome:
    """joined along the third dimension"""
    return _stacked_along(3, 2, args)


def stacked_columns(args: Args) -> Outcome:
    """joined along the second dimension, vectors as columns"""
    operands, whole = given(args)
    layouts = []
    for operand in operands:
        layout = settle(operand.layout, args.facts)
        if layout.rank is None and sum(dim.rest is None for dim in layout.dims) < 2:
            raise Unknowable("an unknown rank")
        layouts.append(layout if len(layout.dims) > 1 else contiguous((layout.numel, 1)))
    return Result(joined(layouts, 1, args.facts, whole), promoted(operands))


def raised(rank: int, args: Args) -> Outcome:
    value = args.known("tensors")
    items = value if isinstance(value, (tuple, list)) else (value,)
    results = []
    for item in items:
        if not isinstance(item, Operand):
            raise Unknowable("no tensor")
        results.append(Result(at_least(settle(item.layout, args.facts), rank), item.dtype, YES, of="tensors"))
    return results[0] if len(results) == 1 and isinstance(value, Operand) else tuple(results)


def at_least_1d(args: Args) -> Outcome:
    """a number gets a dimension"""
    return raised(1, args)


def at_least_2d(args: Args) -> Outcome:
    """dimensions of size 1 put in front"""
    return raised(2, args)


def at_least_3d(args: Args) -> Outcome:
    """dimensions of size 1 put in front and behind"""
    return raised(3, args)


# ---------------------------------------------------------------- broadcasting and grids
def broadcast_all(args: Args) -> Outcome:
    """each expanded to the common shape"""
    operands, whole = given(args)
    layouts = [settle(operand.layout, args.facts) for operand in operands]
    try:
        shape = broadcast([layout.shape for layout in layouts], args.facts)
    except ShapeMismatch as error:
        raise Unknowable(str(error)) from error
    if shape is None or not whole:
        raise Unknowable("the common shape is not known")
    wide = [expand_to(layout, shape, args.facts) or unknown_strides(shape) for layout in layouts]
    return tuple(Result(one, op.dtype, YES, of="tensors") for one, op in zip(wide, operands, strict=True))


def grid(args: Args) -> Outcome:
    """each expanded along the dimensions of the others, with stride 0"""
    operands, whole = given(args)
    if not whole:
        raise Unknowable("how many dimensions")
    columns = [_vector(operand, args.facts) for operand in operands]
    swap = args["indexing"] == "xy" and len(columns) > 1
    results = []
    for place, column in enumerate(columns):
        dims = [Dim(other.size, column.stride if i == place else 0) for i, other in enumerate(columns)]
        if swap:
            dims[0], dims[1] = dims[1], dims[0]
        offset = settle(operands[place].layout, args.facts).offset
        results.append(Result(Layout(tuple(dims), offset), operands[place].dtype, YES, of="tensors"))
    return tuple(results)


def _vector(operand: Operand, facts: Facts) -> Dim:
    layout = settle(operand.layout, facts)
    if layout.rank is None or len(layout.dims) > 1:
        raise Unknowable("no vector")
    return layout.dims[0] if layout.dims else Dim(1, 1)


def pairs(args: Args) -> Outcome:
    """one row for each combination, packed"""
    operands, whole = given(args)
    if not whole:
        raise Unknowable("how many tensors")
    if len(operands) == 1:
        return itself_of(args, operands[0])
    count = product(_vector(operand, args.facts).size for operand in operands)
    return Result(contiguous((count, len(operands))), promoted(operands))


def itself_of(args: Args, operand: Operand) -> Result:
    return Result(settle(operand.layout, args.facts), operand.dtype, YES, of="tensors")


def chosen_rows(args: Args) -> Outcome:
    """one row for each combination of elements, packed"""
    size = _vector(args.operand(), args.facts).size
    taken = args.integer("r")
    if not isinstance(size, int):
        rows: Size = args.facts.symbols.fresh("combinations")
    elif taken > MAX_TAKEN:
        raise Unknowable("too many combinations to count")
    else:
        rows = _binomial(size + taken - 1 if args.flag("with_replacement") else size, taken)
    return Result(contiguous((rows, taken)), args.operand().dtype)


MAX_TAKEN = 64


def _binomial(n: int, k: int) -> int:
    result = 1
    for i in range(k):
        result = result * (n - i) // (i + 1)
    return max(result, 0)


def diagonal_blocks(args: Args) -> Outcome:
    """a matrix of all blocks, packed"""
    operands, whole = given(args)
    if not whole:
        raise Unknowable("how many tensors")
    rows: Size = 0
    columns: Size = 0
    for operand in operands:
        layout = settle(operand.layout, args.facts)
        if layout.rank is None or layout.rank > 2:
            raise Unknowable("no matrix")
        sizes = [1] * (2 - layout.rank) + list(layout.sizes)
        rows, columns = rows + sizes[0], columns + sizes[1]
    return Result(contiguous((rows, columns)), promoted(operands))


def padded_sequences(args: Args) -> Outcome:
    """the longest length and the number of sequences in front, packed"""
    operands, whole = given(args, "sequences")
    facts = args.facts
    layouts = [_reaching(settle(operand.layout, facts), 0, facts) for operand in operands]
    count: Size = len(operands) if whole else facts.symbols.fresh("sequences")
    longest: Size = layouts[0].dims[0].size
    for layout in layouts[1:]:
        longest = facts.extreme("max", longest, layout.dims[0].size)
    if not whole:
        longest = facts.symbols.fresh("longest")
    leading: tuple[Extent, ...] = (count, longest) if args.flag("batch_first") else (longest, count)
    return Result(contiguous((*leading, *layouts[0].shape[1:])), operands[0].dtype)


# fmt: off
op("cat(Tensor[] tensors, int dim=0) -> Tensor", alias=FRESH, layout=concatenated, example="torch.cat([x, x], -1)", spellings=("concat", "concatenate"))
op("stack(Tensor[] tensors, int dim=0) -> Tensor", alias=FRESH, layout=stacked, example="torch.stack([x, x], -1)")
op("hstack(Tensor[] tensors) -> Tensor", alias=FRESH, layout=stacked_sideways, example="torch.hstack([x, x])")
op("vstack(Tensor[] tensors) -> Tensor", alias=FRESH, layout=stacked_down, example="torch.vstack([x, x])", spellings=("row_stack",))
op("dstack(Tensor[] tensors) -> Tensor", alias=FRESH, layout=stacked_deep, example="torch.dstack([x, x])")
op("column_stack(Tensor[] tensors) -> Tensor", alias=FRESH, layout=stacked_columns, example="torch.column_stack([x, x])")
for _rank, _transfer in enumerate((at_least_1d, at_least_2d, at_least_3d), 1):
    op(f"atleast_{_rank}d(Tensor tensors) -> Tensor", alias=VIEW, layout=_transfer, example=f"torch.atleast_{_rank}d(x)")
    op(f"atleast_{_rank}d(Tensor[] tensors) -> Tensor[]", alias=VIEW, layout=_transfer, example=f"torch.atleast_{_rank}d(x, x)")
op("broadcast_tensors(Tensor[] tensors) -> Tensor[]", alias=VIEW, layout=broadcast_all, example="torch.broadcast_tensors(x, x[:1])")
op("meshgrid(Tensor[] tensors, *, str? indexing=None) -> Tensor[]", alias=VIEW, layout=grid, example="torch.meshgrid(x.flatten()[:3], torch.ones(4), indexing='xy')")
op("cartesian_prod(Tensor[] tensors) -> Tensor", alias=FRESH, layout=pairs, example="torch.cartesian_prod(x.flatten(), torch.ones(3))")
op("combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor", alias=FRESH, layout=chosen_rows, example="torch.combinations(x.flatten()[:5], 3)")
op("block_diag(Tensor[] tensors) -> Tensor", alias=FRESH, layout=diagonal_blocks, example="torch.block_diag(x, torch.ones(2, 3))")
op("pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0.0, str padding_side='right') -> Tensor", alias=FRESH, layout=padded_sequences, example="torch.nn.utils.rnn.pad_sequence([x, x[:1]], True)", spellings=("torch.nn.utils.rnn.pad_sequence",))
# fmt: on
