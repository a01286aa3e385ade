"""Reading and writing at indices: gather, index_select, masked_select, scatter and their kin."""

from __future__ import annotations

from torchlayout.layouts import contiguous, has_overlap, preserved, strided, unknown_strides, view
from torchlayout.ops.reshaping import NO_SUCH_VIEW
from torchlayout.ops.table import Args, op
from torchlayout.ops.transfers import INT64, at_dim, broadcast_shape, packed_like, replaced
from torchlayout.ops.values import Alias, Outcome, Refused, Result, Unknowable
from torchlayout.sizes import NO, YES

FRESH = Alias.FRESH


def rows_chosen(args: Args) -> Outcome:
    """as many indices as were given along one dimension, packed"""
    operand = args.operand()
    layout, place = at_dim(args, args.layout(), args.integer("dim"))
    if place < 0:
        return Result(contiguous(()), operand.dtype)
    chosen = args.layout("index")
    if chosen.rank == 0:
        return Result(contiguous(replaced(layout.shape, place, [1])), operand.dtype)
    chosen = args.ranked("index", 1)
    return Result(contiguous(replaced(layout.shape, place, chosen.sizes)), operand.dtype)


def gathered(args: Args) -> Outcome:
    """the sizes of the index, packed"""
    return Result(contiguous(args.layout("index").shape), args.operand().dtype)


def taken_along(args: Args) -> Outcome:
    """sizes broadcast, but for the dimension indexed; packed"""
    operand, indices = args.operand(), args.layout("indices")
    if args["dim"] is None:
        for name in ("self", "indices"):
            answer = view(args.layout(name), (args.layout(name).numel,), args.facts)
            if answer is not None and answer.exists is NO:
                raise Refused("view", NO_SUCH_VIEW, name)  # it takes a view(-1) of both
        return Result(contiguous((indices.numel,)), operand.dtype)
    layout, place = at_dim(args, args.layout(), args.integer("dim"))
    if layout.rank is None or indices.rank is None or layout.rank != indices.rank or place < 0:
        raise Unknowable("ranks that do not fit")
    size = indices.sizes[place]
    shape = broadcast_shape([replaced(one.shape, place, [size]) for one in (layout, indices)], args.facts)
    if shape is None:
        raise Unknowable("sizes that do not fit")
    return Result(contiguous(shape), operand.dtype)


def masked(args: Args) -> Outcome:
    """one dimension, packed, as long as the mask has ones"""
    return Result(contiguous((args.facts.symbols.fresh("masked"),)), args.operand().dtype)


def masked_over(args: Args) -> Outcome:
    """sizes broadcast with the mask's, packed"""
    shape = broadcast_shape([args.layout().shape, args.layout("mask").shape], args.facts)
    if shape is None:
        raise Unknowable("sizes that cannot be compared")
    return Result(contiguous(shape), args.operand().dtype)


def changed_copy(args: Args) -> Outcome:
    """a copy with the same strides where these are dense, else without the gaps"""
    return Result(preserved(args.layout(), args.facts), args.operand().dtype)


def changed_over(args: Args) -> Outcome:
    """a copy with the very same strides, gaps included; a packed one of a tensor that overlaps"""
    operand, layout = args.operand(), args.layout()
    overlaps = has_overlap(layout, args.facts)
    if overlaps is NO:
        return Result(layout, operand.dtype)
    return Result(preserved(layout, args.facts) if overlaps is YES else unknown_strides(layout.shape), operand.dtype)


def found_places(args: Args) -> Outcome:
    """one row for each element that is not 0; on the CPU the columns are packed"""
    operand, layout, facts = args.operand(), args.layout(), args.facts
    count = facts.symbols.fresh("nonzero")
    if layout.rank is None:
        raise Unknowable("how many dimensions")
    if args.values.get("as_tuple") is True:
        return tuple([Result(unknown_strides((count,)), INT64)] * max(layout.rank, 1))
    shape = (count, layout.rank)
    columns = strided(shape, (1, count)) if operand.device == "cpu" else unknown_strides(shape)
    return Result(columns, INT64)


