"""MultiheadAttention and the Transformer layers.

Outside training, self-attention of an even number of heads may take a fused path (torch/nn/modules/activation.py,
"why_not_fast_path") whose output is packed where the plain one's is transposed. Which path runs is not to be seen
from the source, so that both are given as alternatives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torchlayout.layouts import Layout, contiguous, permuted_contiguous, with_trailing
from torchlayout.ops.formats import image
from torchlayout.ops.modules import Config, Constructed, Forward, Perhaps, module, then
from torchlayout.ops.values import UNKNOWN, Alternatives, Operand, Outcome, Result, Unknowable
from torchlayout.sizes import Shape, Size


def attention_weights(config: Config) -> Mapping[str, Shape | Perhaps | None]:
    """The packed projection, or one each where keys or values have sizes of their own."""
    size = config.size("embed_dim")
    keys, values = (config["kdim"], config["vdim"])
    found: dict[str, Shape | Perhaps | None] = {}
    if keys is None and values is None:
        found["in_proj_weight"] = (3 * size, size)
        found.update(dict.fromkeys(("q_proj_weight", "k_proj_weight", "v_proj_weight"), None))
    found["in_proj_bias"] = config.having("bias", (3 * size,))
    extra = config.having("add_bias_kv", (1, 1, size))
    return {**found, "bias_k": extra, "bias_v": extra}


def attention_attributes(config: Config, name: str) -> Outcome:
    if name == "head_dim":
        return config.facts.floor_divide(config.size("embed_dim"), config.size("num_heads"))
    if name in ("kdim", "vdim") and config[name] is None:
        return config["embed_dim"]
    return UNKNOWN


def attention(call: Forward) -> Outcome:
    """packed as (target, batch, features), with `batch_first` seen transposed unless the fused path runs"""
    config = call.config
    size = config.size("embed_dim")
    call.equate(call.reaching(call.layout("query"), -1).sizes[-1], size)
    query, key = image(call, 1, "query"), image(call, 1, "key")
    if key.rank != query.rank:
        raise Unknowable("query and key differ in rank")
    packed = Result(contiguous((*query.sizes[:-1], size)))
    if query.rank == 2:
        return packed, _weights(call, (), query.sizes[0], key.sizes[0])
    if not config.flag("batch_first"):
        return packed, _weights(call, (query.sizes[1],), query.sizes[0], key.sizes[0])
    scores = _weights(call, (query.sizes[0],), query.sizes[1], key.sizes[1])
    strided = Result(permuted_contiguous((*query.sizes[:-1], size), (1, 0, 2)))
    if _never_fused(call):
        return strided, scores
    return Alternatives(((strided, scores), (packed, scores)))


def _weights(call: Forward, batch: tuple[Size, ...], target: Size, source: Size) -> Outcome:
    """The attention weights: packed, averaged over the heads unless told not to; None where not asked for."""
    for option in ("add_bias_kv", "add_zero_attn"):
        source = source + int(call.config.flag(option))
    wanted, averaged = call["need_weights"], call["average_attn_weights"]
    if wanted is False:
        return None
    if not isinstance(averaged, bool):
        return UNKNOWN
    heads = () if averaged else (call.config.size("num_heads"),)
    result = Result(contiguous((*batch, *heads, target, source)))
    return result if wanted is True else Alternatives((result, None))


def _never_fused(call: Forward) -> bool:
    """Whether something that the source shows rules the fused path out."""
    config = call.config
    heads = config["num_heads"]
    tensors = [call.operand(name).layout for name in ("query", "key", "value") if isinstance(call[name], Operand)]
    return (
        config["bias"] is False
        or config["add_bias_kv"] is True
        or config["add_zero_attn"] is True
        or (isinstance(heads, int) and heads % 2 == 1)
        or any(layout != tensors[0] for layout in tensors)
    )


def _added(call: Forward, tensor: str, attentions: int, fused: bool) -> Outcome:
    """`x + dropout(attention(...))` for each attention, then `x + feed_forward(...)`: x's own order decides, unless
    it is stretched. `fused`: the first attention packs its output."""
    packed = contiguous(call.layout(tensor).shape)
    attended = packed
    if call.config.known("batch_first") and packed.rank == 3:
        attended = permuted_contiguous(packed.sizes, (1, 0, 2))
    first = packed if fused else attended
    outcome: Outcome = Result(call.layout(tensor), call.operand(tensor).dtype)
    for addend in (first, *([attended] * (attentions - 1)), packed):
        outcome = then(outcome, _adding(call, Operand(addend)))
    return outcome


def _adding(call: Forward, addend: Operand) -> Callable[[Operand], Outcome]:
    return lambda x: call.method("add", x, addend)


def transformer_layer(tensor: str, attentions: int) -> Callable[[Forward], Outcome]:
    """The forward of an encoder or decoder layer, whose first argument is `tensor`."""

    def forward(call: Forward) -> Outcome:
        """packed; with `norm_first`, as adding to the input gives"""
        config = call.config
        layout = with_trailing(call.layout(tensor), 1, call.facts)
        if layout is None:
            raise Unknowable("the input has no dimension")
        call.equate(layout.sizes[-1], config["d_model"])
        packed = Result(contiguous(call.layout(tensor).shape))
        if config.known("norm_first") is False:
            return packed
        ways: list[Outcome] = [_added(call, tensor, attentions, False)]
        if config["batch_first"] is not False:
            # an encoder layer may run as one fused function; a decoder layer's self-attention may
            ways += [packed if attentions == 1 else _added(call, tensor, attentions, True)]
        return distinct(Alternatives(tuple(ways)))

    return forward


def distinct(outcome: Outcome) -> Outcome:
    """An outcome of one tensor, with each layout once."""
    found: dict[Layout, Result] = {}
    ways = [outcome]
    while ways:
        way = ways.pop(0)
        if isinstance(way, Alternatives):
            ways += way.outcomes
        elif isinstance(way, Result):
            found.setdefault(way.layout, way)
        else:
            return UNKNOWN
    results = tuple(found.values())
    return results[0] if len(results) == 1 else Alternatives(results)


MOST_DIFFERENT = 3
"""After so many layers a stack's result lies as after one more: the second one has a dense input."""


