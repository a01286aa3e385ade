"""Writes what the conformance suite counted, for docs/ops.md: `python tests/ops/report.py --device cpu`.

The file maps each operator of torch's catalogue to its counts of exact, unknown, wrong and absent comparisons where
the table is told the device, and of those that are exact without.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path

import torch

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from sweep import both, catalogue  # noqa: E402


def main() -> int:
    """Exit status 1 where an answer was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--samples", type=int, default=12, help="sample inputs of each operator")
    parser.add_argument("--forms", type=int, default=16, help="memory layouts of each sample")
    parser.add_argument("--out", type=Path, help="default: docs/conformance/DEVICE.json")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    operators: dict[str, dict[str, object]] = {}
    wrong = 0
    for info in catalogue():
        name = f"{info.name}.{info.variant_test_name}" if info.variant_test_name else info.name
        tally, told = both(info, options.device, options.samples, options.forms)
        wrong += tally.counts["wrong"] + (told.counts["wrong"] if told is not tally else 0)
        counts = {kind: told.counts[kind] for kind in ("exact", "unknown", "wrong", "absent")}
        operators[name] = {**counts, "exact_on_any_device": tally.counts["exact"], "calls": sorted(tally.paths)}
        tally.wrong += told.wrong if told is not tally else []
        for line in tally.wrong:
            print(f"{name}: {line}", file=sys.stderr)
    out = options.out or HERE.parents[1] / "docs" / "conformance" / f"{options.device}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    report = {"torch": torch.__version__.split("+")[0], "device": options.device, "operators": operators}
    out.write_text(json.dumps(report, indent=1, sort_keys=True) + "\n")
    compared = [
        counts for counts in operators.values() if any(counts[kind] for kind in ("exact", "unknown", "wrong", "absent"))
    ]
    known = sum(_share(counts) >= 0.95 for counts in compared)
    print(f"{len(compared)} operators compared, {known} of them exact in at least 95% of comparisons, {wrong} wrong")
    return 1 if wrong else 0


def _share(counts: dict[str, object]) -> float:
    numbers = [int(str(counts[kind])) for kind in ("exact", "unknown", "wrong", "absent")]
    return numbers[0] / sum(numbers)


if __name__ == "__main__":
    sys.exit(main())
