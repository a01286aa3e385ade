"""Names imported from other files of the linted project."""

from __future__ import annotations

from torchlayout.interp.frame import Frame
from torchlayout.interp.values import Value


def resolve_import(path: str, fr: Frame) -> Value | None:
    """The function or class of the project that a dotted path leads to; None where it is not found."""
    if fr.run.project is None:
        return None
    return fr.run.project.find(path, fr)
