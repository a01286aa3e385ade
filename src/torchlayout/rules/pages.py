"""The pages of docs/rules, made of the rules themselves.

python -m torchlayout.rules.pages docs/rules        writes them; a test fails when they are stale
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from torchlayout.rules import BY_CODE, RULES
from torchlayout.rules.base import HEADINGS, PREVIEW, Example, Rule

GROUPS = {
    "1": "torch will raise, or data is lost",
    "2": "a copy that buys nothing",
    "3": "copies in loops",
    "4": "advice, off by default",
    "9": "the linter itself, speaking only when asked or when it failed",
}
"""What the first digit of a code says."""


def sections(docs: str) -> dict[str, str]:
    """The text under each heading of a rule's page, in order."""
    parts = re.split(r"^## (.+)$", inspect.cleandoc(docs), flags=re.MULTILINE)
    return {heading.strip(): body.strip() for heading, body in zip(parts[1::2], parts[2::2], strict=True)}


def code_blocks(text: str) -> list[str]:
    """The Python programs in a piece of Markdown."""
    return re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def page(rule: Rule) -> str:
    """One rule's page, with its examples behind it."""
    lines = [f"# {rule.code}: {rule.name}", ""]
    facts = [GROUPS[rule.code[3]][0].upper() + GROUPS[rule.code[3]][1:]]
    if rule.status == PREVIEW:
        facts.append("Preview")
    if rule.fixable:
        facts.append("Has a fix")
    lines += [f"*{'. '.join(facts)}.*", "", inspect.cleandoc(rule.docs), ""]
    lines += _examples("Reported", rule.invalid)
    lines += _examples("Left alone", [*rule.valid, *rule.near_misses])
    return "\n".join(lines).rstrip() + "\n"


def _examples(title: str, examples: Sequence[Example]) -> list[str]:
    if not examples:
        return []
    lines = [f"## {title}", ""]
    for example in examples:
        note = example.note[:1].upper() + example.note[1:]
        lines += [f"{note}:", "", "```python", example.source.rstrip("\n"), "```", ""]
    return lines


def index() -> str:
    """The table of all codes."""
    lines = ["# Rules", ""]
    for digit, says in GROUPS.items():
        lines += [f"## LAY{digit}: {says}", "", "| code | name | reports | fix |", "| --- | --- | --- | --- |"]
        for rule in RULES:
            if rule.code[3] == digit:
                fix = "yes" if rule.fixable else ""
                lines.append(f"| [{rule.code}]({rule.code}.md) | {rule.name} | {summary(rule)} | {fix} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def summary(rule: Rule) -> str:
    """The first sentence of a rule's page, without its verb's subject, as a cell of a table."""
    text = " ".join(sections(rule.docs)[HEADINGS[0]].split())
    sentence = re.split(r"\.(?= [A-Z]|$)", text)[0]
    return re.sub(r"^Reports ", "", sentence).replace("|", "\\|")


def write(folder: Path) -> None:
    """Write every page and the index, and take away pages of codes that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {f"{code}.md": page(rule) for code, rule in BY_CODE.items()} | {"index.md": index()}
    for path in folder.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/rules"))
