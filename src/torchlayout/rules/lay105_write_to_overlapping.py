"""LAY105: an in-place write to a tensor whose elements share memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import Example, Rule
from torchlayout.rules.in_place import ARITHMETIC, ASSIGNING, BY_FLAG, IN_PLACE_WORDS

if TYPE_CHECKING:
    from torchlayout.interp.trace import Case, Origin, Site, SiteKey, Visit, Write
    from torchlayout.ops import Operand
    from torchlayout.rules.finding import Finding, Fix
    from torchlayout.rules.seen import Seen
    from torchlayout.sizes import Facts

SHARING = (".expand(", ".expand_as(", "broadcast_to(", "broadcast_tensors(", "meshgrid(", "as_strided(", ".unfold(")

SAME_EVERYWHERE = frozenset({
    "fill_", "zero_", "fill", "zero", "zeros_", "ones_", "constant_", "detach_", "threshold_",
})  # fmt: skip
"""Writes of one value to every element, and of what comes out alike when it is done again: where memory is shared they
do no harm."""


class WriteToOverlapping(Rule):
    """## What it does
    Reports in-place writes (`add_`, `+=`, `x[...] = v`, `out=`, `inplace=True`, ...) to a tensor in which several
    elements are one place in memory: made by `expand`, `expand_as`, `broadcast_to`, `meshgrid`, `as_strided`, `unfold`.

    ## Why is this bad?
    Most such writes raise `unsupported operation: more than one element of the written-to tensor refers to a single
    memory location`. The others are worse, since they are silent: `x.expand(4, 3)[0] = v`, `masked_fill_`,
    `index_put_` change the other rows too, and arithmetic on overlapping windows is done several times over.

    ## Example
    ```python
    import torch

    mask = torch.zeros(1, 4).expand(3, 4)
    mask += 1
    ```

    ## Use instead
    ```python
    import torch

    mask = torch.zeros(1, 4).repeat(3, 1)
    mask += 1
    ```

    ## What it cannot see
    Tensors expanded in code that is not read, and sizes that are 1 only at times: `x.expand(-1, 3)` of an x that has
    three columns already shares nothing. Whether a dropout module with `inplace=True` drops anything: `train()` and
    `eval()` decide. Writing one value to all elements (`fill_`, `zero_`) does no harm and is not reported.

    ## Fix safety
    The fix writes `.clone()` in front of the operation, where its result is used. It is unsafe: the write then reaches
    the copy alone.

    ## References
    - [torch.Tensor.expand](https://pytorch.org/docs/stable/generated/torch.Tensor.expand.html)
    - [In-place operations](https://pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd)
    """

    code, name = "LAY105", "write-to-overlapping"
    words = (*ARITHMETIC, *(f"{word} with {ASSIGNING} out= {' '.join(IN_PLACE_WORDS)}" for word in SHARING))
    words_beside = dict.fromkeys(BY_FLAG, SHARING)
    beside = (".expand", "broadcast_to", "broadcast_tensors", "as_strided", "unfold", "meshgrid")
    source = "shared"
    fixable = True
    invalid = (
        Example(
            """\
import torch

mask = torch.zeros(1, 4).expand(3, 4)
mask += 1  # LAY105
""",
            note="each row is the same memory",
        ),
        Example(
            """\
import torch


def normalize(batch, mean, std):
    b, c, h, w = batch.shape
    gray = batch.mean(dim=1, keepdim=True).expand(-1, 3, -1, -1)
    return gray.sub_(mean).div_(std)  # LAY105


normalize(torch.rand(4, 3, 8, 8), 0.5, 0.25)
""",
            fixed=[("gray.sub_(", "gray.clone().sub_(")],
            note="one gray channel, seen as three",
        ),
        Example(
            """\
import torch

dense = torch.zeros(1, 3)
rows = dense.expand(2, 3)
rows.masked_fill_(torch.tensor([[True, False, False], [False, False, False]]), 1.0)  # LAY105
""",
            note="silent, and the second row changes too",
        ),
    )
    valid = (
        Example(
            """\
import torch

mask = torch.zeros(1, 4).repeat(3, 1)
mask += 1
other = torch.zeros(1, 4).expand(3, 4).clone()
other.add_(1)
""",
            note="memory of its own",
        ),
    )
    near_misses = (
        Example(
            """\
import torch

rows = torch.zeros(1, 4).expand(3, 4)
rows.zero_()
total = rows + 1
""",
            note="the same value everywhere, and arithmetic that makes a new tensor",
        ),
        Example(
            """\
import torch

same = torch.zeros(3, 4).expand(3, 4)
same.add_(1)
""",
            note="expanded to the size that it had",
        ),
    )

    def check(self, seen: Seen) -> Iterator[Finding]:
        from torchlayout.rules.seen import writes_in_place

        refusing = {site.key for site in seen.refusing}
        for site in seen.sites:
            in_place = writes_in_place(site)
            for visit in site.relevant() if in_place or site.key in refusing else ():
                found = _shared(site, visit, in_place)
                if found is not None:
                    raises, parameter, operand, facts = found
                    yield self.finding(
                        seen, site.key, site.name, raises, operand, facts, visit.origins.get(parameter), visit
                    )
                    break
        yield from self.assignments(seen)

    def assignments(self, seen: Seen) -> Iterator[Finding]:
        """Writes by subscript and by augmented assignment. Calls that are not known may only read what they take, and
        what operators do is told by their sites."""
        for key, writes in sorted(seen.trace.writes.items()):
            if key[0] == seen.trace.path:
                for write in (write for write in writes if write.op.endswith("=")):
                    found = _shared_part(seen, key, write)
                    if found is not None:
                        raises, operand, facts = found
                        yield self.finding(seen, key, write.op, raises, operand, facts, write.origin, None)
                        break

    def finding(
        self,
        seen: Seen,
        key: SiteKey,
        name: str,
        raises: bool,
        operand: Operand,
        facts: Facts,
        origin: Origin | None,
        visit: Visit | None,
    ) -> Finding:
        from torchlayout.rules import tell
        from torchlayout.rules.finding import Finding

        here = seen.trace.path
        what = "writing `x[...] = v`" if name == "[]=" else f"`{name}`"
        if raises:
            fails = "raises: elements share memory in a tensor of"
        else:
            fails = "silently changes other elements too: they share memory in a tensor of"
        message = f"{what} {fails} {tell.layout_text(operand, facts)}{tell.made_by(origin, here)}; `clone()` it first"
        related = tell.history(origin, here, key[1])
        if visit is not None:
            related += tell.called_from(visit.caller, here)
        return Finding(self.code, message, key[1], related, _cloned(seen, key, visit))


def _shared(site: Site, visit: Visit, in_place: bool) -> tuple[bool, str, Operand, Facts] | None:
    """Whether torch raises, and for which operand, where a call writes to memory that elements share."""
    from torchlayout.interp.trace import is_told
    from torchlayout.layouts import has_overlap
    from torchlayout.sizes import YES

    for case in (*visit.assumed, *visit.proven):
        if case.weak:
            continue
        refused = case.refused
        if refused is not None and refused.kind == "overlap-write":
            operand = case.operand(refused.parameter)
            if operand is not None:
                return _repeats(operand, case.facts), refused.parameter, operand, case.facts
        if in_place and is_told(case.outcome) and refused is None and site.name not in SAME_EVERYWHERE:
            first = visit.op.signature.parameters[0].name
            operand = case.operand(first)
            if operand is not None and not operand.numpy and has_overlap(operand.layout, case.facts) is YES:
                if not _changes_layout(site):
                    return False, first, operand, case.facts
    return None


def _shared_part(seen: Seen, key: SiteKey, write: Write) -> tuple[bool, Operand, Facts] | None:
    """The same for an assignment. Of `x[...] = v` torch tests the part `x[...]`; that x itself repeats memory it
    lets pass, and with index tensors it tests nothing."""
    from torchlayout.layouts import has_overlap
    from torchlayout.rules.seen import shares
    from torchlayout.sizes import NO, YES

    site = seen.site(key) or _item_on_the_line(seen, key, write)
    indexed = [case for visit in site.relevant() for case in visit.assumed] if site is not None else []
    advanced = any(shares(case) is NO for case in indexed)
    for operand, facts in (*write.assumed, *write.proven):
        if not operand.weak and not operand.numpy and has_overlap(operand.layout, facts) is YES:
            return not advanced and _repeats(operand, facts), operand, facts
    for case in indexed:
        holder = case.operand()
        if holder is not None and not holder.weak and not holder.numpy:
            if has_overlap(holder.layout, case.facts) is YES and not _whole(case):
                return False, holder, case.facts
    return None


def _item_on_the_line(seen: Seen, key: SiteKey, write: Write) -> Site | None:
    """Of `x[...] += v`, the `x[...]`."""
    for maker in write.made_by:
        site = seen.site(maker)
        if site is not None and site.name == "[]" and maker[0] == key[0] and maker[1].line == key[1].line:
            return site
    return None


def _whole(case: Case) -> bool:
    """Whether an index takes everything: `x[:]` and `x[...]`."""
    from torchlayout.layouts import same_layout
    from torchlayout.rules.seen import results
    from torchlayout.sizes import YES

    operand, part = case.operand(), next(results(case.outcome), None)
    return operand is not None and part is not None and same_layout(operand.layout, part.layout, case.facts) is YES


def _changes_layout(site: Site) -> bool:
    """In-place operators that write no element."""
    return site.name in ("squeeze_", "unsqueeze_", "transpose_", "t_", "swapaxes_", "swapdims_", "as_strided_", "set_",
                         "resize_", "requires_grad_", "share_memory_", "rename_")  # fmt: skip


def _repeats(operand: Operand, facts: Facts) -> bool:
    """Whether a dimension repeats memory (stride 0): what torch tests for; overlapping windows it lets pass."""
    from torchlayout.layouts import settle
    from torchlayout.sizes import YES

    return any(
        dim.stride is not None and facts.equal(dim.stride, 0) is YES and facts.above_one(dim.size) is YES
        for dim in settle(operand.layout, facts).dims
    )


def _cloned(seen: Seen, key: SiteKey, visit: Visit | None) -> Fix | None:
    """`x.add_(1)` to `x.clone().add_(1)`, where something is done with the result."""
    from torchlayout.rules import edits, mend
    from torchlayout.rules.finding import Fix, Safety

    call = mend.call_at(seen, key)
    if visit is None or visit.discarded or call is None or call.receiver is None or not key_is_method(seen, key):
        return None
    return Fix("Clone it first", edits.insert_after_receiver(call.receiver, ".clone()"), Safety.UNSAFE)


def key_is_method(seen: Seen, key: SiteKey) -> bool:
    site = seen.site(key)
    return site is not None and site.kind == "method"
