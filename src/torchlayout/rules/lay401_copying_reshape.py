"""LAY401: a reshape or flatten that copies silently."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import Example, Rule
from torchlayout.rules.lay303_copying_reshape_in_loop import RESHAPES

if TYPE_CHECKING:
    from torchlayout.interp.trace import Site
    from torchlayout.rules.finding import Finding
    from torchlayout.rules.seen import Seen


class CopyingReshape(Rule):
    """## What it does
    Reports `reshape`, `flatten`, `reshape_as` and `ravel` that copy, always or on some path, because the shape cannot
    be had as a view. Advice, off by default.

    ## Why is this bad?
    It need not be: the copy may be what is wanted. But nothing in the text shows it, and whoever writes to the result,
    or counts on its memory, should know. This rule makes the copies of a file visible.

    ## Example
    ```python
    import torch


    def merge_heads(x):
        b, h, t, d = x.shape
        return x.transpose(1, 2).reshape(b, t, h * d)
    ```

    ## Use instead
    ```python
    import torch


    def merge_heads(x):
        b, h, t, d = x.shape
        return x.transpose(1, 2).contiguous().view(b, t, h * d)
    ```

    ## What it cannot see
    Tensors of which nothing is known are taken to be contiguous, so that their reshape is a view.

    ## References
    - [torch.reshape](https://pytorch.org/docs/stable/generated/torch.reshape.html)
    """

    code, name = "LAY401", "copying-reshape"
    words = tuple(f".{name}(" for name in RESHAPES)
    invalid = (
        Example(
            """\
import torch


def merge_heads(x):
    b, h, t, d = x.shape
    return x.transpose(1, 2).reshape(b, t, h * d)  # LAY401


merge_heads(torch.randn(2, 3, 5, 4))
""",
            note="the copy that merging heads costs",
        ),
    )
    valid = (
        Example(
            """\
import torch


def split_heads(x):
    b, t, c = x.shape
    return x.reshape(b, t, 4, c // 4).transpose(1, 2)


split_heads(torch.randn(2, 3, 8))
""",
            note="splitting a dimension is a view",
        ),
    )
    near_misses = (
        Example(
            """\
import torch

x = torch.randn(2, 3, 20)
x.permute(0, 2, 1).reshape(2, 4, 5, 3)
""",
            note="not contiguous, and still a view",
        ),
    )

    def check(self, seen: Seen) -> Iterator[Finding]:
        from torchlayout.rules.seen import copies, sometimes

        for site in seen.named(*RESHAPES):
            if sometimes(site, copies):
                yield self.finding(seen, site)

    def finding(self, seen: Seen, site: Site) -> Finding:
        from torchlayout.rules import loops, tell
        from torchlayout.rules.finding import Finding
        from torchlayout.rules.lay303_copying_reshape_in_loop import why_it_copies

        here = seen.trace.path
        message = f"`{site.name}` {loops.what_is_copied(site)}: {why_it_copies(site, here)}"
        origin = site.relevant()[0].origins.get("self")
        return Finding(self.code, message, site.span, tell.history(origin, here, site.span))
