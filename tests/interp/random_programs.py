"""Random programs over tensors, for comparing what the linter says with what torch does.

A program is written statement by statement, each tried on torch first, so that the run it is written along goes
through; runs with other flags and sizes may end early. Each name is bound in one function only, and names of sizes
are bound once, so that what the linter calls by a name can be looked up in a run.
"""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass, field
from random import Random
from typing import Any

import torch

HEAD = """\
import functools
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torchlayout import reveal_layout


@dataclass
class Pair:
    first: torch.Tensor
    second: torch.Tensor

"""

EACH = ("contiguous()", "clone()", "mT")
"""What is called on each item of a few."""


@dataclass
class RandomProgram:
    source: str
    shapes: list[tuple[int, ...]]
    """Of the tensors that `main` takes."""
    flags: int
    """How many flags it takes behind them; the last argument is a number of turns."""

    def call(self, layouts: str, sizes: dict[int, int], flags: tuple[bool, ...], turns: int) -> str:
        """A call of `main`. `layouts` is "packed" or "strided"; `sizes` replaces sizes of the written run."""
        tensors = []
        for shape in self.shapes:
            shape = tuple(sizes.get(size, size) for size in shape)
            if layouts == "packed" or len(shape) < 2:
                tensors.append(f"torch.randn({shape})")
            else:
                turned = (*shape[1:], shape[0])
                tensors.append(f"torch.randn({turned}).movedim(-1, 0)")
        return f"main({', '.join([*tensors, *map(str, flags), str(turns)])})"


class Stuck(Exception):
    """No statement of the kind asked for goes through."""


