"""Solving systems of equations: solutions are column-major, as LAPACK leaves them."""

from __future__ import annotations

from torchlayout.layouts import Dim, Layout, contiguous, unknown_strides
from torchlayout.layouts import view as view_of_shape
from torchlayout.ops.linalg import POSITIVE, L, column_major, matrices, row, smaller
from torchlayout.ops.table import Args
from torchlayout.ops.transfers import broadcast_shape, packed_somehow
from torchlayout.ops.values import Fields, Outcome, Result, Unknowable
from torchlayout.sizes import MAYBE, NO, YES, Shape, every, product


def batches(args: Args, a: Layout, b: Layout) -> Shape:
    """The sizes of both batches of matrices, broadcast."""
    batch = broadcast_shape([a.shape[:-2], b.shape[:-2]], args.facts)
    assert batch is not None
    return batch


def solution_shape(args: Args) -> Shape:
    """The shape of the solution: vectors or matrices, as the right side is."""
    a, b = args.ranked("self"), args.ranked("B")
    vectors = YES if b.rank == 1 else NO
    if b.rank is not None and a.rank == b.rank + 1 and b.rank > 1:
        vectors = every(args.facts.equal(m, n) for m, n in zip(a.sizes[:-1], b.sizes, strict=True))
    if vectors is MAYBE:
        raise Unknowable("vectors or a matrix on the right side")
    if vectors is YES:
        batch = broadcast_shape([a.shape[:-2], b.shape[:-1]], args.facts)
        return (*(batch or ()), a.shape[-1])
    return (*batches(args, a, b), *b.shape[-2:])


def solve(args: Args) -> Outcome:
    """the right side's sizes, column-major; packed where it stands on the left"""
    shape = solution_shape(args)
    placed = column_major(shape) if args.flag("left") else contiguous(shape)
    return Result(placed)


def solve_with_info(args: Args) -> Outcome:
    """a pair: the right side's sizes, column-major; a number for each matrix"""
    result = solve(args)
    assert isinstance(result, Result)
    return Fields({"result": result, "info": Result(contiguous(matrices(args)[0]))})


def solve_triangular(args: Args) -> Outcome:
    """sizes of the batches broadcast, column-major"""
    a, b = args.ranked("self"), args.ranked("B")
    return Result(column_major((*batches(args, a, b), *b.shape[-2:])))


def solve_factored(args: Args) -> Outcome:
    """sizes of the batches broadcast, column-major; packed where the right side stands on the left"""
    a, b = args.ranked("self"), args.ranked("B")
    shape = (*batches(args, a, b), *b.shape[-2:])
    return Result(column_major(shape) if args.values.get("left", True) is True else contiguous(shape))


def legacy_triangular(args: Args) -> Outcome:
    """a pair: the solution and a copy of the matrix, both column-major"""
    b, a = args.ranked("self"), args.ranked("A")
    batch = batches(args, a, b)
    solution, copy = ((*batch, *layout.shape[-2:]) for layout in (b, a))
    return Fields({"solution": Result(column_major(solution)), "cloned_coefficient": Result(column_major(copy))})


def least_squares(args: Args) -> Outcome:
    """solution: the first rows of a column-major buffer; the rest, packed or empty, depends on the driver"""
    a, b = args.ranked("self"), args.ranked("b")
    if len(a.dims) < 2:
        raise Unknowable("a matrix is needed")
    rows, columns = a.sizes[-2:]
    vectors = a.rank is not None and b.rank == a.rank - 1 and (a.rank == 2 or every(
        args.facts.equal(m, n) for m, n in zip(a.sizes[:-1], b.sizes, strict=True)) is YES)  # fmt: skip
    batch = broadcast_shape([a.shape[:-2], b.shape[:-1] if vectors else b.shape[:-2]], args.facts)
    assert batch is not None
    wide = 1 if vectors else b.sizes[-1]
    buffer = column_major((*batch, args.facts.extreme("max", rows, columns), wide)).dims
    dims = (*buffer[:-2], Dim(columns, buffer[-2].stride), *(() if vectors else buffer[-1:]))
    layout = Layout(dims) if args.operand().device == "cpu" else unknown_strides(tuple(dim.extent for dim in dims))
    return Fields({"solution": Result(layout), **beside_solution(args, a, (*batch, wide))})


