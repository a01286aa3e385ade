"""LAY203: two copies where one does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import Example, Rule

if TYPE_CHECKING:
    from torchlayout.interp.trace import Site
    from torchlayout.program.places import CallSite
    from torchlayout.rules.finding import Finding, Fix
    from torchlayout.rules.seen import Seen

TAKES_FORMAT = frozenset({"clone", "to", "float", "double", "half", "bfloat16", "int", "long"})
"""Methods that pack while they copy, given `memory_format=torch.contiguous_format`."""


class TwoCopies(Rule):
    """## What it does
    Reports `.clone().contiguous()`, `.contiguous().clone()`, and `contiguous()` before or after a conversion
    (`.to(dtype)`, `.float()`) that copies anyway, where nothing else uses the copy in between.

    ## Why is this bad?
    `clone` and conversions keep the order of the strides, so a strided tensor is copied twice: once as it is, once
    packed. Each of them packs while it copies when it is asked to by `memory_format`.

    ## Example
    ```python
    import torch

    turned = torch.randn(3, 4).t()
    own = turned.clone().contiguous()
    ```

    ## Use instead
    ```python
    import torch

    turned = torch.randn(3, 4).t()
    own = turned.clone(memory_format=torch.contiguous_format)
    ```

    ## What it cannot see
    Whether a conversion changes anything: `x.to(torch.float32)` of a float32 tensor is x itself, and does not pack it
    either, whatever `memory_format` says. So conversions are reported only where they are known to copy.

    ## Fix safety
    Safe for `clone`, which always copies. For conversions it is safe where they are proved to change the dtype, else
    unsafe. It is offered where `torch` is sure to be the module: imported above the call, and not under a condition
    (`if TYPE_CHECKING:`) or in another function, and bound to nothing else in the file.

    ## References
    - [torch.clone](https://pytorch.org/docs/stable/generated/torch.clone.html)
    - [torch.Tensor.to](https://pytorch.org/docs/stable/generated/torch.Tensor.to.html)
    """

    code, name = "LAY203", "two-copies"
    words = (".contiguous",)
    fixable = True
    invalid = (
        Example(
            """\
import torch

turned = torch.randn(3, 4).t()
own = turned.clone().contiguous()  # LAY203
other = turned.contiguous().clone()  # LAY203
""",
            fixed=[
                ("turned.clone().contiguous()", "turned.clone(memory_format=torch.contiguous_format)"),
                ("turned.contiguous().clone()", "turned.clone(memory_format=torch.contiguous_format)"),
            ],
            note="clone alone, told to pack",
        ),
        Example(
            """\
import torch

counts = torch.arange(12).reshape(3, 4).t()
scaled = counts.float().contiguous()  # LAY203
""",
            fixed=[("counts.float().contiguous()", "counts.float(memory_format=torch.contiguous_format)")],
            note="from integers: the conversion copies for sure",
        ),
    )
    valid = (
        Example(
            """\
import torch

turned = torch.randn(3, 4).t()
own = turned.clone(memory_format=torch.contiguous_format)
""",
            note="one copy, packed",
        ),
    )
    near_misses = (
        Example(
            """\
import torch

turned = torch.randn(3, 4).t()
same = turned.to(torch.float32).contiguous()
""",
            note="the conversion does nothing, so there is one copy only",
        ),
        Example(
            """\
import torch

turned = torch.randn(3, 4).t()
kept = turned.clone()
packed = kept.contiguous()
kept.mul_(2)
""",
            note="the first copy is used for something else",
        ),
    )

    def check(self, seen: Seen) -> Iterator[Finding]:
        for site in seen.packing():
            for first, second in pairs(seen, site):
                yield self.finding(seen, site, first, second)
                break

    def finding(self, seen: Seen, packing: Site, first: Site, second: Site) -> Finding:
        from torchlayout.rules import loops, tell
        from torchlayout.rules.finding import Finding, Related

        other = second if first is packing else first
        twice = (
            "copy twice" if not loops.what_is_copied(packing).startswith("may") else "copy twice, where it is strided,"
        )
        message = (
            f"`{first.name}` and then `{second.name}` {twice} what one copy does: "
            f"use `{other.name}` alone with `memory_format=torch.contiguous_format`"
        )
        origin = packing.relevant()[0].origins.get("self")
        history = tell.history(origin, seen.trace.path, other.span)
        related = (Related(other.span, f"`{other.name}` copies here"), *history)
        return Finding(self.code, message, packing.span, related, _one_copy(seen, packing, other))


def pairs(seen: Seen, packing: Site) -> Iterator[tuple[Site, Site]]:
    """The two sites, in order, where `contiguous()` and another copy follow on each other and nothing else is used."""
    from torchlayout.ops import MemoryFormat
    from torchlayout.rules.seen import format_asked

    if any(format_asked(case) is not MemoryFormat.CONTIGUOUS for v in packing.visits.values() for case in v.assumed):
        return
    before = seen.only_maker(packing)
    if before is not None and seen.only_user(before) == packing.key and _copies_anyway(before):
        yield before, packing
    user = seen.only_user(packing)
    after = seen.site(user) if user is not None else None
    if after is not None and seen.only_maker(after) is packing and _copies_anyway(after):
        yield packing, after


def _copies_anyway(site: Site) -> bool:
    """Whether an operation is a clone, or a conversion that is known to copy, and keeps the order of the strides."""
    from torchlayout.ops import MemoryFormat
    from torchlayout.rules.seen import copies, usually

    cases = [case for visit in site.visits.values() for case in visit.assumed]
    if any(case.bound.get("memory_format") not in (None, MemoryFormat.PRESERVE) for case in cases):
        return False
    return site.name == "clone" or (site.name in TAKES_FORMAT and usually(site, copies))


def _one_copy(seen: Seen, packing: Site, other: Site) -> Fix | None:
    """`x.clone().contiguous()` to `x.clone(memory_format=torch.contiguous_format)`."""
    from torchlayout.rules import edits, imported, mend
    from torchlayout.rules.finding import Edit, Fix, Safety
    from torchlayout.rules.seen import always, copies

    call, copied = mend.call_at(seen, packing.key), mend.call_at(seen, other.key)
    if call is None or copied is None or not _chained(call, copied) or call.arguments:
        return None
    if not imported.stands_for(seen.unit, call.call, "torch", "torch"):
        return None
    end = copied.parentheses
    comma = ", " if copied.arguments else ""
    asked = Edit(
        type(end)(end.end_line, end.end_column - 1, end.end_line, end.end_column - 1),
        f"{comma}memory_format=torch.contiguous_format",
    )
    safe = other.name == "clone" or always(other, copies)
    dropped = edits.delete_method_call(seen.unit.source, call.suffix)
    return Fix("Copy once", (asked, *dropped), Safety.SAFE if safe else Safety.UNSAFE)


def _chained(call: CallSite, other: CallSite) -> bool:
    """Whether one call is the receiver of the other, in one expression."""
    return call.receiver == other.call or other.receiver == call.call
