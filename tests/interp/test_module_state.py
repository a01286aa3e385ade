"""What the text of a file tells of modules that somebody may have changed."""

from __future__ import annotations

import pytest

from torchlayout.interp.module_state import may_be_hooked, may_be_turned
from torchlayout.program.unit import Unit


@pytest.mark.parametrize(
    ("line", "turned"),
    [
        ("m.load_state_dict(d, assign=True)", True),
        ("m.load_state_dict(d, assign = True)", True),
        ("f(reassign=True)", False),
        ("register_parametrization(m, 'weight', p)", True),
        ("torch.nn.utils.parametrize.register_parametrization(m, 'weight', p)", True),
        ("unregister_parametrization(m)", False),
        ("register_parametrizations(m)", False),
        ("m.register_parameter('weight', p)", True),
        ("self.register_parameter('weight', p)", False),
        ("setattr(m, name, p)", True),
        ("setattr(self, name, p)", False),
        ("rsetattr(m, name, p)", False),
        ("m.weight.data = p", True),
        ("m.weight = p", True),
        ("p.t_()", True),
        ("m.bias = p", False),
    ],
)
def test_what_may_turn_a_parameter(line: str, turned: bool) -> None:
    assert may_be_turned("weight", Unit("x", f"{line}\n")) is turned
    assert may_be_turned("weight", Unit("x", f"def f(m):\n    {line}\n")) is turned


@pytest.mark.parametrize(
    ("line", "hooked"),
    [
        ("m.register_forward_hook(h)", True),
        ("m.register_forward_pre_hook(h)", True),
        ("register_module_forward_hook(h)", True),
        ("_register_forward_hook(m)", False),
        ("m.unregister_forward_hook()", False),
        ("m.register_forward_hooks()", False),
        ("m.register_full_backward_hook(h)", False),
        ("m.forward = f", True),
        ("m.forward == f", False),
        ("self.forward = f", False),
        ("setattr(m, 'forward', f)", True),
        ("rsetattr(m, 'forward', f)", False),
        ("setattr(m, 'back', f)", False),
    ],
)
def test_what_may_hook_into_a_module(line: str, hooked: bool) -> None:
    assert may_be_hooked(Unit("x", f"{line}\n")) is hooked
    assert may_be_hooked(Unit("x", f"def f(m):\n    {line}\n")) is hooked
