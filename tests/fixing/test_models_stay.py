"""Safe fixes over real packages: every model computes the same bits, and exactly what was promised is mended.

    TORCHLAYOUT_PACKAGES=DIR pytest -m full tests/fixing/test_models_stay.py

The packages are looked for in the folders that TORCHLAYOUT_PACKAGES lists (`pip install --no-deps --target DIR timm`)
and among the installed ones.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from torchlayout.cli import main

SCRIPT = Path(__file__).parent / "model_outputs.py"
FOLDERS = [folder for folder in os.environ.get("TORCHLAYOUT_PACKAGES", "").split(os.pathsep) if folder]


def home_of(package: str) -> Path | None:
    for folder in FOLDERS:
        for place in (Path(folder) / package, Path(folder) / package / package):
            if (place / "__init__.py").is_file():
                return place
    found = importlib.util.find_spec(package)
    return None if found is None or found.origin is None else Path(found.origin).parent


def check(folder: Path, *options: str) -> list[dict[str, Any]]:
    out = folder.parent / "found.json"
    with pytest.raises(SystemExit) as stop:
        main(["check", str(folder), "--isolated", "--no-cache", "--output-format=json", "-o", str(out), *options])
    assert stop.value.code in (0, 1)
    found: list[dict[str, Any]] = json.loads(out.read_text())
    assert not any(finding["code"] == "LAY901" for finding in found)
    return found


def outputs(package: str, tree: Path, files: list[str]) -> dict[str, Any]:
    """What the models of a package under `tree` compute, and the lines of the files (relative to it) that ran."""
    others = {str(home.parent) for name in ("torchvision", "timm") if (home := home_of(name)) is not None}
    path = os.pathsep.join([str(tree), *others, os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(SCRIPT), package, *(str(tree / file) for file in files)]
    ran = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


def counted(findings: list[dict[str, Any]], root: Path) -> Counter[tuple[str, str]]:
    return Counter((finding["code"], os.path.relpath(finding["filename"], root)) for finding in findings)


@pytest.mark.full
@pytest.mark.parametrize("package", ["torchvision", "timm", "monai", "transformers"])
def test_models_stay_bit_equal(package: str, tmp_path: Path) -> None:
    home = home_of(package)
    if home is None:
        pytest.skip(f"{package} is neither installed nor under TORCHLAYOUT_PACKAGES")
    trees = [tmp_path / name for name in ("before", "after")]
    for tree in trees:
        shutil.copytree(home, tree / package, ignore=shutil.ignore_patterns("__pycache__"))
        for extra in home.parent.glob(f"{package}*.libs"):
            shutil.copytree(extra, tree / extra.name)
    before, after = trees
    found = check(before / package)
    left = check(after / package, "--fix")

    safe = [f for f in found if f["fix"] is not None and f["fix"]["applicability"] == "safe"]
    kept = [f for f in found if f not in safe]
    assert counted(left, after) == counted(kept, before)
    changed = sorted({os.path.relpath(f["filename"], before) for f in safe})
    for path in sorted(before.rglob("*.py")):
        relative = path.relative_to(before)
        assert (path.read_bytes() != (after / relative).read_bytes()) is (str(relative) in changed), relative
    if not changed:
        pytest.skip(f"no safe fix in {package}")

    one, two = outputs(package, before, changed), outputs(package, after, changed)
    assert one["outputs"]
    assert one["outputs"] == two["outputs"]
    lines = {os.path.relpath(file, before): set(ran) for file, ran in one["lines"].items()}
    rows = [(os.path.relpath(f["filename"], before), f["location"]["row"]) for f in safe]
    ran = [f"{file}:{row}" for file, row in rows if row in lines.get(file, ())]
    print(f"{package}: {len(one['outputs'])} models bit-equal; {len(ran)} of {len(safe)} mended lines ran: {ran}")


def test_the_digest_sees_a_changed_bit() -> None:
    import torch

    spec = importlib.util.spec_from_file_location("model_outputs", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x = torch.randn(3, 4)
    assert module.digest([x]) == module.digest([x.t().contiguous().t()])
    assert module.digest([x]) != module.digest([torch.nextafter(x, x + 1)])
    assert module.digest([x]) != module.digest([x.reshape(4, 3)])
    assert len(list(module.tensors({"a": [x, (x, None)], "b": 3}))) == 2
