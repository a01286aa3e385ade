"""Safe fixes over real packages: every model computes the same bits, and exactly what was promised is mended.

    pip install torchvision timm monai transformers ultralytics open_clip_torch
    pytest -m full -s tests/fixing/test_models_stay.py

The packages are looked for in the folders that TORCHLAYOUT_PACKAGES lists (`pip install --no-deps --target DIR timm`)
and among the installed ones. Nothing is downloaded: the models are small, with random weights. What is printed tells
how many of them ran, and which of the mended lines did not.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from torchlayout.cli import main

PACKAGES = ("torchvision", "timm", "monai", "transformers", "ultralytics", "open_clip")
PACKING = ".contiguous()"
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


def outputs(package: str, tree: Path, files: list[str], *options: str) -> dict[str, Any]:
    """What the models of a package under `tree` compute, and the lines of the files (relative to it) that ran."""
    others = {str(home.parent) for name in ("torchvision", "timm") if (home := home_of(name)) is not None}
    path = os.pathsep.join([str(tree), *others, os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(SCRIPT), package, *options, *(str(tree / file) for file in files)]
    ran = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


def agree(package: str, before: Path, after: Path, changed: list[str], *options: str) -> dict[str, set[int]]:
    """Assert that the models of both trees do the same; the lines that ran of each file before."""
    one, two = (outputs(package, tree, changed, *options) for tree in (before, after))
    common = one["outputs"].keys() & two["outputs"].keys()  # a slow one may have been given up in one of the runs
    assert common
    assert {name: one["outputs"][name] for name in common} == {name: two["outputs"][name] for name in common}
    assert not one["outputs"].keys() & two["raised"].keys() and not two["outputs"].keys() & one["raised"].keys()
    print(f"{package}: {len(common)} models bit-equal, {len(one['raised'])} raise as before")
    return {os.path.relpath(file, before): set(ran) for file, ran in one["lines"].items()}


def is_replaced(finding: dict[str, Any], by: dict[str, Any]) -> bool:
    """Whether a finding stands in text that the other one's fix replaces."""
    here = place_of(finding["location"])
    edits = by["fix"]["edits"] if by["filename"] == finding["filename"] else []
    return any(place_of(edit["location"]) <= here < place_of(edit["end_location"]) for edit in edits)


def place_of(location: dict[str, int]) -> tuple[int, int]:
    return location["row"], location["column"]


def counted(findings: list[dict[str, Any]], root: Path) -> Counter[tuple[str, str]]:
    return Counter((finding["code"], os.path.relpath(finding["filename"], root)) for finding in findings)


def tell(package: str, places: list[tuple[str, int]], lines: dict[str, set[int]]) -> None:
    missed = [f"{file}:{row}" for file, row in places if row not in lines.get(file, ())]
    print(f"{package}: of {len(places)} mended lines {len(places) - len(missed)} ran; not: {missed}")


def copies(package: str, folder: Path, *names: str) -> list[Path]:
    """Folders with a copy of the package in each."""
    home = home_of(package)
    if home is None:
        pytest.skip(f"{package} is neither installed nor under TORCHLAYOUT_PACKAGES")
    trees = [folder / name for name in names]
    for tree in trees:
        shutil.copytree(home, tree / package, ignore=shutil.ignore_patterns("__pycache__"))
        for extra in home.parent.glob(f"{package}*.libs"):
            shutil.copytree(extra, tree / extra.name)
    return trees


@pytest.mark.full
@pytest.mark.parametrize("package", PACKAGES)
def test_models_stay_bit_equal(package: str, tmp_path: Path) -> None:
    before, after = copies(package, tmp_path, "before", "after")
    found = check(before / package, "--select=LAY")
    left = check(after / package, "--select=LAY", "--fix")

    safe = [f for f in found if f["fix"] is not None and f["fix"]["applicability"] == "safe"]
    # What other rules say of text that a fix takes away is gone with it.
    kept = [f for f in found if f not in safe and not any(is_replaced(f, by) for by in safe)]
    assert counted(left, after) == counted(kept, before)
    changed = sorted({os.path.relpath(f["filename"], before) for f in safe})
    for path in sorted(before.rglob("*.py")):
        relative = path.relative_to(before)
        assert (path.read_bytes() != (after / relative).read_bytes()) is (str(relative) in changed), relative
    if changed:
        lines = agree(package, before, after, changed)
        tell(package, [(os.path.relpath(f["filename"], before), f["location"]["row"]) for f in safe], lines)


