"""Settings in flake8's own configuration: which file and line they stand on, what they are, and which nobody knows.

flake8 reads the files itself and hands over values without their places, so the places are looked up here. With
Flake8-pyproject values come from `[tool.flake8]`, and may be lists and tables.
"""

from __future__ import annotations

import configparser
import difflib
import inspect
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from torchlayout.check.config import ConfigError, Configuration, Origin, shown_path, with_values
from torchlayout.check.kinds import Kind
from torchlayout.check.settings import BY_KEY, OPTIONS

PREFIX = "torchlayout-"
NAMES = ("setup.cfg", "tox.ini", ".flake8")
TOML = "pyproject.toml"
OWN_OF_FLAKE8 = frozenset({"select", "extend-select", "ignore", "per-file-ignores", "exclude", "extend-exclude"})

ELSEWHERE = Origin("flake8's options")
"""The origin of what stands in no file: flake8's command line."""

_HEADER = re.compile(r"""\s*\[\s*(?P<name>[A-Za-z_][\w.:"' -]*?)\s*\]\s*(?:[#;].*)?$""")
_ENTRY = re.compile(r"""\s*["']?(?P<key>torchlayout[-_][\w-]+)["']?\s*[=:]""")


def command_line() -> list[str]:
    """The arguments that flake8 was called with.

    flake8 parses `--config`, `--append-config` and `--isolated` before plugins are there, and hands over options
    without them. A host may call it with other arguments than the process has, so they are taken from flake8's own
    outermost function: in all versions the parameter is named `argv`.
    """
    found = sys.argv[1:]
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("flake8."):
            given = frame.f_locals.get("argv")
            found = list(given) if isinstance(given, list | tuple) else found
        frame = frame.f_back
    return found


def files_of(options: Any, first: Any, folder: str) -> list[str]:
    """The files that flake8's options come from, the one that has the last word first.

    `options` are as flake8 hands them over, `first` those that it parsed beforehand, and `folder` is where the file
    lies that it found by itself, if it found one.
    """
    if hasattr(options, "toml_config"):  # Flake8-pyproject, whose file takes the place of all others
        shared = options.toml_config or TOML
        if any(section == "tool.flake8" or section.startswith("tool.flake8.") for section, _ in _lines(shared)):
            return [shared]
    if first.isolated:
        return []
    found = (path for name in NAMES if _is_flake8s(path := os.path.join(folder, name)))
    nearest = first.config or next(found, None)
    appended = [*reversed(first.append_config)]
    return [*appended, nearest] if nearest else appended


def _is_flake8s(path: str) -> bool:
    """Whether flake8 takes a file for its configuration: it can be parsed, and has a section for flake8."""
    parser = configparser.RawConfigParser()
    try:
        parser.read(path, encoding="UTF-8")
    except (UnicodeDecodeError, configparser.Error):
        return False
    return "flake8" in parser or "flake8:local-plugins" in parser


def _lines(path: str) -> Iterator[tuple[str, str]]:
    """The lines of a file with the section that each stands in; none where it cannot be read."""
    section = ""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                if header := _HEADER.match(line):
                    section = header["name"]
                yield section, line
    except OSError:
        return


def entries(path: str) -> dict[str, int]:
    """Our options in a file of flake8's, by key with dashes and prefix, and the line of each."""
    found: dict[str, int] = {}
    for number, (section, line) in enumerate(_lines(path), start=1):
        key = None
        if section.startswith("tool.flake8."):
            key = section.removeprefix("tool.flake8.").strip("\"'")
        elif section in ("flake8", "tool.flake8") and (entry := _ENTRY.match(line)):
            key = entry["key"]
        if key is not None and key.replace("_", "-").startswith(PREFIX):
            found.setdefault(key.replace("_", "-"), number)
    return found


def places_in(files: Iterable[str]) -> dict[str, Origin]:
    """Our options in flake8's files, by key with dashes and prefix, and the first place of each."""
    found: dict[str, Origin] = {}
    for path in files:
        shown = shown_path(path)
        for key, line in entries(path).items():
            found.setdefault(key, Origin(shown, line))
    return found


def refuse_unknown(places: Mapping[str, Origin]) -> None:
    """ConfigError for an option of ours that there is not; flake8 itself passes over what it does not know."""
    known = {PREFIX + option.key for option in OPTIONS if option.flake8}
    for key, origin in places.items():
        if key not in known:
            raise ConfigError(f"unknown setting {key!r}{_hint(key, known)}", origin)


def not_given(places: Mapping[str, Origin], arguments: Sequence[str]) -> dict[str, Origin]:
    """The places without those of options that the command line gives too: its values go before those of files."""
    flags = [word.partition("=")[0] for word in arguments if word.startswith(f"--{PREFIX}")]
    # argparse takes a beginning of a name for the name, unless it is another's whole name
    whole = {f"--{PREFIX}{option.key}" for option in OPTIONS}
    given = {key for key in places for flag in flags if flag == f"--{key}"}
    given |= {key for key in places for flag in flags if flag not in whole and f"--{key}".startswith(flag)}
    return {key: origin for key, origin in places.items() if key not in given}


def _hint(key: str, known: Iterable[str]) -> str:
    plain = key.removeprefix(PREFIX)
    if plain in OWN_OF_FLAKE8:
        return f" (flake8 has its own {plain!r})"
    if plain in BY_KEY:
        return " (it does not apply in flake8)"
    near = difflib.get_close_matches(plain, sorted(other.removeprefix(PREFIX) for other in known), n=1)
    return f" (did you mean {PREFIX + near[0]!r}?)" if near else ""


def with_options(
    configuration: Configuration, given: Mapping[str, object], places: Mapping[str, Origin]
) -> Configuration:
    """The configuration with the values that flake8 hands over, by attribute name."""
    for name, raw in given.items():
        key = PREFIX + name.replace("_", "-")
        origin = places.get(key, ELSEWHERE)
        kind = BY_KEY[key.removeprefix(PREFIX)].kind
        try:
            value = _value(kind, raw)
        except ValueError as error:
            raise ConfigError(f"{key}: {error}", origin) from None
        if origin.line is not None:
            value = kind.placed(value, os.path.dirname(origin.where))
        configuration = with_values(configuration, {name: value}, origin)
    return configuration


def _value(kind: Kind, raw: object) -> Any:
    if isinstance(raw, Mapping):
        return kind.from_toml(raw)
    if isinstance(raw, list):
        if not all(isinstance(item, str) for item in raw):
            raise ValueError(f"expected a list of strings, not {raw!r}")
        return kind.from_text(" ".join(raw))
    return kind.from_text(str(raw))
