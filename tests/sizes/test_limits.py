"""What grows too large to follow becomes an unknown of its own: the same for the same operation."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from torchlayout.sizes import Atom, Facts, Poly, Size, exact_quotient, of_atom, product, single_atom
from torchlayout.sizes.polynomial import MAX_BITS, MAX_DEGREE, MAX_TERMS


class Many:
    """A hundred unknowns of one file."""

    def __init__(self) -> None:
        self.facts = Facts()
        self.sizes = [self.facts.symbols.atom(index, f"n{index}") for index in range(100)]

    def total(self, start: int, stop: int) -> Size:
        return sum(self.sizes[start + 1 : stop], self.sizes[start])

    def product(self, count: int) -> Size:
        return product(self.sizes[:count])


@pytest.fixture
def n() -> Many:
    return Many()


HALF = MAX_BITS // 2
LIMITS: dict[str, tuple[Callable[[Many], Size], Callable[[Many], Size]]] = {
    "terms added": (lambda n: n.total(0, MAX_TERMS), lambda n: n.total(0, MAX_TERMS) + n.sizes[99]),
    "terms subtracted": (
        lambda n: n.total(0, MAX_TERMS - 1) - n.sizes[98],
        lambda n: n.total(0, MAX_TERMS) - n.sizes[98],
    ),
    "terms multiplied": (
        lambda n: n.total(0, MAX_TERMS // 2) * (n.sizes[98] + 1),
        lambda n: n.total(0, MAX_TERMS // 2 + 1) * (n.sizes[98] + 1),
    ),
    "degree": (lambda n: n.product(MAX_DEGREE), lambda n: n.product(MAX_DEGREE + 1)),
    "degree of sums": (
        lambda n: n.product(MAX_DEGREE - 1) * (n.sizes[99] + 1),
        lambda n: n.product(MAX_DEGREE) * (n.sizes[99] + 1),
    ),
    "bits": (lambda n: n.sizes[0] * (2**MAX_BITS - 1), lambda n: n.sizes[0] * 2**MAX_BITS),
    "bits of a product": (
        lambda n: n.sizes[0] * 2**HALF * (n.sizes[1] * 2 ** (HALF - 1)),
        lambda n: n.sizes[0] * 2**HALF * (n.sizes[1] * 2**HALF),
    ),
}


@pytest.mark.parametrize(("fits", "too_large"), LIMITS.values(), ids=list(LIMITS))
def test_limits(fits: Callable[[Many], Size], too_large: Callable[[Many], Size], n: Many) -> None:
    assert single_atom(fits(n)) is None
    atom = single_atom(too_large(n))
    assert atom is not None and atom.name is None and atom.home is n.facts.symbols
    assert too_large(n) == of_atom(atom)


def test_limits_are_those_of_torch_and_of_reason() -> None:
    """torch has at most 64 dimensions, and sizes of 64 bits."""
    assert (MAX_TERMS, MAX_DEGREE, MAX_BITS) == (48, 64, 512)


def test_the_operation_decides_which_unknown_it_is(n: Many) -> None:
    a, b = n.total(0, 40), n.total(40, 70)
    assert isinstance(a, Poly) and isinstance(b, Poly)
    assert a + b == b + a == a - (-b)
    assert a * b == b * a
    assert len({a + b, a - b, b - a, a * b}) == 4


@pytest.mark.parametrize("operation", [lambda a, b: a + b, lambda a, b: b + a, lambda a, b: a * b])
def test_the_result_is_not_negative_where_neither_side_is(operation: Callable[[Size, Size], Size]) -> None:
    def least(of: Callable[[Many], tuple[Size, Size]]) -> int | None:
        n = Many()
        low, high = n.facts.bounds(operation(*of(n)))
        assert high is None
        return low

    assert least(lambda n: (n.total(0, 40), n.total(40, 70))) == 0
    assert least(lambda n: (n.total(0, 40) * 2 + 1, n.total(40, 70) + 3)) == 0
    assert least(lambda n: (n.total(0, 40) - 1, n.total(40, 70))) is None
    assert least(lambda n: (n.total(0, 40), n.total(40, 70) - n.sizes[71])) is None
    assert least(lambda n: (n.total(0, 40), n.total(40, 70) + n.facts.symbols.atom("z", "z", None))) is None
    assert least(lambda n: (n.total(0, 40), n.total(40, 70) + n.facts.symbols.atom("z", "z", -3))) is None
    assert least(lambda n: (n.total(0, 40), n.total(40, 70) + n.facts.symbols.atom("z", "z", 3))) == 0


@pytest.mark.parametrize(("factor", "least"), [(2**MAX_BITS, 0), (-(2**MAX_BITS), None)])
def test_a_large_number_of_times(factor: int, least: int | None, n: Many) -> None:
    assert n.facts.bounds(n.sizes[0] * factor) == (least, None)


def test_a_sum_of_a_few_negative_ones_is_an_unknown_that_may_be_negative(n: Many) -> None:
    assert n.facts.bounds(n.total(0, 40) - n.total(40, 70)) == (None, None)


def test_what_cancels_out_in_the_end_is_no_unknown(n: Many) -> None:
    half = n.total(0, MAX_TERMS)
    assert half - half == 0
    assert (half + 1) - half == 1
    assert half + n.sizes[0] == half - n.sizes[1] + n.sizes[1] + n.sizes[0]


def test_without_a_home_sizes_grow_without_limit() -> None:
    atoms = [of_atom(Atom(index, index, f"n{index}", 0)) for index in range(MAX_TERMS + 20)]
    large = sum(atoms[1:], atoms[0])
    assert isinstance(large, Poly) and len(large.terms) == MAX_TERMS + 20
    difference = large - sum(atoms[:10], -atoms[-1] * 2)
    assert isinstance(difference, Poly) and len(difference.terms) == MAX_TERMS + 10
    for scaled in (atoms[0] * 2**600, (atoms[0] + 1) * ((atoms[1] + 1) * 2**600)):
        assert isinstance(scaled, Poly) and max(scaled.terms.values()) == 2**600
    degree = product(atoms)
    assert isinstance(degree, Poly) and max(map(len, degree.terms)) == MAX_TERMS + 20


def test_a_division_has_at_most_so_many_steps() -> None:
    """(B**n - 1) / (B - 1) has n terms, a step each, and a last one sees that nothing is left."""
    size = of_atom(Atom(0, "B", "B", 0))
    power = {n: product([size] * n) for n in (63, 64)}
    quotient = exact_quotient(power[63] - 1, size - 1)
    assert isinstance(quotient, Poly) and len(quotient.terms) == 63
    assert exact_quotient(power[64] - 1, size - 1) is None
