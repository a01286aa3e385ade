"""The literate cases: what the linter says of each program, and that torch agrees."""

from __future__ import annotations

import pytest
from literate import Program, all_programs
from observing import Watch, claim_text, claims, contradictions, lint

PROGRAMS = all_programs()


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.name for program in PROGRAMS])
def test_case(program: Program) -> None:
    trace, findings = lint(program.source)
    said = claims(trace)
    lines = program.source.splitlines()
    asked = [number for number, line in enumerate(lines, 1) if "reveal_layout(" in line and "import" not in line]
    told = {number: claim_text(said[number]) if number in said else "never" for number in asked}
    assert told == program.reveals, "\n".join(f"{n}: {lines[n - 1].strip()}\n   {told[n]}" for n in told)
    codes: dict[int, list[str]] = {}
    for finding in findings:
        codes.setdefault(finding.span.line, []).append(finding.code)
    assert {line: sorted(found) for line, found in codes.items()} == program.codes
    for kind, expression in program.runs:
        seen = Watch().run(program.source, expression)
        assert (seen.error is not None) is (kind == "raises"), seen.error
        for observation in seen.reveals:
            assert observation.line in said, f"torch came to line {observation.line}, the linter did not"
            wrong = contradictions(said[observation.line], observation, assumed=False)
            assert not wrong, f"line {observation.line}, {observation.shape} {observation.stride}: {wrong}"


def test_every_heading_is_a_name_of_its_own() -> None:
    names = [program.name for program in PROGRAMS]
    assert len(names) == len(set(names)) > 0
