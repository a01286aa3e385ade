"""Comments that silence findings.

| comment | silences |
| --- | --- |
| `# noqa` | every finding on its line |
| `# noqa: LAY101,LAY2` | those codes on its line, by prefix |
| `# torchlayout: ignore[LAY101] -- reason` | the same; alone on its line it stands for the next line of code |
| `# flake8: noqa`, alone on its line | the whole file (also when codes follow: flake8 does not read them) |
| `# torchlayout: ignore-file[LAY101] -- reason` | those codes in the whole file |

Codes count in any case. Only comments count, not strings that look like one. A *line* is as flake8 has it: the
lines that a string in triple quotes or a backslash joins are one. The text is tokenized only when there is a finding to
silence and the text holds a word that could do it.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from torchlayout.check.results import Suppression
from torchlayout.check.selection import find_code, is_known
from torchlayout.program.nodes import Span
from torchlayout.rules.finding import Edit, Finding, Fix, Safety

_NOQA = re.compile(r"# noqa(?::\s?(?P<codes>(?:[A-Z]+[0-9]+(?:[,\s]+)?)+))?", re.IGNORECASE)
_NOQA_FILE = re.compile(r"# flake8[:=]\s*noqa", re.IGNORECASE)
_OURS = re.compile(r"#\s*torchlayout:\s*(?P<what>ignore-file|ignore)\b(?:\[(?P<codes>[^\]]*)\])?", re.IGNORECASE)


class Comment(NamedTuple):
    """One suppression and the lines it covers (empty for the whole file)."""

    suppression: Suppression
    lines: range
    flake8s: bool
    """Whether flake8 itself honours it."""

    def covers(self, finding: Finding) -> bool:
        """Whether it silences the finding."""
        codes = self.suppression.codes
        place = self.suppression.whole_file or finding.span.line in self.lines
        return place and (not codes or finding.code.startswith(codes))


def may_suppress(text: str) -> bool:
    """Whether the text could hold a suppression: a test without tokenizing."""
    lowered = text.lower()
    return "noqa" in lowered or "torchlayout:" in lowered


def comments(text: str) -> list[Comment]:
    """Every suppression of the text, in order."""
    found: list[Comment] = []
    for logical in _joined_lines(text):
        found.extend(_of_lines(*logical))
    return found


class _Line(NamedTuple):
    """Lines that flake8 takes for one, their comments, and where code stands next if they hold none."""

    lines: range
    comments: tuple[tokenize.TokenInfo, ...]
    following: range


def _joined_lines(text: str) -> list[_Line]:
    """The text cut at the ends of lines that are not inside a token or after a backslash."""
    cut: list[tuple[range, tuple[tokenize.TokenInfo, ...], bool]] = []
    first, last, remarks, code = 0, 0, [], False
    for token in _tokens(text):
        if token.type in (tokenize.ENDMARKER, tokenize.DEDENT, tokenize.INDENT):
            continue
        first = first or token.start[0]
        last = max(last, token.end[0])
        if token.type == tokenize.COMMENT:
            remarks.append(token)
        elif token.type in (tokenize.NL, tokenize.NEWLINE):
            cut.append((range(first, last + 1), tuple(remarks), code))
            first, last, remarks, code = 0, 0, [], False
        else:
            code = True
    if remarks or code:
        cut.append((range(first, last + 1), tuple(remarks), code))
    lines: list[_Line] = []
    following = range(0)
    for covered, found, has_code in reversed(cut):
        lines.append(_Line(covered, found, covered if has_code else following))
        if has_code:
            following = covered
    return lines[::-1]


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    """The tokens up to the first the tokenizer refuses (the text was parsed, so there is hardly ever one)."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")  # the tokenizer has no line end of a lone \r
    try:
        yield from tokenize.generate_tokens(io.StringIO(plain).readline)
    except (tokenize.TokenError, SyntaxError):
        return


