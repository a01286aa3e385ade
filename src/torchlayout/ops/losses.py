"""Losses: one number, or with `reduction="none"` one for each element or row."""

from __future__ import annotations

from functools import wraps
from typing import Any

from torchlayout.layouts import Dim, Layout, contiguous, expand_to, preserved, settle, unknown_strides
from torchlayout.ops.table import Args, Transfer, op
from torchlayout.ops.transfers import broadcast_shape, elementwise_layout, packed_somehow, replaced
from torchlayout.ops.values import Alias, Operand, Outcome, Result, Unknowable, is_unknown

FRESH = Alias.FRESH


def reduces(args: Args) -> bool:
    """Whether one number is left. Raises `Unknowable`."""
    average, reduce, reduction = (args.values.get(name) for name in ("size_average", "reduce", "reduction"))
    if is_unknown(average) or is_unknown(reduce) or is_unknown(reduction):
        raise Unknowable("the reduction is not known")
    if average is not None or reduce is not None:
        return reduce is not False
    return reduction != "none"


def reducible(unreduced: Transfer) -> Transfer:
    """The loss whose result without reduction is this: one number where it is reduced, packed where that is not known."""

    @wraps(unreduced)
    def transfer(args: Args) -> Outcome:
        try:
            if reduces(args):
                return Result(contiguous(()))
        except Unknowable:
            return packed_somehow(args)
        return unreduced(args)

    return transfer


# ---------------------------------------------------------------- one number for each element
# What torch computes is followed step by step: the order of strides is that of an elementwise result of elementwise
# results (ATen/native/Loss.cpp, torch/nn/functional.py).
def over(args: Args, *values: Any, numbers: bool = False) -> Operand:
    """An elementwise result of these tensors; `numbers`: a Python number is among the operands."""
    return Operand(elementwise_layout(values, args.facts, numbers))


@reducible
def of_elements(args: Args) -> Outcome:
    """one number; not reduced: sizes broadcast, strides as of an elementwise result"""
    whole = over(args, args["self"], args["target"])
    weight = args.values.get("weight")
    return Result((whole if weight is None else over(args, whole, weight)).layout)


@reducible
def huber(args: Args) -> Outcome:
    """one number; not reduced: strides in the order of the input, expanded to the sizes of both"""
    shape = broadcast_shape([args.layout().shape, args.layout("target").shape], args.facts)
    wide = None if shape is None else expand_to(args.layout(), shape, args.facts)
    if wide is None:
        raise Unknowable("the sizes cannot be compared")
    whole = Operand(preserved(wide, args.facts))
    return Result((whole if args["weight"] is None else over(args, whole, args["weight"])).layout)


@reducible
def cross_entropy_of_two(args: Args) -> Outcome:
    """one number; not reduced: strides in the input's order, without gaps"""
    return Result(preserved(args.layout(), args.facts))


@reducible
def with_logits(args: Args) -> Outcome:
    """one number; not reduced: strides in the target's order, without gaps"""
    return Result(over(args, args["target"], numbers=True).layout)


@reducible
def soft_margin(args: Args) -> Outcome:
    """one number; not reduced: strides in the input's order, without gaps"""
    shape = broadcast_shape([args.layout().shape, args.layout("target").shape], args.facts)
    kept = preserved(args.layout(), args.facts)
    if shape is None:
        raise Unknowable("the sizes cannot be compared")
    return Result(kept if shape == args.layout().shape else unknown_strides(shape))


@reducible
def divergence(args: Args) -> Outcome:
    """one number; not reduced: as `xlogy(y, y) - y * x`, or `exp(y) * (y - x)`"""
    return Result(over(args, over(args, args["target"]), over(args, args["target"], args["self"])).layout)


@reducible
def hinge(args: Args) -> Outcome:
    """one number; not reduced: as `where(y != 1, margin - x, 0) + where(y != -1, x, 0)`"""
    x, other = args["self"], over(args, args["target"], numbers=True)
    zeros = Operand(preserved(args.layout(), args.facts))
    margin = over(args, other, over(args, x, numbers=True), zeros)
    return Result(over(args, margin, over(args, other, x, zeros)).layout)