@pytest.mark.full
@pytest.mark.parametrize("package", ["torchvision", "open_clip", "ultralytics", "timm"])
def test_needless_packing_that_is_planted_goes_again(package: str, tmp_path: Path) -> None:
    """`.contiguous()` is put behind every call that is assigned or returned, and stays where LAY201 reports it: the
    fix gives the package back as it was, and its models compute the same bits in the same strides."""
    (original,) = copies(package, tmp_path, "original")
    check(original / package, "--select=LAY201", "--fix")
    planted, mended = (Path(shutil.copytree(original, tmp_path / name)) for name in ("planted", "mended"))
    changed = plant(planted / package, lambda: check(planted / package, "--select=LAY201"))
    assert changed
    for file in changed:
        shutil.copy(planted / file, mended / file)
    assert not check(mended / package, "--select=LAY201", "--fix")
    for file in changed:
        assert (mended / file).read_bytes() == (original / file).read_bytes(), file

    lines = agree(package, planted, mended, sorted(changed), "--strides")
    tell(package, [(file, row) for file, rows in changed.items() for row in rows], lines)


def plant(root: Path, found: Callable[[], list[dict[str, Any]]]) -> dict[str, list[int]]:
    """Put `.contiguous()` where `found` reports it; the rows with one of each file, relative to the folder above.

    One that is not reported is taken out, which may leave others unproved: again, until all are reported.
    """
    originals = {path: path.read_text(encoding="utf-8") for path in root.rglob("*.py")}
    places = {path: call_ends(text) for path, text in originals.items() if "torch" in text}
    while True:
        for path, ends in places.items():
            path.write_text(with_packing(originals[path], ends), encoding="utf-8")
        reported = {(f["filename"], f["location"]["row"], f["location"]["column"]) for f in found() if f["fix"]}
        kept = {path: [end for end in ends if is_among(reported, path, ends, end)] for path, ends in places.items()}
        if kept == places:
            break
        places = kept
    return {str(path.relative_to(root.parent)): [row for row, _ in ends] for path, ends in places.items() if ends}


def is_among(
    reported: set[tuple[str, int, int]], path: Path, ends: list[tuple[int, int]], end: tuple[int, int]
) -> bool:
    """Whether the packing planted at a place is reported; each of those before it on its line has moved it."""
    row, column = end
    before = sum(other[0] == row and other[1] < column for other in ends)
    return (str(path), row, column + 2 + len(PACKING) * before) in reported


def call_ends(text: str) -> list[tuple[int, int]]:
    """Where the calls end that are assigned to one name or returned: lines from 1, columns from 0."""
    lines = text.split("\n")
    found = set()
    for node in ast.walk(ast.parse(text)):
        single = isinstance(node, ast.Return) or (
            isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        )
        if single and isinstance(node.value, ast.Call):  # type: ignore[attr-defined]
            call = node.value  # type: ignore[attr-defined]
            line = lines[call.end_lineno - 1]
            found.add((call.end_lineno, len(line.encode()[: call.end_col_offset].decode())))
    return sorted(found)


def with_packing(text: str, ends: list[tuple[int, int]]) -> str:
    lines = text.split("\n")
    for row, column in sorted(ends, reverse=True):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + PACKING + line[column:]
    return "\n".join(lines)


def test_the_digest_sees_a_changed_bit() -> None:
    import torch

    spec = importlib.util.spec_from_file_location("model_outputs", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x = torch.randn(3, 4)
    assert module.digest([x]) == module.digest([x.t().contiguous().t()])
    assert module.digest([x], strides=True) != module.digest([x.t().contiguous().t()], strides=True)
    assert module.digest([x]) != module.digest([torch.nextafter(x, x + 1)])
    assert module.digest([x]) != module.digest([x.reshape(4, 3)])
    assert len(list(module.tensors({"a": [x, (x, None)], "b": 3}))) == 2
