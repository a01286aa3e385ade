"""What follows from what is learnt."""

from __future__ import annotations

import pytest

from torchlayout.sizes import MAYBE, NO, YES, Facts, Size, single_atom


@pytest.fixture
def facts() -> Facts:
    return Facts()


def sizes(facts: Facts, names: str) -> list[Size]:
    return [facts.symbols.atom(name, name) for name in names]


def test_what_cannot_be_is_refused_and_what_is_known_is_said(facts: Facts) -> None:
    n, m = sizes(facts, "nm")
    assert facts.learn_equal(3, 4) is NO and facts.learn_equal(3, 3) is YES
    assert facts.learn_equal(n, -1) is NO and facts.learn_equal(-n, 1) is NO
    assert facts.learn_equal(n, n + 1) is NO and facts.learn_equal(n, n) is YES
    assert not facts.known.rewrites
    assert facts.learn_equal(n, m) is MAYBE
    assert facts.learn_equal(n, m) is YES and facts.equal(n, m) is YES


def test_sizes_of_one_are_not_ruled_out_by_assumption(facts: Facts) -> None:
    (n,) = sizes(facts, "n")
    assert facts.assumed_world.learn_equal(n, 1) is MAYBE
    assert facts.equal(n, 1) is YES and facts.assumed_world.equal(n, 1) is YES


def test_the_newest_unknown_that_stands_alone_is_solved_for(facts: Facts) -> None:
    a, b, c = sizes(facts, "abc")
    assert facts.learn_equal(a + 3, c + b * 2) is MAYBE
    assert facts.normal(c) == a - b * 2 + 3
    assert facts.normal(a) is a and facts.normal(b) is b


def test_an_unknown_in_two_terms_is_not_solved_for(facts: Facts) -> None:
    a, b, c = sizes(facts, "abc")
    facts.learn_equal(c * b + c + a, 12)
    assert facts.normal(c) is c and facts.normal(a) == 12 - c * b - c


@pytest.mark.parametrize(("factor", "other"), [(2, 3), (2, 2), (-2, 3)])
def test_nothing_is_solved_for_that_does_not_stand_alone(facts: Facts, factor: int, other: int) -> None:
    a, b, c = sizes(facts, "abc")
    assert facts.learn_equal(a * factor + c * c, b * other * b + 7) is MAYBE
    assert not facts.known.rewrites


def test_equal_products_with_a_common_factor_have_equal_other_factors(facts: Facts) -> None:
    b, t, c = sizes(facts, "btc")
    assert facts.learn_equal(b * t, b * c) is MAYBE
    assert facts.equal(t, c) is YES


def test_a_product_of_zero_does_not_tell_which_factor_is(facts: Facts) -> None:
    n, m = sizes(facts, "nm")
    assert facts.learn_equal(n * m, 0) is MAYBE
    assert facts.equal(n, 0) is MAYBE and facts.equal(m, 0) is MAYBE


def test_what_is_learnt_later_is_put_into_what_was_learnt_before(facts: Facts) -> None:
    a, b, c, d = sizes(facts, "abcd")
    facts.learn_equal(b, a + 1)
    facts.learn_equal(d, c * 2)
    facts.learn_equal(a, 3)
    assert [facts.known.rewrites[atom] for size in (a, b, d) if (atom := single_atom(size))] == [3, 4, c * 2]
    facts.learn_equal(d, 10)
    assert facts.equal(c, 5) is MAYBE  # 2*c == 10 is kept as it is
    assert facts.normal(d) == c * 2


def test_the_smallest_and_largest_values_only_come_closer(facts: Facts) -> None:
    n, m = sizes(facts, "nm")
    for least in (3, 5, 4):
        facts.learn_least(n, least)
    for most in (9, 7, 8):
        facts.learn_most(n, most)
    assert facts.bounds(n) == (5, 7)
    assert facts.bounds(m) == (0, None)
    before = facts.copy()
    facts.learn_least(n + 1, 20)
    facts.learn_most(n * 2, 2)
    facts.learn_least(4, 5)
    facts.learn_most(4, 3)
    assert facts.bounds(n) == (5, 7) and facts.same_as(before)


def test_bounds_are_those_of_the_unknown_that_another_is(facts: Facts) -> None:
    n, m = sizes(facts, "nm")
    facts.learn_equal(m, n)
    facts.learn_least(m, 2)
    facts.learn_most(m, 6)
    assert facts.bounds(n) == (2, 6)


def test_a_size_between_two_equal_bounds_is_that_number(facts: Facts) -> None:
    n, m, k = sizes(facts, "nmk")
    facts.learn_least(n, 4)
    facts.learn_most(n, 5)
    assert facts.equal(n, 4) is MAYBE
    facts.learn_most(n, 4)
    assert facts.equal(n, 4) is YES
    facts.learn_most(m, 0)
    assert facts.equal(m, 0) is YES
    facts.learn_most(k, 1)
    assert facts.equal(k, 1) is MAYBE


def test_a_rest_has_as_many_elements_as_what_it_consists_of(facts: Facts) -> None:
    n, m = sizes(facts, "nm")
    x, inner = facts.symbols.rest("x", "x"), facts.symbols.rest("inner")
    facts.learn_equal(m, 5)
    facts.bind(x, (n, inner, m))
    assert facts.known.ranks[x] == (n, inner, m)
    assert facts.normal(x.numel) == n * inner.numel * 5
    facts.bind(inner, (2,))
    assert facts.normal(x.numel) == n * 10
    scalar = facts.symbols.rest("scalar")
    facts.bind(scalar, ())
    assert facts.known.ranks[scalar] == () and facts.equal(scalar.numel, 1) is YES


def test_a_known_number_of_elements_tells_the_size(facts: Facts) -> None:
    (n,) = sizes(facts, "n")
    x = facts.symbols.rest("x", "x")
    facts.learn_equal(x.numel, 12)
    facts.bind(x, (n,))
    assert facts.equal(n, 12) is YES and facts.equal(x.numel, 12) is YES
