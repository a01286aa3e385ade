"""The fixes that several rules offer, as text edits; None where the place does not allow one."""

from __future__ import annotations

from torchlayout.interp.trace import SiteKey
from torchlayout.program.places import CallSite
from torchlayout.rules import edits, removal
from torchlayout.rules.finding import Fix, Safety
from torchlayout.rules.seen import Seen

LENIENT = {"view": "reshape", "view_as": "reshape_as"}
"""Methods that refuse strided tensors, and those that copy then."""


def call_at(seen: Seen, key: SiteKey) -> CallSite | None:
    """The call at a site of the linted file."""
    return seen.unit.call_at(key[1]) if key[0] == seen.trace.path else None


ARGUMENTS = {"self": 0, "other": 1, "indices": 1}
"""The places of parameters of which operators take views; what is not here is no argument of its own, or written to."""


def use_reshape(seen: Seen, key: SiteKey, name: str, parameter: str) -> Fix | None:
    """`x.view(...)` to `x.reshape(...)`, and `x.contiguous()` where an operator takes the view of an argument.

    None where the result is written to: the write could miss `x`.
    """
    lenient = LENIENT.get(name)
    call = call_at(seen, key)
    if call is None or seen.is_written(key):
        return None
    if lenient is not None:
        return Fix(f"Use `{lenient}`, which copies", edits.replace_name(call.name, lenient), Safety.UNSAFE)
    place = ARGUMENTS.get(parameter)
    site = seen.site(key)
    if place is None or site is None or site.kind == "module":
        return None
    if not _is_method(seen, key):
        return pack_argument(seen, call, place)
    return pack_argument(seen, call, place - 1) if place else pack_receiver(call)


def pack_receiver(call: CallSite, safety: Safety = Safety.UNSAFE) -> Fix | None:
    """`x.f()` to `x.contiguous().f()`, where x is no module or function namespace."""
    if call.receiver is None:
        return None
    return Fix(
        "Make it contiguous first, which copies", edits.insert_after_receiver(call.receiver, ".contiguous()"), safety
    )


def pack_operand(seen: Seen, key: SiteKey) -> Fix | None:
    """`x.f()` to `x.contiguous().f()`, and `torch.f(x)` to `torch.f(x.contiguous())`."""
    call = call_at(seen, key)
    if call is None:
        return None
    if _is_method(seen, key):
        return pack_receiver(call)
    return pack_argument(seen, call, 0)


def _is_method(seen: Seen, key: SiteKey) -> bool:
    site = seen.site(key)
    return site is not None and site.kind == "method"


def pack_argument(seen: Seen, call: CallSite, place: int | str, packing: str = ".contiguous()") -> Fix | None:
    """`.contiguous()`, or `.copy()` of arrays, behind one argument of a call, by position or keyword; None where it is
    not written out."""
    positional = [argument for argument in call.arguments if argument.keyword is None]
    if isinstance(place, int):
        if place >= len(positional) or any(argument.star for argument in positional[: place + 1]):
            return None
        value = positional[place].value
    else:
        named = [argument.value for argument in call.arguments if argument.keyword == place]
        if not named:
            return None
        value = named[0]
    packed = edits.call_method(seen.unit.source, value, packing)
    return Fix("Make it contiguous first, which copies", packed, Safety.UNSAFE)


def drop_call(seen: Seen, key: SiteKey, title: str, safety: Safety) -> Fix | None:
    """`x.contiguous()` to `x`, and `x = x.contiguous()` to nothing where that may be; not for
    `torch.Tensor.contiguous(x)`."""
    call = call_at(seen, key)
    if call is None or call.receiver is None or _takes_tensor(call):
        return None
    whole = removal.without_statement(seen, call)
    if whole:
        return Fix("Take the statement away", whole, safety)
    return Fix(title, edits.delete_method_call(seen.unit.source, call.suffix), safety)


def _takes_tensor(call: CallSite) -> bool:
    """Whether a `contiguous` is called as a function, its tensor being the first argument."""
    return any(argument.keyword is None for argument in call.arguments)