def padded_places(args: Args) -> Outcome:
    """as many rows as asked for, packed"""
    return Result(contiguous((args.size("size"), len(args.ranked().dims))), INT64)


# fmt: off
op("index_select(Tensor self, int dim, Tensor index) -> Tensor", alias=FRESH, layout=rows_chosen, example="x.index_select(-1, torch.tensor([0, 1, 0]))")
op("gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor", alias=FRESH, layout=gathered, example="x.gather(-1, torch.zeros(x.shape).long())")
op("take(Tensor self, Tensor index) -> Tensor", alias=FRESH, layout=gathered, example="x.take(torch.tensor([[0], [1]]))")
op("take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor", alias=FRESH, layout=taken_along, example="x.take_along_dim(torch.zeros(x.shape).long(), -1)")
op("masked_select(Tensor self, Tensor mask) -> Tensor", alias=FRESH, layout=masked, example="x.masked_select(x > 0.5)", unknown="as long as the mask has ones")
op("masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", alias=FRESH, layout=masked_over, example="x.masked_scatter(x > 0.5, torch.ones(x.numel()))")
op("index_fill(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", alias=FRESH, layout=changed_copy, example="x.index_fill(0, torch.tensor([0]), 1)")
op("index_fill(Tensor self, int dim, Tensor index, Tensor value) -> Tensor", alias=FRESH, layout=changed_copy, example="x.index_fill(0, torch.tensor([0]), torch.tensor(1.0))")
op("index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor", alias=FRESH, layout=changed_copy, example="x.index_put((torch.tensor([0]),), torch.tensor(1.0))")
op("put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor", alias=FRESH, layout=changed_copy, example="x.put(torch.tensor([0]), torch.ones(1))")
op("index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor", alias=FRESH, layout=packed_like, example="x.index_add(-1, torch.arange(x.size(-1)), x)")
op("index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", alias=FRESH, layout=packed_like, example="x.index_copy(-1, torch.arange(x.size(-1)), x)")
op("index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor", alias=FRESH, layout=packed_like, example="x.index_reduce(-1, torch.arange(x.size(-1)), x, 'amax')")
op("scatter(Tensor self, int dim, Tensor index, Any src, *, str? reduce=None) -> Tensor", alias=FRESH, layout=packed_like, example="x.scatter(-1, torch.zeros(x.shape).long(), 1.0)")
op("scatter.value(Tensor self, int dim, Tensor index, Scalar value, *, str? reduce=None) -> Tensor", alias=FRESH, layout=packed_like, example="x.scatter(-1, torch.zeros(x.shape).long(), value=1.0)")
op("scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", alias=FRESH, layout=packed_like, example="x.scatter_add(-1, torch.zeros(x.shape).long(), x)")
op("scatter_reduce(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor", alias=FRESH, layout=packed_like, example="x.scatter_reduce(-1, torch.zeros(x.shape).long(), x, 'sum')")
op("select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor", alias=FRESH, layout=changed_over, example="x.select_scatter(x.select(-1, 0), -1, 0)")
op("slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor", alias=FRESH, layout=changed_over, example="x.slice_scatter(x[:1], 0, 0, 1)")
op("diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor", alias=FRESH, layout=changed_over, example="x.diagonal_scatter(x.diagonal())")
op("as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor", alias=FRESH, layout=changed_over, example="x.as_strided_scatter(torch.ones(2), (2,), (1,))")
op("nonzero(Tensor self, *, bool as_tuple=False) -> Tensor", alias=FRESH, layout=found_places, example="x.nonzero()", unknown="as many rows as there are elements that are not 0; backends order them differently", varies=True)
op("nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor", alias=FRESH, layout=padded_places, example="torch.nonzero_static(x, size=3)", since="2.1")
op("argwhere(Tensor self) -> Tensor", alias=FRESH, layout=found_places, example="torch.argwhere(x)", unknown="as many rows as there are elements that are not 0; backends order them differently", varies=True)
# fmt: on
