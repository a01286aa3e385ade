"""Mutants: a small change each to one function, class or constant of a module.

The changes are those of mutmut (an operator, a number, a word, an argument, an assignment), and some of our own: an
answer becomes another answer, a condition holds always or never, one side of `and` or `or` goes, a call is left out.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import libcst as cst
import libcst.matchers as m
from mutmut.mutation.mutators import mutation_operators

SOURCES = Path(__file__).parent.parent / "src"
ANSWERS = ("YES", "MAYBE", "NO")
OPPOSITES = {"all": "any", "any": "all", "min": "max", "max": "min"}
FUTURE = "from __future__ import annotations\n"
NOT_CHANGED = m.Annotation() | m.Assert() | m.Decorator() | m.Raise() | m.Import() | m.ImportFrom()
"""Types, messages, and what only checks or names other things."""


class Mutant(NamedTuple):
    """One change: `before` and `after` are the lines that differ, `code` is the whole statement at module level."""

    path: str
    name: str
    lines: range
    before: str
    after: str
    code: str

    def __str__(self) -> str:
        return f"{self.path} {self.name}: {self.before} -> {self.after}"

    @property
    def module(self) -> str:
        return self.path.removesuffix(".py").replace("/", ".")

    def reached_by(self, functions: set[tuple[str, int]]) -> bool:
        """Whether one of these functions, by module and first line, is changed. All of them use a constant."""
        return (
            self.name.endswith(".fields")
            or not self.code.startswith(("def ", "class "))
            or any(module == self.module and line in self.lines for module, line in functions)
        )

    def apply(self) -> None:
        """Change the imported module, for as long as this process lives."""
        module = importlib.import_module(self.module)
        made = dict(vars(module))
        exec(compile(FUTURE + self.code, f"<{self.module}>", "exec", dont_inherit=True), made)
        name = self.name.partition(".")[0]
        old, new = vars(module)[name], made[name]
        if isinstance(old, FunctionType):
            _become(old, new)
        elif isinstance(old, type):
            _change_class(old, new, module)
        else:
            for other in list(sys.modules.values()):
                if other.__name__.startswith("torchlayout") and vars(other).get(name) is old:
                    setattr(other, name, new)


def _become(old: Any, new: Any) -> None:
    old.__code__, old.__defaults__, old.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__


def _change_class(old: type, new: type, module: ModuleType) -> None:
    for name, value in list(vars(new).items()):
        before = vars(old).get(name)
        if isinstance(value, staticmethod) and isinstance(before, staticmethod):  # `__new__` of a NamedTuple
            _become(before.__func__, value.__func__)
        elif isinstance(value, property) and isinstance(before, property):
            _become(before.fget, value.fget)
        elif isinstance(value, FunctionType) and isinstance(before, FunctionType):
            if before.__globals__ is vars(module):
                _become(before, value)
            else:  # one that `struct` made
                setattr(old, name, value)


def mutants_of(file: Path) -> Iterator[Mutant]:
    """All mutants of a file, in its order."""
    path = str(file.relative_to(SOURCES))
    source = cst.metadata.MetadataWrapper(cst.parse_module(file.read_text(encoding="utf-8")), unsafe_skip_copy=True)
    lines = source.resolve(cst.metadata.PositionProvider)
    for statement in source.module.body:
        for name, part in _parts(statement):
            # of a class, a method is made alone, and fields together
            whole = part if isinstance(part, cst.FunctionDef) else statement
            method = "." in name and whole is part
            head, margin = (f"class {name.partition('.')[0]}:\n", " " * 4) if method else ("", "")
            text = source.module.code_for_node(whole).strip("\n")
            decorators = len(part.decorators) if isinstance(part, cst.FunctionDef) else 0
            span = range(lines[part].start.line - decorators, lines[part].end.line + 1)
            seen = {text}
            for node in _changed_nodes(part):
                for changed in _changes(node):
                    code = source.module.code_for_node(whole.deep_replace(node, changed)).strip("\n")
                    runnable = head + indent(code, margin)
                    if code not in seen and _compiles(runnable):
                        seen.add(code)
                        yield Mutant(path, name, span, *_difference(text, code), runnable)


def _parts(statement: cst.CSTNode) -> Iterator[tuple[str, cst.CSTNode]]:
    """The functions, methods and constants in a statement at module level, with their names."""
    if isinstance(statement, cst.FunctionDef):
        yield statement.name.value, statement
    elif isinstance(statement, cst.ClassDef):
        for part in statement.body.body:
            if isinstance(part, cst.FunctionDef) and part.name.value != "__repr__":
                yield f"{statement.name.value}.{part.name.value}", part
            elif m.matches(part, m.SimpleStatementLine(body=[m.AnnAssign()])):
                yield f"{statement.name.value}.fields", part
    elif isinstance(statement, cst.SimpleStatementLine):
        (small, *_) = statement.body
        target = None
        if isinstance(small, cst.Assign):
            target = small.targets[0].target
        elif isinstance(small, cst.AnnAssign) and small.value is not None:
            target = small.target
        if isinstance(target, cst.Name) and target.value.upper() == target.value != "__all__":
            yield target.value, statement


def _changed_nodes(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if m.matches(node, NOT_CHANGED):
        return
    yield node
    for child in node.children:
        yield from _changed_nodes(child)


def _changes(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for kind, change in mutation_operators:
        if isinstance(node, kind):
            yield from change(node)
    if isinstance(node, cst.Name):
        if node.value in ANSWERS:
            yield from (cst.Name(answer) for answer in ANSWERS if answer != node.value)
        if node.value in OPPOSITES:
            yield cst.Name(OPPOSITES[node.value])
    elif isinstance(node, cst.If | cst.CompIf) or (isinstance(node, cst.While) and not m.matches(node.test, m.Name())):
        for word in ("False",) if isinstance(node, cst.While) else ("True", "False"):
            yield node.with_changes(test=cst.Name(word, lpar=node.test.lpar, rpar=node.test.rpar))
    elif isinstance(node, cst.BooleanOperation):
        for side in (node.left, node.right):
            yield side.with_changes(lpar=[*node.lpar, *side.lpar], rpar=[*side.rpar, *node.rpar])
    elif m.matches(node, m.SimpleStatementLine(body=[m.Expr(m.Call())])):
        yield node.with_changes(body=[cst.Pass()])


def _compiles(code: str) -> bool:
    try:
        compile(FUTURE + code, "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _difference(old: str, new: str) -> tuple[str, str]:
    """The lines that differ, without those that both have before and behind."""
    before, after = old.splitlines(), new.splitlines()
    for _ in range(2):
        while before and after and before[-1] == after[-1]:
            before, after = before[:-1], after[:-1]
        before, after = before[::-1], after[::-1]
    return " ".join(map(str.strip, before)), " ".join(map(str.strip, after))
