"""The run over one file, and the activation of one function in it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from torchlayout.interp.assumptions import size_bounds
from torchlayout.interp.lengths import Lengths
from torchlayout.interp.text import expression_text
from torchlayout.interp.trace import Loop, SiteKey, Trace
from torchlayout.interp.values import Class, Value
from torchlayout.program.nodes import Span
from torchlayout.sizes import Facts, Symbols
from torchlayout.structs import field, struct

if TYPE_CHECKING:
    from torchlayout.interp.loops import Changes
    from torchlayout.interp.state import State
    from torchlayout.program import nodes
    from torchlayout.program.unit import Unit

MAX_STEPS = 10_000
"""Nodes evaluated for one function that is looked at, with all that it calls; then the rest of it is unknown."""
MAX_CALLER_STEPS = 1_100
"""The same for a function that is run only for what it hands to others."""
MAX_CALLER_INIT_STEPS = 450
"""How many of these go to the `__init__` of its class: with more, the rest would not lead far."""
MAX_CALL_STEPS = 1_000
"""Nodes evaluated in functions that it calls, after which such calls are unknown, but those of functions that hold a
sink word themselves; half as many where the function called stands in another file."""
MAX_CALLER_CALL_STEPS = 600
"""The same for a function that is run only for what it hands to others."""
MAX_FILE_STEPS = 200_000
"""Nodes evaluated for one file: twice what the longest model files take."""
MAX_CALL_DEPTH = 7
"""Calls of linted functions inside one another that are followed."""
MAX_ROUNDS = 4
"""Turns of a loop after which what still changes is forgotten."""
MAX_WIDENED_ROUNDS = 12
"""Turns after that in which facts about sizes may still fall away."""


class OutOfBudget(Exception):
    """The steps for one function are used up: what is left of it stays unknown."""


@struct(frozen=True, slots=True)
class Options:
    """What the analysis may assume, from the settings. See `check.settings` for each one's meaning."""

    target_torch_version: str | None = None
    device: str | None = None
    known_returns: tuple[tuple[str, tuple[str, ...]], ...] = ()
    need_contiguous: tuple[tuple[str, tuple[str, ...]], ...] = ()
    assume_sizes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    follow_imports: bool = False
    explain: bool = False
    """Record the value of every expression, for `torchlayout explain`."""


class Run:
    """Everything that the functions of one file share."""

    def __init__(self, unit: Unit, options: Options) -> None:
        self.unit = unit
        self.options = options
        self.trace = Trace(unit.path)
        self.symbols = Symbols()
        self.symbols.sizes = size_bounds(options.assume_sizes)
        self.symbols.device = options.device
        self.symbols.sets_dtype = "set_default_" in unit.text
        self.steps = 0
        self.limit = MAX_STEPS
        self.call_limit = MAX_CALL_STEPS
        self.init_limit = MAX_STEPS
        self.last_step = MAX_STEPS
        """The number of steps beyond which the function being looked at, or the file, has used up its own."""
        self.proving = True
        """Whether the proven world is worth running: what a public function is handed proves nothing of it."""
        self.total_steps = 0
        self.classes: dict[Hashable, Class | None] = {}
        self.functions: dict[Hashable, Value] = {}
        self.globals: dict[Hashable, Value] = {}
        self.attributes: dict[Hashable, Any] = {}
        """For each class looked at on its own: the heap that its `__init__` leaves."""
        self.nested: list[tuple[Any, Frame]] = []
        """Functions defined inside others, with the frame that made them: looked at if nobody calls them."""
        self.summaries: dict[Any, tuple[Value, Mapping[Hashable, Value], Mapping[str, Value]]] = {}
        """What calls gave, by function and arguments: turns of a loop that bring nothing new run nothing anew.
        With each its closure, so that no other takes over its id."""
        self.known_returns = dict(options.known_returns)
        self.private: set[tuple[str, int]] = set()
        """Functions, by name and line, all of whose calls are run: what they are handed is all that they meet."""
        self.call_steps = 0
        """Steps in functions that the one being looked at has called."""
        self.cut_short = False
        """Some call of the function being looked at, or of the `__init__` of its class, was not followed, for want of
        steps."""
        self.cut_classes: set[Class] = set()
        """Classes of whose `__init__` that is true."""
        self.lengths = Lengths(unit)
        self.called_at: int | None = None
        """Within such a call: the number of steps at its start."""
        self.targets: set[Hashable] = set()
        """Functions, by name and line, that hold a sink word."""
        self.alone: set[Hashable] = set()
        """Functions, by name and line, that are run on their own."""
        self.root: Hashable = None
        """The first part of the context of all that is run for the function being looked at."""
        self.visited: list[tuple[SiteKey, tuple[Hashable, ...]]] = []
        """The sites visited since `start`, each with its context."""
        self.left_off = False
        """Some function was not followed to its end, or some call not at all."""
        self.entered: set[tuple[str, int]] = set()
        """Functions that were run from a call, by name and line."""
        self.parting: dict[int, tuple[Any, int]] = {}
        """By the id of an `if`, that node and where in its block what it asks is asked for the last time."""
        self.imported: dict[tuple[str, str], Value | None] = {}
        """What names imported from other files of the project are, by importing file and dotted path."""

    def start(self, root: Hashable) -> None:
        """Begin with another function."""
        self.root = root
        self.visited.clear()

    def new_budget(self) -> None:
        """Begin to count the steps of another function."""
        self.total_steps += self.steps
        self.steps = self.call_steps = 0
        self.last_step = min(self.limit, MAX_FILE_STEPS - self.total_steps)
        self.called_at = None
        self.cut_short = False

    def follows(self, function: Hashable, here: bool) -> bool:
        """Whether a call of this function, by name and line, is still followed; `here` tells that it stands in the
        file that is linted."""
        inside = 0 if self.called_at is None else self.steps - self.called_at
        limit = self.call_limit if here else self.call_limit // 2
        if self.call_steps + inside <= limit or (here and function in self.targets):
            return True
        self.cut_short = True
        return False

    def step(self) -> None:
        self.steps += 1
        if self.steps > self.last_step:
            raise OutOfBudget

    def new_facts(self) -> Facts:
        return Facts(self.symbols)

    def note(self, text: str) -> None:
        if text not in self.trace.notes:
            self.trace.notes.append(text)


