"""Run small models of a package and print a digest of what each computes; run as a script by test_models_stay.

    python model_outputs.py PACKAGE [--strides] FILE... < /dev/null

prints {"outputs": {model: digest}, "raised": {model: exception}, "lines": {FILE: [line, ...]}}: the lines of the named
files that ran. Weights are random from a fixed seed; nothing is downloaded. Models that are large, or that take long
here, are left out; one that does not run on these inputs must not run on them afterwards either.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
import signal
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "YOLO_OFFLINE": "True", "YOLO_AUTOINSTALL": "False", "YOLO_VERBOSE": "False"}

import torch

MAX_PARAMETERS = 40_000_000
MAX_SECONDS = 60

Build = Callable[[], Any]


def main(package: str, files: list[str], *, strides: bool) -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True, warn_only=True)
    lines: dict[str, set[int]] = defaultdict(set)
    _with_operators_of_torchvision()
    signal.signal(signal.SIGALRM, _too_slow)
    sys.settrace(_tracer(set(files), lines))
    outputs, raised = {}, {}
    from models_to_run import RUNS  # beside this script

    for name, build, run in RUNS[package](files):
        signal.alarm(MAX_SECONDS)
        try:
            found = computed(build, run, strides)
        except TooSlow:
            continue
        except Exception as error:  # such as a model that needs other inputs
            raised[name] = type(error).__name__
            continue
        finally:
            signal.alarm(0)
        if found is not None:
            outputs[name] = found
    sys.settrace(None)
    ran = {file: sorted(found) for file, found in lines.items()}
    print(json.dumps({"outputs": outputs, "raised": raised, "lines": ran}))


class TooSlow(BaseException):
    """A model takes longer than it is worth here."""


def _too_slow(number: int, frame: Any) -> None:
    raise TooSlow


def computed(build: Build, run: Callable[[Any], Any], strides: bool) -> str | None:
    """The digest of what a model gives, and of the gradients of its parameters; None for a large one."""
    try:
        with torch.device("meta"):
            size = sum(p.numel() for p in build().parameters())
    except Exception:  # not every model can be built without memory
        size = 0
    if size > MAX_PARAMETERS:
        return None
    torch.manual_seed(0)
    model = build().eval()
    result = run(model)
    loss = sum(t.float().sum() for t in tensors(result) if t.is_floating_point() and t.requires_grad)
    if isinstance(loss, torch.Tensor):
        loss.backward()
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    return digest([*tensors(result), *gradients], strides=strides)


def _with_operators_of_torchvision() -> None:
    """Let torchvision be imported with another torch than it was built for: its own operators are not needed."""
    while True:
        try:
            importlib.import_module("torchvision")
            return
        except ImportError:
            return
        except RuntimeError as error:
            missing = re.search(r"operator (torchvision::\w+) does not exist", str(error))
            if missing is None:
                raise
            torch.library.define(missing[1], "(Tensor x) -> Tensor")
            for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
                del sys.modules[name]


def _tracer(files: set[str], lines: dict[str, set[int]]) -> Any:
    def local(frame: Any, event: str, argument: Any) -> Any:
        if event == "line":
            lines[frame.f_code.co_filename].add(frame.f_lineno)
        return local

    def begin(frame: Any, event: str, argument: Any) -> Any:
        return local if frame.f_code.co_filename in files else None

    return begin


def tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors(item)
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors(item)


def digest(values: list[torch.Tensor], *, strides: bool = False) -> str:
    """Of the bits, shapes and dtypes, and where asked of the strides that matter: some safe fixes may change them."""
    found = hashlib.sha256()
    for value in values:
        steps = [step for size, step in zip(value.shape, value.stride(), strict=True) if size > 1] if strides else []
        found.update(repr((tuple(value.shape), value.dtype, steps)).encode())
        found.update(
            value.detach().reshape(-1).contiguous().view(torch.uint8).numpy().tobytes() if value.numel() else b""
        )
    return found.hexdigest()


if __name__ == "__main__":
    main(sys.argv[1], [word for word in sys.argv[2:] if word != "--strides"], strides="--strides" in sys.argv)
