"""Sorting, searching and counting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torchlayout.layouts import Layout, contiguous, settle
from torchlayout.ops.table import Args, op
from torchlayout.ops.transfers import BOOL, INT64, at_dim, like_input, of_backends, packed_somehow, replaced
from torchlayout.ops.values import Alias, DType, Fields, Operand, Outcome, Result, Unknowable, is_unknown
from torchlayout.sizes import YES, Size

FRESH = Alias.FRESH
DATA_SIZED = "sizes depend on the data"


# ---------------------------------------------------------------- sorting
def in_order(args: Args) -> Outcome:
    """a pair (values, indices); strides in the same order, without gaps"""
    values = like_input(args)
    assert isinstance(values, Result)
    return Fields({"values": values, "indices": Result(values.layout, INT64)})


def order_of(args: Args) -> Outcome:
    """int64; strides in the same order, without gaps"""
    values = like_input(args)
    assert isinstance(values, Result)
    return Result(values.layout, INT64)


def largest(args: Args) -> Outcome:
    """a pair (values, indices), `k` long in one dimension, packed"""
    if is_unknown(args["dim"]):
        values = packed_somehow(args, args.operand().dtype)
        return Fields({"values": values, "indices": Result(values.layout, INT64)})
    layout, place = at_dim(args, args.layout(), args.integer("dim"))
    count = args.facts.symbols.fresh("k") if is_unknown(args["k"]) else args.size("k")
    picked = contiguous(layout.shape if place < 0 else replaced(layout.shape, place, (count,)))
    return Fields({"values": Result(picked, args.operand().dtype), "indices": Result(picked, INT64)})


# ---------------------------------------------------------------- distinct values
def distinct(args: Args) -> Outcome:
    """packed, as many as there are distinct values (with `dim`, on a CPU, that one outermost in memory); then, where
    asked for, indices and counts, packed"""
    layout, dim = args.layout(), args["dim"]
    count: Size = args.facts.symbols.fresh("distinct")
    if dim is None:
        values, inverse = contiguous((count,)), contiguous(layout.shape)
    else:
        layout, place = at_dim(args, layout, args.integer("dim"))
        if place < 0:
            raise Unknowable("no dimension to compare along")
        on_cuda = contiguous(replaced(layout.shape, place, (count,)))
        first, *rest = contiguous((count, *layout.shape[:place], *layout.shape[place + 1 :])).dims
        on_cpu = Layout((*rest[:place], first, *rest[place:]))
        values, inverse = of_backends(args.operand(), on_cpu, on_cuda, args.facts), contiguous((layout.sizes[place],))
    found = [Result(values, args.operand().dtype)]
    if args.flag("return_inverse"):
        found.append(Result(inverse, INT64))
    if args.flag("return_counts"):
        found.append(Result(contiguous((count,)), INT64))
    return tuple(found) if len(found) > 1 else found[0]


# ---------------------------------------------------------------- searching
def index_dtype(args: Args) -> DType | None:
    narrow = args["out_int32"]
    return None if is_unknown(narrow) else DType("int32") if narrow else INT64


def searched(args: Args) -> Outcome:
    """the sizes of what is searched for, packed; a number gives no dimensions"""
    wanted = args["input"]
    if is_unknown(wanted):
        return packed_somehow(args, index_dtype(args))
    return Result(contiguous(args.layout("input").shape if isinstance(wanted, Operand) else ()), index_dtype(args))


def contained(args: Args) -> Outcome:
    """bools of the sizes of what is looked for, packed"""
    wanted = args["elements"]
    if is_unknown(wanted):
        return packed_somehow(args, BOOL)
    return Result(contiguous(args.layout("elements").shape if isinstance(wanted, Operand) else ()), BOOL)


# ---------------------------------------------------------------- counting
def counted(args: Args) -> Outcome:
    """a vector of unknown size"""
    dtype = INT64 if args["weights"] is None else None
    return Result(contiguous((args.facts.symbols.fresh("bins"),)), dtype)


def binned(args: Args) -> Outcome:
    """a vector, one number for each bin"""
    return Result(contiguous((args.size("bins"),)), args.operand().dtype)


def binned_with_edges(args: Args) -> Outcome:
    """a pair of vectors: numbers and edges of bins"""
    bins = args.known("bins")
    edges = args.ranked("bins", 1).sizes[0] if isinstance(bins, Operand) else args.size("bins") + 1
    return Fields(_histogram(args, edges))


def _histogram(args: Args, edges: Size) -> Mapping[str, Result]:
    dtype = args.operand().dtype
    return {"hist": Result(contiguous((edges - 1,)), dtype), "bin_edges": Result(contiguous((edges,)), dtype)}


def binned_by_rows(args: Args) -> Outcome:
    """a pair: numbers, a dimension for each column; and a list of edges, each a vector"""
    bins = args.known("bins")
    layout = args.ranked()
    if layout.rank == 0:
        raise Unknowable("rows are needed")
    columns = layout.sizes[-1]
    dtype = args.operand().dtype
    if isinstance(bins, (tuple, list)) and bins and all(isinstance(one, Operand) for one in bins):
        return binned_between(args, args.operands("bins"), dtype)
    if not isinstance(bins, (tuple, list)):
        if not isinstance(columns, int):
            raise Unknowable("the number of columns is not known")
        bins = (bins,) * columns
    if any(is_unknown(one) or isinstance(one, Operand) for one in bins):
        raise Unknowable("the bins are not known")
    sizes = tuple(args.facts.normal(one) for one in bins)
    edges = tuple(Result(contiguous((size + 1,)), dtype) for size in sizes)
    return Fields({"hist": Result(contiguous(sizes), dtype), "bin_edges": edges})


def binned_between(args: Args, edges: Sequence[Operand], dtype: DType | None) -> Outcome:
    """The edges given come back themselves."""
    layouts = [settle(one.layout, args.facts) for one in edges]
    if any(layout.rank != 1 for layout in layouts):
        raise Unknowable("edges are vectors")
    given = tuple(Result(layout, one.dtype, YES, of="bins") for layout, one in zip(layouts, edges, strict=True))
    return Fields({"hist": Result(contiguous([layout.sizes[0] - 1 for layout in layouts]), dtype), "bin_edges": given})


# fmt: off
op("sort(Tensor self, int dim=-1, bool descending=False, bool stable=False) -> (Tensor values, Tensor indices)", alias=FRESH, layout=in_order, example="x.sort(0)")
op("sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)", alias=FRESH, layout=in_order, example="x.sort(stable=True)")
op("argsort(Tensor self, int dim=-1, bool descending=False, bool stable=False) -> Tensor", alias=FRESH, layout=order_of, example="x.argsort(0)")
op("msort(Tensor self) -> Tensor", alias=FRESH, layout=like_input, example="x.msort()")
op("topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)", alias=FRESH, layout=largest, example="x.topk(1, 0)")
op("unique(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False, int? dim=None) -> Tensor", alias=FRESH, layout=distinct, example="x.unique(return_counts=True)", varies=True, unknown=DATA_SIZED)
op("unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> Tensor", alias=FRESH, layout=distinct, example="x.unique_consecutive(dim=-1)", varies=True, unknown=DATA_SIZED)
op("searchsorted(Tensor sorted_sequence, Any input, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor", alias=FRESH, layout=searched, example="torch.searchsorted(torch.arange(3.0), x)")
op("bucketize(Any input, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor", alias=FRESH, layout=searched, example="torch.bucketize(x, torch.arange(3.0))")
op("isin(Any elements, Any test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor", alias=FRESH, layout=contained, example="torch.isin(x, torch.arange(3.0))")
op("bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor", alias=FRESH, layout=counted, example="x.long().bincount()", unknown=DATA_SIZED)
op("histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor", alias=FRESH, layout=binned, example="x.histc(5)")
op("histogram(Tensor self, Any bins, *, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)", alias=FRESH, layout=binned_with_edges, example="x.histogram(5)")
op("histogramdd(Tensor self, Any bins, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)", alias=Alias.MAYBE_VIEW, layout=binned_by_rows, example="torch.histogramdd(x, 3)", unknown="the bins are not known")
# fmt: on
