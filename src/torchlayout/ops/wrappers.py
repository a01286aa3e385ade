"""Functions that take a function and pass tensors through it unchanged: checkpointing, compiling, autocast.

`torch.vmap` and `torch.func.grad` are none of them: inside, a tensor has other dimensions than outside.
"""

from __future__ import annotations

from torchlayout.structs import struct


@struct(frozen=True)
class Wrapper:
    """A function whose argument at place `function` (or of that keyword) is the function that does the work.

    `calls` True: it calls that function with its other arguments, and returns what it returns. False: it returns a
    function that acts as that one does. `keywords` are its own, not handed on.
    """

    function: int
    keyword: str
    calls: bool
    keywords: frozenset[str] = frozenset()


_CHECKPOINT = Wrapper(
    0, "function", True,
    frozenset({"use_reentrant", "context_fn", "determinism_check", "debug", "early_stop", "preserve_rng_state"}),
)  # fmt: skip
_SAME = Wrapper(0, "fn", False)

WRAPPERS: dict[str, Wrapper] = {
    "torch.utils.checkpoint.checkpoint": _CHECKPOINT,
    "torch.distributed.algorithms._checkpoint.checkpoint_wrapper.checkpoint_wrapper": Wrapper(0, "module", False),
    "fairscale.nn.checkpoint.checkpoint_wrapper": Wrapper(0, "module", False),
    "torch.compile": Wrapper(0, "model", False),
    "torch.compiler.disable": _SAME,
    "torch.compiler.allow_in_graph": _SAME,
    "torch._dynamo.disable": _SAME,
    "torch._dynamo.optimize": _SAME,
    "torch.jit.script": Wrapper(0, "obj", False),
    "torch.jit.trace": Wrapper(0, "func", False),
    "torch.jit.ignore": _SAME,
    "torch.jit.export": _SAME,
    "torch.jit.unused": _SAME,
    "torch.jit.freeze": Wrapper(0, "mod", False),
    "torch.jit.optimize_for_inference": Wrapper(0, "mod", False),
    "torch.no_grad": Wrapper(0, "orig_func", False),
    "torch.enable_grad": Wrapper(0, "orig_func", False),
    "torch.inference_mode": Wrapper(0, "mode", False),
    "torch.set_grad_enabled": Wrapper(0, "mode", False),
    "torch.amp.custom_fwd": Wrapper(0, "fwd", False),
    "torch.amp.custom_bwd": Wrapper(0, "bwd", False),
    "torch.cuda.amp.custom_fwd": Wrapper(0, "fwd", False),
    "torch.cuda.amp.custom_bwd": Wrapper(0, "bwd", False),
    "torch.func.functionalize": Wrapper(0, "func", False),
    "torch.nn.DataParallel": Wrapper(0, "module", False),
    "torch.nn.parallel.DistributedDataParallel": Wrapper(0, "module", False),
    "torch.distributed.fsdp.FullyShardedDataParallel": Wrapper(0, "module", False),
    "torch.nn.utils.weight_norm": Wrapper(0, "module", False),
    "torch.nn.utils.spectral_norm": Wrapper(0, "module", False),
    "torch.nn.utils.parametrizations.weight_norm": Wrapper(0, "module", False),
    "torch.nn.utils.parametrizations.spectral_norm": Wrapper(0, "module", False),
    "torch.nn.utils.parametrizations.orthogonal": Wrapper(0, "module", False),
    "torch.nn.utils.parametrize.register_parametrization": Wrapper(0, "module", False),
    "torch.nn.utils.remove_weight_norm": Wrapper(0, "module", False),
    "functools.wraps": _SAME,
    "functools.lru_cache": _SAME,
    "functools.cache": _SAME,
    "copy.copy": Wrapper(0, "x", False),
    "copy.deepcopy": Wrapper(0, "x", False),
}
"""By full dotted path. `functools` and `copy` only concern functions and modules given to them."""

CONTEXTS = frozenset({
    "torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast", "torch.cuda.amp.autocast",
    "torch.cpu.amp.autocast", "torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.set_grad_enabled",
    "torch.autograd.set_detect_anomaly", "torch.autograd.profiler.profile", "torch.autograd.profiler.record_function",
    "torch.profiler.record_function", "torch.cuda.stream", "torch.cuda.device", "torch.device", "torch.random.fork_rng",
    "torch.nn.attention.sdpa_kernel", "torch.backends.cuda.sdp_kernel", "torch.cuda.nvtx.range",
})  # fmt: skip
"""Context managers, and decorators with arguments, that leave layouts alone (autocast changes dtypes)."""


def wrapper(path: str) -> Wrapper | None:
    """What is known of a wrapping function by its full dotted path."""
    return WRAPPERS.get(path)


def passes_through(path: str) -> int | None:
    """The place of the argument that is the wrapped function; None for what is no wrapper."""
    found = WRAPPERS.get(path)
    return None if found is None else found.function


def keeps_layouts(path: str) -> bool:
    """Whether a context manager, or a decorator made by a call, leaves layouts alone."""
    return path in CONTEXTS
