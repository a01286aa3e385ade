"""Bounds of a polynomial from the least values of its atoms."""

from __future__ import annotations

from torchlayout.sizes.polynomial import Atom, Monomial, Poly

MAX_SHIFTED = 512
"""Terms that a search for bounds may make; beyond that, only sums of positive terms have a bound."""


def shifted_terms(size: Poly, leasts: dict[Atom, int]) -> dict[Monomial, int] | None:
    """The terms after each atom is written as its least value plus an atom of the same name; None where there are
    too many of them."""
    work = sum(1 << sum(leasts[atom] != 0 for atom in monomial) for monomial in size.terms)
    if work > MAX_SHIFTED:
        return None
    shifted: dict[Monomial, int] = {}
    for monomial, factor in size.terms.items():
        parts: dict[Monomial, int] = {(): factor}
        for atom in monomial:  # in order, so that the longer monomials are in order too
            least = leasts[atom]
            longer = {(*part, atom): count for part, count in parts.items()}
            if least:
                for part, count in parts.items():
                    longer[part] = longer.get(part, 0) + count * least
            parts = longer
        for part, count in parts.items():
            shifted[part] = shifted.get(part, 0) + count
    return {part: count for part, count in shifted.items() if count}


def least_of_positive(size: Poly, leasts: dict[Atom, int]) -> int | None:
    """The least value of a sum of positive terms whose atoms are not negative."""
    if any(factor < 0 for factor in size.terms.values()) or any(least < 0 for least in leasts.values()):
        return None
    return value_at(size, leasts)


def value_at(size: Poly, values: dict[Atom, int]) -> int:
    """The value of a polynomial where its atoms have these values."""
    total = 0
    for monomial, factor in size.terms.items():
        for atom in monomial:
            factor *= values[atom]
        total += factor
    return total
