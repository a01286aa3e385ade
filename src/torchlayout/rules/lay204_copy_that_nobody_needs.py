"""LAY204: a copy none of whose users needs it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import Example, Rule

if TYPE_CHECKING:
    from torchlayout.interp.trace import Site, SiteKey
    from torchlayout.rules.finding import Finding
    from torchlayout.rules.seen import Seen
    from torchlayout.rules.whatif import Verdict

MAX_USERS = 3
"""More users than these may together gain by dense memory what the copy costs."""
MAX_HIDDEN_COPIES = 1
"""Two operators that each copy by themselves would copy twice what is now copied once."""


REPACKING = ("reshape", "flatten", "contiguous", "ravel", "reshape_as")
"""Users that copy when they must, whatever they are given."""


class CopyThatNobodyNeeds(Rule):
    """## What it does
    Reports `contiguous()` that copies, where every use of the copy is known, none of them needs dense memory, and none
    runs faster with it: the attention trap, in which a transposed key is packed for a matrix product that would have
    taken it as it is.

    ## Why is this bad?
    The copy reads and writes every element, and holds the memory of a second tensor. Matrix products take a transposed
    operand by a flag of BLAS, element-wise operators and `cat`, `stack`, `gather` read any strides in the one pass that
    they make, and `reshape` copies by itself when it must.

    ## Example
    ```python
    import torch


    def scores(q, k):
        b, h, t, d = k.shape
        turned = k.transpose(-2, -1).contiguous()
        return torch.matmul(q, turned)
    ```

    ## Use instead
    ```python
    import torch


    def scores(q, k):
        b, h, t, d = k.shape
        turned = k.transpose(-2, -1)
        return torch.matmul(q, turned)
    ```

    ## What it cannot see
    It is silent wherever it does not know: a copy that is returned, stored, or given to a function that is not read;
    one that a `lambda`, a default, a class body or `locals()` takes along, or whose strides are asked for; a use in a
    loop that the copy was made in front of; more than three uses, or more than one that copies by itself.

    And it is silent where packing can pay. The table tells the time with the copy over the time without it: above 1 the
    copy costs, at 1 the operator copies by itself, below 1 it pays. Measured with
    `python benchmarks/test_layout_cost.py` on 2 cores of a CPU and torch 2.13, for (batch, heads, tokens, head size) of
    (1, 12, 512, 64) and (4, 16, 1024, 64); the same command measures a GPU where there is one.

    | use | small | large |
    | --- | --- | --- |
    | `matmul(q, k.transpose(-2, -1))` | 2.06 | 1.01 |
    | `matmul(q, k), q = split heads` | 1.74 | 1.01 |
    | `scaled_dot_product_attention(q, k, v), q = split heads` | 1.53 | 1.05 |
    | `y + 1, y = k.transpose(-2, -1)` | 6.14 | 2.41 |
    | `y + packed, y = k.transpose(-2, -1)` | 2.07 | 0.86 |
    | `y + packed, y = split heads` | 1.48 | 1.55 |
    | `relu(split heads)` | 2.04 | 2.01 |
    | `gelu, eight in a row, of k.transpose(-2, -1)` | 0.94 | 1.81 |
    | `y + packed, eight times, y = k.transpose(-2, -1)` | 0.21 | 0.60 |
    | `softmax(y, -1), rows dense` | 1.01 | 1.00 |
    | `softmax(y, -1), rows strided` | 1.01 | 1.00 |
    | `log_softmax(logits[:, :-1], -1)` | 1.00 | 1.01 |
    | `sum(y, -1), rows dense` | 1.98 | 1.47 |
    | `sum(y, -1), rows strided` | 2.00 | 1.99 |
    | `sum(y)` | 1.85 | 1.97 |
    | `layer_norm, rows dense` | 0.90 | 1.05 |
    | `layer_norm, rows strided` | 1.00 | 0.78 |
    | `linear(split heads)` | 1.04 | 1.31 |
    | `linear(rows strided)` | 3.04 | 2.86 |
    | `cat([y, y], -2)` | 1.50 | 2.04 |
    | `cat([y, y], -1), rows strided` | 1.50 | 2.12 |
    | `stack([y])` | 2.00 | 2.10 |
    | `y.reshape(b, -1), y = k.transpose(-2, -1)` | 1.00 | 0.82 |
    | `gather(y, -1, index)` | 1.05 | 12.21 |
    | `conv1d(y)` | 0.98 | 0.93 |
    | `cumsum(y, -1), rows strided` | 1.73 | 1.83 |

    The comparison that started this rule, `y.contiguous() + 1` against `y + 1` of a transposed y, is the fourth line:
    they do not take about as long. The addition keeps the strides and makes no hidden copy, so that packing first only
    adds to it. With a second operand that lies in another order, with softmax, sums and norms over a strided dimension,
    with convolutions, and with uses that run many times, packing can pay, and nothing is reported.

    ## References
    - [torch.matmul](https://pytorch.org/docs/stable/generated/torch.matmul.html)
    - [torch.Tensor.contiguous](https://pytorch.org/docs/stable/generated/torch.Tensor.contiguous.html)
    """

    code, name = "LAY204", "copy-that-nobody-needs"
    words = (".contiguous",)
    invalid = (
        Example(
            """\
import torch


def scores(q, k):
    b, h, t, d = k.shape
    turned = k.transpose(-2, -1).contiguous()  # LAY204
    return torch.matmul(q, turned)


out = scores(torch.randn(2, 3, 4, 5), torch.randn(2, 3, 4, 5))
""",
            note="the attention trap",
        ),
        Example(
            """\
import torch


def token_scores(logits, ids):
    b, t, v = logits.shape
    shifted = logits[:, :-1, :].contiguous()  # LAY204
    return torch.log_softmax(shifted, dim=-1).sum()


out = token_scores(torch.randn(2, 6, 9), None)
""",
            note="a slice whose rows are dense",
        ),
        Example(
            """\
import torch

y = torch.randn(3, 4).t()
z = y.contiguous() + 1  # LAY204
""",
            note="an addition keeps the strides, and copies nothing by itself",
        ),
    )
    valid = (
        Example(
            """\
import torch


def scores(q, k):
    return torch.matmul(q, k.transpose(-2, -1))


scores(torch.randn(2, 3, 4, 5), torch.randn(2, 3, 4, 5))
""",
            note="BLAS takes it as it is",
        ),
    )
    near_misses = (
        Example(
            """\
import torch


def merge(x):
    b, h, t, d = x.shape
    return x.transpose(1, 2).contiguous().view(b, t, h * d)


merge(torch.randn(2, 3, 4, 5))
""",
            note="the view needs it",
        ),
        Example(
            """\
import torch


def normalized(k: torch.Tensor):
    b, t, d = k.shape
    return torch.softmax(k.transpose(1, 2).contiguous(), dim=-1)


normalized(torch.randn(2, 3, 4))
""",
            note="softmax over what would be a strided dimension",
        ),
        Example(
            """\
import torch


def snapshot(x: torch.Tensor):
    b, t = x.shape
    before = x.t().contiguous()
    x.mul_(2)
    return (before + 1).sum()


snapshot(torch.randn(3, 4))
""",
            note="the original is written to: the copy keeps what was",
        ),
        Example(
            """\
import torch


def packed(x: torch.Tensor):
    b, t = x.shape
    return x.t().contiguous()


packed(torch.randn(3, 4))
""",
            note="returned: who uses it is not known",
        ),
    )

    def check(self, seen: Seen) -> Iterator[Finding]:
        from torchlayout.rules.kept import may_be_kept_unseen
        from torchlayout.rules.seen import is_packed
        from torchlayout.rules.whatif import Unclear, users_that_need_nothing
        from torchlayout.sizes import NO

        for site in seen.packing():
            cases = [case for visit in site.relevant() for case in visit.assumed]
            if not cases or not all(is_packed(case) is NO for case in cases) or original_is_written(seen, site):
                continue
            try:
                verdict = users_that_need_nothing(seen, site)
            except Unclear:
                continue
            few = len(verdict.users) <= MAX_USERS and verdict.hidden_copies <= MAX_HIDDEN_COPIES
            if few and not may_be_kept_unseen(seen, site):
                yield self.finding(seen, site, verdict)

    def finding(self, seen: Seen, site: Site, verdict: Verdict) -> Finding:
        from torchlayout.rules import loops, tell
        from torchlayout.rules.finding import Finding, Related

        here = seen.trace.path
        visit = site.relevant()[0]
        names = list(dict.fromkeys(tell.operator_name(seen.trace.sites[key]) for key in verdict.users))
        takes = "take" if len(verdict.users) > 1 else "takes"
        again = verdict.hidden_copies or all(seen.trace.sites[k].name in REPACKING for k in verdict.users)
        how = "makes a copy itself where it needs one" if again else f"{takes} `{visit.text}` as it is"
        who = tell.all_of(names)
        lines = ", ".join(dict.fromkeys(tell.place(*key, here) for key in verdict.users))
        message = f"`contiguous()` {loops.what_is_copied(site)} for nothing: {who} on {lines} {how}; take the call away"
        origin = visit.origins.get("self")
        related = tuple(
            Related(key[1], "used here", None if key[0] == here else key[0]) for key in verdict.users
        ) + tell.history(origin, here, site.span)
        drawing = tell.drawing(visit, visit.assumed[0], "contiguous()")
        return Finding(self.code, message, site.span, related, drawing=drawing)


def original_is_written(seen: Seen, site: Site) -> bool:
    """Whether the tensor that is copied may be written to in the same function, so that the copy keeps what was.

    Two tensors may be one where they come from one operation, or both from where nothing is known.
    """
    written = seen.written.get(seen.unit.outline.at(site.span.line))
    if not written:
        return False
    visits = list(site.visits.values())
    mine = _roots(seen, frozenset().union(*(visit.made_by.get("self", frozenset()) for visit in visits)))
    return mine is None or any(_may_meet(mine, _roots(seen, made)) for made in written)


def _roots(seen: Seen, keys: frozenset[SiteKey]) -> set[SiteKey | None] | None:
    """The operations in whose memory values lie, through views; among them None for memory from elsewhere. None alone
    where there are too many views to follow."""
    from torchlayout.rules.seen import MAX_FOLLOWED, shares
    from torchlayout.sizes import NO

    roots: set[SiteKey | None] = set() if keys else {None}
    pending, done = list(keys), set(keys)
    while pending:
        if len(done) > MAX_FOLLOWED:
            return None
        key = pending.pop()
        site = seen.site(key)
        cases = [case for visit in site.visits.values() for case in visit.assumed] if site is not None else []
        if site is None or not cases or all(shares(case) is NO for case in cases):
            roots.add(key)
            continue
        before = [visit.made_by.get("self", frozenset()) for visit in site.visits.values()]
        if not all(before):
            roots.add(None)
        for one in frozenset().union(*before) - done:
            done.add(one)
            pending.append(one)
    return roots


def _may_meet(a: set[SiteKey | None], b: set[SiteKey | None] | None) -> bool:
    return b is None or not a.isdisjoint(b)
