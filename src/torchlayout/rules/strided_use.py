"""What operators make of a strided operand: whether they take it as it is, copy it themselves, or run faster packed.

Vocabulary: *rows dense* (the last dimension has stride 1, as after splitting heads or slicing outer dimensions),
*free* (no slower than with a packed operand, by more than packing costs), *hidden copy* (the operator packs by
itself, so that one copy is made either way), *pays* (packing first can be faster; the rule is silent).

The figures behind the table are those of `benchmarks/test_layout_cost.py`; the page of LAY204 shows them.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Mapping
from typing import Any

from torchlayout.layouts import same_layout, settle
from torchlayout.ops import Operand
from torchlayout.sizes import YES, Facts


class Cost(enum.Enum):
    FREE = "takes any strides"
    HIDDEN_COPY = "copies by itself"
    PAYS = "runs faster on dense memory, or is not known"


VIEWS = frozenset(
    "transpose permute t numpy_T mT H mH adjoint movedim moveaxis swapaxes swapdims select narrow slice expand "
    "expand_as broadcast_to squeeze unsqueeze chunk split split_with_sizes tensor_split unbind unflatten view "
    "view_as detach alias flatten reshape reshape_as contiguous diagonal unfold __getitem__ __getattr__".split()
)
"""Views, and what copies only when it must: they move nothing by themselves. Who uses *them* is asked next."""

ELEMENTWISE = frozenset(
    "add sub mul div true_divide floor_divide remainder fmod pow neg abs exp exp2 expm1 log log2 log10 log1p sqrt "
    "rsqrt square reciprocal sin cos tan asin acos atan sinh cosh tanh sigmoid relu relu6 gelu silu mish elu celu "
    "selu leaky_relu softplus hardtanh hardswish hardsigmoid clamp clip minimum maximum fmin fmax "
    "round floor ceil trunc frac sign sgn erf erfc lerp where masked_fill eq ne lt le gt ge logical_and "
    "logical_or logical_not logical_xor bitwise_and bitwise_or bitwise_not bitwise_xor isnan isinf isfinite "
    "nan_to_num to float half double bfloat16 int long bool type clone dropout rsub atan2 hypot addcmul addcdiv".split()
)
"""One pass over the elements, in memory order where all operands agree on it."""

ROW_BY_ROW = frozenset(
    "sum mean prod amax amin max min argmax argmin all any std var norm logsumexp softmax log_softmax cumsum "
    "cumprod layer_norm rms_norm LayerNorm RMSNorm Softmax LogSoftmax cross_entropy nll_loss CrossEntropyLoss "
    "topk sort argsort".split()
)
"""Several passes over each row: free while rows are dense."""
_NORMS = frozenset({"layer_norm", "LayerNorm", "rms_norm", "RMSNorm", "log_softmax", "softmax", "sort", "topk"})

TOTALS = frozenset("sum mean prod amax amin max min all any".split())
"""Of these, the one over all dimensions is a single pass in memory order."""

MATRIX_PRODUCTS = frozenset("matmul mm bmm addmm baddbmm mv dot inner einsum".split())
"""BLAS takes a transposed matrix by a flag; batch dimensions that are not adjacent are copied by torch."""
LINEAR = frozenset({"linear", "Linear", "scaled_dot_product_attention"})

GATHERING = frozenset("gather index_select take_along_dim embedding Embedding one_hot masked_select".split())
"""Each element that is asked for is read once; those that are not are never touched, though a copy moves them."""

JOINING = frozenset("cat concat concatenate stack hstack vstack dstack pad repeat tile repeat_interleave".split())
"""Every element is copied once to its place."""


def cost(name: str, parameter: str, bound: Mapping[str, Any], strided: Operand, facts: Facts) -> Cost:
    """What an operator makes of a strided operand given as `parameter`."""
    dense = rows_dense(strided, facts)
    if name in VIEWS or name in GATHERING or name in JOINING:
        return Cost.FREE
    if name in ELEMENTWISE:
        return Cost.FREE if dense or _alone(parameter, bound, strided, facts) else Cost.PAYS
    if name in ROW_BY_ROW:
        if not dense:
            return Cost.FREE if name in TOTALS and bound.get("dim") is None else Cost.PAYS
        return Cost.HIDDEN_COPY if name in _NORMS else Cost.FREE
    if name in MATRIX_PRODUCTS:
        return Cost.FREE if is_blas_matrix(strided, facts) else Cost.HIDDEN_COPY
    if name in LINEAR and dense:
        return Cost.HIDDEN_COPY
    return Cost.PAYS


def rows_dense(operand: Operand, facts: Facts) -> bool:
    """Whether the last dimension has stride 1, or is all there is of it."""
    layout = settle(operand.layout, facts)
    if not layout.dims:
        return True
    last = layout.dims[-1]
    return (last.stride is not None and facts.equal(last.stride, 1) is YES) or facts.is_one(last.size) is YES


def _alone(parameter: str, bound: Mapping[str, Any], strided: Operand, facts: Facts) -> bool:
    """Whether no other operand lies in memory in another order."""
    for name, value in bound.items():
        if name != parameter and isinstance(value, Operand) and value.layout.dims:
            if same_layout(value.layout, strided.layout, facts) is not YES:
                return False
    return True


def is_blas_matrix(operand: Operand, facts: Facts) -> bool:
    """Whether the last two dimensions are a matrix with dense rows or dense columns, and the others are adjacent to
    one another, so that torch hands them to BLAS as they are."""
    layout = settle(operand.layout, facts)
    if layout.rank is None or len(layout.dims) < 2 or None in layout.strides:
        return False
    *outer, row, column = layout.dims
    assert row.stride is not None and column.stride is not None
    if facts.equal(row.stride, 1) is not YES and facts.equal(column.stride, 1) is not YES:
        return False
    for first, second in itertools.pairwise(outer):
        assert first.stride is not None and second.stride is not None
        if facts.equal(first.stride, second.stride * second.size) is not YES:
            return False
    return True
