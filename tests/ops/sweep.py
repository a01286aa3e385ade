"""The sweep over torch's own catalogue of operators, `op_db`, and its sample inputs.

Each sample is run as it is, and with its tensors replaced by variants that lie in memory differently. Every public
call that the sample makes is compared, under the spelling torch resolves it to.
"""

from __future__ import annotations

import collections
import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from conformance import RANDOM_SEED, REFUSED_VALUES, Verdict, check_call
from real_layouts import replica, variants
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._pytree import tree_flatten, tree_unflatten

MAX_SHOWN = 3
"""Wrong comparisons that a report quotes for each operator."""

MAX_SAMPLES = 1000
"""More samples of one operator than torch's catalogue has."""

NOT_CALLED_BY_PEOPLE = ("_", "jiterator", "torch._", "torch.ops", "nn.functional._scaled")
"""How the names of catalogue entries begin that stand for torch's inner workings."""

NO_STRIDED_TENSORS = frozenset({"allclose", "equal", "item", "to_sparse", "slice"})
"""Entries that return a number or a sparse tensor, and one that people spell as a subscript."""

FRAGILE = frozenset({"lu_unpack", "native_batch_norm", "nn.functional.ctc_loss", "nn.functional.embedding_bag"})
"""Operators that read beyond the end of tensors of other shapes than the sample's, and may crash."""

PROPERTY = ".__get__"


@dataclass
class Tally:
    """What was counted for one operator."""

    counts: collections.Counter[str] = field(default_factory=collections.Counter)
    wrong: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)

    def add(self, verdict: Verdict) -> None:
        self.counts[verdict.kind] += 1
        self.paths.add(verdict.path)
        if verdict.kind == "wrong" and len(self.wrong) < MAX_SHOWN:
            self.wrong.append(f"{verdict.path}({verdict.detail})")
        if verdict.kind == "unknown" and len(self.unknown) < MAX_SHOWN:
            self.unknown.append(f"{verdict.path}({verdict.detail})")

    @property
    def compared(self) -> int:
        return self.counts["exact"] + self.counts["unknown"] + self.counts["wrong"] + self.counts["absent"]

    @property
    def share(self) -> float:
        """The share of comparisons that came out exact; an operator without a row has none."""
        return self.counts["exact"] / self.compared if self.compared else 0.0


class Watch(TorchFunctionMode):
    """Compares each outermost call of torch's public interface."""

    def __init__(self, device: str | None = None) -> None:
        super().__init__()
        self.device = device
        self.verdicts: list[Verdict] = []

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = spelled(func)
        if name is None:
            return func(*args, **kwargs)
        results: list[Any] = []
        swap = name in REFLECTED and isinstance(args[1], torch.Tensor)

        def bare(*args: Any, **kwargs: Any) -> Any:
            return func(*(reversed(args) if swap else args), **kwargs)

        def real(*args: Any, **kwargs: Any) -> Any:
            results.append(bare(*args, **kwargs))
            return results[-1]

        real.bare = bare  # type: ignore[attr-defined]
        name, args = REFLECTED.get(name, name), tuple(reversed(args)) if swap else args

        verdict = check_call(name, args, kwargs, real=real, device=self.device)
        self.verdicts.append(verdict)
        if not results and verdict.kind == "invalid" and verdict.detail.endswith(REFUSED_VALUES):
            raise IndexError(verdict.detail)
        return results[-1] if results else func(*args, **kwargs)


@functools.cache
def spelled(func: Callable[..., Any]) -> str | None:
    """The spelling of a torch function as `check_call` takes it; None for one that is no operator."""
    name = resolve_name(func)
    if name is None:
        return None
    if name.startswith("torch.Tensor."):
        name = name.removeprefix("torch.")
        if name.endswith(PROPERTY):
            return None if name in IGNORED else "attribute." + name.removeprefix("Tensor.").removesuffix(PROPERTY)
        return None if name in IGNORED else DUNDERS.get(name, name)
    return name.replace("torch._C._nn.", "torch.nn.functional.").replace("torch._C._special.special_", "torch.special.")


