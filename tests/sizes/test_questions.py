"""What is answered, in each of the two worlds, of sizes about which little is known."""

from __future__ import annotations

import pytest

from torchlayout.sizes import MAYBE, NO, YES, Facts, Size, Symbols, Truth, of_atom, single_atom

Bounds = tuple[int | None, int | None]
SYMBOLS = Symbols()
B, T, C = (SYMBOLS.atom(name, name) for name in "BTC")
P = SYMBOLS.atom("P", "P", 1)
Q = SYMBOLS.atom("Q", "Q", 1)
ANY = SYMBOLS.atom("any", "z", None)


@pytest.fixture
def facts() -> Facts:
    return Facts(SYMBOLS)


@pytest.mark.parametrize(
    ("a", "b", "proven", "assumed"),
    [
        (3, 3, YES, YES),
        (3, 4, NO, NO),
        (B, B, YES, YES),
        (B + T, T + B, YES, YES),
        (B, T, MAYBE, MAYBE),
        (B, B + 1, NO, NO),
        (B + 1, B, NO, NO),
        (B, -1, NO, NO),
        (-B, 1, NO, NO),
        (B, 0, MAYBE, NO),
        (-B, 0, MAYBE, NO),
        (B, 1, MAYBE, NO),
        (B, 2, MAYBE, MAYBE),
        (P, 0, NO, NO),
        (P, 1, MAYBE, NO),
        (P * Q, 0, NO, NO),
        (B * P, 0, MAYBE, NO),
        (P * B, P * (B + 1), NO, NO),  # P is not 0
        (T * B, T * (B + 1), MAYBE, NO),  # T may be
        (B * T, B * C, MAYBE, MAYBE),
        (P * B * 2, P * T * 2 + P * 2, MAYBE, MAYBE),
        (B * T, T, MAYBE, NO),
        (P * T, T * P * Q, MAYBE, NO),
        (B * T + B, 0, MAYBE, NO),
        (B + T, 1, MAYBE, NO),
        (B + T, -1, NO, NO),
        (-B - T, 1, NO, NO),
        (B - T, 1, MAYBE, MAYBE),
        (ANY, 0, MAYBE, NO),
        (ANY, -1, MAYBE, NO),
        (ANY, ANY + 1, NO, NO),
        (ANY * B, ANY * B + 2, NO, NO),
        (ANY * B, ANY * (B + 1), MAYBE, NO),
    ],
)
def test_equal(facts: Facts, a: Size, b: Size, proven: Truth, assumed: Truth) -> None:
    for world, answer in ((facts, proven), (facts.assumed_world, assumed)):
        for _ in range(2):  # the second time from memory
            assert world.equal(a, b) is answer
        assert world.equal(b, a) is answer


@pytest.mark.parametrize(
    ("a", "b", "proven", "assumed"),
    [
        (3, 4, YES, YES),
        (4, 4, NO, NO),
        (4, 3, NO, NO),
        (B, B, NO, NO),
        (B, B + 1, YES, YES),
        (B + 1, B, NO, NO),
        (-1, B, YES, YES),
        (B, 0, NO, NO),
        (B, 1, MAYBE, NO),
        (0, B, MAYBE, YES),
        (0, P, YES, YES),
        (1, P, MAYBE, YES),
        (P, 1, NO, NO),
        (2, B, MAYBE, MAYBE),
        (B, B * 2, MAYBE, YES),
        (P, P * 2, YES, YES),
        (B, B * P, MAYBE, YES),
        (B * P, B, NO, NO),
        (P * Q, P * (Q + 1), YES, YES),
        (P * (Q + 1), P * Q, NO, NO),
        (B * T, B * (T + 1), MAYBE, YES),
        (B, T, MAYBE, MAYBE),
        (B, B + T + 1, YES, YES),
        (B + T + 1, B, NO, NO),
        (0, ANY, MAYBE, YES),
        (ANY, 0, MAYBE, NO),
        (ANY - 1, ANY, YES, YES),
        (ANY, ANY, NO, NO),
    ],
)
def test_less(facts: Facts, a: Size, b: Size, proven: Truth, assumed: Truth) -> None:
    for world, answer in ((facts, proven), (facts.assumed_world, assumed)):
        for _ in range(2):
            assert world.less(a, b) is answer


