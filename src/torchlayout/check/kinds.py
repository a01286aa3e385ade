"""The kinds of value a setting can have: how each is read from TOML and from one line of text.

A *kind* turns what stands in a TOML file (`from_toml`) or after an option on a command line or in an INI file
(`from_text`) into an immutable value; what cannot be turned raises ValueError with a message that names
what was expected. `to_text` is the inverse of `from_text`, used to show what is in force.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any


class BadEntry(ValueError):
    """A value that makes no sense in one entry of a table; `name` is the entry's key."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"{name}: {message}")
        self.name = name


class Kind:
    """One kind of value; the subclasses below are used as instances."""

    metavar = "VALUE"

    def from_toml(self, value: object) -> Any:
        raise NotImplementedError

    def from_text(self, text: str) -> Any:
        raise NotImplementedError

    def to_text(self, value: Any) -> str:
        return str(value)

    def placed(self, value: Any, folder: str) -> Any:
        """What the value means when it stands in a file in that folder."""
        return value


class Flag(Kind):
    """true or false."""

    metavar = ""

    def from_toml(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise ValueError(f"expected true or false, not {value!r}")
        return value

    def from_text(self, text: str) -> bool:
        lowered = text.strip().lower()
        if lowered not in {"true", "false", "1", "0", "yes", "no", "on", "off"}:
            raise ValueError(f"expected true or false, not {text!r}")
        return lowered in {"true", "1", "yes", "on"}

    def to_text(self, value: Any) -> str:
        return "true" if value else "false"


class Text(Kind):
    """One string, or None where nothing is set."""

    def __init__(self, metavar: str = "TEXT") -> None:
        self.metavar = metavar

    def from_toml(self, value: object) -> str:
        if not isinstance(value, str):
            raise ValueError(f"expected a string, not {value!r}")
        return self.from_text(value)

    def from_text(self, text: str) -> str:
        if not text.strip():
            raise ValueError("expected a value, not an empty string")
        return text.strip()

    def to_text(self, value: Any) -> str:
        return "" if value is None else str(value)


class Folder(Text):
    """A folder, relative to the file that names it, and on a command line to the current one."""

    def __init__(self) -> None:
        super().__init__("FOLDER")

    def from_text(self, text: str) -> str:
        return os.path.expanduser(super().from_text(text))

    def placed(self, value: str, folder: str) -> str:
        return os.path.normpath(os.path.join(folder, value))


class Choice(Text):
    """One of a few words."""

    def __init__(self, *choices: str) -> None:
        super().__init__("|".join(choices))
        self.choices = choices

    def from_text(self, text: str) -> str:
        word = text.strip()
        if word not in self.choices:
            raise ValueError(f"expected {_either(self.choices)}, not {word!r}")
        return word


class Version(Text):
    """A release of torch, such as "2.4" or "2.13.1"."""

    def __init__(self) -> None:
        super().__init__("VERSION")

    def from_toml(self, value: object) -> str:
        if isinstance(value, float | int) and not isinstance(value, bool):
            # 2.10 without quotes is TOML's number 2.1: what was meant cannot be known.
            raise ValueError(f'expected a version in quotes, such as "2.4", not the number {value!r}')
        return super().from_toml(value)

    def from_text(self, text: str) -> str:
        version = text.strip()
        if not re.fullmatch(r"\d+\.\d+(\.\d+)?", version):
            raise ValueError(f"expected a version such as 2.4 or 2.13.1, not {version!r}")
        return version


class Strings(Kind):
    """Several strings; in text, separated by commas or white space."""

    example = "name"
    """What an item may look like, for messages."""

    def __init__(self, metavar: str = "NAMES") -> None:
        self.metavar = metavar

    def item(self, text: str) -> str:
        """One element, checked."""
        return text

    def one(self, value: object) -> str:
        """The one element that stands in TOML without a list."""
        if not isinstance(value, str):
            raise ValueError(f"expected a string, not {value!r}")
        return self.item(value.strip())

    def from_toml(self, value: object) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ValueError(f'expected a list of strings, such as ["{self.example}"], not {value!r}')
        return tuple(self.item(item.strip()) for item in value if item.strip())

    def from_text(self, text: str) -> tuple[str, ...]:
        return tuple(self.item(item) for item in re.split(r"[,\s]+", text) if item)

    def to_text(self, value: Any) -> str:
        return ",".join(value)


class Codes(Strings):
    """Rule codes and prefixes of them: LAY101, LAY1, LAY."""

    example = "LAY101"

    def __init__(self) -> None:
        super().__init__("CODES")

    def item(self, text: str) -> str:
        from torchlayout.check.selection import checked_prefix

        return checked_prefix(text)


class Table(Kind):
    """Names with what holds for each, as a tuple of (name, values) in the order written.

    In TOML a table, `{ "tests/*" = ["LAY3"] }`; in text `tests/*:LAY3,LAY201 scripts/*:LAY2`, the entries
    separated by white space. `single` says that each name has one value, not a list; commas then separate too.
    """

    def __init__(self, values: Strings, *, metavar: str, single: bool = False) -> None:
        self.values = values
        self.metavar = metavar
        self.single = single

    def from_toml(self, value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
        if not isinstance(value, Mapping):
            raise ValueError(f"expected a table, not {value!r}")
        return tuple((str(name), self._entry(str(name), item)) for name, item in value.items())

    def _entry(self, name: str, item: object) -> tuple[str, ...]:
        try:
            alone = self.single and not isinstance(item, list)
            found = (self.values.one(item),) if alone else self.values.from_toml(item)
        except ValueError as error:
            raise BadEntry(name, str(error)) from None
        return self._counted(name, found)

    def _counted(self, name: str, found: tuple[str, ...]) -> tuple[str, ...]:
        if not found or (self.single and len(found) > 1):
            raise BadEntry(name, f"expected {'one value' if self.single else 'at least one value'}")
        return found

    def from_text(self, text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
        entries = []
        # White space after a comma goes on with the same entry, as in flake8's per-file-ignores.
        text = re.sub(r"\s*([:,])\s+", r"\1", text)
        for entry in (text.replace(",", " ") if self.single else text).split():
            name, colon, values = entry.strip(",").rpartition(":")
            if not colon or not name:
                raise ValueError(f"expected entries of the form {self.metavar}, not {entry!r}")
            try:
                found = self.values.from_text(values)
            except ValueError as error:
                raise BadEntry(name, str(error)) from None
            entries.append((name, self._counted(name, found)))
        return tuple(entries)

    def to_text(self, value: Any) -> str:
        return " ".join(f"{name}:{','.join(values)}" for name, values in value)


class Words(Strings):
    """Several of a few words."""

    def __init__(self, *choices: str) -> None:
        super().__init__("|".join(choices))
        self.choices = choices

    def item(self, text: str) -> str:
        if text not in self.choices:
            raise ValueError(f"expected {_either(self.choices)}, not {text!r}")
        return text


class Sizes(Strings):
    """What is assumed of a size: a number, or a bound such as >1 or >=2."""

    def item(self, text: str) -> str:
        squeezed = re.sub(r"\s+", "", text)
        if not re.fullmatch(r"(>=?)?\d+", squeezed):
            raise ValueError(f'expected a size: a number, or a bound such as ">1" or ">=2", not {text!r}')
        return squeezed

    def one(self, value: object) -> str:
        """A number may stand without quotes."""
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
            return self.item(str(value))
        raise ValueError(f'expected a size: a number, or a bound such as ">1" or ">=2", not {value!r}')


def _either(choices: tuple[str, ...]) -> str:
    quoted = [f'"{choice}"' for choice in choices]
    return quoted[0] if len(quoted) == 1 else ", ".join(quoted[:-1]) + " or " + quoted[-1]
