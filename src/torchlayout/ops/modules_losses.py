"""Losses: each calls the function of the same meaning in torch.nn.functional."""

from __future__ import annotations

from torchlayout.layouts import contiguous
from torchlayout.ops.modules import Forward, by, module
from torchlayout.ops.values import UNKNOWN, Fields, Outcome, Result

OLD = "bool? size_average=None, "
REDUCE = "bool? reduce=None, str reduction='mean'"
PAIR = "Tensor self, Tensor target"
TRIPLE = "Tensor input1, Tensor input2, Tensor target"
ANCHOR = "Tensor anchor, Tensor positive, Tensor negative"


def adaptive(call: Forward) -> Outcome:
    """`output`, packed with the target's size, and `loss`, a scalar"""
    return Fields({"output": Result(contiguous(call.layout("target").shape)), "loss": Result(contiguous(()))})


def linear_cross_entropy(call: Forward) -> Outcome:
    """a scalar, unless the reduction is "none" (then the target's sizes)"""
    reduction = call.config.known("reduction")
    if reduction == "none":
        return UNKNOWN
    return Result(contiguous(()))


# fmt: off
module(f"L1Loss({OLD}{REDUCE}) -> None", by("l1_loss", "reduction"), takes=PAIR)
module(f"MSELoss({OLD}{REDUCE}) -> None", by("mse_loss", "reduction"), takes=PAIR)
module(f"SmoothL1Loss({OLD}{REDUCE}, float beta=1.0) -> None", by("smooth_l1_loss", "reduction", "beta"), takes=PAIR)
module("HuberLoss(str reduction='mean', float delta=1.0) -> None", by("huber_loss", "reduction", "delta"), takes=PAIR)
module(f"BCELoss(Tensor? weight=None, {OLD}{REDUCE}) -> None", by("binary_cross_entropy", "weight", "reduction"), takes=PAIR)
module(f"BCEWithLogitsLoss(Tensor? weight=None, {OLD}{REDUCE}, Tensor? pos_weight=None) -> None", by("binary_cross_entropy_with_logits", "weight", "reduction", "pos_weight"), takes=PAIR)
module(f"CrossEntropyLoss(Tensor? weight=None, {OLD}int ignore_index=-100, {REDUCE}, float label_smoothing=0.0) -> None", by("cross_entropy", "weight", "ignore_index", "reduction", "label_smoothing"), takes=PAIR)
module(f"NLLLoss(Tensor? weight=None, {OLD}int ignore_index=-100, {REDUCE}) -> None", by("nll_loss", "weight", "ignore_index", "reduction"), takes=PAIR)
module(f"NLLLoss2d(Tensor? weight=None, {OLD}int ignore_index=-100, {REDUCE}) -> None", by("nll_loss", "weight", "ignore_index", "reduction"), takes=PAIR)
module(f"KLDivLoss({OLD}{REDUCE}, bool log_target=False) -> None", by("kl_div", "reduction", "log_target"), takes=PAIR)
module(f"PoissonNLLLoss(bool log_input=True, bool full=False, {OLD}float eps=1e-08, {REDUCE}) -> None", by("poisson_nll_loss", "log_input", "full", "eps", "reduction"), takes=PAIR)
module("GaussianNLLLoss(*, bool full=False, float eps=1e-06, str reduction='mean') -> None", by("gaussian_nll_loss", "full", "eps", "reduction"), takes="Tensor self, Tensor target, Any var")
module(f"HingeEmbeddingLoss(float margin=1.0, {OLD}{REDUCE}) -> None", by("hinge_embedding_loss", "margin", "reduction"), takes=PAIR)
module(f"MultiLabelMarginLoss({OLD}{REDUCE}) -> None", by("multilabel_margin_loss", "reduction"), takes=PAIR)
module(f"MultiLabelSoftMarginLoss(Tensor? weight=None, {OLD}{REDUCE}) -> None", by("multilabel_soft_margin_loss", "weight", "reduction"), takes=PAIR)
module(f"MultiMarginLoss(int p=1, float margin=1.0, Tensor? weight=None, {OLD}{REDUCE}) -> None", by("multi_margin_loss", "p", "margin", "weight", "reduction"), takes=PAIR)
module(f"SoftMarginLoss({OLD}{REDUCE}) -> None", by("soft_margin_loss", "reduction"), takes=PAIR)
module(f"CosineEmbeddingLoss(float margin=0.0, {OLD}{REDUCE}) -> None", by("cosine_embedding_loss", "margin", "reduction"), takes=TRIPLE)
module(f"MarginRankingLoss(float margin=0.0, {OLD}{REDUCE}) -> None", by("margin_ranking_loss", "margin", "reduction"), takes=TRIPLE)
module(f"TripletMarginLoss(float margin=1.0, float p=2.0, float eps=1e-06, bool swap=False, {OLD}{REDUCE}) -> None", by("triplet_margin_loss", "margin", "p", "eps", "swap", "reduction"), takes=ANCHOR)
module("TripletMarginWithDistanceLoss(*, Any? distance_function=None, float margin=1.0, bool swap=False, str reduction='mean') -> None", by("triplet_margin_with_distance_loss", "distance_function", "margin", "swap", "reduction"), takes=ANCHOR)
module("LinearCrossEntropyLoss(int in_features, int num_classes, *, Any out_features=None, bool bias=False, Device? device=None, ScalarType? dtype=None, str reduction='mean', Tensor? weight=None, int? ignore_index=None, float label_smoothing=0.0, Any? options=None) -> None", linear_cross_entropy, takes=PAIR, unknown="not reduced")
module("CTCLoss(int blank=0, str reduction='mean', bool zero_infinity=False) -> None", by("ctc_loss", "blank", "reduction", "zero_infinity"), takes="Tensor self, Tensor targets, Any input_lengths, Any target_lengths")
module("AdaptiveLogSoftmaxWithLoss(int in_features, int n_classes, Any cutoffs, float div_value=4.0, bool head_bias=False, Device? device=None, ScalarType? dtype=None) -> None", adaptive, takes=PAIR)
# fmt: on
