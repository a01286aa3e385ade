"""The commands, found by walking `torchlayout.cli.commands`: a module each, with the click command as `command`."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import click

from torchlayout import __version__
from torchlayout.cli import commands


class Commands(click.Group):
    """Imports a command's module when the command is run or listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(module.name for module in pkgutil.iter_modules(commands.__path__))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        module: Any = importlib.import_module(f"{commands.__name__}.{cmd_name}")
        command: click.Command = module.command
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="torchlayout")
def app() -> None:
    """Know how every PyTorch tensor lies in memory, from the source alone."""
