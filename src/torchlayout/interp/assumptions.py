"""What the settings let the analysis take for granted: sizes by name, the device, the release of torch."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from torchlayout.sizes import Facts, Poly, Size

if TYPE_CHECKING:
    from torchlayout.ops import Op


def size_bounds(settings: Iterable[tuple[str, tuple[str, ...]]]) -> dict[str, tuple[int, int | None]]:
    """For each name its smallest and, where it is a number, its only value; from texts such as "64", ">1", ">=2"."""
    found: dict[str, tuple[int, int | None]] = {}
    for name, texts in settings:
        for text in texts:
            sign, digits = re.fullmatch(r"(>=?)?(\d+)", text).groups()  # type: ignore[union-attr]
            number = int(digits)
            found[name] = (number, number) if sign is None else (number + (sign == ">"), None)
    return found


def apply_to(size: Size, name: str | None, facts: Facts) -> Size:
    """The size, after what the settings say of that name (whole, or its last part: `heads` of `self.heads`)."""
    known = facts.symbols.sizes
    if not known or name is None or not isinstance(size, Poly):
        return size
    bounds = known.get(name) or known.get(name.rpartition(".")[2])
    if bounds is None:
        return size
    least, only = bounds
    if only is not None:
        facts.learn_equal(size, only)
    else:
        facts.learn_least(size, least)
    return facts.normal(size)


def is_too_new(row: Op, target: str | None) -> bool:
    """Whether an operator came to torch after the oldest release that the code runs on."""
    if row.since is None or target is None or not row.since[:1].isdigit():
        return False
    return _numbers(row.since) > _numbers(target)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])
