"""`torchlayout ops NAME`: what the operator table knows of an operator or a module."""

from __future__ import annotations

import difflib
import json
from typing import Any

import click

from torchlayout.cli.output import Out, Segment, standard_output
from torchlayout.cli.status import Mistake
from torchlayout.ops import Op, all_rows, find_function, find_method, find_operator
from torchlayout.ops.modules import ModuleRow, all_modules, find_module

Row = dict[str, Any]


@click.command(short_help="Print what is known of an operator or a module.")
@click.argument("name")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(name: str, output_format: str) -> None:
    """Print what is known of the operator or module NAME: `view`, `F.pad`, `torch.fft.fft`, `@`, `nn.Linear`.

    For each form of it: torch's signature, whether the result is a view, and how the result lies in memory.
    """
    found = [_op_row(row) for row in _ops(name)] + [_module_row(row) for row in _modules(name)]
    if not found:
        raise Mistake(f"the table has no {name!r}{_suggestion(name)}")
    out = Out(standard_output())
    if output_format == "json":
        out.write(json.dumps(found, indent=2) + "\n")
        return
    for row in found:
        _print(row, out)


def _ops(name: str) -> list[Op]:
    """The rows that a name may mean: a full path, a method, an array's method, a Python operator."""
    path = _full_path(name)
    found = list(find_function(path)) if "." in path else []
    if not found:
        last = name.removeprefix("Tensor.")
        found = [*find_method(last), *find_method(last, numpy=True), *find_operator(name)]
    if not found and "." not in name:
        found = [row for row in all_rows() if row.name == name]
    return list(dict.fromkeys(found))


def _modules(name: str) -> list[ModuleRow]:
    row = find_module(_full_path(name) if "." in name else f"torch.nn.{name}")
    return [] if row is None else [row]


def _full_path(name: str) -> str:
    """A path as people write it, in full: `F.pad` is torch.nn.functional.pad."""
    short = {"F": "torch.nn.functional", "nn": "torch.nn", "Tensor": "torch.Tensor", "np": "numpy"}
    head, dot, rest = name.partition(".")
    return f"{short.get(head, head)}{dot}{rest}"


def _suggestion(name: str) -> str:
    known = {row.name for row in all_rows()} | {row.name for row in all_modules()}
    near = difflib.get_close_matches(name.rpartition(".")[2], sorted(known), n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def _op_row(row: Op) -> Row:
    return {
        "signature": row.schema,
        "result": row.alias.value,
        "layout": row.words,
        "unknown": row.unknown,
        "varies": row.varies,
        "since": row.since,
        "spellings": list(row.spellings),
        "example": row.example,
    }


def _module_row(row: ModuleRow) -> Row:
    return {
        "signature": row.schema,
        "result": f"forward({row.takes})",
        "layout": row.words,
        "unknown": row.unknown,
        "demands": dict(row.demands),
        "spellings": list(row.spellings),
    }


_LABELS = {
    "result": "result",
    "layout": "layout",
    "unknown": "unknown where",
    "varies": "varies",
    "demands": "demands",
    "since": "since torch",
    "spellings": "also as",
    "example": "example",
}


def _print(row: Row, out: Out) -> None:
    out.line(Segment(row["signature"], "heading"))
    for key, label in _LABELS.items():
        value = row.get(key)
        if not value:
            continue
        if key == "varies":
            value = "the layout depends on the backend: it is unknown unless a device is set"
        elif isinstance(value, dict):
            value = "; ".join(f"{name}: {why}" for name, why in value.items())
        elif isinstance(value, list):
            value = ", ".join(value)
        out.line(f"  {label:<13} {value}")
    out.line()
