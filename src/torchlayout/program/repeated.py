"""Text that was lowered before: libraries repeat functions word for word, from file to file.

What a text means does not depend on where it stands, but for the line numbers. Renumbering the nodes costs a tenth of
what parsing the text again does.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from torchlayout.program import nodes
from torchlayout.program.spans import Span

MAX_KEPT = 1000
"""Texts that are kept, those that came last: some ten megabytes."""


class Repeated:
    """The blocks that texts were lowered to, with the line numbers that the nodes bear."""

    def __init__(self, limit: int = MAX_KEPT) -> None:
        self._limit = limit
        self._known: OrderedDict[str, tuple[nodes.Block, list[int]]] = OrderedDict()

    def find(self, text: str, lines: list[int]) -> nodes.Block | None:
        """The block of a text whose lines have these numbers; None where the text is new."""
        found = self._known.get(text)
        if found is None:
            return None
        self._known.move_to_end(text)
        block, numbers = found
        if numbers == lines:
            return block
        try:
            moved: nodes.Block = _moved(block, dict(zip(numbers, lines, strict=True)))
        except RecursionError:  # asked for deep in a run: then what parsing says counts, as without the earlier text
            return None
        return moved

    def keep(self, text: str, lines: Sequence[int], block: nodes.Block) -> None:
        self._known[text] = (block, list(lines))
        if len(self._known) > self._limit:
            self._known.popitem(last=False)


def _moved(part: Any, numbers: Mapping[int, int]) -> Any:
    """A node, or what a node holds, with other line numbers."""
    kind = type(part)
    if kind is Span:
        return Span(numbers[part.line], part.column, numbers[part.end_line], part.end_column)
    if kind is tuple:
        return tuple([_moved(item, numbers) for item in part])
    if isinstance(part, tuple):
        return kind(*[_moved(item, numbers) for item in part])
    names = getattr(kind, "__struct_fields__", ())
    return kind(*[_moved(getattr(part, name), numbers) for name in names]) if names else part
