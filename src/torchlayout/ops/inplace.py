"""Operators that exist in place only: fills, copies, random numbers, resizing, initialisation."""

from __future__ import annotations

from torchlayout.layouts import contiguous, is_contiguous, unknown_strides, view
from torchlayout.ops.copies import in_format, memory_format
from torchlayout.ops.derived import refuse_overlap, renormalises
from torchlayout.ops.factories import shape_of
from torchlayout.ops.reshaping import NO_SUCH_VIEW
from torchlayout.ops.table import Args, op
from torchlayout.ops.transfers import itself
from torchlayout.ops.values import Alias, MemoryFormat, Outcome, Refused, Result
from torchlayout.sizes import MAYBE, NO, YES, Facts, Rest, Shape, Truth, every, product
from torchlayout.structs import replace

INPLACE = Alias.INPLACE


def first_name(args: Args) -> str:
    return args.op.signature.parameters[0].name


def written(args: Args) -> Result:
    """the tensor itself"""
    name = first_name(args)
    exists = refuse_overlap(args.operand(name), args.facts, name)
    return replace(itself(args, name), exists=exists)


def written_silently(args: Args) -> Outcome:
    """the tensor itself, also where its elements share memory"""
    return itself(args, first_name(args))


def written_as_matrix(args: Args) -> Outcome:
    """the tensor itself; raises where its dimensions after the first cannot be viewed as one"""
    name = first_name(args)
    layout = args.ranked(name)
    flat = product(dim.size for dim in layout.dims[1:])
    answer = view(layout, (layout.dims[0].size, flat), args.facts) if layout.dims else None
    if answer is not None and answer.exists is NO:
        raise Refused("view", NO_SUCH_VIEW, name)
    outcome = written(args)
    return replace(outcome, exists=outcome.exists & (YES if answer is None else answer.exists))


def resized(args: Args) -> Outcome:
    """the tensor itself: unchanged where it has the sizes, else packed"""
    return _resized(args, shape_of(args))


def resized_like(args: Args) -> Outcome:
    """the tensor itself: unchanged where it has the other's sizes, else packed"""
    return _resized(args, args.layout("the_template").shape)


def _resized(args: Args, shape: Shape) -> Outcome:
    operand, layout, facts = args.operand(), args.layout(), args.facts
    form = memory_format(args, MemoryFormat.CONTIGUOUS)
    packed = contiguous(shape, layout.offset)
    if form is not MemoryFormat.CONTIGUOUS:
        packed = in_format(packed, form, facts)
        return Result(packed, operand.dtype, YES, same_object=True)
    same = _same_shape(layout.shape, shape, facts)
    if same is YES:
        return itself(args)
    if same is not NO and is_contiguous(layout, facts) is not YES:
        packed = unknown_strides(shape)
    return Result(packed, operand.dtype, YES, same_object=True)


def _same_shape(a: Shape, b: Shape, facts: Facts) -> Truth:
    if any(isinstance(extent, Rest) for extent in (*a, *b)):
        return YES if a == b else MAYBE
    if len(a) != len(b):
        return NO
    return every(
        facts.equal(one, other)
        for one, other in zip(a, b, strict=True)
        if not isinstance(one, Rest) and not isinstance(other, Rest)
    )


def renormalised(args: Args) -> Outcome:
    """the tensor itself; rows whose elements share memory may be refused, as the data has it"""
    rows = args.ranked(rank=2)
    return replace(itself(args), exists=renormalises(rows, args.facts))


def replaced_by(args: Args) -> Outcome:
    """the tensor itself, over the memory and with the layout of another"""
    operand = args.operand()
    if args["source"] is None:
        return Result(contiguous((0,)), operand.dtype, NO, same_object=True)
    return Result(args.layout("source"), operand.dtype, YES, of="source")


