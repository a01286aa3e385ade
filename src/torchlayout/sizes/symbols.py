"""The makers of unknowns: one `Symbols` for each file, one unknown for each key.

Vocabulary: a *rest* is a run of dimensions whose number is not known yet (`x` of unknown rank is one rest); it is
*bound* once code tells what it consists of.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Union

from torchlayout.sizes.polynomial import Atom, Poly, Size, of_atom, render


class Rest:
    """A run of dimensions of unknown number; `numel` is the product of their sizes."""

    __slots__ = ("key", "name", "numel")

    def __init__(self, key: Hashable, name: str | None, numel: Poly) -> None:
        self.key = key
        self.name = name
        self.numel = numel

    def __repr__(self) -> str:
        return f"*{self.name or '?'}"


Extent = Union[int, Poly, Rest]
"""One item of a shape: a size, or a run of unknown dimensions."""
Shape = tuple[Extent, ...]


class Symbols:
    """Makes atoms and rests, one for each key, so that the same question twice gives the same unknown."""

    def __init__(self) -> None:
        self._atoms: dict[Hashable, Poly] = {}
        """Each as a polynomial, the same object each time, for its hash is kept with it."""
        self._rests: dict[Hashable, Rest] = {}
        self.sizes: Mapping[str, tuple[int, int | None]] = {}
        """What the settings say of sizes by name: the least value, and the only one where it is a number."""
        self.device: str | None = None
        """The device that tensors are taken to live on."""
        self.sets_dtype = False
        """Whether the program sets torch's default dtype."""
        self.failures: list[str] = []
        """What went wrong inside operators of the table: their results are then unknown."""
        self.standing: dict[Atom, Size] = {}
        """Unknowns that stand for a size that only the assumed world knows, and that size."""
        self.ints: set[Hashable] = set()
        """Keys of values that are not known, but used as only an int can be."""
        self.place: Hashable = None
        """Where in the program the operator stands that is being applied: part of the key of `fresh` unknowns."""

    def fresh(self, tag: Hashable, name: str | None = None, least: int | None = 0) -> Poly:
        """An unknown that belongs to the operator being applied, such as the number of elements of a mask."""
        return self.atom(("fresh", tag, self.place), name, least)

    def fresh_rest(self, tag: Hashable) -> Rest:
        return self.rest(("fresh", tag, self.place))

    def atom(self, key: Hashable, name: str | None = None, least: int | None = 0) -> Poly:
        """The unknown of this key; `least` 0 for a size, None for any number."""
        found = self._atoms.get(key)
        if found is None:
            found = self._atoms[key] = of_atom(Atom(len(self._atoms), key, name, least, self))
        return found

    def stand_in(self, key: Hashable, size: Size) -> Poly:
        """An unknown that is this size in the assumed world, and any size in the proven one."""
        name = None if isinstance(size, int) else render(size)
        made = self.atom(("assumed", key, size), None if name == "?" else name)
        (atom,) = made.atoms()
        self.standing[atom] = size
        return made

    def knows_rest(self, key: Hashable) -> bool:
        """Whether this key has been asked for a run of dimensions."""
        return key in self._rests

    def rest(self, key: Hashable, name: str | None = None) -> Rest:
        found = self._rests.get(key)
        if found is None:
            numel = self.atom(("numel", key), f"{name}.numel()" if name else None)
            found = self._rests[key] = Rest(key, name, numel)
        return found
