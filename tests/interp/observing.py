"""What the linter says of a program, what torch does when the program runs, and whether the two agree.

Vocabulary: a *claim* is what the linter knows at one `reveal_layout(...)`: for each context in which it got there,
the alternatives in the proven and in the assumed world. An *observation* is what torch had at that place in one run.
"""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from torchlayout import interp, rules
from torchlayout.interp.trace import Reveal, Trace
from torchlayout.layouts import is_contiguous, settle
from torchlayout.ops import Operand
from torchlayout.program.unit import Unit
from torchlayout.rules.finding import Finding
from torchlayout.sizes import NO, YES, Facts, Poly, Size, Truth, agree
from torchlayout.sizes.polynomial import substitute

NAME = "<program>"
CODES = frozenset(rule.code for rule in rules.RULES if rule.code not in ("LAY900", "LAY901", "LAY902"))


# ---------------------------------------------------------------- the linter's side
def lint(source: str, options: interp.Options | None = None) -> tuple[Trace, list[Finding]]:
    """The trace of a program and the findings of all rules in it."""
    unit = Unit(NAME, source)
    unit.mark_sinks(rules.sink_words(CODES | {"LAY900"}, source))
    trace = interp.run(unit, options or interp.Options())
    return trace, rules.run_rules(trace, unit, CODES)


def claims(trace: Trace) -> dict[int, list[Reveal]]:
    """The claims of each line with a `reveal_layout`, one a context."""
    found: dict[int, list[Reveal]] = {}
    for span, contexts in sorted(trace.reveals.items()):
        found.setdefault(span.line, []).extend(contexts.values())
    return found


def layout_text(operand: Operand, facts: Facts) -> str:
    """ "[B, C] stride (C, 1) contiguous": "?" for what is not known, "*" for dimensions of unknown number."""
    layout = settle(operand.layout, facts)
    sizes = ["*" if dim.rest is not None else facts.render(dim.size) for dim in layout.dims]
    strides = ["?" if dim.stride is None else facts.render(dim.stride) for dim in layout.dims]
    words = {YES: " contiguous", NO: " strided"}.get(is_contiguous(operand.layout, facts), "")
    over = "" if all(stride == "?" for stride in strides) and strides else f" stride ({', '.join(strides)})"
    return f"[{', '.join(sizes)}]{over}{words}"


def claim_text(reveals: list[Reveal]) -> str:
    """What is proven, then what is assumed beyond it: "[B, C]; if inputs are contiguous: [B, C] stride (C, 1) ..."."""
    proven = _alternatives(pair for reveal in reveals for pair in reveal.proven)
    assumed = _alternatives(pair for reveal in reveals for pair in reveal.assumed)
    return proven if proven == assumed else f"{proven}; assumed {assumed}"


def _alternatives(pairs: Iterator[tuple[Operand, Facts]]) -> str:
    return " | ".join(sorted({layout_text(operand, facts) for operand, facts in pairs}))


# ---------------------------------------------------------------- torch's side
@dataclass
class Observation:
    """One tensor at one `reveal_layout`, the ints that had a name there, and the arguments as they were at first."""

    line: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    contiguous: bool
    names: Mapping[str, Any]


@dataclass
class Calls:
    """What the layout calls on one line did."""

    worked: int = 0
    raised: int = 0
    copied: int = 0
    returned_itself: int = 0


@dataclass
class Observed:
    reveals: list[Observation] = field(default_factory=list)
    views: dict[int, Calls] = field(default_factory=dict)
    packs: dict[int, Calls] = field(default_factory=dict)
    error: BaseException | None = None


