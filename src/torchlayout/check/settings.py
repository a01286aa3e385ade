"""The settings, declared once.

Each field of `Settings` says its kind, default and help; the keys of `[tool.torchlayout]`, flake8's
`--torchlayout-…` options and the command line's options are all derived from `OPTIONS`. To add a setting,
add a field.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from torchlayout.check.kinds import Choice, Codes, Flag, Folder, Kind, Sizes, Strings, Table, Version, Words

DEFAULT_SELECT = ("LAY1", "LAY2", "LAY3", "LAY9")

DEFAULT_EXCLUDE = (
    ".bzr", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pytest_cache", ".ruff_cache", ".svn",
    ".tox", ".venv", "__pycache__", "node_modules", "site-packages", "venv",
)  # fmt: skip


class Option(NamedTuple):
    """One setting: `name` is the attribute of `Settings`, `key` and `flag` its spellings outside."""

    name: str
    kind: Kind
    default: Any
    help: str
    flake8: bool
    """Whether flake8 offers it too; what flake8 already has under that name (select, exclude, ...) it does not."""
    analysis: bool
    """Whether it reaches the interpreter: what the analysis itself may assume."""

    @property
    def key(self) -> str:
        """The key in TOML: `target-torch-version`."""
        return self.name.replace("_", "-")

    @property
    def flag(self) -> str:
        """The option of the command line: `--target-torch-version`."""
        return f"--{self.key}"

    @property
    def flake8_flag(self) -> str:
        """The option of flake8, and without its dashes the key in setup.cfg, tox.ini and .flake8."""
        return f"--torchlayout-{self.key}"

    @property
    def flake8_flag_off(self) -> str:
        """Where it is a switch, the option of flake8's command line that turns it off."""
        return f"--torchlayout-no-{self.key}"

    @property
    def flake8_dest(self) -> str:
        """The attribute of flake8's options."""
        return f"torchlayout_{self.name}"


def _setting(kind: Kind, default: Any, help: str, *, flake8: bool = False, analysis: bool = False) -> Any:
    return field(default=default, metadata={"kind": kind, "help": help, "flake8": flake8, "analysis": analysis})


@dataclass(frozen=True)
class Settings:
    """What to report, where, and what to assume. Immutable, hashable and picklable."""

    select: tuple[str, ...] = _setting(
        Codes(),
        DEFAULT_SELECT,
        "Codes, or prefixes of codes, to report. The longest prefix decides between this and `ignore`.",
    )
    extend_select: tuple[str, ...] = _setting(
        Codes(), (), "Codes to report besides those of `select`, such as the advice of LAY4."
    )
    ignore: tuple[str, ...] = _setting(Codes(), (), "Codes, or prefixes of codes, not to report.")
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = _setting(
        Table(Codes(), metavar="PATTERN:CODES"),
        (),
        "Codes not to report in files that match a pattern (written as in .gitignore, relative to the settings' file).",
    )
    exclude: tuple[str, ...] = _setting(
        Strings("PATTERNS"),
        DEFAULT_EXCLUDE,
        "Files and folders not to look at, as patterns of .gitignore relative to the settings' file.",
    )
    extend_exclude: tuple[str, ...] = _setting(
        Strings("PATTERNS"), (), "Files and folders not to look at, besides those of `exclude`."
    )
    force_exclude: bool = _setting(
        Flag(), False, "Whether exclusion also holds for files that are named on the command line (for pre-commit)."
    )
    respect_gitignore: bool = _setting(Flag(), True, "Whether to leave out what .gitignore files leave out.")
    target_torch_version: str | None = _setting(
        Version(),
        None,
        "The oldest release of torch the code runs on; operators are taken as they behave from there on.",
        flake8=True,
        analysis=True,
    )
    device: str | None = _setting(
        Choice("cpu", "cuda"),
        None,
        "Where tensors are taken to live when the source does not say. Unset, what holds on both is reported.",
        flake8=True,
        analysis=True,
    )
    known_returns: tuple[tuple[str, tuple[str, ...]], ...] = _setting(
        Table(
            Words("contiguous", "non-contiguous", "channels-last"),
            metavar="FUNCTION:LAYOUT",
            single=True,
        ),
        (),
        "Functions (dotted names, or bare names of methods) and the layout of what they return: contiguous, "
        "non-contiguous or channels-last.",
        flake8=True,
        analysis=True,
    )
    need_contiguous: tuple[tuple[str, tuple[str, ...]], ...] = _setting(
        Table(Strings("ARGUMENTS"), metavar="FUNCTION:ARGUMENTS"),
        (),
        "Functions that refuse a non-contiguous tensor (LAY106), and in which arguments: names, positions from 0, "
        "or * for all.",
        flake8=True,
        analysis=True,
    )
    assume_sizes: tuple[tuple[str, tuple[str, ...]], ...] = _setting(
        Table(Sizes("SIZE"), metavar="NAME:SIZE", single=True),
        (),
        "What is known of sizes by name: a number, or a bound such as >1.",
        flake8=True,
        analysis=True,
    )
    follow_imports: bool = _setting(
        Flag(),
        True,
        "Whether the command line looks into other files of the same package for what is imported from them. "
        "flake8 always looks at one file at a time.",
        analysis=True,
    )
    report_unused_suppressions: bool = _setting(
        Flag(), False, "Report (LAY902) comments that suppress nothing.", flake8=True
    )
    cache: bool = _setting(
        Flag(), True, "Whether to keep results between runs, and to use those that were kept.", flake8=True
    )
    cache_dir: str | None = _setting(
        Folder(),
        None,
        "Where results are kept between runs. Unset, .torchlayout_cache beside the settings' file.",
        flake8=True,
    )
    root: str | None = field(default=None, repr=False)
    """The folder that patterns are relative to: that of the settings' file, or the current one."""


OPTIONS: tuple[Option, ...] = tuple(
    Option(
        entry.name, entry.metadata["kind"], entry.default, **{k: v for k, v in entry.metadata.items() if k != "kind"}
    )
    for entry in fields(Settings)
    if entry.metadata
)
"""Every setting, in the order of the documentation."""

BY_KEY = {option.key: option for option in OPTIONS}