def _of_lines(lines: range, remarks: tuple[tokenize.TokenInfo, ...], following: range) -> Iterator[Comment]:
    seen_noqa = False
    for token in remarks:
        remark = token.string
        place = Span(token.start[0], token.start[1], token.end[0], token.end[1])
        if _NOQA_FILE.match(remark):
            if not token.line[: place.column].strip():
                yield _comment(place, remark, None, range(0), flake8s=True, whole_file=True)
        if not seen_noqa and (match := _NOQA.search(remark)):
            seen_noqa = True  # flake8 looks no further than the first of a line
            yield _comment(place, remark, match["codes"], lines, flake8s=True)
        if match := _OURS.search(remark):
            whole_file = match["what"].lower() == "ignore-file"
            yield _comment(place, remark, match["codes"], following, flake8s=False, whole_file=whole_file)


def _comment(
    place: Span, remark: str, codes: str | None, lines: range, *, flake8s: bool, whole_file: bool = False
) -> Comment:
    listed = tuple(_in_capitals(code) for code in re.split(r"[,\s]+", codes or "") if code)
    return Comment(Suppression(place, remark, listed, whole_file, codes is None and flake8s), lines, flake8s)


def _in_capitals(code: str) -> str:
    """A code in any case, as flake8 takes it; what is no code, such as a rule's name, as it was written."""
    return code.upper() if re.fullmatch(r"[A-Za-z]+[0-9]*", code) else code


class Outcome(NamedTuple):
    """What is left to report, and which comments silenced nothing."""

    findings: list[Finding]
    unused: list[Suppression]


def apply(text: str, findings: Iterable[Finding], *, noqa: bool, unused: bool) -> Outcome:
    """Drop what comments silence. `noqa` says to honour flake8's comments, `unused` to look for idle ones."""
    kept = list(findings)
    if not (kept or unused) or not may_suppress(text):
        return Outcome(kept, [])
    found = comments(text)
    honoured = [comment for comment in found if noqa or not comment.flake8s]
    silenced = [finding for finding in kept if any(comment.covers(finding) for comment in honoured)]
    idle = [] if not unused else [c.suppression for c in found if _is_idle(c, kept)]
    return Outcome([finding for finding in kept if finding not in silenced], idle)


def _is_idle(comment: Comment, findings: list[Finding]) -> bool:
    """Whether a comment that names our codes, and no other linter's, silences nothing."""
    codes = comment.suppression.codes
    if comment.flake8s and not (codes and all(code.startswith("LAY") for code in codes)):
        return False
    return not any(comment.covers(finding) for finding in findings)


def unused_finding(code: str, suppression: Suppression, text: str) -> Finding:
    """The report on a comment that silences nothing, with the removal as its fix."""
    named = f" of {', '.join(suppression.codes)}" if suppression.codes else ""
    unknown = [prefix for prefix in suppression.codes if not is_known(prefix)]
    if not unknown:
        message = f"unused suppression{named}: nothing here needs it"
    elif len(unknown) == len(suppression.codes):
        message = f"suppression{named}: no such code{_meant(unknown)}"
    else:
        message = (
            f"unused suppression{named}: nothing here needs it, and there is no {' or '.join(unknown)}{_meant(unknown)}"
        )
    return Finding(code, message, suppression.span, fix=_removal(suppression, text))


def _meant(unknown: list[str]) -> str:
    """The codes meant by names of rules."""
    meant = [code for code in map(find_code, unknown) if code is not None]
    return f" (did you mean {', '.join(meant)}?)" if meant else ""


def _removal(suppression: Suppression, text: str) -> Fix | None:
    """Delete the comment, with the blanks before it, when it says nothing else; with a reason it is unsafe."""
    from torchlayout.check.reading import split_lines

    span = suppression.span
    rest, others = _NOQA.subn("", suppression.text)
    rest, ours = _OURS.subn("", rest)
    if others + ours > 1 or (rest.strip(" \t#,") and not rest.lstrip().startswith("--")):
        return None
    line = split_lines(text)[span.line - 1]
    start = len(line[: span.column].rstrip(" \t"))
    if start:
        removed = Span(span.line, start, *span[2:])
    elif line.endswith(("\n", "\r")):
        removed = Span(span.line, 0, span.line + 1, 0)
    else:
        removed = Span(span.line, 0, *span[2:])
    if rest.strip(" \t#,-"):  # what somebody wrote down goes only where that is asked for
        return Fix("Remove the comment and its reason", (Edit(removed, ""),), Safety.UNSAFE)
    return Fix("Remove the comment", (Edit(removed, ""),), Safety.SAFE)
