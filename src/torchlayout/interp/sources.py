"""Words that make tensors of the kinds that rules ask for, looked for in the bare text."""

from __future__ import annotations

import re

_TURNING = (
    r"\.(?:(?:t|transpose|swapaxes|swapdims|as_strided)_|transpose|permute|[tTH]|m[TH]|adjoint|movedim|moveaxis|swapaxes"
    r"|swapdims|expand|expand_as|broadcast_to|as_strided|empty_strided|unfold|chunk|[hvd]?split|tensor_split|unbind"
    r"|narrow|select|diagonal|topk|rot90|real|imag|grad)\b"
    r"|(?:einsum|rearrange|meshgrid|broadcast_tensors|channels_last|from_numpy|as_tensor|LSTM|GRU|RNN|MultiheadAttention)\b"
    r"|(?:np\.|numpy\.|torch\.)?(?:flip|fliplr|flipud|rot90|transpose|permute)\b"
    r"|linalg\.|fft\.|stft"
)
_SLICE = (
    r"(?<=[\w\])])(?<!shape)(?<!size\(\))(?<!uple)(?<!Callable)\[\s*"
    r"(?:[^\[\]\n\"'{}]*,\s*)?(?:\.\.\.|[^\[\]\n,\"'{}]*:)|\],\s*(?::|\.\.\.)\s*[,\]]|::"
)
STRIDED = re.compile(f"{_TURNING}|{_SLICE}")
"""Ways to make a tensor that is not packed."""

KNOWN = re.compile(r"\b(?:torch|np|numpy)\.(?:randn?|randint|zeros|ones|empty|arange|full|eye|linspace|tensor)\(")
"""Ways to make a tensor of known sizes, which tells more than an unknown argument."""

TURNED = re.compile(_TURNING)
"""The same in an `__init__`, where a slice is seldom one of a tensor, and most tensors are parameters."""

SOURCES = {
    "": STRIDED,
    "reversed": re.compile(r"::|\bslice\b|flip|rot90"),
    "shared": re.compile(
        r"\.\s*expand(?:_as)?\b|broadcast_(?:to|tensors|arrays)|meshgrid|as_strided|sliding_window_view|\bunfold\b"
    ),
    "copied": STRIDED,
}
"""The same by what a rule asks for: also for reversed arrays alone, for tensors whose elements share memory, and for
copies to write into, which indexing makes of packed tensors too (`textflow.writes_into_copies`)."""

RARE = frozenset({"reversed", "shared"})
"""Kinds that are looked for further away: few functions make them."""

ALWAYS = re.compile(r"contiguous|reveal_layout")
"""Words of what is reported on packed tensors too."""
