"""Dataclasses for what is made by the ten thousand: cheap to define at import, cheap to make.

`struct` stands where `dataclasses.dataclass` could, and type checkers take it for that. At run time it leaves out what
the linter can do without: a frozen dataclass takes three times as long to make an object, and half a millisecond to
define itself, of which a hundred classes would be felt in every run. So `frozen` is kept by the type checker alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as struct
    from dataclasses import field, replace
else:
    _MISSING = object()

    class _Field:
        __slots__ = ("compare", "default", "default_factory", "init", "repr")

        def __init__(self, default=_MISSING, default_factory=None, init=True, compare=True, repr=True):
            self.default, self.default_factory = default, default_factory
            self.init, self.compare, self.repr = init, compare, repr

    def field(**options: Any) -> Any:
        """See `dataclasses.field`."""
        return _Field(**options)

    def struct(*, frozen: bool = False, eq: bool = True, slots: bool = False) -> Any:
        """Give a class of annotated fields its `__init__`, `__eq__`, `__hash__` and `__repr__`."""
        return lambda cls: _define(cls, frozen, eq, slots)

    def replace(made: Any, /, **changes: Any) -> Any:
        """The same with some fields changed."""
        cls = type(made)
        for name in cls.__match_args__:
            if name not in changes:
                changes[name] = getattr(made, name)
        return cls(**changes)

    def _define(cls: type, frozen: bool, eq: bool, slots: bool) -> type:
        space = dict(cls.__dict__)
        fields = {}
        for name in cls.__annotations__:
            given = space.pop(name, _MISSING)
            fields[name] = given if isinstance(given, _Field) else _Field(given)
        added = _methods(fields, frozen, eq, "__post_init__" in space)
        added["__repr__"] = _repr
        added = {name: value for name, value in added.items() if name not in space}
        added["__struct_fields__"] = tuple(fields)
        added["__match_args__"] = tuple(name for name, field in fields.items() if field.init)
        added["__shown__"] = tuple(name for name, field in fields.items() if field.repr)
        added["__dataclass_fields__"] = _Fields()
        if slots:
            for name in ("__dict__", "__weakref__"):
                space.pop(name, None)
            return type(cls)(cls.__name__, cls.__bases__, {**space, **added, "__slots__": tuple(fields)})
        for name, value in added.items():
            setattr(cls, name, value)
        return cls

    def _methods(fields: dict[str, _Field], frozen: bool, eq: bool, post_init: bool) -> dict[str, Any]:
        known: dict[str, Any] = {"missing_": _MISSING}
        parameters, settings = [], []
        for name, field in fields.items():
            parameter, value = name, name
            if field.default_factory is not None:
                known[f"make_{name}"] = field.default_factory
                parameter += "=missing_"
                value = f"make_{name}() if {name} is missing_ else {name}" if field.init else f"make_{name}()"
            elif field.default is not _MISSING:
                known[f"default_{name}"] = field.default
                parameter += f"=default_{name}"
            if field.init:
                parameters.append(parameter)
            if not field.init and value == name:
                value = f"default_{name}"
            if field.init or value != f"default_{name}" or value in known:  # else `__post_init__` sets it
                settings.append(f"  self.{name} = {value}\n")
        end = "  self.__post_init__()\n" if post_init else "  return\n"
        code = f"def __init__(self, {', '.join(parameters)}):\n{''.join(settings)}{end}"
        if eq:
            compared = [name for name, field in fields.items() if field.compare]
            mine, theirs = (f"({''.join(f'{side}.{name}, ' for name in compared)})" for side in ("self", "other"))
            code += "def __eq__(self, other):\n  if other.__class__ is not self.__class__: return NotImplemented\n"
            code += f"  return {mine} == {theirs}\n"
            code += f"def __hash__(self):\n  return hash({mine})\n"
        made: dict[str, Any] = {}
        exec(code, known, made)
        if eq and not frozen:
            made["__hash__"] = None
        return made

    class _Fields:
        """What makes `dataclasses.fields`, `replace` and `asdict` work, made when one of them asks."""

        __slots__ = ("found",)

        def __init__(self) -> None:
            self.found: Any = None

        def __get__(self, made: object, cls: type) -> Any:
            if self.found is None:
                self.found = self._find(cls)
            return self.found

        def _find(self, cls: type) -> Any:
            import dataclasses

            fields = [
                (name, Any, dataclasses.field(init=name in cls.__match_args__, default=None))
                for name in cls.__struct_fields__
            ]
            return dataclasses.make_dataclass(cls.__name__, fields).__dataclass_fields__

    def _repr(self: Any) -> str:
        inner = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__shown__)
        return f"{type(self).__qualname__}({inner})"


__all__ = ["field", "replace", "struct"]
