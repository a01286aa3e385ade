"""Whether the tests of a room notice when its code is changed: `nox -s mutation`.

Collects the tests once, then forks for each mutant: the child changes the module in memory and runs the tests that
reach the change until one fails. So a mutant costs its tests alone. Ends with status 1 where a mutant survives that is
not among those known to give the same answers, in `equivalent_mutants.txt`. Needs an operating system that forks.
"""

from __future__ import annotations

import argparse
import fnmatch
import gc
import os
import resource
import sys
import time
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import pytest
from _pytest.runner import runtestprotocol
from mutants import SOURCES, Mutant, mutants_of

ROOMS = ("sizes", "layouts")
KNOWN = Path(__file__).with_name("equivalent_mutants.txt")
MAX_MEMORY = 2 << 30
"""Bytes for one mutant, which may make things grow without end: the test then fails."""
KILLED, SURVIVED, OUT_OF_TIME, BROKEN = "killed", "survived", "out of time", "cannot be made"
STATUS = {0: SURVIVED, 1: KILLED, 2: BROKEN}


class Options(NamedTuple):
    """What to mutate and how."""

    patterns: list[str]
    jobs: int
    seconds: int
    log: Path | None


class Test(NamedTuple):
    """A test, how long it takes, and the functions of the room that it calls, by module and first line."""

    item: pytest.Item
    seconds: float
    functions: set[tuple[str, int]]


class Mutation:
    """A plugin for pytest that, in place of running the tests, runs them for each mutant."""

    def __init__(self, room: str, options: Options) -> None:
        self.room = room
        self.options = options
        self.results: list[tuple[Mutant, str]] = []
        self.running: dict[int, Mutant] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        tests = self._fastest_first(session.items)
        gc.freeze()
        started = time.monotonic()
        for mutant in self._mutants():
            while len(self.running) >= self.options.jobs:
                self._wait()
            self._start(mutant, [test.item for test in tests if mutant.reached_by(test.functions)])
        while self.running:
            self._wait()
        print(f"{self.room}: {len(self.results)} mutants in {time.monotonic() - started:.0f} s", flush=True)
        return True

    def _mutants(self) -> list[Mutant]:
        files = sorted((SOURCES / "torchlayout" / self.room).glob("*.py"))
        found = [mutant for file in files for mutant in mutants_of(file)]
        return [mutant for mutant in found if any(fnmatch.fnmatch(str(mutant), p) for p in self.options.patterns)]

    def _fastest_first(self, items: list[pytest.Item]) -> list[Test]:
        """Run all once: they must pass, and what is set up at first use is then set up for every child."""
        tests = []
        for item in items:
            functions: set[tuple[str, int]] = set()

            def note(frame: FrameType, event: str, _: object, functions: set[tuple[str, int]] = functions) -> None:
                if event == "call":
                    functions.add((frame.f_globals.get("__name__", ""), frame.f_code.co_firstlineno))

            started = time.process_time()
            sys.setprofile(note)
            passed = _passes(item)
            sys.setprofile(None)
            if not passed:
                pytest.exit(f"fails without a mutant: {item.nodeid}", returncode=2)
            ours = {function for function in functions if function[0].startswith(f"torchlayout.{self.room}.")}
            tests.append(Test(item, time.process_time() - started, ours))
        return sorted(tests, key=lambda test: test.seconds)

    def _start(self, mutant: Mutant, items: list[pytest.Item]) -> None:
        child = os.fork()
        if child:
            self.running[child] = mutant
            return
        status = 2
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (self.options.seconds, self.options.seconds))
            resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY, MAX_MEMORY))
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            mutant.apply()
            status = 1
            status = 0 if all(map(_passes, items)) else 1
        finally:
            os._exit(status)

    def _wait(self) -> None:
        child, ended = os.wait()
        mutant = self.running.pop(child)
        result = STATUS.get(os.waitstatus_to_exitcode(ended), OUT_OF_TIME)
        self.results.append((mutant, result))
        if self.options.log:
            with self.options.log.open("a", encoding="utf-8") as log:
                log.write(f"{result}\t{mutant.lines.start}\t{mutant}\n")


def _passes(item: pytest.Item) -> bool:
    reports = runtestprotocol(item, log=False, nextitem=None)
    return not any(report.failed for report in reports)


def known_equivalents() -> dict[str, str]:
    """The kind of each mutant that is known to change no answer."""
    kinds: dict[str, str] = {}
    kind = ""
    for line in KNOWN.read_text(encoding="utf-8").splitlines() if KNOWN.exists() else ():
        if line.startswith("## "):
            kind = line.removeprefix("## ")
        elif line.strip() and not line.startswith("#"):
            kinds[line] = kind
    return kinds


def main() -> int:
    """Run the rooms one after the other, each on its own tests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patterns", nargs="*", default=["*"], help="mutants by their text, such as '*views.py _cut:*'")
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=ROOMS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=20, help="processor time for one mutant")
    parser.add_argument("--log", type=Path, help="file to append each result to")
    given = parser.parse_args()
    options = Options(given.patterns, given.jobs, given.seconds, given.log)
    results: list[tuple[Mutant, str]] = []
    for room in given.rooms:
        plugin = Mutation(room, options)
        without = [f"-pno:{name}" for name in ("randomly", "xdist", "cacheprovider")]
        status = pytest.main(["-q", "--tb=no", "-s", *without, f"tests/{room}"], plugins=[plugin])
        if status not in (0, 5):
            return int(status)
        results += plugin.results
    return report(results)


def report(results: list[tuple[Mutant, str]]) -> int:
    """Print the figures, and the survivors that are not known to be equivalent; the exit status."""
    known = known_equivalents()
    survivors = [mutant for mutant, result in results if result == SURVIVED]
    new = [mutant for mutant in survivors if str(mutant) not in known]
    counts = Counter(result for _, result in results)
    print(f"{len(results)} mutants: " + ", ".join(f"{count} {result}" for result, count in counts.items()))
    for kind, count in Counter(known[str(mutant)] for mutant in survivors if str(mutant) in known).items():
        print(f"  {count} equivalent: {kind}")
    for mutant in new:
        print(f"  survived: {mutant}")
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
