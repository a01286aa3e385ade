"""The algebra of sizes, one law a line, and its agreement with integers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlayout.sizes import Atom, Poly, Size, exact_quotient, of_atom, product, render, single_atom
from torchlayout.sizes.polynomial import common_factor, substitute

ATOMS = [Atom(index, name, name, 0) for index, name in enumerate(["B", "T", "C"])]
B, T, C = (of_atom(atom) for atom in ATOMS)


@st.composite
def sizes(draw: st.DrawFn) -> Size:
    total: Size = 0
    for _ in range(draw(st.integers(0, 3))):
        term: Size = draw(st.integers(-3, 3))
        for atom in draw(st.lists(st.sampled_from(ATOMS), max_size=2)):
            term = term * of_atom(atom)
        total = total + term
    return total


NUMBERS = st.fixed_dictionaries({atom: st.integers(0, 9) for atom in ATOMS})


def value(size: Size, numbers: dict[Atom, int]) -> int:
    result = substitute(size, dict(numbers))
    assert isinstance(result, int)
    return result


@given(sizes(), sizes())
def test_addition_is_commutative(a: Size, b: Size) -> None:
    assert a + b == b + a


@given(sizes(), sizes(), sizes())
def test_addition_is_associative(a: Size, b: Size, c: Size) -> None:
    assert (a + b) + c == a + (b + c)


@given(sizes(), sizes())
def test_multiplication_is_commutative(a: Size, b: Size) -> None:
    assert a * b == b * a


@given(sizes(), sizes(), sizes())
def test_multiplication_is_associative(a: Size, b: Size, c: Size) -> None:
    assert (a * b) * c == a * (b * c)


@given(sizes(), sizes(), sizes())
def test_multiplication_distributes(a: Size, b: Size, c: Size) -> None:
    assert a * (b + c) == a * b + a * c


def test_terms_that_cancel_out_are_gone() -> None:
    product = (B - T) * (B + T)
    assert product == B * B - T * T and repr(product) == "B*B - T*T"
    assert (B + T) - T == B and (B + 1) - B == 1


@given(sizes())
def test_units(a: Size) -> None:
    assert a + 0 == a and a * 1 == a and a * 0 == 0


@given(sizes())
def test_a_size_minus_itself_is_nothing(a: Size) -> None:
    assert a - a == 0


@given(sizes(), sizes())
def test_equal_sizes_have_equal_hashes(a: Size, b: Size) -> None:
    assert hash(a + b) == hash(b + a)


@given(sizes())
def test_normal_form_has_no_zero_terms(a: Size) -> None:
    assert isinstance(a, int) or (a.terms and all(a.terms.values()) and set(a.terms) != {()})


@pytest.mark.parametrize("operation", [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b])
@given(a=sizes(), b=sizes(), numbers=NUMBERS)
def test_arithmetic_is_that_of_the_numbers(
    operation: Callable[[Size, Size], Size], a: Size, b: Size, numbers: dict[Atom, int]
) -> None:
    assert value(operation(a, b), numbers) == operation(value(a, numbers), value(b, numbers))


@given(sizes(), sizes())
def test_a_product_divides_exactly(a: Size, b: Size) -> None:
    if b != 0:
        assert exact_quotient(a * b, b) == a


@given(sizes(), sizes())
def test_a_quotient_times_its_divisor_is_the_size(a: Size, b: Size) -> None:
    quotient = exact_quotient(a, b)
    if quotient is not None:
        assert quotient * b == a


def test_what_does_not_divide_has_no_quotient() -> None:
    assert exact_quotient(B + 1, B) is None
    assert exact_quotient(B, T) is None
    assert exact_quotient(B * 3, 2) is None
    assert exact_quotient(7, 2) is None
    assert exact_quotient(B, 0) is None


@pytest.mark.parametrize(
    ("size", "divisor", "quotient"),
    [
        (6, 3, 2),
        (-6, 3, -2),
        (0, B, 0),
        (5, B, None),
        (B, 1, B),
        (0, 0, None),
        (B * 6, 3, B * 2),
        (B * 6 + 3, 3, B * 2 + 1),
        (B * 6 + 2, 3, None),
        (B * T * 2, B * 2, T),
        (B * T * 3, B * 2, None),
        (B * B - T * T, B + T, B - T),
        (B * B + T, B + T, None),
        (B * B * T, B * T * T, None),
        (B * T + C, B, None),
    ],
)
def test_exact_quotients(size: Size, divisor: Size, quotient: Size | None) -> None:
    assert exact_quotient(size, divisor) == quotient


@pytest.mark.parametrize(
    ("size", "factor"),
    [
        (B * T, B * T),
        (B * B * T + B * B, B * B),
        (B * B * T + B * T * T, B * T),
        (B * T * 2 + B * 4, B),
        (B * T + T * C, T),
        (B * T + T * C + B * C, 1),
        (B * B + B * B * B, B * B),
        (B + 1, 1),
    ],
)
def test_common_factors(size: Poly, factor: Size) -> None:
    assert product(of_atom(atom) for atom in common_factor(size)) == factor


@given(sizes())
def test_the_common_factor_divides(a: Size) -> None:
    if isinstance(a, Poly):
        assert exact_quotient(a, product(of_atom(atom) for atom in common_factor(a))) is not None


def test_substitution_is_simultaneous() -> None:
    assert substitute(B * 2 + T, {ATOMS[0]: T, ATOMS[1]: B}) == T * 2 + B


@given(sizes(), sizes(), sizes(), NUMBERS)
def test_substituting_is_putting_in(a: Size, b: Size, c: Size, numbers: dict[Atom, int]) -> None:
    replaced = substitute(a, {ATOMS[0]: b, ATOMS[2]: c})
    inner = {**numbers, ATOMS[0]: value(b, numbers), ATOMS[2]: value(c, numbers)}
    assert value(replaced, numbers) == value(a, inner)


def test_single_atom() -> None:
    assert single_atom(B) is ATOMS[0]
    assert single_atom(B * 2) is None and single_atom(B * T) is None and single_atom(B + 1) is None
    assert single_atom(3) is None


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0"),
        (B * T, "B*T"),
        (T * B, "B*T"),
        (B * 2 + 1, "2*B + 1"),
        (B - T, "B - T"),
        (-B, "-B"),
        (3 - B * T, "-B*T + 3"),
        (B * -2 - 3, "-2*B - 3"),
        (B * T + T * C + T, "B*T + T*C + T"),
        (B + B * B, "B*B + B"),
        (of_atom(Atom(9, "k", "n + 1", 0)) * B, "B*(n + 1)"),
        (of_atom(Atom(9, "k", None, 0)) + 1, "?"),
        (of_atom(Atom(9, "k", None, 0)) * B, "?"),
        (of_atom(Atom(9, "k", "n + 1", 0)), "n + 1"),
        (of_atom(Atom(9, "k", "n//2", 0)) + 1, "n//2 + 1"),
        (of_atom(Atom(9, "k", "n//2", 0)) * 3, "3*(n//2)"),
        (of_atom(Atom(9, "k", "n%2", 0)) * B, "B*(n%2)"),
        (of_atom(Atom(9, "k", "min(n, 2)", 0)) * 3, "3*min(n, 2)"),
        (of_atom(Atom(9, "k", "x.size(0)", 0)) * B, "B*x.size(0)"),
        (of_atom(Atom(9, "k", "(n + 1)//2", 0)) * B, "B*((n + 1)//2)"),
        (of_atom(Atom(9, "k", "n//x.size(0)", 0)) * B, "B*(n//x.size(0))"),
        (of_atom(Atom(9, "k", "n%x.size(0)", 0)) * B, "B*(n%x.size(0))"),
        (of_atom(Atom(9, "k", "(n + 1)*len(x)", 0)) * B, "B*((n + 1)*len(x))"),
    ],
)
def test_rendering(size: Size, text: str) -> None:
    assert render(size) == text


COMPOUND = [Atom(index, index, name, 0) for index, name in enumerate(["B", "T + 1", "T//2", "T%3", "min(B, 2)"])]


@given(sizes(), NUMBERS)
def test_rendered_text_has_the_value(a: Size, numbers: dict[Atom, int]) -> None:
    names = {atom.name or "": number for atom, number in numbers.items()}
    assert eval(render(a), {}, names) == value(a, numbers)


@given(st.lists(st.tuples(st.integers(-2, 2), st.lists(st.sampled_from(COMPOUND), max_size=2)), max_size=4), NUMBERS)
def test_names_of_operations_keep_their_value(terms: list[tuple[int, list[Atom]]], numbers: dict[Atom, int]) -> None:
    names = {atom.name or "": number for atom, number in numbers.items()}
    size = sum((product(map(of_atom, atoms)) * factor for factor, atoms in terms), start=0)
    values = {atom: eval(atom.name or "", {}, names) for atom in COMPOUND}
    assert eval(render(size), {}, names) == value(size, values)
