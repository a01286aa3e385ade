"""The rules' examples: their marks, and what torch does when they run.

Vocabulary: *mark* (a trailing comment `# LAY101`, several codes with commas), *event* (one call of a torch function
from the example's own lines).
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
import types
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from torchlayout.rules import RULES
from torchlayout.rules.base import Example

_MARK = re.compile(r"#\s*(LAY\d{3}(?:,\s*LAY\d{3})*)\s*$")
_FILE = "<example>"


def marks(source: str) -> list[tuple[int, str]]:
    """(line, code) of every mark, sorted."""
    found = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and (match := _MARK.search(token.string)):
            found += [(token.start[0], code) for code in re.split(r",\s*", match[1])]
    return sorted(found)


def without_marks(source: str) -> str:
    return re.sub(r"  # LAY\d{3}(, LAY\d{3})*(?=\n)", "", source)


def examples(*kinds: str) -> list[tuple[str, str, Example]]:
    """(code, id, example) of all rules, for pytest; kinds are "invalid", "valid", "near_misses"."""
    found = []
    for rule in RULES:
        for kind in kinds:
            for number, example in enumerate(getattr(rule, kind)):
                found.append((rule.code, f"{rule.code}-{kind}-{number}", example))
    return found


@dataclass
class Event:
    """A call, with what its first tensor argument was before, and what came out."""

    name: str
    line: int
    before: tuple[int, tuple[int, ...], tuple[int, ...]] | None = None
    """Address of the storage, shape, stride."""
    was_contiguous: bool | None = None
    version: int | None = None
    after: tuple[int, tuple[int, ...], tuple[int, ...]] | None = None
    is_contiguous: bool | None = None

    @property
    def copied(self) -> bool:
        return self.before is not None and self.after is not None and self.before[0] != self.after[0]

    @property
    def same_tensor(self) -> bool:
        return self.before is not None and self.before == self.after


@dataclass
class Run:
    """What happened: the error and its line, the events, and the tensors that the module's names hold at the end."""

    events: list[Event] = field(default_factory=list)
    error: BaseException | None = None
    line: int | None = None
    values: dict[str, Any] = field(default_factory=dict)

    def at(self, line: int, *names: str) -> list[Event]:
        return [event for event in self.events if event.line == line and (not names or event.name in names)]


def _description(value: object) -> tuple[int, tuple[int, ...], tuple[int, ...]] | None:
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
        return None
    return value.untyped_storage().data_ptr(), tuple(value.shape), value.stride()


class _Recorder(TorchFunctionMode):
    def __init__(self, run: Run, skipped: frozenset[int]) -> None:
        super().__init__()
        self.run = run
        self.skipped = skipped
        self.kept: list[object] = []
        """Results stay alive, so that no storage's address is used twice."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        line = _line_in_example()
        name = getattr(func, "__name__", "")
        if line is None:
            return func(*args, **kwargs)
        if name == "contiguous" and line in self.skipped:
            return args[0]
        event = Event(name, line)
        first = next((a for a in args if isinstance(a, torch.Tensor)), None)
        with torch._C.DisableTorchFunction():
            event.before = _description(first)
            if event.before is not None:
                event.was_contiguous, event.version = first.is_contiguous(), first._version
        self.kept.append(first)
        out = func(*args, **kwargs)
        self.kept.append(out)
        with torch._C.DisableTorchFunction():
            event.after = _description(out)
            if event.after is not None:
                event.is_contiguous = out.is_contiguous()
        self.run.events.append(event)
        return out


def _line_in_example() -> int | None:
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename == _FILE:
            return frame.f_lineno
        frame = frame.f_back
    return None


def run(source: str, device: str = "cpu", skip: frozenset[int] = frozenset()) -> Run:
    """Run a program; on the lines `skip`, `contiguous()` gives back its tensor as it is."""
    torch.manual_seed(0)
    result = Run()
    module = types.ModuleType("example")
    recorder = _Recorder(result, skip)
    sys.modules["example"] = module
    try:
        with torch.device(device), recorder:
            exec(compile(source, _FILE, "exec"), module.__dict__)
    except Exception as error:
        result.error = error
        place = error.__traceback__
        while place is not None:
            if place.tb_frame.f_code.co_filename == _FILE:
                result.line = place.tb_lineno
            place = place.tb_next
    finally:
        del sys.modules["example"]
    result.values = {name: value for name, value in vars(module).items() if isinstance(value, (torch.Tensor, float))}
    return result


def same_values(a: Run, b: Run) -> bool:
    """Whether both ended alike, and every name that both have holds the same elements."""
    if type(a.error) is not type(b.error):
        return False
    return all(_equal(a.values[name], b.values[name]) for name in a.values.keys() & b.values.keys())


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor):
        return a.shape == b.shape and torch.allclose(a.double(), b.double(), rtol=1e-4, atol=1e-5, equal_nan=True)
    return abs(a - b) < 1e-4
