"""What a loop carries from one turn into the next.

An unknown is named after the place that makes it, so that each turn makes the same ones. What a name still holds of the
turn before is something else, though: the mask of this turn and the one of the last have different numbers of elements.
So wherever a value is carried to the head of a loop, the unknowns that the loop makes give way to others, `Earlier`
ones, one for each name that holds them: within a turn they stand for one number each, and another turn brings no new.
"""

from __future__ import annotations

from collections.abc import Hashable

from torchlayout.interp.state import State, settled, with_operands
from torchlayout.interp.values import (
    Dictionary,
    Earlier,
    Either,
    Many,
    Opaque,
    Sequence,
    Tensor,
    Union_,
    Value,
    objects,
    same,
)
from torchlayout.layouts import Dim
from torchlayout.ops import Operand
from torchlayout.program.nodes import Span
from torchlayout.sizes import Atom, Facts, Poly, Rest, Size
from torchlayout.sizes.polynomial import substitute
from torchlayout.structs import replace

BEFORE = "earlier_"
"""What stands before the name of an unknown of an earlier turn."""


class Carried:
    """The renaming at the head of one loop: `path`, `span` and `context` tell what is made in it."""

    def __init__(self, path: str, span: Span, context: tuple[Hashable, ...]) -> None:
        self.path = path
        self.span = span
        self.context = context
        self.loop: Hashable = (path, span.line, span.column, context)
        self._made: dict[Atom, bool] = {}

    def over(self, head: State, end: State) -> State:
        """The state at the end of a turn as the next turn meets it. What the turn left as it was stays as it is."""
        for store, before in ((end.env, head.env), (end.heap, head.heap)):
            for name, value in store.items():
                old = before.get(name)  # type: ignore[call-overload]
                if value is not old:
                    store[name] = self._value(settled(value, end.facts), old, (name,), end.facts)  # type: ignore[index]
        return end

    # ------------------------------------------------------------ values
    def _value(self, value: Value, old: Value, at: tuple[Hashable, ...], facts: Facts) -> Value:
        """The value as what it was a turn ago; `at` is the name that holds it, and the way to it from there."""
        if isinstance(value, (bool, int, float, str, type(None))) or same(value, old):
            return value
        if isinstance(value, Tensor):
            return self._tensor(value, old, at, facts)
        if isinstance(value, Poly):
            return self._size(value, self._renaming(value.atoms(), at, facts))
        if isinstance(value, Rest):
            return self._rest(value, at, facts)
        if isinstance(value, Opaque):
            return self._opaque(value, at, facts)
        if isinstance(value, Sequence):
            known = old.items if isinstance(old, Sequence) and len(old.items) == len(value.items) else None
            items = [
                self._value(item, known[place] if known else None, (*at, place), facts)
                for place, item in enumerate(value.items)
            ]
            return Sequence(value.kind, tuple(items), value.names)
        if isinstance(value, Many):
            return Many(
                self._value(value.item, old.item if isinstance(old, Many) else None, (*at, "item"), facts), value.kind
            )
        if isinstance(value, Dictionary):
            held = old.items if isinstance(old, Dictionary) else {}
            return Dictionary(
                {key: self._value(item, held.get(key), (*at, key), facts) for key, item in value.items.items()},
                self._value(value.rest, old.rest if isinstance(old, Dictionary) else None, (*at, "rest"), facts),
                value.maybe,
            )
        if isinstance(value, Union_):
            return Union_(tuple(self._value(choice, old, at, facts) for choice in value.choices))
        return value

    def _opaque(self, value: Opaque, at: tuple[Hashable, ...], facts: Facts) -> Opaque:
        size, whole = (
            None if known is None else self._size(known, self._renaming(known.atoms(), at, facts))
            for known in (value.size, value.whole)
        )
        if isinstance(size, Poly):
            value = replace(value, size=size)
        if isinstance(whole, Poly):
            value = replace(value, whole=whole)
        if not self.is_made(value.key):
            return value
        return replace(value, key=self._earlier(value.key, at), name=_name(value.name))

    def _tensor(self, value: Tensor, old: Value, at: tuple[Hashable, ...], facts: Facts) -> Tensor:
        known = (old.proven, old.assumed) if isinstance(old, Tensor) else ((), ())
        proven = self._operands(value.proven, known[0], at, facts)
        assumed = proven if value.assumed is value.proven else self._operands(value.assumed, known[1], at, facts)
        changed = with_operands(value, proven, assumed)
        parts = objects(value.ident)
        if any(map(self.is_made, parts)):  # another turn makes another object at the same place
            plain = frozenset(part for part in parts if not self._is_own(part))
            renamed = frozenset(self._earlier(part, at) for part in parts if self.is_made(part))
            return replace(changed, ident=Either(plain | renamed))
        return changed

    def _operands(
        self, operands: tuple[Operand, ...], known: tuple[Operand, ...], at: tuple[Hashable, ...], facts: Facts
    ) -> tuple[Operand, ...]:
        found: list[Operand] = []
        for operand in operands:
            changed = operand if operand in known else self._operand(operand, at, facts)
            if changed not in found:
                found.append(changed)
        return tuple(found)

    def _operand(self, operand: Operand, at: tuple[Hashable, ...], facts: Facts) -> Operand:
        layout = operand.layout
        atoms = {
            atom
            for dim in layout.dims
            for size in (dim.size, dim.stride)
            if isinstance(size, Poly)
            for atom in size.atoms()
        }
        if isinstance(layout.offset, Poly):
            atoms |= layout.offset.atoms()
        renamed = self._renaming(atoms, at, facts)
        if not renamed:
            return operand
        dims = [
            Dim(
                self._size(dim.size, renamed),
                None if dim.stride is None else self._size(dim.stride, renamed),
                None if dim.rest is None else self._rest(dim.rest, at, facts),
            )
            for dim in layout.dims
        ]
        offset = None if layout.offset is None else self._size(layout.offset, renamed)
        return replace(operand, layout=type(layout)(tuple(dims), offset))

    # ------------------------------------------------------------ unknowns
    def _size(self, size: Size, renamed: dict[Atom, Size]) -> Size:
        return substitute(size, renamed) if renamed else size

    def _rest(self, rest: Rest, at: tuple[Hashable, ...], facts: Facts) -> Rest:
        return facts.symbols.rest(self._earlier(rest.key, at), _name(rest.name)) if self.is_made(rest.key) else rest

    def _renaming(self, atoms: set[Atom] | frozenset[Atom], at: tuple[Hashable, ...], facts: Facts) -> dict[Atom, Size]:
        """The unknowns of one layout or size that give way, each to another of its own."""
        renamed: dict[Atom, Size] = {}
        taken: set[Hashable] = set()
        for atom in sorted(atoms):
            if self._is_made_atom(atom):
                renamed[atom] = self._renamed(atom, at, taken, facts)
        return renamed

    def _renamed(self, atom: Atom, at: tuple[Hashable, ...], taken: set[Hashable], facts: Facts) -> Size:
        key = atom.key
        if isinstance(key, tuple) and len(key) == 2 and key[0] == "numel":  # of a rest, which is renamed as a whole
            return facts.symbols.rest(self._earlier(key[1], at)).numel
        new = self._earlier(key, at)
        while new in taken:
            new = Earlier(new.loop, (*new.at, "other"), new.key)
        taken.add(new)
        return facts.symbols.atom(new, _name(atom.name), atom.least)

    def _earlier(self, key: Hashable, at: tuple[Hashable, ...]) -> Earlier:
        base = key.key if isinstance(key, Earlier) and key.loop == self.loop else key
        return Earlier(self.loop, at, base)

    def _is_own(self, key: Hashable) -> bool:
        return isinstance(key, Earlier) and key.loop == self.loop

    def _is_made_atom(self, atom: Atom) -> bool:
        found = self._made.get(atom)
        if found is None:
            found = self._made[atom] = self.is_made(atom.key)
        return found

    def is_made(self, key: Hashable) -> bool:
        """Whether what this key names depends on a place inside the loop."""
        if isinstance(key, tuple):
            if len(key) == 4 and isinstance(key[0], str) and isinstance(key[1], int) and isinstance(key[3], tuple):
                return self._is_inside(key[1], key[2], key[3])
            return any(map(self.is_made, key))
        if isinstance(key, Poly):
            return any(map(self._is_made_atom, key.atoms()))
        if isinstance(key, Rest):
            return self.is_made(key.key)
        if isinstance(key, Earlier):
            return self.is_made(key.loop)
        if isinstance(key, frozenset):
            return any(map(self.is_made, key))
        if isinstance(key, Span):
            return False
        return any(self.is_made(getattr(key, name)) for name in getattr(key, "__struct_fields__", ()))

    def _is_inside(self, line: int, column: int, context: tuple[Hashable, ...]) -> bool:
        """Whether a place lies in the loop, or in what is called from there."""
        depth = len(self.context)
        if context[:depth] != self.context:
            return False
        for step in context[depth:]:
            if isinstance(step, tuple) and len(step) == 3 and step[0] == self.path:  # the call that leads there
                line, column = step[1], step[2]
                break
        inside = self.span
        return (inside.line, inside.column) <= (line, column) <= (inside.end_line, inside.end_column)


def _name(name: str | None) -> str | None:
    """How an earlier unknown is written."""
    if name is None or name.startswith(BEFORE):
        return name
    return f"{BEFORE}{name}" if name.isidentifier() else None
