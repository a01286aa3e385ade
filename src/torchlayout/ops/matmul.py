"""Products of matrices and vectors: what they give is packed, whatever came in (einsum has a file of its own)."""

from __future__ import annotations

from torchlayout.layouts import Layout, contiguous, is_concrete, is_contiguous, strided, unknown_strides, with_rank
from torchlayout.layouts import view as view_of_shape
from torchlayout.ops.numbered_views import numbered_view
from torchlayout.ops.reshaping import NO_SUCH_VIEW
from torchlayout.ops.table import Args, op
from torchlayout.ops.transfers import (
    autocast,
    broadcast_shape,
    elementwise_layout,
    packed_somehow,
    promoted,
    tensors,
    wrapped,
)
from torchlayout.ops.values import Alias, DType, Operand, Outcome, Refused, Result, Unknowable, is_unknown
from torchlayout.sizes import NO, YES, Extent, Rest, Shape

FRESH = Alias.FRESH


def product_dtype(args: Args) -> DType | None:
    """The common dtype of all tensors, where autocast does not change it."""
    return autocast(promoted(value for value in tensors(args) if value is not None))


def contract(args: Args, a: Extent, b: Extent) -> None:
    """Learn that two sizes summed over are equal."""
    if not isinstance(a, Rest) and not isinstance(b, Rest):
        args.facts.learn_equal(a, b)


# ---------------------------------------------------------------- matmul
def matmul(args: Args) -> Outcome:
    """batch sizes broadcast, packed (contiguous whatever came in)"""
    if is_unknown(args["self"]) or is_unknown(args["other"]):
        return packed_somehow(args)
    return Result(contiguous(matmul_shape(args, args.layout("self"), args.layout("other"))), product_dtype(args))


def matmul_shape(args: Args, a: Layout, b: Layout) -> Shape:
    """The shape of `a @ b`; where ranks are not known, as much of it as can be told."""
    if 0 in (a.rank, b.rank):
        raise Unknowable("matmul takes no tensor without dimensions")
    if b.rank == 1:
        a = args.reaching(a, -1)
        contract(args, a.shape[-1], b.shape[0])
        return a.shape[:-1]
    if b.rank == 2:
        a = args.reaching(a, -1)
        contract(args, a.shape[-1], b.shape[0])
        return (*a.shape[:-1], b.shape[1])
    if a.rank == 1:
        b = args.reaching(b, -2)
        contract(args, a.shape[0], b.shape[-2])
        return (*b.shape[:-2], b.shape[-1])
    if is_open(a, 2) or is_open(b, 2):
        return guessed_shape(args, a, b)
    contract(args, a.shape[-1], b.shape[-2])
    batch = broadcast_shape([a.shape[:-2], b.shape[:-2]], args.facts)
    if batch is None:
        batch = assumed_batch(args, a.shape[:-2], b.shape[:-2])
    return (*batch, a.shape[-2], b.shape[-1])


def is_open(layout: Layout, count: int) -> bool:
    """Whether the last `count` dimensions are not all known."""
    return layout.rank is None and any(dim.rest is not None for dim in layout.dims[-count:])


def assumed_batch(args: Args, a: Shape, b: Shape) -> Shape:
    """Batch sizes that cannot be compared: in the assumed world those of the operand whose rank is known."""
    if args.facts.assumed:
        for shape in (a, b):
            if shape and not any(isinstance(extent, Rest) for extent in shape):
                return shape
    return (args.facts.symbols.fresh_rest("batch"),)


def guessed_shape(args: Args, a: Layout, b: Layout) -> Shape:
    """In the assumed world an operand of unknown rank has the other one's, if that is a batch of matrices."""
    symbols = args.facts.symbols
    if args.facts.assumed and a.rank is not None and a.rank > 2:
        return (*a.shape[:-1], symbols.fresh("columns"))
    if args.facts.assumed and b.rank is not None and b.rank > 2:
        return (*b.shape[:-2], symbols.fresh("rows"), b.shape[-1])
    return (symbols.fresh_rest("product"),)