# fmt: off
op("copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)", alias=INPLACE, layout=written, example="x.copy_(x.clone())")
op("fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)", alias=INPLACE, layout=written_silently, example="x.fill_(1)")
op("fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)", alias=INPLACE, layout=written, example="x.fill_(torch.tensor(1.0))")
op("fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)", alias=INPLACE, layout=written_silently, example="x.fill_diagonal_(1)")
op("apply_(Tensor(a!) self, Any callable) -> Tensor(a!)", alias=INPLACE, layout=written_silently, example="x.apply_(abs)")
op("map_(Tensor(a!) self, Tensor tensor, Any callable) -> Tensor(a!)", alias=INPLACE, layout=written_silently, example="x.map_(x.clone(), max)")
op("map2_(Tensor(a!) self, Tensor x, Tensor y, Any callable) -> Tensor(a!)", alias=INPLACE, layout=written_silently, example="x.map2_(x.clone(), x.clone(), lambda a, b, c: a)")
op("embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!)", alias=INPLACE, layout=renormalised, example="torch.embedding_renorm_(x, torch.tensor([0]), 1.0, 2.0)")
op("zero_(Tensor(a!) self) -> Tensor(a!)", alias=INPLACE, layout=written_silently, example="x.zero_()")
for _name, _parameters, _given in (
    ("normal_", "float mean=0, float std=1", ""), ("uniform_", "float from=0, float to=1", ""), ("cauchy_", "float median=0, float sigma=1", ""),
    ("log_normal_", "float mean=1, float std=2", ""), ("exponential_", "float lambd=1", ""), ("geometric_", "float p", "0.5"),
    ("random_", "int? from=None, int? to=None", ""), ("bernoulli_", "Any p=0.5", ""),
):  # fmt: skip
    op(f"{_name}(Tensor(a!) self, {_parameters}, *, Any? generator=None) -> Tensor(a!)", alias=INPLACE, layout=written, example=f"x.{_name}({_given})")
op("resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)", alias=INPLACE, layout=resized, example="x.resize_(2, 3)")
op("resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor(a!)", alias=INPLACE, layout=resized_like, example="x.resize_as_(torch.ones(2, 3))")
op("set_(Tensor(a!) self, Tensor? source=None) -> Tensor(a!)", alias=INPLACE, layout=replaced_by, example="x.clone().set_(x)")
# fmt: on

INITIALISERS = {
    "uniform_": "float a=0.0, float b=1.0", "normal_": "float mean=0.0, float std=1.0",
    "trunc_normal_": "float mean=0.0, float std=1.0, float a=-2.0, float b=2.0", "constant_": "float val", "ones_": "",
    "zeros_": "", "xavier_uniform_": "float gain=1.0", "xavier_normal_": "float gain=1.0",
    "kaiming_uniform_": "float a=0, str mode='fan_in', str nonlinearity='leaky_relu'",
    "kaiming_normal_": "float a=0, str mode='fan_in', str nonlinearity='leaky_relu'", "eye_": "", "orthogonal_": "float gain=1",
    "dirac_": "int groups=1", "sparse_": "float sparsity, float std=0.01",
}  # fmt: skip
"""The functions of torch.nn.init and their parameters beside the tensor."""

SILENT_INITIALISERS = frozenset({"constant_", "dirac_", "eye_", "ones_", "zeros_"})
"""Those that write silently where elements share memory."""

for _name, _parameters in INITIALISERS.items():
    _transfer = written_silently if _name in SILENT_INITIALISERS else written
    if _name == "orthogonal_":
        _transfer = written_as_matrix
    op(
        f"{_name}(Tensor(a!) tensor{', ' * bool(_parameters)}{_parameters}) -> Tensor(a!)",
        alias=INPLACE,
        layout=_transfer,
        spellings=(f"torch.nn.init.{_name}",), path_only=True,
        example=f"torch.nn.init.{_name}(x{', 0.5' if _name in ('constant_', 'sparse_') else ''})",
    )  # fmt: skip
