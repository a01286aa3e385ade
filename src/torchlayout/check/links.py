"""Addresses that messages and reports point to."""

from __future__ import annotations

HOME = "https://github.com/torchlayout/torchlayout"
REPORT_URL = f"{HOME}/issues"


def rule_url(code: str) -> str:
    """The page of a rule, for the `url` of JSON and the `helpUri` of SARIF."""
    return f"{HOME}/blob/main/docs/rules/{code}.md"
