"""Quotients, remainders and extremes: exact where the polynomials tell, else unknowns with a name and bounds."""

from __future__ import annotations

import pytest

from torchlayout.sizes import Atom, Facts, Size, single_atom


class Division:
    """Sizes n, m and k, one without a name, one of any number; `d("n + 1")` is a size written as text."""

    def __init__(self) -> None:
        self.facts = Facts()
        atom = self.facts.symbols.atom
        self.names = {name: atom(name, name) for name in "nmkX"}
        self.names |= {"nameless": atom("nameless"), "anything": atom("z", "z", None)}

    def __call__(self, text: str) -> Size:
        operations = {
            "floor": self.facts.floor_divide,
            "modulo": self.facts.modulo,
            "quotient": self.facts.quotient,
            "low": lambda a, b: self.facts.extreme("min", a, b),
            "high": lambda a, b: self.facts.extreme("max", a, b),
        }
        result: Size = eval(text, operations, self.names)
        return result

    def atom(self, text: str) -> Atom:
        atom = single_atom(self(text))
        assert atom is not None
        return atom

    def named(self, length: int) -> str:
        """A size with a name so long."""
        self.names[f"long{length}"] = self.facts.symbols.atom(("long", length), "n" * length)
        return f"long{length}"


@pytest.fixture
def d() -> Division:
    return Division()


@pytest.mark.parametrize(
    ("operation", "result"),
    [
        ("floor(-7, 2)", "-4"),
        ("floor(n*m*6, m*2)", "n*3"),
        ("floor(n*2 + 1, 2)", "n"),
        ("floor(n*4 + m*2 + 1, 2)", "n*2 + m"),
        ("floor(n*3 + 2, 3)", "n"),
        ("floor(n + 7, 1)", "n + 7"),
        ("floor(0, n)", "0"),
        ("modulo(-7, 2)", "1"),
        ("modulo(n*6, 3)", "0"),
        ("modulo(n*m, m)", "0"),
        ("quotient(12, 3)", "4"),
        ("quotient(n*m*k, m)", "n*k"),
        ("low(3, 4)", "3"),
        ("high(3, 4)", "4"),
        ("low(n, n + 1)", "n"),
        ("low(n + 1, n)", "n"),
        ("high(n, n + 1)", "n + 1"),
        ("high(n + 1, n)", "n + 1"),
        ("low(n, n)", "n"),
        ("low(n, 1)", "1"),  # a size that is not known to be 0 counts as above 0
        ("low(1, n)", "1"),
    ],
)
def test_what_is_told(operation: str, result: str, d: Division) -> None:
    assert d(operation) == d(result)


REMAINDERS = ["n*2 + 3, 2", "n*2 - 1, 2", "n*2 + m, 2", "n*2 + 1, -2", "n*2 + 2, 4", "n + 1, 2"]


@pytest.mark.parametrize("pair", [*REMAINDERS, "7, n", "n, m", "4, 0", "n, 0"])
def test_quotients_that_are_not_told(pair: str, d: Division) -> None:
    """Each is an unknown of its own, the same one each time; one that comes out exact is another than one rounded."""
    atoms = [d.atom(f"{operation}({pair})") for operation in ("floor", "modulo", "quotient")]
    assert [d.atom(f"{operation}({pair})") for operation in ("floor", "modulo", "quotient")] == atoms
    assert len(set(atoms)) == 3 and not set(atoms) & {single_atom(size) for size in d.names.values()}


@pytest.mark.parametrize("pair", ["n, m", "n + 1, m", "nameless, n", "n, 3", "m, anything"])
def test_extremes_that_are_not_told(pair: str, d: Division) -> None:
    left, right = pair.split(", ")
    assert d.atom(f"low({pair})") != d.atom(f"high({pair})")
    for kind in ("low", "high"):
        assert d.atom(f"{kind}({pair})") == d.atom(f"{kind}({right}, {left})")
    for one in ("high(n, 1)", "low(n, 2)", "low(n - 1, 1)", "low(1, n - 1)", "low(anything, 1)"):
        assert d.atom(one)


