"""What linting costs: plain flake8, flake8 with TorchFix, and flake8 with torchlayout, side by side.

    nox -s benchmark                      (makes the environments, fetches the sources, writes docs/performance.md)
    python benchmarks/cost.py --plain PYTHON --torchfix PYTHON NAME=FOLDER...        (with environments of your own)

Each figure is the user CPU time of a whole command in one process, which other work on the machine disturbs least.
The commands that are compared run in turn, and a ratio is the median of the ratios of such rounds. Memory is the
largest resident set. The curves are drawn over programs made for the purpose (`written.py`).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from chart import Series, line_chart
from written import long_function, many_functions

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "performance.md"
BEGIN, END = "<!-- results -->", "<!-- end of results -->"
COUNTS = (50, 100, 200, 400, 800)
"""Functions in one file, and statements in one function, of the curves."""


class Cost(NamedTuple):
    """Of one run of a command: seconds of user CPU time, and MB of memory at the most."""

    seconds: float
    memory: float


def run(command: Sequence[str], folder: Path) -> Cost:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with status {process.returncode}")
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return Cost(usage.ru_utime, usage.ru_maxrss / unit)


class Commands:
    """The commands that are compared, by name, none of which uses what another run found.

    `check` is torchlayout without flake8, `again` flake8 with torchlayout and a folder of results to use.
    """

    def __init__(self, plain: str, torchfix: str | None, ours: str) -> None:
        flake8 = ["-m", "flake8", "--isolated", "-j1"]
        self.ours = ours
        self.flake8 = {"flake8": [plain, *flake8]}
        if torchfix:
            self.flake8["TorchFix"] = [torchfix, *flake8]
        self.flake8["torchlayout"] = [ours, *flake8, "--torchlayout-no-cache"]
        self._again = [ours, *flake8]

    def again(self, kept: str) -> list[str]:
        return [*self._again, "--torchlayout-cache-dir", kept]

    def check(self, *options: str) -> list[str]:
        return [self.ours, "-m", "torchlayout", "check", "--isolated", "--quiet", *options]


def compare(commands: Commands, name: str, folder: Path, rounds: int) -> list[str]:
    """One row of the table for each command, over one package."""
    alone = commands.check("-j1", "--no-cache")
    found: dict[str, list[Cost]] = {}
    with tempfile.TemporaryDirectory() as kept:
        again = {
            "torchlayout, again": commands.again(kept),
            "torchlayout check, again": commands.check("-j1", "--cache-dir", kept),
        }
        for command in again.values():
            run([*command, str(folder)], folder.parent)
        for _ in range(rounds):
            for kind, command in {**commands.flake8, "torchlayout check": alone, **again}.items():
                found.setdefault(kind, []).append(run([*command, str(folder)], folder.parent))
    plain = found["flake8"]
    rows = []
    for kind, costs in found.items():
        ratio = statistics.median(cost.seconds / base.seconds for cost, base in zip(costs, plain, strict=True))
        seconds = statistics.median(cost.seconds for cost in costs)
        more = statistics.median(cost.memory for cost in costs) - statistics.median(base.memory for base in plain)
        label = f"flake8 with {kind}" if kind in ("TorchFix", "torchlayout", "torchlayout, again") else kind
        rows.append(f"| {name} | {label} | {seconds:.1f} s | {ratio:.2f} | {more:+.0f} MB |")
    return rows


def curves(commands: Commands, rounds: int) -> dict[str, list[Series]]:
    """Seconds over the number of functions in a file, and over the statements of one function."""
    made = {"functions": many_functions, "statements": long_function}
    found: dict[str, list[Series]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for what, make in made.items():
            points: dict[str, list[tuple[float, float]]] = {kind: [] for kind in commands.flake8}
            for count in COUNTS:
                path = Path(folder, f"{what}_{count}.py")
                path.write_text(make(count), encoding="utf-8")
                for kind, command in commands.flake8.items():
                    costs = [run([*command, str(path)], Path(folder)).seconds for _ in range(rounds)]
                    points[kind].append((count, statistics.median(costs)))
            found[what] = [Series(kind, tuple(line)) for kind, line in points.items()]
    return found


def versions(python: str) -> str:
    code = (
        "import platform, flake8, libcst\nfrom importlib.metadata import version\n"
        "print(f'Python {platform.python_version()}, flake8 {flake8.__version__}, libcst {version(\"libcst\")}')"
    )
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description="What linting costs, as tables and curves.")
    parser.add_argument("packages", nargs="*", metavar="NAME=FOLDER", help="sources to lint")
    parser.add_argument("--plain", required=True, help="a Python that has flake8 alone")
    parser.add_argument("--torchfix", help="a Python that has flake8 and TorchFix")
    parser.add_argument("--ours", default=sys.executable, help="a Python that has flake8 and torchlayout")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="put the results into docs/performance.md")
    options = parser.parse_args()
    commands = Commands(options.plain, options.torchfix, options.ours)
    for command in commands.flake8.values():  # the first run of each compiles its modules
        run([*command, str(HERE / "written.py")], HERE)
    lines = [f"{versions(options.ours)}; medians of {options.rounds} rounds.", ""]
    lines += [
        "| sources | command | user CPU time | times flake8 | memory over flake8 |",
        "| --- | --- | --- | --- | --- |",
    ]
    for package in options.packages:
        name, _, folder = package.partition("=")
        rows = compare(commands, name, Path(folder).resolve(), options.rounds)
        print("\n".join(rows), flush=True)
        lines += rows
    for what, series in curves(commands, options.rounds).items():
        drawing = line_chart(
            f"One file of n {what}" if what == "functions" else "One function of n statements", what, series
        )
        lines += ["", f"![Seconds over the number of {what}](performance-{what}.svg)"]
        if options.write:
            (PAGE.parent / f"performance-{what}.svg").write_text(drawing, encoding="utf-8")
        for line in series:
            print(what, line.name, " ".join(f"{x:.0f}:{y:.2f}s" for x, y in line.points))
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n{chr(10).join(lines)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
