"""NumPy's new arrays: zeros, ones, ranges, grids, random numbers, and what is read from buffers and files."""

from __future__ import annotations

from torchlayout.layouts import contiguous
from torchlayout.ops.numpy_layouts import array, array_result, in_order, packed, shape_argument
from torchlayout.ops.numpy_rows import FRESH, paths
from torchlayout.ops.table import Args, Transfer, op
from torchlayout.ops.values import UNKNOWN, DType, Operand, Outcome, Result, Unknowable
from torchlayout.sizes import Poly, Size

FLOAT64 = DType("float64")


def dtype_of(args: Args, default: DType | None) -> DType | None:
    """A `dtype` argument, or the default where none was given."""
    value = args["dtype"] if "dtype" in args.values else None
    return default if value is None else value if isinstance(value, DType) else None


def of_shape(args: Args) -> Outcome:
    """packed in the given order"""
    shape = shape_argument(args, "shape")
    default = FLOAT64 if args.op.name != "full" else None
    return array_result(packed(shape, args["order"]), dtype_of(args, default))


def like(args: Args) -> Outcome:
    """the array's sizes, strides in the same order (`order='K'`)"""
    operand = array(args)
    if args["shape"] is not None:
        return UNKNOWN
    return array_result(in_order(args.layout(), args["order"], args.facts), dtype_of(args, operand.dtype))


def ranged(args: Args) -> Outcome:
    """one dimension, packed"""
    start, stop, step = args["start"], args["stop"], args["step"]
    if stop is None:
        start, stop = 0, start
    sizes = all(isinstance(value, (int, Poly)) and not isinstance(value, bool) for value in (start, stop, step))
    length: Size = args.facts.symbols.fresh("length")
    if sizes and step == 1:
        length = args.facts.normal(stop - start)
        length = max(length, 0) if isinstance(length, int) else length
    elif sizes and all(isinstance(value, int) for value in (start, stop, step)) and step:
        length = len(range(start, stop, step))
    return array_result(contiguous((length,)), dtype_of(args, DType("int64") if sizes else None))


def spaced(args: Args) -> Outcome:
    """one dimension, packed"""
    if args["retstep"] is not False or isinstance(args["start"], Operand) or isinstance(args["stop"], Operand):
        return UNKNOWN
    return array_result(contiguous((args.size("num"),)), dtype_of(args, FLOAT64))


def square(args: Args) -> Outcome:
    """two dimensions, packed"""
    rows = args.size("N")
    columns = rows if args.values.get("M") is None else args.size("M")
    return array_result(packed((rows, columns), args.values.get("order", "C")), dtype_of(args, FLOAT64))


def grid(args: Args) -> Outcome:
    """one array for each vector, packed; with `copy=False` they are expanded"""
    vectors = args.operands("vectors")
    if args["copy"] is not True or args["sparse"] is not False or not all(v.numpy for v in vectors):
        return UNKNOWN
    sizes = [Result(v.layout).layout.numel for v in vectors]
    if args["indexing"] == "xy" and len(sizes) > 1:
        sizes[0], sizes[1] = sizes[1], sizes[0]
    elif args["indexing"] not in ("xy", "ij"):
        return UNKNOWN
    return tuple(array_result(contiguous(sizes), v.dtype) for v in vectors)


def random(name: str) -> Transfer:
    """Random numbers of a shape given by `size`."""

    def transfer(args: Args) -> Outcome:
        if args[name] is None or args[name] == ():
            return UNKNOWN
        return array_result(contiguous(shape_argument(args, name)))

    transfer.__doc__ = "packed"
    return transfer


def from_buffer(args: Args) -> Outcome:
    """one dimension, packed"""
    count = args["count"] if "count" in args.values else -1
    length = count if isinstance(count, (int, Poly)) and count != -1 else args.facts.symbols.fresh("length")
    return array_result(contiguous((length,)), dtype_of(args, FLOAT64))


def loaded(args: Args) -> Outcome:
    """not known: files keep Fortran order too"""
    del args
    raise Unknowable("a file")


