"""Texts that stand in many places, such as functions copied from model to model: lowered twice, then copied.

Of all that is parsed of transformers 5.24.0, a sixth has been parsed twice before; copying takes a twentieth of the
time. What is kept is bytes, and of a text that was seen once only that it was: through nodes the garbage collector
would go again and again.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Mapping
from typing import Any

from torchlayout.program import nodes
from torchlayout.program.spans import Span

MAX_KEPT = 6_000_000
"""Bytes that are kept; the oldest go first."""
MAX_SEEN = 100_000
"""Texts of which is known that they have been seen."""

Key = tuple[bool, str]
Kept = tuple[bytes, list[int]]
"""A packed block, and the lines of its text when it was packed."""


class Repeats:
    """Lowered blocks by their texts."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._kept: dict[Key, Kept] = {}
        self._kept_size = 0

    def lowered(self, key: Key, lines: list[int], lower: Callable[[], nodes.Block]) -> nodes.Block:
        """The block of a text whose lines are those of the file in `lines`.

        `lower` makes it, its spans in those lines; what that raises is not kept.
        """
        kept = self._kept.get(key)
        if kept is not None:
            return _placed(kept, lines)
        made = lower()
        if hash(key) in self._seen:
            self._keep(key, made, lines)
        else:
            if len(self._seen) >= MAX_SEEN:
                self._seen.clear()
            self._seen.add(hash(key))
        return made

    def _keep(self, key: Key, made: nodes.Block, lines: list[int]) -> None:
        try:
            packed = pickle.dumps(made, pickle.HIGHEST_PROTOCOL)
        except RecursionError:  # nodes too deep inside one another
            return
        self._kept[key] = packed, lines
        self._kept_size += len(packed)
        while self._kept_size > MAX_KEPT:
            self._kept_size -= len(self._kept.pop(next(iter(self._kept)))[0])


def _placed(kept: Kept, lines: list[int]) -> nodes.Block:
    """A copy of a block, its spans moved to these lines."""
    packed, before = kept
    block: nodes.Block = _Placing(packed, dict(zip(before, lines, strict=True))).load()
    return block


class _Placing(pickle.Unpickler):
    """Makes spans in other lines."""

    def __init__(self, packed: bytes, moved: Mapping[int, int]) -> None:
        super().__init__(io.BytesIO(packed))
        self._moved = moved

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name)
        return _moving(self._moved) if found is Span else found


def _moving(moved: Mapping[int, int]) -> type:
    """What makes spans in the place of `Span`."""

    def make(_: type, line: int, column: int, end_line: int, end_column: int) -> Span:
        return Span(moved[line], column, moved[end_line], end_column)

    return type("Moved", (), {"__new__": make})
