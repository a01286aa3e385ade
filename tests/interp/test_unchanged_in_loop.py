"""Whether a packed tensor is the same on every turn, where methods of the object itself are called in the loop."""

from __future__ import annotations

import pytest

from torchlayout.check.engine import check

PROGRAM = """\
import torch
from torch import nn


class Codebook(nn.Module):
    def __init__(self):
        super().__init__()
        self.codes = torch.zeros(3, 4)
        self.mix = nn.Linear(3, 3)

    def renew(self, step):
        self.codes = self.codes + step

    def write(self, step):
        self.codes.add_(step)

    def through(self, step):
        self.renew(step)

    def look(self, step):
        return self.codes.sum() + step

    def forward(self, x):
        for step in range(20):
            {call}
            x = x @ self.codes.t().contiguous()
        return x
"""


def code_of(call: str) -> set[str]:
    found = check(PROGRAM.format(call=call), "codebook.py")
    return {finding.code for finding in found if finding.code.startswith("LAY3")}


@pytest.mark.parametrize("call", ["pass", "self.look(step)", "x = self.mix(x)", "print(step)"])
def test_what_does_not_write_leaves_it_the_same(call: str) -> None:
    assert code_of(call) == {"LAY301"}


@pytest.mark.parametrize(
    "call", ["self.renew(step)", "self.write(step)", "self.through(step)", "self.inherited(step)", "self.codes += step"]
)
def test_what_may_write_does_not(call: str) -> None:
    assert "LAY301" not in code_of(call)


def test_what_the_caller_hands_over_may_write_to_attributes() -> None:
    program = PROGRAM.replace("def forward(self, x):", "def forward(self, x, told):").format(call="told(x)")
    found = {finding.code for finding in check(program, "codebook.py")}
    assert "LAY302" in found and "LAY301" not in found


@pytest.mark.parametrize("call", ["self.write(step)", "self.codes.add_(step)", "self.inherited(step)"])
def test_a_name_for_the_same_memory_counts(call: str) -> None:
    program = PROGRAM.replace("        for step", "        own = self.codes.t()\n        for step")
    program = program.replace("self.codes.t().contiguous()", "own.contiguous()")
    found = check(program.format(call=call), "codebook.py")
    assert "LAY301" not in {finding.code for finding in found}
    assert "LAY301" in {finding.code for finding in check(program.format(call="self.look(step)"), "codebook.py")}
