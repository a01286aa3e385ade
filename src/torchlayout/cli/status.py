"""Exit statuses, and messages that are not findings: all of them go to standard error."""

from __future__ import annotations

import sys

import click

OK = 0
"""No findings; with --fix, none left."""
FOUND = 1
"""Findings, or with --diff changes that --fix would make."""
FAILED = 2
"""A mistake in options or settings, or a file that could not be checked or written."""
INTERRUPTED = 130
"""Ctrl-C, as shells have it."""


class Mistake(click.ClickException):
    """A mistake in how the program was called or configured: one line, status 2."""

    exit_code = FAILED

    def show(self, file: object = None) -> None:
        say(self.message)


def say(message: str) -> None:
    """One line on standard error."""
    try:
        print(f"torchlayout: {message}", file=sys.stderr)
    except (OSError, ValueError):  # nobody is listening
        pass


def say_error(path: str, place: str, message: str) -> None:
    """Why a file could not be checked: `path:line:column: message`."""
    say(f"{path}:{place}: {message}" if place else f"{path}: {message}")
