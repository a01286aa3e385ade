"""LAY101: a view that cannot be expressed over the strides it is given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import Example, Rule

if TYPE_CHECKING:
    from torchlayout.interp.trace import Case, Site, Visit
    from torchlayout.rules.finding import Finding
    from torchlayout.rules.seen import Seen

WORDS = (
    ".view(", ".view_as(", "unflatten(", "Unflatten(", "kron(", "take_along_dim(", "parameters_to_vector(",
    "orthogonal_(", "local_response_norm(", "LocalResponseNorm(",
)  # fmt: skip
"""Operators that take a view inside count as well."""


class ViewOfNoncontiguous(Rule):
    """## What it does
    Reports `view`, `view_as`, and the views inside `unflatten`, of a tensor over whose strides the asked shape cannot
    be expressed, so that torch raises.

    ## Why is this bad?
    `view` never copies. It can split a dimension, and merge dimensions that lie next to each other in memory; it
    cannot merge dimensions that do not. After `transpose`, `permute`, a slice of an inner dimension, `expand` or
    `channels_last` that is what flattening asks for, and torch raises
    `RuntimeError: view size is not compatible with input tensor's size and stride`. That a tensor is not contiguous
    is no reason by itself: a view that only splits its dimensions works, and is not reported.

    The message names the sizes that must be above 1 for the call to fail: a test with a batch of one passes.

    ## Example
    ```python
    import torch


    def merge_heads(x):
        b, h, t, d = x.shape
        return x.transpose(1, 2).view(b, t, h * d)
    ```

    ## Use instead
    ```python
    import torch


    def merge_heads(x):
        b, h, t, d = x.shape
        return x.transpose(1, 2).reshape(b, t, h * d)
    ```

    ## What it cannot see
    A tensor whose layout comes from code that is not read: another package, a data loader, a checkpoint. What is told
    of a function by itself assumes that its inputs are contiguous and that no unknown size is 1; where the callers
    are in the same file, their layouts count instead. Where the layout is wrong on some path only, see LAY102.

    ## Fix safety
    The fix writes `reshape` for `view` (or packs the tensor first, for `unflatten`). It is unsafe: where the program
    raised it now copies, on every call. No fix is offered where the result is written to in place, because the write
    to a copy would not reach the original.

    ## References
    - [torch.Tensor.view](https://pytorch.org/docs/stable/generated/torch.Tensor.view.html)
    - [Tensor views](https://pytorch.org/docs/stable/tensor_view.html)
    """

    code, name = "LAY101", "view-of-noncontiguous"
    words = WORDS
    fixable = True
    invalid = (
        Example(
            """\
import torch

a = torch.arange(6).reshape(2, 3)
b = a.t()
b.view(6)  # LAY101
""",
            fixed=[("b.view(6)", "b.reshape(6)")],
            note="the transpose of a matrix, flattened",
        ),
        Example(
            """\
import torch


def merge_heads(x):
    b, h, t, d = x.shape
    return x.transpose(1, 2).view(b, t, h * d)  # LAY101


merge_heads(torch.randn(2, 3, 5, 4))
""",
            fixed=[(".view(b, t", ".reshape(b, t")],
            note="heads merged without packing, for any number of heads above 1",
        ),
        Example(
            """\
import torch

x = torch.randn(2, 6, 4)
first, second = x.split(3, dim=1)
first.view(-1)  # LAY101
""",
            fixed=[("first.view(-1)", "first.reshape(-1)")],
            note="a part of an inner dimension leaves gaps between the rows",
        ),
        Example(
            """\
import torch

images = torch.rand(2, 3, 8, 8).to(memory_format=torch.channels_last)
images.view(images.size(0), -1)  # LAY101
""",
            fixed=[("images.view(", "images.reshape(")],
            note="channels_last cannot be flattened without a copy",
        ),
        Example(
            """\
import torch

rows = torch.arange(3.0).expand(4, 3)
flat = rows.view(-1)  # LAY101
flat.add_(1)
""",
            note="no fix: what is written into a reshaped copy would never reach `rows`",
        ),
    )
    valid = (
        Example(
            """\
import torch

b = torch.arange(6).reshape(2, 3).t()
b.contiguous().view(6)
b.reshape(6)
b.flatten()
""",
            note="packed first, or copied by reshape",
        ),
        Example(
            """\
import torch


def anything(x):
    return x.view(x.size(0), -1)


anything(torch.randn(2, 3, 4))
""",
            note="nothing is known of x that would refuse it",
        ),
    )
    near_misses = (
        Example(
            """\
import torch

x = torch.randn(2, 3, 20)
x.permute(0, 2, 1).view(2, 4, 5, 3)
""",
            note="not contiguous, but the view only splits a dimension",
        ),
        Example(
            """\
import torch

row = torch.randn(1, 5)
row.t().view(5)
""",
            note="a dimension of size 1 never matters",
        ),
        Example(
            """\
import torch

x = torch.randn(4, 3, 6, 5)
x.transpose(-1, -2).view(-1, 5, 6)
""",
            note="the leading dimensions still lie next to each other",
        ),
        Example(
            """\
import torch

table = torch.randn(4, 6)
table[::2].clone().view(-1)
table.flip(0).view(-1)
""",
            note="clone packs a slice with gaps, and flip copies",
        ),
    )

    def check(self, seen: Seen) -> Iterator[Finding]:
        for site in seen.refusing:
            found = None if site.expected_to_raise else refusal(site)
            if found is not None:
                yield self.finding(seen, site, *found)

    def finding(self, seen: Seen, site: Site, visit: Visit, case: Case, certain: bool) -> Finding:
        from torchlayout.rules import mend, tell
        from torchlayout.rules.finding import Finding

        here = seen.trace.path
        parameter = case.refused.parameter if case.refused is not None else "self"
        operand, origin = case.operand(parameter), visit.origins.get(parameter)
        layout = tell.layout_text(operand, case.facts) if operand is not None else "its layout"
        shape = tell.wanted_shape(case, site.name)
        what = f"no view of shape {shape} exists over" if shape else "no such view exists over"
        fails = tell.when(visit, case, certain=certain)
        message = (
            f"`{site.name}` {'raises' if fails else 'always raises'}{fails}{tell.on_path(visit, here)}: {what} {layout}"
            f"{tell.made_by(origin, here)}; {remedy(site)}"
        )
        related = tell.history(origin, here, site.span) + tell.called_from(visit.caller, here)
        fix = mend.use_reshape(seen, site.key, site.name, parameter)
        return Finding(self.code, message, site.span, related, fix, drawing=tell.drawing(visit, case, site.name))


def remedy(site: Site) -> str:
    """What to do about a view that raises."""
    if site.name in ("view", "view_as"):
        lenient = "reshape" if site.name == "view" else "reshape_as"
        return f"use `{lenient}`, which copies when it must"
    return "make it contiguous first, which copies"


def is_refused(visit: Visit, case: Case) -> bool:
    """Whether torch raises because no such view exists, whatever the rank of the tensor is."""
    from torchlayout.rules.seen import rank_decides

    return case.refused is not None and case.refused.kind == "view" and not rank_decides(visit, case)


def refusal(site: Site) -> tuple[Visit, Case, bool] | None:
    """The visit and case to tell of where a view raises, and whether that needs no assumption; None where it does not.

    It raises when some call is proved to raise on every path, or when, inputs being contiguous and no size 1, every
    call raises on every path.
    """
    visits = site.relevant()
    for visit in visits:
        if visit.proven and all(is_refused(visit, case) for case in visit.proven):
            return _in_general(site) or (visit, visit.proven[0], True)
    if visits and all(_always_refused(visit, even_weak=True) for visit in visits):
        general = _in_general(site)  # what callers get from code that is not read makes it no better
        if general is not None:
            return general
    if not visits or not all(_always_refused(visit) for visit in visits):
        return None
    return _in_general(site) or (visits[0], visits[0].assumed[0], False)


def _always_refused(visit: Visit, *, even_weak: bool = False) -> bool:
    from torchlayout.rules.seen import is_weak

    return bool(visit.assumed) and all(
        is_refused(visit, case) and (even_weak or not is_weak(visit, case)) for case in visit.assumed
    )


def _in_general(site: Site) -> tuple[Visit, Case, bool] | None:
    """The function on its own, where it raises for any caller: that is the better story, with sizes by name."""
    for visit in site.visits.values():
        if visit.caller is None and _always_refused(visit):
            certain = bool(visit.proven) and all(is_refused(visit, case) for case in visit.proven)
            return visit, visit.assumed[0], certain
    return None
