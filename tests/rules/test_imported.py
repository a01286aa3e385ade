"""Fixes that write the name of a module: only where the name stands for it."""

from __future__ import annotations

import ast
import textwrap
from collections import Counter

import pytest
from programs import examples, without_marks

import torchlayout
from torchlayout import Settings
from torchlayout.fixing.engine import fix_text
from torchlayout.program.spans import Span
from torchlayout.program.unit import Unit
from torchlayout.rules.base import Example
from torchlayout.rules.finding import Safety
from torchlayout.rules.imported import stands_for

CALL = "x.t().clone().contiguous()"
FUNCTION = f"def f(x):\n    return {CALL}\n"

IT_IS = {
    "imported": f"import torch\n{FUNCTION}",
    "by a part": f"import torch.nn\nimport torch\n{FUNCTION}",
    "under its own name": f"import torch as torch\n{FUNCTION}",
    "in the function": f"def f(x):\n    import torch\n    return {CALL}\n",
    "in a function around it": f"def f():\n    import torch\n    def g(x):\n        return {CALL}\n    return g\n",
    "in the branch": f"def f(x, deep):\n    if deep:\n        import torch\n        return {CALL}\n",
    "in the try": f"def f(x):\n    try:\n        import torch\n        return {CALL}\n    finally: pass\n",
    "twice": f"import torch\nif torch.cuda.is_available():\n    import torch.cuda\n{FUNCTION}",
    "in a method": f"import torch\nclass A:\n    def f(self, x):\n        return {CALL}\n",
    "in a class": f"import torch\nclass A:\n    def f(self, x):\n        import torch\n        return {CALL}\n",
    "in a lambda": f"import torch\nf = lambda x: {CALL}\n",
    "in a comprehension": f"import torch\ndef f(xs):\n    return [{CALL} for x in xs]\n",
    "after a star": f"from math import *\nimport torch\n{FUNCTION}",
    "an attribute of that name": f"import torch\nclass A: pass\na = A()\na.torch = 3\nprint(dict(torch=1))\n{FUNCTION}",
    "a deeper function imports it too": f"import torch\ndef f(x):\n    def g(): import torch\n    return {CALL}\n",
}
IT_MAY_NOT_BE = {
    "not imported": FUNCTION,
    "for type checkers": f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n{FUNCTION}",
    "on a condition": f"import os\nif os.name:\n    import torch\n{FUNCTION}",
    "where it is there": f"try:\n    import torch\nexcept ImportError:\n    torch = None\n{FUNCTION}",
    "in a try": f"try:\n    import torch\nexcept ImportError:\n    pass\n{FUNCTION}",
    "in the handler": f"try:\n    import torch\nexcept ImportError:\n    def f(x):\n        return {CALL}\n",
    "below": f"{FUNCTION}import torch\n",
    "below, in the module": f"from a import x\ny = {CALL}\nimport torch\n",
    "below, in the function": f"import torch\ndef f(x):\n    y = {CALL}\n    import torch\n    return y\n",
    "in another function": f"def g():\n    import torch\n{FUNCTION}",
    "in a branch of the function": f"import torch\ndef f(x):\n    if x:\n        import torch\n    return {CALL}\n",
    "a parameter": f"import torch\ndef f(x, torch=None):\n    return {CALL}\n",
    "a parameter around it": f"import torch\ndef f(torch):\n    def g(x):\n        return {CALL}\n    return g\n",
    "the argument of a lambda": f"import torch\nf = lambda x, torch: {CALL}\n",
    "the arguments of a lambda": f"import torch\nf = lambda x, *torch: {CALL}\n",
    "a local variable": f"import torch\ndef f(x):\n    torch = 3\n    return {CALL}\n",
    "bound later": f"import torch\ndef f(x):\n    y = {CALL}\n    for torch in y: pass\n    return y\n",
    "bound by a walrus": f"import torch\ndef f(x):\n    return (torch := 3) and {CALL}\n",
    "of a comprehension": f"import torch\ndef f(xs):\n    return [{CALL} for torch, x in xs]\n",
    "bound by a pattern": f"import torch\ndef f(x):\n    match x:\n        case [torch]: pass\n    return {CALL}\n",
    "rest of a pattern": f"import torch\ndef f(x):\n    match x:\n        case {{**torch}}: pass\n    return {CALL}\n",
    "an error": f"import torch\ndef f(x):\n    try: pass\n    except OSError as torch: pass\n    return {CALL}\n",
    "opened": f"import torch\ndef f(x):\n    with open(x) as torch:\n        return {CALL}\n",
    "a global of another function": f"import torch\ndef g():\n    global torch\n    torch = 3\n{FUNCTION}",
    "deleted": f"import torch\n{FUNCTION}del torch\n",
    "a function": f"import torch\ndef torch(): pass\n{FUNCTION}",
    "a class": f"import torch\nclass torch: pass\n{FUNCTION}",
    "a name of the class": f"import torch\nfrom a import x\nclass A:\n    torch = 3\n    y = {CALL}\n",
    "imported in the class": f"class A:\n    import torch\n    def f(self, x):\n        return {CALL}\n",
    "another module": f"import torch.nn as torch\n{FUNCTION}",
    "another name": f"import torch\nfrom a import b as torch\n{FUNCTION}",
    "of a package": f"from a import torch\n{FUNCTION}",
    "of this package": f"from . import torch\n{FUNCTION}",
    "perhaps of a star": f"import torch\nfrom a import *\n{FUNCTION}",
}


