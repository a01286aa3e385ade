"""What the analysis knows of each tensor on one line."""

from __future__ import annotations

import re
from dataclasses import dataclass

from torchlayout.check.settings import OPTIONS, Settings
from torchlayout.program.spans import Span
from torchlayout.rules.finding import Finding

_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Explained:
    """One value: the expression as written, and LAY900's answer for it, which stands at the operation's name."""

    text: str
    answer: Finding
    reported: tuple[Finding, ...] = ()
    """What the rules say of the operation that gives it."""

    @property
    def raises(self) -> bool:
        """Whether there is no such value: what follows is analysed as if there were."""
        return any(finding.code == "LAY101" for finding in self.reported)


def explain(text: str, path: str, settings: Settings, line: int) -> list[Explained]:
    """The tensors that expressions on a line give, in order of place.

    SyntaxError where the text cannot be parsed. An expression that is run several times (in a loop, called from
    several places) is told once, with "?" for what differs.
    """
    from torchlayout import interp
    from torchlayout.check.selection import codes_for
    from torchlayout.program.unit import Unit
    from torchlayout.rules import BY_CODE, Options, run_rules
    from torchlayout.rules.lay900_revealed_layout import RevealedLayout
    from torchlayout.rules.seen import Seen

    unit = Unit(path, text)
    # Any word of the line makes the function around it worth looking at.
    unit.mark_sinks(frozenset(_WORD.findall(unit.source.line(line))))
    chosen = {option.name: getattr(settings, option.name) for option in OPTIONS if option.analysis}
    trace = interp.run(unit, interp.Options(**chosen, explain=True))
    options = Options.of(settings.need_contiguous)
    reported: dict[Span, list[Finding]] = {}
    for finding in run_rules(trace, unit, codes_for(settings, path), options):
        reported.setdefault(finding.span, []).append(finding)
    seen = Seen(trace, unit, options)
    rule = BY_CODE[RevealedLayout.code]
    assert isinstance(rule, RevealedLayout)
    found = []
    for span in sorted(span for span in trace.explained if span.line == line):
        by_text: dict[str, list[interp.trace.Reveal]] = {}
        for written, reveal in trace.explained[span]:
            by_text.setdefault(written, []).append(reveal)
        for written, reveals in by_text.items():
            found.append(Explained(written, rule.finding(seen, span, reveals), tuple(reported.get(span, ()))))
    return found
