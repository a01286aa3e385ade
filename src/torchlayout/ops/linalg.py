"""torch.linalg and the matrix decompositions at the top level: many results are column-major, as LAPACK leaves them."""

from __future__ import annotations

from collections.abc import Sequence

from torchlayout.layouts import Layout, contiguous, has_no_elements, unknown_strides
from torchlayout.ops.table import Args, Transfer, op
from torchlayout.ops.transfers import broadcast_shape, full_precision
from torchlayout.ops.values import Alias, Fields, Operand, Outcome, Result, Unknowable
from torchlayout.sizes import YES, Extent, Shape, Size

FRESH = Alias.FRESH


def column_major(shape: Sequence[Extent]) -> Layout:
    """Packed but for the last two dimensions, which are swapped in memory; of fewer dimensions: contiguous."""
    if len(shape) < 2:
        return contiguous(shape)
    dims = contiguous((*shape[:-2], shape[-1], shape[-2])).dims
    return Layout((*dims[:-2], dims[-1], dims[-2]))


def matrices(args: Args, name: str = "self") -> tuple[Shape, Size, Size]:
    """The batch, the number of rows and that of columns."""
    layout = args.reaching(args.layout(name), -2)
    return layout.shape[:-2], layout.sizes[-2], layout.sizes[-1]


def smaller(args: Args, rows: Size, columns: Size) -> Size:
    return args.facts.extreme("min", rows, columns)


# ---------------------------------------------------------------- one matrix to one
def column_major_like(args: Args) -> Outcome:
    """the same sizes, column-major"""
    return Result(column_major(args.reaching(args.layout(), -2).shape), full_precision(args.operand().dtype))


def column_major_like_last(args: Args) -> Outcome:
    """the last tensor's sizes, column-major"""
    name = [p.name for p in args.op.signature.parameters if p.kind == "Tensor"][-1]
    return Result(column_major(args.reaching(args.layout(name), -2).shape))


def pseudo_inverse(args: Args) -> Outcome:
    """the last two sizes swapped, packed"""
    batch, rows, columns = matrices(args)
    return Result(contiguous((*batch, columns, rows)))


def exponential(args: Args) -> Outcome:
    """the same sizes, packed"""
    return Result(contiguous(args.reaching(args.layout(), -2).shape))


def power(args: Args) -> Outcome:
    """the same sizes, packed; an inverse (-1): column-major"""
    shape, exponent = args.reaching(args.layout(), -2).shape, args["n"]
    if not isinstance(exponent, int):
        return Result(unknown_strides(shape))
    return Result(column_major(shape) if exponent == -1 else contiguous(shape))


def per_matrix(args: Args) -> Outcome:
    """the batch's sizes, packed"""
    return Result(contiguous(matrices(args)[0]))


def ranks_of(args: Args) -> Outcome:
    """the batch's sizes, broadcast with those of the tolerances; packed"""
    shapes = [matrices(args)[0]]
    nothing = has_no_elements(args.layout(), args.facts) is YES
    for name in ("tol", "atol", "rtol"):
        if isinstance(args[name], Operand) and not nothing:
            shapes.append(args.layout(name).shape)
    shape = shapes[0] if len(shapes) == 1 else broadcast_shape(shapes, args.facts)
    if shape is None:
        raise Unknowable("the sizes cannot be compared")
    return Result(contiguous(shape))


def values_of(args: Args) -> Outcome:
    """a vector for each matrix, packed"""
    batch, rows, columns = matrices(args)
    return Result(contiguous((*batch, smaller(args, rows, columns))))


def powers_of(args: Args) -> Outcome:
    """one dimension more, for the powers; packed"""
    layout = args.reaching(args.layout(), -1)
    count = layout.shape[-1] if args["N"] is None else args.size("N")
    return Result(contiguous((*layout.shape, count)))


def vandermonde(args: Args) -> Outcome:
    """a matrix: the powers of each number of a vector; packed"""
    size = args.ranked("x", 1).sizes[0]
    return Result(contiguous((size, size if args["N"] is None else args.size("N"))))


