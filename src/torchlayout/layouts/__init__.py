"""Layouts: sizes and strides of tensors, and torch's stride arithmetic over them. Knows nothing of operators."""

from torchlayout.layouts.elementwise import (
    ShapeMismatch,
    broadcast,
    expand_to,
    output_layout,
    preserved,
)
from torchlayout.layouts.lattice import join, unknown_layout, widen
from torchlayout.layouts.layout import (
    CHANNELS_LAST_ORDER,
    Dim,
    Layout,
    channels_last,
    contiguous,
    is_concrete,
    permuted_contiguous,
    settle,
    settle_shape,
    strided,
    unknown_strides,
)
from torchlayout.layouts.properties import (
    has_no_elements,
    has_overlap,
    in_memory_order,
    is_channels_last,
    is_contiguous,
    is_dense,
    same_layout,
    suggests_channels_last,
)
from torchlayout.layouts.ranks import size_of, the_rest, with_leading, with_rank, with_trailing
from torchlayout.layouts.views import ViewAnswer, infer_shape, learn_even_splits, view

__all__ = [
    "CHANNELS_LAST_ORDER", "Dim", "Layout", "ShapeMismatch", "ViewAnswer", "broadcast", "channels_last",
    "contiguous", "expand_to", "has_no_elements", "has_overlap", "in_memory_order", "infer_shape",
    "is_channels_last", "is_concrete", "is_contiguous", "is_dense", "join", "learn_even_splits", "output_layout",
    "permuted_contiguous", "preserved", "same_layout", "settle", "settle_shape", "size_of", "strided",
    "suggests_channels_last", "the_rest", "unknown_layout", "unknown_strides", "view", "widen", "with_leading",
    "with_rank", "with_trailing",
]  # fmt: skip