@dataclass
class Writer:
    """Writes one function: its lines, and the state of the run that it is written along."""

    random: Random
    counter: itertools.count[int]
    env: dict[str, Any]
    lines: list[str] = field(default_factory=list)
    indent: str = "    "
    prefix: str = ""
    helpers: dict[str, int] = field(default_factory=dict)
    """Functions that may be called, and how many tensors they take."""
    modules: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    turns: str | None = None
    depth: int = 0

    # ------------------------------------------------------------ choosing
    def name(self, kind: str = "t") -> str:
        return f"{self.prefix}{kind}{next(self.counter)}"

    def tensors(self) -> list[str]:
        return [
            name
            for name, value in self.env.items()
            if isinstance(value, torch.Tensor) and value.dtype.is_floating_point
        ]

    def tensor(self) -> str:
        names = self.tensors()
        return self.random.choice(names[-4:] if self.random.random() < 0.7 else names)

    def sizes(self) -> list[str]:
        return [n for n, v in self.env.items() if isinstance(v, int) and not isinstance(v, bool) and n[-1:].isdigit()]

    def dim(self, name: str, but: tuple[int, ...] = ()) -> int:
        rank = self.env[name].dim()
        places = [place for place in range(rank) if place not in but]
        if not places:
            raise Stuck
        place = self.random.choice(places)
        return place if self.random.random() < 0.7 else place - rank

    def size_text(self, name: str, place: int) -> str:
        """A size of a tensor as code may write it: a name of that value, or a question."""
        value = self.env[name].shape[place]
        named = [n for n in self.sizes() if self.env[n] == value]
        if named and self.random.random() < 0.7:
            return self.random.choice(named)
        return f"{name}.size({place})" if self.random.random() < 0.5 else f"{name}.shape[{place}]"

    # ------------------------------------------------------------ writing
    def try_line(self, text: str) -> None:
        """Run a statement and keep it; `Stuck` where torch refuses it."""
        before = dict(self.env)
        try:
            exec(text, self.env)
        except Exception as error:
            self.env.clear()
            self.env.update(before)
            raise Stuck from error
        for value in self.env.values():
            if isinstance(value, torch.Tensor) and (value.numel() > 3000 or value.dim() > 6 or value.numel() == 0):
                self.env.clear()
                self.env.update(before)
                raise Stuck
        self.lines.extend(self.indent + line for line in text.splitlines())

    def declare(self, name: str) -> None:
        """Tell the rank of an argument. The linter takes it for granted that dimensions counted from the front and
        from the back are different ones, so that arguments of few dimensions have to say so."""
        rank = self.env[name].dim()
        kind = self.random.random()
        if kind < 0.5 and rank > 1:
            self.try_line(f"{', '.join(self.name('n') for _ in range(rank))} = {name}.shape")
        elif kind < 0.9 or rank < 4:
            self.try_line(f"assert {name}.dim() == {rank}")

    def reveal(self, name: str) -> None:
        self.lines.append(f"{self.indent}reveal_layout({name})")

    def block(self, count: int) -> None:
        """Some statements that go through."""
        written = 0
        for _ in range(count * 6):
            if written >= count:
                break
            try:
                self.statement()
                written += 1
            except Stuck:
                continue
        if not written:
            self.lines.append(f"{self.indent}pass")

    def statement(self) -> None:
        kinds = (
            [self.expression] * 10 + [self.size_names] * 2 + [self.in_place] * 2 + [self.container] * 2 + [self.wrapped]
        )
        if self.depth < 2:
            kinds += [self.branch] * 2 + [self.loop] + [self.attempt, self.refined]
        if self.helpers:
            kinds += [self.helper_call] * 2
        if self.modules:
            kinds += [self.module_call]
        self.random.choice(kinds)()

    def target(self) -> str:
        """A new name, or one to be bound anew."""
        names = self.tensors()
        return self.random.choice(names) if names and self.random.random() < 0.35 else self.name()

    def expression(self) -> None:
        x = self.tensor()
        text = self.random.choice((self.view, self.view, self.view, self.copy, self.copy))(x)
        name = self.target()
        if self.random.random() < 0.05:
            text = f"({self.copy(x)} if {self.random.choice(self.flags)} else {text})" if self.flags else text
        self.try_line(f"{name} = {text}")
        if self.random.random() < 0.6:
            self.reveal(name)

    def view(self, x: str) -> str:
        rank = self.env[x].dim()
        if rank == 0:
            return f"{x}.unsqueeze(0)"
        a = self.dim(x)
        choices = [
            f"{x}.unsqueeze({self.random.randint(-rank - 1, rank)})",
            self.slice(x),
            self.slice(x),
            self.slice(x),
        ]
        choices += [
            f"{x}.select({a}, 0)",
            f"{x}.narrow({a}, 0, {max(1, self.env[x].shape[a] - 1)})",
            f"{x}.squeeze({a})",
        ]
        choices += [
            f"{x}.reshape(-1)",
            f"{x}.flatten()",
            f"{x}.detach()",
            f"{x}.view(-1)",
            self.shaped(x),
            self.shaped(x),
        ]
        if rank >= 2:
            b = self.dim(x, (a % rank,))
            order = list(range(rank))
            self.random.shuffle(order)
            choices += [f"{x}.transpose({a}, {b})"] * 3 + [f"{x}.permute({', '.join(map(str, order))})"] * 3
            choices += [
                f"{x}.movedim({a}, {b})",
                f"{x}.flatten({self.random.randint(0, rank - 2)})",
                f"{x}.mT",
                f"{x}.swapaxes({a}, {b})",
            ]
            choices += [
                f"torch.transpose({x}, {a}, {b})",
                f"{x}.diagonal()",
                f"{x}.chunk(2, {a})[0]",
                f"{x}.unbind({a})[-1]",
            ]
        if rank == 2:
            choices += [f"{x}.t()", f"{x}.T"]
        if rank <= 3:
            choices.append(f"{x}.unsqueeze(0).expand({self.random.randint(2, 3)}, {', '.join(['-1'] * rank)})")
        if rank == 4:
            choices.append(f"{x}.contiguous(memory_format=torch.channels_last)")
        return self.random.choice(choices)

    def slice(self, x: str) -> str:
        rank = self.env[x].dim()
        place = self.random.randrange(rank)
        size = self.env[x].shape[place]
        part = self.random.choice(
            ["1:", ":-1", "::2", f":{self.size_text(x, place)} - 1", "0", "-1", ":", f"{size // 2}:", "None"]
        )
        index = [":"] * place + [part]
        if self.random.random() < 0.3:
            index = ["...", part] if place == rank - 1 else [*index, "..."]
        return f"{x}[{', '.join(index)}]"

    def shaped(self, x: str) -> str:
        """A view or reshape that splits, merges or drops dimensions."""
        rank = self.env[x].dim()
        how = self.random.choice(("view", "view", "reshape"))
        texts = [self.size_text(x, place) for place in range(rank)]
        place = self.random.randrange(rank)
        value = self.env[x].shape[place]
        kind = self.random.choice(("merge", "merge", "split", "same", "first"))
        if kind == "merge" and rank >= 2:
            place = self.random.randrange(rank - 1)
            merged = f"{texts[place]} * {texts[place + 1]}" if self.random.random() < 0.6 else "-1"
            texts[place : place + 2] = [merged]
        elif kind == "split" and value % 2 == 0 and value:
            texts[place : place + 1] = (
                ["2", f"{texts[place]} // 2"] if self.random.random() < 0.6 else [str(value // 2), "2"]
            )
        elif kind == "first":
            texts = [texts[0], "-1"]
        elif self.random.random() < 0.5:
            texts[place] = "-1"
        return f"{x}.{how}({', '.join(texts)})"

    def copy(self, x: str) -> str:
        tensor = self.env[x]
        rank = tensor.dim()
        same = [n for n in self.tensors() if self.env[n].shape == tensor.shape]
        other = self.random.choice(same)
        choices = [f"{x}.contiguous()"] * 4 + [
            f"{x}.clone()",
            f"F.relu({x})",
            f"{x} + 1",
            f"2 * {x}",
            f"{x} + {other}",
            f"{x} * {other}",
        ]
        choices += [
            f"{x}.to(torch.float64)",
            f"{x}.double()",
            f"torch.where({x} > 0, {x}, {other})",
            f"torch.zeros_like({x})",
            f"-{x}",
        ]
        choices += [
            f"{x}.masked_fill({x} > 0, 0.0)",
            f"torch.empty_like({x}).copy_({other})",
            f"{x}.clone().contiguous()",
        ]
        choices.append(f"torch.zeros({self.size_text(x, 0) if rank else 3}, {self.random.randint(2, 4)})")
        if rank:
            a = self.dim(x)
            choices += [
                f"{x}.softmax({a})",
                f"{x}.sum({a})",
                f"{x}.mean({a}, keepdim=True)",
                f"{x}.cumsum({a})",
                f"{x}.flip({a % rank})",
            ]
            choices += [
                f"torch.cat([{x}, {other}], {a})",
                f"torch.stack([{x}, {other}], {a})",
                f"torch.cat(({x}, {x}), dim={a})",
            ]
            choices += [
                f"{x}.repeat({', '.join(['2'] + ['1'] * (rank - 1))})",
                f"F.pad({x}, (1, 1))",
                f"{x}.roll(1, {a})",
                f"{x}.sort({a})[0]",
            ]
            choices += [
                f"{x} + {x}.mean({a}, keepdim=True)",
                f"{x}.amax({a})",
                f"{x}.argmax({a}).double()",
                f"F.layer_norm({x}, {x}.shape[-1:])",
            ]
            choices += [f"{x}[torch.tensor([0, 0])]", f"{x}.index_select({a}, torch.tensor([0]))", f"{x}[{x} > 0]"]
        if rank >= 2:
            choices += [
                f"{x} @ {x}.transpose(-1, -2)",
                f"torch.matmul({x}.mT, {x})",
                f"torch.einsum('...ij->...ji', {x})",
            ]
        if rank == 3:
            choices += [f"torch.bmm({x}, {x}.transpose(1, 2))", f"F.avg_pool1d({x}, 1)"]
        if rank == 4:
            choices += [f"F.max_pool2d({x}, 1)", f"F.interpolate({x}, scale_factor=2)"]
        return self.random.choice(choices)

    def size_names(self) -> None:
        x = self.tensor()
        rank = self.env[x].dim()
        if not rank:
            raise Stuck
        kind = self.random.random()
        if kind < 0.5 and rank > 1:
            names = [self.name("n") for _ in range(rank)]
            self.try_line(f"{', '.join(names)} = {x}.{self.random.choice(('shape', 'size()'))}")
        elif kind < 0.6 and rank > 1:
            self.try_line(f"*{self.name('rest')}, {self.name('n')} = {x}.shape")
        elif kind < 0.9:
            place = self.dim(x)
            self.try_line(f"{self.name('n')} = {x}.size({place})")
        else:
            sizes = self.sizes()
            if len(sizes) < 2:
                raise Stuck
            a, b = self.random.sample(sizes, 2)
            op = self.random.choice(("+", "*", "//", "-", "%"))
            self.try_line(f"{self.name('n')} = {a} {op} {b}")

    def in_place(self) -> None:
        x = self.tensor()
        tensor = self.env[x]
        rank = tensor.dim()
        choices = [f"{x}.add_(1)", f"{x} += 1", f"{x}.mul_(2)", f"{x}[...] = 0", f"{x}.zero_()"]
        if rank >= 2:
            a = self.dim(x)
            choices += [f"{x}.transpose_({a}, {self.dim(x, (a % rank,))})", f"{x}.swapaxes_(0, -1)"]
            if rank == 2:
                choices.append(f"{x}.t_()")
        choices += [f"{x}.unsqueeze_(0)", f"{x}.squeeze_()", f"{x}.data = {x}.data.clone()"]
        if rank and self.random.random() < 0.3:
            choices = [
                f"{x}.data = {self.view(x)}",
                f"{x}.resize_({self.random.randint(2, 4)}, 3)",
                f"{x}.set_({self.tensor()})",
            ]
        self.try_line(self.random.choice(choices))
        self.reveal(x)

    def container(self) -> None:
        x, y = self.tensor(), self.tensor()
        name, out = self.name("c"), self.name()
        kind = self.random.randrange(8)
        if kind == 0:
            self.try_line(
                f"{name} = [{x}, {y}]\n{name}.append({self.view(x)})\n{out} = {name}[{self.random.randint(-1, 2)}]"
            )
        elif kind == 1:
            self.try_line(
                f"{name} = {{'a': {x}, 'b': {y}}}\n{name}['a'] = {self.copy(y)}\n"
                f"{out} = {name}['{self.random.choice('ab')}']"
            )
        elif kind == 2:
            self.try_line(
                f"{name} = Pair({x}, {self.view(y)})\n{out} = {name}.{self.random.choice(('first', 'second'))}"
            )
        elif kind == 3:
            self.try_line(f"{out}, {self.name()} = map(lambda v: v.{self.random.choice(EACH)}, ({x}, {y}))")
        elif kind == 4:
            a = self.dim(x)
            parts = [self.name() for _ in range(self.env[x].shape[a])]
            if len(parts) < 2:
                raise Stuck
            self.try_line(f"{', '.join([out, *parts[1:]])} = {x}.unbind({a})")
        elif kind == 5:
            self.try_line(f"{name} = [v.{self.random.choice(EACH)} for v in ({x}, {y})]\n{out} = {name}[0]")
        elif kind == 6:
            self.try_line(f"{name} = {{}}\n{name}.update(a={x})\n{out} = {name}.get('a', {y})")
        else:
            self.try_line(f"{name} = ({x}, {y})\n{out}, {self.name()} = {name}[::-1]")
        self.reveal(out)

    def wrapped(self) -> None:
        """A nested function, a lambda, a partial, a walrus."""
        x, out, inner = self.tensor(), self.name(), self.name("f")
        kind = self.random.randrange(4)
        if kind == 0:
            text = self.view(x)
            if text.endswith(".t()"):  # taken to say that there are two dimensions, which the next line may change
                raise Stuck
            self.try_line(f"def {inner}():\n    return {text}\n{x} = {self.copy(x)}\n{out} = {inner}()")
        elif kind == 1:
            arg = self.name("v")
            self.try_line(
                f"{inner} = functools.partial(lambda {arg}, d: {arg}.transpose(d, -1), d=0)\n{out} = {inner}({x})"
            )
        elif kind == 2:
            self.try_line(f"{self.name()} = ({out} := {self.view(x)}) + 1")
        else:
            self.try_line(f"def {inner}():\n    nonlocal_ = {x}\n    return nonlocal_.contiguous()\n{out} = {inner}()")
        self.reveal(out)

    # ------------------------------------------------------------ control flow
    def nested(self, count: int, taken: bool) -> None:
        """A block that stands deeper; where it is not taken, what it does to the run is undone."""
        before = dict(self.env)
        copies = {name: value.clone() for name, value in before.items() if isinstance(value, torch.Tensor)}
        del copies
        self.indent += "    "
        self.depth += 1
        self.block(count)
        self.depth -= 1
        self.indent = self.indent[:-4]
        if not taken:
            self.env.clear()
            self.env.update(before)

    def branch(self) -> None:
        if not self.flags:
            raise Stuck
        flag = self.random.choice(self.flags)
        self.lines.append(f"{self.indent}if {flag}:")
        self.nested(self.random.randint(1, 3), bool(self.env[flag]))
        if self.random.random() < 0.6:
            self.lines.append(f"{self.indent}else:")
            self.nested(self.random.randint(1, 2), not self.env[flag])
        elif self.depth and self.random.random() < 0.1:
            self.lines.append(f"{self.indent}    return {self.tensor()}")
        self.reveal(self.tensor())

    def loop(self) -> None:
        turns = self.turns or "2"
        index = self.name("i")
        head = self.random.choice(
            (
                f"for {index} in range({turns}):",
                f"for {index} in range(2):",
                f"for {index} in ({self.tensor()}, {self.tensor()}):",
            )
        )
        x = self.tensor()
        if self.random.random() < 0.3:
            self.lines.append(f"{self.indent}{index} = 0")
            head = f"while {index} < {turns}:"
        self.lines.append(self.indent + head)
        if head.startswith("while"):
            self.lines.append(f"{self.indent}    {index} += 1")
        if self.random.random() < 0.5:
            self.lines.append(
                f"{self.indent}    {x} = {self.copy(x) if self.random.random() < 0.3 else self.turned(x)}"
            )
            self.lines.append(f"{self.indent}    reveal_layout({x})")
        if self.flags and self.random.random() < 0.2:
            self.lines += [
                f"{self.indent}    if {self.random.choice(self.flags)}:",
                f"{self.indent}        {self.random.choice(('break', 'continue'))}",
            ]
        self.nested(self.random.randint(1, 2), True)
        self.reveal(x)

    def turned(self, x: str) -> str:
        return f"{x}.{self.random.choice(('mT', 'transpose(0, 1)', 'contiguous()', 'mT.contiguous()', 'clone()'))}"

    def attempt(self) -> None:
        x = self.tensor()
        self.lines.append(f"{self.indent}try:")
        self.nested(self.random.randint(1, 2), True)
        if self.flags and self.random.random() < 0.7:
            flag = self.random.choice(self.flags)
            self.lines += [
                f"{self.indent}    if {flag}:",
                f"{self.indent}        raise ValueError",
                f"{self.indent}    {x} = {x}.mT",
            ]
            if not self.env[flag] and self.env[x].dim() >= 2:
                self.env[x] = self.env[x].mT
        kind = self.random.random()
        if kind < 0.7:
            self.lines.append(f"{self.indent}except ValueError:")
            self.nested(1, False)
        if kind > 0.5:
            self.lines.append(f"{self.indent}finally:")
            self.nested(1, True)
        self.reveal(x)

    def refined(self) -> None:
        """A test of a tensor's own layout or sizes."""
        x = self.tensor()
        test = self.random.choice(
            (f"{x}.is_contiguous()", f"not {x}.is_contiguous()", f"{x}.dim() == {self.env[x].dim()}", f"{x}.ndim > 2",
             f"{x}.size(0) == {self.env[x].shape[0] if self.env[x].dim() else 1}", f"{x} is not None",
             f"isinstance({x}, torch.Tensor)",
             f"{x}.is_contiguous() and {x}.size(0) > 1", f"{x} is None or {x}.is_contiguous()")
        )  # fmt: skip
        try:
            taken = bool(eval(test, self.env))
        except IndexError as error:
            raise Stuck from error
        self.lines.append(f"{self.indent}if {test}:")
        self.lines.append(f"{self.indent}    reveal_layout({x})")
        self.nested(self.random.randint(1, 2), taken)
        self.reveal(x)

    # ------------------------------------------------------------ calls
    def helper_call(self) -> None:
        name = self.random.choice(list(self.helpers))
        args = [self.tensor() for _ in range(self.helpers[name])]
        flag = self.random.choice(self.flags) if self.flags else "True"
        out = self.name()
        self.try_line(f"{out} = {name}({', '.join(args)}, {flag})")
        self.reveal(out)

    def module_call(self) -> None:
        out = self.name()
        self.try_line(f"{out} = {self.random.choice(self.modules)}({self.tensor()})")
        self.reveal(out)


def write(random: Random) -> RandomProgram:
    """A program; the same one for the same `random`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _write(random)


def _write(random: Random) -> RandomProgram:
    counter = itertools.count()
    text = [HEAD]
    base: dict[str, Any] = {}
    exec(HEAD.replace("from torchlayout import reveal_layout", "reveal_layout = lambda x: x"), base)
    helpers: dict[str, int] = {}
    torch.manual_seed(0)
    for place in range(random.randint(0, 2)):
        name, prefix = f"helper{place}", f"h{place}"
        count = random.randint(1, 2)
        params = [f"{prefix}_{i}" for i in range(count)]
        rank = random.randint(2, 3)
        env = {
            **base,
            **{p: torch.randn(random.sample((2, 3, 4), rank)) for p in params},
            f"{prefix}_flag": random.random() < 0.5,
        }
        writer = Writer(random, counter, env, prefix=prefix, flags=[f"{prefix}_flag"], depth=1, helpers=dict(helpers))
        for param in params:
            writer.declare(param)
        writer.block(random.randint(1, 3))
        if random.random() < 0.3:
            writer.lines += [f"    if {prefix}_flag:", f"        return {writer.random.choice(params)}"]
        body = [
            f"def {name}({', '.join(params)}, {prefix}_flag):",
            *writer.lines,
            f"    return {writer.tensor()}",
            "",
            "",
        ]
        text.append("\n".join(body))
        exec("\n".join(body), base)
        helpers[name] = count
    modules = []
    if random.random() < 0.5:
        text.append(_module(random, counter, base))
        exec(text[-1], base)
        modules.append("Block()")
    count = random.randint(1, 3)
    sizes = random.sample((2, 3, 4, 5, 6), 4)
    shapes = [tuple(random.sample(sizes, random.randint(1, 4))) for _ in range(count)]
    flags = [f"flag{i}" for i in range(random.randint(1, 2))]
    names = [f"x{i}" for i in range(count)]
    env = {**base, **{n: torch.randn(shape) for n, shape in zip(names, shapes, strict=True)}, "turns": 2}
    env.update({flag: random.random() < 0.5 for flag in flags})
    writer = Writer(random, counter, env, helpers=helpers, modules=modules, flags=flags, turns="turns")
    for name in names:
        writer.declare(name)
    writer.block(random.randint(4, 12))
    ending = [f"    reveal_layout({n})" for n in random.sample(writer.tensors(), min(2, len(writer.tensors())))]
    text.append(
        "\n".join([f"def main({', '.join([*names, *flags, 'turns'])}):", *writer.lines, *ending, "    return None", ""])
    )
    return RandomProgram("\n".join(text), shapes, len(flags))


def _module(random: Random, counter: itertools.count[int], base: dict[str, Any]) -> str:
    """A class with attributes, a helper method, and a `forward` of one tensor."""
    env = {**base, "m_x": torch.randn(random.sample((2, 3, 4), random.randint(2, 3)))}
    writer = Writer(random, counter, env, indent="        ", prefix="m", depth=1)
    writer.block(random.randint(1, 3))
    turn = random.choice(("m_y.mT", "m_y.contiguous()", "m_y.softmax(-1)", "m_y.clone()"))
    lines = [
        "class Block(nn.Module):",
        "    def __init__(self):",
        "        super().__init__()",
        f"        self.kept = torch.zeros(3, 4){random.choice(('', '.t()', '[:, ::2]'))}",
        f"        self.width = {random.randint(2, 4)}",
        f"        self.act = nn.{random.choice(('ReLU()', 'Identity()', 'Softmax(-1)', 'Dropout(0.0)'))}",
        "",
        "    def turn(self, m_y):",
        f"        self.kept = {random.choice(('self.kept', 'self.kept.t()', 'self.kept.clone()'))}",
        f"        return {turn}",
        "",
        "    def forward(self, m_x):",
        *writer.lines,
        f"        mz{next(counter)} = self.turn(self.act({writer.tensor()}))",
        f"        reveal_layout(mz{next(counter) - 1})",
        "        reveal_layout(self.kept)",
        f"        return mz{next(counter) - 2}",
        "",
        "",
    ]
    return "\n".join(lines)
