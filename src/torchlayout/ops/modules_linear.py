"""Modules that multiply by a weight or look one up: Linear, Bilinear, Embedding, and Identity.

Their results' dtypes are left open: under autocast they are not those of the inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchlayout.layouts import contiguous
from torchlayout.ops.modules import Config, Forward, Perhaps, module
from torchlayout.ops.values import Outcome, Result
from torchlayout.sizes import YES, Shape


def linear_weights(config: Config) -> Mapping[str, Shape | Perhaps | None]:
    outputs = config.size("out_features")
    return {"weight": (outputs, config.size("in_features")), "bias": config.having("bias", (outputs,))}


def lazy_linear_weights(config: Config) -> Mapping[str, Shape | Perhaps | None]:
    return {"bias": config.having("bias", (config.size("out_features"),))}


def linear(call: Forward) -> Outcome:
    """packed, the last size `out_features`"""
    call.last_is(call.config["in_features"])
    layout = call.reaching(call.layout(), -1)
    outputs = call.config.size("out_features")
    return Result(contiguous((*layout.shape[:-1], outputs)))


def bilinear_weights(config: Config) -> Mapping[str, Shape | Perhaps | None]:
    outputs = config.size("out_features")
    weight = (outputs, config.size("in1_features"), config.size("in2_features"))
    return {"weight": weight, "bias": config.having("bias", (outputs,))}


def bilinear(call: Forward) -> Outcome:
    """packed, the last size `out_features`"""
    layout = call.reaching(call.layout("input1"), -1)
    call.equate(layout.sizes[-1], call.config["in1_features"])
    outputs = call.config.size("out_features")
    return Result(contiguous((*layout.shape[:-1], outputs)))


def itself(call: Forward) -> Outcome:
    """the tensor itself"""
    operand = call.operand()
    return Result(operand.layout, operand.dtype, YES, operand.numpy, same_object=True)


def embedding_weights(config: Config) -> Mapping[str, Shape | None]:
    return {"weight": (config.size("num_embeddings"), config.size("embedding_dim"))}


def embedded(call: Forward) -> Outcome:
    """packed, the index's sizes and then `embedding_dim`"""
    layout = call.layout()
    return Result(contiguous((*layout.shape, call.config.size("embedding_dim"))))


def embedding_bag(call: Forward) -> Outcome:
    """as torch.nn.functional.embedding_bag"""
    names = ("max_norm", "norm_type", "scale_grad_by_freq", "mode", "sparse", "include_last_offset", "padding_idx")
    options: dict[str, Any] = {name: call.config[name] for name in names}
    options["per_sample_weights"] = call["per_sample_weights"]
    return call.function("embedding_bag", call["self"], call.parameter("weight"), call["offsets"], **options)


# fmt: off
module("Identity(...)", itself)
module("Linear(int in_features, int out_features, bool bias=True, Device? device=None, ScalarType? dtype=None) -> None", linear, parameters=linear_weights)
module("LazyLinear(int out_features, bool bias=True, Device? device=None, ScalarType? dtype=None) -> None", linear, parameters=lazy_linear_weights)
module("Bilinear(int in1_features, int in2_features, int out_features, bool bias=True, Device? device=None, ScalarType? dtype=None) -> None", bilinear, takes="Tensor input1, Tensor input2", parameters=bilinear_weights)
module("Embedding(int num_embeddings, int embedding_dim, int? padding_idx=None, float? max_norm=None, float norm_type=2.0, bool scale_grad_by_freq=False, bool sparse=False, Tensor? _weight=None, bool _freeze=False, Device? device=None, ScalarType? dtype=None) -> None", embedded, parameters=embedding_weights)
module("EmbeddingBag(int num_embeddings, int embedding_dim, float? max_norm=None, float norm_type=2.0, bool scale_grad_by_freq=False, str mode='mean', bool sparse=False, Tensor? _weight=None, bool include_last_offset=False, int? padding_idx=None, Device? device=None, ScalarType? dtype=None) -> None", embedding_bag, takes="Tensor self, Tensor? offsets=None, Tensor? per_sample_weights=None", parameters=embedding_weights)
# fmt: on
