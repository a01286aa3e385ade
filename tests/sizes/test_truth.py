"""The three answers: truth tables in full."""

from __future__ import annotations

import itertools

import pytest

from torchlayout.sizes import MAYBE, NO, YES, Truth, agree, every, some, truth

ALL = [NO, MAYBE, YES]
POSSIBLE = {NO: {False}, MAYBE: {False, True}, YES: {True}}


def of(values: set[bool]) -> Truth:
    return MAYBE if len(values) == 2 else truth(values.pop())


@pytest.mark.parametrize(("a", "b"), itertools.product(ALL, ALL))
def test_and_or_as_for_every_possible_bool(a: Truth, b: Truth) -> None:
    assert (a & b) is of({x and y for x in POSSIBLE[a] for y in POSSIBLE[b]})
    assert (a | b) is of({x or y for x in POSSIBLE[a] for y in POSSIBLE[b]})


@pytest.mark.parametrize("a", ALL)
def test_not(a: Truth) -> None:
    assert ~a is of({not x for x in POSSIBLE[a]})
    assert ~~a is a


@pytest.mark.parametrize(("a", "b"), itertools.product(ALL, ALL))
def test_de_morgan(a: Truth, b: Truth) -> None:
    assert ~(a & b) is (~a | ~b)


@pytest.mark.parametrize("answers", itertools.product(ALL, repeat=3))
def test_every_and_some(answers: tuple[Truth, ...]) -> None:
    a, b, c = answers
    assert every(answers) is (a & b & c)
    assert some(answers) is (a | b | c)


def test_every_and_some_of_none() -> None:
    assert every([]) is YES
    assert some([]) is NO


@pytest.mark.parametrize(("a", "b"), itertools.product(ALL, ALL))
def test_agree(a: Truth, b: Truth) -> None:
    assert agree([a, b]) is (a if a is b else MAYBE)


def test_agree_of_none() -> None:
    assert agree([]) is MAYBE


@pytest.mark.parametrize("a", ALL)
def test_a_truth_is_no_bool(a: Truth) -> None:
    with pytest.raises(TypeError):
        bool(a)
