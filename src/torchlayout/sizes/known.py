"""What is known of sizes at one point, apart from the world in which questions about it are answered."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from torchlayout.sizes.polynomial import Atom, Size
from torchlayout.sizes.symbols import Rest, Shape


class Known:
    """Four tables of what has been learnt, and the answers that follow from them, by world: (proven, assumed).

    Copies share tables and answers until one of them learns something.
    """

    __slots__ = ("answers", "least", "memos", "most", "owned", "ranks", "rewrites")

    def __init__(self) -> None:
        self.rewrites: dict[Atom, Size] = {}
        """What an unknown size is equal to."""
        self.ranks: dict[Rest, Shape] = {}
        """What a run of dimensions consists of."""
        self.least: dict[Atom, int] = {}
        self.most: dict[Atom, int] = {}
        self.owned = True
        """Whether the tables are this object's own."""
        self.forget_answers()

    def forget_answers(self) -> None:
        """Leave the answers given so far behind, as they are: copies may share them."""
        self.answers: tuple[dict[tuple[str, Size, Size], Any], ...] = ({}, {})
        self.memos: tuple[dict[Hashable, Any], ...] = ({}, {})
        """Answers that hold until something is learnt; for the use of whoever asks often."""

    def learning(self) -> None:
        """Before something is learnt: have tables of one's own, and forget the answers."""
        self.forget_answers()
        if not self.owned:
            self.owned = True
            self.rewrites, self.ranks = dict(self.rewrites), dict(self.ranks)
            self.least, self.most = dict(self.least), dict(self.most)

    def copy(self) -> Known:
        new = Known.__new__(Known)
        new.rewrites, new.ranks, new.least, new.most = self.rewrites, self.ranks, self.least, self.most
        new.answers, new.memos = self.answers, self.memos
        new.owned = self.owned = False
        return new

    def join(self, other: Known) -> Known:
        """What both know."""
        if self.rewrites is other.rewrites and self.least is other.least:  # all four are shared, or none
            return self.copy()
        new = Known()
        new.rewrites = {a: s for a, s in self.rewrites.items() if other.rewrites.get(a) == s}
        new.ranks = {r: s for r, s in self.ranks.items() if other.ranks.get(r) == s}
        new.least = {a: min(n, other.least[a]) for a, n in self.least.items() if a in other.least}
        new.most = {a: max(n, other.most[a]) for a, n in self.most.items() if a in other.most}
        return new

    def become(self, other: Known) -> None:
        """Take over all that another one knows."""
        if self.same_as(other):
            return
        self.forget_answers()
        self.owned = True
        self.rewrites, self.ranks = dict(other.rewrites), dict(other.ranks)
        self.least, self.most = dict(other.least), dict(other.most)

    def same_as(self, other: Known) -> bool:
        return self.rewrites is other.rewrites or (
            self.rewrites == other.rewrites
            and self.ranks == other.ranks
            and self.least == other.least
            and self.most == other.most
        )
