"""Tensors from nothing: factories, `*_like`, `new_*`, and tensors from Python lists and NumPy arrays."""

from __future__ import annotations

from typing import Any

from torchlayout.layouts import (
    Dim,
    Layout,
    contiguous,
    is_contiguous,
    preserved,
    settle,
    strided,
    unknown_strides,
)
from torchlayout.ops.copies import in_format, memory_format
from torchlayout.ops.table import Args, op
from torchlayout.ops.transfers import elementwise_layout
from torchlayout.ops.values import (
    Alias,
    DType,
    Many,
    MemoryFormat,
    Operand,
    Outcome,
    Refused,
    Result,
    Unknowable,
    is_unknown,
)
from torchlayout.sizes import MAYBE, NO, YES, Extent, Facts, Poly, Rest, Shape, Size, Truth

FRESH = Alias.FRESH
BOOL, INT64 = DType("bool"), DType("int64")


def shape_of(args: Args, name: str = "size") -> Shape:
    """The sizes asked for; one that is not known is an unknown of its own."""
    value = args.known(name)
    items = value if isinstance(value, (tuple, list)) else (value,)
    shape: list[Extent] = []
    for place, item in enumerate(items):
        if is_unknown(item):
            shape.append(args.facts.symbols.fresh(("factory", place)))
        elif isinstance(item, bool) or not isinstance(item, (int, Poly, Rest)):
            raise Unknowable("a size that is no int")
        else:
            shape.append(item if isinstance(item, Rest) else args.facts.normal(item))
    return tuple(shape)


def given_dtype(args: Args) -> DType | None:
    value = args.values.get("dtype")
    return value if isinstance(value, DType) else None


FLOAT32 = DType("float32")


def float_dtype(args: Args) -> DType | None:
    """The dtype asked for, else torch's default: not known in a file that sets it."""
    if args.values.get("dtype") is None and "fill_value" not in args.values:
        return None if args.facts.symbols.sets_dtype else FLOAT32
    return given_dtype(args)


# ---------------------------------------------------------------- by sizes
def packed(args: Args) -> Outcome:
    """the sizes given, packed"""
    form = memory_format(args) if "memory_format" in args.values else MemoryFormat.PRESERVE
    shape = shape_of(args)
    if form in (MemoryFormat.CHANNELS_LAST, MemoryFormat.CHANNELS_LAST_3D):
        return Result(in_format(contiguous(shape), form, args.facts), float_dtype(args))
    return Result(contiguous(shape), float_dtype(args))


def packed_ints(args: Args) -> Outcome:
    """the sizes given, packed"""
    return Result(contiguous(shape_of(args)), given_dtype(args) or (INT64 if args["dtype"] is None else None))


def empty_strided(args: Args) -> Outcome:
    """the sizes and strides given"""
    sizes, strides = args.shape("size"), args.shape("stride")
    if len(sizes) != len(strides) or any(isinstance(extent, Rest) for extent in (*sizes, *strides)):
        raise Unknowable("sizes and strides of unknown number")
    return Result(strided(sizes, strides), float_dtype(args))  # type: ignore[arg-type]


def empty_permuted(args: Args) -> Outcome:
    """the sizes given, dense in the given order"""
    sizes, order = args.shape("size"), args.integers("physical_layout") or ()
    if any(isinstance(extent, Rest) for extent in sizes) or sorted(order) != list(range(len(sizes))):
        raise Unknowable("no permutation of the dimensions")
    dims = {}
    stride: Size = 1
    for place in reversed(order):
        size = sizes[place]
        assert not isinstance(size, Rest)
        dims[place] = Dim(size, stride)
        stride = stride * (1 if size == 0 else size)
    return Result(Layout(tuple(dims[place] for place in range(len(sizes)))), given_dtype(args))


# ---------------------------------------------------------------- like another
def like(args: Args) -> Outcome:
    """the sizes of another tensor; its strides where these are dense, else its order without gaps"""
    operand = args.operand()
    form = memory_format(args)
    dtype = operand.dtype if args["dtype"] is None else given_dtype(args)
    layout = args.layout()
    if operand.numpy:
        raise Unknowable("an array")
    return Result(in_format(layout, form, args.facts), dtype)


def new_packed(args: Args) -> Outcome:
    """the sizes given, packed; dtype and device of the tensor"""
    dtype = args.operand().dtype if args["dtype"] is None else given_dtype(args)
    return Result(contiguous(shape_of(args)), dtype)


