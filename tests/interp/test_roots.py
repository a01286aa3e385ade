"""Which functions are looked at, told from the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from observing import lint

from torchlayout.interp.callgraph import Calls
from torchlayout.interp.makers import Makers
from torchlayout.interp.roots import MAX_HOPS, callers, telling
from torchlayout.program.unit import Unit


def roots(
    text: str, words: Iterable[str] = (".view(", ".contiguous"), imported: Callable[[str], Iterable[str]] | None = None
) -> tuple[list[str], list[str]]:
    """The callers and the functions that are run on their own."""
    unit = Unit("x", text)
    unit.mark_sinks(words)
    targets, makers = unit.outline.targets(), Makers(Calls(unit.outline), imported)
    found = callers(makers, targets, unit), telling(makers, targets)
    return [e.qualname for e in found[0]], [e.qualname for e in found[1]]


FLAT = "def flat(x):\n    return x.view(-1)\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(x):\n    return x.t().view(-1)\n", ["f"]),
        ("def f(x):\n    return x[:, 1:].view(-1)\n", ["f"]),
        ("def f(x, i):\n    return x[i[0], :].view(-1)\n", ["f"]),
        ("def f(x):\n    return x.contiguous()\n", ["f"]),
        ("def turn(x):\n    return x.t()\ndef f(x):\n    return turn(x).view(-1)\n", ["f"]),
        (FLAT, []),
        ("def f(x: tuple[int, ...], g: Callable[..., int]):\n    return x.view(-1)\n", []),
        ("def f(x):\n    return x.view(*x.shape[:2], -1)\n", []),
        ("def f(x):\n    return g({'a': [1, 2], 'b': [3]}).view(-1)\n", []),
        ('def f(x):\n    """As x.t()[:, 1:]."""\n    # x.t()\n    return x.view(-1)\n', []),
    ],
)
def test_what_may_meet_something_strided_on_its_own(text: str, expected: list[str]) -> None:
    assert roots(text)[1] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(x):\n    return flat(x[:, 1:])\n", ["f"]),
        ("def f():\n    return flat(torch.zeros(2, 3))\n", ["f"]),
        ("def turn(x):\n    return x.t()\ndef f(x):\n    return flat(turn(x))\n", ["f"]),
        ("def f(x):\n    return flat(x)\n", []),
        ("def f(x):\n    return x.t()\n", []),
        ('def f(x):\n    """Like flat(x.t())."""\n    return x.t()\n', []),
        ("class A:\n    def __init__(self, n):\n        self.w = torch.zeros(n)\n        flat(self.w)\n", []),
        ("class A:\n    def __init__(self, n):\n        flat(torch.eye(n).t())\n", ["A.__init__"]),
    ],
)
def test_callers_that_may_hand_over_something_strided(text: str, expected: list[str]) -> None:
    assert roots(FLAT + text)[0] == expected


MODULES = """\
class Inner(nn.Module):
    def forward(self, x):
        return x.view(-1)
class Outer(nn.Module):
    def __init__(self):
        self.inner = Inner()
    def forward(self, x):
        return self.inner(x.transpose(1, 2))
def make():
    return Outer()
"""


def test_a_module_is_called_by_the_forward_of_what_holds_it() -> None:
    assert roots(MODULES) == (["Outer.forward"], [])


FLAT_FUNCTION = """\
class Flat(Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(-1)
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(x):\n    return Flat.apply(x.t())\n", ["f"]),
        ("flat = Flat.apply\ndef f(x):\n    return flat(x.t())\n", ["f"]),
        ("other = Other.apply\ndef f(x):\n    return other(x.t())\n", []),
        (
            "class M:\n    def __init__(self): self.flat = Flat.apply\n    def forward(self, x): self.flat(x.t())\n",
            ["M.forward"],
        ),
    ],
)
def test_an_autograd_function_is_called_by_its_apply(text: str, expected: list[str]) -> None:
    assert roots(FLAT_FUNCTION + text)[0] == expected