# ---------------------------------------------------------------- products of fixed rank
def _fixed(left: str, left_rank: int, right: str, right_rank: int):  # type: ignore[no-untyped-def]
    """A transfer function for operands of these ranks: batches are kept, matrices multiplied."""

    def transfer(args: Args) -> Outcome:
        """packed (contiguous whatever came in)"""
        a, b = args.ranked(left, left_rank), args.ranked(right, right_rank)
        batch: Shape = (a.shape[0],) if left_rank == 3 else ()
        if right_rank == 1 and args.facts.normal(a.sizes[-1]) == 0:
            raise Unknowable("torch gives odd sizes for a sum over nothing")
        contract(args, a.shape[-1], b.shape[-min(right_rank, 2)])
        columns = () if right_rank == 1 else (b.shape[-1],)
        return Result(contiguous((*batch, a.shape[-2], *columns)), product_dtype(args))

    return transfer


def summed_batches(args: Args) -> Outcome:
    """packed (contiguous whatever came in)"""
    a, b = args.ranked("batch1", 3), args.ranked("batch2", 3)
    contract(args, a.shape[-1], b.shape[-2])
    return Result(contiguous((a.shape[1], b.shape[2])), product_dtype(args))


def one_number(args: Args) -> Outcome:
    """one number (no dimensions)"""
    return Result(contiguous(()), promoted(tensors(args)))


def outer(args: Args) -> Outcome:
    """a matrix, packed (contiguous whatever came in)"""
    a, b = args.ranked("self", 1), args.ranked("vec2", 1)
    return Result(contiguous((*a.shape, *b.shape)), promoted(tensors(args)))


def addr(args: Args) -> Outcome:
    """strides as of the sum of the tensor and the product of a column and a row"""
    column, row = args.ranked("vec1", 1), args.ranked("vec2", 1)
    (n, n_stride), (m, m_stride) = column.dims[0][:2], row.dims[0][:2]
    values = [args["self"], Operand(strided((n, 1), (n_stride, 1))), Operand(strided((1, m), (m, m_stride)))]
    return Result(elementwise_layout(values, args.facts))


def linear(args: Args) -> Outcome:
    """the last size becomes the weight's first, packed (contiguous whatever came in)"""
    weight = args["weight"]
    if is_unknown(args["self"]):
        return packed_somehow(args)
    if is_unknown(weight) or args.layout("weight").rank is None:
        if not args.facts.assumed:
            return packed_somehow(args)
        layout = args.reaching(args.layout(), -1)
        columns = args.facts.symbols.fresh("columns") if is_unknown(weight) else args.ranked("weight", 2).shape[0]
        return Result(contiguous((*layout.shape[:-1], columns)))
    layout, weights = args.reaching(args.layout(), -1), args.ranked("weight")
    contract(args, layout.shape[-1], weights.shape[-1])
    return Result(contiguous((*layout.shape[:-1], *weights.shape[:-1])), product_dtype(args))


def bilinear(args: Args) -> Outcome:
    """the last size becomes the weight's first, packed (contiguous whatever came in)"""
    layout = args.reaching(args.layout(), -1)
    return Result(contiguous((*layout.shape[:-1], args.ranked("weight", 3).shape[0])))


def inner(args: Args) -> Outcome:
    """the sizes of both but for the last ones, packed; with a tensor without dimensions: elementwise"""
    a, b = args.ranked("self"), args.ranked("other")
    if 0 in (a.rank, b.rank):
        return Result(elementwise_layout([args["self"], args["other"]], args.facts))
    contract(args, a.shape[-1], b.shape[-1])
    return Result(contiguous((*a.shape[:-1], *b.shape[:-1])))


def tensordot(args: Args) -> Outcome:
    """the sizes that are not summed over, packed (contiguous whatever came in)"""
    a, b = args.ranked("self"), args.ranked("other")
    dims = args.known("dims")
    if isinstance(dims, int):
        first, second = list(range(len(a.dims) - dims, len(a.dims))), list(range(dims))
    elif isinstance(dims, (tuple, list)) and len(dims) == 2:
        first, second = ([one] if isinstance(one, int) else list(one) for one in dims)
    else:
        raise Unknowable("the dimensions to sum over are not known")
    if any(not isinstance(dim, int) for dim in (*first, *second)):
        raise Unknowable("the dimensions to sum over are not known")
    gone_a, gone_b = ({wrapped(dim, len(layout.dims)) for dim in dims} for layout, dims in ((a, first), (b, second)))
    kept = [size for place, size in enumerate(a.shape) if place not in gone_a]
    kept += [size for place, size in enumerate(b.shape) if place not in gone_b]
    return Result(contiguous(tuple(kept)), product_dtype(args))


