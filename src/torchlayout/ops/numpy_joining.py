"""NumPy's functions that join arrays, and those that split one."""

from __future__ import annotations

from torchlayout.layouts import Dim, Layout, contiguous, settle
from torchlayout.ops.numpy_layouts import array, array_result, axis_of, joined_layout
from torchlayout.ops.numpy_math import along
from torchlayout.ops.numpy_rows import FRESH, VIEW, paths, viewed
from torchlayout.ops.splitting import MAX_PIECES
from torchlayout.ops.table import Args, op
from torchlayout.ops.transfers import promoted
from torchlayout.ops.values import UNKNOWN, Outcome, Unknowable
from torchlayout.sizes import Facts, Size


def _joined(layouts: list[Layout], place: int, facts: Facts) -> Layout:
    """`concatenate`: the strides' order of all arrays together (`PyArray_CreateMultiSortedStrideInfo`)."""
    first = layouts[0]
    rank = len(first.dims)
    if any(layout.rank != rank for layout in layouts) or rank == 0:
        raise Unknowable("arrays of other ranks")
    total: Size = 0
    for layout in layouts:
        total = total + layout.sizes[place]
    return joined_layout(layouts, (*first.shape[:place], total, *first.shape[place + 1 :]), facts)


def arrays(args: Args) -> list[Layout]:
    """A sequence of arrays. Raises `Unknowable` for anything else, a tensor among them too."""
    operands = args.operands("arrays")
    if not operands or not all(operand.numpy for operand in operands):
        raise Unknowable("no sequence of arrays")
    return [settle(operand.layout, args.facts) for operand in operands]


def concatenated(args: Args) -> Outcome:
    """packed in the arrays' common order"""
    layouts = arrays(args)
    if args["axis"] is None:
        return UNKNOWN
    if any(layout.rank is None for layout in layouts):
        return UNKNOWN
    place = axis_of(args.integer("axis"), len(layouts[0].dims))
    return array_result(_joined(layouts, place, args.facts), promoted(args["arrays"]))


def stacked(args: Args) -> Outcome:
    """packed in the arrays' common order"""
    layouts = arrays(args)
    first = layouts[0]
    count = len(layouts)
    if any(layout.rank is None or len(layout.dims) != len(first.dims) for layout in layouts):
        return UNKNOWN
    place = axis_of(args.integer("axis"), len(first.dims) + 1)
    shape = (*first.shape[:place], count, *first.shape[place:])
    wide = [Layout((*layout.dims[:place], Dim(1, 0), *layout.dims[place:])) for layout in layouts]
    return array_result(joined_layout(wide, shape, args.facts), promoted(args["arrays"]))


def joined_rows(args: Args) -> Outcome:
    """as `concatenate` along the first dimension, vectors as rows"""
    layouts = arrays(args)
    if any(layout.rank is None for layout in layouts):
        return UNKNOWN
    rows = [Layout((Dim(1, layout.numel), *layout.dims)) if len(layout.dims) == 1 else layout for layout in layouts]
    if len(layouts[0].dims) == 1:
        return array_result(contiguous((len(rows), layouts[0].sizes[0])), promoted(args["arrays"]))
    return array_result(_joined(rows, 0, args.facts), promoted(args["arrays"]))


def joined_columns(args: Args) -> Outcome:
    """as `concatenate` along the second dimension, or of vectors"""
    layouts = arrays(args)
    if any(layout.rank is None for layout in layouts):
        return UNKNOWN
    return array_result(_joined(layouts, 0 if len(layouts[0].dims) == 1 else 1, args.facts), promoted(args["arrays"]))


def split(args: Args) -> Outcome:
    """views along one dimension"""
    operand = array(args)
    layout, place = along(args)
    dim = layout.dims[place]
    sections = args["indices_or_sections"]
    if not isinstance(sections, int) or sections < 1:
        return UNKNOWN
    size, left = args.facts.floor_divide(dim.size, sections), args.facts.modulo(dim.size, sections)
    if left != 0 and args.op.name == "array_split" and not (isinstance(size, int) and isinstance(left, int)):
        return UNKNOWN
    if sections > MAX_PIECES:
        return UNKNOWN
    pieces: list[Outcome] = []
    for i in range(sections):
        length = size + (1 if isinstance(left, int) and i < left and args.op.name == "array_split" else 0)
        dims = (*layout.dims[:place], Dim(length, dim.stride), *layout.dims[place + 1 :])
        pieces.append(viewed(operand, Layout(dims, None)))
    return tuple(pieces)


# fmt: off
op("concatenate(Tensor[] arrays, int? axis=0, Any? out=None, *, Any? dtype=None, str casting='same_kind') -> Tensor", alias=FRESH, layout=concatenated, example="np.concatenate([a, a])", spellings=paths("concatenate", "concat"), numpy=True, path_only=True, unknown="the arrays' orders differ")
op("stack(Tensor[] arrays, int axis=0, Any? out=None, *, Any? dtype=None, str casting='same_kind') -> Tensor", alias=FRESH, layout=stacked, example="np.stack([a, a])", spellings=paths("stack"), numpy=True, path_only=True, unknown="the arrays' sizes are not known")
op("vstack(Tensor[] arrays, *, Any? dtype=None, str casting='same_kind') -> Tensor", alias=FRESH, layout=joined_rows, example="np.vstack([a, a])", spellings=paths("vstack", "row_stack"), numpy=True, path_only=True, unknown="the arrays' orders differ")
op("hstack(Tensor[] arrays, *, Any? dtype=None, str casting='same_kind') -> Tensor", alias=FRESH, layout=joined_columns, example="np.hstack([a, a])", spellings=paths("hstack"), numpy=True, path_only=True, unknown="the arrays' orders differ")
for _name in ("split", "array_split"):
    op(f"{_name}(Tensor self, Any indices_or_sections, int axis=0) -> Tensor(a)[]", alias=VIEW, layout=split, example=f"np.{_name}(a, 1)", spellings=paths(_name), numpy=True, path_only=True, unknown="split at given indices")
# fmt: on
