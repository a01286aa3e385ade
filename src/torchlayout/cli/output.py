"""Where output goes: plain text to files and pipes, colours to terminals.

A *segment* is a text with a style; `Out.line` takes segments and plain strings. rich is imported only for a
terminal that shows colours.
"""

from __future__ import annotations

import os
import sys
import unicodedata
from typing import Any, NamedTuple, TextIO

from torchlayout.cli.status import Mistake

STYLES = {
    "code": "bold red",
    "path": "bold",
    "gutter": "bold blue",
    "caret": "bold red",
    "note": "bold cyan",
    "help": "bold green",
    "added": "green",
    "removed": "red",
    "dim": "dim",
    "heading": "bold",
}
"""What each style looks like on a terminal, in rich's words."""


class Segment(NamedTuple):
    text: str
    style: str


class Out:
    """A text stream that knows whether it shows colours."""

    def __init__(self, stream: TextIO, *, colours: bool | None = None) -> None:
        self.stream = stream
        self.colours = shows_colours(stream) if colours is None else colours
        self._console: Any = None

    def write(self, text: str) -> None:
        """Text as it is; characters that the stream's encoding lacks become escapes."""
        try:
            self.stream.write(text)
        except UnicodeEncodeError:
            encoding = self.stream.encoding or "ascii"
            self.stream.write(text.encode(encoding, "backslashreplace").decode(encoding))

    def line(self, *parts: Segment | str) -> None:
        """One line of segments, with its line break."""
        if self.colours:
            self._print(parts)
        else:
            self.write("".join(part if isinstance(part, str) else part.text for part in parts) + "\n")

    def _print(self, parts: tuple[Segment | str, ...]) -> None:
        from rich.text import Text

        text = Text()
        for part in parts:
            if isinstance(part, str):
                text.append(part)
            else:
                text.append(part.text, STYLES[part.style])
        self.console.print(text, soft_wrap=True)

    @property
    def console(self) -> Any:
        """rich's console on this stream."""
        if self._console is None:
            from rich.console import Console

            self._console = Console(
                file=self.stream, highlight=False, markup=False, emoji=False, no_color=not self.colours,
                force_terminal=self.colours or None,
            )  # fmt: skip
        return self._console


def standard_output() -> TextIO:
    """The stream; Mistake where the process was started without one (`torchlayout check >&-`)."""
    if sys.stdout is None:
        raise Mistake("standard output is closed")
    return sys.stdout


def write_bytes(data: bytes) -> None:
    """Bytes to standard output as they are, after what was written there before."""
    stream = standard_output()
    stream.flush()
    stream.buffer.write(data)
    stream.buffer.flush()


def shows_colours(stream: TextIO) -> bool:
    """Whether to colour: on a terminal, unless NO_COLOR is set or TERM is dumb; elsewhere if FORCE_COLOR is set."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return is_terminal(stream) and os.environ.get("TERM") != "dumb"


def is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def visible(text: str, tab: int = 4) -> str:
    """Source text made safe to show: tabs as blanks, control characters as escapes."""
    if text.isprintable():
        return text
    shown = (
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text.expandtabs(tab)
    )
    return "".join(shown)


def width(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
