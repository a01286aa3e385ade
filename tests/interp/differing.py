"""Comparing a random program's runs with what the linter says of it."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass, field

from observing import Observed, Watch, claims, contradictions, facts_told, lint
from random_programs import RandomProgram

from torchlayout.interp.trace import Reveal


@dataclass
class Comparison:
    """What was compared, and what was wrong."""

    runs: int = 0
    facts: int = 0
    views: int = 0
    packs: int = 0
    reported: int = 0
    """LAY101 and LAY201 findings that some run came to."""
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    """Where the assumed world holds nothing that fits, for packed inputs of sizes above 1."""


def runs(program: RandomProgram) -> list[tuple[bool, str]]:
    """(whether the usual assumptions hold, a call): packed and strided inputs, flags, other sizes, turns."""
    found: list[tuple[bool, str]] = []
    for flags in itertools.product((False, True), repeat=program.flags):
        found.append((True, program.call("packed", {}, flags, 2)))
        found.append((True, program.call("packed", {2: 4, 3: 6, 4: 2}, flags, 1)))
        found.append((False, program.call("strided", {}, flags, 3)))
    found.append((False, program.call("packed", {2: 1, 5: 1}, (True,) * program.flags, 0)))
    found.append((False, program.call("strided", {3: 1, 4: 1}, (False,) * program.flags, 1)))
    return found


def compare(program: RandomProgram) -> Comparison:
    found = Comparison()
    trace, findings = lint(program.source)
    said = claims(trace)
    found.facts = sum(facts_told(reveals) for reveals in said.values())
    lines = program.source.splitlines()
    main = next(number for number, line in enumerate(lines, 1) if line.startswith("def main("))
    refused = {f.span.line for f in findings if f.code == "LAY101"}
    redundant = {f.span.line for f in findings if f.code == "LAY201"}
    seen: list[tuple[bool, str, Observed]] = []
    for usual, call in runs(program):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seen.append((usual, call, Watch().run(program.source, call)))
    found.runs = len(seen)
    ended = all(observed.error is None for _, _, observed in seen)
    reached = set()
    for usual, call, observed in seen:
        ends = observed.error is None  # what an operation teaches holds where it went through
        for observation in observed.reveals:
            where = f"{call}, line {observation.line} `{lines[observation.line - 1].strip()}`"
            actual = f"{observation.shape} {observation.stride}"
            if observation.line not in said:
                found.wrong.append(f"{where}: the linter never came there")
                continue
            why = contradictions(said[observation.line], observation, assumed=False)
            if why:
                found.wrong.append(f"{where}: {actual}, but proven {why}")
            elif (
                usual
                and not _rests_on_more(said[observation.line])
                and (why := contradictions(said[observation.line], observation, assumed=True))
            ):
                found.missed.append(f"{where}: {actual}, but assumed {why}")
        for line, calls in observed.views.items():
            found.views += calls.worked + calls.raised
            if line in refused:
                reached.add(line)
                if usual and ends and calls.worked and (line > main or (ended and not _raised(seen, line))):
                    found.wrong.append(f"{call}, line {line} `{lines[line - 1].strip()}`: LAY101, but the view worked")
        for line, calls in observed.packs.items():
            found.packs += calls.copied + calls.returned_itself
            if line in redundant:
                reached.add(line)
                if ends and calls.copied:
                    found.wrong.append(f"{call}, line {line} `{lines[line - 1].strip()}`: LAY201, but it copied")
    found.reported = len(reached)
    return found


def _rests_on_more(reveals: list[Reveal]) -> bool:
    """Whether something assumed is more than that inputs are contiguous: an unknown call's result."""
    return any(operand.weak for reveal in reveals for operand, _ in reveal.assumed)


def _raised(seen: list[tuple[bool, str, Observed]], line: int) -> bool:
    return any(line in observed.views and observed.views[line].raised for _, _, observed in seen)