def call_in(text: str) -> Span:
    line = next(number for number, line in enumerate(text.split("\n"), 1) if CALL in line)
    column = text.split("\n")[line - 1].index(CALL)
    return Span(line, column, line, column + len(CALL))


@pytest.mark.parametrize("text", IT_IS.values(), ids=IT_IS)
def test_where_it_is_the_module(text: str) -> None:
    assert stands_for(Unit("a.py", text), call_in(text), "torch", "torch")


@pytest.mark.parametrize("text", IT_MAY_NOT_BE.values(), ids=IT_MAY_NOT_BE)
def test_where_it_may_not_be(text: str) -> None:
    assert not stands_for(Unit("a.py", text), call_in(text), "torch", "torch")


def loads(text: str) -> Counter[str]:
    """How often each imported name is read."""
    tree = ast.parse(text)
    imported = {alias.asname or alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names}
    return Counter(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in imported)


def fixed(text: str, code: str) -> str:
    return fix_text(text, lambda text: torchlayout.check(text, settings=Settings(select=(code,))), Safety.UNSAFE).text


INSERTING = {"LAY203": "import torch\ndef f(x: torch.Tensor):\n    {torch}\n    return x.t().clone().contiguous()\n"}
"""Codes whose fixes write the name of a module, with a program in which it can be made another."""


@pytest.mark.parametrize(
    ("code", "example"), [pytest.param(c, e, id=i) for c, i, e in examples("invalid") if e.fixed is not None]
)
def test_only_these_fixes_write_such_a_name(code: str, example: Example) -> None:
    source = without_marks(example.source)
    assert code in INSERTING or not loads(fixed(source, code)) - loads(source)


@pytest.mark.parametrize(("code", "text"), INSERTING.items())
def test_their_fixes_ask_what_the_name_is(code: str, text: str) -> None:
    as_it_is, rebound = (text.format(torch=line) for line in ("y = 3", "torch = 3"))
    assert loads(fixed(as_it_is, code)) - loads(as_it_is)
    assert [finding.code for finding in torchlayout.check(rebound, settings=Settings(select=(code,)))] == [code]
    assert fixed(rebound, code) == rebound


def test_the_function_of_a_type_checkers_import_still_runs() -> None:
    text = textwrap.dedent("""\
        from typing import TYPE_CHECKING

        if TYPE_CHECKING:
            import torch


        def f(x: "torch.Tensor"):
            return x.t().clone().contiguous()
    """)
    (finding,) = torchlayout.check(text)
    assert finding.code == "LAY203" and finding.fix is None
