"""Normalizations and embeddings."""

from __future__ import annotations

from torchlayout.layouts import (
    contiguous,
    has_no_elements,
    preserved,
    same_layout,
    settle,
    unknown_strides,
    view,
)
from torchlayout.ops.derived import refuse_overlap, renormalises
from torchlayout.ops.formats import in_suggested_format
from torchlayout.ops.table import Args, op
from torchlayout.ops.transfers import (
    INT64,
    at_dim,
    broadcast_shape,
    full_precision,
    itself,
    of_backends,
    packed_like,
    packed_somehow,
    replaced,
)
from torchlayout.ops.values import Alias, Operand, Outcome, Refused, Result, Unknowable, is_unknown
from torchlayout.sizes import NO, YES, Truth, product

FRESH = Alias.FRESH


# ---------------------------------------------------------------- normalizations
def normalized_shape(args: Args) -> tuple[int, ...]:
    value = args["normalized_shape"]
    return () if is_unknown(value) else (0,) * (len(value) if isinstance(value, (tuple, list)) else 1)


def layer_norm(args: Args) -> Outcome:
    """the same sizes, packed (contiguous whatever came in)"""
    return Result(contiguous(args.layout().shape), full_precision(args.operand().dtype))


def instance_norm(args: Args) -> Outcome:
    """the same sizes, packed (contiguous whatever came in)"""
    if args["use_input_stats"] is True:
        for name in ("running_mean", "running_var"):
            if isinstance(args[name], Operand):
                refuse_overlap(args[name], args.facts, name)  # it writes to the running statistics
    return layer_norm(args)


def rms_norm(args: Args) -> Outcome:
    """packed; older versions of torch keep the order of strides"""
    layout = args.layout()
    packed, kept = contiguous(layout.shape), preserved(layout, args.facts)
    return Result(packed if same_layout(packed, kept, args.facts) is YES else unknown_strides(layout.shape))


def batch_norm(args: Args) -> Outcome:
    """channels_last where the input is, else contiguous; on CUDA the order of other strides may be kept"""
    operand, layout = args.operand(), args.layout()
    on_cpu, kept = in_suggested_format(layout, layout.shape, args.facts), preserved(layout, args.facts)
    if operand.device != "cpu" and same_layout(on_cpu, kept, args.facts) is not YES:
        on_cpu = unknown_strides(layout.shape)
    return Result(on_cpu, full_precision(operand.dtype))


def native_batch_norm(args: Args) -> Outcome:
    """three tensors: like batch_norm's; a mean and an inverse deviation for each channel (nothing without training)"""
    training = args.values.get("training", True)
    mean = args.values.get("running_mean")
    if isinstance(mean, Operand) and has_no_elements(settle(mean.layout, args.facts), args.facts) is YES:
        raise Unknowable("statistics of no channels")  # torch does not look, and resizes the result
    if is_unknown(training):
        statistics = packed_somehow(args)
    else:
        channels = args.reaching(args.layout(), 1).sizes[1]
        statistics = Result(contiguous((channels if training else 0,)))
    return batch_norm(args), statistics, statistics


def group_norm(args: Args) -> Outcome:
    """on a CPU channels_last where the input is, else contiguous; on CUDA contiguous"""
    operand, layout = args.operand(), args.layout()
    on_cpu, on_cuda = in_suggested_format(layout, layout.shape, args.facts), contiguous(layout.shape)
    return Result(of_backends(operand, on_cpu, on_cuda, args.facts), full_precision(operand.dtype))


def local_response_norm(args: Args) -> Outcome:
    """strides in the same order, without gaps; the tensor itself where it has no elements"""
    layout = args.layout()
    if has_no_elements(layout, args.facts) is YES:
        return itself(args)
    squares = preserved(layout, args.facts)
    if squares.rank is not None and squares.rank > 3:
        # it views the squares as (N, 1, C, first spatial size, the rest)
        answer = view(squares, (*squares.sizes[:1], 1, *squares.sizes[1:3], product(squares.sizes[3:])), args.facts)
        if answer is not None and answer.exists is NO:
            raise Refused("view", "local_response_norm takes a view that does not exist")
    return scaled_by_norm(args)


def scaled_by_norm(args: Args) -> Outcome:
    """as the tensor divided by its norm: strides in the same order, without gaps"""
    return Result(preserved(args.layout(), args.facts), full_precision(args.operand().dtype))


def norm_except_dim(args: Args) -> Outcome:
    """as many numbers as one dimension is long, the others of size 1; one number for all where the dimension is -1"""
    layout, dim = args.ranked("v"), args.integer("dim")
    if dim == -1:
        return Result(contiguous(()))
    if not 0 <= dim < len(layout.dims):
        raise Unknowable("no such dimension")
    return Result(contiguous(tuple(size if place == dim else 1 for place, size in enumerate(layout.sizes))))


def similarity(args: Args) -> Outcome:
    """sizes broadcast, without one dimension, packed"""
    shape = broadcast_shape([args.ranked("self").shape, args.ranked("x2").shape], args.facts)
    if shape is None:
        raise Unknowable("the sizes cannot be compared")
    layout, place = at_dim(args, contiguous(shape), args.integer("dim"))
    return Result(contiguous(replaced(layout.shape, place, ())))


def pairwise_distance(args: Args) -> Outcome:
    """sizes broadcast, without the last dimension (1 with keepdim), packed"""
    shape = broadcast_shape([args.ranked("self").shape, args.ranked("x2").shape], args.facts)
    if not shape:
        raise Unknowable("no dimension to sum over")
    return Result(contiguous((*shape[:-1], 1) if args.flag("keepdim") else shape[:-1]))


