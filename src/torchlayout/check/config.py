"""Settings files: found, read, checked, with where each value came from.

The nearest folder upwards with a `torchlayout.toml`, or with a `pyproject.toml` that has a table
`[tool.torchlayout]`, has the say; in one folder `torchlayout.toml` wins. Every mistake is one `ConfigError` that
names file and line.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from torchlayout.check.kinds import BadEntry
from torchlayout.check.settings import BY_KEY, Settings

OWN_FILE = "torchlayout.toml"
SHARED_FILE = "pyproject.toml"


class ConfigError(Exception):
    """A mistake in a settings file or option: `str` of it is the one line to show."""

    def __init__(self, message: str, origin: Origin) -> None:
        super().__init__(f"{origin}: {message}")
        self.message = message
        self.origin = origin


class Origin(NamedTuple):
    """Where a value came from: a file and 1-based line, or a front end's option, or "default"."""

    where: str
    line: int | None = None

    def __str__(self) -> str:
        return self.where if self.line is None else f"{self.where}:{self.line}"


DEFAULT = Origin("default")


@dataclass(frozen=True)
class Configuration:
    """Settings in force, and the origin of each that is not its default, by attribute name."""

    settings: Settings
    origins: Mapping[str, Origin] = field(default_factory=dict)
    file: str | None = None

    def origin(self, name: str) -> Origin:
        """Where the value of a setting came from."""
        return self.origins.get(name, DEFAULT)


def start_folder(paths: Sequence[str]) -> str:
    """The folder to look for settings from: the deepest one that holds all paths, or the current one."""
    named = [os.path.abspath(path) for path in paths if path != "-"]
    if not named:
        return os.getcwd()
    try:
        common = os.path.commonpath(named)
    except ValueError:  # several drives
        return os.getcwd()
    return common if os.path.isdir(common) else os.path.dirname(common)


def load(start: str | None = None, *, file: str | None = None, isolated: bool = False) -> Configuration:
    """The configuration for code under the folder `start` (the current one where None).

    `file` names the settings file instead of a search; `isolated` takes the defaults alone.
    """
    start = os.path.abspath(start or os.curdir)
    if isolated:
        return Configuration(Settings(root=os.getcwd()))
    if file is not None:
        table = _table(file, required=True)
        return _configured(file, table or {})
    for candidate in candidates(start):
        table = _table(candidate)
        if table is not None:
            return _configured(candidate, table)
    return Configuration(Settings(root=os.getcwd()))


def with_values(configuration: Configuration, values: Mapping[str, Any], origin: Origin) -> Configuration:
    """The configuration with some settings replaced, by attribute name; `extend_…` adds to what is there."""
    changes = {
        name: getattr(configuration.settings, name) + value if name.startswith("extend_") else value
        for name, value in values.items()
    }
    settings = dataclasses.replace(configuration.settings, **changes)
    return Configuration(settings, {**configuration.origins, **dict.fromkeys(changes, origin)}, configuration.file)


def candidates(folder: str) -> Iterator[str]:
    """The files that may hold the settings for code under a folder, the nearest first."""
    for above in upwards(folder):
        yield os.path.join(above, OWN_FILE)
        yield os.path.join(above, SHARED_FILE)


def upwards(folder: str) -> Iterator[str]:
    """The folder (an absolute path) and all that hold it, the nearest first."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _table(path: str, *, required: bool = False) -> dict[str, Any] | None:
    """The settings of a file as TOML has them; None where the file does not exist or does not speak of us."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        if required or os.path.lexists(path):
            gone = isinstance(error, FileNotFoundError) and os.path.islink(path)
            why = "the link leads nowhere" if gone else error.strerror or error
            raise ConfigError(f"cannot read the settings: {why}", Origin(shown_path(path))) from None
        return None
    shared = os.path.basename(path) == SHARED_FILE
    if shared and b"torchlayout" not in data and not required:
        return None  # spares the import of a TOML parser
    table: Any = _parsed(path, data)
    if not shared:
        return dict(table)
    for key in ("tool", "torchlayout"):
        table = table.get(key) if isinstance(table, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        origin = Origin(shown_path(path), _line_of(data.decode(), "tool", "torchlayout"))
        raise ConfigError("[tool.torchlayout] must be a table", origin)
    return table


def _parsed(path: str, data: bytes) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        parsed: dict[str, Any] = tomllib.loads(data.decode("utf-8"))
        return parsed
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError("the file is not UTF-8", Origin(shown_path(path), line)) from None
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = re.search(r"\(at line (\d+), column \d+\)", message)
        line = int(place[1]) if place else data.rstrip().count(b"\n") + 1
        message = re.sub(r"\s*\(at .*\)$", "", message)
        raise ConfigError(f"not valid TOML: {message}", Origin(shown_path(path), line)) from None
    except RecursionError:
        raise ConfigError("not valid TOML: nested too deeply", Origin(shown_path(path))) from None


def _configured(path: str, table: Mapping[str, Any]) -> Configuration:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    shown = shown_path(path)
    prefix = ("tool", "torchlayout") if os.path.basename(path) == SHARED_FILE else ()
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for key, value in table.items():
        origin = Origin(shown, _line_of(text, *prefix, key))
        option = BY_KEY.get(key)
        if option is None:
            raise ConfigError(f"unknown setting {key!r}{_suggestion(key, own=not prefix)}", origin)
        try:
            values[option.name] = option.kind.placed(option.kind.from_toml(value), os.path.dirname(path))
        except BadEntry as error:
            line = _line_of(text, *prefix, key, error.name)
            raise ConfigError(f"{key}: {error}", origin if line is None else Origin(shown, line)) from None
        except ValueError as error:
            raise ConfigError(f"{key}: {error}", origin) from None
        origins[option.name] = origin
    root = os.path.dirname(os.path.abspath(path))
    return Configuration(Settings(**values, root=root), origins, path)


def _suggestion(key: str, *, own: bool) -> str:
    if own and key in ("tool", "torchlayout"):
        return f" ({OWN_FILE} holds the settings themselves: leave the table [tool.torchlayout] out)"
    near = difflib.get_close_matches(key.replace("_", "-"), list(BY_KEY), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def shown_path(path: str) -> str:
    """The path as people would write it from here."""
    try:
        relative = os.path.relpath(path)
    except ValueError:
        return path
    return path if relative.startswith(os.pardir) else relative


_KEY = re.compile(r"""\s*(?P<name>(?:"[^"]*"|'[^']*'|[^=#"'])+)=""")
"""A key, dotted or not; in quotes it may hold equals signs."""

_HEADER = re.compile(r"\s*\[\s*(?P<name>[^\[\]]+?)\s*\]")


def _line_of(text: str, *path: str) -> int | None:
    """The 1-based line on which a key, given by its path of tables, or its own table begins."""
    table: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.match(line)
        key = _KEY.match(line)
        if header:
            table = here = _dotted(header["name"])
        elif key:
            here = table + _dotted(key["name"])
        else:
            continue
        if here[: len(path)] == list(path):
            return number
    return None


def _dotted(name: str) -> list[str]:
    return [part.strip().strip("\"'") for part in re.findall(r'"[^"]*"|\'[^\']*\'|[^.]+', name.strip())]
