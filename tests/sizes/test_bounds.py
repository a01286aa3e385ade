"""Bounds of polynomials from the least values of their unknowns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from torchlayout.sizes import Atom, Facts, Poly, Size, of_atom, product
from torchlayout.sizes.bounds import least_of_positive, shifted_terms, value_at

ATOMS = [Atom(index, name, name, 0) for index, name in enumerate("BTC")]
B, T, C = (of_atom(atom) for atom in ATOMS)
NUMBERS = st.fixed_dictionaries({atom: st.integers(-3, 9) for atom in ATOMS})
SIZES = st.sampled_from([B, B + 1, B * T - C, B * B * T * 2 - B * 3 + 4, B * T * C - T * T, -B * C + T])


@given(SIZES, NUMBERS)
def test_the_value_at_a_point(size: Poly, numbers: dict[Atom, int]) -> None:
    values = {atom.name or "": number for atom, number in numbers.items()}
    assert value_at(size, numbers) == eval(repr(size), {}, values)


@given(SIZES, NUMBERS, NUMBERS)
def test_shifting_moves_the_origin_to_the_least_values(
    size: Poly, leasts: dict[Atom, int], numbers: dict[Atom, int]
) -> None:
    shifted = shifted_terms(size, leasts)
    assert shifted is not None
    above = {atom: number - leasts[atom] for atom, number in numbers.items()}
    assert value_at(Poly(shifted), above) == value_at(size, numbers)


def test_terms_that_cancel_out_are_left_out() -> None:
    """(b + 1) * (t + 2) - (t + 2) is b*t + 2*b."""
    b, t, _ = ATOMS
    assert shifted_terms(B * T - T, {b: 1, t: 2}) == {(b, t): 1, (b,): 2}


def _many(count: int, least: int = 0) -> tuple[Size, dict[Atom, int]]:
    atoms = [Atom(index, index, None, least) for index in range(count)]
    return product(map(of_atom, atoms)), dict.fromkeys(atoms, least)


def test_a_product_of_ten_sizes_of_at_least_two_is_too_much_to_shift() -> None:
    """Each one doubles the number of terms, of which there may be 512; those that may be 0 leave it as it is."""
    nine, leasts = _many(9, least=2)
    assert isinstance(nine, Poly)
    found = shifted_terms(nine, leasts)
    assert found is not None and len(found) == 512
    assert shifted_terms(nine + of_atom(ATOMS[0]), {**leasts, ATOMS[0]: 0}) is None
    ten, leasts = _many(10, least=2)
    assert isinstance(ten, Poly)
    assert shifted_terms(ten, leasts) is None
    free, leasts = _many(30, least=0)
    assert isinstance(free, Poly)
    assert shifted_terms(free, leasts) == free.terms


def test_the_least_value_of_positive_terms_is_that_at_the_least_sizes() -> None:
    b, t, _ = ATOMS
    assert least_of_positive(B * T * 2 + T, {b: 3, t: 2}) == 14
    assert least_of_positive(B + T, {b: 0, t: 0}) == 0
    assert least_of_positive(B - T, {b: 3, t: 2}) is None
    assert least_of_positive(B + T, {b: 3, t: -1}) is None


def test_what_is_too_much_to_shift_has_a_least_value_all_the_same() -> None:
    facts = Facts()
    sizes = [facts.symbols.atom(index, None, 2) for index in range(10)]
    assert facts.bounds(product(sizes) + sizes[0]) == (2**10 + 2, None)
    for size in sizes:
        facts.learn_most(size, 3)
    assert facts.bounds(product(sizes) + sizes[0]) == (2**10 + 2, None)
    assert facts.bounds(product(sizes) - sizes[0]) == (None, None)