# ---------------------------------------------------------------- decompositions
def sign_and_logarithm(args: Args) -> Outcome:
    """a pair of the batch's sizes, packed"""
    one = Result(contiguous(matrices(args)[0]))
    return Fields({"sign": one, "logabsdet": one})


def eigen(args: Args) -> Outcome:
    """a pair: values, packed; vectors, column-major"""
    batch, rows, columns = matrices(args)
    vectors = Result(column_major((*batch, rows, columns)))
    return Fields({"eigenvalues": Result(contiguous((*batch, columns))), "eigenvectors": vectors})


def _with_info(*names: str) -> Transfer:
    """A matrix of the same sizes, column-major; then, by name, pivots and numbers for each matrix."""

    def transfer(args: Args) -> Outcome:
        batch, rows, columns = matrices(args)
        vector = (*batch, smaller(args, rows, columns))
        found = {names[0]: Result(column_major((*batch, rows, columns)))}
        for name in names[1:]:
            found[name] = Result(contiguous(batch if name == "info" else vector))
        return Fields(found)

    rest = ", ".join(names[1:])
    transfer.__doc__ = f"{names[0]}: the same sizes, column-major; {rest}: packed"
    return transfer


def legacy_lu(args: Args) -> Outcome:
    """the factors, column-major; pivots (and info), packed"""
    batch, rows, columns = matrices(args)
    found = [Result(column_major((*batch, rows, columns))), Result(contiguous((*batch, smaller(args, rows, columns))))]
    if args.flag("get_infos"):
        found.append(Result(contiguous(batch)))
    return tuple(found)


def lu_parts(args: Args) -> Outcome:
    """P, L and U, packed"""
    batch, rows, columns = matrices(args)
    least, nothing = smaller(args, rows, columns), contiguous((0,))
    data, pivots = (args.values.get(name, True) for name in ("unpack_data", "unpack_pivots"))
    if not isinstance(data, bool) or not isinstance(pivots, bool):
        raise Unknowable("which parts are wanted is not known")
    lower, upper = (contiguous((*batch, *sizes)) if data else nothing for sizes in ((rows, least), (least, columns)))
    return Fields(
        {"P": Result(contiguous((*batch, rows, rows)) if pivots else nothing), "L": Result(lower), "U": Result(upper)}
    )


def qr(args: Args) -> Outcome:
    """a pair (Q, R), both column-major"""
    batch, rows, columns = matrices(args)
    some = args.values.get("some")
    mode = args.known("mode") if some is None else "reduced" if args.flag("some") else "complete"
    inner = rows if mode == "complete" else smaller(args, rows, columns)
    first = contiguous((0,)) if mode == "r" else column_major((*batch, rows, inner))
    return Fields({"Q": Result(first), "R": Result(column_major((*batch, inner, columns)))})


def svd(args: Args) -> Outcome:
    """U column-major, S packed, Vh column-major (V packed); on CUDA the last depends on the driver"""
    batch, rows, columns = matrices(args)
    legacy = "some" in args.values
    if legacy and not args.flag("compute_uv"):
        raise Unknowable("only the values are computed")
    full = not args.flag("some") if legacy else args.flag("full_matrices")
    least = smaller(args, rows, columns)
    left, right = (rows, columns) if full else (least, least)
    last = column_major((*batch, right, columns)).dims
    if args.operand().device != "cpu":
        last = unknown_strides((*batch, right, columns)).dims
    if legacy:
        last = (*last[:-2], last[-1], last[-2])
    u = Result(column_major((*batch, rows, left)))
    return Fields({"U": u, "S": Result(contiguous((*batch, least))), "V" if legacy else "Vh": Result(Layout(last))})


def low_rank(args: Args) -> Outcome:
    """U, S and V of a given rank, packed; not known on CUDA"""
    batch, rows, columns = matrices(args)
    rank = smaller(args, 6 if args["q"] is None else args.size("q"), smaller(args, rows, columns))
    shapes = ((*batch, rows, rank), (*batch, rank), (*batch, columns, rank))
    if args.operand().device != "cpu":
        return tuple(Result(unknown_strides(shape)) for shape in shapes)
    return tuple(Result(contiguous(shape)) for shape in shapes)