def test_what_a_decorator_calls_is_called_by_what_it_decorates() -> None:
    decorator = "def deco(g):\n    def wrapper(x):\n        return g(flat(x))\n    return wrapper\n"
    decorated = "@deco\ndef total(x):\n    return x.sum()\ndef f(x):\n    return total(x.t())\n"
    assert roots(FLAT + decorator + decorated)[0] == ["f"]
    assert roots(FLAT + decorator + decorated.replace("@deco", "@other"))[0] == []


def test_calls_are_followed_back_so_far() -> None:
    text = FLAT + "".join(
        f"def f{number}(x):\n    return {f'f{number - 1}' if number else 'flat'}(x.t())\n" for number in range(6)
    )
    assert roots(text)[0] == [f"f{number}" for number in reversed(range(MAX_HOPS))]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("flat(torch.zeros(2, 3).t())\n", 3),
        ("if __name__ == '__main__':\n    y = torch.zeros(2, 3).t()\n    flat(y)\n", 3),
        ("class A(nn.Module):\n    def forward(self, x):\n        return x.view(-1)\nA()(torch.ones(2, 3).t())\n", 6),
        ("flat(torch.zeros(2, 3))\n", None),
        ("print(torch.zeros(2, 3).t())\n", None),
    ],
)
def test_a_module_calls_its_own_functions(text: str, line: int | None) -> None:
    head = "import torch; from torch import nn\n"
    found = [f.span.line for f in lint(head + FLAT + text)[1] if f.code == "LAY101"]
    assert found == ([] if line is None else [line])


@pytest.mark.parametrize(
    "body",
    [
        "t = torch.randn(3, 4)\n    t.t_()\n    return t.view(12)",
        "return torch.randn(3, 4).transpose_(0, 1).view(12)",
        "return torch.empty_strided((3, 4), (1, 3)).view(12)",
        "return torch.randn(4, 4).hsplit(2)[0].view(-1)",
    ],
)
def test_what_turns_tensors_is_known_by_name(body: str) -> None:
    assert [f.code for f in lint(f"import torch\ndef f():\n    {body}\n")[1]] == ["LAY101"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class A(nn.Module):\n    def flat(self):\n        return self.w.view(-1)\n", []),
        ("class A(Base):\n    def flat(self):\n        return self.w.view(-1)\n", ["f"]),
        ("class A:\n    def flat(self):\n        return self.w.view(-1)\n", ["f"]),
        ("class B(nn.Module): pass\nclass A(B):\n    def flat(self):\n        return self.w.view(-1)\n", []),
        ("class A(nn.Module):\n    def flat(self, n: int):\n        self.w.view(n)\n", ["f"]),
        ("class A(nn.Module):\n    def flat(self, n):\n        self.w.view(n)\n", ["f"]),
        ("class A(nn.Module):\n    def flat(self, *n: int):\n        self.w.view(n)\n", ["f"]),
        ("class A(nn.Module):\n    @staticmethod\n    def flat(w):\n        w.view(-1)\n", ["f"]),
        ("class A(nn.Module):\n    def flat(self):\n        self.w.contiguous()\n", ["g"]),
        (
            "class A(nn.Module):\n  def put(self, w):\n    self.w = w\n  def flat(self):\n    self.w.view(-1)\n",
            ["f"],
        ),
        (
            "class A(Module):\n  def put(self, w):\n    self.w, self.v = w\n  def flat(self):\n    self.w.view(-1)\n",
            ["f"],
        ),
        (
            "class A(Module):\n def flat(self):\n  self.w.view(-1)\nclass B(A):\n def put(self, w):\n  self.w = w\n",
            ["f"],
        ),
        ("class A(nn.Module):\n  def flat(self):\n    self.w.view(-1)\ndef put(a, w):\n  a.w = w\n", ["f"]),
        ("class A(nn.Module):\n  def flat(self):\n    self.w.view(-1)\ndef put(a, w):\n  setattr(a, 'w', w)\n", ["f"]),
        ("def flat():\n    return w.view(-1)\n", []),
    ],
)
def test_what_takes_nothing_is_alike_to_all_who_call_it_once(text: str, expected: list[str]) -> None:
    once = "def f(a, x):\n    return a.flat(x.t())\n"
    often = "def g(a, x):\n    for i in x:\n        a.flat(x.t())\n"
    assert [name for name in roots(text + once + often)[0] if name in expected] == expected
    assert ("f" in roots(text + once)[0]) == ("f" in expected)