def new_strided(args: Args) -> Outcome:
    """the sizes and strides given; dtype and device of the tensor"""
    outcome = empty_strided(args)
    assert isinstance(outcome, Result)
    return Result(outcome.layout, args.operand().dtype if args["dtype"] is None else given_dtype(args))


# ---------------------------------------------------------------- ranges and matrices
def ranged(args: Args) -> Outcome:
    """one dimension, packed; as many elements as there are steps"""
    start, end, step = (args.values.get(name, default) for name, default in (("start", 0), ("end", None), ("step", 1)))
    dtype = given_dtype(args)
    whole = all(isinstance(value, (int, Poly)) and not isinstance(value, bool) for value in (start, end, step))
    if dtype is None and args["dtype"] is None and whole:
        dtype = INT64
    return Result(contiguous((_steps(start, end, step, args.facts),)), dtype)


def ranged_inclusively(args: Args) -> Outcome:
    """one dimension, packed; as many elements as there are steps, the end among them"""
    start, end, step = args["start"], args["end"], args["step"]
    dtype = float_dtype(args)
    if all(isinstance(value, (int, float)) for value in (start, end, step)) and step:
        return Result(contiguous((int((end - start) // step) + 1,)), dtype)
    if isinstance(step, int) and step == 1 and isinstance(start, (int, Poly)) and isinstance(end, (int, Poly)):
        return Result(contiguous((args.facts.normal(end - start + 1),)), dtype)
    return Result(contiguous((args.facts.symbols.fresh("range"),)), dtype)


def _steps(start: Any, end: Any, step: Any, facts: Facts) -> Size:
    """`ceil((end - start) / step)`."""
    if all(isinstance(value, (int, float)) for value in (start, end, step)) and step:
        return max(int(-((start - end) / step // 1)), 0)
    if isinstance(step, int) and step == 1 and isinstance(start, (int, Poly)) and isinstance(end, (int, Poly)):
        length = facts.normal(end - start)
        if not isinstance(length, int) and (start == 0 or facts.assumed or facts.less(length, 0) is NO):
            return length
    return facts.symbols.fresh("range")


def spaced(args: Args) -> Outcome:
    """one dimension, packed, of the number of steps"""
    return Result(contiguous((args.size("steps"),)), float_dtype(args))


def identity(args: Args) -> Outcome:
    """a matrix, packed"""
    columns = args.values.get("m")
    shape = (args.size("n"), args.size("n") if columns is None else args.size("m"))
    return Result(contiguous(shape), float_dtype(args))


def window(args: Args) -> Outcome:
    """one dimension, packed"""
    return Result(contiguous((args.size("window_length"),)), float_dtype(args))


def triangle_indices(args: Args) -> Outcome:
    """two rows, packed; as many columns as the triangle has elements"""
    rows, columns = args.size("row"), args.size("col")
    offset = args.integer("offset")
    lower = args.op.name.startswith("tril")
    if isinstance(rows, int) and isinstance(columns, int):
        below = _pairs_below(rows, columns, offset if lower else offset - 1)
        pairs = below if lower else rows * columns - below
        return Result(contiguous((2, pairs)), given_dtype(args) or INT64)
    return Result(contiguous((2, args.facts.symbols.fresh("triangle"))), given_dtype(args) or INT64)


def _pairs_below(rows: int, columns: int, offset: int) -> int:
    """How many pairs (r, c) of a matrix have c <= r + offset: r + offset + 1 of row r, from 0 up to all columns."""
    first = min(max(0, -offset - 1), rows)
    full = min(max(first, columns - offset - 1), rows)
    growing = sum_of(first + offset + 1, full - first)
    return growing + (rows - full) * columns


def sum_of(first: int, count: int) -> int:
    """The sum of `count` whole numbers from `first` on."""
    return count * first + count * (count - 1) // 2


def permutation(args: Args) -> Outcome:
    """one dimension, packed"""
    return Result(contiguous((args.size("n"),)), given_dtype(args) or (INT64 if args["dtype"] is None else None))


def complex_like(args: Args) -> Outcome:
    """sizes broadcast; strides in the operands' order, without gaps"""
    names = ("real", "imag") if "real" in args.values else ("abs", "angle")
    first = args.operand(names[0]).dtype
    made = {"float32": "complex64", "float64": "complex128", "float16": "complex32"}.get(first.name) if first else None
    return Result(elementwise_layout([args[name] for name in names], args.facts), DType(made) if made else None)


# ---------------------------------------------------------------- from data
def from_data(args: Args) -> Outcome:
    """a packed copy of a list or array; of a tensor a copy with its strides"""
    data = args.known("data")
    dtype = given_dtype(args)
    if isinstance(data, Operand):
        return _copied(data, dtype or (data.dtype if args["dtype"] is None else None), args.facts)
    shape, found = _literal(data, args.facts)
    return Result(contiguous(shape), dtype or (found if args["dtype"] is None else None))


def _copied(data: Operand, dtype: DType | None, facts: Facts) -> Outcome:
    if not data.numpy:
        return Result(preserved(data.layout, facts), dtype)
    refuse_negative(data, facts, "data")
    return Result(preserved(data.layout, facts), dtype)


def refuse_negative(data: Operand, facts: Facts, name: str) -> Truth:
    """Raises `Refused` where a stride of an array is negative, in a dimension longer than 1 or not: torch asks for no
    size. MAYBE where a stride is not known."""
    answer = YES
    for dim in settle(data.layout, facts).dims:
        negative = MAYBE if dim.stride is None else facts.less(dim.stride, 0)
        if negative is YES:
            raise Refused("negative-stride", "at least one stride in the given numpy array is negative", name)
        answer = answer & ~negative
    return answer


def _literal(data: Any, facts: Facts) -> tuple[Shape, DType | None]:
    """The shape of nested lists, and the dtype of their items where they tell. Items that are not known may be lists
    and arrays in turn, all of one shape."""
    if isinstance(data, Many):
        if not facts.assumed:
            raise Unknowable("an empty list has one dimension")
        shape_of_item, dtype = _literal(data.item, facts)
        return (facts.symbols.fresh("items"), *shape_of_item), dtype
    shape: list[Extent] = []
    items: list[Any] = [data]
    while items and all(isinstance(item, (list, tuple)) for item in items):
        lengths = {len(item) for item in items}
        if len(lengths) != 1:
            raise Unknowable("a ragged list")
        shape.append(lengths.pop())
        items = [item for group in items for item in group]
    if any(isinstance(item, (list, tuple)) for item in items):
        raise Unknowable("a ragged list")
    if any(isinstance(item, Rest) for item in items):
        raise Unknowable("a list of unknown length")
    if any(is_unknown(item) for item in items):
        return (*shape, facts.symbols.fresh_rest("items")), None
    operands = [item for item in items if isinstance(item, Operand)]
    if operands and len(operands) == len(items) and any(settle(one.layout, facts).shape for one in operands):
        return (*shape, facts.symbols.fresh_rest("items")), None
    return tuple(shape), None if operands else _literal_dtype(items)


def _literal_dtype(items: list[Any]) -> DType | None:
    if items and all(isinstance(item, bool) for item in items):
        return BOOL
    if items and all(isinstance(item, (int, Poly)) for item in items):
        return INT64
    return None


def as_tensor(args: Args) -> Outcome:
    """a tensor itself where nothing is converted; an array's own memory with its strides; a packed copy of a list"""
    data = args.known("data")
    dtype = given_dtype(args)
    if not isinstance(data, Operand):
        shape, found = _literal(data, args.facts)
        return Result(contiguous(shape), dtype or (found if args["dtype"] is None else None))
    layout = settle(data.layout, args.facts)
    wanted = args["dtype"]
    same_dtype = wanted is None or (isinstance(wanted, DType) and wanted == data.dtype)
    same_device = args["device"] is None or (args["device"] == "cpu" and (data.numpy or data.device == "cpu"))
    dtype = dtype or (data.dtype if wanted is None else None)
    if data.numpy:
        refuse_negative(data, args.facts, "data")
    if same_dtype and same_device:
        if data.numpy and not layout.dims and args.op.name == "asarray":
            return Result(layout, dtype)  # asarray takes an array without dimensions for a number
        return Result(layout, dtype, YES, of="data", same_object=not data.numpy)
    copy = preserved(layout, args.facts)
    if copy.dims == layout.dims:
        return Result(Layout(layout.dims, None), dtype, MAYBE, of="data")
    return Result(unknown_strides(layout.shape), dtype, MAYBE, of="data")


def from_array(args: Args) -> Outcome:
    """the array's own memory, with its strides; negative strides are refused"""
    data = args.operand()
    if not data.numpy:
        raise Unknowable("no array")
    exists = refuse_negative(data, args.facts, "self")
    return Result(settle(data.layout, args.facts), data.dtype, YES, exists=exists)


def from_buffer(args: Args) -> Outcome:
    """one dimension, packed, in the buffer's memory; raises for an array that is not contiguous"""
    count, buffer, exists = args["count"], args["buffer"], YES
    if isinstance(buffer, Operand) and buffer.numpy:
        exists = is_contiguous(args.layout("buffer"), args.facts)
        if exists is NO:
            raise Refused("needs-contiguous", "could not retrieve buffer from object", "buffer")
    known = isinstance(count, (int, Poly)) and count != -1
    size = count if known else args.facts.symbols.fresh("buffer")
    return Result(Layout(contiguous((size,)).dims, None), given_dtype(args), MAYBE, of="buffer", exists=exists)


def new_from_data(args: Args) -> Outcome:
    """a packed copy of a list; of a tensor a copy with its strides; dtype and device of the tensor"""
    data = args.known("data")
    dtype = given_dtype(args) or (args.operand().dtype if args["dtype"] is None else None)
    if isinstance(data, Operand):
        return _copied(data, data.dtype if args["dtype"] is None and not data.numpy else given_dtype(args), args.facts)
    return Result(contiguous(_literal(data, args.facts)[0]), dtype)


def scalar(args: Args) -> Outcome:
    """one number (no dimensions)"""
    return Result(contiguous(()), given_dtype(args))


OPTIONS = (
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool? requires_grad=False"
)
LIKE = OPTIONS + ", MemoryFormat? memory_format=None"
RANDOM = "Any? generator=None, Any? names=None, " + OPTIONS

# fmt: off
for _name in ("zeros", "ones"):
    op(f"{_name}(SymInt[] size, *, Any? names=None, {OPTIONS}) -> Tensor", alias=FRESH, layout=packed, example=f"torch.{_name}(*x.shape)")
op(f"empty.memory_format(SymInt[] size, *, Any? names=None, {LIKE}) -> Tensor", alias=FRESH, layout=packed, example="torch.empty(x.shape)")
for _name in ("rand", "randn"):
    op(f"{_name}(SymInt[] size, *, {RANDOM}) -> Tensor", alias=FRESH, layout=packed, example=f"torch.{_name}(x.shape)")
op(f"full(SymInt[] size, Scalar fill_value, *, Any? names=None, {OPTIONS}) -> Tensor", alias=FRESH, layout=packed, example="torch.full(x.shape, 1.0)")
op(f"full(SymInt[] size, Tensor fill_value, *, Any? names=None, {OPTIONS}) -> Tensor", alias=FRESH, layout=packed, example="torch.full(x.shape, torch.tensor(1.0))")
op(f"randint(SymInt high, SymInt[] size, *, {RANDOM}) -> Tensor", alias=FRESH, layout=packed_ints, example="torch.randint(4, x.shape)")
op(f"randint.low(SymInt low, SymInt high, SymInt[] size, *, {RANDOM}) -> Tensor", alias=FRESH, layout=packed_ints, example="torch.randint(1, 4, x.shape)")
op(f"empty_strided(SymInt[] size, SymInt[] stride, *, {OPTIONS}) -> Tensor", alias=FRESH, layout=empty_strided, example="torch.empty_strided(x.size(), x.stride())")
op(f"empty_permuted(SymInt[] size, int[] physical_layout, *, {OPTIONS}) -> Tensor", alias=FRESH, layout=empty_permuted, example="torch.empty_permuted(x.size(), tuple(reversed(range(x.dim()))))")
for _name in ("zeros_like", "ones_like", "empty_like", "rand_like", "randn_like"):
    op(f"{_name}(Tensor self, *, Any? generator=None, {LIKE}) -> Tensor", alias=FRESH, layout=like, example=f"torch.{_name}(x)")
op(f"full_like(Tensor self, Scalar fill_value, *, {LIKE}) -> Tensor", alias=FRESH, layout=like, example="torch.full_like(x, 2)")
op(f"full_like(Tensor self, Tensor fill_value, *, {LIKE}) -> Tensor", alias=FRESH, layout=like, example="torch.full_like(x, torch.tensor(2.0))")
op(f"randint_like(Tensor self, SymInt high, *, Any? generator=None, {LIKE}) -> Tensor", alias=FRESH, layout=like, example="torch.randint_like(x, 3)")
op(f"randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, Any? generator=None, {LIKE}) -> Tensor", alias=FRESH, layout=like, example="torch.randint_like(x, 1, 3)")
for _name in ("new_zeros", "new_ones", "new_empty"):
    op(f"{_name}(Tensor self, SymInt[] size, *, {OPTIONS}) -> Tensor", alias=FRESH, layout=new_packed, example=f"x.{_name}(2, 3)")
op(f"new_full(Tensor self, SymInt[] size, Scalar fill_value, *, {OPTIONS}) -> Tensor", alias=FRESH, layout=new_packed, example="x.new_full((2, 3), 1)")
op(f"new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, {OPTIONS}) -> Tensor", alias=FRESH, layout=new_strided, example="x.new_empty_strided((2, 3), (1, 2))")
op(f"new_tensor(Tensor self, Any data, *, {OPTIONS}) -> Tensor", alias=FRESH, layout=new_from_data, example="x.new_tensor([[1, 2], [3, 4]])")
op(f"arange(Scalar end, *, {OPTIONS}) -> Tensor", alias=FRESH, layout=ranged, example="torch.arange(x.numel())")
op(f"arange.start(Scalar start, Scalar end, *, {OPTIONS}) -> Tensor", alias=FRESH, layout=ranged, example="torch.arange(1, x.numel() + 1)")
op(f"arange.start_step(Scalar start, Scalar end, Scalar step=1, *, {OPTIONS}) -> Tensor", alias=FRESH, layout=ranged, example="torch.arange(0.5, x.numel() + 1, 0.3)")
op(f"range(Scalar start, Scalar end, Scalar step=1, *, {OPTIONS}) -> Tensor", alias=FRESH, layout=ranged_inclusively, example="torch.range(1, x.numel(), 2)")
op(f"linspace(Scalar start, Scalar end, int steps, *, {OPTIONS}) -> Tensor", alias=FRESH, layout=spaced, example="torch.linspace(0, 1, x.numel())")
op(f"linspace.Tensor(Any start, Any end, int steps, *, {OPTIONS}) -> Tensor", alias=FRESH, layout=spaced, example="torch.linspace(torch.tensor(0.0), torch.tensor(1.0), 4)")
op(f"logspace(Scalar start, Scalar end, int steps, float base=10.0, *, {OPTIONS}) -> Tensor", alias=FRESH, layout=spaced, example="torch.logspace(0, 1, x.numel())")
op(f"logspace.Tensor(Any start, Any end, int steps, float base=10.0, *, {OPTIONS}) -> Tensor", alias=FRESH, layout=spaced, example="torch.logspace(torch.tensor(0.0), torch.tensor(1.0), 4)")
op(f"eye(SymInt n, *, {OPTIONS}) -> Tensor", alias=FRESH, layout=identity, example="torch.eye(3)")
op(f"eye.m(SymInt n, SymInt m, *, {OPTIONS}) -> Tensor", alias=FRESH, layout=identity, example="torch.eye(3, 4)")
op(f"randperm(SymInt n, *, {RANDOM}) -> Tensor", alias=FRESH, layout=permutation, example="torch.randperm(5)")
for _name in ("tril_indices", "triu_indices"):
    op(f"{_name}(int row, int col, int offset=0, *, {OPTIONS}) -> Tensor", alias=FRESH, layout=triangle_indices, example=f"torch.{_name}(4, 3, 1)")
for _name in ("hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window"):
    op(f"{_name}(int window_length, bool periodic=True, float alpha=0.54, float beta=0.46, *, {OPTIONS}) -> Tensor", alias=FRESH, layout=window, example=f"torch.{_name}(8)")
op("complex(Tensor real, Tensor imag) -> Tensor", alias=FRESH, layout=complex_like, example="torch.complex(x, x)")
op("polar(Tensor abs, Tensor angle) -> Tensor", alias=FRESH, layout=complex_like, example="torch.polar(x, x)")
op("tensor(Any data, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False, bool pin_memory=False) -> Tensor", alias=FRESH, layout=from_data, example="torch.tensor([[1, 2, 3], [4, 5, 6]])", unknown="data may not be known")
op("as_tensor(Any data, ScalarType? dtype=None, Device? device=None) -> Tensor", alias=Alias.MAYBE_VIEW, layout=as_tensor, example="torch.as_tensor(x.numpy())", unknown="devices may not be known")
op("asarray(Any data, *, ScalarType? dtype=None, Device? device=None, bool? copy=None, bool requires_grad=False) -> Tensor", alias=Alias.MAYBE_VIEW, layout=as_tensor, example="torch.asarray(x.numpy())", unknown="devices may not be known")
op("from_numpy(Tensor self) -> Tensor", alias=Alias.VIEW, layout=from_array, example="torch.from_numpy(x.numpy())")
op("frombuffer(Any buffer, *, ScalarType dtype, int count=-1, int offset=0, bool requires_grad=False) -> Tensor", alias=Alias.MAYBE_VIEW, layout=from_buffer, example="torch.frombuffer(bytearray(8), dtype=torch.uint8)", unknown="the size of the buffer")
op("scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor", alias=FRESH, layout=scalar, example="torch.scalar_tensor(1.0)")
# fmt: on
