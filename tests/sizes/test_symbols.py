"""Unknowns: one for each key, with what was said of it first."""

from __future__ import annotations

import pytest

from torchlayout.sizes import MAYBE, NO, YES, Facts, Poly, Symbols, single_atom


@pytest.fixture
def symbols() -> Symbols:
    return Symbols()


def test_an_unknown_keeps_what_was_said_of_it_first(symbols: Symbols) -> None:
    size = symbols.atom("key", "n", 3)
    assert symbols.atom("key", "another name", 5) is size
    atom = single_atom(size)
    assert atom is not None
    assert (atom.key, atom.name, atom.least, atom.home) == ("key", "n", 3, symbols)


def test_nothing_is_told_at_first(symbols: Symbols) -> None:
    assert symbols.sizes == {} and symbols.failures == []
    assert symbols.device is None and symbols.place is None


def test_unknowns_are_counted_in_the_order_they_are_asked_for(symbols: Symbols) -> None:
    names = ["z", "a", "m"]
    atoms = [single_atom(symbols.atom(name, name)) for name in names]
    assert [atom.index for atom in atoms if atom] == [0, 1, 2]
    assert sorted(atom for atom in reversed(atoms) if atom) == atoms
    assert repr(symbols.atom("m") * symbols.atom("a")) == "a*m"


def test_a_size_is_not_negative_and_other_numbers_may_be(symbols: Symbols) -> None:
    facts = Facts(symbols)
    assert facts.bounds(symbols.atom("n")) == (0, None)
    assert facts.bounds(symbols.atom("any", None, None)) == (None, None)
    assert facts.bounds(symbols.fresh("n")) == (0, None)
    assert facts.bounds(symbols.fresh("any", None, None)) == (None, None)


def test_fresh_unknowns_belong_to_a_place_and_a_tag(symbols: Symbols) -> None:
    def made() -> list[object]:
        return [symbols.fresh("count"), symbols.fresh("size"), symbols.fresh_rest("count"), symbols.fresh_rest("size")]

    symbols.place = "line 3"
    first = made()
    assert len(set(first)) == 4
    assert made() == first
    symbols.place = "line 4"
    assert not set(first) & set(made())
    atom = single_atom(symbols.fresh("named", "k"))
    assert atom is not None and atom.name == "k"


def test_a_rest_has_a_number_of_elements(symbols: Symbols) -> None:
    x = symbols.rest("x", "x")
    assert x.key == "x" and x.name == "x"
    assert symbols.rest("x") is x
    assert repr(x.numel) == "x.numel()"
    assert repr(symbols.rest("unnamed").numel) == "?"
    facts = Facts(symbols)
    assert facts.equal(x.numel, symbols.atom("x", "x")) is not YES
    assert facts.less(x.numel, 0) is NO


def test_asking_for_a_rest_is_remembered(symbols: Symbols) -> None:
    assert not symbols.knows_rest("x")
    symbols.atom("x")
    assert not symbols.knows_rest("x")
    symbols.rest("x")
    assert symbols.knows_rest("x")


def test_what_grows_too_large_is_an_unknown_of_the_same_file(symbols: Symbols) -> None:
    total: Poly = symbols.atom(0)
    for index in range(1, 60):
        total = total + symbols.atom(index)  # type: ignore[assignment]
    atom = max(total.atoms())
    assert atom.home is symbols and len(total.terms) <= 48


def test_a_size_that_only_the_assumed_world_knows(symbols: Symbols) -> None:
    facts = Facts(symbols)
    n, m = symbols.atom("n", "n"), symbols.atom("m", "m")
    twice = symbols.stand_in("key", n * 2)
    assert symbols.stand_in("key", n * 2) is twice
    assert len({twice, symbols.stand_in("other", n * 2), symbols.stand_in("key", n * 3)}) == 3
    assert facts.normal(twice) is twice and facts.normal(twice * m + 1) == twice * m + 1
    assert facts.assumed_world.normal(twice * m + 1) == n * m * 2 + 1
    assert facts.equal(twice, n * 2) is MAYBE and facts.assumed_world.equal(twice, n * 2) is YES
    facts.learn_equal(m, 5)  # another size does not matter, nor one that is made of it
    assert facts.normal(twice) is twice and facts.normal(twice * m) == twice * 5
    facts.learn_equal(n, 3)
    assert facts.normal(twice) is twice and facts.assumed_world.normal(twice * m) == 30
    seven = symbols.stand_in("key", 7)
    assert facts.normal(seven) is seven and facts.assumed_world.normal(seven) == 7
    assert facts.assumed_world.normal(symbols.stand_in("again", seven * 2)) == 14


def test_what_it_is_in_the_assumed_world_is_its_name(symbols: Symbols) -> None:
    n = symbols.atom("n", "n")
    for size, name in ((n * 2, "2*n"), (n, "n"), (7, "?"), (symbols.atom("nameless"), "?")):
        assert repr(symbols.stand_in("key", size)) == name
        assert name != "?" or repr(symbols.stand_in("key", size) * n) == "?"


def test_what_is_known_of_it_besides(symbols: Symbols) -> None:
    facts = Facts(symbols)
    n, m = symbols.atom("n", "n"), symbols.atom("m", "m")
    stands = symbols.stand_in("key", n)
    facts.learn_equal(stands, m)
    assert facts.equal(stands, m) is YES
    assert facts.assumed_world.equal(stands, n) is not NO