@reducible
def ranking(args: Args) -> Outcome:
    """one number; not reduced: as `-y * (x1 - x2) + margin`"""
    difference = over(args, args["self"], args["input2"])
    product = over(args, over(args, args["target"]), difference)
    return Result(over(args, product, numbers=True).layout)


@reducible
def poisson(args: Args) -> Outcome:
    """one number; not reduced: as `exp(x) - y * x`, or `x - y * log(x + eps)`"""
    x = args["self"]
    if args.flag("log_input"):
        return Result(over(args, over(args, x), over(args, args["target"], x)).layout)
    product = over(args, args["target"], over(args, over(args, x, numbers=True)))
    return Result(over(args, x, product).layout)


@reducible
def gaussian(args: Args) -> Outcome:
    """one number; not reduced: as `0.5 * (log(var) + (x - y) ** 2 / var)`, the variance first"""
    var, given = args["var"], args.ranked()
    if not isinstance(var, Operand):
        var = args.operand()  # a number times `ones_like(x)`
    spread = settle(var.layout, args.facts)
    if spread.rank is None:
        raise Unknowable("the rank of the variance")
    if len(spread.dims) < len(given.dims):
        spread = Layout((*spread.dims, Dim(1, 1)))
    cloned = Operand(preserved(spread, args.facts))
    quotient = over(args, over(args, over(args, args["self"], args["target"]), numbers=True), cloned)
    return Result(over(args, over(args, over(args, cloned), quotient), numbers=True).layout)


# ---------------------------------------------------------------- one number for each row, class or sequence
@reducible
def of_rows(args: Args) -> Outcome:
    """one number; not reduced: one for each row, packed"""
    return Result(contiguous(args.ranked().sizes[:-1]))


@reducible
def of_projected_rows(args: Args) -> Outcome:
    """one number; not reduced: one for each row (and each of the weight's inner sizes), packed"""
    return Result(contiguous((*args.ranked().sizes[:-1], *args.ranked("linear_weight").sizes[1:-1])))


@reducible
def of_triplets(args: Args) -> Outcome:
    """one number; not reduced: one for each row, packed"""
    shapes = [args.ranked(name).shape for name in ("self", "positive", "negative")]
    shape = broadcast_shape(shapes, args.facts)
    if not shape:
        raise Unknowable("the sizes cannot be compared")
    return Result(contiguous(shape[:-1]))


@reducible
def of_classes(args: Args) -> Outcome:
    """one number; not reduced: one for each target, packed"""
    layout = args.ranked()
    if layout.rank == 1:
        return Result(contiguous(()))
    return Result(contiguous(replaced(layout.shape, 1, ())))


@reducible
def of_targets(args: Args) -> Outcome:
    """one number; not reduced: one for each target, packed"""
    return Result(contiguous(args.layout("target").shape))


@reducible
def of_sequences(args: Args) -> Outcome:
    """one number; not reduced: one for each sequence, packed"""
    layout = args.ranked()
    return Result(contiguous(layout.sizes[1:2] if layout.rank == 3 else ()))


def distance(args: Args) -> Outcome:
    """one number (no dimensions)"""
    return Result(contiguous(()))


# fmt: off
LEGACY = "bool? size_average=None, bool? reduce=None, str reduction='mean'"
PAIR = f"Tensor self, Tensor target, {LEGACY}"


def _loss(schema: str, transfer: Transfer, call: str, unknown: str | None = None) -> None:
    op(schema + " -> Tensor", alias=FRESH, layout=transfer, example=f"F.{call}", unknown=unknown)


