"""LAY103: reinterpreting memory that is not dense in the last dimension."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import Example, Rule

if TYPE_CHECKING:
    from torchlayout.interp.trace import Case, Site, Visit
    from torchlayout.rules.finding import Finding
    from torchlayout.rules.seen import Seen


class ReinterpretOfStrided(Rule):
    """## What it does
    Reports `view(dtype)` with a dtype of another size, and `view_as_complex`, of a tensor whose last dimension does
    not have stride 1 (or whose other strides the new size does not divide).

    ## Why is this bad?
    Both read the same bytes as other elements. Bytes that belong together must then lie next to each other; where they
    do not, torch raises `self.stride(-1) must be 1 to view Float as Byte` or `Tensor must have a last dimension with
    stride 1`. A dtype of the same size, and a tensor that is strided in other dimensions only, are fine.

    ## Example
    ```python
    import torch

    halves = torch.rand(6, 2, 4)
    pairs = torch.view_as_complex(halves.transpose(1, 2))
    ```

    ## Use instead
    ```python
    import torch

    halves = torch.rand(6, 2, 4)
    pairs = torch.view_as_complex(halves.transpose(1, 2).contiguous())
    ```

    ## What it cannot see
    A dtype held in a variable whose value is not known, and tensors whose dtype is not known: then it is open whether
    the size of the elements changes. Strides of dimensions of size 1 count for torch here, but are not followed.

    ## Fix safety
    The fix packs the tensor first. It is unsafe: it copies where the program raised, and what is written to the result
    no longer reaches the original.

    ## References
    - [torch.Tensor.view(dtype)](https://pytorch.org/docs/stable/generated/torch.Tensor.view.html)
    - [torch.view_as_complex](https://pytorch.org/docs/stable/generated/torch.view_as_complex.html)
    """

    code, name = "LAY103", "reinterpret-of-strided"
    words = (".view(", "view_as_complex(")
    fixable = True
    invalid = (
        Example(
            """\
import torch

table = torch.randn(2, 3).t()
table.view(torch.uint8)  # LAY103
""",
            fixed=[("table.view(", "table.contiguous().view(")],
            note="bytes of a transposed table",
        ),
        Example(
            """\
import torch

pairs = torch.rand(6, 2, 4).transpose(1, 2)
torch.view_as_complex(pairs)  # LAY103
""",
            fixed=[("view_as_complex(pairs)", "view_as_complex(pairs.contiguous())")],
            note="real and imaginary parts do not lie in pairs",
        ),
    )
    valid = (
        Example(
            """\
import torch

table = torch.randn(2, 3).t()
table.contiguous().view(torch.uint8)
torch.view_as_complex(torch.rand(6, 4, 2))
""",
            note="the last dimension is dense",
        ),
    )
    near_misses = (
        Example(
            """\
import torch

table = torch.randn(2, 3).t()
table.view(torch.int32)
""",
            note="elements of the same size stay where they are",
        ),
        Example(
            """\
import torch

rows = torch.randn(4, 6)[::2]
rows.view(torch.uint8)
""",
            note="gaps between rows do not matter",
        ),
    )

    def check(self, seen: Seen) -> Iterator[Finding]:
        from torchlayout.rules.seen import refusal

        for site in seen.refusing:
            found = refusal(site, "dtype-view")
            if found is not None:
                yield self.finding(seen, site, *found)

    def finding(self, seen: Seen, site: Site, visit: Visit, case: Case, path: str) -> Finding:
        from torchlayout.rules import mend, tell
        from torchlayout.rules.finding import Finding

        here = seen.trace.path
        operand, origin = case.operand(), visit.origins.get("self")
        layout = tell.layout_text(operand, case.facts) if operand is not None else "its layout"
        why = case.refused.message if case.refused is not None else ""
        message = (
            f"`{site.name}` raises{path}{tell.on_path(visit, here)}: {why}; the tensor has {layout}"
            f"{tell.made_by(origin, here)}; make it contiguous first, which copies"
        )
        related = tell.history(origin, here, site.span) + tell.called_from(visit.caller, here)
        fix = mend.pack_operand(seen, site.key) if not seen.is_written(site.key) else None
        return Finding(self.code, message, site.span, related, fix, drawing=tell.drawing(visit, case, site.name))
