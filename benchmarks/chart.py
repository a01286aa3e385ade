"""Line charts as SVG, without a drawing library."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 56, 120, 40, 44
COLORS = ("#777777", "#c26a00", "#0b6cb3", "#2b8a3e")


class Series(NamedTuple):
    """One line of a chart, its points in order of x."""

    name: str
    points: tuple[tuple[float, float], ...]


def line_chart(title: str, x_label: str, series: Sequence[Series]) -> str:
    """Both axes start at 0; y is in seconds."""
    most_x = max(x for line in series for x, _ in line.points)
    step = round_step(max(y for line in series for _, y in line.points) / 4)
    most_y = step * 4
    while most_y < max(y for line in series for _, y in line.points):
        most_y += step

    def at(x: float, y: float) -> tuple[float, float]:
        return (
            LEFT + x / most_x * (WIDTH - LEFT - RIGHT),
            HEIGHT - BOTTOM - y / most_y * (HEIGHT - TOP - BOTTOM),
        )

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"',
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="15">{escape(title)}</text>',
    ]
    for tick in range(round(most_y / step) + 1):
        _, y = at(0, tick * step)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick * step:g} s</text>')
    for x_value in sorted({x for line in series for x, _ in line.points}):
        x, y = at(x_value, 0)
        parts.append(f'<text x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">{x_value:g}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle:.0f}" y="{HEIGHT - 8}" text-anchor="middle">{escape(x_label)}</text>')
    for line, color in zip(series, COLORS, strict=False):
        places = [at(x, y) for x, y in line.points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        x, y = places[-1]
        parts.append(f'<text x="{x + 8:.1f}" y="{y + 4:.1f}" fill="{color}">{escape(line.name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def round_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10, ... (and their fractions) that is not below."""
    size = 1e-3
    while True:
        for factor in (1, 2, 5):
            if size * factor >= least:
                return size * factor
        size *= 10
