"""LAY303: a reshape or flatten that copies on every turn of a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import Example, Rule

if TYPE_CHECKING:
    from torchlayout.interp.trace import Site
    from torchlayout.rules.finding import Finding
    from torchlayout.rules.seen import Seen

RESHAPES = ("reshape", "flatten", "reshape_as", "ravel")


class CopyingReshapeInLoop(Rule):
    """## What it does
    Reports `reshape`, `flatten`, `reshape_as` and `ravel` that copy on every turn of a loop or comprehension, or for
    every item in a function such as a `collate_fn`, because the shape cannot be had as a view.

    ## Why is this bad?
    A reshape does not show that it copies. In a loop the copy is paid for on every turn; often the tensor can be turned
    and packed once before the loop, or the dimensions kept in an order in which the reshape is a view.

    ## Example
    ```python
    import torch


    def project(x, weights):
        b, t, h, d = x.shape
        out = []
        for weight in weights:
            out.append(x.transpose(1, 2).reshape(b, -1) @ weight)
        return out
    ```

    ## Use instead
    ```python
    import torch


    def project(x, weights):
        b, t, h, d = x.shape
        flat = x.transpose(1, 2).reshape(b, -1)
        return [flat @ weight for weight in weights]
    ```

    ## What it cannot see
    Loops in other functions around this one. Of a tensor of which nothing is known it is not said that its reshape
    copies. How often a test holds: what stands under one for None, for membership, of a count (`step % 100 == 0`) or
    of a flag that the loop sets is left alone.

    ## References
    - [torch.reshape](https://pytorch.org/docs/stable/generated/torch.reshape.html)
    """

    code, name = "LAY303", "copying-reshape-in-loop"
    words = tuple(f".{name}( with for while collate map __getitem__ if looped" for name in RESHAPES)
    invalid = (
        Example(
            """\
import torch


def project(x, weights):
    b, t, h, d = x.shape
    out = []
    for weight in weights:
        out.append(x.transpose(1, 2).reshape(b, -1) @ weight)  # LAY303
    return out


project(torch.randn(2, 3, 4, 5), [torch.randn(60, 2), torch.randn(60, 2)])
""",
            note="the same copy for every weight",
        ),
    )
    valid = (
        Example(
            """\
import torch


def project(x, weights):
    b, t, h, d = x.shape
    flat = x.transpose(1, 2).reshape(b, -1)
    return [flat @ weight for weight in weights]


project(torch.randn(2, 3, 4, 5), [torch.randn(60, 2), torch.randn(60, 2)])
""",
            note="copied once",
        ),
    )
    near_misses = (
        Example(
            """\
import torch


def halves(x):
    b, t, c = x.shape
    return [part.reshape(-1, 2) for part in x.chunk(2, dim=0)]


halves(torch.randn(4, 3, 2))
""",
            note="parts of the outermost dimension are contiguous: a view",
        ),
        Example(
            """\
import torch


def train(x, steps):
    for step in range(steps):
        x = torch.tanh(x)
        if step % 100 == 0:
            print(x.transpose(0, 1).reshape(-1).tolist())


train(torch.randn(2, 3), 3)
""",
            note="on every hundredth turn",
        ),
    )

    def check(self, seen: Seen) -> Iterator[Finding]:
        from torchlayout.rules.lay302_contiguous_in_loop import leaves
        from torchlayout.rules.seen import copies, innermost_loop, usually
        from torchlayout.rules.turns import is_passed_by

        for site in seen.named(*RESHAPES):
            if innermost_loop(site) is None or not usually(site, copies):
                continue
            if not leaves(seen, site) and not is_passed_by(seen, site):
                yield self.finding(seen, site)

    def finding(self, seen: Seen, site: Site) -> Finding:
        from torchlayout.rules import loops, tell
        from torchlayout.rules.finding import Finding

        visit = site.relevant()[0]
        origin, here = visit.origins.get("self"), seen.trace.path
        message = (
            f"`{site.name}` {loops.what_is_copied(site)} on every turn {loops.of_the_loop(visit)}: "
            f"{why_it_copies(site, here)}; turn and copy the whole once"
        )
        return Finding(self.code, message, site.span, tell.history(origin, here, site.span))


def why_it_copies(site: Site, here: str) -> str:
    """The layout over which no view exists, and where it came from."""
    from torchlayout.rules import tell
    from torchlayout.rules.seen import assumed_cases, copies

    visit, case = next(((v, c) for v, c in assumed_cases(site) if copies(c)), assumed_cases(site)[0])
    operand = case.operand()
    layout = tell.layout_text(operand, case.facts) if operand is not None else "its layout"
    shape = tell.wanted_shape(case, site.name)
    what = f"no view of shape {shape} exists over" if shape else "no such view exists over"
    return f"{what} {layout}{tell.made_by(visit.origins.get('self'), here)}"
