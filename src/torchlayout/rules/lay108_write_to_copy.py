"""LAY108: an in-place write into what may be a copy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import Example, Rule
from torchlayout.rules.collectives import WRITTEN, handle_is_dropped, writes_into
from torchlayout.rules.in_place import ASSIGNING, IN_PLACE_WORDS

if TYPE_CHECKING:
    from torchlayout.interp.trace import Site, SiteKey, Use
    from torchlayout.rules.finding import Finding
    from torchlayout.rules.seen import Seen


AUGMENTED = frozenset(f"{op}=" for op in "+ - * / // % ** @ & | ^ << >>".split())
"""`x[mask] += v` stores the changed item back."""


class WriteToCopy(Rule):
    """## What it does
    Reports in-place writes (`add_`, `x[...] = v`, `+=`, `copy_`, `out=`, `nn.init.*`, and those of `dist.all_reduce`,
    `recv`, `irecv` and others that write their result into an argument) into the result of `reshape`, `flatten`,
    `contiguous`, `to` or of indexing with a mask or list, where that result is a copy (always, or on some path) and
    nobody reads it afterwards: the write is lost.

    ## Why is this bad?
    These operations return a view when they can and a copy when they must. A write through the view changes the
    original, a write to the copy changes nothing that anybody sees, and nothing is raised.

    ## Example
    ```python
    import torch

    table = torch.zeros(3, 4)
    table.t().reshape(-1).add_(1)
    ```

    ## Use instead
    ```python
    import torch

    table = torch.zeros(3, 4)
    table.t().add_(1)
    ```

    ## What it cannot see
    Copies whose result is read, returned, stored or given to another function: then the write is not lost, though it
    may still be meant for the original; `broadcast` and `reduce`, whose argument one rank may only send; a collective
    whose handle is used for more than `wait()`. Tensors of which nothing is known are taken to be contiguous, so that
    `x.reshape(-1)` of a bare parameter counts as a view.

    ## References
    - [torch.Tensor.contiguous](https://pytorch.org/docs/stable/generated/torch.Tensor.contiguous.html)
    - [torch.reshape](https://pytorch.org/docs/stable/generated/torch.reshape.html)
    - [torch.distributed](https://pytorch.org/docs/stable/distributed.html)
    - [Tensor views](https://pytorch.org/docs/stable/tensor_view.html)
    """

    code, name = "LAY108", "write-to-copy"
    words = (
        *(f"{word} with .reshape .flatten .ravel .contiguous .to .float ]. if made" for word in IN_PLACE_WORDS),
        *(f"{word} with {ASSIGNING} out= if written" for word in (".reshape(", ".flatten(", ".ravel(", ".contiguous(")),
        *(f"{word}( with .reshape .flatten .ravel .contiguous .to .float ]" for word in WRITTEN),
    )
    source = "copied"
    invalid = (
        Example(
            """\
import torch

table = torch.zeros(3, 4)
table.t().reshape(-1).add_(1)  # LAY108
""",
            note="reshape copies a transposed table",
        ),
        Example(
            """\
import torch

def mark(grid: torch.Tensor):
    rows, columns = grid.shape
    flat = grid.t().flatten()
    flat[0] = 1.0  # LAY108


grid = torch.zeros(3, 4)
mark(grid)
""",
            note="a transposed grid cannot be flattened without a copy",
        ),
        Example(
            """\
import torch

scores = torch.randn(3, 4)
scores[scores < 0].zero_()  # LAY108
""",
            note="indexing with a mask always copies",
        ),
        Example(
            """\
import torch
import torch.distributed as dist


def reduced(x: torch.Tensor, weight: torch.Tensor):
    rows, columns = x.shape
    out = (x @ weight).t()
    dist.all_reduce(out.contiguous())  # LAY108
    return out


dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
try:
    out = reduced(torch.randn(3, 4), torch.randn(4, 2))
finally:
    dist.destroy_process_group()
""",
            note="the sum over all ranks is in the copy, and what is returned is this rank's part",
            needs="torch.distributed",
        ),
    )
    valid = (
        Example(
            """\
import torch

scores = torch.randn(3, 4)
scores[scores < 0] = 0
scores.reshape(-1)[0] = 1.0
""",
            note="assigned through the index, and through a view",
        ),
    )
    near_misses = (
        Example(
            """\
import torch

table = torch.zeros(3, 4)
flat = table.t().reshape(-1)
flat.add_(1)
total = flat.sum()
""",
            note="the copy is what is wanted",
        ),
        Example(
            """\
import torch


def clear(x):
    x.reshape(-1).zero_()


clear(torch.randn(3, 4))
""",
            note="a view, as long as x is contiguous",
        ),
        Example(
            """\
import torch
import torch.distributed as dist


def reduced(x: torch.Tensor):
    rows, columns = x.shape
    out = x.t().contiguous()
    dist.all_reduce(out)
    return out


dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
try:
    out = reduced(torch.randn(3, 4))
finally:
    dist.destroy_process_group()
""",
            note="the copy is kept, and returned",
            needs="torch.distributed",
        ),
    )

    def check(self, seen: Seen) -> Iterator[Finding]:
        from torchlayout.rules.kept import may_be_kept_unseen
        from torchlayout.rules.seen import assumed_cases, copies

        for site in seen.sites:
            cases = [case for _, case in assumed_cases(site) if not case.weak] if _may_copy(site) else []
            copied = [copies(case) for case in cases]
            writes = lost_writes(seen, site.key) if any(copied) else []
            if writes and not may_be_kept_unseen(seen, site):
                for write in writes:
                    if not (site.name == "[]" and write.name in AUGMENTED):
                        yield self.finding(seen, site, write, all(copied))

    def finding(self, seen: Seen, site: Site, write: Use, always: bool) -> Finding:
        from torchlayout.rules import tell
        from torchlayout.rules.finding import Finding, Related
        from torchlayout.rules.seen import assumed_cases, copies

        here = seen.trace.path
        visit, case = next((v, c) for v, c in assumed_cases(site) if copies(c))
        operand, origin = case.operand(), visit.origins.get("self")
        maker = "indexing" if site.name == "[]" else f"`{site.name}`"
        why = f", since its tensor has {tell.layout_text(operand, case.facts)}" if operand and site.name != "[]" else ""
        what = "this assignment" if write.name in ("[]=", "[]") else f"`{write.name}`"
        instead = "write to a view, or assign the result back"
        if writes_into(write.name, write.parameter or ""):
            what = f"what `{write.name.rpartition('.')[2]}` writes"
            instead = "keep the copy by a name, and use that from here on"
        message = (
            f"{what} is lost: {maker} on line {site.span.line} {'copies' if always else 'copies on some path'}{why}, "
            f"and nobody reads the copy; {instead}"
        )
        related = (Related(site.span, f"{maker} copies here"), *tell.history(origin, here, site.span))
        return Finding(self.code, message, write.by[1], related)


def _may_copy(site: Site) -> bool:
    """Whether an operation gives a view when it can and a copy when it must."""
    from torchlayout.ops import Alias

    return site.name == "[]" or any(visit.op.alias is Alias.MAYBE_VIEW for visit in site.visits.values())


def lost_writes(seen: Seen, key: SiteKey) -> list[Use]:
    """The writes to a value that nobody reads, in order; none where somebody does, or where that is not known."""
    uses = seen.uses_through_views(key)
    if uses is None or key in seen.trace.writes:
        return []
    writes = [use for use in uses if seen.is_write(use)]
    if any(use.how != "read" for use in uses if use not in writes):
        return []
    if any(use.by[0] != seen.trace.path or _result_is_read(seen, use.by) for use in writes):
        return []
    given = [use for use in writes if writes_into(use.name, use.parameter or "")]
    if not all(handle_is_dropped(seen, use.by) for use in given):
        return []
    at = {use.by for use in given}  # such a call counts as a write to all that it is given, too
    return sorted([*given, *(use for use in writes if use.by not in at)], key=lambda use: use.by)


def _result_is_read(seen: Seen, key: SiteKey) -> bool:
    """Whether what a write returns (the tensor itself) is read."""
    uses = seen.uses_through_views(key)
    return uses is None or any(use.how != "read" and not seen.is_write(use) for use in uses)
