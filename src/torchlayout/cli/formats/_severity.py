"""How grave a finding is, by the group of its code."""

from __future__ import annotations

_BY_GROUP = {"LAY1": "error", "LAY2": "warning", "LAY3": "warning", "LAY4": "note", "LAY9": "note"}


def severity(code: str) -> str:
    """ "error" (torch raises, or data is lost), "warning" (a needless copy) or "note" (advice, answers)."""
    return "error" if code == "LAY901" else _BY_GROUP.get(code[:4], "warning")
