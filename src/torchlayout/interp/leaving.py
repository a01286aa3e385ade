"""What is still told of a function that was not followed to its end."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from torchlayout.interp.frame import Run
from torchlayout.interp.trace import Site, SiteKey, Use, is_told
from torchlayout.structs import replace


def leave_off(activity: Run) -> None:
    """Forget what was seen of the function being looked at where it is not all that can happen there.

    What stands in a loop, or in a function called, would have been seen again with other values. What is made
    elsewhere stays, but the rest of the function may use it in any way.
    """
    activity.left_off = True
    trace, root = activity.trace, activity.root
    for key, context, site in _seen(activity):
        if site.visits[context].loop is not None or len(context) > 1:
            del site.visits[context]
            if context[-1] in activity.alone:
                continue  # its function is followed on its own too, for callers who do anything with what it gives
        trace.uses.setdefault(key, set()).add(Use("argument", "...", None, key, False))
        if not site.visits:
            del trace.sites[key]
    for span, contexts in list(trace.reveals.items()):
        for reached in list(contexts):
            if reached == root or (isinstance(reached, tuple) and reached[0] == root):
                del contexts[reached]
        if not contexts:
            del trace.reveals[span]


def forget_vague(activity: Run) -> None:
    """Forget what was seen, in calls that the function being looked at makes, on values that came of calls which were
    not followed: of a function that has a run of its own it tells nothing new."""
    for key, context, site in _seen(activity):
        told = all(is_told(case.outcome) for case in site.visits[context].assumed)
        if context[-1] in activity.alone and not told:
            del site.visits[context]
            if not site.visits:
                del activity.trace.sites[key]


def _seen(activity: Run) -> Iterator[tuple[SiteKey, tuple[Hashable, ...], Site]]:
    """What was seen of the function being looked at: each site, with the context in which it was visited."""
    for key, context in dict.fromkeys(activity.visited):
        site = activity.trace.sites.get(key)
        if site is not None and context in site.visits and context[0] == activity.root:
            yield key, context, site


def forget_privacy(activity: Run) -> None:
    """Calls that were not followed may come to any function."""
    for site in activity.trace.sites.values():
        for context, visit in site.visits.items():
            if not visit.public:
                site.visits[context] = replace(visit, public=True)


__all__ = ["forget_privacy", "forget_vague", "leave_off"]
