"""Scaled dot-product attention and the function behind `nn.MultiheadAttention`."""

from __future__ import annotations

from torchlayout.layouts import contiguous, has_no_elements, unknown_strides
from torchlayout.ops.table import Args, op
from torchlayout.ops.transfers import autocast, broadcast_shape
from torchlayout.ops.values import Alias, Operand, Outcome, Result, Unknowable
from torchlayout.sizes import YES, Rest, Shape, Size

FRESH = Alias.FRESH
BATCH_AND_HEADS = 4
"""Dimensions of a query that the fused kernels take: batch, heads, length, features."""


def attended(args: Args) -> Outcome:
    """the query's sizes, the value's last one; packed but for four dimensions, where it depends on the backend"""
    query, value = args.reaching(args.layout("self"), -2), args["value"]
    last = args.reaching(args.layout("value"), -1).shape[-1] if isinstance(value, Operand) else query.shape[-1]
    given = [args.layout(name) for name in ("self", "key", "value") if isinstance(args[name], Operand)]
    if any(has_no_elements(layout, args.facts) is YES for layout in given):
        return Result(contiguous((*query.shape[:-1], last)), autocast(args.operand().dtype))  # nothing is broadcast
    shape = (*batch(args, query.shape[:-2]), query.shape[-2], last)
    # every fused kernel takes four dimensions (check_tensor_shapes of ATen/native/transformers/sdp_utils_cpp.h)
    packed = query.rank not in (None, BATCH_AND_HEADS)
    return Result(contiguous(shape) if packed else unknown_strides(shape), autocast(args.operand().dtype))


def flexible(args: Args) -> Outcome:
    """the query's sizes, the value's last one; strides depend on the backend and on the query's strides"""
    if args["return_lse"] is not False or args["return_aux"] is not None:
        raise Unknowable("more than the result is asked for")
    outcome = attended(args)
    return Result(unknown_strides(outcome.layout.shape), outcome.dtype) if isinstance(outcome, Result) else outcome


def batch(args: Args, of_query: Shape) -> Shape:
    """Batch sizes broadcast; but for the last one (heads), of which keys may have fewer."""
    shapes = [of_query]
    for name in ("key", "value"):
        if isinstance(args[name], Operand):
            shapes.append(args.reaching(args.layout(name), -2).shape[:-2])
    heads = of_query[-1:] if args["enable_gqa"] is not False else ()
    if heads:
        shapes = [shape[:-1] for shape in shapes]
    found = broadcast_shape(shapes, args.facts)
    if found is None:
        if not args.facts.assumed or any(isinstance(extent, Rest) for extent in of_query):
            raise Unknowable("batch sizes cannot be compared")
        return of_query
    return (*found, *heads)


def multi_head(args: Args) -> Outcome:
    """a pair, packed: (L, N, E), and the weights (N, L, S), or (N, heads, L, S), or None"""
    query, key = args.ranked("self"), args.ranked("key")
    if query.rank not in (2, 3):
        raise Unknowable("two or three dimensions are needed")
    output = Result(contiguous(query.shape))
    if not args.flag("need_weights"):
        return output, None
    sources: Size = key.sizes[0] + (args["bias_k"] is not None) + args.flag("add_zero_attn")
    if isinstance(args["static_k"], Operand):
        sources = args.ranked("static_k").sizes[1]
    heads = () if args.flag("average_attn_weights") else (args.size("num_heads"),)
    people = query.sizes[1:2] if query.rank == 3 else ()
    return output, Result(contiguous((*people, *heads, query.sizes[0], sources)))


# fmt: off
op("scaled_dot_product_attention(Tensor self, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor", alias=FRESH, layout=attended, example="F.scaled_dot_product_attention(x, x, x)", varies=True, unknown="of four dimensions: math, flash and efficient backends place their results differently")
op("flex_attention(Tensor self, Tensor key, Tensor value, Any score_mod=None, Any block_mask=None, float? scale=None, bool enable_gqa=False, bool return_lse=False, Any kernel_options=None, *, Any return_aux=None) -> Tensor", alias=FRESH, layout=flexible, example="", spellings=("torch.nn.attention.flex_attention.flex_attention",), path_only=True, varies=True, unknown="eager and compiled kernels place their results differently")
op("multi_head_attention_forward(Tensor self, Tensor key, Tensor value, int embed_dim_to_check, int num_heads, Tensor? in_proj_weight, Tensor? in_proj_bias, Tensor? bias_k, Tensor? bias_v, bool add_zero_attn, float dropout_p, Tensor out_proj_weight, Tensor? out_proj_bias, bool training=True, Tensor? key_padding_mask=None, bool need_weights=True, Tensor? attn_mask=None, bool use_separate_proj_weight=False, Tensor? q_proj_weight=None, Tensor? k_proj_weight=None, Tensor? v_proj_weight=None, Tensor? static_k=None, Tensor? static_v=None, bool average_attn_weights=True, bool is_causal=False) -> (Tensor, Tensor?)", alias=FRESH, layout=multi_head, example="F.multi_head_attention_forward(x, x, x, x.size(-1), 1, torch.ones(3 * x.size(-1), x.size(-1)), None, None, None, False, 0.0, torch.eye(x.size(-1)), None)")
# fmt: on
