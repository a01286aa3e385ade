"""What the rules on loops share: how a loop is named, and what a turn copies."""

from __future__ import annotations

from torchlayout.interp.trace import Site, Visit
from torchlayout.rules import tell
from torchlayout.rules.seen import assumed_cases, is_packed, is_weak, shares
from torchlayout.sizes import NO


def of_the_loop(visit: Visit) -> str:
    """ "of the loop on line 5"."""
    loop = visit.loop
    if loop is None:
        return "of the loop"
    if loop.kind == "call":
        return f"of the function on line {loop.span.line}, which is called for every item"
    what = "comprehension" if loop.kind == "comprehension" else f"`{loop.kind}` loop"
    return f"of the {what} on line {loop.span.line}"


def what_is_copied(site: Site) -> str:
    """ "copies B*T elements", or "may copy"."""
    found = assumed_cases(site)
    cases = [case for _, case in found]
    answer = is_packed if site.name == "contiguous" else shares
    sure = all(answer(case) is NO and not is_weak(visit, case) for visit, case in found)
    operand = cases[0].operand() if cases else None
    count = tell.elements(operand, cases[0].facts) if operand is not None else None
    verb = "copies" if sure else "may copy"
    return f"{verb} {count}" if count else f"{verb} its tensor"
