"""Counting what a run found, telling errors as they come, and the exit status that follows."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator

from torchlayout.cli import status
from torchlayout.cli.catalog import name_of
from torchlayout.cli.mending import Mender
from torchlayout.cli.output import Out, Segment
from torchlayout.cli.report import Report
from torchlayout.rules.finding import Safety


class Tally:
    """What a run came to. Everything it says goes to standard error."""

    def __init__(self, quiet: bool, verbose: bool) -> None:
        self._quiet = quiet
        self._verbose = verbose
        self._started = time.monotonic()
        self.files = 0
        self.findings = 0
        self.errors = 0
        self._fixable: Counter[Safety] = Counter()

    def watch(self, reports: Iterable[Report]) -> Iterator[Report]:
        """The same reports, counted; the error of each is told."""
        for report in reports:
            error = report.result.error
            self.files += 1
            self.findings += len(report.findings)
            if error is not None:
                self.errors += 1
                status.say_error(report.path, report.error_place(), report.error_message)
            for finding in report.findings if not self._quiet else ():
                safety = report.safety(finding)
                if safety is not None:
                    self._fixable[safety] += 1
            if self._verbose:
                for note in report.result.notes:
                    status.say(f"{report.path}: {note.rstrip()}")
            yield report

    def finish(self, mender: Mender | None, *, exit_zero: bool) -> int:
        """Tell the outcome; the exit status."""
        self._tell_notes(mender)
        fixed = mender.applied.total() if mender is not None else 0
        if not self._quiet and not self.files:
            status.say("no files to check")
        elif not self._quiet:
            parts = [f"{_count(self.findings, 'finding')} in {_count(self.files - self.errors, 'file')}"]
            if self.errors:
                parts.append(f"{self.errors} not checked" if mender is None else f"{self.errors} not checked or fixed")
            if mender is not None:
                parts.append(f"{fixed or 'none'} fixed")
            parts += self._offers(mender)
            status.say(", ".join(parts))
        if self.errors:
            return status.FAILED
        return status.FOUND if self.findings and not exit_zero else status.OK

    def finish_diff(self, mender: Mender, *, exit_zero: bool) -> int:
        """The same for --diff: what counts is what fixing would change."""
        self._tell_notes(mender)
        if not self._quiet:
            fixes = _count(mender.applied.total(), "fix", "fixes")
            status.say(f"would apply {fixes} in {_count(mender.changed, 'file')}")
        if self.errors:
            return status.FAILED
        return status.FOUND if mender.changed and not exit_zero else status.OK

    def _offers(self, mender: Mender | None) -> Iterator[str]:
        offers = {"--fix": 0 if mender is not None else self._fixable[Safety.SAFE]}
        offers["--fix --unsafe-fixes"] = self._fixable[Safety.UNSAFE]
        word = "fixable "
        for options, count in offers.items():
            if count:
                yield f"{count} {word}with {options}"
                word = ""

    def _tell_notes(self, mender: Mender | None) -> None:
        for note in mender.notes if mender is not None else ():
            status.say(note)
        if self._verbose:
            seconds = time.monotonic() - self._started
            status.say(f"checked {_count(self.files, 'file')} in {seconds:.2f} s")


def print_statistics(reports: Iterable[Report], out: Out, *, as_json: bool) -> None:
    """How many findings each code has, the most frequent first, and for how many a safe fix is at hand."""
    counts: Counter[str] = Counter()
    fixable: Counter[str] = Counter()
    for report in reports:
        for finding in report.findings:
            counts[finding.code] += 1
            fixable[finding.code] += report.safety(finding) is Safety.SAFE
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if as_json:
        rows = [
            {"code": code, "name": name_of(code), "count": count, "fixable_count": fixable[code]}
            for code, count in ordered
        ]
        out.write(json.dumps(rows, indent=2) + "\n")
        return
    for code, count in ordered:
        mark = "[*]" if fixable[code] else "[ ]"
        out.line(f"{count}\t", Segment(code, "code"), f"\t{mark} {name_of(code)}")


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number or 'no'} {one if number == 1 else many or one + 's'}"
