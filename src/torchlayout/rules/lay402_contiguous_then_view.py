"""LAY402: `.contiguous().view(...)`, which `.reshape(...)` says in one word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import Example, Rule

if TYPE_CHECKING:
    from torchlayout.interp.trace import Site
    from torchlayout.rules.finding import Finding, Fix
    from torchlayout.rules.seen import Seen


class ContiguousThenView(Rule):
    """## What it does
    Reports `.contiguous().view(...)` where nothing else uses the packed tensor. Advice, off by default.

    ## Why is this bad?
    `.reshape(...)` gives the same elements, and copies only when the shape cannot be had as a view. The message says
    whether the copy is made all the same: then the change saves a word, not a copy. Some teams prefer the explicit
    `contiguous()`, so that copies can be seen; leave this rule off there.

    ## Example
    ```python
    import torch


    def merge_heads(x):
        b, h, t, d = x.shape
        return x.transpose(1, 2).contiguous().view(b, t, h * d)
    ```

    ## Use instead
    ```python
    import torch


    def merge_heads(x):
        b, h, t, d = x.shape
        return x.transpose(1, 2).reshape(b, t, h * d)
    ```

    ## What it cannot see
    Whether code that is not read counts on a packed result: `reshape` may return a strided view. Where the result is
    written to in place nothing is proposed, because the write would go to another memory then.

    ## Fix safety
    Safe where the copy must be made all the same, for then the result is packed as before. Else unsafe: the result may
    be a view of the original, and strided.

    ## References
    - [torch.reshape](https://pytorch.org/docs/stable/generated/torch.reshape.html)
    """

    code, name = "LAY402", "contiguous-then-view"
    words = (".contiguous with .view .view_as",)
    fixable = True
    invalid = (
        Example(
            """\
import torch


def merge_heads(x):
    b, h, t, d = x.shape
    return x.transpose(1, 2).contiguous().view(b, t, h * d)  # LAY402


merge_heads(torch.randn(2, 3, 5, 4))
""",
            fixed=[(".contiguous().view(b, t", ".reshape(b, t")],
            note="the copy must be made all the same",
        ),
    )
    valid = (
        Example(
            """\
import torch


def merge_heads(x):
    b, h, t, d = x.shape
    return x.transpose(1, 2).reshape(b, t, h * d)


merge_heads(torch.randn(2, 3, 5, 4))
""",
            note="in one word",
        ),
    )
    near_misses = (
        Example(
            """\
import torch

def raised(x):
    flat = x.t().contiguous().view(-1)
    flat.add_(1)
    return flat


raised(torch.zeros(3, 4))
""",
            note="written to: which memory it is matters",
        ),
        Example(
            """\
import torch

x = torch.randn(3, 4).t()
packed = x.contiguous()
flat, table = packed.view(-1), packed.view(2, 6)
""",
            note="packed once for two views",
        ),
    )

    def check(self, seen: Seen) -> Iterator[Finding]:
        for site in seen.packing():
            user = seen.only_user(site)
            view = seen.site(user) if user is not None else None
            if view is not None and view.name in ("view", "view_as") and seen.only_maker(view) is site:
                if takes_shape(view) and not seen.is_written(view.key):
                    yield self.finding(seen, site, view)

    def finding(self, seen: Seen, site: Site, view: Site) -> Finding:
        from torchlayout.rules import mend, tell
        from torchlayout.rules.finding import Finding, Related
        from torchlayout.rules.whatif import copy_is_needed

        lenient = mend.LENIENT[view.name]
        needed = copy_is_needed(site, view)
        if needed:
            then = "which makes the same copy, since no such view exists over the strided tensor"
        else:
            then = "which copies only when it must"
        message = f"`contiguous().{view.name}(...)` is `{lenient}(...)`, {then}"
        origin = site.relevant()[0].origins.get("self")
        related = (Related(view.span, f"`{view.name}` here"), *tell.history(origin, seen.trace.path, site.span))
        return Finding(self.code, message, site.span, related, _in_one(seen, site, view))


def takes_shape(view: Site) -> bool:
    """Whether it is a view of a shape; `view(dtype)` has no lenient twin."""
    return all("dtype" not in case.bound for visit in view.visits.values() for case in visit.assumed)


def _in_one(seen: Seen, site: Site, view: Site) -> Fix | None:
    """`x.contiguous().view(s)` to `x.reshape(s)`, where they are one chain."""
    from torchlayout.rules import edits, mend
    from torchlayout.rules.finding import Fix, Safety
    from torchlayout.rules.whatif import copy_is_needed

    packing, viewing = mend.call_at(seen, site.key), mend.call_at(seen, view.key)
    if packing is None or viewing is None or viewing.receiver != packing.call or packing.receiver is None:
        return None
    if packing.arguments:
        return None
    safe = copy_is_needed(site, view, proven=True)
    dropped = edits.delete_method_call(seen.unit.source, packing.suffix)
    renamed = edits.replace_name(viewing.name, mend.LENIENT[view.name])
    title = f"Use `{mend.LENIENT[view.name]}`"
    return Fix(title, (*dropped, *renamed), Safety.SAFE if safe else Safety.UNSAFE)