def kron(args: Args) -> Outcome:
    """sizes multiplied; as a view of the elementwise product with both sets of dimensions interleaved"""
    a, b = args.ranked("self"), args.ranked("other")
    rank = max(len(a.dims), len(b.dims))
    left, right = ((1,) * (rank - len(layout.dims)) + layout.sizes for layout in (a, b))
    shape = tuple(x * y for x, y in zip(left, right, strict=True))
    apart = tuple(size for n in left for size in (n, 1)), tuple(size for n in right for size in (1, n))
    if is_concrete(a) and is_concrete(b):
        views = [numbered_view(layout, sizes) for layout, sizes in zip((a, b), apart, strict=True)]
        whole = elementwise_layout([Operand(view) for view in views if view is not None], args.facts)
        placed = numbered_view(whole, shape)
        exists, by_chance = NO if placed is None else YES, False
    else:
        if 1 in shape and not all(is_contiguous(layout, args.facts) is YES for layout in (a, b)):
            return Result(unknown_strides(shape))
        answers = [view_of_shape(layout, sizes, args.facts) for layout, sizes in zip((a, b), apart, strict=True)]
        values = [Operand(answer.layout) for answer in answers if answer is not None and answer.layout is not None]
        answer = view_of_shape(elementwise_layout(values, args.facts), shape, args.facts)
        if len(values) < 2 or answer is None:
            raise Unknowable("no such sizes")
        placed, exists, by_chance = answer.layout, answer.exists, answer.by_chance
    if placed is None:
        raise Refused("view", NO_SUCH_VIEW, "other" if is_contiguous(a, args.facts) is YES else "self")
    return Result(placed, promoted(tensors(args)), exists=exists, by_chance=by_chance)


def distances(args: Args) -> Outcome:
    """batch sizes broadcast, packed (contiguous whatever came in)"""
    a, b = args.reaching(args.layout("x1"), -2), args.reaching(args.layout("x2"), -2)
    batch = broadcast_shape([a.shape[:-2], b.shape[:-2]], args.facts)
    if batch is None:
        batch = assumed_batch(args, a.shape[:-2], b.shape[:-2])
    return Result(contiguous((*batch, a.shape[-2], b.shape[-2])))


def pair_distances(args: Args) -> Outcome:
    """a vector: one number for each pair of rows"""
    count = args.ranked("self", 2).sizes[0]
    return Result(contiguous((args.facts.floor_divide(count * (count - 1), 2),)))


def chain(args: Args) -> Outcome:
    """the outermost sizes, packed (contiguous whatever came in)"""
    layouts = [with_rank(operand.layout, 2, args.facts) if 0 < place < len(args.operands("tensors")) - 1 else operand.layout
               for place, operand in enumerate(args.operands("tensors"))]  # fmt: skip
    if (
        None in layouts
        or not layouts
        or any(layout is None or layout.rank is None for layout in (layouts[0], layouts[-1]))
    ):
        raise Unknowable("the ranks are not known")
    first, last = layouts[0], layouts[-1]
    assert first is not None and last is not None
    return Result(contiguous((*first.shape[:-1], *last.shape[1:])), autocast(promoted(args.operands("tensors"))))


def crossed(args: Args) -> Outcome:
    """sizes broadcast, packed (contiguous whatever came in)"""
    shape = broadcast_shape([args.layout("self").shape, args.layout("other").shape], args.facts)
    return packed_somehow(args) if shape is None else Result(contiguous(shape), promoted(tensors(args)))


def vector_products(args: Args) -> Outcome:
    """sizes broadcast, without one dimension, packed"""
    shape = broadcast_shape([args.ranked("self").shape, args.ranked("other").shape], args.facts)
    assert shape is not None
    dim = wrapped(args.integer("dim"), len(shape))
    return Result(contiguous((*shape[:dim], *shape[dim + 1 :])), promoted(tensors(args)))


# fmt: off
BETAS = "*, Scalar beta=1, Scalar alpha=1"
for _name, _paths in (("matmul", ()), ("linalg_matmul", ("torch.linalg.matmul",))):
    op(f"{_name}(Tensor self, Tensor other) -> Tensor", alias=FRESH, layout=matmul, example="x.matmul(x.mT)" if not _paths else "torch.linalg.matmul(x, x.mT)", spellings=_paths)