_loss(f"l1_loss({PAIR}, Tensor? weight=None)", of_elements, "l1_loss(x, x * 2, reduction='none')")
_loss(f"mse_loss({PAIR}, Tensor? weight=None)", of_elements, "mse_loss(x, x * 2)")
_loss(f"smooth_l1_loss({PAIR}, float beta=1.0)", of_elements, "smooth_l1_loss(x, x * 2)")
_loss("huber_loss(Tensor self, Tensor target, str reduction='mean', float delta=1.0, Tensor? weight=None)", huber, "huber_loss(x, x * 2)")
_loss(f"soft_margin_loss({PAIR})", soft_margin, "soft_margin_loss(x, x * 2)")
_loss(f"hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, {LEGACY})", hinge, "hinge_embedding_loss(x, x * 2)")
_loss(f"margin_ranking_loss(Tensor self, Tensor input2, Tensor target, float margin=0, {LEGACY})", ranking, "margin_ranking_loss(x, x, x * 2)")
_loss(f"binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, {LEGACY})", cross_entropy_of_two, "binary_cross_entropy(x.sigmoid(), x.sigmoid())")
_loss(f"binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, {LEGACY}, Tensor? pos_weight=None)", with_logits, "binary_cross_entropy_with_logits(x, x.sigmoid())")
_loss(f"kl_div({PAIR}, bool log_target=False)", divergence, "kl_div(x, x * 2, reduction='sum')")
_loss("poisson_nll_loss(Tensor self, Tensor target, bool log_input=True, bool full=False, bool? size_average=None, float eps=1e-08, bool? reduce=None, str reduction='mean')", poisson, "poisson_nll_loss(x, x * 2)")
_loss("gaussian_nll_loss(Tensor self, Tensor target, Any var, bool full=False, float eps=1e-06, str reduction='mean')", gaussian, "gaussian_nll_loss(x, x * 2, x)")
_loss(f"multi_margin_loss(Tensor self, Tensor target, int p=1, float margin=1.0, Tensor? weight=None, {LEGACY})", of_targets, "multi_margin_loss(x, torch.zeros(x.shape[:1]).long(), reduction='none')")
_loss(f"multilabel_margin_loss({PAIR})", of_rows, "multilabel_margin_loss(x, torch.zeros_like(x).long())")
_loss(f"multilabel_soft_margin_loss(Tensor self, Tensor target, Tensor? weight=None, {LEGACY})", of_rows, "multilabel_soft_margin_loss(x, x, reduction='none')")
_loss(f"cosine_embedding_loss(Tensor self, Tensor input2, Tensor target, float margin=0, {LEGACY})", of_rows, "cosine_embedding_loss(x, x, x[:, 0])")
_loss(f"triplet_margin_loss(Tensor self, Tensor positive, Tensor negative, float margin=1.0, float p=2, float eps=1e-06, bool swap=False, {LEGACY})", of_triplets, "triplet_margin_loss(x, x, x, reduction='none')")
_loss("triplet_margin_with_distance_loss(Tensor self, Tensor positive, Tensor negative, *, Any distance_function=None, float margin=1.0, bool swap=False, str reduction='mean')", of_triplets, "triplet_margin_with_distance_loss(x, x, x)")
_loss("cross_entropy(Tensor self, Tensor target, Tensor? weight=None, bool? size_average=None, int ignore_index=-100, bool? reduce=None, str reduction='mean', float label_smoothing=0.0)", of_classes, "cross_entropy(x, x.softmax(1), reduction='none')")
_loss("nll_loss(Tensor self, Tensor target, Tensor? weight=None, bool? size_average=None, int ignore_index=-100, bool? reduce=None, str reduction='mean')", of_classes, "nll_loss(x, torch.zeros_like(x.select(1, 0)).long(), reduction='none')")
_loss("linear_cross_entropy(Tensor self, Tensor linear_weight, Tensor target, *, Tensor? linear_bias=None, Tensor? weight=None, str reduction='mean', int? ignore_index=None, float label_smoothing=0.0, Any options=None)", of_projected_rows, "linear_cross_entropy(x, torch.ones(5, x.size(-1)), torch.zeros(x.shape[:-1]).long())")
_loss("ctc_loss(Tensor self, Tensor targets, Any input_lengths, Any target_lengths, int blank=0, str reduction='mean', bool zero_infinity=False)", of_sequences, "ctc_loss(x.log_softmax(-1), torch.ones(x.size(1), 1).long(), (x.size(0),) * x.size(1), (1,) * x.size(1), reduction='none')")
op("dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", alias=FRESH, layout=distance, example="x.dist(x)")
# fmt: on
