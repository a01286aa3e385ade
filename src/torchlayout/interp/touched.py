"""Attributes whose value some method may change without assigning them: an item set, a list appended to, a tensor
turned in place, its `data` replaced, or the value handed to somebody who may do so.

Told from the text of the file's functions, by the attribute's name alone, whoever owns it; so more counts than need be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from torchlayout.interp.forgetting import forget_items
from torchlayout.interp.state import State
from torchlayout.interp.values import Class, Dictionary, Held, Opaque, Tensor
from torchlayout.program.unit import Entry, Unit

_ITEMS = r"(?:\s*\[[^\n=]*?\])"
_TURNS = r"(?:t|transpose|swapaxes|swapdims|squeeze|unsqueeze|resize|resize_as|set|as_strided)_\s*\("
_TURN = rf"\.\s*(?:{_TURNS}|data\s*=(?!=))"
TURNING = re.compile(_TURN)
"""What changes how a tensor lies in memory, maybe under another name."""
TURNED = re.compile(rf"\.(\w+){_ITEMS}*\s*{_TURN}")
"""The layout of the attribute itself, or of an item of it, is changed in place."""
TURNED_BY_ANOTHER_NAME = re.compile(rf"(?<![\w.])\w+{_ITEMS}*\s*\.\s*{_TURNS}")
TURNED_BY_ANY_NAME = re.compile(rf"(?<![\w.])\w+{_ITEMS}*\s*{_TURN}")
"""That, or its data is replaced: by a name that may stand for a parameter of any module."""
CHANGED = re.compile(
    rf"\.(\w+){_ITEMS}+\s*(?:[-+*/|&@%^]|//|\*\*|<<|>>)?=(?!=)"
    r"|\.(\w+)\s*\.\s*(?:append|appendleft|extend|insert|update|setdefault|pop|popitem|clear|remove|sort|reverse|add)\s*\("
    r"|\bdel\s+\w+\.(\w+)\s*\["
)
"""Items of a list or dict are set, added or taken away."""
HANDED = re.compile(r"(?:=|\breturn\b|\byield\b|[(,\[{:])\s*\w+\.(\w+)\s*(?=[,)\]}\n;#]|$)")
"""The attribute gets another name, or goes to somebody else."""


class Touched:
    """The names of such attributes in one file, each kind found when first asked for."""

    def __init__(self, unit: Unit) -> None:
        self._texts = [unit.outline.code(entry) for entry in _functions(unit)]

    @cached_property
    def layouts(self) -> frozenset[str]:
        """Of tensors."""
        turning = [text for text in self._texts if TURNING.search(text)]
        found = frozenset(name for text in turning for name in TURNED.findall(text))
        return found | self._handed if any(map(TURNED_BY_ANOTHER_NAME.search, turning)) else found

    @cached_property
    def items(self) -> frozenset[str]:
        """Of lists and dicts, which take the layouts of their items with them."""
        found = frozenset(name for text in self._texts for names in CHANGED.findall(text) for name in names if name)
        return found | self._handed | self.layouts

    @cached_property
    def _handed(self) -> frozenset[str]:
        return frozenset(name for text in self._texts for name in HANDED.findall(text))


def _functions(unit: Unit) -> Iterator[Entry]:
    """All but `__init__`, which is run."""
    return (e for e in unit.outline.entries if not (e.is_class or e.nested or (e.is_method and e.name == "__init__")))


def touched(unit: Unit) -> Touched:
    """Found once for each file."""
    known = unit.__dict__.get("touched")
    if known is None:
        known = unit.__dict__["touched"] = Touched(unit)
    return known


def forget_touched(cls: Class, state: State) -> None:
    """Make unknown what such attributes hold, of every object that an `__init__` of this class left behind."""
    names = touched(cls.unit)
    for ref, held in list(state.heap.items()):
        if not isinstance(held, Dictionary) or not isinstance(ref, tuple) or ref[0] not in ("self", "object"):
            continue
        turned = {}
        for name, value in held.items.items():
            key = (ref, name)
            if isinstance(value, Tensor) and name in names.layouts:
                turned[name] = Opaque((key, "turned"), kind="tensor")
            elif isinstance(value, Held) and name in names.items:
                forget_items(value, Opaque((key, "changed")), key, state)
        if turned:
            state.heap[ref] = Dictionary({**held.items, **turned}, held.rest, held.maybe)
