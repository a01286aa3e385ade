"""Reductions, scans and softmax: what they give is packed, whatever came in."""

from __future__ import annotations

from torchlayout.layouts import Layout, contiguous
from torchlayout.ops.table import Args, op
from torchlayout.ops.transfers import BOOL, INT64, elementwise, full_precision, wrapped
from torchlayout.ops.values import Alias, DType, Fields, Operand, Outcome, Result, Unknowable, is_unknown
from torchlayout.sizes import Extent, Shape

FRESH = Alias.FRESH


# ---------------------------------------------------------------- shapes
def without_dims(args: Args, layout: Layout, dims: tuple[int, ...], keepdim: bool) -> Shape:
    """The shape with some dimensions gone, or 1 with `keepdim`. Raises `Unknowable` for dimensions out of range."""
    if layout.rank == 0:
        places = {wrapped(dim, 0) for dim in dims}
        return ()
    layout = args.reaching(layout, *dims)
    count = len(layout.dims)
    places = {wrapped(dim, count) if layout.rank is not None else dim % count for dim in dims}
    if len(places) < len(dims):
        raise Unknowable("a dimension appears twice")
    kept: list[Extent] = []
    for place, extent in enumerate(layout.shape):
        if place not in places:
            kept.append(extent)
        elif keepdim:
            kept.append(1)
    return tuple(kept)


def reduced_shape(args: Args) -> Shape:
    """The shape that the parameters `dim` and `keepdim` leave; all dimensions go where no `dim` is given."""
    layout = args.layout()
    dim, keepdim = args.values.get("dim"), args.values.get("keepdim", False)
    if is_unknown(keepdim):
        return (args.facts.symbols.fresh_rest("reduced"),)
    try:
        dims = args.integers("dim") if dim is not None else ()
    except Unknowable:
        if keepdim and layout.rank is not None:
            return tuple(args.facts.symbols.fresh(("kept", place)) for place in range(layout.rank))
        return (args.facts.symbols.fresh_rest("reduced"),)
    if dims:
        return without_dims(args, layout, dims, keepdim)
    if keepdim:
        return (args.facts.symbols.fresh_rest("ones"),) if layout.rank is None else (1,) * layout.rank
    return ()


# ---------------------------------------------------------------- dtypes
def summed_dtype(args: Args) -> DType | None:
    """What sums and products have: integers become int64."""
    wanted = args.values.get("dtype")
    if wanted is not None:
        return wanted if isinstance(wanted, DType) else None
    dtype = args.operand().dtype
    if dtype is not None and (dtype.name == "bool" or dtype.name.startswith(("int", "uint"))):
        return INT64
    return full_precision(dtype)


def mean_dtype(args: Args) -> DType | None:
    wanted = args.values.get("dtype")
    return full_precision(args.operand().dtype) if wanted is None else wanted if isinstance(wanted, DType) else None


# ---------------------------------------------------------------- transfer functions
def total(args: Args) -> Outcome:
    """packed, without the dimensions reduced (1 with keepdim)"""
    return Result(contiguous(reduced_shape(args)), summed_dtype(args))


def average(args: Args) -> Outcome:
    """packed, without the dimensions reduced (1 with keepdim)"""
    return Result(contiguous(reduced_shape(args)), mean_dtype(args))


def extreme(args: Args) -> Outcome:
    """packed, without the dimensions reduced (1 with keepdim)"""
    return Result(contiguous(reduced_shape(args)), args.operand().dtype)


def truths(args: Args) -> Outcome:
    """packed, without the dimensions reduced (1 with keepdim)"""
    dtype = args.operand().dtype
    return Result(contiguous(reduced_shape(args)), BOOL if dtype is not None and dtype.name != "uint8" else None)


def magnitude(args: Args) -> Outcome:
    """packed, without the dimensions reduced (1 with keepdim)"""
    wanted, dtype = args.values.get("dtype"), args.operand().dtype
    known = full_precision(dtype) if wanted is None and dtype is not None and dtype.is_floating else None
    return Result(contiguous(reduced_shape(args)), known)


def positions(args: Args) -> Outcome:
    """packed int64, without the dimensions reduced (1 with keepdim)"""
    return Result(contiguous(reduced_shape(args)), INT64)


def picked(args: Args) -> Outcome:
    """a pair (values, indices), packed, without the dimension reduced (1 with keepdim)"""
    if is_unknown(args["dim"]):
        raise Unknowable("a dimension or another tensor")
    layout = contiguous(reduced_shape(args))
    return Fields({"values": Result(layout, args.operand().dtype), "indices": Result(layout, INT64)})


