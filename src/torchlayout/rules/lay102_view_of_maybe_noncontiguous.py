"""LAY102: a view that raises on some path, or for some sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import Example, Rule
from torchlayout.rules.lay101_view_of_noncontiguous import WORDS, is_refused, refusal, remedy

if TYPE_CHECKING:
    from torchlayout.interp.trace import Case, Site, Visit
    from torchlayout.ops import Outcome, Refused
    from torchlayout.rules.finding import Finding
    from torchlayout.rules.seen import Seen


class ViewOfMaybeNoncontiguous(Rule):
    """## What it does
    Reports a view (as LAY101 does) that raises only on some path through the code, only when called from some place,
    or only for some values of a size that is not known.

    ## Why is this bad?
    Such a view works in the test and fails in the field: with another option, another caller, more than one class, a
    batch above 1. The message says on which path, or from which caller.

    ## Example
    ```python
    import torch


    def flatten(x, channels_first):
        if channels_first:
            x = x.permute(0, 2, 1)
        return x.view(-1)


    flatten(torch.randn(2, 3, 4), False)
    ```

    ## Use instead
    ```python
    import torch


    def flatten(x, channels_first):
        if channels_first:
            x = x.permute(0, 2, 1)
        return x.reshape(-1)


    flatten(torch.randn(2, 3, 4), False)
    ```

    ## What it cannot see
    Whether a path is ever taken, and which values a size has when the program runs. A view is reported only where
    every stride of the tensor is known, so a tensor from code that is not read says nothing. Conditions
    that belong together (a flag tested twice, `is None` and `is not None`) are understood where they ask about the same
    value in one block; that one flag is only set together with another is not known.

    ## Fix safety
    The fix writes `reshape` for `view`, which copies on the paths on which the view raised and gives the same view on
    the others. It is unsafe: a write to the result no longer reaches the original on those paths, and no fix is
    offered where such a write is seen.

    ## References
    - [torch.Tensor.view](https://pytorch.org/docs/stable/generated/torch.Tensor.view.html)
    - [torch.reshape](https://pytorch.org/docs/stable/generated/torch.reshape.html)
    """

    code, name = "LAY102", "view-of-maybe-noncontiguous"
    words = WORDS
    fixable = True
    invalid = (
        Example(
            """\
import torch


def flatten(x, channels_first):
    if channels_first:
        x = x.permute(0, 2, 1)
    return x.view(-1)  # LAY102


def caller(flag):
    flatten(torch.randn(2, 3, 4), flag)


caller(False)
caller(True)
""",
            fixed=[("x.view(-1)", "x.reshape(-1)")],
            note="raises on the path through `permute` only",
        ),
    )
    valid = (
        Example(
            """\
import torch


def flatten(x, channels_first):
    if channels_first:
        x = x.permute(0, 2, 1).contiguous()
    return x.view(-1)


flatten(torch.randn(2, 3, 4), True)
""",
            note="packed on the path that needs it",
        ),
    )
    near_misses = (
        Example(
            """\
import torch


def gather(x):
    if not x.is_contiguous():
        x = x.clone(memory_format=torch.contiguous_format)
    return x.view(-1)


gather(torch.randn(3, 4).t())
""",
            note="the path that is left is the one on which x is contiguous",
        ),
        Example(
            """\
import torch


def from_somewhere(load):
    x = load()
    return x.view(-1)


from_somewhere(lambda: torch.randn(3, 4))
""",
            note="nothing is known of x, so nothing is said",
        ),
    )

    def check(self, seen: Seen) -> Iterator[Finding]:
        for site in seen.refusing:
            found = None if site.expected_to_raise or refusal(site) is not None else doubtful(site)
            if found is not None:
                yield self.finding(seen, site, *found)

    def finding(self, seen: Seen, site: Site, visit: Visit, case: Case) -> Finding:
        from torchlayout.layouts import settle
        from torchlayout.rules import mend, tell
        from torchlayout.rules.finding import Finding
        from torchlayout.rules.seen import is_weak

        here = seen.trace.path
        parameter = case.refused.parameter if case.refused is not None else "self"
        operand, origin = case.operand(parameter), visit.origins.get(parameter)
        layout = tell.layout_text(operand, case.facts) if operand is not None else "its layout"
        shape = tell.wanted_shape(case, site.name)
        what = f"a view of shape {shape}" if shape else "such a view"
        if case.refused is not None and not is_refused(visit, case) and operand is not None:
            known = sum(dim.rest is None for dim in settle(operand.layout, case.facts).dims)
            more = f"more than {known} dimension{'s' if known != 1 else ''}"
            message = f"`{site.name}` raises if the tensor has {more}: {what} does not exist over {layout}"
        elif case.refused is not None:
            fails = tell.on_path(visit, here) or (
                ""
                if all(is_refused(visit, other) for other in visit.assumed)
                else f" on {_some_path(visit, case, here)}"
            )
            message = f"`{site.name}` raises{fails}: {what} does not exist over {layout}"
        else:
            message = f"`{site.name}` may raise: whether {what} exists over {layout} depends on the sizes"
        message += tell.made_by(origin, here)
        if is_weak(visit, case):
            message += " (what comes from code that is not read is taken to be contiguous)"
        message += f"; {remedy(site)}"
        related = tell.history(origin, here, site.span) + tell.called_from(visit.caller, here)
        fix = mend.use_reshape(seen, site.key, site.name, parameter)
        return Finding(self.code, message, site.span, related, fix, drawing=tell.drawing(visit, case, site.name))


def _some_path(visit: Visit, case: Case, here: str) -> str:
    """The path on which a view raises, by what its layout shows."""
    from torchlayout.layouts import is_channels_last
    from torchlayout.sizes import YES

    operand = case.operand()
    if operand is not None and operand.layout.rank in (4, 5):
        if is_channels_last(operand.layout, case.facts) is YES:
            return "the path on which the tensor is channels_last"
    return "some path"


def doubtful(site: Site) -> tuple[Visit, Case] | None:
    """The visit and case to tell of where a view raises for some path, caller or size only."""
    visits = site.relevant()
    for visit in visits:
        for case in (*visit.assumed, *visit.proven):
            if is_refused(visit, case):
                return visit, case
    for visit in visits:
        for case in visit.assumed:
            if may_have_leading_dimensions(case) or possible(visit, case):
                return visit, case
    return None


def may_have_leading_dimensions(case: Case) -> bool:
    """Whether a view is refused if the tensor has dimensions in front of the known ones, as a batch mostly is; in
    the middle of known ones there mostly are none."""
    from torchlayout.layouts import settle

    if case.refused is None or case.refused.kind != "view":
        return False
    operand = case.operand(case.refused.parameter)
    dims = settle(operand.layout, case.facts).dims if operand is not None else ()
    return bool(dims) and dims[0].rest is not None


def possible(visit: Visit, case: Case) -> bool:
    """Whether a view may fail by what is known of its operand, rather than for want of knowledge."""
    from torchlayout.rules.seen import strides_known

    operand = case.operand()
    return (
        operand is not None
        and not case.weak
        and _exists_by_chance(case.outcome)
        and (strides_known(operand, case.facts) or _whatever_its_rank(visit, case))
    )


def _exists_by_chance(outcome: Outcome | Refused) -> bool:
    from torchlayout.rules.seen import results
    from torchlayout.sizes import MAYBE

    return any(result.exists is MAYBE and result.by_chance for result in results(outcome))


def _whatever_its_rank(visit: Visit, case: Case) -> bool:
    """Whether that holds of a tensor of unknown rank also if it has only the dimensions that are known."""
    from torchlayout.layouts import settle
    from torchlayout.rules.seen import outcome_with, without

    operand = case.operand()
    dims = settle(operand.layout, case.facts).dims if operand is not None else ()
    if not dims or any(dim.stride is None for dim in dims):
        return False
    facts = without((dim.rest for dim in dims if dim.rest is not None), case.facts)
    return _exists_by_chance(outcome_with(visit, case.bound, facts))
