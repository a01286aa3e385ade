"""What each code claims of a marked line, asked of torch."""

from __future__ import annotations

import re
from collections.abc import Callable

from programs import Run, marks, run, same_values, without_marks

Claim = Callable[[str, int, Run, str], bool]
"""Whether a program (source, marked line, its run, device) bears out the mark."""


def raises(error: type[Exception], message: str) -> Claim:
    def claim(source: str, line: int, seen: Run, device: str) -> bool:
        return isinstance(seen.error, error) and seen.line == line and re.search(message, str(seen.error)) is not None

    return claim


def raises_after_working(source: str, line: int, seen: Run, device: str) -> bool:
    """The same line ran before it raised."""
    return VIEW_RAISES(source, line, seen, device) and bool(seen.at(line, "view", "view_as", "unflatten"))


def does_nothing(source: str, line: int, seen: Run, device: str) -> bool:
    events = seen.at(line, "contiguous")
    return bool(events) and all(event.same_tensor for event in events)


def is_thrown_away(source: str, line: int, seen: Run, device: str) -> bool:
    """Without the copy everything comes out the same."""
    return bool(seen.at(line, "contiguous")) and same_values(seen, run(source, device, frozenset([line])))


def copies_twice(source: str, line: int, seen: Run, device: str) -> bool:
    copies = [event for event in seen.at(line, "contiguous", "clone", "to", "float", "half") if event.copied]
    return len(copies) >= 2


def nobody_needs_it(source: str, line: int, seen: Run, device: str) -> bool:
    """The copy is made, and without it everything comes out the same."""
    events = seen.at(line, "contiguous")
    return any(event.copied for event in events) and is_thrown_away(source, line, seen, device)


def copies_the_same(source: str, line: int, seen: Run, device: str) -> bool:
    """Every turn copies one and the same, unchanged tensor."""
    events = seen.at(line, "contiguous")
    return (
        len(events) > 1
        and all(event.copied for event in events)
        and len({(event.before, event.version) for event in events}) == 1
    )


def copies_each_time(*names: str) -> Claim:
    def claim(source: str, line: int, seen: Run, device: str) -> bool:
        events = seen.at(line, *names)
        return len(events) > 1 and sum(event.copied for event in events) > 1

    return claim


def copies(*names: str) -> Claim:
    def claim(source: str, line: int, seen: Run, device: str) -> bool:
        return any(event.copied for event in seen.at(line, *names))

    return claim


def loses_channels_last(source: str, line: int, seen: Run, device: str) -> bool:
    return any(
        event.copied and event.before is not None and event.before[2][1] == 1 and event.is_contiguous
        for event in seen.at(line, "contiguous")
    )


def write_is_lost(source: str, line: int, seen: Run, device: str) -> bool:
    """Without the line, everything comes out the same."""
    lines = source.split("\n")
    lines[line - 1] = re.match(r"\s*", lines[line - 1])[0] + "pass"  # type: ignore[index]
    return seen.error is None and same_values(seen, run("\n".join(lines), device))


def shared_write(source: str, line: int, seen: Run, device: str) -> bool:
    """torch refuses the write, or the tensor afterwards holds what was never written to those elements."""
    return OVERLAP_RAISES(source, line, seen, device) or (seen.error is None and "dense" in seen.values)


def runs(source: str, line: int, seen: Run, device: str) -> bool:
    return seen.error is None


VIEW_RAISES = raises(RuntimeError, "view size is not compatible|unflatten")
OVERLAP_RAISES = raises(RuntimeError, "more than one element of the written-to tensor")

CLAIMS: dict[str, Claim] = {
    "LAY101": VIEW_RAISES,
    "LAY102": raises_after_working,
    "LAY103": raises(RuntimeError, "different element sizes|last dimension|stride"),
    "LAY104": raises(ValueError, "negative|step must be greater than zero"),
    "LAY105": shared_write,
    "LAY106": raises((RuntimeError, ValueError), "contiguous|non-overlapping|could not retrieve buffer"),  # type: ignore[arg-type]
    "LAY107": runs,
    "LAY108": write_is_lost,
    "LAY201": does_nothing,
    "LAY202": is_thrown_away,
    "LAY203": copies_twice,
    "LAY204": nobody_needs_it,
    "LAY205": runs,
    "LAY301": copies_the_same,
    "LAY302": copies_each_time("contiguous"),
    "LAY303": copies_each_time("reshape", "flatten"),
    "LAY401": copies("reshape", "flatten"),
    "LAY402": copies("contiguous"),
    "LAY403": loses_channels_last,
    "LAY900": runs,
}

__all__ = ["CLAIMS", "marks", "without_marks"]