def lowest_and_highest(args: Args) -> Outcome:
    """a pair (min, max), packed, without the dimension reduced (1 with keepdim)"""
    one = Result(contiguous(reduced_shape(args)), args.operand().dtype)
    return Fields({"min": one, "max": one})


def spread_and_mean(args: Args) -> Outcome:
    """a pair, packed, without the dimensions reduced (1 with keepdim)"""
    one = Result(contiguous(reduced_shape(args)))
    return one, one


def at_quantiles(args: Args) -> Outcome:
    """packed without the dimensions reduced; several quantiles come first, but lie innermost in memory"""
    layout = contiguous(reduced_shape(args))
    q = args["q"]
    if is_unknown(q):
        raise Unknowable("one quantile or several")
    if isinstance(q, Operand) and args.ranked("q").rank == 1:
        whole = contiguous((*layout.shape, *args.layout("q").shape)).dims
        layout = Layout((whole[-1], *whole[:-1]))
    return Result(layout, full_precision(args.operand().dtype))


def hashed(args: Args) -> Outcome:
    """packed, without the dimensions reduced (1 with keepdim)"""
    return Result(contiguous(reduced_shape(args)))


def segments(args: Args) -> Outcome:
    """packed: the segments in place of one dimension"""
    layout, axis = args.ranked("data"), args.integer("axis")
    name, less = ("lengths", 0) if isinstance(args["lengths"], Operand) else ("offsets", 1)
    parts = args.ranked(name).sizes
    return Result(contiguous((*parts[:-1], parts[-1] - less, *layout.sizes[axis + 1 :])), args.operand("data").dtype)


def scanned(args: Args) -> Outcome:
    """the same sizes, packed (contiguous whatever came in)"""
    return Result(contiguous(args.layout().shape), summed_dtype(args))


def scanned_with_indices(args: Args) -> Outcome:
    """a pair (values, indices) of the same sizes, packed"""
    layout = contiguous(args.layout().shape)
    return Fields({"values": Result(layout, args.operand().dtype), "indices": Result(layout, INT64)})


def softmax(args: Args) -> Outcome:
    """the same sizes, packed (contiguous whatever came in)"""
    return Result(contiguous(args.layout().shape), mean_dtype(args))


def trace(args: Args) -> Outcome:
    """one number (no dimensions)"""
    return Result(contiguous(()), summed_dtype(args))


# fmt: off
DTYPE = "*, ScalarType? dtype=None"
for _name, _transfer in (("sum", total), ("mean", average)):
    op(f"{_name}(Tensor self, {DTYPE}) -> Tensor", alias=FRESH, layout=_transfer, example=f"x.{_name}()")
    op(f"{_name}.dim(Tensor self, int[1]? dim, bool keepdim=False, {DTYPE}) -> Tensor", alias=FRESH, layout=_transfer, example=f"x.{_name}(-1)")
for _name, _transfer in (("nansum", total), ("nanmean", average)):
    op(f"{_name}(Tensor self, int[1]? dim=None, bool keepdim=False, {DTYPE}) -> Tensor", alias=FRESH, layout=_transfer, example=f"x.{_name}(0, True)")
op(f"prod(Tensor self, {DTYPE}) -> Tensor", alias=FRESH, layout=total, example="x.prod()")
op(f"prod.dim_int(Tensor self, int dim, bool keepdim=False, {DTYPE}) -> Tensor", alias=FRESH, layout=total, example="x.prod(0)")
for _name in ("amax", "amin"):
    op(f"{_name}(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", alias=FRESH, layout=extreme, example=f"x.{_name}((0, -1), keepdim=True)")
for _name in ("max", "min", "median", "nanmedian"):
    op(f"{_name}(Tensor self) -> Tensor", alias=FRESH, layout=extreme, example=f"x.{_name}()")
    op(f"{_name}.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", alias=FRESH, layout=picked, example=f"x.{_name}(0)")
for _name in ("max", "min"):
    op(f"{_name}.other(Tensor self, Tensor other) -> Tensor", alias=FRESH, layout=elementwise, example=f"x.{_name}(x)")
op("mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)", alias=FRESH, layout=picked, example="x.mode(0)")
op("kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)", alias=FRESH, layout=picked, example="x.kthvalue(1, 0)")
op("aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)", alias=FRESH, layout=lowest_and_highest, example="x.aminmax(dim=0)")
for _name in ("argmax", "argmin"):
    op(f"{_name}(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", alias=FRESH, layout=positions, example=f"x.{_name}(-1)")
