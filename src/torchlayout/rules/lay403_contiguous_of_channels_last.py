"""LAY403: `.contiguous()` that throws away channels_last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import Example, Rule

if TYPE_CHECKING:
    from torchlayout.interp.trace import Case, Site
    from torchlayout.rules.finding import Finding
    from torchlayout.rules.seen import Seen


class ContiguousOfChannelsLast(Rule):
    """## What it does
    Reports `contiguous()` without a memory format on a tensor that is dense in channels_last (or channels_last_3d),
    where the result is not just flattened. Advice, off by default.

    ## Why is this bad?
    The tensor is dense as it is. The call copies it into the default order, and convolutions after it run in that
    order, or turn everything back: on hardware for which channels_last was chosen this costs more than the copy.

    ## Example
    ```python
    import torch

    images = torch.rand(2, 3, 8, 8).to(memory_format=torch.channels_last)
    scaled = images.contiguous() * 2
    ```

    ## Use instead
    ```python
    import torch

    images = torch.rand(2, 3, 8, 8).to(memory_format=torch.channels_last)
    scaled = images * 2
    ```

    ## What it cannot see
    That the default order is wanted from here on, for a layer that runs better in it.

    ## References
    - [Channels last memory format](https://pytorch.org/tutorials/intermediate/memory_format_tutorial.html)
    """

    code, name = "LAY403", "contiguous-of-channels-last"
    words = (".contiguous",)
    beside = ("channels_last", "permute", "transpose", "movedim", "Conv", "conv", "rearrange")
    invalid = (
        Example(
            """\
import torch

images = torch.rand(2, 3, 8, 8).to(memory_format=torch.channels_last)
packed = images.contiguous()  # LAY403
""",
            note="dense already, in another order",
        ),
    )
    valid = (
        Example(
            """\
import torch

images = torch.rand(2, 3, 8, 8).permute(0, 1, 3, 2)
packed = images.contiguous(memory_format=torch.channels_last)
""",
            note="packed in the format that is wanted",
        ),
    )
    near_misses = (
        Example(
            """\
import torch

images = torch.rand(2, 3, 8, 8).to(memory_format=torch.channels_last)
rows = images.contiguous().view(2, -1)
""",
            note="flattened right after: the order of the elements is what is asked for",
        ),
    )

    def check(self, seen: Seen) -> Iterator[Finding]:
        from torchlayout.rules.seen import usually

        for site in seen.packing():
            if usually(site, loses_format) and not _only_flattened(seen, site):
                yield self.finding(seen, site)

    def finding(self, seen: Seen, site: Site) -> Finding:
        from torchlayout.rules import tell
        from torchlayout.rules.finding import Finding

        visit = site.relevant()[0]
        origin, operand = visit.origins.get("self"), visit.assumed[0].operand()
        form = "channels_last_3d" if operand is not None and operand.layout.rank == 5 else "channels_last"
        message = (
            f"`contiguous()` throws away {form}: `{visit.text}` is dense in that format"
            f"{tell.made_by(origin, seen.trace.path)}; keep it with `memory_format=torch.{form}`"
        )
        related = tell.history(origin, seen.trace.path, site.span)
        drawing = tell.drawing(visit, visit.assumed[0], "contiguous()")
        return Finding(self.code, message, site.span, related, drawing=drawing)


def loses_format(case: Case) -> bool:
    """Whether a tensor in channels_last is copied into the default order."""
    from torchlayout.layouts import is_channels_last, is_contiguous
    from torchlayout.ops import MemoryFormat
    from torchlayout.rules.seen import format_asked
    from torchlayout.sizes import NO, YES

    operand = case.operand()
    if operand is None or operand.layout.rank not in (4, 5) or format_asked(case) is not MemoryFormat.CONTIGUOUS:
        return False
    return is_channels_last(operand.layout, case.facts) is YES and is_contiguous(operand.layout, case.facts) is NO


def _only_flattened(seen: Seen, site: Site) -> bool:
    """Whether nothing but views into other shapes takes the result."""
    uses = [use for use in seen.uses(site.key) if use.how != "read"]
    return bool(uses) and all(
        use.how == "operand" and use.name in ("view", "view_as", "reshape", "flatten") for use in uses
    )