# fmt: off
for _name in ("zeros", "ones", "empty"):
    op(f"{_name}(Any shape, Any? dtype=None, Any order='C', *, Any device=None, Any like=None) -> Tensor", alias=FRESH, layout=of_shape, example=f"np.{_name}((2, 3))", spellings=paths(_name), numpy=True, path_only=True)
    op(f"{_name}_like(Tensor self, Any? dtype=None, Any order='K', bool subok=True, Any? shape=None, *, Any device=None) -> Tensor", alias=FRESH, layout=like, example=f"np.{_name}_like(a)", spellings=paths(f"{_name}_like"), numpy=True, path_only=True, unknown="a shape is given")
op("full(Any shape, Any fill_value, Any? dtype=None, Any order='C', *, Any device=None, Any like=None) -> Tensor", alias=FRESH, layout=of_shape, example="np.full((2, 3), 1)", spellings=paths("full"), numpy=True, path_only=True)
op("full_like(Tensor self, Any fill_value, Any? dtype=None, Any order='K', bool subok=True, Any? shape=None, *, Any device=None) -> Tensor", alias=FRESH, layout=like, example="np.full_like(a, 1)", spellings=paths("full_like"), numpy=True, path_only=True, unknown="a shape is given")
op("arange(Any start, Any? stop=None, Any step=1, Any? dtype=None, *, Any device=None, Any like=None) -> Tensor", alias=FRESH, layout=ranged, example="np.arange(6)", spellings=paths("arange"), numpy=True, path_only=True)
for _name in ("linspace", "logspace", "geomspace"):
    op(f"{_name}(Any start, Any stop, int num=50, bool endpoint=True, bool retstep=False, Any? dtype=None, int axis=0, **Any rest) -> Tensor", alias=FRESH, layout=spaced, example=f"np.{_name}(1, 2, 5)", spellings=paths(_name), numpy=True, path_only=True, unknown="the ends are arrays")
op("eye(int N, int? M=None, int k=0, Any? dtype=None, Any order='C', **Any rest) -> Tensor", alias=FRESH, layout=square, example="np.eye(3)", spellings=paths("eye"), numpy=True, path_only=True)
op("identity(int N, Any? dtype=None, **Any rest) -> Tensor", alias=FRESH, layout=square, example="np.identity(3)", spellings=paths("identity"), numpy=True, path_only=True)
op("tri(int N, int? M=None, int k=0, Any? dtype=None, **Any rest) -> Tensor", alias=FRESH, layout=square, example="np.tri(3)", spellings=paths("tri"), numpy=True, path_only=True)
op("meshgrid(Tensor[] vectors, *, bool copy=True, bool sparse=False, str indexing='xy') -> Tensor[]", alias=FRESH, layout=grid, example="np.meshgrid(np.arange(2), np.arange(3))", spellings=paths("meshgrid"), numpy=True, path_only=True, unknown="sparse, or without copies")
for _name in ("rand", "randn"):
    op(f"{_name}(int[] size) -> Tensor", alias=FRESH, layout=random("size"), example=f"np.random.{_name}(2, 3)", spellings=paths(f"random.{_name}"), numpy=True, path_only=True, unknown="without a size it is a scalar")
for _name in ("random", "random_sample", "standard_normal"):
    op(f"{_name}(Any? size=None) -> Tensor", alias=FRESH, layout=random("size"), example=f"np.random.{_name}((2, 3))", spellings=paths(f"random.{_name}"), numpy=True, path_only=True, unknown="without a size it is a scalar")
for _name, _parameters in {"uniform": "Any low=0.0, Any high=1.0", "normal": "Any loc=0.0, Any scale=1.0", "randint": "Any low, Any? high=None"}.items():
    op(f"{_name}({_parameters}, Any? size=None, Any? dtype=None) -> Tensor", alias=FRESH, layout=random("size"), example=f"np.random.{_name}(1, 2, (2, 3))", spellings=paths(f"random.{_name}"), numpy=True, path_only=True, unknown="without a size it is a scalar")
for _name in ("frombuffer", "fromfile", "fromiter", "fromstring"):
    op(f"{_name}(Any buffer, Any? dtype=None, Any count=-1, **Any rest) -> Tensor", alias=FRESH, layout=from_buffer, example="np.frombuffer(b'12345678')", spellings=paths(_name), numpy=True, path_only=True, unknown="how long it is")
for _name in ("load", "loadtxt", "genfromtxt"):
    op(f"{_name}(Any file, **Any rest) -> Any", alias=FRESH, layout=loaded, example="", spellings=paths(_name), numpy=True, path_only=True, unknown="files keep Fortran order too")
# fmt: on
