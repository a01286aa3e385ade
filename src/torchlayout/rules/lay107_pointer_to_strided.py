"""LAY107: `data_ptr()` of a strided tensor, handed to native code that assumes dense rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import Example, Rule

if TYPE_CHECKING:
    from torchlayout.interp.trace import ForeignArgument, ForeignCall, SiteKey
    from torchlayout.ops import Operand
    from torchlayout.rules.finding import Finding
    from torchlayout.rules.seen import Seen
    from torchlayout.sizes import Facts

NATIVE_PACKAGES = (
    "ctypes", "cffi", "cupy", "numba", "pycuda", "cuda", "triton", "tvm", "cutlass", "tensorrt", "onnxruntime",
    "torch.ops", "jax", "warp", "mpi4py",
)  # fmt: skip
NATIVE_METHODS = frozenset({
    "from_address", "launch", "run", "run_with_ortvalues", "execute_async_v2", "execute_async_v3",
    "set_tensor_address", "bind_input", "bind_output", "Get", "Put", "memmove", "memcpy",
})  # fmt: skip
HARMLESS_WORDS = (
    "assert",
    "equal",
    "print",
    "log",
    "debug",
    "hash",
    "format",
    "repr",
    "str",
    "hex",
    "len",
    "isinstance",
)
"""Functions of which the name tells that they only compare or show an address."""


class PointerToStrided(Rule):
    """## What it does
    Reports the address of a tensor that is not contiguous (`x.data_ptr()`), handed to native code (ctypes, cffi, CuPy,
    Numba, PyCUDA, Triton, compiled extensions) without its strides. Where the address is taken in a helper function,
    the finding stands at the call that brings the strided tensor.

    ## Why is this bad?
    Native code that gets an address and a number of elements reads on from there. Of a strided tensor it reads the
    wrong elements, or beyond the end, and nothing is raised.

    ## Example
    ```python
    import ctypes

    import torch

    weights = torch.arange(6.0).view(2, 3).t()
    values = (ctypes.c_float * 6).from_address(weights.data_ptr())
    ```

    ## Use instead
    ```python
    import ctypes

    import torch

    weights = torch.arange(6.0).view(2, 3).t().contiguous()
    values = (ctypes.c_float * 6).from_address(weights.data_ptr())
    ```

    ## What it cannot see
    What the native code does with the address: whether it knows the strides by other means. Keep the packed tensor in
    a variable; the memory of `x.contiguous().data_ptr()` may be gone before it is read.

    ## References
    - [torch.Tensor.data_ptr](https://pytorch.org/docs/stable/generated/torch.Tensor.data_ptr.html)
    """

    code, name = "LAY107", "pointer-to-strided"
    words = (".data_ptr",)
    invalid = (
        Example(
            """\
import ctypes

import torch

weights = torch.arange(6.0).view(2, 3).t()
values = (ctypes.c_float * 6).from_address(weights.data_ptr())  # LAY107
""",
            note="the elements come in the order of memory, not of the tensor",
        ),
        Example(
            """\
import ctypes

import torch


def native_read(tensor):
    return list((ctypes.c_float * tensor.numel()).from_address(tensor.data_ptr()))


def main():
    native_read(torch.ones(3))
    native_read(torch.eye(4).diagonal())  # LAY107


main()
""",
            note="the helper is right, this call is not",
        ),
    )
    valid = (
        Example(
            """\
import ctypes

import torch

weights = torch.arange(6.0).view(2, 3).t().contiguous()
values = (ctypes.c_float * 6).from_address(weights.data_ptr())
""",
            note="packed first",
        ),
    )
    near_misses = (
        Example(
            """\
import torch

x = torch.randn(3, 4)
print(x.t().data_ptr() == x.data_ptr())
seen = set()
seen.add(x.t().data_ptr())
""",
            note="an address compared, or kept",
        ),
    )

    def check(self, seen: Seen) -> Iterator[Finding]:
        found: dict[SiteKey, Finding] = {}
        for key, calls in sorted(seen.trace.calls.items()):
            for call in calls:
                if is_native(call.path):
                    for argument in call.arguments.values():
                        self._argument(seen, key, call, argument, found)
        yield from found.values()

    def _argument(
        self, seen: Seen, key: SiteKey, call: ForeignCall, argument: ForeignArgument, found: dict[SiteKey, Finding]
    ) -> None:
        strided = _strided(argument) if argument.pointer and not argument.strides_given else None
        place = call.caller or key
        if strided is not None and place[0] == seen.trace.path:
            found.setdefault(place, self.finding(seen, place, key, call, argument, *strided))

    def finding(
        self,
        seen: Seen,
        place: SiteKey,
        key: SiteKey,
        call: ForeignCall,
        argument: ForeignArgument,
        operand: Operand,
        facts: Facts,
    ) -> Finding:
        from torchlayout.rules import tell
        from torchlayout.rules.finding import Finding, Related

        here = seen.trace.path
        name = call.path.rpartition(".")[2]
        where = f" on {tell.place(*key, here)}" if place != key else ""
        message = (
            f"`{name}`{where} gets the address of a tensor that is not contiguous, with "
            f"{tell.layout_text(operand, facts)}{tell.made_by(argument.origin, here)}, and not its strides: native "
            f"code reads the wrong elements; pack it first and keep the packed tensor"
        )
        related = tell.history(argument.origin, here, place[1])
        if place != key:
            related = (
                Related(key[1], f"the address goes to `{name}` here", key[0] if key[0] != here else None),
                *related,
            )
        return Finding(self.code, message, place[1], related)


def is_native(path: str) -> bool:
    """Whether a function that is not known is one that reads memory by address: by its package, or its name."""
    name = path.rpartition(".")[2]
    if path.startswith(NATIVE_PACKAGES) or name in NATIVE_METHODS:
        return True
    if path.startswith((".", "torch.", "numpy.", "builtins.")) or "." not in path:
        return False  # a method of an unknown object, or a built-in function
    import sys

    if path.partition(".")[0] in sys.stdlib_module_names:
        return False
    return not any(word in name.lower() for word in HARMLESS_WORDS)


def _strided(argument: ForeignArgument) -> tuple[Operand, Facts] | None:
    """The tensor, where it is not contiguous in any alternative."""
    from torchlayout.layouts import is_contiguous
    from torchlayout.sizes import NO

    pairs = argument.assumed
    if pairs and all(not o.weak and is_contiguous(o.layout, facts) is NO for o, facts in pairs):
        return pairs[0]
    return None
