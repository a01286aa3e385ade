"""What is known in one world, in a copy, and where two paths meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from torchlayout.sizes import MAYBE, NO, YES, Facts, Rest, Size, Symbols


class Things:
    """Two sizes and a rest of one file, of which facts may know something."""

    def __init__(self) -> None:
        self.symbols = Symbols()
        self.n: Size = self.symbols.atom("n", "n")
        self.m: Size = self.symbols.atom("m", "m")
        self.x: Rest = self.symbols.rest("x", "x")


class Lesson(NamedTuple):
    """Something to learn, and whether it is known."""

    learn: Callable[[Facts, Things], object]
    known: Callable[[Facts, Things], bool]


LESSONS = {
    "equal": Lesson(lambda facts, of: facts.learn_equal(of.n, 3), lambda facts, of: facts.equal(of.n, 3) is YES),
    "least": Lesson(lambda facts, of: facts.learn_least(of.n, 5), lambda facts, of: facts.less(of.n, 5) is NO),
    "most": Lesson(lambda facts, of: facts.learn_most(of.n, 7), lambda facts, of: facts.bounds(of.n)[1] == 7),
    "rank": Lesson(
        lambda facts, of: facts.bind(of.x, (of.n, 2)), lambda facts, of: facts.known.ranks.get(of.x) is not None
    ),
}
lessons = pytest.mark.parametrize("lesson", LESSONS.values(), ids=list(LESSONS))


@pytest.fixture
def of() -> Things:
    return Things()


def test_there_are_two_worlds_of_the_same_unknowns(of: Things) -> None:
    facts = Facts(of.symbols)
    other = facts.assumed_world
    assert facts.symbols is of.symbols and other.symbols is of.symbols
    assert not facts.assumed and other.assumed
    assert facts.proven_world is facts and other.assumed_world is other
    assert facts.assumed_world == other and other.proven_world == facts
    alone = Facts(of.symbols)
    alone.assumed = True
    assert alone.assumed_world is alone and not alone.proven_world.assumed


@lessons
@pytest.mark.parametrize("first", [True, False])
def test_what_one_world_learns_the_other_knows(lesson: Lesson, first: bool, of: Things) -> None:
    facts = Facts(of.symbols)
    if first:
        assert not lesson.known(facts.assumed_world, of)
    lesson.learn(facts, of)
    assert lesson.known(facts.assumed_world, of) and lesson.known(facts, of)


@lessons
@pytest.mark.parametrize("both_worlds", [True, False])
@pytest.mark.parametrize("learner", ["proven_world", "assumed_world"])
@pytest.mark.parametrize("of_the_copy", [True, False])
def test_a_copy_and_its_original_learn_apart(
    lesson: Lesson, both_worlds: bool, learner: str, of_the_copy: bool, of: Things
) -> None:
    original = Facts(of.symbols)
    original.learn_equal(of.m, 2)
    if both_worlds:
        assert original.assumed_world is not original
    copy = original.copy()
    student, other = (copy, original) if of_the_copy else (original, copy)
    assert not lesson.known(student, of)  # asked before, so that the answer is kept
    lesson.learn(getattr(student, learner), of)
    for world in (student.proven_world, student.assumed_world):
        assert lesson.known(world, of) and world.equal(of.m, 2) is YES
    for world in (other.proven_world, other.assumed_world):
        assert not lesson.known(world, of) and world.equal(of.m, 2) is YES


@lessons
def test_a_copy_knows_what_its_original_knew_and_goes_on_learning(lesson: Lesson, of: Things) -> None:
    facts = Facts(of.symbols)
    lesson.learn(facts.assumed_world, of)
    copy = facts.assumed_world.copy()
    assert copy.assumed and not copy.proven_world.assumed
    assert lesson.known(copy, of) and lesson.known(copy.proven_world, of)
    copy.learn_equal(of.m, 4)
    assert copy.proven_world.equal(of.m, 4) is YES and lesson.known(copy.proven_world, of)
    assert facts.equal(of.m, 4) is MAYBE


def test_notes_last_until_something_is_learnt(of: Things) -> None:
    known = Facts(of.symbols).known
    facts = Facts(of.symbols, known)
    known.memos[False]["note"] = known.memos[True]["note"] = "there"
    copy = facts.copy()
    assert copy.known.memos == ({"note": "there"}, {"note": "there"})
    copy.assumed_world.learn_equal(of.n, 3)
    assert copy.known.memos == ({}, {})
    assert known.memos == ({"note": "there"}, {"note": "there"})
    for learn in (
        lambda: facts.learn_least(of.n, 3),
        lambda: facts.learn_most(of.n, 5),
        lambda: facts.bind(of.x, (of.n,)),
    ):
        known.memos[False]["note"] = "again"
        learn()
        assert known.memos == ({}, {})


@lessons
def test_where_paths_meet_only_what_both_learnt_is_known(lesson: Lesson, of: Things) -> None:
    facts = Facts(of.symbols)
    left, right = facts.copy(), facts.copy()
    lesson.learn(left, of)
    assert not lesson.known(left.join(right), of) and not lesson.known(right.join(left), of)
    lesson.learn(right, of)
    joined = left.join(right)
    assert lesson.known(joined, of) and lesson.known(joined.assumed_world, of)
    assert joined.symbols is of.symbols
    assert left.assumed_world.join(right.assumed_world).assumed and not joined.assumed
    joined.learn_equal(of.m, 8)
    assert left.equal(of.m, 8) is MAYBE and right.equal(of.m, 8) is MAYBE


@lessons
def test_paths_that_learnt_nothing_more_meet_as_they_were(lesson: Lesson, of: Things) -> None:
    facts = Facts(of.symbols)
    lesson.learn(facts, of)
    left, right = facts.copy(), facts.copy()
    joined = left.join(right)
    assert joined.same_as(facts)
    joined.learn_equal(of.m, 8)
    assert left.equal(of.m, 8) is MAYBE and right.equal(of.m, 8) is MAYBE


def test_bounds_of_two_paths_are_the_wider_ones(of: Things) -> None:
    left, right = Facts(of.symbols), Facts(of.symbols)
    for path, least, most in (left, 2, 6), (right, 4, 9):
        path.learn_least(of.n, least)
        path.learn_most(of.n, most)
    assert left.join(right).bounds(of.n) == right.join(left).bounds(of.n) == (2, 9)


def test_a_rest_of_other_sizes_on_each_path_has_but_their_product(of: Things) -> None:
    left, right = Facts(of.symbols), Facts(of.symbols)
    left.bind(of.x, (of.n, of.m))
    right.bind(of.x, (of.m, of.n))
    joined = left.join(right)
    assert of.x not in joined.known.ranks
    assert joined.equal(of.x.numel, of.n * of.m) is YES


@lessons
def test_becoming_another_is_knowing_what_it_knows(lesson: Lesson, of: Things) -> None:
    facts, goal = Facts(of.symbols), Facts(of.symbols)
    facts.learn_equal(of.m, 2)
    lesson.learn(goal, of)
    original = facts.copy()
    world = facts.assumed_world
    assert not lesson.known(facts, of) and not lesson.known(world, of)
    facts.become(goal)
    assert facts.same_as(goal) and world.same_as(goal)
    assert lesson.known(facts, of) and lesson.known(world, of) and not lesson.known(original, of)
    assert facts.equal(of.m, 2) is MAYBE and original.equal(of.m, 2) is YES
    facts.learn_equal(of.m, 5)
    assert goal.equal(of.m, 5) is MAYBE


@lessons
def test_the_same_is_known_where_all_is(lesson: Lesson, of: Things) -> None:
    left, right = Facts(of.symbols), Facts(of.symbols)
    assert left.same_as(right) and left.same_as(left.copy())
    lesson.learn(left, of)
    assert not left.same_as(right) and not right.same_as(left)
    lesson.learn(right, of)
    assert left.same_as(right)


def test_a_rank_alone_makes_a_difference(of: Things) -> None:
    left, right = Facts(of.symbols), Facts(of.symbols)
    left.bind(of.x, (of.n, of.m))
    right.bind(of.x, (of.m, of.n))
    assert left.known.rewrites == right.known.rewrites
    assert not left.same_as(right)