@pytest.mark.parametrize(
    ("operation", "least"),
    [
        ("floor(n, m)", 0),
        ("floor(n + 3, 2)", 0),
        ("floor(n - 1, 2)", None),
        ("floor(n, m - 1)", None),
        ("floor(n, m + 1)", 0),
        ("floor(7, anything)", None),
        ("floor(anything, 7)", None),
        ("modulo(anything, 3)", 0),
        ("modulo(n, m)", 0),
        ("quotient(n, m)", 0),
        ("low(n, m)", 0),
        ("high(n + 1, m)", 0),
        ("high(n - 1, m)", None),
        ("high(m, n - 1)", None),
        ("low(anything, m)", None),
        ("low(m, anything)", None),
    ],
)
def test_the_least_value_of_what_is_not_told(operation: str, least: int | None, d: Division) -> None:
    """Not negative where neither side is; 0 is possible."""
    assert d.facts.bounds(d(operation)) == (least, None)


@pytest.mark.parametrize("pair", ["n, m", "n - 1, m", "n, 3"])
def test_the_unknown_is_one_in_both_worlds(pair: str, d: Division) -> None:
    """Also where one world is asked first that assumes more: the larger of n and 1 is not n for that."""
    assumed = d.facts.assumed_world
    size, divisor = eval(f"[{pair}]", {}, d.names)
    first = assumed.floor_divide(size, divisor), assumed.extreme("max", size, 1)
    assert (d.facts.floor_divide(size, divisor), d.facts.extreme("max", size, 1)) == first
    assert single_atom(first[1]) is not single_atom(size)
    assert d.facts.bounds(first[0])[0] == (None if "-" in pair else 0)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("quotient(n*m, n*k)", "quotient(m, k)"),
        ("quotient(n*n*m, n*n*k)", "quotient(m, k)"),
        ("quotient(n*n*m, n*k)", "quotient(n*m, k)"),
        ("quotient(n*m + n, n*k)", "quotient(m + 1, k)"),
        ("quotient(n*m, n*2)", "quotient(m, 2)"),
        ("quotient(n*m, n*m*k)", "quotient(1, k)"),
    ],
)
def test_common_factors_cancel_out(left: str, right: str, d: Division) -> None:
    """What -1 stands for in `x.view(n, k, -1)` of n * m elements does not depend on n."""
    assert d.atom(left) == d.atom(right)


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("floor(n, 2)", "n//2"),
        ("floor(X, 2)", "X//2"),
        ("floor(n + 1, 2)", "(n + 1)//2"),
        ("floor(n, m*2)", "n//(2*m)"),
        ("floor(n*m, 2)", "(n*m)//2"),
        ("floor(floor(n, 2), 3)", "(n//2)//3"),
        ("modulo(n + 1, m)", "(n + 1)%m"),
        ("quotient(n, m)", "n//m"),
        ("low(n, m)", "min(n, m)"),
        ("high(n + 1, m)", "max(n + 1, m)"),
        ("floor(nameless, n)", None),
        ("floor(n, nameless)", None),
        ("modulo(nameless, n)", None),
        ("quotient(n, nameless)", None),
        ("low(n, nameless)", None),
        ("high(nameless, n)", None),
    ],
)
def test_names(operation: str, name: str | None, d: Division) -> None:
    assert d.atom(operation).name == name


def test_nobody_wants_to_read_a_name_of_more_than_eighty_characters(d: Division) -> None:
    for operation, sign in (("floor", "//"), ("modulo", "%"), ("quotient", "//")):
        assert d.atom(f"{operation}({d.named(79)}, m)").name == "n" * 79 + f"{sign}m"
        assert d.atom(f"{operation}(m, {d.named(79)})").name == f"m{sign}" + "n" * 79
        assert d.atom(f"{operation}({d.named(80)}, m)").name is None
        assert d.atom(f"{operation}(m, {d.named(80)})").name is None
    assert d.atom(f"high({d.named(72)}, m)").name == f"max({'n' * 72}, m)"
    assert d.atom(f"high({d.named(73)}, m)").name is None


def test_what_is_known_is_put_in_first(d: Division) -> None:
    n, m, k = (d.names[name] for name in "nmk")
    d.facts.learn_equal(n, m * 2)
    d.facts.learn_equal(k, 3)
    assert d("floor(n, 2)") == m and d("floor(n*3, k)") == m * 2
    assert d("modulo(n, m)") == 0 and d("modulo(7, k)") == 1
    assert d("quotient(n, m)") == 2 and d("quotient(m*6, k)") == m * 2
    assert d("low(k, 4)") == 3 and d("high(4, k)") == 4 and d("high(n, m*2 + 1)") == m * 2 + 1