class Watch:
    """Runs a program and records what happens in it, by line.

    `reveal_layout` is replaced by a recorder; `view` and `contiguous` of tensors are wrapped while it runs.
    """

    def __init__(self) -> None:
        self.seen = Observed()

    def run(self, source: str, entry: str | None = None) -> Observed:
        code = compile(source, NAME, "exec")
        tree = ast.parse(source)
        loops = (node for node in ast.walk(tree) if isinstance(node, (ast.For, ast.While)))
        self._rebound = _stored(tree)
        self._in_loops = {name for loop in loops for name in _stored(loop)}
        fake = types.ModuleType("torchlayout")
        fake.reveal_layout = self._reveal  # type: ignore[attr-defined]
        before = sys.modules.get("torchlayout")
        view, contiguous = torch.Tensor.view, torch.Tensor.contiguous
        sys.modules["torchlayout"] = fake
        torch.Tensor.view = self._watched_view(view)  # type: ignore[method-assign,assignment]
        torch.Tensor.contiguous = self._watched_pack(contiguous)  # type: ignore[method-assign,assignment]
        torch.manual_seed(0)
        self._given: dict[int, dict[str, Any]] = {}
        sys.setprofile(self._note_arguments)
        # the program's classes and dataclasses look their module up by name
        module = types.ModuleType("watched_program")
        sys.modules["watched_program"] = module
        names = module.__dict__
        try:
            exec(code, names)
            if entry is not None:
                eval(entry, names)
        except Exception as error:
            self.seen.error = error
        finally:
            sys.setprofile(None)
            torch.Tensor.view, torch.Tensor.contiguous = view, contiguous  # type: ignore[method-assign]
            del sys.modules["watched_program"]
            if before is not None:
                sys.modules["torchlayout"] = before
        return self.seen

    def _reveal(self, tensor: Any) -> Any:
        frame = sys._getframe(1)
        if isinstance(tensor, torch.Tensor):
            numbers = {name: value for name, value in frame.f_locals.items() if isinstance(value, int)}
            numbers = {name: value for name, value in numbers.items() if name not in self._in_loops}
            names = {**numbers, **self._given.get(id(frame), {})}
            seen = Observation(frame.f_lineno, tuple(tensor.shape), tensor.stride(), tensor.is_contiguous(), names)
            self.seen.reveals.append(seen)
        return tensor

    def _note_arguments(self, frame: types.FrameType, event: str, _: object) -> None:
        """Keep the sizes of a function's tensors as they were when it was called."""
        if event == "call" and frame.f_code.co_filename == NAME:
            given = {name: value for name, value in frame.f_locals.items() if isinstance(value, torch.Tensor)}
            given = {name: value for name, value in given.items() if name not in self._rebound}
            self._given[id(frame)] = {
                name: value.new_empty(value.shape, device="meta") for name, value in given.items()
            }

    def _watched_view(self, view: Any) -> Any:
        def watched(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
            line = _line_in_program()
            calls = self.seen.views.setdefault(line, Calls())
            try:
                result = view(tensor, *args, **kwargs)
            except RuntimeError:
                calls.raised += 1
                raise
            calls.worked += 1
            return result

        return watched

    def _watched_pack(self, contiguous: Any) -> Any:
        def watched(tensor: torch.Tensor, **kwargs: Any) -> torch.Tensor:
            result = contiguous(tensor, **kwargs)
            calls = self.seen.packs.setdefault(_line_in_program(), Calls())
            if result is tensor or (result.data_ptr() == tensor.data_ptr() and tensor.numel()):
                calls.returned_itself += 1
            elif tensor.numel():
                calls.copied += 1
            return result

        return watched


def _stored(tree: ast.AST) -> set[str]:
    """The names that are assigned somewhere below."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _line_in_program() -> int:
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename == NAME:
            return frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return 0


# ---------------------------------------------------------------- agreement
def contradictions(reveals: list[Reveal], seen: Observation, *, assumed: bool) -> list[str]:
    """Why no alternative of any claim fits the observation; empty where one fits.

    With `assumed` the assumed world is asked: for runs whose inputs are contiguous and whose sizes are all above 1.
    """
    reasons: list[str] = []
    for reveal in reveals:
        for operand, facts in reveal.assumed if assumed else reveal.proven:
            why = mismatch(operand, facts, seen)
            if why is None:
                return []
            reasons.append(f"{layout_text(operand, facts)}: {why}")
    return reasons


def facts_told(reveals: list[Reveal]) -> int:
    """How many facts a claim holds in the proven world: sizes, strides, contiguity."""
    count = 0
    for reveal in reveals:
        for operand, facts in reveal.proven:
            layout = settle(operand.layout, facts)
            count += sum(1 + (dim.stride is not None) for dim in layout.dims if dim.rest is None)
            count += is_contiguous(operand.layout, facts) in (YES, NO)
    return count


def mismatch(operand: Operand, facts: Facts, seen: Observation) -> str | None:
    """What the alternative says that is not so; None where it fits."""
    if operand.numpy or 0 in seen.shape:
        return None
    layout = settle(operand.layout, facts)
    rest = next((place for place, dim in enumerate(layout.dims) if dim.rest is not None), None)
    if rest is not None and len(layout.dims) - 1 > len(seen.shape):
        return None  # dimensions told from both ends are taken to be different ones
    if rest is None:
        if len(layout.dims) != len(seen.shape):
            return f"rank {len(seen.shape)}"
        pairs = list(enumerate(layout.dims))
    else:
        behind = len(layout.dims) - 1 - rest
        pairs = [(place, layout.dims[place]) for place in range(rest)]
        if all(dim.rest is None for dim in layout.dims[rest + 1 :]):
            pairs += [(place - behind, dim) for place, dim in enumerate(layout.dims[rest + 1 :])]
    for place, dim in pairs:
        size = value_of(dim.size, facts, seen.names)
        if size == 0 and seen.shape[place]:
            return None  # `n // k` with k above n: taken to divide evenly where a view is made with it
        if size is not None and size != seen.shape[place]:
            return f"size({place}) is {seen.shape[place]}, not {size}"
        stride = None if dim.stride is None else value_of(dim.stride, facts, seen.names)
        if stride is not None and seen.shape[place] > 1 and stride != seen.stride[place]:
            return f"stride({place}) is {seen.stride[place]}, not {stride}"
    answer = is_contiguous(operand.layout, facts)
    if answer in (YES, NO) and (answer is YES) is not seen.contiguous:
        return f"contiguous is {seen.contiguous}"
    return None


def value_of(size: Size, facts: Facts, names: Mapping[str, Any]) -> int | None:
    """A symbolic size in a run: its unknowns are evaluated where their names are expressions over the names there."""
    size = facts.normal(size)
    if isinstance(size, int):
        return size
    values: dict[Any, Size] = {}
    for atom in size.atoms():
        if not atom.name:
            return None
        try:
            value = eval(atom.name, {}, dict(names))
        except Exception:
            return None
        if not isinstance(value, int):
            return None
        values[atom] = int(value)
    found = substitute(size, values)
    return found if isinstance(found, int) else None


def contiguity(reveals: list[Reveal]) -> Truth:
    return agree(is_contiguous(operand.layout, facts) for reveal in reveals for operand, facts in reveal.proven)


__all__ = [
    "CODES", "Calls", "Observation", "Observed", "Poly", "Watch", "claim_text", "claims", "contiguity",
    "contradictions", "facts_told", "layout_text", "lint", "mismatch",
]  # fmt: skip
