"""Which functions are worth running: those that hold a sink word, and callers that may hand them a strided tensor.

All of it is told from the outline and the text; nothing is parsed for it.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator

from torchlayout.interp.definitions import KEEPING_DECORATORS, KINDS
from torchlayout.program.occasions import spread
from torchlayout.program.outline import Entry, Outline, dotted
from torchlayout.program.unit import Unit

_TURNING = (
    r"\.(?:(?:t|transpose|swapaxes|swapdims|as_strided)_|transpose|permute|[tTH]|m[TH]|adjoint|movedim|moveaxis|swapaxes"
    r"|swapdims|expand|expand_as|broadcast_to|as_strided|empty_strided|unfold|chunk|[hvd]?split|tensor_split|unbind"
    r"|narrow|select|diagonal|topk|rot90|real|imag|grad)\b"
    r"|(?:einsum|rearrange|meshgrid|broadcast_tensors|channels_last|from_numpy|as_tensor|LSTM|GRU|RNN|MultiheadAttention)\b"
    r"|(?:np\.|numpy\.|torch\.)?(?:flip|fliplr|flipud|rot90|transpose|permute)\b"
    r"|linalg\.|fft\.|stft"
)
_SLICE = (
    r"(?<=[\w\])])(?<!shape)(?<!size\(\))(?<!uple)(?<!Callable)\[\s*"
    r"(?:[^\[\]\n\"'{}]*,\s*)?(?:\.\.\.|[^\[\]\n,\"'{}]*:)|\],\s*(?::|\.\.\.)\s*[,\]]|::"
)
STRIDED = re.compile(f"{_TURNING}|{_SLICE}")
"""Ways to make a tensor that is not packed."""

_OWN_CALL = re.compile(r"\bself\s*\.\s*\w+\s*[(\[]")
_WRITES = re.compile(r"\.\s*\w+_\s*\(|\]\s*=(?!=)|[-+*/|&]=(?!=)|\bout\s*=|inplace\b")

_TESTS = re.compile(r"\bisinstance\s*\([^()]*(?:\([^()]*\)[^()]*)?\)")

KNOWN = re.compile(r"\b(?:torch|np|numpy)\.(?:randn?|randint|zeros|ones|empty|arange|full|eye|linspace|tensor)\(")
"""Ways to make a tensor of known sizes, which tells more than an unknown argument."""

TURNED = re.compile(_TURNING)
"""The same in an `__init__`, where a slice is seldom one of a tensor, and most tensors are parameters."""

_COPYING_INDEX = r"(?:\[[^\[\]\n\"']*[^\W\d][^\[\]\n\"']*|\]\s*)\]\s*\.\s*\w+_\("
SOURCES = {
    "": STRIDED,
    "reversed": re.compile(r"::|\bslice\b|flip|rot90"),
    "shared": re.compile(
        r"\bexpand(?:_as)?\s*\(|broadcast_(?:to|tensors|arrays)|meshgrid|as_strided|sliding_window_view|\bunfold\b"
    ),
    "copied": re.compile(f"{STRIDED.pattern}|{_COPYING_INDEX}"),
}
"""The same by what a rule asks for: also for reversed arrays alone, for tensors whose elements share memory, and for
copies to write into, which indexing with more than numbers and slices makes of packed tensors too."""

ALWAYS = re.compile(r"contiguous|reveal_layout")
"""Words of what is reported on packed tensors too."""

SETS = re.compile(r"\.([^\W\d]\w*)\s*(?:\[[^\n=]*\]\s*)?(?::[^=\n]+)?(?:[-+*/|&]|//|\*\*)?=(?!=)")
"""An attribute that is set."""
LOOP = re.compile(r"\b(?:for|while)\b")
PLAIN_TYPES = frozenset({
    "int", "float", "bool", "str", "bytes", "list", "tuple", "dict", "set", "List", "Tuple", "Dict", "Set", "Sequence",
    "Optional", "Union", "Literal", "Final",
})  # fmt: skip

MAX_HOPS = 3
"""Calls between a function and the one with the sink word that it hands something to."""
FORWARDS = ("forward", "__call__")
GIVING_ITEMS = ("__iter__", "__next__", "__getitem__")


def telling(calls: Calls, targets: list[Entry]) -> list[Entry]:
    """The functions with a sink word that can have a finding when run on their own: those that make strided tensors,
    call something that does, or pack tensors. Packed arguments alone give none."""
    return [
        entry
        for entry in targets
        if ALWAYS.search(calls.outline.code(entry))
        or any(calls.may_meet(entry, source) for source in sorted(sources(entry)))
    ]


def sources(entry: Entry) -> frozenset[str]:
    """The kinds of tensors that the sink words in a function ask for: keys of `SOURCES`."""
    return frozenset(source for inner in entry.within() for source in inner.sources)


def callers(calls: Calls, targets: list[Entry]) -> list[Entry]:
    """Functions that call a target, directly or through others, and may hand it a strided tensor.

    One that takes no tensors is alike to all who call it, but for the loops around the call.

    The last in the file comes first: what stands later calls what stands before, so that most of the others are
    then seen from their own callers and need no second look.
    """
    wanted = {target: sources(target) for target in targets}
    found: set[Entry] = set()
    pending = [(target, 1, asked) for target, asked in wanted.items()]
    seen = dict(wanted)
    for callee, hops, asked in pending:
        alike = not takes_tensors(callee, calls)
        if alike and "contiguous" not in calls.outline.text(callee):
            continue
        for caller in calls.callers(callee):
            if alike and not LOOP.search(calls.outline.code(caller)):
                continue
            new = asked - seen.get(caller, frozenset())
            if not new:
                continue
            seen[caller] = seen.get(caller, frozenset()) | new
            if hops < MAX_HOPS:
                pending.append((caller, hops + 1, new))
            if caller not in wanted and any(calls.may_hand_over(caller, callee, source) for source in new):
                found.add(caller)
    return sorted(found, key=lambda entry: -entry.start)


def takes_tensors(entry: Entry, calls: Calls) -> bool:
    """Whether what a function meets may depend on its caller: by its parameters, or by its object, unless that is a
    module in which only `__init__`, which is read anyway, sets what the function reads."""
    arguments = entry.node.args  # type: ignore[union-attr]
    named = [*arguments.posonlyargs, *arguments.args]
    if entry.is_method and entry.parent is not None:
        if not named or not calls.is_module(entry.parent) or calls.is_set(entry.parent, calls.outline.mentions(entry)):
            return True
        named = named[not _is_decorated(entry, "staticmethod") :]
    if arguments.vararg is not None or arguments.kwarg is not None:
        return True
    return not all(map(_is_plain, (*named, *arguments.kwonlyargs)))


def _is_plain(parameter: ast.arg) -> bool:
    """Whether its annotation names nothing but numbers, texts and collections of such."""
    if parameter.annotation is None:
        return False
    named = [node.id for node in ast.walk(parameter.annotation) if isinstance(node, ast.Name)]
    within = any(
        isinstance(node, ast.Constant) and node.value not in (None, ...) for node in ast.walk(parameter.annotation)
    )
    return not within and PLAIN_TYPES.issuperset(named)


def is_handed_over(name: str, defined: int, unit: Unit) -> bool:
    """Whether a function, defined on that line, is mentioned otherwise than by a call: somebody may call it later."""
    return any(not called for _, called in _mentions(name, defined, unit))


def module_hands_over(calls: Calls, run: Iterable[Entry]) -> bool:
    """Whether the module's own statements call such a function, or an object of its class, and make something that is
    strided or of known sizes."""
    outline = calls.outline
    own = (s for s in outline.tree.body if not isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef))
    text = "".join(outline.source.lines(s.lineno, s.end_lineno or s.lineno) for s in own)
    if not (STRIDED.search(text) or KNOWN.search(text)):
        return False
    names = {name for e in run for name in (e.name, e.parent.name if e.parent is not None else e.name)}
    return not names.isdisjoint(re.findall(r"\b([^\W\d]\w*)(?:\.apply)?\s*\(", text))


def is_reached_otherwise(entry: Entry, unit: Unit, run: set[Entry], module: bool) -> bool:
    """Whether a function may get arguments from elsewhere than from calls in the functions that are run, or, where
    `module` says that they are, in the module's own statements."""
    if any(path not in KEEPING_DECORATORS and path not in KINDS for path in _decorators(entry, unit)):
        return True
    for line, called in _mentions(entry.name, entry.node.lineno, unit):
        owner = unit.outline.at(line)
        while owner is not None and (owner.nested or owner.is_class) and owner.parent is not None:
            owner = owner.parent
        known = module if owner is None else owner in run or owner is entry
        if not called or not known:
            return True
    return False


