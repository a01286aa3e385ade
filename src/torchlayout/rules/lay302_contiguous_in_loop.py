"""LAY302: a `.contiguous()` that copies on every turn of a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import Example, Rule

if TYPE_CHECKING:
    from torchlayout.interp.trace import Site
    from torchlayout.rules.finding import Finding
    from torchlayout.rules.seen import Seen


class ContiguousInLoop(Rule):
    """## What it does
    Reports `contiguous()` that copies, or may copy, on every turn of a loop or comprehension, or in a function that is
    called for every item (a `collate_fn`, a Dataset's `__getitem__`, the function of a `map`). The message says which,
    and how many elements each turn copies where that is known.

    ## Why is this bad?
    A copy in a loop is paid for on every turn. Often the batch as a whole can be turned and packed once after the
    loop, or what comes next (`torch.stack`, `reshape`, a matrix product) takes strided tensors and copies anyway. And
    sometimes the copy is right where it is: then say so with `# noqa: LAY302`.

    ## Example
    ```python
    import torch


    def collate_fn(batch):
        images = [item["image"].permute(2, 0, 1) for item in batch]
        return torch.stack([image.contiguous() for image in images])


    collate_fn([{"image": torch.rand(4, 5, 3)}, {"image": torch.rand(4, 5, 3)}])
    ```

    ## Use instead
    ```python
    import torch


    def collate_fn(batch):
        images = [item["image"].permute(2, 0, 1) for item in batch]
        return torch.stack(images)


    collate_fn([{"image": torch.rand(4, 5, 3)}, {"image": torch.rand(4, 5, 3)}])
    ```

    ## What it cannot see
    How many turns the loop takes, and loops in other functions around this one. A tensor of which nothing is known is
    taken to be contiguous, so that packing it is not reported. How often a test holds: what stands under one for None,
    for membership, of a count (`i == 0`, `step % 100 == 0`) or of a flag that the loop sets is left alone.

    ## References
    - [torch.Tensor.contiguous](https://pytorch.org/docs/stable/generated/torch.Tensor.contiguous.html)
    - [torch.utils.data: collate_fn](https://pytorch.org/docs/stable/data.html#working-with-collate-fn)
    """

    code, name = "LAY302", "contiguous-in-loop"
    words = (".contiguous",)
    invalid = (
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
            note="a strided tensor, packed anew on every turn",
        ),
        Example(
            """\
import torch


def turned(tables):
    return [table.permute(1, 0).contiguous() for table in tables]  # LAY302


turned([torch.randn(3, 4), torch.randn(3, 4)])
""",
            note="in a comprehension",
        ),
    )
    valid = (
        Example(
            """\
import torch


def shards(x, parts):
    return list(x.chunk(parts, dim=0))


shards(torch.randn(8, 3), 2)
""",
            note="parts of the outermost dimension are packed",
        ),
    )
    near_misses = (
        Example(
            """\
import torch


def pack_all(tensors):
    return [tensor.contiguous() for tensor in tensors]


pack_all([torch.randn(3, 4)])
""",
            note="nothing tells that these tensors are strided",
        ),
        Example(
            """\
import torch


def first_large(tensors):
    for tensor in tensors:
        if tensor.size(0) > 2:
            return tensor.t().contiguous()


first_large([torch.randn(3, 4)])
""",
            note="in a loop, but returned: it runs once",
        ),
        Example(
            """\
import torch


def scores(queries, keys):
    cache = {}
    out = []
    for query in queries:
        if "turned" not in cache:
            cache["turned"] = keys.transpose(0, 1).contiguous()
        out.append(query @ cache["turned"])
    return out


scores(torch.randn(2, 3, 4), torch.randn(5, 4))
""",
            note="a cache that the first turn fills",
        ),
        Example(
            """\
import torch


def blocks(x, layers):
    first = True
    for layer in layers:
        if first:
            x = x.transpose(0, 1).contiguous()
            first = False
        x = layer(x)
    return x


blocks(torch.randn(3, 4), [torch.tanh, torch.sin])
""",
            note="a flag that the first turn takes down",
        ),
        Example(
            """\
import torch


def blocks(x, layers):
    for i, layer in enumerate(layers):
        if i == 0:
            x = x.transpose(0, 1).contiguous()
        x = layer(x)
    return x


blocks(torch.randn(3, 4), [torch.tanh, torch.sin])
""",
            note="on the first turn only",
        ),
        Example(
            """\
import torch


def blocks(x, layers, turned):
    for layer in layers:
        x = layer(x)
        if turned:
            x = x.transpose(0, 1).contiguous()  # LAY302
    return x


blocks(torch.randn(3, 4), [torch.tanh, torch.sin], True)
""",
            note="a mode that the loop does not change: on every turn, or on none",
        ),
    )

    def check(self, seen: Seen) -> Iterator[Finding]:
        from torchlayout.rules.lay301_contiguous_of_invariant_in_loop import usually_packed
        from torchlayout.rules.seen import assumed_cases, innermost_loop
        from torchlayout.rules.turns import is_passed_by

        guarded = {guard.span for guard in seen.trace.guards}  # LAY205 speaks of these
        for site in seen.packing():
            if site.span in guarded:
                continue
            known = any(case.operand() is not None for _, case in assumed_cases(site))
            if not known or innermost_loop(site) is None or usually_packed(site):
                continue
            if not leaves(seen, site) and not is_passed_by(seen, site):
                yield self.finding(seen, site)

    def finding(self, seen: Seen, site: Site) -> Finding:
        from torchlayout.rules import loops, tell
        from torchlayout.rules.finding import Finding

        visit = site.relevant()[0]
        origin = visit.origins.get("self")
        copied = loops.what_is_copied(site)
        message = (
            f"`contiguous()` {copied} on every turn {loops.of_the_loop(visit)}: `{visit.text}` is strided"
            f"{tell.made_by(origin, seen.trace.path)}; turn and pack the whole once, if what follows needs it packed"
        )
        return Finding(self.code, message, site.span, tell.history(origin, seen.trace.path, site.span))


def leaves(seen: Seen, site: Site) -> bool:
    """Whether a `for` or `while` loop ends with the copy: it is returned, and nothing else."""
    visits = site.relevant()
    if any(visit.loop is None or visit.loop.kind not in ("for", "while") for visit in visits):
        return False
    uses = seen.uses_through_views(site.key)
    return bool(uses) and all(use.how == "returned" for use in uses or ())