def few_eigenvectors(args: Args) -> Outcome:
    """a pair, packed: a vector for each matrix, and as many columns"""
    if args["X"] is not None or args["n"] is not None:
        raise Unknowable("the vectors to start from decide")
    batch, rows, _ = matrices(args)
    count = 1 if args["k"] is None else args.size("k")
    return Result(contiguous((*batch, count))), Result(contiguous((*batch, rows, count)))


# fmt: off
def row(schema: str, transfer: Transfer, example: str, path: str = "", **more: object) -> None:
    op(schema, alias=FRESH, layout=transfer, example=example, spellings=(path,) if path else (), **more)  # type: ignore[arg-type]


POSITIVE = "(x @ x.mT + 9 * torch.eye(x.size(-2)))"
"""A positive definite matrix, whatever x."""
L = "torch.linalg."
row("linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor", column_major_like, f"{L}cholesky({POSITIVE})", L + "cholesky")
row("cholesky(Tensor self, bool upper=False) -> Tensor", column_major_like, f"{POSITIVE}.cholesky()")
row("cholesky_inverse(Tensor self, bool upper=False) -> Tensor", column_major_like, f"{POSITIVE}.cholesky_inverse()")
row("linalg_inv(Tensor self) -> Tensor", column_major_like, f"{L}inv({POSITIVE})", L + "inv")
row("inverse(Tensor self) -> Tensor", column_major_like, f"{POSITIVE}.inverse()")
row("linalg_householder_product(Tensor self, Tensor tau) -> Tensor", column_major_like, f"{L}householder_product({POSITIVE}, x[..., 0])", L + "householder_product")
row("orgqr(Tensor self, Tensor input2) -> Tensor", column_major_like, f"{POSITIVE}.orgqr(x[..., 0])")
row("ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor", column_major_like_last, f"{POSITIVE}.ormqr(x[..., 0], x)")
row("linalg_pinv(Tensor self, *, Any atol=None, Any rtol=None, bool hermitian=False) -> Tensor", pseudo_inverse, f"{L}pinv(x)", L + "pinv")
row("linalg_pinv.rcond(Tensor self, Any rcond, bool hermitian=False) -> Tensor", pseudo_inverse, f"{L}pinv(x, 1e-5)", L + "pinv")
row("pinverse(Tensor self, float rcond=1e-15) -> Tensor", pseudo_inverse, "x.pinverse()")
row("matrix_exp(Tensor self) -> Tensor", exponential, f"{POSITIVE}.matrix_exp()")
row("linalg_matrix_exp(Tensor self) -> Tensor", exponential, f"{L}matrix_exp({POSITIVE})", L + "matrix_exp")
for _name, _path, _call in (("matrix_power", "", f"{POSITIVE}.matrix_power(3)"), ("linalg_matrix_power", L + "matrix_power", f"{L}matrix_power({POSITIVE}, -1)")):
    row(f"{_name}(Tensor self, int n) -> Tensor", power, _call, _path)
for _name in ("det", "logdet"):
    row(f"{_name}(Tensor self) -> Tensor", per_matrix, f"{POSITIVE}.{_name}()")
