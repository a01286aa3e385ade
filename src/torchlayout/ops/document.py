"""Writes docs/ops.md from the operator table: `python -m torchlayout.ops.document`.

Where an operator was checked stands in docs/conformance/*.json, which the conformance suite writes
(`python tests/ops/report.py` and `python tests/ops/report_libraries.py`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torchlayout.ops.modules import ModuleRow, all_modules
from torchlayout.ops.table import Op, all_rows, find_function, find_method

ENOUGH = 0.95
"""An operator with a smaller share of exact answers is listed by name."""

INTRODUCTION = """\
# Operators

<!-- written by `python -m torchlayout.ops.document`; do not edit -->

What each operator does to a tensor's layout, as the linter knows it. Torch (run eagerly) is the authority: the
conformance suite applies every row to real tensors in many memory layouts (contiguous, permuted, sliced with gaps,
expanded, channels_last, with dimensions of size 1, empty) and compares sizes, the strides of dimensions longer
than 1, and whether storage is shared.

- **signature** is torch's own, as in `native_functions.yaml`; functions written in Python have theirs in the same form.
- **result** is *view* (always in its input's storage), *maybe a view* (it depends on the layout), *copy* (fresh
  storage), or *the tensor itself*.
- **layout** says how the result lies in memory. *Packed* means contiguous whatever came in.
- **checked on**: the devices on which no answer was wrong. Where backends differ, the answer is unknown.

An operator is known under all its spellings: `torch.f(x)`, `x.f()`, `torch.nn.functional.f(x)`, Python's own
operators; `x.f_()` gives the same layout in x itself, and `out=` is followed.
"""


@dataclass
class Checked:
    """What the conformance suite counted on one device, or with one library."""

    title: str
    calls: set[str] = field(default_factory=set)
    counts: dict[str, Mapping[str, int]] = field(default_factory=dict)
    paths: dict[str, Sequence[str]] = field(default_factory=dict)
    """What each operator of the catalogue calls, by dotted path."""

    def total(self, kind: str) -> int:
        return sum(int(counts.get(kind, 0)) for counts in self.counts.values())


def read(folder: Path) -> list[Checked]:
    """The reports in a folder, the CPU's first."""
    reports: list[Checked] = []
    order = ("cpu", "cuda")
    for path in sorted(folder.glob("*.json"), key=lambda path: (path.stem not in order, path.stem)):
        report = json.loads(path.read_text())
        checked = Checked(report.get("title") or f"{report['device'].upper()}, torch {report['torch']}")
        for name, counts in report["operators"].items():
            checked.counts[name] = {kind: counts.get(kind, 0) for kind in ("exact", "unknown", "wrong", "absent")}
            checked.paths[name] = counts.get("calls", ())
            if not counts.get("wrong"):
                checked.calls.update(path.rpartition(".")[2] for path in counts.get("calls", ()))
        reports.append(checked)
    return reports


def share(counts: Mapping[str, int]) -> float | None:
    """The share of exact answers; None where nothing was compared."""
    compared = sum(counts.values())
    return counts["exact"] / compared if compared else None


# ---------------------------------------------------------------- the page
def page(reports: Sequence[Checked]) -> str:
    """The whole page."""
    rows = list(all_rows())
    modules = list(all_modules())
    torch_rows = [row for row in rows if not _library(row)]
    parts = [INTRODUCTION, *_summary(reports)]
    parts += ["## torch", "", *_table(torch_rows, reports)]
    parts += [
        "",
        "## torch.nn",
        "",
        "Modules, by their forward. Parameters are taken to lie as they were constructed.",
        "",
    ]
    parts += _module_table([row for row in modules if not row.spellings or row.spellings[0].startswith("torch.")])
    for title, library in (("NumPy", "numpy"), ("einops", "einops"), ("torchvision", "torchvision")):
        parts += ["", f"## {title}", "", *_table([row for row in rows if _library(row) == library], reports)]
        layers = [row for row in modules if row.spellings and row.spellings[0].startswith(library)]
        if layers:
            parts += ["", *_module_table(layers)]
    parts += ["", "## Where the answer may be unknown", "", *_unknown(rows, modules)]
    parts += ["", *_below(reports)]
    return "\n".join(parts).rstrip() + "\n"


def _library(row: Op) -> str:
    """Which library's operator a row is; "" for torch's."""
    if row.numpy:
        return "numpy"
    first = row.spellings[0].split(".")[0] if row.spellings else ""
    return first if first in ("numpy", "einops", "torchvision") else ""


