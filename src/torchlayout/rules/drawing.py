"""What a finding shows of memory: the strides before an operation, and after it.

Data only; a front end draws it. Sizes and strides are strings as messages have them ("B", "T*C", "4"), so that
a picture can be made of a symbolic tensor too.
"""

from __future__ import annotations

from typing import NamedTuple


class Picture(NamedTuple):
    """One tensor's layout. `title` names it: "x.transpose(1, 2)", "after contiguous()"."""

    title: str
    shape: tuple[str, ...]
    stride: tuple[str, ...]


class Drawing(NamedTuple):
    """The tensor that an operation is given and the one it makes; `after` is None where it raises."""

    before: Picture
    after: Picture | None