op("count_nonzero(Tensor self, int[]? dim=None) -> Tensor", alias=FRESH, layout=positions, example="x.count_nonzero((0,))")
for _name in ("all", "any"):
    op(f"{_name}(Tensor self) -> Tensor", alias=FRESH, layout=truths, example=f"x.{_name}()")
    op(f"{_name}.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", alias=FRESH, layout=truths, example=f"x.{_name}(-1, keepdim=True)")
for _name in ("std", "var"):
    op(f"{_name}.dim(Tensor self, int[1]? dim=None, bool unbiased=True, bool keepdim=False, *, Scalar? correction=None) -> Tensor", alias=FRESH, layout=magnitude, example=f"x.{_name}(-1, keepdim=True)")
    op(f"{_name}(Tensor self, bool unbiased=True) -> Tensor", alias=FRESH, layout=magnitude, example=f"x.{_name}(False)")
    op(f"{_name}_mean.dim(Tensor self, int[1]? dim=None, bool unbiased=True, bool keepdim=False, *, Scalar? correction=None) -> (Tensor, Tensor)", alias=FRESH, layout=spread_and_mean, example=f"torch.{_name}_mean(x, -1)")
    op(f"{_name}_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", alias=FRESH, layout=spread_and_mean, example=f"torch.{_name}_mean(x, False)")
op("logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", alias=FRESH, layout=average, example="x.logsumexp(-1)", spellings=("torch.special.logsumexp",))
op("norm(Tensor self, Any p='fro', int[1]? dim=None, bool keepdim=False, Any out=None, ScalarType? dtype=None) -> Tensor", alias=FRESH, layout=magnitude, example="x.norm(dim=-1)")
op("frobenius_norm(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", alias=FRESH, layout=magnitude, example="torch.frobenius_norm(x, (-2, -1))")
op("nuclear_norm(Tensor self, int[2]? dim=None, bool keepdim=False) -> Tensor", alias=FRESH, layout=magnitude, example="torch.nuclear_norm(x, (0, 1))")
op("linalg_norm(Tensor self, Any ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", alias=FRESH, layout=magnitude, example="torch.linalg.norm(x, dim=-1)", spellings=("torch.linalg.norm",))
op("linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", alias=FRESH, layout=magnitude, example="torch.linalg.vector_norm(x, dim=0)", spellings=("torch.linalg.vector_norm",))
op("linalg_matrix_norm(Tensor self, Any ord='fro', int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", alias=FRESH, layout=magnitude, example="torch.linalg.matrix_norm(x)", spellings=("torch.linalg.matrix_norm",))
for _name in ("quantile", "nanquantile"):
    op(f"{_name}(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor", alias=FRESH, layout=at_quantiles, example=f"x.{_name}(torch.tensor([0.1, 0.9]), -1)")
    op(f"{_name}.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor", alias=FRESH, layout=at_quantiles, example=f"x.{_name}(0.5, 0)")
op("hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor", alias=FRESH, layout=hashed, example="torch.hash_tensor(x, -1)")
for _name in ("segment_reduce", "_segment_reduce"):
    op(f"{_name}(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor", alias=FRESH, layout=segments, example="torch.segment_reduce(x, 'sum', lengths=torch.tensor([x.size(0)]))", spellings=(f"torch.ops.aten.{_name}",))
op("trace(Tensor self) -> Tensor", alias=FRESH, layout=trace, example="x.trace()")
for _name in ("cumsum", "cumprod"):
    op(f"{_name}(Tensor self, int dim, {DTYPE}) -> Tensor", alias=FRESH, layout=scanned, example=f"x.{_name}(0)")
for _name in ("cummax", "cummin"):
    op(f"{_name}(Tensor self, int dim) -> (Tensor values, Tensor indices)", alias=FRESH, layout=scanned_with_indices, example=f"x.{_name}(0)")
op("logcumsumexp(Tensor self, int dim) -> Tensor", alias=FRESH, layout=softmax, example="x.logcumsumexp(0)")
for _name in ("softmax", "log_softmax"):
    op(f"{_name}.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", alias=FRESH, layout=softmax, example=f"x.{_name}(-1)", spellings=(f"torch.special.{_name}",))
for _name in ("softmax", "log_softmax", "softmin"):
    op(f"{_name}(Tensor self, int? dim=None, int _stacklevel=3, ScalarType? dtype=None) -> Tensor", alias=FRESH, layout=softmax, example=f"F.{_name}(x, dim=-1)")
# fmt: on
