"""LAY201: `.contiguous()` on a tensor that already is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import Example, Rule

if TYPE_CHECKING:
    from torchlayout.interp.trace import Site
    from torchlayout.rules.finding import Finding
    from torchlayout.rules.seen import Seen


class ContiguousOfContiguous(Rule):
    """## What it does
    Reports `contiguous()` (also with a `memory_format`) on a tensor that is proved to lie in that format already, on
    every path and for every caller.

    ## Why is this bad?
    The call returns the tensor itself: it costs a dispatch each time and tells readers of a copy that is not there.
    Left behind by a refactoring, it hides which of the calls in a chain is the one that counts.

    ## Example
    ```python
    import torch


    def scores(q, k):
        return torch.softmax(q @ k.transpose(-2, -1), dim=-1).contiguous()
    ```

    ## Use instead
    ```python
    import torch


    def scores(q, k):
        return torch.softmax(q @ k.transpose(-2, -1), dim=-1)
    ```

    ## What it cannot see
    That a function's inputs happen to be contiguous: nothing is assumed of them here, so `x.contiguous()` on a bare
    parameter is never reported, however it is called in practice. Results whose layout depends on the device, on the
    backend or on the release of torch are not reported either; see the operator table.

    ## Fix safety
    Safe: the call is taken away where it returned the very tensor that it was given, and of `x = x.contiguous()` the
    whole statement; a comment behind it stays, and so does a block, with `pass` in it. `x = x` is left where the
    statement may do more than that: `self.x = self.x` and `t[0] = t[0]`, a name that may not be bound before or is
    deleted somewhere, a comment meant for a tool (`# noqa`). A comment inside the call makes the fix unsafe.

    ## References
    - [torch.Tensor.contiguous](https://pytorch.org/docs/stable/generated/torch.Tensor.contiguous.html)
    """

    code, name = "LAY201", "contiguous-of-contiguous"
    words = (".contiguous",)
    fixable = True
    invalid = (
        Example(
            """\
import torch


def scores(q, k):
    return torch.softmax(q @ k.transpose(-2, -1), dim=-1).contiguous()  # LAY201


scores(torch.randn(2, 3, 4), torch.randn(2, 3, 4))
""",
            fixed=[(".contiguous()", "")],
            note="softmax packs its result, whatever it was given",
        ),
        Example(
            """\
import torch

weight = torch.zeros(5, 4).contiguous()  # LAY201
head = weight[:1].contiguous()  # LAY201
""",
            fixed=[("torch.zeros(5, 4).contiguous()", "torch.zeros(5, 4)"), ("[:1].contiguous()", "[:1]")],
            note="new memory, and rows of it from the start",
        ),
        Example(
            """\
import torch

frames = torch.rand(2, 3, 4, 4).to(memory_format=torch.channels_last)
again = frames.contiguous(memory_format=torch.channels_last)  # LAY201
""",
            fixed=[(".contiguous(memory_format=torch.channels_last)", "")],
            note="channels_last asked for where it is",
        ),
    )
    valid = (
        Example(
            """\
import torch

turned = torch.randn(3, 4).t()
packed = turned.contiguous()
""",
            note="the copy is made",
        ),
        Example(
            """\
import torch


def pack(x):
    return x.contiguous()


pack(torch.randn(3, 4))
""",
            note="callers may come with anything",
        ),
    )
    near_misses = (
        Example(
            """\
import torch

turned = torch.randn(3, 4).t()
same_order = turned.clone().contiguous().view(-1)  # LAY203
cast = (turned + 1).contiguous().view(-1)
""",
            note="clone and arithmetic make new memory, but keep the order of the strides",
        ),
        Example(
            """\
import torch

x = torch.randn(2, 3, 4, 4).to(memory_format=torch.channels_last)
packed = x.contiguous()
""",
            note="channels_last is dense, but not contiguous",
        ),
    )

    def check(self, seen: Seen) -> Iterator[Finding]:
        for site in seen.packing():
            if is_redundant(site):
                yield self.finding(seen, site)

    def finding(self, seen: Seen, site: Site) -> Finding:
        from torchlayout.ops import MemoryFormat
        from torchlayout.rules import mend, tell
        from torchlayout.rules.finding import Finding, Safety
        from torchlayout.rules.seen import format_asked

        here = seen.trace.path
        visit = next(visit for visit in (*site.relevant(), *site.visits.values()) if visit.proven)
        case = visit.proven[0]
        operand, origin, form = case.operand(), visit.origins.get("self"), format_asked(case)
        already = "contiguous" if form is MemoryFormat.CONTIGUOUS or form is None else form.value
        layout = tell.layout_in_brackets(operand, case.facts)
        source = f", made by {tell.code(origin.text)} on {tell.place(origin.path, origin.span, here)}" if origin else ""
        message = f"`contiguous()` does nothing: `{visit.text}` is always {already}{layout}{source}; take the call away"
        fix = mend.drop_call(seen, site.key, "Take the call away", Safety.SAFE)
        return Finding(self.code, message, site.span, tell.history(origin, here, site.span), fix)


def is_redundant(site: Site) -> bool:
    """Whether every call is proved to return the tensor that it is given."""
    from torchlayout.rules.seen import always, is_packed
    from torchlayout.sizes import YES

    return always(site, lambda case: is_packed(case) is YES)
