"""What the interpreter saw, as rules read it: each operator call with its layouts, and who uses what.

Vocabulary: a *site* is one operation in the source, found by its name token; a *visit* is one run of that site in one
*context* (the function on its own, or as called from a known place); a *case* is one alternative of the operands
in one *world* (proven, assumed). A *use* says which operation takes a value that a site made.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from torchlayout.layouts import is_contiguous
from torchlayout.ops import Op, Operand, Outcome, Refused
from torchlayout.ops.values import is_unknown
from torchlayout.program.nodes import Span
from torchlayout.sizes import MAYBE, NO, YES, Facts, Truth
from torchlayout.structs import field, struct

SiteKey = tuple[str, Span]
"""The file's path and the span of the operation's name."""


@struct(frozen=True, slots=True)
class Origin:
    """One step by which a value got its layout, and the steps before it."""

    span: Span
    path: str
    text: str
    """The operation as people say it: "transpose(1, 2)", "a slice", "from_numpy"."""
    before: Origin | None = None

    def steps(self) -> Iterator[Origin]:
        """This step and the earlier ones, the latest first."""
        step: Origin | None = self
        while step is not None:
            yield step
            step = step.before


@struct(frozen=True, slots=True)
class Case:
    """One alternative. `outcome` is what the operator gives, or the refusal that torch raises."""

    bound: Mapping[str, Any]
    outcome: Outcome | Refused
    facts: Facts
    weak: bool
    """Rests on more than the usual assumptions, such as a contiguous result of a call that is not known."""

    @property
    def refused(self) -> Refused | None:
        return self.outcome if isinstance(self.outcome, Refused) else None

    def operand(self, name: str = "self") -> Operand | None:
        value = self.bound.get(name)
        return value if isinstance(value, Operand) else None

    def contiguous(self, name: str = "self") -> Truth:
        """Whether this operand is contiguous; MAYBE where it is no known tensor."""
        operand = self.operand(name)
        return MAYBE if operand is None else is_contiguous(operand.layout, self.facts)


@struct(frozen=True, slots=True)
class Loop:
    """A loop around a site. `kind` is "for", "while", "comprehension", or "call" for a function called per item
    (a collate function, `__getitem__`, the function of `map`)."""

    span: Span
    kind: str


def is_told(outcome: object) -> bool:
    """Whether an outcome is known: a refusal, or a result whose existence is not in doubt."""
    return not is_unknown(outcome) and getattr(outcome, "exists", YES) is not MAYBE


@struct(frozen=True, slots=True)
class Visit:
    """One run of a site. `caller` is the site of the call that led here, None where the function is looked at on
    its own; `public` tells that unknown callers may come with other arguments."""

    op: Op
    proven: tuple[Case, ...]
    assumed: tuple[Case, ...]
    origins: Mapping[str, Origin | None]
    """For each tensor argument, how it got its layout."""
    made_by: Mapping[str, frozenset[SiteKey]]
    """For each tensor argument, the sites that made the value (through names and branches)."""
    caller: SiteKey | None
    loop: Loop | None
    """The innermost loop in the same function."""
    unchanged_in_loop: bool
    """The receiver is the same, unchanged tensor on every turn of that loop."""
    discarded: bool
    """The statement throws the result away."""
    text: str
    """The receiver as written, shortened: `q.transpose(-2, -1)`."""
    guarded: bool = False
    """Reached only where `is_contiguous()` of the receiver was tested."""
    caught: bool = False
    """Stands where the code itself expects a RuntimeError (`try`, `pytest.raises`, `suppress`)."""
    public: bool = True
    """Callers that are not known may come too: the function is neither nested nor private by its name."""

    @property
    def telling(self) -> bool:
        """Whether some assumed outcome is known: a refusal, or a result whose existence is not in doubt."""
        return any(is_told(case.outcome) for case in self.assumed)


@struct(slots=True)
class Site:
    """All that happened at one operation."""

    key: SiteKey
    name: str
    """The name as written: "view", "reshape", "contiguous", "+", "[]", "T"."""
    kind: str
    """"method", "function", "operator", "subscript", "attribute" or "module"."""
    visits: dict[Hashable, Visit] = field(default_factory=dict)
    """The last visit of each context: earlier turns of a loop are replaced by later, more general ones."""

    @property
    def span(self) -> Span:
        return self.key[1]

    @property
    def path(self) -> str:
        return self.key[0]

    @property
    def expected_to_raise(self) -> bool:
        """Every run of it stands where the code itself expects a RuntimeError."""
        return all(visit.caught for visit in self.visits.values())

    def relevant(self) -> list[Visit]:
        """The visits that count for what people see: those from known callers, where these tell anything, else the
        function on its own. What the module itself calls stands beside the latter: an example, or a script."""
        found = {c: visit for c, visit in self.visits.items() if visit.caller is not None and visit.telling}
        called = list(found.values())
        alone = [visit for visit in self.visits.values() if visit.caller is None]
        if called and all(isinstance(c, tuple) and c[0] == "module" for c in found):
            return called + [visit for visit in alone if visit.telling]
        return called or alone or list(self.visits.values())


@struct(frozen=True, slots=True)
class Use:
    """A value made at a site is taken by another operation.

    `how` is "operand" (of the operator `name`, as `parameter`), "returned", "stored" (in an attribute or a global),
    "contained" (in a list or dict whose further way is not followed), "argument" (of a call that is not known, whose
    name is `name`), "written" (in-place), "read" (an attribute that does not touch memory, such as `shape`),
    "contents" (the elements are looked at, and any layout would do: `print(x)`, `int(x)`, `if x`, `y[x]`), or
    "yielded".
    """

    how: str
    name: str
    parameter: str | None
    by: SiteKey
    in_loop: bool
    """The use stands in a loop that the value was made outside of, or in a function that is called in one."""

    def sort_key(self) -> tuple[SiteKey, str, str, str, bool]:
        """Uses lie in sets: what depends on their order goes by this one."""
        return self.by, self.how, self.name, self.parameter or "", self.in_loop


@struct(frozen=True, slots=True)
class Reveal:
    """One `reveal_layout(x)` call: the alternatives seen, in both worlds."""

    proven: tuple[tuple[Operand, Facts], ...]
    assumed: tuple[tuple[Operand, Facts], ...]
    origin: Origin | None


@struct(slots=True)
class Trace:
    """Everything that rules may ask about one file."""

    path: str
    sites: dict[SiteKey, Site] = field(default_factory=dict)
    uses: dict[SiteKey, set[Use]] = field(default_factory=dict)
    """What becomes of the value that a site made."""
    reveals: dict[Span, dict[Hashable, Reveal]] = field(default_factory=dict)
    calls: dict[SiteKey, list[ForeignCall]] = field(default_factory=dict)
    """Calls of functions outside the table that some tensor goes into (collectives, savers, native code)."""
    guards: list[Guard] = field(default_factory=list)
    writes: dict[SiteKey, list[Write]] = field(default_factory=dict)
    """In-place writes by subscript or augmented assignment, beside those by operators (which are sites)."""
    reads: set[str] = field(default_factory=set)
    """Other files of the project that were read or looked for."""
    notes: list[str] = field(default_factory=list)
    """Bounds that were reached, for `--verbose`."""
    explained: dict[Span, list[tuple[str, Reveal]]] = field(default_factory=dict)
    """With `explain`: what each expression's value is, by the span of its operation."""

    def named(self, *names: str) -> Iterator[Site]:
        """Sites of these names in source order, in this file."""
        wanted = set(names)
        for key in sorted(self.sites):
            if key[0] == self.path and self.sites[key].name in wanted:
                yield self.sites[key]


