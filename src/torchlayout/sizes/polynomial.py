"""Sizes: integers, or integer polynomials over named unknowns.

Vocabulary: an *atom* is one unknown integer (`B`, `x.size(0)`, `n // h`); a *monomial* is a product of atoms; a
*polynomial* is a sum of monomials with integer coefficients, kept in normal form, so that `H * D` and `D * H` are
equal. A `Size` is a plain `int` wherever the value is known, which keeps known sizes as cheap as Python's own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import reduce
from itertools import chain
from operator import attrgetter, mul
from typing import TYPE_CHECKING, Union
from weakref import ref

if TYPE_CHECKING:
    from torchlayout.sizes.symbols import Symbols

MAX_TERMS = 48
"""A polynomial with more terms is not followed: it becomes an atom of its own."""
MAX_DEGREE = 64
"""A polynomial with a longer monomial is not followed either: a tensor has at most 64 dimensions."""
MAX_BITS = 512
"""Nor is one with larger coefficients, which no size has."""

MAX_DIVISION_STEPS = 64


class Atom:
    """One unknown integer. Two atoms are equal only if they are the same object (see `Symbols`).

    `least` is the smallest value it can have, None for a number that may be negative. `name` is how people
    write it, None for one that has no name in the source. `home` makes the atoms that stand for what grows too
    large; without one, polynomials over the atom grow without limit. It is held weakly: it keeps its atoms, and a cycle
    would leave all that an analysis has made to the garbage collector.
    """

    __slots__ = ("_home", "index", "key", "least", "name")

    def __init__(
        self, index: int, key: Hashable, name: str | None, least: int | None, home: Symbols | None = None
    ) -> None:
        self.index = index
        self.key = key
        self.name = name
        self.least = least
        self._home = None if home is None else ref(home)

    @property
    def home(self) -> Symbols | None:
        return None if self._home is None else self._home()

    def __lt__(self, other: Atom) -> bool:
        return self.index < other.index

    def __repr__(self) -> str:
        return self.name or "?"


Monomial = tuple[Atom, ...]


class Poly:
    """A polynomial that is not a plain integer. Immutable; `+ - *` and `==` as in mathematics."""

    __slots__ = ("_atoms", "_hash", "terms")

    def __init__(self, terms: dict[Monomial, int]) -> None:
        self.terms = terms
        self._hash = 0
        self._atoms: frozenset[Atom] | None = None

    def __hash__(self) -> int:
        if not self._hash:
            self._hash = hash(frozenset(self.terms.items())) or 1
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Poly) and self.terms == other.terms)

    def __add__(self, other: Size) -> Size:
        if isinstance(other, int):
            return self._plus(other)
        total = _sum(self.terms, other.terms, 1)
        return total if isinstance(total, int) or len(total.terms) <= MAX_TERMS else _as_atom("+", self, other, total)

    __radd__ = __add__

    def __neg__(self) -> Poly:
        return Poly({monomial: -factor for monomial, factor in self.terms.items()})

    def __sub__(self, other: Size) -> Size:
        if isinstance(other, int):
            return self._plus(-other)
        rest = _sum(self.terms, other.terms, -1)
        return rest if isinstance(rest, int) or len(rest.terms) <= MAX_TERMS else _as_atom("+", self, -other, rest)

    def __rsub__(self, other: int) -> Size:
        return (-self)._plus(other)

    def _plus(self, number: int) -> Poly:
        if not number:
            return self
        terms = dict(self.terms)
        number += terms.pop((), 0)
        if number:
            terms[()] = number
        return Poly(terms)

    def __mul__(self, other: Size) -> Size:
        if isinstance(other, int):
            if other == 1:
                return self
            scaled = Poly({m: f * other for m, f in self.terms.items()}) if other else 0
            return _as_atom("*", self, other, scaled) if _is_large(scaled) else scaled
        if len(self.terms) == 1 and len(other.terms) == 1:
            ((left, factor),) = self.terms.items()
            ((right, other_factor),) = other.terms.items()
            monomial = _times(left, right)
            factor *= other_factor
            single = Poly({monomial: factor})
            return _as_atom("*", self, other, single) if _is_large_term(monomial, factor) else single
        terms: dict[Monomial, int] = {}
        for left, factor in self.terms.items():
            for right, other_factor in other.terms.items():
                monomial = _times(left, right)
                terms[monomial] = terms.get(monomial, 0) + factor * other_factor
        product = _normal(terms)
        return _as_atom("*", self, other, product) if _is_large(product) else product

    __rmul__ = __mul__

    def atoms(self) -> frozenset[Atom]:
        """The unknowns in it."""
        if self._atoms is None:
            self._atoms = frozenset(chain.from_iterable(self.terms))
        return self._atoms

    def __repr__(self) -> str:
        return render(self)


Size = Union[int, Poly]


_index = attrgetter("index")


def _times(left: Monomial, right: Monomial) -> Monomial:
    """The product of two monomials, its atoms in order."""
    if not left or not right or left[-1].index <= right[0].index:
        return left + right
    if right[-1].index <= left[0].index:
        return right + left
    return tuple(sorted(left + right, key=_index))


def _sum(terms: dict[Monomial, int], others: dict[Monomial, int], sign: int) -> Size:
    """The sum of the one and `sign` times the other."""
    terms = dict(terms)
    for monomial, factor in others.items():
        total = terms.get(monomial, 0) + sign * factor
        if total:
            terms[monomial] = total
        else:
            del terms[monomial]
    if len(terms) <= 1:
        if not terms:
            return 0
        if () in terms:
            return terms[()]
    return Poly(terms)


def _normal(terms: dict[Monomial, int]) -> Size:
    """The size of these terms, of which one at least is not 0."""
    terms = {monomial: factor for monomial, factor in terms.items() if factor}
    if len(terms) == 1 and () in terms:
        return terms[()]
    return Poly(terms)


def _is_large(size: Size) -> bool:
    """Whether a polynomial is more than what is followed."""
    return isinstance(size, Poly) and (
        len(size.terms) > MAX_TERMS or any(_is_large_term(monomial, factor) for monomial, factor in size.terms.items())
    )


def _is_large_term(monomial: Monomial, factor: int) -> bool:
    return len(monomial) > MAX_DEGREE or factor.bit_length() > MAX_BITS


def _as_atom(op: str, left: Poly, right: Size, result: Size) -> Size:
    """The unknown that stands for a result that is too large, the same for the same operation.

    The result itself where nobody makes atoms.
    """
    home = next(iter(left.atoms())).home
    if home is None:
        return result
    least = 0 if all(_is_natural(side) for side in (left, right)) else None
    return home.atom((op, frozenset((left, right))), None, least)


def _is_natural(size: Size) -> bool:
    """Whether a size cannot be negative, as far as signs tell."""
    if isinstance(size, int):
        return size >= 0
    positive = all(factor > 0 for factor in size.terms.values())
    return positive and all(atom.least is not None and atom.least >= 0 for atom in size.atoms())


def of_atom(atom: Atom) -> Poly:
    """The polynomial that is just this atom."""
    return Poly({(atom,): 1})


def product(sizes: Iterable[Size]) -> Size:
    """The product of all; 1 for none."""
    return reduce(mul, sizes, 1)


def single_atom(size: Size) -> Atom | None:
    """The atom that this size is, if it is just one."""
    if isinstance(size, Poly) and len(size.terms) == 1:
        ((monomial, factor),) = size.terms.items()
        if factor == 1 and len(monomial) == 1:
            return monomial[0]
    return None


def _divide_monomial(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    if not divisor:
        return monomial
    rest = list(monomial)
    for atom in divisor:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def exact_quotient(size: Size, divisor: Size) -> Size | None:
    """The size q with `q * divisor == size` as polynomials; None where there is none, or division by 0."""
    if isinstance(divisor, int):
        if divisor == 0:
            return None
        if divisor == 1:
            return size
        if isinstance(size, int):
            return size // divisor if size % divisor == 0 else None
        if any(factor % divisor for factor in size.terms.values()):
            return None
        return Poly({m: f // divisor for m, f in size.terms.items()})
    if isinstance(size, int):
        return 0 if size == 0 else None
    if size.terms == divisor.terms:
        return 1
    lead = max(divisor.terms, key=_order)
    lead_factor = divisor.terms[lead]
    quotient: dict[Monomial, int] = {}
    rest: Size = size
    for _ in range(MAX_DIVISION_STEPS):
        if isinstance(rest, int):
            return _normal(quotient) if rest == 0 else None
        top = max(rest.terms, key=_order)
        monomial = _divide_monomial(top, lead)
        if monomial is None or rest.terms[top] % lead_factor:
            return None
        factor = rest.terms[top] // lead_factor
        quotient[monomial] = factor
        rest = rest - _normal({monomial: factor}) * divisor
    return None


def _order(monomial: Monomial) -> tuple[int, tuple[int, ...]]:
    """A monomial order (graded, then lexicographic), as polynomial division needs."""
    return len(monomial), tuple(-atom.index for atom in monomial)


def common_factor(size: Poly) -> Monomial:
    """The largest monomial that divides every term."""
    monomials = iter(size.terms)
    common = list(next(monomials))
    for monomial in monomials:
        rest = list(monomial)
        kept = []
        for atom in common:
            if atom in rest:
                rest.remove(atom)
                kept.append(atom)
        common = kept
        if not common:
            break
    return tuple(common)


def substitute(size: Size, values: dict[Atom, Size]) -> Size:
    """Replace atoms by sizes, all at once."""
    if isinstance(size, int):
        return size
    result: Size = 0
    untouched: dict[Monomial, int] = {}
    for monomial, factor in size.terms.items():
        if values.keys().isdisjoint(monomial):
            untouched[monomial] = factor
            continue
        term: Size = factor
        for atom in monomial:
            term = term * (values[atom] if atom in values else of_atom(atom))
        result = result + term
    return result + _normal(untouched) if untouched else result


def render(size: Size) -> str:
    """As people write it: `B*T`, `2*C + 1`; "?" where an atom has no name."""
    if isinstance(size, int):
        return str(size)
    if any(not atom.name for atom in size.atoms()):
        return "?"
    parts: list[str] = []
    for monomial, factor in sorted(size.terms.items(), key=lambda term: _order(term[0]), reverse=True):
        alone = len(monomial) == 1 and factor == 1
        names = [atom.name or "?" if alone else _factor_name(atom) for atom in monomial]
        if not names or abs(factor) != 1:
            names.insert(0, str(abs(factor)))
        sign = "-" if factor < 0 else "+"
        text = "*".join(names)
        parts.append(f" {sign} {text}" if parts else f"{'-' if factor < 0 else ''}{text}")
    return "".join(parts)


def _factor_name(atom: Atom) -> str:
    """As a factor of a product: in parentheses if it is an operation itself."""
    name = atom.name or "?"
    is_call = name.endswith(")") and not name.startswith("(") and "//" not in name and "%" not in name
    return f"({name})" if any(mark in name for mark in (" ", "//", "%")) and not is_call else name
