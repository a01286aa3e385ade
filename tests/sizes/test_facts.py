"""Facts: whatever is answered YES or NO holds for every number that the facts allow."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from torchlayout.sizes import MAYBE, NO, YES, Atom, Facts, Poly, Size
from torchlayout.sizes.polynomial import substitute

NAMES = ["B", "T", "C"]
MANY = settings(max_examples=4 * settings.default.max_examples)


class Known:
    """Facts about three unknowns, and numbers that fit them."""

    def __init__(self, numbers: list[int]) -> None:
        self.facts = Facts()
        self.sizes = [self.facts.symbols.atom(name, name) for name in NAMES]
        self.numbers: dict[Atom, int] = {
            next(iter(size.atoms())): number for size, number in zip(self.sizes, numbers, strict=True)
        }

    def value(self, size: Size) -> int | None:
        size = self.facts.normal(size)
        while not isinstance(size, int):
            values: dict[Atom, Size] = {}
            for atom in size.atoms():
                number = self._number(atom)
                if number is None:
                    return None
                values[atom] = number
            size = substitute(size, values)
        return size

    def _number(self, atom: Atom) -> int | None:
        if atom in self.numbers:
            return self.numbers[atom]
        kind, *parts = atom.key  # type: ignore[misc]
        left, right = (self.value(part) for part in parts)
        if left is None or right is None or (right == 0 and kind not in ("min", "max")):
            return None
        results: dict[str, Any] = {
            "//": lambda: left // right,
            "%": lambda: left % right,
            "/": lambda: None if left % right else left // right,
            "min": lambda: min(left, right),
            "max": lambda: max(left, right),
        }
        return results[kind]()  # type: ignore[no-any-return]


@st.composite
def bounded(draw: st.DrawFn) -> Known:
    """Of some of the unknowns, something that is at most their value is known, or something that is at least that."""
    known = Known(draw(st.lists(st.integers(0, 8), min_size=3, max_size=3)))
    for size, number in zip(known.sizes, known.numbers.values(), strict=True):
        if draw(st.booleans()):
            known.facts.learn_least(size, number - draw(st.integers(0, 3)))
        if draw(st.booleans()):
            known.facts.learn_most(size, number + draw(st.integers(0, 3)))
    return known


KNOWN = st.lists(st.integers(0, 8), min_size=3, max_size=3).map(Known) | bounded()


@st.composite
def expressions(draw: st.DrawFn, known: Known) -> Size:
    total: Size = draw(st.integers(-4, 4))
    for _ in range(draw(st.integers(0, 2))):
        term: Size = draw(st.integers(-2, 3))
        for size in draw(st.lists(st.sampled_from(known.sizes), max_size=2)):
            term = term * size
        total = total + term
    return total


@MANY
@given(st.data(), KNOWN)
def test_equal_and_less(data: st.DataObject, known: Known) -> None:
    a, b = data.draw(expressions(known)), data.draw(expressions(known))
    left, right = known.value(a), known.value(b)
    assert left is not None and right is not None
    for answer, real in ((known.facts.equal(a, b), left == right), (known.facts.less(a, b), left < right)):
        assert answer is MAYBE or (answer is YES) is real


@MANY
@given(st.data(), KNOWN)
def test_the_assumed_world_holds_where_no_size_is_below_two(data: st.DataObject, known: Known) -> None:
    known.numbers = {atom: max(number, 2) for atom, number in known.numbers.items()}
    a, b = data.draw(expressions(known)), data.draw(expressions(known))
    left, right = known.value(a), known.value(b)
    assert left is not None and right is not None
    facts = known.facts.assumed_world
    for answer, real in ((facts.equal(a, b), left == right), (facts.less(a, b), left < right)):
        assert answer is MAYBE or (answer is YES) is real


@MANY
@given(st.data(), KNOWN)
def test_bounds(data: st.DataObject, known: Known) -> None:
    size = data.draw(expressions(known))
    low, high = known.facts.bounds(size)
    value = known.value(size)
    assert value is not None
    assert low is None or low <= value
    assert high is None or value <= high


@MANY
@given(st.data(), KNOWN)
def test_division_and_extremes(data: st.DataObject, known: Known) -> None:
    a, b = data.draw(expressions(known)), data.draw(expressions(known))
    left, right = known.value(a), known.value(b)
    assert left is not None and right is not None
    for kind, function in (("min", min), ("max", max)):
        assert known.value(known.facts.extreme(kind, a, b)) == function(left, right)
    if right:
        assert known.value(known.facts.floor_divide(a, b)) == left // right
        assert known.value(known.facts.modulo(a, b)) == left % right
        if left % right == 0:
            assert known.value(known.facts.quotient(a, b)) == left // right


@MANY
@given(st.data(), KNOWN)
def test_what_is_true_can_be_learnt_and_nothing_false_follows(data: st.DataObject, known: Known) -> None:
    """Equations that hold of the numbers keep holding, however they are put together."""
    for _ in range(data.draw(st.integers(1, 3))):
        a, b = data.draw(expressions(known)), data.draw(expressions(known))
        left, right = known.value(a), known.value(b)
        if left is None or right is None or left != right:
            continue
        if _through_zero(known, a, b):
            continue
        assert known.facts.learn_equal(a, b) is not NO
        for atom, size in known.facts.known.rewrites.items():
            assert known.numbers.get(atom, known.value(size)) == known.value(size)


def _through_zero(known: Known, a: Size, b: Size) -> bool:
    """Learning divides by common factors, since a tensor with a size of 0 is not what code is written for."""
    return any(known.numbers.get(atom) == 0 for size in (a, b) if isinstance(size, Poly) for atom in size.atoms())


@given(st.integers(-3, 6), st.integers(0, 6))
def test_least_and_most(least: int, more: int) -> None:
    facts = Facts()
    n = facts.symbols.atom("n", "n")
    facts.learn_least(n, least)
    facts.learn_most(n, least + more)
    low, high = facts.bounds(n * 2 + 1)
    assert low == 2 * least + 1
    assert high is None or high >= 2 * (least + more) + 1 or more == 0
    assert facts.less(n, least) is NO
    if more == 0:
        assert facts.equal(n, least) is YES


def test_a_product_that_is_learnt_divides_exactly() -> None:
    facts = Facts()
    C, H = facts.symbols.atom("C", "C"), facts.symbols.atom("H", "H")
    head = facts.floor_divide(C, H)
    assert facts.equal(C, H * head) is MAYBE
    facts.learn_equal(C, H * head)
    assert facts.equal(C, H * head) is YES
    assert facts.floor_divide(C, H) == facts.normal(head)


def test_floor_division_keeps_whole_parts() -> None:
    facts = Facts()
    n = facts.symbols.atom("n", "n")
    assert facts.floor_divide(n * 2 + 1, 2) == n
    assert facts.floor_divide(n * 6, 3) == n * 2
    assert facts.render(facts.floor_divide(n, 2)) == "n//2"
    assert facts.render(facts.floor_divide(n + 1, 2)) == "(n + 1)//2"


def test_copies_are_independent_and_worlds_are_not() -> None:
    facts = Facts()
    n = facts.symbols.atom("n", "n")
    copy = facts.copy()
    facts.assumed_world.learn_equal(n, 3)
    assert facts.proven_world.equal(n, 3) is YES
    assert copy.equal(n, 3) is MAYBE


def test_joining_keeps_what_both_paths_know() -> None:
    facts = Facts()
    n, m = facts.symbols.atom("n", "n"), facts.symbols.atom("m", "m")
    left, right = facts.copy(), facts.copy()
    for path in (left, right):
        path.learn_equal(n, 3)
    left.learn_equal(m, 4)
    left.learn_least(m, 4)
    joined = left.join(right)
    assert joined.equal(n, 3) is YES
    assert joined.equal(m, 4) is MAYBE
    assert joined.same_as(right.join(left))


def test_an_unbound_rest_learns_what_it_consists_of() -> None:
    facts = Facts()
    rest = facts.symbols.rest("x", "x")
    n = facts.symbols.atom("n", "n")
    facts.bind(rest, (n, 3))
    assert facts.equal(rest.numel, n * 3) is YES


def test_the_same_key_is_the_same_unknown() -> None:
    facts = Facts()
    assert facts.symbols.atom("k") is not None
    assert facts.symbols.atom("k") == facts.symbols.atom("k")
    assert facts.symbols.rest("r") is facts.symbols.rest("r")
    facts.symbols.place = "line 3"
    first = facts.symbols.fresh("mask")
    facts.symbols.place = "line 4"
    assert facts.symbols.fresh("mask") != first