@struct(frozen=True, slots=True)
class ForeignCall:
    """A call of a function that the table does not hold, by its dotted path ("torch.distributed.all_gather"), or
    ".name" for a method of an unknown object. Tensors are given by argument position or keyword, as cases."""

    path: str
    arguments: Mapping[int | str, ForeignArgument]
    loop: Loop | None
    caller: SiteKey | None


@struct(frozen=True, slots=True)
class ForeignArgument:
    """A tensor among the arguments (or inside a list or dict among them), in both worlds."""

    proven: tuple[tuple[Operand, Facts], ...]
    assumed: tuple[tuple[Operand, Facts], ...]
    origin: Origin | None
    pointer: bool = False
    """It is the tensor's `data_ptr()` that is handed over."""
    strides_given: bool = False
    """The same call is also given the tensor's strides."""
    span: Span | None = None


@struct(frozen=True, slots=True)
class Guard:
    """`if not x.is_contiguous(): x = x.contiguous()` or the conditional expression that says the same."""

    span: Span
    """Of the `contiguous` name."""
    test: Span
    """Of the `is_contiguous` name."""
    text: str
    conditional: bool
    """A conditional expression rather than a statement."""


@struct(frozen=True, slots=True)
class Write:
    """A write into a tensor by `x[...] = v`, `x += v`, ...; `op` is "[]=", "+=", ..."""

    op: str
    proven: tuple[tuple[Operand, Facts], ...]
    assumed: tuple[tuple[Operand, Facts], ...]
    made_by: frozenset[SiteKey]
    """The sites that made the written value: a `reshape` among them may have copied."""
    origin: Origin | None
    read_later: bool


__all__ = [
    "MAYBE", "NO", "YES", "Case", "ForeignArgument", "ForeignCall", "Guard", "Loop", "Origin", "Reveal", "Site",
    "SiteKey", "Trace", "Use", "Visit", "Write",
]  # fmt: skip
