"""Activations, softmaxes, dropouts and distances: modules that call one function of torch.nn.functional."""

from __future__ import annotations

from collections.abc import Mapping

from torchlayout.ops.modules import Config, Forward, by, module
from torchlayout.ops.values import Outcome
from torchlayout.sizes import Shape

PAIR = "Tensor x1, Tensor x2"


def dropped(function: str) -> str:
    """The schema of a dropout's constructor."""
    return f"{function}(float p=0.5, bool inplace=False) -> None"


def slope(config: Config) -> Mapping[str, Shape | None]:
    return {"weight": (config.size("num_parameters"),)}


def prelu(call: Forward) -> Outcome:
    """as torch.nn.functional.prelu"""
    return call.function("prelu", call["self"], call.parameter("weight"))


def softmax_over_channels(call: Forward) -> Outcome:
    """as torch.nn.functional.softmax over the channels of an image"""
    return call.function("softmax", call["self"], -3)


# fmt: off
module("ReLU(bool inplace=False) -> None", by("relu", "inplace"))
module("ReLU6(bool inplace=False) -> None", by("relu6", "inplace"))
module("RReLU(float lower=0.125, float upper=0.3333333333333333, bool inplace=False) -> None", by("rrelu", "lower", "upper", "training", "inplace"))
module("LeakyReLU(float negative_slope=0.01, bool inplace=False) -> None", by("leaky_relu", "negative_slope", "inplace"))
module("PReLU(int num_parameters=1, float init=0.25, Device? device=None, ScalarType? dtype=None) -> None", prelu, parameters=slope)
module("ELU(float alpha=1.0, bool inplace=False) -> None", by("elu", "alpha", "inplace"))
module("CELU(float alpha=1.0, bool inplace=False) -> None", by("celu", "alpha", "inplace"))
module("SELU(bool inplace=False) -> None", by("selu", "inplace"))
module("GELU(str approximate='none') -> None", by("gelu", "approximate"))
module("SiLU(bool inplace=False) -> None", by("silu", "inplace"))
module("Mish(bool inplace=False) -> None", by("mish", "inplace"))
module("Hardtanh(float min_val=-1.0, float max_val=1.0, bool inplace=False, float? min_value=None, float? max_value=None) -> None", by("hardtanh", "min_val", "max_val", "inplace"))
module("Hardswish(bool inplace=False) -> None", by("hardswish", "inplace"))
module("Hardsigmoid(bool inplace=False) -> None", by("hardsigmoid", "inplace"))
module("Hardshrink(float lambd=0.5) -> None", by("hardshrink", "lambd"))
module("Softshrink(float lambd=0.5) -> None", by("softshrink", "lambd"))
module("Softplus(float beta=1.0, float threshold=20.0) -> None", by("softplus", "beta", "threshold"))
module("Softsign(...)", by("softsign"))
module("Threshold(float threshold, float value, bool inplace=False) -> None", by("threshold", "threshold", "value", "inplace"))
module("Sigmoid(...)", by("torch.sigmoid"))
module("LogSigmoid(...)", by("logsigmoid"))
module("Tanh(...)", by("torch.tanh"))
module("Tanhshrink(...)", by("tanhshrink"))
module("GLU(int dim=-1) -> None", by("glu", "dim"))

module("Softmax(int? dim=None) -> None", by("softmax", "dim"))
module("Softmin(int? dim=None) -> None", by("softmin", "dim"))
module("LogSoftmax(int? dim=None) -> None", by("log_softmax", "dim"))
module("Softmax2d(...)", softmax_over_channels)

module(dropped("Dropout"), by("dropout", "p", "training", "inplace"))
module(dropped("Dropout1d"), by("dropout1d", "p", "training", "inplace"))
module(dropped("Dropout2d"), by("dropout2d", "p", "training", "inplace"))
module(dropped("Dropout3d"), by("dropout3d", "p", "training", "inplace"))
module(dropped("AlphaDropout"), by("alpha_dropout", "p", "training"))
module(dropped("FeatureAlphaDropout"), by("feature_alpha_dropout", "p", "training"))

module("CosineSimilarity(int dim=1, float eps=1e-08) -> None", by("cosine_similarity", "dim", "eps"), takes=PAIR)
module("PairwiseDistance(float p=2.0, float eps=1e-06, bool keepdim=False) -> None", by("pairwise_distance", "p", "eps", "keepdim"), takes=PAIR)
# fmt: on
