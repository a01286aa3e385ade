"""Writes what the tests of modules, NumPy and einops counted, for docs/ops.md: `python tests/ops/report_libraries.py`."""

from __future__ import annotations

import json
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import einops  # noqa: E402
import numpy as np  # noqa: E402
import test_einops  # noqa: E402
import test_modules  # noqa: E402
import test_numpy  # noqa: E402
import torch  # noqa: E402
from conformance import Verdict, check_call  # noqa: E402

KINDS = ("exact", "unknown", "wrong", "absent")


def modules() -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for one in test_modules.CASES:
        for training in (True, False):
            count(found, one.name, test_modules.verdicts(one, training, training, True, told=True))
    return found


def arrays() -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for example in test_numpy.EXAMPLES:
        name = example.split("(")[0].rpartition(".")[2]
        count(found, name, test_numpy.verdicts(example, 1))
    return found


def patterns() -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    cases: list[tuple[str, str, dict[str, int], list[Any]]] = []
    cases += [("rearrange", *case, []) for by_rank in test_einops.BY_RANK.values() for case in by_rank]
    cases += [("repeat", *case, []) for case in test_einops.REPEATS]
    cases += [("reduce", *case, ["sum"]) for case in test_einops.REDUCES]
    for name, pattern, lengths, more in cases:
        path = f"einops.{name}"
        count(found, name, [check_call(path, [x, pattern, *more], lengths) for x in test_einops.INPUTS])
    return found


def count(found: dict[str, Counter[str]], name: str, verdicts: list[Verdict]) -> None:
    found.setdefault(name, Counter()).update(verdict.kind for verdict in verdicts)


def main() -> int:
    """Exit status 1 where an answer was wrong."""
    warnings.simplefilter("ignore")
    out = HERE.parents[1] / "docs" / "conformance"
    out.mkdir(parents=True, exist_ok=True)
    reports = {
        "modules": (f"torch.nn on a CPU, torch {torch.__version__.split('+')[0]}", modules()),
        "numpy": (f"NumPy {np.__version__}", arrays()),
        "einops": (f"einops {einops.__version__} on a CPU", patterns()),
    }
    wrong = 0
    for name, (title, counts) in reports.items():
        operators = {key: {kind: counts[key][kind] for kind in KINDS} for key in counts}
        wrong += sum(one["wrong"] for one in operators.values())
        text = json.dumps({"title": title, "operators": operators}, indent=1, sort_keys=True)
        (out / f"{name}.json").write_text(text + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