@struct(slots=True)
class LoopFrame:
    """A loop being run: where `break` and `continue` go."""

    loop: Loop
    body: tuple[object, ...]
    """The nodes that a turn runs."""
    branches: int = 0
    """Branches around the loop itself, as `Frame.branches` counts them."""
    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)
    changes: Changes | None = None
    """What a turn changes, once a copy in the loop has asked."""


@struct(frozen=True, slots=True)
class LoopAround:
    """A loop around the call of a function, in one that led here."""

    path: str
    span: Span
    context: tuple[Hashable, ...]
    """Of the activation that loops."""

    def holds(self, made: SiteKey, way: tuple[Hashable, ...]) -> bool:
        """Whether a visit of a site is of a turn of this loop: it stands there, or in what is called from there."""
        if way[: len(self.context)] != self.context:
            return False
        calls = (part for part in way[len(self.context) :] if isinstance(part, tuple) and len(part) == 3)
        path, line, column = next((part for part in calls if part[0] == self.path), (made[0], *made[1][:2]))
        span = self.span
        return path == self.path and (span.line, span.column) <= (line, column) <= (span.end_line, span.end_column)


@struct(slots=True)
class Frame:
    """One activation of a function of the linted code, or of a module's own statements."""

    run: Run
    unit: Unit
    name: str
    context: tuple[Hashable, ...]
    """The chain of call sites that led here; part of the key of every unknown that is made."""
    closure: Mapping[str, Value]
    caller: SiteKey | None = None
    owner: Class | None = None
    receiver: Value = None
    depth: int = 0
    returns: list[tuple[Value, State]] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)
    loops: list[LoopFrame] = field(default_factory=list)
    globals: set[str] = field(default_factory=set)
    outer_loop: Loop | None = None
    """The loop around the call that led here ("call" for a function that is run per item)."""
    around: tuple[LoopAround, ...] = ()
    """The loops around the calls that led here."""
    discarding: Span | None = None
    """The call whose value the current statement throws away."""
    public: bool = True
    """Callers that are not known may come with other arguments."""
    branches: int = 0
    """How many blocks of `if` statements there are around the current statement."""
    caught: int = 0
    """How many blocks around the current statement expect a RuntimeError."""
    guards: list[str] = field(default_factory=list)
    """Receivers whose `is_contiguous()` was tested around the current statement, as text."""
    homes: tuple[Hashable, ...] = ()
    """Where the names of the functions around this one lie while they run (see `Function.homes`)."""
    nonlocals: set[str] = field(default_factory=set)
    made: list[tuple[dict[str, Value], frozenset[str]]] = field(default_factory=list)
    """Closures of functions defined here, and the names that these functions rebind."""
    paths: tuple[Hashable, ...] = ()
    """The branches taken on the path that is being followed by itself (see `paths`)."""
    thrown: list[State] | None = None
    """Inside a `try`: the states from which an exception may leave its body, joined into one."""
    start: tuple[Hashable, ...] = field(init=False)
    """The context that it began with: in a loop over known items `context` tells turns apart."""
    home: Hashable = field(init=False)
    """Where its own names lie in the heap while it calls others."""

    def __post_init__(self) -> None:
        self.start = self.context
        self.home = ("names", self.context)

    def site(self, span: Span) -> SiteKey:
        return (self.unit.path, span)

    def loops_around(self, called: Loop | None) -> tuple[LoopAround, ...]:
        """Those around what is called here; `called` is the loop that calls it per item."""
        loop = self.loop
        inner = [one for one in (loop.loop if loop is not None else None, called) if one is not None]
        return (*self.around, *(LoopAround(self.unit.path, one.span, self.start) for one in inner))

    def place(self, span: Span) -> Hashable:
        """The key of unknowns made here: the source position and the calls that led to it."""
        return (self.unit.path, span.line, span.column, self.context)

    @property
    def way(self) -> tuple[Hashable, ...]:
        """The context, and the path through the branches: what tells visits of one site apart."""
        return (*self.context, *self.paths) if self.paths else self.context

    @property
    def loop(self) -> LoopFrame | None:
        return self.loops[-1] if self.loops else None


def describe(node: nodes.Expr, limit: int = 60) -> str:
    """An expression as text, for messages: names, attributes and simple calls; "..." for what is long."""
    text = expression_text(node)
    return text if len(text) <= limit else "..." + text[-(limit - 3) :]