@pytest.mark.parametrize(
    ("size", "is_one", "above_one", "assumed_one", "assumed_above"),
    [
        (0, NO, NO, NO, NO),
        (1, YES, NO, YES, NO),
        (2, NO, YES, NO, YES),
        (B, MAYBE, MAYBE, NO, YES),
        (P, MAYBE, MAYBE, NO, YES),
        (P + 1, NO, YES, NO, YES),
        (B + 2, NO, YES, NO, YES),
        (-B, NO, NO, NO, NO),
        (B * T, MAYBE, MAYBE, NO, YES),
        (B + T, MAYBE, MAYBE, NO, YES),
        (B + 1, MAYBE, MAYBE, NO, YES),
        (B * 2, MAYBE, MAYBE, NO, YES),
        (B - 1, MAYBE, MAYBE, NO, YES),  # what `x[1:]` leaves is not 1 by accident either
        (B - 2, MAYBE, MAYBE, NO, YES),
        (B - 3, MAYBE, MAYBE, MAYBE, MAYBE),
        (B - T, MAYBE, MAYBE, MAYBE, MAYBE),
        (B + T - 3, MAYBE, MAYBE, NO, YES),
        (B + T - 4, MAYBE, MAYBE, NO, YES),
        (B + T - 5, MAYBE, MAYBE, MAYBE, MAYBE),
        (-B - T, NO, NO, NO, NO),
        (1 - B, MAYBE, NO, NO, NO),
        (3 - B, MAYBE, MAYBE, MAYBE, NO),
        (4 - B, MAYBE, MAYBE, MAYBE, MAYBE),
        (ANY, MAYBE, MAYBE, NO, YES),
    ],
)
def test_one_and_above(
    facts: Facts, size: Size, is_one: Truth, above_one: Truth, assumed_one: Truth, assumed_above: Truth
) -> None:
    assert (facts.is_one(size), facts.above_one(size)) == (is_one, above_one)
    assumed = facts.assumed_world
    assert (assumed.is_one(size), assumed.above_one(size)) == (assumed_one, assumed_above)


@pytest.mark.parametrize(
    ("size", "proven", "assumed"),
    [
        (5, (5, 5), (5, 5)),
        (B, (0, None), (2, None)),
        (-B, (None, 0), (None, -2)),
        (B * 3 + 2, (2, None), (8, None)),
        (B * T + T, (0, None), (6, None)),
        (P * Q + 1, (2, None), (5, None)),
        (B - T, (None, None), (None, None)),
        (P * Q - P, (0, None), (2, None)),
        (P - P * Q, (None, 0), (None, -2)),
        (P * Q - T, (None, None), (None, None)),
        (ANY, (None, None), (2, None)),
        (ANY + B, (None, None), (4, None)),
        (B + 1 - T * 0, (1, None), (3, None)),
    ],
)
def test_bounds(facts: Facts, size: Size, proven: Bounds, assumed: Bounds) -> None:
    assert facts.bounds(size) == proven
    assert facts.assumed_world.bounds(size) == assumed


def test_a_size_may_be_assumed_to_be_small_where_it_is_known_to_be(facts: Facts) -> None:
    facts.learn_most(B, 1)
    facts.learn_most(T, 2)
    facts.learn_most(C, 3)
    assumed = facts.assumed_world
    assert [facts.bounds(size) for size in (B, T, C)] == [(0, 1), (0, 2), (0, 3)]
    assert [assumed.bounds(size) for size in (B, T, C)] == [(1, 1), (2, 2), (2, 3)]
    assert assumed.is_one(B) is not NO and assumed.above_one(B) is NO
    assert assumed.is_one(T - 1) is not NO and assumed.above_one(T - 1) is NO  # it is 1 by what is known
    assert assumed.is_one(C - 1) is NO and assumed.above_one(C - 1) is YES
    assert assumed.is_one(B + T) is NO and assumed.above_one(B + T) is YES
    facts.learn_least(C, 3)
    assert assumed.bounds(C) == (3, 3)


def test_the_largest_value(facts: Facts) -> None:
    for size, most in ((B, 3), (T, 4)):
        facts.learn_most(size, most)
    assert facts.bounds(B * 2) == (0, 6) and facts.bounds(B * T) == (0, 12)
    assert facts.bounds(B * T + B + 5) == (5, 20)
    assert facts.bounds(B * 2 - 1) == (-1, 5) and facts.bounds(7 - B * T) == (-5, 7)
    assert facts.bounds(-B) == (-3, 0)
    assert facts.bounds(B * C) == (0, None) and facts.bounds(C * 2 + 1) == (1, None)
    assert facts.bounds(1 - C) == (None, 1)
    assert facts.bounds(B - T) == (None, None) and facts.bounds(B * T - T) == (None, None)
    assert facts.equal(B, 4) is NO and facts.equal(B, 3) is MAYBE
    assert facts.less(B, 4) is YES and facts.less(B, 3) is MAYBE and facts.less(3, B) is NO
    assert facts.less(B * T, 13) is YES and facts.less(B * T, 12) is MAYBE