row("linalg_det(Tensor self) -> Tensor", per_matrix, f"{L}det({POSITIVE})", L + "det")
row("linalg_cond(Tensor self, Any p=None) -> Tensor", per_matrix, f"{L}cond({POSITIVE})", L + "cond")
row("linalg_matrix_rank(Tensor self, Any tol=None, *, Any atol=None, Any rtol=None, bool hermitian=False) -> Tensor", ranks_of, f"{L}matrix_rank(x)", L + "matrix_rank")
row("slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", sign_and_logarithm, f"{POSITIVE}.slogdet()")
row("linalg_slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", sign_and_logarithm, f"{L}slogdet({POSITIVE})", L + "slogdet")
row("linalg_svdvals(Tensor self, *, str? driver=None) -> Tensor", values_of, f"{L}svdvals(x)", L + "svdvals")
row("linalg_eigvals(Tensor self) -> Tensor", values_of, f"{L}eigvals({POSITIVE})", L + "eigvals")
row("linalg_eigvalsh(Tensor self, str UPLO='L') -> Tensor", values_of, f"{L}eigvalsh({POSITIVE})", L + "eigvalsh")
row("linalg_vander(Tensor self, *, SymInt? N=None) -> Tensor", powers_of, f"{L}vander(x)", L + "vander")
row("linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)", eigen, f"{L}eig({POSITIVE})", L + "eig")
row("linalg_eigh(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)", eigen, f"{L}eigh({POSITIVE})", L + "eigh")
row("linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)", _with_info("L", "info"), f"{L}cholesky_ex({POSITIVE})", L + "cholesky_ex")
row("linalg_inv_ex(Tensor self, *, bool check_errors=False) -> (Tensor inverse, Tensor info)", _with_info("inverse", "info"), f"{L}inv_ex({POSITIVE})", L + "inv_ex")
row("linalg_lu_factor(Tensor self, *, bool pivot=True) -> (Tensor LU, Tensor pivots)", _with_info("LU", "pivots"), f"{L}lu_factor(x)", L + "lu_factor")
row("linalg_lu_factor_ex(Tensor self, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor info)", _with_info("LU", "pivots", "info"), f"{L}lu_factor_ex(x)", L + "lu_factor_ex")
row("linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)", _with_info("LD", "pivots"), f"{L}ldl_factor({POSITIVE})", L + "ldl_factor")
row("linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor pivots, Tensor info)", _with_info("LD", "pivots", "info"), f"{L}ldl_factor_ex({POSITIVE})", L + "ldl_factor_ex")
row("geqrf(Tensor self) -> (Tensor a, Tensor tau)", _with_info("a", "tau"), "x.geqrf()")
row("lu(Tensor self, bool pivot=True, bool get_infos=False) -> (Tensor LU, Tensor pivots)", legacy_lu, "x.lu()")
row("linalg_lu(Tensor self, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)", lu_parts, f"{L}lu(x)", L + "lu")
row("lu_unpack(Tensor self, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)", lu_parts, f"torch.lu_unpack(*{L}lu_factor(x))")
row("linalg_qr(Tensor self, str mode='reduced') -> (Tensor Q, Tensor R)", qr, f"{L}qr(x)", L + "qr")
row("qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)", qr, "x.qr()")
DRIVER = "on CUDA the layout of the last factor depends on the driver"
row("linalg_svd(Tensor self, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)", svd, f"{L}svd(x)", L + "svd", varies=True, unknown=DRIVER)
row("svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)", svd, "x.svd()", varies=True, unknown=DRIVER)
row("svd_lowrank(Tensor self, SymInt? q=6, int? niter=2, Tensor? M=None) -> (Tensor, Tensor, Tensor)", low_rank, "torch.svd_lowrank(x, q=1)", varies=True, unknown=DRIVER)
row("pca_lowrank(Tensor self, SymInt? q=None, bool center=True, int niter=2) -> (Tensor, Tensor, Tensor)", low_rank, "torch.pca_lowrank(x, q=1)", varies=True, unknown=DRIVER)
row("vander(Tensor x, SymInt? N=None, bool increasing=False) -> Tensor", vandermonde, "torch.vander(x)")
row("lobpcg(Tensor self, int? k=None, Tensor? B=None, Tensor? X=None, int? n=None, Tensor? iK=None, int? niter=None, float? tol=None, bool? largest=None, str? method=None, Any tracker=None, Any ortho_iparams=None, Any ortho_fparams=None, Any ortho_bparams=None) -> (Tensor, Tensor)", few_eigenvectors, f"torch.lobpcg({POSITIVE}, 1)", "torch.lobpcg", unknown="with vectors to start from, these decide")
# fmt: on