def stacked(tensor: str, layer: str) -> Callable[[Forward], Outcome]:
    """The forward of a stack of layers that are copies of one, and of the normalization behind them."""

    def forward(call: Forward) -> Outcome:
        """as its layers one after another, and then the normalization"""
        config = call.config
        if call.values.get("src_key_padding_mask") is not None:
            raise Unknowable("a padding mask may shorten the result")
        inside, count, norm = config.known(layer), config["num_layers"], config["norm"]
        if count == 0 or not isinstance(inside, Constructed):
            raise Unknowable("layers that are not known")
        others = [call["memory"]] if "memory" in call.values else []
        outcome: Outcome = Result(call.layout(tensor), call.operand(tensor).dtype)
        for _ in range(min(count, MOST_DIFFERENT) if isinstance(count, int) else MOST_DIFFERENT):
            outcome = distinct(then(outcome, lambda x: inside.called([x, *others], call.facts)))
        if norm is None:
            return outcome
        if not isinstance(norm, Constructed):
            raise Unknowable("a normalization that is not known")
        return distinct(then(outcome, lambda x: norm.called([x], call.facts)))

    return forward


def transformer(call: Forward) -> Outcome:
    """packed, the target's sizes: encoder and decoder end in a normalization"""
    for custom in ("custom_encoder", "custom_decoder"):
        if call.config[custom] is not None:
            return UNKNOWN
    return Result(contiguous(call.layout("tgt").shape))


MASKS = "Tensor? tgt_mask=None, Tensor? memory_mask=None, Tensor? tgt_key_padding_mask=None, Tensor? memory_key_padding_mask=None"
LAYER = "int d_model, int nhead, int dim_feedforward=2048, float dropout=0.1, Any activation='relu', float layer_norm_eps=1e-05, bool batch_first=False, bool norm_first=False, bool bias=True, Device? device=None, ScalarType? dtype=None"
FUSED = "outside training a fused path may run, whose output is packed"

# fmt: off
module("MultiheadAttention(int embed_dim, int num_heads, float dropout=0.0, bool bias=True, bool add_bias_kv=False, bool add_zero_attn=False, int? kdim=None, int? vdim=None, bool batch_first=False, Device? device=None, ScalarType? dtype=None) -> None", attention, takes="Tensor query, Tensor key, Tensor value, Tensor? key_padding_mask=None, bool need_weights=True, Tensor? attn_mask=None, bool average_attn_weights=True, bool is_causal=False", parameters=attention_weights, derived=attention_attributes, unknown=FUSED)
module(f"TransformerEncoderLayer({LAYER}) -> None", transformer_layer("src", 1), takes="Tensor src, Tensor? src_mask=None, Tensor? src_key_padding_mask=None, bool is_causal=False", unknown=FUSED)
module(f"TransformerDecoderLayer({LAYER}) -> None", transformer_layer("tgt", 2), takes=f"Tensor tgt, Tensor memory, {MASKS}, bool tgt_is_causal=False, bool memory_is_causal=False")
module("TransformerEncoder(Any encoder_layer, int num_layers, Any? norm=None, bool enable_nested_tensor=True, bool mask_check=True) -> None", stacked("src", "encoder_layer"), takes="Tensor src, Tensor? mask=None, Tensor? src_key_padding_mask=None, bool? is_causal=None", unknown="its layers are not known, or a padding mask may shorten the result")
module("TransformerDecoder(Any decoder_layer, int num_layers, Any? norm=None) -> None", stacked("tgt", "decoder_layer"), takes=f"Tensor tgt, Tensor memory, {MASKS}, bool? tgt_is_causal=None, bool memory_is_causal=False", unknown="its layers are not known")
module("Transformer(int d_model=512, int nhead=8, int num_encoder_layers=6, int num_decoder_layers=6, int dim_feedforward=2048, float dropout=0.1, Any activation='relu', Any? custom_encoder=None, Any? custom_decoder=None, float layer_norm_eps=1e-05, bool batch_first=False, bool norm_first=False, bool bias=True, Device? device=None, ScalarType? dtype=None) -> None", transformer, takes="Tensor src, Tensor tgt, Tensor? src_mask=None, Tensor? tgt_mask=None, Tensor? memory_mask=None, Tensor? src_key_padding_mask=None, Tensor? tgt_key_padding_mask=None, Tensor? memory_key_padding_mask=None, bool? src_is_causal=None, bool? tgt_is_causal=None, bool memory_is_causal=False", unknown="custom layers are not known")
# fmt: on