IGNORED = frozenset({
    "Tensor.__setitem__", "Tensor.__bool__", "Tensor.__int__", "Tensor.__float__", "Tensor.__index__",
    "Tensor.__complex__", "Tensor.device.__get__", "Tensor.dtype.__get__", "Tensor.layout.__get__",
    "Tensor.is_cuda.__get__", "Tensor.requires_grad.__get__", "Tensor.is_sparse.__get__", "Tensor.is_leaf.__get__",
    "Tensor.__format__", "Tensor.__repr__", "Tensor.__contains__", "Tensor.__deepcopy__",
})  # fmt: skip
_BINARY = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide", "mod": "remainder",
    "pow": "pow", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
}  # fmt: skip
DUNDERS = {
    **{f"Tensor.__{name}__": f"Tensor.{row}" for name, row in _BINARY.items()},
    **{f"Tensor.__i{name}__": f"Tensor.{row}_" for name, row in _BINARY.items()},
    **{f"Tensor.__{name}__": f"Tensor.{name}" for name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "abs")},
    "Tensor.__rdiv__": "Tensor.div", "Tensor.__rtruediv__": "Tensor.div", "Tensor.__invert__": "Tensor.bitwise_not", "Tensor.__pos__": "Tensor.positive",
}  # fmt: skip
REFLECTED = {f"Tensor.__r{name}__": f"Tensor.{row}" for name, row in _BINARY.items() if name != "truediv"}
"""What swaps its operands; the reflected division is a multiplication by the reciprocal."""


def catalogue() -> list[Any]:
    """torch's OpInfos of operators that people call."""
    from torch.testing._internal.common_methods_invocations import op_db

    return [info for info in op_db if _is_called(info.name)]


def _is_called(name: str) -> bool:
    if name.startswith("__") or name in NO_STRIDED_TENSORS:
        return name not in NO_STRIDED_TENSORS
    return not name.startswith(NOT_CALLED_BY_PEOPLE) and not name.endswith("_backward")


def dtype_of(info: Any, device: str) -> torch.dtype:
    allowed = info.supported_dtypes(device)
    for dtype in (torch.float32, torch.float64, torch.complex64, torch.int64, torch.bool):
        if dtype in allowed:
            return dtype
    return next(iter(allowed))


def samples(info: Any, device: str, limit: int | None) -> Iterator[Any]:
    torch.manual_seed(RANDOM_SEED)
    try:
        found = info.sample_inputs(device, dtype_of(info, device), requires_grad=False)
        for _ in range(limit or MAX_SAMPLES):
            yield next(found)
    except (StopIteration, RuntimeError, NotImplementedError, AssertionError, ImportError, ValueError, TypeError):
        return  # no more samples, or none that this build of torch can make


def arrangements(
    sample: Any, limit: int | None, shrink: bool = True
) -> Iterator[tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    """The sample's arguments as they are, with its first tensor varied, with the others, and with all of them."""
    leaves, spec = tree_flatten((sample.input, tuple(sample.args), dict(sample.kwargs)))
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor) and leaf.layout is torch.strided]

    def rebuilt(changed: dict[int, torch.Tensor]) -> Any:
        new = [replica(changed.get(i, leaf)) if i in places else leaf for i, leaf in enumerate(leaves)]
        return tree_unflatten(new, spec)

    def forms(place: int, smaller: bool) -> list[torch.Tensor]:
        return [variant for _, variant in variants(leaves[place], smaller)][1:]

    def all_forms() -> Iterator[dict[int, torch.Tensor]]:
        yield {}
        for place in places[:3]:
            for variant in forms(place, shrink and len(places) == 1):
                yield {place: variant}
        if len(places) > 1:
            for together in zip(*(forms(place, shrink) for place in places), strict=False):
                yield dict(zip(places, together, strict=True))

    chosen = list(all_forms())
    if limit is not None and len(chosen) > limit:
        step = len(chosen) / limit
        chosen = [chosen[int(i * step)] for i in range(limit)]
    for changed in chosen:
        yield rebuilt(changed)


def both(info: Any, device: str, max_samples: int | None, max_forms: int | None) -> tuple[Tally, Tally]:
    """The tallies of an operator without and with the device known. Where backends differ in the layout, only the
    second can be exact."""
    untold = sweep(info, device, max_samples, max_forms)
    told = sweep(info, device, max_samples, max_forms, told_device=device) if untold.share < 1 else untold
    return untold, told


def sweep(
    info: Any,
    device: str = "cpu",
    max_samples: int | None = None,
    max_forms: int | None = None,
    told_device: str | None = None,
) -> Tally:
    """Compare one operator of the catalogue over its samples and their variants, under all its spellings."""
    tally = Tally()
    spellings = [info.op, info.method_variant, info.inplace_variant, info.operator_variant]
    for sample in samples(info, device, max_samples):
        for number, (first, args, kwargs) in enumerate(arrangements(sample, max_forms, info.name not in FRAGILE)):
            function = next(f for f in spellings[number % 4 :] + spellings if f is not None)
            for verdict in _watched(function, first, args, kwargs, told_device):
                tally.add(verdict)
    return tally


def _watched(function: Any, first: Any, args: Any, kwargs: Any, told_device: str | None) -> list[Verdict]:
    torch.manual_seed(RANDOM_SEED)
    watch = Watch(told_device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with torch.no_grad(), watch:
                function(first, *args, **kwargs)
        except Exception:  # a variant that the operator refuses; what was compared until then stands
            pass
    return watch.verdicts
