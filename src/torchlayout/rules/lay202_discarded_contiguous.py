"""LAY202: the result of `.contiguous()` thrown away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import Example, Rule

if TYPE_CHECKING:
    from torchlayout.interp.trace import Site
    from torchlayout.rules.finding import Finding, Fix
    from torchlayout.rules.seen import Seen


class DiscardedContiguous(Rule):
    """## What it does
    Reports `x.contiguous()` as a statement of its own.

    ## Why is this bad?
    `contiguous()` returns a packed tensor and leaves the one it is called on as it was. A statement that throws the
    result away makes a copy at most, and changes nothing: what follows still sees the strided tensor.

    ## Example
    ```python
    import torch

    frame = torch.rand(4, 5, 3).permute(2, 0, 1)
    frame.contiguous()
    flat = frame.reshape(-1)
    ```

    ## Use instead
    ```python
    import torch

    frame = torch.rand(4, 5, 3).permute(2, 0, 1)
    frame = frame.contiguous()
    flat = frame.view(-1)
    ```

    ## What it cannot see
    Objects that are no tensors but have such a method: where nothing tells that the object is a tensor, nothing is
    reported.

    ## Fix safety
    The fix assigns the result to the name. It is unsafe: later code then works on the copy, so that writes no longer
    reach the original. It is offered for plain names and attributes.

    ## References
    - [torch.Tensor.contiguous](https://pytorch.org/docs/stable/generated/torch.Tensor.contiguous.html)
    """

    code, name = "LAY202", "discarded-contiguous"
    words = (".contiguous",)
    fixable = True
    invalid = (
        Example(
            """\
import torch

frame = torch.rand(4, 5, 3).permute(2, 0, 1)
frame.contiguous()  # LAY202
flat = frame.reshape(-1)
""",
            fixed=[("\nframe.contiguous()", "\nframe = frame.contiguous()")],
            note="`frame` is as strided as before",
        ),
    )
    valid = (
        Example(
            """\
import torch

frame = torch.rand(4, 5, 3).permute(2, 0, 1)
frame = frame.contiguous()
flat = frame.view(-1)
""",
            note="the result is kept",
        ),
    )
    near_misses = (
        Example(
            """\
import torch


class Column:
    def __init__(self, values):
        self.values = torch.tensor(values)

    def contiguous(self):
        self.values = self.values.sort().values
        return self


column = Column([3, 1, 2])
column.contiguous()
""",
            note="a method of that name on something else",
        ),
    )

    def check(self, seen: Seen) -> Iterator[Finding]:
        from torchlayout.rules import tell
        from torchlayout.rules.finding import Finding

        for site in seen.packing():
            visits = site.relevant()
            if not visits or not all(visit.discarded for visit in visits):
                continue
            if not any(case.operand() is not None for visit in visits for case in visit.assumed):
                continue
            text = visits[0].text
            message = (
                f"the result of `contiguous()` is thrown away: it returns a packed copy and leaves `{text}` as it is; "
                f"assign it, or take the statement away"
            )
            origin = visits[0].origins.get("self")
            related = tell.history(origin, seen.trace.path, site.span)
            yield Finding(self.code, message, site.span, related, _keep(seen, site))


def _keep(seen: Seen, site: Site) -> Fix | None:
    """`x.contiguous()` to `x = x.contiguous()`, for a receiver that can be assigned to and evaluated twice."""
    import re

    from torchlayout.rules import edits, mend
    from torchlayout.rules.finding import Fix, Safety

    call = mend.call_at(seen, site.key)
    if call is None or call.receiver is None or not call.discarded:
        return None
    target = seen.unit.source.slice(call.receiver)
    if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", target):
        return None
    return Fix("Assign the result", edits.assign_result(call.statement, target), Safety.UNSAFE)
