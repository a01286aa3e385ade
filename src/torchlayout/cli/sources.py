"""Files and standard input as Python text: the kinds of file that the command line reads.

For a notebook the text that is checked is its program; what is written back is the notebook.
"""

from __future__ import annotations

import codecs
import os
from dataclasses import dataclass

from torchlayout.check.reading import Source as Encoded
from torchlayout.check.reading import UnreadableSource, decode
from torchlayout.notebooks import Notebook, NotebookError

NOTEBOOK = ".ipynb"


def is_notebook(path: str) -> bool:
    return os.path.splitext(path)[1].lower() == NOTEBOOK


@dataclass(frozen=True, slots=True)
class Opened:
    """The content of one file: `text` is what is checked, `bytes_for` gives the content for a mended text."""

    text: str
    encoded: Encoded
    notebook: Notebook | None

    def shown_after(self, text: str) -> str:
        """The file's own text after `text` was put in the place of the checked one."""
        return text if self.notebook is None else self.notebook.with_program(text)

    def bytes_for(self, text: str) -> bytes:
        """UnicodeEncodeError where the file's encoding lacks a character of the text."""
        return self.encoded.encode(self.shown_after(text))


def opened(data: bytes, path: str) -> Opened:
    """The content of a file named `path`; UnreadableSource where it is no Python text or no notebook."""
    if not is_notebook(path):
        encoded = decode(data)
        return Opened(encoded.text, encoded, None)
    encoded = _decoded_json(data)
    try:
        notebook = Notebook(encoded.text)
    except NotebookError as error:
        raise UnreadableSource(str(error)) from None
    return Opened(notebook.program, encoded, notebook)


def notebook_program(data: bytes) -> str:
    """The program of a notebook's bytes: the reader for `check_paths`."""
    return opened(data, f"any{NOTEBOOK}").text


READERS = {NOTEBOOK: notebook_program}


def _decoded_json(data: bytes) -> Encoded:
    bom = data.startswith(codecs.BOM_UTF8)
    try:
        return Encoded(data[len(codecs.BOM_UTF8) if bom else 0 :].decode("utf-8"), "utf-8", bom)
    except UnicodeDecodeError:
        raise UnreadableSource("the notebook is not UTF-8") from None