def _summary(reports: Sequence[Checked]) -> list[str]:
    if not reports:
        return []
    lines = ["| checked on | operators | exact | unknown | wrong |", "| --- | --- | --- | --- | --- |"]
    for report in reports:
        compared = [counts for counts in report.counts.values() if share(counts) is not None]
        numbers = (report.total("exact"), report.total("unknown") + report.total("absent"), report.total("wrong"))
        lines.append(f"| {report.title} | {len(compared)} | {' | '.join(map(str, numbers))} |")
    return [*lines, ""]


def _table(rows: Iterable[Op], reports: Sequence[Checked]) -> list[str]:
    lines = ["| operator | signature | result | layout | checked on |", "| --- | --- | --- | --- | --- |"]
    for row in sorted(rows, key=lambda row: (row.name.lower(), row.schema)):
        cells = (f"`{_title(row)}`", _code(row.schema), row.alias.value, _words(row), _checked(row, reports))
        lines.append(f"| {' | '.join(map(_escaped, cells))} |")
    return lines


def _title(row: Op) -> str:
    return (
        row.spellings[0] if row.spellings and (row.numpy or row.name not in row.spellings[0].split(".")) else row.name
    )


def _words(row: Op) -> str:
    words = row.words
    if row.since:
        words += f" (since {row.since})"
    return f"{words}; depends on the backend" if row.varies else words


def _checked(row: Op, reports: Sequence[Checked]) -> str:
    """The devices whose report has a call of this operator; the tests evaluate every example on a CPU."""
    devices = [report.title.split(",")[0] for report in reports if row.name in report.calls]
    if row.example and "CPU" not in devices:
        devices.insert(0, "CPU")
    return ", ".join(dict.fromkeys(devices)) or "by its source"


def _module_table(rows: Iterable[ModuleRow]) -> list[str]:
    lines = ["| module | constructor | forward | layout |", "| --- | --- | --- | --- |"]
    for row in sorted(rows, key=lambda row: row.name.lower()):
        name = row.spellings[0] if row.spellings else row.name
        cells = (f"`{name}`", _code(row.schema.removesuffix(" -> None")), _code(f"({row.takes})"), row.words)
        lines.append(f"| {' | '.join(map(_escaped, cells))} |")
    return lines


def _unknown(rows: Iterable[Op], modules: Iterable[ModuleRow]) -> list[str]:
    """Each operator that may answer unknown, by reason."""
    reasons: dict[str, set[str]] = {}
    for row in rows:
        if row.unknown:
            reasons.setdefault(row.unknown, set()).add(row.name if not row.numpy else f"numpy {row.name}")
    for module in modules:
        if module.unknown:
            reasons.setdefault(module.unknown, set()).add(f"nn.{module.name}" if not module.spellings else module.name)
    lines = ["An answer is also unknown where an argument that decides it is.", ""]
    for reason in sorted(reasons, key=lambda reason: (reason.lower(), reason)):
        names = ", ".join(f"`{name}`" for name in sorted(reasons[reason], key=lambda name: (name.lower(), name)))
        lines.append(f"- {reason}: {names}")
    return lines


def _below(reports: Sequence[Checked]) -> list[str]:
    """Operators of torch's catalogue whose answers are exact less often than asked for."""
    lines = [f"## Operators known exactly in fewer than {ENOUGH:.0%} of comparisons", ""]
    for report in reports:
        for name in sorted(report.counts if report.calls else ()):
            found = share(report.counts[name])
            if found is not None and found < ENOUGH:
                lines.append(f"- `{name}` ({report.title}): {found:.0%}; {_reason(report.paths.get(name, ()))}")
    return lines if len(lines) > 2 else []


def _reason(paths: Iterable[str]) -> str:
    """Why the answers of these calls may be unknown."""
    reasons = []
    for path in paths:
        rows = find_method(path.removeprefix("Tensor.")) if path.startswith("Tensor.") else find_function(path)
        reasons += [row.unknown for row in rows if row.unknown]
    return "; ".join(dict.fromkeys(reasons)) or "an argument that decides it is not known"


def _code(text: str) -> str:
    return f"`{text}`"


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 1 with `--check` where the page is not what the table gives."""
    root = Path(__file__).parents[3]
    parser = argparse.ArgumentParser(description="Write docs/ops.md from the operator table.")
    parser.add_argument("--out", type=Path, default=root / "docs" / "ops.md")
    parser.add_argument("--conformance", type=Path, default=root / "docs" / "conformance")
    parser.add_argument("--check", action="store_true", help="only compare")
    options: Any = parser.parse_args(arguments)
    text = page(read(options.conformance))
    if options.check:
        stale = not options.out.exists() or options.out.read_text() != text
        if stale:
            print(f"{options.out} is stale: run python -m torchlayout.ops.document", file=sys.stderr)
        return int(stale)
    options.out.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