def _decorators(entry: Entry, unit: Unit) -> Iterator[str]:
    """The dotted paths of a function's decorators, arguments left out."""
    for decorator in entry.node.decorator_list:
        name = dotted(decorator.func if isinstance(decorator, ast.Call) else decorator) or ""
        yield unit.resolve(name) or name


def _mentions(name: str, defined: int, unit: Unit) -> Iterator[tuple[int, bool]]:
    """The line of each mention of a name but its definition, and whether it is called there."""
    source = unit.source
    for start in unit.outline.places(name):
        line = bisect_right(source.starts, start)
        if not source.clean.endswith("def ", 0, start) or line < defined:
            yield line, source.clean.startswith("(", start + len(name))


def _is_decorated(entry: Entry, name: str) -> bool:
    """Whether a function of that name, alone or of a module, is among the decorators. Those with arguments count as
    calls."""
    return any((dotted(one) or "").rpartition(".")[2] == name for one in entry.node.decorator_list)


class Calls:
    """Who calls whom in one file, by name."""

    def __init__(self, outline: Outline, imported: Callable[[str], Iterable[str]] | None = None) -> None:
        """`imported` gives the texts that define what an import leads to, where imports are followed."""
        self.outline = outline
        self._imported = imported
        self._strided_imports: dict[tuple[str, str], bool] = {}
        self.outermost = [entry for entry in outline.entries if not entry.is_class and not entry.nested]
        self.by_name: dict[str, list[Entry]] = {}
        """Functions and methods that stand in no other, by name."""
        self.classes: dict[str, list[Entry]] = {}
        """Classes by name."""
        self._naming: dict[str, list[Entry]] = {}
        self._strided: dict[tuple[Entry, str], bool] = {}
        self._strided_names: dict[str, set[str]] = {}
        for entry in outline.entries:
            if entry.is_class:
                self.classes.setdefault(entry.name, []).append(entry)
        self.aliases: dict[str, str] = {}
        """Module-level names of what a class has: "f" -> "Cls.apply" for `f = Cls.apply`."""
        for name, values in outline.assigned.items():
            text = dotted(values[0]) if isinstance(values[0], ast.Attribute) else None
            if text is not None and (text.partition(".")[0] in self.classes or text.endswith(".apply")):
                self.aliases[name] = text
        for entry in self.outermost:
            self.by_name.setdefault(entry.name, []).append(entry)

    def _mentioning(self, name: str) -> list[Entry]:
        """Functions in whose code the name stands."""
        known = self._naming.get(name)
        if known is None:
            known = self._naming[name] = [
                entry
                for entry in self.outermost
                if name in self.outline.text(entry) and name in self.outline.mentions(entry)
            ]
        return known

    def words(self, entry: Entry) -> frozenset[str]:
        """All words of a function, and those of what its module-level aliases stand for."""
        mentioned = self.outline.mentions(entry)
        named = mentioned & self.aliases.keys() if self.aliases else ()
        return mentioned.union(*(self.aliases[name].split(".") for name in named)) if named else mentioned

    def callers(self, callee: Entry) -> list[Entry]:
        """Functions whose text calls the name; for a module's forward, those of modules that hold one of its class."""
        owner = callee.parent if callee.is_method else None
        if owner is not None and callee.name == "__init__":
            return [entry for entry in self._mentioning(owner.name) if entry is not callee]
        if owner is None or callee.name not in FORWARDS:
            name = callee.name
            return [
                e
                for e in self._mentioning(name)
                if e is not callee and (name in self.outline.calls(e) or _is_decorated(e, name))
            ]
        found: dict[Entry, None] = {}
        applied = [name for name, text in self.aliases.items() if text == f"{owner.name}.apply"]
        for entry in [entry for name in (owner.name, *applied) for entry in self._mentioning(name)]:
            holder = entry.parent
            if entry.name == "__init__" and holder is not None:
                found.update({e: None for e in holder.children if e.name in FORWARDS and e is not callee})
            elif entry is not callee:
                found[entry] = None
        return list(found)

    def may_hand_over(self, caller: Entry, callee: Entry, source: str) -> bool:
        """Whether the caller, or something else that it calls, makes tensors of a kind, or tensors of known sizes."""
        if caller.name == "__init__" and caller.is_method:
            return TURNED.search(self.outline.code(caller)) is not None
        if self.is_strided(caller, source) or KNOWN.search(self.outline.code(caller)):
            return True
        calls = caller.name in FORWARDS  # else modules whose class is mentioned are made, and seldom called
        return any(
            self.is_strided(other, source)
            for other in self._helpers(caller)
            if other is not callee and (calls or other.name not in FORWARDS)
        )

    def _lineage(self, cls: Entry) -> dict[Entry, None]:
        """A class and those that it derives from, directly or not, as far as names tell."""
        found: dict[Entry, None] = {cls: None}
        pending = [cls]
        while pending:
            for name in pending.pop().bases:
                new = [base for base in self.classes.get(name or "", ()) if base not in found]
                found.update(dict.fromkeys(new))
                pending.extend(new)
        return found

    def is_module(self, cls: Entry) -> bool:
        """Whether a class derives from one named like `nn.Module`, as far as this file tells."""
        return any((name or "").endswith("Module") for known in self._lineage(cls) for name in known.bases)

    def is_set(self, cls: Entry, names: frozenset[str]) -> bool:
        """Whether a method of a class, own or inherited, but `__init__` sets one of these attributes."""
        methods = [child for known in self._lineage(cls) for child in known.children if not child.is_class]
        texts = (self.outline.code(method) for method in methods if method.name != "__init__")
        return any(not names.isdisjoint(SETS.findall(text)) for text in texts)

    def _words_beside_tests(self, entry: Entry) -> frozenset[str]:
        """Its words, without classes of which it only asks whether something is an object."""
        code = self.outline.code(entry)
        tests = " ".join(_TESTS.findall(code)) if "isinstance" in code else ""
        asked = self.classes.keys() & set(re.findall(r"[^\W\d]\w*", tests))
        if not asked:
            return self.words(entry)
        rest = _TESTS.sub("", code)
        return self.words(entry) - {name for name in asked if re.search(rf"\b{name}\b", rest) is None}

    def may_meet(self, entry: Entry, source: str) -> bool:
        """Whether something of a kind may reach the sinks of a function that is run on its own."""
        if self.is_strided_around(entry, source):
            return True
        if source != "shared" or self._calls_on(entry):
            return self.is_strided(entry, source)
        if self._uses_strided_name(entry, source) or self._is_handed_strided(entry, source):
            return True
        code = self.outline.code(entry)
        return SOURCES[source].search(code) is not None and spread(code, SOURCES[source], _WRITES)

    def _calls_on(self, entry: Entry) -> bool:
        """Whether a function calls others of this file, or what its object holds: they may write what it makes."""
        others = self.by_name.keys() & self.outline.mentions(entry)
        return others != {entry.name} or _OWN_CALL.search(self.outline.code(entry)) is not None

    def is_strided_around(self, entry: Entry, source: str) -> bool:
        """Whether a helper of the function, or the `__init__` of its class, makes tensors of a kind."""
        holder = entry.parent
        init = holder.child("__init__") if holder is not None else None
        return any(
            self.is_strided(other, source) for other in ([init] if init is not None else []) + self._helpers(entry)
        )

    def _helpers(self, caller: Entry) -> list[Entry]:
        """What a function calls in this file, as far as names tell; of the modules that its object holds, their
        forward, and what gives the items of objects."""
        found: list[Entry] = []
        for name in self.outline.mentions(caller) & self.by_name.keys():
            found.extend(e for e in self.by_name.get(name, ()) if e.name not in FORWARDS and e is not caller)
        holder = caller.parent
        init = holder.child("__init__") if holder is not None else None
        mentioned = self.words(init) if init is not None else self._words_beside_tests(caller)
        for name in mentioned & self.classes.keys():
            owner = self.outline.find(name)
            if owner is not None and owner.is_class:
                found.extend(child for child in owner.children if child.name in (*FORWARDS, *GIVING_ITEMS))
        return found

    def is_strided(self, entry: Entry, source: str) -> bool:
        """Whether a function makes tensors of a kind, or mentions what does outside functions or in other files."""
        known = self._strided.get((entry, source))
        if known is None:
            known = SOURCES[source].search(self.outline.code(entry)) is not None
            known = known or self._uses_strided_name(entry, source) or self._is_handed_strided(entry, source)
            self._strided[entry, source] = known
        return known

    def _uses_strided_name(self, entry: Entry, source: str) -> bool:
        """Whether it mentions a name that the module assigns such a tensor of torch."""
        names = self._strided_names.get(source)
        if names is None:
            names = {name for name in self.outline.assigned if self._is_assigned_strided(name, source)}
            self._strided_names[source] = names
        return bool(names) and not names.isdisjoint(self.outline.mentions(entry))

    def _is_assigned_strided(self, name: str, source: str) -> bool:
        values = self.outline.assigned[name]
        value = values[0] if len(values) == 1 else None
        if value is None or isinstance(value, ast.Constant):
            return False
        text = self.outline.source.lines(value.lineno, value.end_lineno or value.lineno)
        return "torch" in text and SOURCES[source].search(text) is not None

    def _is_handed_strided(self, entry: Entry, source: str) -> bool:
        """Whether a file that a name of the function is imported from makes such tensors."""
        if self._imported is None:
            return False
        paths = [self.outline.imports[name] for name in self.words(entry) & self.outline.imports.keys()]
        for path in paths:
            if (path, source) not in self._strided_imports:
                texts = self._imported(path)
                found = any(SOURCES[source].search(text) is not None for text in texts)
                self._strided_imports[path, source] = found
        return any(self._strided_imports[path, source] for path in paths)
