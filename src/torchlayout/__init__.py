"""torchlayout knows, from the source alone, how every PyTorch tensor lies in memory.

>>> import torchlayout
>>> [finding] = torchlayout.check('''
... import torch
... x = torch.randn(3, 4).t()
... x.view(12)
... ''')
>>> finding.code, finding.span.line
('LAY101', 4)

Importing the package costs next to nothing, and never imports torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from torchlayout.check.engine import check as check
    from torchlayout.check.settings import Settings as Settings
    from torchlayout.rules.finding import Edit as Edit
    from torchlayout.rules.finding import Finding as Finding
    from torchlayout.rules.finding import Fix as Fix
    from torchlayout.rules.finding import Related as Related
    from torchlayout.rules.finding import Safety as Safety

__version__ = "0.1.0"
__all__ = ["Edit", "Finding", "Fix", "Related", "Safety", "Settings", "__version__", "check", "reveal_layout"]

_HOMES = {
    "Settings": "torchlayout.check.settings",
    **dict.fromkeys(("Edit", "Finding", "Fix", "Related", "Safety"), "torchlayout.rules.finding"),
}

T = TypeVar("T")


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "check":
        return import_module("torchlayout.check")
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def reveal_layout(x: T) -> T:
    """Print how `x` lies in memory (shape, stride, whether contiguous) and return it.

    A line that the linter answers with LAY900 can thus be run as well. What is no tensor is shown by its type.
    torch is never imported: without it loaded, nothing can be a tensor.
    """
    import sys

    torch = sys.modules.get("torch")
    if torch is None or not isinstance(x, getattr(torch, "Tensor", ())):
        print(f"reveal_layout: {type(x).__name__}, not a tensor")
        return x
    tensor: Any = x
    if tensor.layout != torch.strided:
        print(f"reveal_layout: shape {list(tensor.shape)}, {tensor.layout}: no strides")
        return x
    answer = "yes" if tensor.is_contiguous() else "no"
    print(f"reveal_layout: shape {list(tensor.shape)}, stride {list(tensor.stride())}, contiguous {answer}")
    return x
