# ruff: noqa: E501
"""Small programs that ask for more work than any linter could do, were it not bounded.

`QUICK` are checked in the ordinary run; `LONG` run into a budget after some seconds, and are checked in the full run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

HEAD = """import torch
import torch.nn as nn
import numpy as np
from einops import rearrange
"""


def indented(text: str, levels: int = 1) -> str:
    return "".join("    " * levels + line + "\n" for line in text.splitlines())


def function(body: str, parameters: str = "x") -> str:
    return HEAD + f"def f({parameters}):\n" + indented(body)


def module(init: str, forward: str) -> str:
    body = "def __init__(self):\n" + indented("super().__init__()\n" + init)
    body += "def forward(self, x):\n" + indented(forward)
    return HEAD + "class M(nn.Module):\n" + indented(body)


def each(count: int, template: Callable[[int], str]) -> str:
    return "".join(template(number) for number in range(count))


def names(prefix: str, numbers: Iterable[int]) -> str:
    return ", ".join(f"{prefix}{number}" for number in numbers)


def loops(depth: int, head: str, body: str) -> str:
    for level in range(depth):
        body = head.format(level) + "\n" + indented("x = x.t().contiguous()\n" + body)
    return function(body + "return x", "x, n")


# ---------------------------------------------------------------- sizes
def product_of_sums(count: int) -> str:
    pairs = " * ".join(f"(a{2 * i} + a{2 * i + 1})" for i in range(count))
    return function(f"n = {pairs}\nreturn x.t().view(n).contiguous()", f"x, {names('a', range(2 * count))}")


def repeated(line: str, times: int, start: str = "a, b = x.shape\nn = a * 3") -> str:
    return function(f"{start}\n" + f"{line}\n" * times + "return x.t().contiguous().view(n)")


def dimensions(count: int) -> str:
    backwards = ", ".join(str(i) for i in reversed(range(count)))
    twos = ", ".join(["2"] * count)
    return function(
        f"x = torch.randn({twos})\ny = x.permute({backwards})\n"
        f"for i in range(10):\n    y = (x + y.contiguous()).transpose(0, {count - 1})\n"
        f"return y.reshape({twos}).flip(0).view(-1)"
    )


def symbolic_dimensions(count: int) -> str:
    sizes = [f"d{i}" for i in range(count)]
    backwards = ", ".join(str(i) for i in reversed(range(count)))
    paired = ", ".join(f"d{i} * d{count - 1 - i}" for i in range(count // 2))
    return function(
        f"{', '.join(sizes)} = x.shape\ny = x.permute({backwards})\nz = y.contiguous().view({'*'.join(sizes)})\n"
        f"return z, y.view({'*'.join(sizes)}), (x + y).reshape({paired}).contiguous(), x[..., None] + y[None]"
    )


HUGE = """S = 'abc' * 10**9
L = [1] * 10**9
T = (1, 2) * 10**9
P = 2 ** 100000
Q = 1 << 10**9
R = range(10**12)
def f(x, y=2**100000, z='a' * 10**9, w=(0,) * 10**9):
    s, l, t, p, q = 'abc' * 10**9, [1] * 10**9, (1, 2) * 10**9, 2 ** 100000, 1 << 10**9
    r, u, v = list(range(10**12)), tuple(range(10**12)), [i for i in range(10**12)]
    m, n, o = max(range(10**12)), sum(range(10**12)), len(range(10**12))
    a, b, *c = (1,) * 10**9
    d, e, g, h = '%1000000000d' % 3, '{:1000000000}'.format(3), f'{3:1000000000}', 'x'.ljust(10**9)
    k = 10.0 ** 10**9
    x.t().contiguous().view(p, q).repeat(10**9, *l).expand(*t)
    torch.randn(*([2] * 10**9)).t().contiguous()
    x.t().view(S, L, T, P, Q), torch.zeros((2,) * 10**9).view(-1), x.permute(*range(10**12)).contiguous()
    return x.reshape((1,) * 10000 + (-1,)).contiguous(), x[(None,) * 100].contiguous(), x[(0,) * 10**9].contiguous()