def beside_solution(args: Args, a: Layout, residuals: Shape) -> dict[str, Result]:
    """What the drivers compute beside the solution: a vector without elements where they do not. CUDA has one driver,
    "gels"."""
    devices = {"cpu": "gelsy", "cuda": "gels"}
    driver = devices.get(args.operand().device or "") if args["driver"] is None else args["driver"]
    nothing, open_ = Result(contiguous((0,))), packed_somehow(args)
    if not isinstance(driver, str):
        return {"residuals": open_, "rank": open_, "singular_values": open_}
    rows, columns = a.sizes[-2:]
    overdetermined = args.facts.less(columns, rows)
    found = nothing
    if driver != "gelsy" and overdetermined is not NO:
        # "gelsd" and "gelss" leave them out where the matrix has not its full rank
        found = Result(contiguous(residuals)) if driver == "gels" and overdetermined is YES else open_
    singular = Result(contiguous((*a.shape[:-2], smaller(args, rows, columns))))
    return {
        "residuals": found,
        "rank": nothing if driver == "gels" else Result(contiguous(a.shape[:-2])),
        "singular_values": singular if driver in ("gelsd", "gelss") else nothing,
    }


# ---------------------------------------------------------------- tensors as matrices
def tensor_inverse(args: Args) -> Outcome:
    """both groups of dimensions swapped; the inverse of a matrix, column-major, seen as a tensor"""
    layout, count = args.ranked(), args.integer("ind")
    rows, columns = product(layout.sizes[:count]), product(layout.sizes[count:])
    answer = view_of_shape(column_major((columns, rows)), (*layout.sizes[count:], *layout.sizes[:count]), args.facts)
    if answer is None or answer.layout is None:
        raise Unknowable("no square matrix")
    return Result(answer.layout)


def tensor_solution(args: Args) -> Outcome:
    """the sizes that the right side lacks, packed"""
    layout, other, moved = args.ranked(), args.ranked("other"), args.integers("dims") or ()
    gone = {dim % len(layout.dims) for dim in moved}
    kept = [size for place, size in enumerate(layout.sizes) if place not in gone]
    kept += [layout.sizes[dim % len(layout.dims)] for dim in moved]
    return Result(contiguous(tuple(kept[len(other.dims) :])))


# fmt: off
row("linalg_solve(Tensor self, Tensor B, *, bool left=True) -> Tensor", solve, f"{L}solve({POSITIVE}, x)", L + "solve")
row("linalg_solve_ex(Tensor self, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)", solve_with_info, f"{L}solve_ex({POSITIVE}, x)", L + "solve_ex")
row("linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor", solve_triangular, f"{L}solve_triangular({POSITIVE}, x, upper=True)", L + "solve_triangular")
row("linalg_lu_solve(Tensor self, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor", solve_factored, f"{L}lu_solve(*{L}lu_factor({POSITIVE}), x)", L + "lu_solve")
row("linalg_ldl_solve(Tensor self, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor", solve_factored, f"{L}ldl_solve(*{L}ldl_factor({POSITIVE}), x)", L + "ldl_solve")
row("lu_solve(Tensor B, Tensor self, Tensor LU_pivots) -> Tensor", solve_factored, f"x.lu_solve(*{L}lu_factor({POSITIVE}))")
row("cholesky_solve(Tensor B, Tensor self, bool upper=False) -> Tensor", solve_factored, f"x.cholesky_solve({POSITIVE})")
row("triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)", legacy_triangular, f"x.triangular_solve({POSITIVE})")
row("linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)", least_squares, f"{L}lstsq(x, x)", L + "lstsq", varies=True, unknown="what is computed beside the solution depends on the driver, and whether residuals are on the matrix's rank")
row("linalg_tensorinv(Tensor self, int ind=2) -> Tensor", tensor_inverse, f"{L}tensorinv({POSITIVE}, 1)", L + "tensorinv")
row("linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor", tensor_solution, f"{L}tensorsolve({POSITIVE}, x[..., 0])", L + "tensorsolve")
# fmt: on
