"""What is known of sizes at one point of a program, and answers to questions about them.

Vocabulary: a *rest* is a run of dimensions whose number is not known yet (`x` of unknown rank is one rest); it is
*bound* once code tells what it consists of. A *world* is what a question may take for granted: in the *proven*
world only what the code says, in the *assumed* world also that no unknown size is 1 by accident.
"""

from __future__ import annotations

from typing import Union

from torchlayout.sizes.bounds import least_of_positive, shifted_terms, value_at
from torchlayout.sizes.known import Known
from torchlayout.sizes.polynomial import (
    Atom,
    Poly,
    Size,
    common_factor,
    exact_quotient,
    of_atom,
    render,
    single_atom,
    substitute,
)
from torchlayout.sizes.symbols import Rest, Shape, Symbols
from torchlayout.sizes.truth import MAYBE, NO, YES, Truth, truth

MAX_REWRITES = 20
"""Rounds of replacement after which a size is left as it is."""

MAX_NAME = 80
"""Characters of the operands of `//` and `%` up to which the result is named after them."""

ASSUMED_LEAST = 2
"""The smallest value that an unknown has in the assumed world."""


Bounds = tuple[Union[int, None], Union[int, None]]
"""The smallest and the largest value of a size, as far as known."""


class Facts:
    """What is known at one point, as one world sees it. Mutable: learning changes it in place; `copy` before a branch.

    `assumed` selects the world in which questions are answered; `proven_world` and `assumed_world` share what is
    known and differ only in that.
    """

    __slots__ = ("assumed", "known", "symbols")

    def __init__(self, symbols: Symbols | None = None, known: Known | None = None, assumed: bool = False) -> None:
        self.symbols = symbols or Symbols()
        self.known = known or Known()
        self.assumed = assumed

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Facts) and self.known is other.known and self.assumed == other.assumed

    def __hash__(self) -> int:
        return hash((id(self.known), self.assumed))

    # ------------------------------------------------------------ worlds and copies
    @property
    def assumed_world(self) -> Facts:
        return self if self.assumed else Facts(self.symbols, self.known, True)

    @property
    def proven_world(self) -> Facts:
        return Facts(self.symbols, self.known) if self.assumed else self

    def copy(self) -> Facts:
        return Facts(self.symbols, self.known.copy(), self.assumed)

    def join(self, other: Facts) -> Facts:
        """What is known whichever of the two paths was taken."""
        return Facts(self.symbols, self.known.join(other.known), self.assumed)

    def become(self, other: Facts) -> None:
        """Take over all that another one knows, in both worlds."""
        self.known.become(other.known)

    def same_as(self, other: Facts) -> bool:
        return self.known.same_as(other.known)

    # ------------------------------------------------------------ normal form
    def normal(self, size: Size) -> Size:
        """The size with everything known about its atoms put in."""
        if isinstance(size, int):
            return size
        standing = self.symbols.standing if self.assumed else None
        rewrites = self.known.rewrites
        if not (rewrites or standing):
            return size
        atoms = size.atoms()
        if rewrites.keys().isdisjoint(atoms) and not (standing and not standing.keys().isdisjoint(atoms)):
            return size
        answers = self.known.answers[self.assumed]
        found: Size | None = answers.get(("normal", size, 0))
        if found is None:
            found = answers["normal", size, 0] = self._normal(size)
        return found

    def _normal(self, size: Size) -> Size:
        known = self.known.rewrites.keys()
        for _ in range(MAX_REWRITES):
            if isinstance(size, int):
                break
            if self._has_standing(size):
                size = substitute(size, self.symbols.standing)
            elif not known.isdisjoint(size.atoms()):
                size = substitute(size, self.known.rewrites)
            else:
                break
        return size

    def _has_standing(self, size: Poly) -> bool:
        """Whether the assumed world knows more of a size (see `Symbols.stand_in`)."""
        standing = self.symbols.standing
        return self.assumed and bool(standing) and not standing.keys().isdisjoint(size.atoms())

    def render(self, size: Size) -> str:
        """As people write it; a size that the code has a name for goes by that name."""
        size = self.normal(size)
        if isinstance(size, Poly) and (len(size.terms) > 1 or "?" in render(size) or len(next(iter(size.terms))) > 1):
            for atom, value in self.known.rewrites.items():
                if atom.name and value == size and "." not in atom.name:
                    return atom.name
        return render(size)

    # ------------------------------------------------------------ bounds
    def _least(self, atom: Atom) -> int | None:
        known = self.known.least.get(atom, atom.least)
        if self.assumed:
            least = min(ASSUMED_LEAST, self.known.most.get(atom, ASSUMED_LEAST))
            return ASSUMED_LEAST if known is None else max(known, least)
        return known

    def bounds(self, size: Size) -> Bounds:
        """The smallest and the largest value that this size is known to have; None where none is known.

        Each atom is written as its least value plus something that is not negative; if then all coefficients
        have one sign, the constant term is the bound.
        """
        size = self.normal(size)
        if isinstance(size, int):
            return size, size
        return self._find_bounds(size)

    def _find_bounds(self, size: Poly) -> Bounds:
        leasts: dict[Atom, int] = {}
        for atom in size.atoms():
            least = self._least(atom)
            if least is None:
                return None, None
            leasts[atom] = least
        most = self.known.most
        if most.keys().isdisjoint(leasts) and min(leasts.values()) >= 0:
            signs = {factor > 0 for monomial, factor in size.terms.items() if monomial}
            if len(signs) == 1:  # then expanding cannot change a sign, and the constant term is the value at the leasts
                value = value_at(size, leasts)
                return (value, None) if signs == {True} else (None, value)
            if max(map(len, size.terms)) <= 1:
                return None, None
        shifted = shifted_terms(size, leasts)
        if shifted is None:
            return least_of_positive(size, leasts), None
        constant = shifted.get((), 0)
        rest = [factor for monomial, factor in shifted.items() if monomial]
        low = constant if all(factor > 0 for factor in rest) else None
        high = constant if all(factor < 0 for factor in rest) else None
        if most and high is None:
            high = self._upper(size, leasts)
        if most and low is None:
            below = self._upper(-size, leasts)
            low = None if below is None else -below
        return low, high

    def _upper(self, size: Poly, leasts: dict[Atom, int]) -> int | None:
        """An upper bound of a sum of positive terms, and of a number, where all its atoms have one."""
        total = 0
        most = self.known.most
        for monomial, factor in size.terms.items():
            if monomial and factor < 0:
                return None
            for atom in monomial:
                if atom not in most or leasts[atom] < 0:
                    return None
                factor *= most[atom]
            total += factor
        return total

    # ------------------------------------------------------------ questions
    def equal(self, a: Size, b: Size) -> Truth:
        if isinstance(a, int) and isinstance(b, int):
            return truth(a == b)
        if a is b:
            return YES
        answers = self.known.answers[self.assumed]
        found: Truth | None = answers.get(("=", a, b))
        if found is None:
            found = answers["=", a, b] = self._equal(a, b)
        return found

    def _equal(self, a: Size, b: Size) -> Truth:
        if a == b:
            return YES
        difference = self.normal(a) - self.normal(b)
        if isinstance(difference, int):
            return truth(difference == 0)
        difference = self._without_common_factor(difference)
        low, high = self.bounds(difference)
        if (low is not None and low > 0) or (high is not None and high < 0):
            return NO
        return MAYBE

    def _without_common_factor(self, size: Poly) -> Size:
        """Divide by the atoms that all terms share, where they cannot be 0."""
        if () in size.terms:
            return size
        common = [atom for atom in common_factor(size) if (self._least(atom) or 0) > 0]
        if not common:
            return size
        divided = exact_quotient(size, Poly({tuple(common): 1}))
        assert divided is not None
        return divided

    def less(self, a: Size, b: Size) -> Truth:
        """Whether a < b."""
        if isinstance(a, int) and isinstance(b, int):
            return truth(a < b)
        answers = self.known.answers[self.assumed]
        found: Truth | None = answers.get(("<", a, b))
        if found is None:
            found = answers["<", a, b] = self._less(a, b)
        return found

    def _less(self, a: Size, b: Size) -> Truth:
        difference = self.normal(b) - self.normal(a)
        if isinstance(difference, Poly):
            difference = self._without_common_factor(difference)
        low, high = self.bounds(difference)
        if low is not None and low > 0:
            return YES
        if high is not None and high <= 0:
            return NO
        return MAYBE

    def is_one(self, size: Size) -> Truth:
        answer = self.equal(size, 1)
        return NO if answer is MAYBE and self.assumed and self._above_one_by_assumption(size) else answer

    def above_one(self, size: Size) -> Truth:
        """Whether a dimension of this size has more than one element: YES, or NO for 0 and 1."""
        answer = self.less(1, size)
        return YES if answer is MAYBE and self.assumed and self._above_one_by_assumption(size) else answer

    def _above_one_by_assumption(self, size: Size) -> bool:
        """What `x[:, 1:]` leaves is above 1 too, by the assumption that no size is 1 by accident: a sum of unknowns
        that may be, and need not be, as small as 1."""
        size = self.normal(size)
        if isinstance(size, int) or len(size.terms) < 2:
            return False
        low, high = self.bounds(size)
        return low is not None and low >= 0 and (high is None or high > 1)

    # ------------------------------------------------------------ arithmetic that polynomials lack
    def floor_divide(self, size: Size, divisor: Size) -> Size:
        """`size // divisor`, exact where the polynomials divide, else an atom of its own."""
        size, divisor = self.normal(size), self.normal(divisor)
        if isinstance(size, int) and isinstance(divisor, int) and divisor:
            return size // divisor
        exact = exact_quotient(size, divisor)
        if exact is not None:
            return exact
        whole = self._whole_part(size, divisor)
        if whole is not None:
            return whole
        name = _operation_name(render(size), "//", render(divisor))
        return self.symbols.atom(("//", size, divisor), name, self._quotient_least(size, divisor))

    def _whole_part(self, size: Size, divisor: Size) -> Size | None:
        """`(2*n + 1) // 2` is n: split off the terms that divide, if what is left is below the divisor."""
        if not isinstance(divisor, int) or divisor <= 0 or isinstance(size, int):
            return None
        whole = Poly({m: f // divisor for m, f in size.terms.items() if f % divisor == 0})
        if not whole.terms:
            return None
        rest = size - whole * divisor
        return whole if isinstance(rest, int) and 0 <= rest < divisor else None

    def _quotient_least(self, size: Size, divisor: Size) -> int | None:
        proven = self.proven_world
        low, below = proven.bounds(size)[0], proven.bounds(divisor)[0]
        return 0 if low is not None and low >= 0 and below is not None and below >= 0 else None

    def modulo(self, size: Size, divisor: Size) -> Size:
        size, divisor = self.normal(size), self.normal(divisor)
        if isinstance(size, int) and isinstance(divisor, int) and divisor:
            return size % divisor
        if exact_quotient(size, divisor) is not None:
            return 0
        return self.symbols.atom(("%", size, divisor), _operation_name(render(size), "%", render(divisor)), 0)

    def quotient(self, size: Size, divisor: Size) -> Size:
        """The whole number q with `q * divisor == size`: what -1 stands for in a view."""
        size, divisor = self.normal(size), self.normal(divisor)
        exact = exact_quotient(size, divisor)
        if exact is not None:
            return exact
        if isinstance(size, Poly) and isinstance(divisor, Poly):
            size, divisor = _cancel(size, divisor)
        name = _operation_name(render(size), "//", render(divisor))
        return self.symbols.atom(("/", size, divisor), name)

    def extreme(self, kind: str, a: Size, b: Size) -> Size:
        """`min(a, b)` or `max(a, b)`, as `kind` says."""
        a, b = self.normal(a), self.normal(b)
        if self.proven_world.less(b, a) is not MAYBE:
            smaller, larger = (b, a) if self.proven_world.less(b, a) is YES else (a, b)
            return smaller if kind == "min" else larger
        first, second = sorted((a, b), key=render)
        name = f"{kind}({render(a)}, {render(b)})"
        if len(name) > MAX_NAME:
            name = "?"
        lows = [self.proven_world.bounds(value)[0] for value in (a, b)]
        least = 0 if all(low is not None and low >= 0 for low in lows) else None
        if kind == "min" and least == 0 and 1 in (a, b):
            return 1  # a size that is not known to be 0 counts as above 0
        return self.symbols.atom((kind, first, second), None if "?" in name else name, least)

    # ------------------------------------------------------------ learning
    def learn_equal(self, a: Size, b: Size) -> Truth:
        """Take `a == b` for granted from here on. NO if that cannot be, YES if it was known, else MAYBE."""
        difference = self.normal(a) - self.normal(b)
        if isinstance(difference, int):
            return truth(difference == 0)
        divided = self.assumed_world._without_common_factor(difference)
        if isinstance(divided, int):
            return MAYBE  # one of the unknowns is 0, and it is not told which
        difference = divided
        low, high = self.proven_world.bounds(difference)
        if (low is not None and low > 0) or (high is not None and high < 0):
            return NO
        solved = _solve(difference)
        if solved is not None:
            self.known.learning()
            atom, value = solved
            rewrites = self.known.rewrites
            rewrites[atom] = value
            for other, old in list(rewrites.items()):
                if isinstance(old, Poly) and atom in old.atoms():
                    rewrites[other] = substitute(old, {atom: value})
        return MAYBE

    def learn_least(self, size: Size, least: int) -> None:
        """Take `size >= least` for granted, where the size is a single unknown."""
        atom = single_atom(self.normal(size))
        if atom is not None:
            self.known.learning()
            self.known.least[atom] = max(least, self.known.least.get(atom, least))

    def learn_most(self, size: Size, most: int) -> None:
        """Take `size <= most` for granted, where the size is a single unknown."""
        atom = single_atom(self.normal(size))
        if atom is not None:
            self.known.learning()
            self.known.most[atom] = min(most, self.known.most.get(atom, most))
            if self.known.least.get(atom, atom.least) == most:
                self.learn_equal(of_atom(atom), most)

    def bind(self, rest: Rest, shape: Shape) -> None:
        """Say what an unbound rest consists of; its number of elements follows."""
        numel: Size = 1
        for extent in shape:
            numel = numel * (extent.numel if isinstance(extent, Rest) else extent)
        (atom,) = rest.numel.atoms()
        before, value = self.known.rewrites.get(atom), self.normal(numel)
        self.known.learning()
        self.known.ranks[rest] = shape
        self.known.rewrites[atom] = value
        if before is not None:
            self.learn_equal(before, numel)


def _operation_name(left: str, op: str, right: str) -> str | None:
    """The text of an operation, as the name of its result; None for what nobody would want to read."""
    if "?" in left or "?" in right or len(left) + len(right) > MAX_NAME:
        return None
    wrap = [f"({side})" if any(mark in side for mark in " */") else side for side in (left, right)]
    return f"{wrap[0]}{op}{wrap[1]}"


def _cancel(size: Poly, divisor: Poly) -> tuple[Size, Size]:
    """Both without the atoms that all their terms share."""
    shared: list[Atom] = []
    other = list(common_factor(divisor))
    for atom in common_factor(size):
        if atom in other:
            other.remove(atom)
            shared.append(atom)
    if not shared:
        return size, divisor
    common = Poly({tuple(shared): 1})
    left, right = exact_quotient(size, common), exact_quotient(divisor, common)
    assert left is not None and right is not None
    return left, right


def _solve(difference: Poly) -> tuple[Atom, Size] | None:
    """An atom and its value, from `difference == 0`: the newest atom that stands alone in one term.

    Between `n - h * (n // h)` both `n` and nothing else stand alone, so that `n` becomes the product, and
    divisions of it come out exact afterwards.
    """
    best: Atom | None = None
    for monomial, factor in difference.terms.items():
        if len(monomial) != 1 or abs(factor) != 1:
            continue
        atom = monomial[0]
        if sum(atom in other for other in difference.terms) > 1:
            continue
        if best is None or atom.index > best.index:
            best = atom
    if best is None:
        return None
    factor = difference.terms[(best,)]
    return best, (difference - of_atom(best) * factor) * -factor