"""

PIECES = """def f():
    x = torch.randn(10**9, 3)
    a, *b = x.unbind(0)
    c, *d = x.split(1)
    e, *g = x.chunk(10**9)
    h, *i = x.tensor_split(10**9)
    for j in x:
        j.contiguous()
    l = torch.stack(x.unbind(0)).contiguous(), torch.cat(x.split(1)).contiguous(), torch.stack([x] * 10**9).contiguous()
    o = torch.meshgrid(*[x] * 10**9), torch.zeros(2).expand(10**9, 2).unbind(0)[4].contiguous()
    q, r, s, t, u, v = list(x), tuple(x), sorted(x), set(x), zip(x, x), dict(enumerate(x))
    w = torch.tril_indices(10**9, 10**9).t().view(-1), torch.combinations(x[:, 0], 10**9).contiguous()
    y = torch.diff(x, 10**9).contiguous(), np.split(np.zeros((10**9, 2)), 10**9)[0], torch.rot90(x, 10**9).view(-1)
    z = nn.LSTM(3, 4, num_layers=10**9), nn.Sequential(*[nn.ReLU()] * 10**9)(x.t()).contiguous()
    return a.contiguous(), c.contiguous(), e.contiguous(), h.contiguous(), q[3].contiguous()
"""

QUICK: dict[str, str] = {
    "loops in loops": loops(3, "for i{0} in range(n):", "x = x.permute(1, 0).contiguous()\nx = x.view(x.size(0), -1)\n" * 3),
    "loops of known length": loops(4, "for i{0} in range(8):", "x = x.view(-1)\n"),
    "tries in tries": loops(9, "try:\n    x = x.view(3, 2)\nexcept E:\n    x = x.flip(0)\nfinally:", "x = x.view(3)\n"),
    "comprehension of 7 loops": function(f"return [x.t().contiguous() {' '.join(f'for i{i} in range(8)' for i in range(7))}]"),
    "map in map": function("return " + "list(map(lambda a: " * 12 + "x.t().contiguous()" + ", range(8)))" * 12),
    "calls itself": function("if y.dim() > 3:\n    return f(y.t()) + f(y.flip(0)) + f(y.contiguous())\nreturn f(f(f(y)))", "y"),
    "lambdas in lambdas": function("return " + "(lambda x: " * 40 + "x.t().contiguous()" + ")(x.t())" * 40),
    "elif": function(
        "if c == 0:\n    x = y.t()\n"
        + each(400, lambda i: f"elif c == {i}:\n    x = y.permute({i % 3}, 1, 2).contiguous()\n")
        + "return x.view(-1)",
        "y, c",
    ),
    "alternatives meet": function(
        each(3, lambda i: f"{'abc'[i]} = {'abc'[i]}.t() if k[{i}] else {'abc'[i]}.flip(0) if k[{i + 3}] else {'abc'[i]}.expand(3, 4, 5)\n")
        + "x = torch.einsum('ij,jk,kl->il', a, b, c)\n"
        + "w = torch.addcmul(a, b, c) + torch.cat([a, b, c]) + torch.stack([a, b, c] * 9)\n"
        + "w = (a + b + c).contiguous()\n" * 20
        + "return x, torch.where(a, b, c), w",
        "a, b, c, k",
    ),
    "many alternatives joined": function(
        each(30, lambda i: f"a{i} = a.t() if k[{i}] else a.flip(0)\n")
        + f"x = torch.cat([{names('a', range(30))}], 1).contiguous()\n"
        + f"return torch.meshgrid({names('a', range(30))})[0].contiguous()",
        "a, k",
    ),
    "numbers of many kinds": function(
        "n = 1 if k else 2.0\n" + "m = (n if k else 'a') if k else None\nn = n + m\n" * 100 + "return a.t().contiguous()", "a, k"
    ),
    "modules of huge number": module(
        "self.s = nn.ModuleList([nn.Linear(3, 3)] * 10**9)\nself.t = nn.ModuleList([nn.Linear(3, 3) for _ in range(10**9)])",
        "for m in self.s:\n    x = m(x.t()).contiguous()\nfor m in self.t:\n    x = m(x.t()).contiguous()\nreturn x.view(-1)",
    ),
    "bases that meet again": HEAD
    + "class A0(nn.Module): pass\nclass B0(nn.Module): pass\n"
    + each(25, lambda i: f"class A{i + 1}(A{i}, B{i}): pass\nclass B{i + 1}(A{i}, B{i}): pass\n")
    + "class Z(A25, B25):\n    def forward(self, x):\n        return self.foo(x.t()).contiguous()\n",
    "bases in a circle": HEAD
    + "class A(B):\n    def f(self, x): return x.t().contiguous()\n"
    + "class B(A):\n    def f(self, x): return super().f(x.t().contiguous())\n",
    "product of sums": product_of_sums(40),
    "product of sums, viewed": function(
        "a, b, c, d, e, g = x.shape\ny = x.t().view(" + ", ".join(f"(a+b)*(c+d)*(e+g)*(a+{i})" for i in range(20)) + ")\n"
        "return y.contiguous().view(-1)"
    ),
    "powers of a sum": repeated("n = n * n", 30, "a, b, c, d, e, g = x.shape\nn = a + b + c + d + e + g + 1"),
    "powers of a size": repeated("n = n * n", 60),
    "powers of a number": repeated("n = n ** n", 60, "n = 2"),
    "huge factors": repeated(f"n = n * {10**18}", 400),
    "divisions of divisions": repeated("n = (n + b) // 3 + n % 7 + max(n, b)", 60),
    "60 dimensions": dimensions(60),
    "300 dimensions": dimensions(300),
    "einsum of all letters": function(
        "return torch.einsum('" + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ," * 50 + "->'" + ", x.t()" * 50 + ").contiguous()"
    ),
    "einsum of one long word": function(f"return torch.einsum('{'a' * 100_000}->a', x.t()).contiguous()"),
    "einsum of many operands": function("return torch.einsum('" + "ij," * 1000 + "->ij'" + ", x" * 1000 + ").contiguous()"),
    "einops in deep brackets": function(f"return rearrange(x.t(), '{'(' * 3000}a b{')' * 3000} -> a b').contiguous()"),
    "einops of 1000 axes": function(
        f"return rearrange(x.t(), '{' '.join(f'a{i}' for i in range(1000))} -> ({' '.join(f'a{i}' for i in range(1000))})').contiguous()"
    ),
    "index on index": function("return x" + "[..., None]" * 90 + ".contiguous()"),
    "huge constants": HEAD + HUGE,
    "huge numbers of pieces": HEAD + PIECES,
    "lists that double": repeated("l = l + l", 40, "l = [x.t()]\nn = l"),
    "lists that hold themselves": repeated("l.append(l); l.extend(l); l += l", 12, "l = [x.t()]\nn = torch.cat(l).contiguous()")
    + "    torch.stack(l).contiguous(); torch.cat([l, l])\n",
    "lists in lists": repeated("l = [l, l]", 40, "l = [x.t()]\nn = l") + "    torch.cat(l).contiguous(); f(l)\n",
    "tuples in tuples": repeated("l = (l, l)\nif c:\n    l = (l, 0)", 40, "l = (x.t(),)\nn = l") + "    torch.cat(l).contiguous()\n",
    "dicts in dicts": repeated("l = {'a': l, 'b': l}", 40, "l = {'a': x.t()}\nn = l") + "    l['a']['b'].contiguous(), f(**l)\n",
    "text that doubles": repeated("l = l + l", 60, "l = 'ab'\nn = l"),
    "constants that double": HEAD
    + "A0 = (2,)\nB0 = 'a'\nC0 = (2,)\n"
    + each(60, lambda i: f"A{i + 1} = (A{i}, A{i})\nB{i + 1} = B{i} + B{i}\nC{i + 1} = C{i} + C{i}\n")
    + "def f(x):\n    return x.t().contiguous().view(A59).view(B59).view(C59).view(A12, C12)\n",
    "decorators": HEAD + "@torch.no_grad()\n" * 1000 + "def f(x): return x.t().contiguous()\n",
}  # fmt: skip

LONG: dict[str, str] = {
    "symbolic dimensions": symbolic_dimensions(60),
    "19 loops": loops(19, "for i{0} in range(n):", "x = x.view(3, 2)\n"),
    "18 loops of unknown end": loops(18, "while x.t().contiguous():", "x = x.view(3, 2)\n"),
    "lists of lists of lists": function("return " + "[" * 12 + "x.t().contiguous()" + each(12, lambda i: f" for i{i} in range(8)]")),
    "300 helpers in a circle": HEAD
    + each(300, lambda n: f"def f{n}(y):\n    return f{(n + 1) % 300}(y.t().contiguous().view(6, {n}))\n"),
    "300 helpers, each calls three": HEAD
    + each(
        300,
        lambda n: f"def f{n}(y):\n    a = f{(n + 1) % 300}(y.t())\n    b = f{(n + 7) % 300}(y)\n"
        f"    return f{(n + 13) % 300}(a + b).contiguous()\n",
    ),
    "40 helpers, each calls all": HEAD
    + each(40, lambda n: f"def f{n}(y):\n" + each(40, lambda m: f"    y = f{m}(y.t())\n") + "    return y.contiguous()\n"),
    "500 methods": HEAD
    + "class M(nn.Module):\n"
    + each(500, lambda n: f"    def f{n}(self, y):\n        return self.f{(n + 1) % 500}(self.f{(n + 2) % 500}(y.t())).contiguous().view(-1)\n"),
    "classes that build each other": HEAD
    + each(
        60,
        lambda n: f"class C{n}(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = C{(n + 1) % 60}()\n"
        f"        self.b = C{(n + 7) % 60}()\n    def forward(self, x):\n        return self.a(self.b(x.t())).contiguous().view(-1)\n",
    ),
    "a chain of 300 classes": HEAD
    + each(
        300,
        lambda n: f"class C{n}({f'C{n - 1}' if n else 'nn.Module'}):\n    def m{n}(self, x):\n"
        f"        return self.m{max(n - 1, 0)}(x.t()).contiguous()\n",
    ),
    "100 functions in a function": function(
        each(100, lambda n: f"def g{n}(y):\n    return g{max(n - 1, 0)}(g{max(n - 2, 0)}(y.t())).contiguous()\n") + "return g99(x)"
    ),
    "2000 functions in a function": function(each(2000, lambda n: f"def g{n}(y):\n    return y.t().contiguous()\n") + "return g99(x)"),
    "Sequential in Sequential": module(
        "self.s = nn.ReLU()\n" + "self.s = nn.Sequential(self.s, self.s, self.s)\n" * 30,
        "return self.s(x.transpose(1, 2)).contiguous().view(-1)",
    ),
    "Sequential of 3000": module(
        f"self.s = nn.Sequential({', '.join(['nn.Conv2d(3, 3, 3)'] * 3000)})",
        "return self.s(x.transpose(1, 2)).contiguous().view(-1)",
    ),
    "1000 branches": function(
        each(1000, lambda n: f"if c[{n}]:\n    y = y.transpose({n % 3}, {(n + 1) % 4})\nelse:\n    z{n} = y.contiguous()\n")
        + "return y.view(-1)",
        "y, c",
    ),
    "1000 cases": function(
        "match c:\n" + each(1000, lambda n: f"    case {n}:\n        x = x.transpose(0, {n % 5}).contiguous()\n") + "return x.view(-1)",
        "x, c",
    ),
    "10000 lines, each with a name": function(
        each(5000, lambda n: f"x{2 * n + 1} = x{2 * n}.transpose(0, 1).contiguous()\nx{2 * n + 2} = x{2 * n + 1}.view(-1, {n}).t()\n"), "x0"
    ),
    "10000 lines of one name": function(
        "x = x.transpose(0, 1).contiguous()\nif c:\n    x = x.flip(0).t()\nfor i in range(3):\n    x = x.contiguous()\ny = x.view(-1)\n" * 1700,
        "x, c",
    ),
    "10000 lines of facts": function(
        each(3300, lambda n: f"a{n}, b{n} = x{n}.shape\ny{n} = x{n}.t().contiguous()\nx{n + 1} = y{n}.view(b{n} * a{n} // 3, -1)\n"), "x0"
    ),
    "10000 lines of a module": HEAD
    + "x = torch.randn(3, 4)\n"
    + each(2500, lambda n: f"if c > {n}:\n    y{n} = x.transpose(0, {n % 4})\nelse:\n    y{n} = x.permute(0, 1).contiguous()\n"),
    "6000 findings": function("torch.randn(2, 3).t().view(6)\ntorch.randn(2, 3).contiguous()\n" * 3000),
    "3000 comments": function("x = x.t().contiguous().view(-1)  # noqa: LAY201\n" * 3000),
    "3000 attributes": HEAD
    + "class M(nn.Module):\n    def __init__(self):\n"
    + each(3000, lambda n: f"        self.a{n} = torch.randn(3, {n + 1}).t()\n")
    + each(300, lambda n: f"    def f{n}(self):\n        return self.a{n}.contiguous().view(-1)\n"),
}  # fmt: skip
