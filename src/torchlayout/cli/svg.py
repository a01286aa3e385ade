"""Inline SVG of how a tensor's elements lie in memory.

Above, the tensor as its user sees it: rows and columns, each element with its offset in memory. Below, memory
itself: each cell with the turn at which reading the tensor in order comes to it. A cell's shade is that turn,
so that a contiguous tensor fades evenly from left to right and a transposed one flickers.
"""

from __future__ import annotations

from html import escape

from torchlayout.cli.model import Model, models
from torchlayout.rules.drawing import Drawing, Picture

CELL = 22
GAP = 10
MAX_MEMORY = 60
"""Cells of memory drawn; what lies beyond is cut off."""


def draw(drawing: Drawing, *, refused: bool = False) -> str:
    """The HTML of a drawing: a figure for the tensor before, and one for the tensor after the operation.

    `refused` says that there is none after it because torch raises.
    """
    before, after = models(drawing)
    parts = [_figure("before", drawing.before, before)]
    if drawing.after is not None:
        parts.append(_figure("after", drawing.after, after))
    elif refused:
        parts.append("<figure class='none'><figcaption>after: none, torch raises</figcaption></figure>")
    return "".join(parts)


def _figure(when: str, picture: Picture, model: Model | None) -> str:
    layout = f"shape ({', '.join(picture.shape)}), stride ({', '.join(picture.stride)})"
    caption = f"{when}: <code>{escape(picture.title)}</code> {escape(layout)}"
    image = "" if model is None else _svg(model, f"{when}: {layout}")
    return f"<figure><figcaption>{caption}</figcaption>{image}</figure>"


def _svg(model: Model, label: str) -> str:
    rows = model.shape[-2] if len(model.shape) > 1 else 1
    columns = model.shape[-1]
    blocks = max(1, len(model.offsets) // (rows * columns))
    memory = min(max(model.offsets, default=0) + 1, MAX_MEMORY)
    turns = {offset: turn for turn, offset in reversed(list(enumerate(model.offsets)))}
    total = len(model.offsets)
    cells = []
    for turn, offset in enumerate(model.offsets):
        block, place = divmod(turn, rows * columns)
        row, column = divmod(place, columns)
        x = block * (columns * CELL + GAP) + column * CELL
        cells.append(_cell(x, row * CELL, offset, turn / total))
    top = rows * CELL + GAP
    for offset in range(memory):
        reached = turns.get(offset)
        shade = None if reached is None else reached / total
        cells.append(_cell(offset * CELL, top, "" if reached is None else reached, shade))
    width = max(blocks * (columns * CELL + GAP) - GAP, memory * CELL) + 2
    height = top + CELL + 2
    title = f"<title>{escape(label)}</title>"
    size = f'viewBox="-1 -1 {width} {height}" width="{width}" height="{height}"'
    return f'<svg {size} role="img">{title}{"".join(cells)}</svg>'


def _cell(x: int, y: int, text: object, shade: float | None) -> str:
    fill = "none" if shade is None else f"hsl(210 70% {92 - round(50 * shade)}%)"
    return (
        f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}"/>'
        f'<text x="{x + CELL // 2}" y="{y + CELL // 2}">{text}</text>'
    )