op("mm(Tensor self, Tensor mat2) -> Tensor", alias=FRESH, layout=_fixed("self", 2, "mat2", 2), example="x.mm(x.t())", spellings=("torch.spmm",))
op("bmm(Tensor self, Tensor mat2) -> Tensor", alias=FRESH, layout=_fixed("self", 3, "mat2", 3), example="x.bmm(x.mT)")
op("mv(Tensor self, Tensor vec) -> Tensor", alias=FRESH, layout=_fixed("self", 2, "vec", 1), example="x.mv(x[0])")
op(f"addmm(Tensor self, Tensor mat1, Tensor mat2, {BETAS}) -> Tensor", alias=FRESH, layout=_fixed("mat1", 2, "mat2", 2), example="torch.addmm(torch.zeros(1), x, x.t())")
op(f"addmv(Tensor self, Tensor mat, Tensor vec, {BETAS}) -> Tensor", alias=FRESH, layout=_fixed("mat", 2, "vec", 1), example="torch.addmv(torch.zeros(1), x, x[0])")
op(f"baddbmm(Tensor self, Tensor batch1, Tensor batch2, {BETAS}) -> Tensor", alias=FRESH, layout=_fixed("batch1", 3, "batch2", 3), example="torch.baddbmm(torch.zeros(1), x, x.mT)")
op(f"addbmm(Tensor self, Tensor batch1, Tensor batch2, {BETAS}) -> Tensor", alias=FRESH, layout=summed_batches, example="torch.addbmm(torch.zeros(1), x, x.mT)")
op(f"addr(Tensor self, Tensor vec1, Tensor vec2, {BETAS}) -> Tensor", alias=FRESH, layout=addr, example="x.addr(x[:, 0], x[0])")
for _name, _other in (("dot", "tensor"), ("vdot", "other")):
    op(f"{_name}(Tensor self, Tensor {_other}) -> Tensor", alias=FRESH, layout=one_number, example=f"x.{_name}(x)")
for _name in ("outer", "ger"):
    op(f"{_name}(Tensor self, Tensor vec2) -> Tensor", alias=FRESH, layout=outer, example=f"x.{_name}(x)")
op("linear(Tensor self, Tensor weight, Tensor? bias=None) -> Tensor", alias=FRESH, layout=linear, example="F.linear(x, torch.ones(5, x.size(-1)))")
op("bilinear(Tensor self, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor", alias=FRESH, layout=bilinear, example="F.bilinear(x, x, torch.ones(5, x.size(-1), x.size(-1)))")
op("inner(Tensor self, Tensor other) -> Tensor", alias=FRESH, layout=inner, example="x.inner(x)")
op("tensordot(Tensor self, Tensor other, Any dims=2) -> Tensor", alias=FRESH, layout=tensordot, example="torch.tensordot(x, x, ([-1], [-1]))")
op("kron(Tensor self, Tensor other) -> Tensor", alias=FRESH, layout=kron, example="x.kron(x)")
op("cdist(Tensor x1, Tensor x2, float p=2.0, str compute_mode='use_mm_for_euclid_dist_if_necessary') -> Tensor", alias=FRESH, layout=distances, example="torch.cdist(x, x)")
op("pdist(Tensor self, float p=2) -> Tensor", alias=FRESH, layout=pair_distances, example="F.pdist(x)")
op("chain_matmul(Tensor[] tensors) -> Tensor", alias=FRESH, layout=chain, example="torch.chain_matmul(x, x.t(), x)")
op("linalg_multi_dot(Tensor[] tensors) -> Tensor", alias=FRESH, layout=chain, example="torch.linalg.multi_dot([x, x.t(), x])", spellings=("torch.linalg.multi_dot",))
op("cross(Tensor self, Tensor other, int? dim=None) -> Tensor", alias=FRESH, layout=crossed, example="x.cross(x, 1)")
op("linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor", alias=FRESH, layout=crossed, example="torch.linalg.cross(x, x, dim=1)", spellings=("torch.linalg.cross",))
op("linalg_vecdot(Tensor self, Tensor other, *, int dim=-1) -> Tensor", alias=FRESH, layout=vector_products, example="torch.linalg.vecdot(x, x)", spellings=("torch.linalg.vecdot",))
# fmt: on