# ---------------------------------------------------------------- embeddings
def embedding(args: Args) -> Outcome:
    """the indices' sizes and the weight's last one, packed"""
    weight = args["weight"]
    columns = args.ranked("weight", 2).sizes[1] if isinstance(weight, Operand) else args.facts.symbols.fresh("columns")
    dtype = weight.dtype if isinstance(weight, Operand) else None
    return Result(contiguous((*args.layout("self").shape, columns)), dtype, exists=looks_up(args))


def looks_up(args: Args) -> Truth:
    """Whether the call succeeds: with `max_norm`, rows that are too long are renormalised in place."""
    if not isinstance(args["weight"], Operand) or args.values.get("max_norm") is None:
        return YES
    return renormalises(args.ranked("weight", 2), args.facts)


def embedding_bag(args: Args) -> Outcome:
    """one row for each bag, packed"""
    layout, columns = args.layout("self"), args.ranked("weight", 2).sizes[1]
    if args["offsets"] is None:
        bags = args.ranked("self", 2).sizes[0]
    elif layout.rank == 1:
        bags = args.ranked("offsets", 1).sizes[0] - (1 if args.flag("include_last_offset") else 0)
    else:
        raise Unknowable("the number of bags is not known")
    return Result(contiguous((bags, columns)), exists=looks_up(args))


def one_hot(args: Args) -> Outcome:
    """one dimension more, for the classes; packed"""
    count = args["num_classes"]
    known = not is_unknown(count) and args.facts.equal(count, -1) is NO
    classes = count if known else args.facts.symbols.fresh("classes")
    return Result(contiguous((*args.layout().shape, classes)), INT64)


# fmt: off
BATCH_NORM_VARIES = "CUDA's own kernel keeps permuted strides, cuDNN and a CPU pack them"
op("layer_norm(Tensor self, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enable=True) -> Tensor", alias=FRESH, layout=layer_norm, example="F.layer_norm(x, x.shape[-1:])")
op("rms_norm(Tensor self, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor", alias=FRESH, layout=rms_norm, example="F.rms_norm(x, x.shape[-1:])", varies=True, unknown="versions differ on tensors that are not packed")
op("batch_norm(Tensor self, Tensor? running_mean, Tensor? running_var, Tensor? weight=None, Tensor? bias=None, bool training=False, float momentum=0.1, float eps=1e-05) -> Tensor", alias=FRESH, layout=batch_norm, example="F.batch_norm(x, None, None, training=True)", varies=True, unknown=BATCH_NORM_VARIES)
op("batch_norm.function(Tensor self, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor", alias=FRESH, layout=batch_norm, example="torch.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, False)", spellings=("torch.batch_norm",), path_only=True, varies=True, unknown=BATCH_NORM_VARIES)
op("instance_norm(Tensor self, Tensor? running_mean=None, Tensor? running_var=None, Tensor? weight=None, Tensor? bias=None, bool use_input_stats=True, float momentum=0.1, float eps=1e-05) -> Tensor", alias=FRESH, layout=instance_norm, example="F.instance_norm(x)")
op("group_norm(Tensor self, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enabled=True) -> Tensor", alias=FRESH, layout=group_norm, example="F.group_norm(x, 1)", varies=True, unknown="CUDA packs, a CPU follows channels_last")
op("local_response_norm(Tensor self, int size, float alpha=0.0001, float beta=0.75, float k=1.0) -> Tensor", alias=FRESH, layout=local_response_norm, example="F.local_response_norm(x, 2)")
op("normalize(Tensor self, float p=2.0, int dim=1, float eps=1e-12) -> Tensor", alias=FRESH, layout=scaled_by_norm, example="F.normalize(x, dim=-1)")
op("norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor", alias=FRESH, layout=norm_except_dim, example="torch.norm_except_dim(x, 2, 0)")
op("renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", alias=FRESH, layout=packed_like, example="x.renorm(2, 0, 1)")
op("cosine_similarity(Tensor self, Tensor x2, int dim=1, float eps=1e-08) -> Tensor", alias=FRESH, layout=similarity, example="F.cosine_similarity(x, x, dim=-1)")
op("pairwise_distance(Tensor self, Tensor x2, float p=2.0, float eps=1e-06, bool keepdim=False) -> Tensor", alias=FRESH, layout=pairwise_distance, example="F.pairwise_distance(x, x)")
op("embedding(Tensor self, Tensor weight, int? padding_idx=None, float? max_norm=None, float norm_type=2.0, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor", alias=FRESH, layout=embedding, example="F.embedding(x.long(), torch.ones(10, 4))")
op("embedding.function(Tensor weight, Tensor self, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor", alias=FRESH, layout=embedding, example="torch.embedding(torch.ones(10, 4), x.long())", spellings=("torch.embedding",), path_only=True)
op("embedding_bag(Tensor self, Tensor weight, Tensor? offsets=None, float? max_norm=None, float norm_type=2, bool scale_grad_by_freq=False, str mode='mean', bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int? padding_idx=None) -> Tensor", alias=FRESH, layout=embedding_bag, example="F.embedding_bag(x.long(), torch.ones(10, 4))")
op("one_hot(Tensor self, int num_classes=-1) -> Tensor", alias=FRESH, layout=one_hot, example="F.one_hot(x.long(), 5)", unknown="the number of classes may depend on the data")
# fmt: on
