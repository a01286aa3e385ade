"""The options that stand for settings, made from the settings themselves, and the configuration they amount to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from torchlayout.check import config
from torchlayout.check.config import ConfigError, Configuration, Origin
from torchlayout.check.kinds import Flag, Strings, Table
from torchlayout.check.settings import OPTIONS, Option
from torchlayout.cli.status import Mistake

F = TypeVar("F", bound=Callable[..., Any])


def settings_options(function: F) -> F:
    """Give a command an option for each setting, and --config and --isolated. They reach it as keywords; hand them
    to `configuration`."""
    for option in reversed(OPTIONS):
        _attach(function, option)
    click.option("--isolated", is_flag=True, help="Ignore all settings files.")(function)
    click.option("--config", "config_file", metavar="FILE", help="The settings file to use.")(function)
    return function


def _attach(function: F, option: Option) -> None:
    if isinstance(option.kind, Flag):
        spelling = f"{option.flag}/--no-{option.key}"
        click.option(spelling, option.name, default=None, help=option.help)(function)
    else:
        multiple = isinstance(option.kind, Strings | Table)
        click.option(option.flag, option.name, multiple=multiple, metavar=option.kind.metavar, help=option.help)(
            function
        )


def configuration(paths: Sequence[str], given: dict[str, Any]) -> Configuration:
    """The configuration for the paths with the options of the command line on top; Mistake for an error in either."""
    if given["isolated"] and given["config_file"] is not None:
        raise Mistake("--config and --isolated exclude each other")
    try:
        found = config.load(config.start_folder(paths), file=given["config_file"], isolated=given["isolated"])
        for option in OPTIONS:
            value = given[option.name]
            if value is None or value == ():
                continue
            values = {option.name: _value(option, value)}
            found = config.with_values(found, values, Origin(f"option {option.flag}"))
    except ConfigError as error:
        raise Mistake(str(error)) from None
    return found


def _value(option: Option, given: Any) -> Any:
    if isinstance(given, bool):
        return given
    try:
        if isinstance(given, tuple):
            return tuple(item for text in given for item in option.kind.from_text(text))
        return option.kind.from_text(given)
    except ValueError as error:
        raise Mistake(f"{option.flag}: {error}") from None