@pytest.mark.parametrize(
    ("words", "line", "expected"),
    [
        (["tensor( of reversed"], "torch.tensor(x[::-1])", True),
        (["tensor( of reversed"], "torch.tensor(x[:, 1:].t())", False),
        ([".add_( of shared"], "x.expand(3, 4).add_(1)", True),
        ([".add_( of shared"], "x.t().add_(expand)", False),
        ([".add_( of copied"], "x[x > 1].add_(1)", True),
        ([".add_( of copied"], "x[0].add_(1)", False),
        ([".add_( of copied"], "x.t().add_(1)", True),
        ([".add_( of shared", ".view("], "x.t().view(-1).add_(1)", True),
    ],
)
def test_each_rule_asks_for_tensors_of_its_kind(words: list[str], line: str, expected: bool) -> None:
    unit = Unit("x", f"def f(x):\n    {line}\n")
    unit.mark_sinks(words)
    assert bool(telling(Makers(Calls(unit.outline)), unit.outline.targets())) is expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [("x.expand(3, 4)", ["f", "g"]), ("x.t()", ["f"]), ("torch.zeros(3)", ["f", "g"]), ("x", [])],
)
def test_callers_are_run_for_what_the_rule_asks_for(given: str, expected: list[str]) -> None:
    text = "def write(x):\n    x.add_(1)\ndef flat(x):\n    x.view(-1)\n"
    text += f"def g(x):\n    write({given})\ndef f(x):\n    flat({given})\n"
    assert roots(text, [".add_( of shared", ".view("])[0] == expected


@pytest.mark.parametrize(
    ("decorator", "expected"),
    [
        ("@torch.no_grad()", ["f"]),
        ("@stop()", ["f"]),
        ("@own", ["f"]),
        ("@own(there)", ["f"]),
        ("@unheard_of", ["f"]),
        ("@there", []),
        ("@there('old', new='new')", []),
        ("@torch.no_grad()\n@lib.there", []),
    ],
)
@pytest.mark.parametrize("between", [False, True])
def test_calls_of_what_another_file_decorates_lead_nowhere(decorator: str, expected: list[str], between: bool) -> None:
    head = "import torch, lib\nfrom torch import no_grad as stop\nfrom .there import there\ndef own(f):\n    return f\n"
    text = f"{head}{FLAT}def f(x):\n    return hand(x.t())\n"
    if between:
        text += f"{decorator}\ndef hand(x):\n    return flat(x)\n"
    else:
        text = text.replace("def flat", f"{decorator}\ndef flat").replace("hand(", "flat(")
    assert roots(text)[0] == expected
    assert roots(text, imported=lambda path: [])[0] == ["f"]


def test_who_makes_the_object_may_hand_it_a_tensor() -> None:
    cache = (
        "class A(nn.Module):\n  def __init__(self, w):\n    self.w = w\n  def flat(self):\n    return self.w.view(-1)\n"
    )
    assert roots(cache + "def f(x):\n  return A(x.t()).flat()\ndef g(a, x):\n  return a.flat(), x.t()\n")[0] == ["f"]


@pytest.mark.parametrize("made", ["x[..., ::-1]", "np.flip(x)", "x"])
def test_rare_kinds_are_looked_for_further_away(made: str) -> None:
    text = (
        f"class A:\n  def __init__(self, x):\n    self.x = self.load(x)\n  def load(self, x):\n    return read(x)\n"
        f"  def get(self):\n    return torch.tensor(self.x)\ndef read(x):\n  return {made}\n"
    )
    unit = Unit("x", text)
    unit.mark_sinks(["tensor( of reversed"])
    assert bool(telling(Makers(Calls(unit.outline)), unit.outline.targets())) is (made != "x")
