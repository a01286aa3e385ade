"""What a rule is: one class in one file, with its page, its examples and its check.

Vocabulary: *sink word* (a text that must stand in a file for the rule to have anything to say), *mark* (a trailing
comment `# LAY101` in an example: the finding stands on that line), *near miss* (code that looks like the pattern and
must be left alone).

The modules of rules are imported in every run of flake8, for their sink words; what a check needs (sizes, layouts)
they import when they check.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

if TYPE_CHECKING:
    from torchlayout.rules.finding import Finding
    from torchlayout.rules.seen import Seen

STABLE, PREVIEW = "stable", "preview"
"""Whether what a rule reports may still change from one minor release to the next."""

REVEAL = "reveal_layout"


class Example(NamedTuple):
    """A small program that runs on torch as it is.

    `source` carries marks. `fixed` are replacements (old, new) that turn the source, marks left out, into what its
    fixes make of it; None where there is no fix. `note` says what is to be seen. `needs` names what must be there for
    torch to show it ("cuda"); elsewhere only the linter is tested.
    """

    source: str
    fixed: Sequence[tuple[str, str]] | None = None
    note: str = ""
    needs: str | None = None


class Options(NamedTuple):
    """What users say of their own code.

    `need_contiguous` names functions, by dotted path or bare method name, and the arguments in which they refuse a
    non-contiguous tensor: names, positions from 0, or "*" for all.
    """

    need_contiguous: Mapping[str, tuple[int | str, ...]] = {}

    @classmethod
    def of(cls, need_contiguous: Sequence[tuple[str, Sequence[str]]] = ()) -> Options:
        """From the setting of that name, in which positions are digits."""
        return cls({path: tuple(int(a) if a.isdigit() else a for a in named) for path, named in need_contiguous})


class Rule:
    """One code. The class docstring is the rule's page.

    The page has the headings of `HEADINGS` in their order; "Fix safety" stands exactly where a fix is offered.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    """The pattern that is reported, in words joined by hyphens."""
    status: ClassVar[str] = STABLE
    words: ClassVar[tuple[str, ...]] = ()
    """Sink words, as `program.outline` reads them: a dot in front, only as an attribute; "(" behind, only as a call;
    "word with a b", only in functions that hold a or b too."""
    words_beside: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Sink words that count in files that hold a text, by that text."""
    beside: ClassVar[tuple[str, ...]] = ()
    """Words of which one must stand in the file too, for the sink words to count; none: they always count."""
    source: ClassVar[str] = ""
    """The kind of tensor without which it has nothing to report: a key of `interp.sources.SOURCES`."""
    fixable: ClassVar[bool] = False
    invalid: ClassVar[Sequence[Example]] = ()
    valid: ClassVar[Sequence[Example]] = ()
    near_misses: ClassVar[Sequence[Example]] = ()

    @property
    def docs(self) -> str:
        """The page, Markdown."""
        return type(self).__doc__ or ""

    def check(self, seen: Seen) -> Iterator[Finding]:
        """The findings in one file, in any order."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{self.code} {self.name}>"


HEADINGS = (
    "What it does",
    "Why is this bad?",
    "Example",
    "Use instead",
    "What it cannot see",
    "Fix safety",
    "References",
)
