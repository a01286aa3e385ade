"""LAY301: `.contiguous()` in a loop on a tensor that the loop does not change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import Example, Rule

if TYPE_CHECKING:
    from torchlayout.interp.trace import Site
    from torchlayout.rules.finding import Finding
    from torchlayout.rules.seen import Seen


class ContiguousOfInvariantInLoop(Rule):
    """## What it does
    Reports `contiguous()` in a `for` or `while` loop or in a comprehension, on a tensor that is the same and unchanged
    on every turn, where one copy before the loop would serve all turns.

    ## Why is this bad?
    The same elements are copied again on every turn: memory traffic and an allocation, for a result that is equal
    each time. In a decoding or training loop this adds up to more than the arithmetic it prepares.

    ## Example
    ```python
    import torch


    def decode(up_proj, latents, steps):
        for _ in range(steps):
            absorbed = up_proj.transpose(1, 2).contiguous()
            latents = torch.tanh(torch.bmm(latents, absorbed))
        return latents
    ```

    ## Use instead
    ```python
    import torch


    def decode(up_proj, latents, steps):
        absorbed = up_proj.transpose(1, 2).contiguous()
        for _ in range(steps):
            latents = torch.tanh(torch.bmm(latents, absorbed))
        return latents
    ```

    ## What it cannot see
    Loops around the function: a copy that every call of a method makes anew is not in a loop here. Where the copy is
    kept (appended, returned, stored), written to, or given to a function that is not known, each turn may need a copy
    of its own, and LAY302 speaks instead. How often a test holds: what stands under one for None, for membership, of
    a count (`i == 0`) or of a flag that the loop sets is taken to be copied once, or now and then, and left alone.

    ## Fix safety
    The fix moves the copy in front of the loop. It is unsafe: the copy is then also made for a loop that takes no
    turn, and memory is held for the whole loop. There is none where a turn may pass the copy by, under a condition,
    in a `try` or `with`, or after a `continue`: in front of the loop the tensor may not be there yet.

    ## References
    - [torch.Tensor.contiguous](https://pytorch.org/docs/stable/generated/torch.Tensor.contiguous.html)
    """

    code, name = "LAY301", "contiguous-of-invariant-in-loop"
    words = (".contiguous",)
    fixable = True
    invalid = (
        Example(
            """\
import torch


def decode(up_proj, latents, steps):
    for _ in range(steps):
        absorbed = up_proj.transpose(1, 2).contiguous()  # LAY301
        latents = torch.tanh(torch.bmm(latents, absorbed))
    return latents


decode(torch.randn(4, 8, 8), torch.randn(4, 2, 8), 3)
""",
            fixed=[
                (
                    "    for _ in range(steps):\n        absorbed = up_proj.transpose(1, 2).contiguous()\n",
                    "    absorbed = up_proj.transpose(1, 2).contiguous()\n    for _ in range(steps):\n",
                )
            ],
            note="the same projection on every step",
        ),
        Example(
            """\
import torch

weight = torch.randn(4, 3).t()
sums = [float((weight.contiguous() * step).sum()) for step in range(3)]  # LAY301
""",
            fixed=[
                (
                    "sums = [float((weight.contiguous() *",
                    "weight_contiguous = weight.contiguous()\nsums = [float((weight_contiguous *",
                )
            ],
            note="in a comprehension",
        ),
    )
    valid = (
        Example(
            """\
import torch


def decode(up_proj, latents, steps):
    absorbed = up_proj.transpose(1, 2).contiguous()
    for _ in range(steps):
        latents = torch.tanh(torch.bmm(latents, absorbed))
    return latents


decode(torch.randn(4, 8, 8), torch.randn(4, 2, 8), 3)
""",
            note="packed once",
        ),
    )
    near_misses = (
        Example(
            """\
import torch


def blocks(x, layers):
    for layer in layers:
        x = layer(x).transpose(0, 1)
        x = x.contiguous()  # LAY302
    return x


blocks(torch.randn(3, 3), [torch.tanh, torch.sin])
""",
            note="a new tensor on every turn",
        ),
        Example(
            """\
import torch

base = torch.randn(3, 4).t()
copies = []
for step in range(3):
    own = base.contiguous()  # LAY302
    own.mul_(step)
    copies.append(own)
""",
            note="each turn writes into a copy of its own",
        ),
        Example(
            """\
import torch


def decode(up_proj, latents, steps):
    absorbed = None
    for _ in range(steps):
        if absorbed is None:
            absorbed = up_proj.transpose(1, 2).contiguous()
        latents = torch.tanh(torch.bmm(latents, absorbed))
    return latents, absorbed


decode(torch.randn(4, 8, 8), torch.randn(4, 2, 8), 3)
""",
            note="packed on the first turn only",
        ),
        Example(
            """\
import torch


class Decoder:
    def __init__(self, up_proj):
        self.up_proj = up_proj
        self.absorbed = None

    def decode(self, latents, steps):
        for _ in range(steps):
            if self.absorbed is None:
                self.absorbed = self.up_proj.transpose(1, 2).contiguous()
            latents = torch.tanh(torch.bmm(latents, self.absorbed))
        return latents


Decoder(torch.randn(4, 8, 8)).decode(torch.randn(4, 2, 8), 3)
""",
            note="packed once, and kept in the module",
        ),
    )

    def check(self, seen: Seen) -> Iterator[Finding]:
        from torchlayout.rules.turns import is_passed_by

        for site in seen.packing():
            # Where it hardly ever copies, there is nothing to gain.
            if is_hoistable(seen, site) and not usually_packed(site) and not is_passed_by(seen, site):
                yield self.finding(seen, site)

    def finding(self, seen: Seen, site: Site) -> Finding:
        from torchlayout.rules import loops, tell
        from torchlayout.rules.finding import Finding
        from torchlayout.rules.hoisting import hoist

        visit = site.relevant()[0]
        copied = loops.what_is_copied(site)
        message = (
            f"`contiguous()` {copied} on every turn {loops.of_the_loop(visit)}, and `{visit.text}` does not change in "
            f"it; pack it once in front of the loop"
        )
        related = tell.history(visit.origins.get("self"), seen.trace.path, site.span)
        return Finding(self.code, message, site.span, related, hoist(seen, site))


def usually_packed(site: Site) -> bool:
    """Whether, inputs being contiguous, the call never copies."""
    from torchlayout.rules.seen import assumed_cases, is_packed
    from torchlayout.sizes import YES

    cases = assumed_cases(site)
    return bool(cases) and all(is_packed(case) is YES for _, case in cases)


def is_hoistable(seen: Seen, site: Site) -> bool:
    """Whether one copy in front of the loop would do: same tensor on every turn, and no turn keeps or changes it."""
    from torchlayout.rules.kept import may_be_kept_unseen

    visits = list(site.visits.values())
    if not visits or not all(v.loop is not None and v.loop.kind != "call" and v.unchanged_in_loop for v in visits):
        return False
    uses = seen.uses_through_views(site.key)
    if uses is None or may_be_kept_unseen(seen, site):
        return False
    return all(use.how in ("operand", "contents", "read") and not seen.is_write(use) for use in uses)
