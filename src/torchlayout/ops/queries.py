"""Questions to tensors, whose answers are sizes and plain values."""

from __future__ import annotations

from torchlayout.layouts import is_channels_last, is_contiguous
from torchlayout.ops.copies import RANK_OF_FORMAT, memory_format
from torchlayout.ops.table import Args, op
from torchlayout.ops.transfers import at_dim, itself
from torchlayout.ops.values import UNKNOWN, Alias, MemoryFormat, Outcome, Unknowable
from torchlayout.sizes import MAYBE, YES, Truth

VALUE = Alias.FRESH


def _answered(answer: Truth) -> Outcome:
    return UNKNOWN if answer is MAYBE else answer is YES


def sizes(args: Args) -> Outcome:
    """the sizes, or that of one dimension"""
    return args.layout().shape


def size_at(args: Args) -> Outcome:
    """the size of a dimension"""
    layout, place = at_dim(args, args.layout(), args.integer("dim"))
    if place < 0:
        raise Unknowable("a tensor without dimensions")
    return layout.dims[place].size


def strides(args: Args) -> Outcome:
    """the strides, in elements"""
    layout = args.ranked()
    return tuple(UNKNOWN if stride is None else stride for stride in layout.strides)


def stride_at(args: Args) -> Outcome:
    """the stride of a dimension"""
    layout, place = at_dim(args, args.layout(), args.integer("dim"))
    stride = layout.dims[place].stride if place >= 0 else None
    return UNKNOWN if stride is None else stride


def rank(args: Args) -> Outcome:
    """the number of dimensions"""
    return len(args.ranked().dims)


def count(args: Args) -> Outcome:
    """the number of elements"""
    return args.layout().numel


def first_size(args: Args) -> Outcome:
    """the size of the first dimension"""
    return args.reaching(args.layout(), 0).dims[0].size


def packed(args: Args) -> Outcome:
    """whether it is packed in the memory format"""
    form = memory_format(args, MemoryFormat.CONTIGUOUS)
    layout = args.layout()
    if form in RANK_OF_FORMAT:
        if layout.rank is not None and layout.rank != RANK_OF_FORMAT[form]:
            return False
        return _answered(is_channels_last(layout, args.facts))
    return _answered(is_contiguous(layout, args.facts))


def offset(args: Args) -> Outcome:
    """the offset into its storage, in elements"""
    found = args.layout().offset
    return UNKNOWN if found is None else found


def item_size(args: Args) -> Outcome:
    """the bytes of one element"""
    dtype = args.operand().dtype
    size = dtype.itemsize if dtype else None
    return UNKNOWN if size is None else size


def floating(args: Args) -> Outcome:
    """whether its elements are floating-point numbers"""
    dtype = args.operand().dtype
    return UNKNOWN if dtype is None else dtype.is_floating


def complex_numbers(args: Args) -> Outcome:
    """whether its elements are complex numbers"""
    dtype = args.operand().dtype
    return UNKNOWN if dtype is None else dtype.is_complex


def some_value(args: Args) -> Outcome:
    """data, of which nothing is known"""
    return UNKNOWN


def on_its_way(args: Args) -> Outcome:
    """the tensor itself"""
    return itself(args)


# fmt: off
op("size(Tensor self) -> int[]", alias=VALUE, layout=sizes, example="x.size()")
op("size.int(Tensor self, int dim) -> int", alias=VALUE, layout=size_at, example="x.size(-1)")
op("stride(Tensor self) -> int[]", alias=VALUE, layout=strides, example="x.stride()", unknown="strides may not be known")
op("stride.int(Tensor self, int dim) -> int", alias=VALUE, layout=stride_at, example="x.stride(0)", unknown="strides may not be known")
op("dim(Tensor self) -> int", alias=VALUE, layout=rank, example="x.dim()", spellings=("ndimension",))
op("numel(Tensor self) -> int", alias=VALUE, layout=count, example="x.numel()", spellings=("nelement",))
op("__len__(Tensor self) -> int", alias=VALUE, layout=first_size, example="x.__len__()")
op("is_contiguous(Tensor self, *, MemoryFormat memory_format=contiguous_format) -> bool", alias=VALUE, layout=packed, example="x.is_contiguous()", unknown="strides may not be known")
op("storage_offset(Tensor self) -> int", alias=VALUE, layout=offset, example="x.storage_offset()", unknown="the offset may not be known")
op("element_size(Tensor self) -> int", alias=VALUE, layout=item_size, example="x.element_size()", unknown="the dtype may not be known")
op("is_floating_point(Tensor self) -> bool", alias=VALUE, layout=floating, example="x.is_floating_point()", unknown="the dtype may not be known")
op("is_complex(Tensor self) -> bool", alias=VALUE, layout=complex_numbers, example="x.is_complex()", unknown="the dtype may not be known")
for _name in ("item", "tolist", "data_ptr"):
    op(f"{_name}(Tensor self) -> Scalar", alias=VALUE, layout=some_value, example=f"x.{_name}()", unknown="depends on data")
op("equal(Tensor self, Tensor other) -> bool", alias=VALUE, layout=some_value, example="x.equal(x)", unknown="depends on data")
op("allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool", alias=VALUE, layout=some_value, example="x.allclose(x)", unknown="depends on data")
op("requires_grad_(Tensor(a!) self, bool requires_grad=True) -> Tensor(a!)", alias=Alias.INPLACE, layout=on_its_way, example="x.requires_grad_()")
op("share_memory_(Tensor(a!) self) -> Tensor(a!)", alias=Alias.INPLACE, layout=on_its_way, example="x.share_memory_()")
# fmt: on