def test_what_may_be_negative(facts: Facts) -> None:
    """The product of two numbers is not the least where both are."""
    low, other = SYMBOLS.atom("low", "low", -3), SYMBOLS.atom("other", "other", -2)
    assert facts.bounds(low * 2 + 1) == (-5, None) and facts.bounds(low * -2) == (None, 6)
    assert facts.bounds(low * other) == (None, None)
    assert facts.bounds(low * B) == facts.bounds(low * P) == (None, None)
    for number in (low, other):
        facts.learn_most(number, 1)
    assert facts.bounds(low * other)[1] in (6, None) and facts.bounds(low * low)[1] in (9, None)
    assert facts.bounds(low * -2)[0] in (-2, None)
    facts.learn_most(ANY, 2)
    assert facts.bounds(ANY) == facts.bounds(ANY * ANY) == (None, None)


def test_common_factors_that_are_not_zero_do_not_count(facts: Facts) -> None:
    """P * n == P, for a product n of eight sizes, is too much to write out around the least values of all."""
    sizes = [SYMBOLS.atom(("of eight", index), None, 2) for index in range(8)]
    large: Size = 1
    for size in sizes:
        large = large * size
    assert facts.equal(P * large, P) is NO and facts.less(P, P * large) is YES
    assert facts.equal(T * large, T) is MAYBE and facts.less(T, T * large) is MAYBE


def test_questions_are_about_what_is_known_by_now(facts: Facts) -> None:
    assert facts.equal(B, T) is MAYBE and facts.less(B, T) is MAYBE and facts.normal(B) is B
    facts.learn_equal(T, B + 1)
    assert facts.equal(B + 1, T) is YES and facts.less(B, T) is YES and facts.normal(T) == B + 1
    assert facts.bounds(T) == (1, None)
    assert facts.is_one(T - B) is YES and facts.above_one(T) is MAYBE
    facts.learn_equal(B, 4)
    assert facts.normal(T * C) == C * 5
    assert facts.above_one(T) is YES
    for size in (4, B, T, C, T * C + B):  # once more, from memory
        assert facts.normal(size) == facts.normal(facts.normal(size)) == facts.copy().normal(size)


def test_large_differences_are_told_by_their_least_values(facts: Facts) -> None:
    """Ten factors of at least 2 are too many terms to write out around these."""
    sizes = [facts.symbols.atom(("large", index), None, 2) for index in range(10)]
    total: Size = 1
    for size in sizes:
        total = total * size
        facts.learn_most(size, 9)
    assert facts.less(1, total + 5) is YES and facts.equal(total + 5, 1) is NO
    assert facts.less(1, total - sizes[0] + 5) is MAYBE


def test_a_size_goes_by_the_name_that_the_code_has_for_it(facts: Facts) -> None:
    heads, dim, hidden, part = (facts.symbols.atom(name, name) for name in ("heads", "dim", "hidden", "part"))
    some = facts.symbols.atom("some")
    named_later = facts.symbols.atom("later", "x.size(1)")
    nameless = facts.symbols.atom("nameless")
    plain, one = facts.symbols.atom("plain", "plain"), facts.symbols.atom("one", "one")
    facts.known.rewrites.update(
        {
            atom: value
            for size, value in (
                (nameless, heads * dim),
                (named_later, heads * dim),
                (hidden, heads * dim),
                (part, dim + 1),
                (plain, heads),
                (one, some),
            )
            if (atom := single_atom(size))
        }
    )
    assert facts.render(heads * dim) == facts.render(hidden) == "hidden"
    assert facts.render(dim + 1) == "part"
    assert facts.render(some) == "one"
    assert facts.render(heads) == "heads" and facts.render(heads * 2) == "2*heads"
    assert facts.render(heads * dim + 1) == "dim*heads + 1" or facts.render(heads * dim + 1) == "heads*dim + 1"
    assert facts.render(7) == "7"
    assert facts.render(of_atom(single_atom(heads))) == "heads"  # type: ignore[arg-type]
