"""The flake8 plugin: an adapter of `torchlayout.check.engine`.

flake8 imports this module at every start, so it imports next to nothing; the analysis comes with the first
file that mentions torch. What flake8 decides by itself (select, ignore, per-file-ignores, exclude, `# noqa`) is
left to flake8, and asked of it beforehand, so that rules it would drop are never run. Results are kept between runs
as those of `torchlayout check` are.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from torchlayout import __version__
from torchlayout.check.gate import mentions_framework
from torchlayout.check.settings import DEFAULT_SELECT, OPTIONS, Settings

if TYPE_CHECKING:
    from torchlayout.check.cache import Cache
    from torchlayout.check.results import FileResult

OFF_BY_DEFAULT = "LAY4"


class Plugin:
    """What flake8 makes for each file: from its tree, its lines and its name, the findings."""

    name = "torchlayout"
    version = __version__

    _settings = Settings()
    _options: argparse.Namespace | None = None
    _flake8_shows: Callable[[str], bool] | None = None
    _cache: Cache | None = None
    _keeps = False
    """Whether results are kept: in flake8's runs over files, not where an editor hands over what is being typed."""

    def __init__(self, tree: ast.Module, lines: Sequence[str], filename: str) -> None:
        self._tree = tree
        self._lines = lines
        self._filename = filename

    def run(self) -> Iterator[tuple[int, int, str, type[Plugin]]]:
        """The findings as flake8 wants them: line from 1, column from 0, code and message in one."""
        text = "".join(self._lines)
        if not (mentions_framework(text) or self._settings.report_unused_suppressions):
            return
        from torchlayout.check.engine import analyze

        keeper = self._kept if self._keeps else None
        result = analyze(
            text, self._filename, self._settings, tree=self._tree, shown=self._shown(), noqa=False, keeper=keeper
        )
        for finding in result.findings:
            yield finding.span.line, finding.span.column, f"{finding.code} {finding.message}", type(self)

    def _kept(self, text: str, codes: frozenset[str], work: Callable[[], FileResult]) -> FileResult:
        """The result of an earlier run, or that of `work`. The first file that must be analysed opens the cache."""
        from torchlayout.check import cache

        if Plugin._cache is None:
            Plugin._cache = cache.opened(self._settings)
        if Plugin._cache is None:
            return work()
        conditions = cache.conditions(self._settings, self._filename, codes, noqa=False)
        return Plugin._cache.result(text.encode("utf-8", "surrogatepass"), self._filename, conditions, work)

    @classmethod
    def _shown(cls) -> Callable[[str], bool] | None:
        """Whether flake8 selects a code, by flake8's own decision."""
        if cls._flake8_shows is None and cls._options is not None:
            from flake8.style_guide import Decision, DecisionEngine

            engine = DecisionEngine(cls._options)
            cls._flake8_shows = lambda code: engine.decision_for(code) is Decision.Selected
        return cls._flake8_shows

    @classmethod
    def add_options(cls, manager: Any) -> None:
        """Offer the settings that flake8 does not have under a name of its own."""
        manager.extend_default_ignore([OFF_BY_DEFAULT])
        for option in OPTIONS:
            if option.flake8:
                # Read as text here and checked in parse_options, where a mistake can name its file and line.
                switch = not option.kind.metavar
                takes: dict[str, Any] = {"action": "store_true"} if switch else {"metavar": option.kind.metavar}
                text = option.help.replace("%", "%%")
                manager.add_option(option.flake8_flag, parse_from_config=True, default=None, help=text, **takes)
                if switch:
                    off = {"action": "store_false", "dest": option.flake8_dest, "default": None}
                    manager.add_option(option.flake8_flag_off, help=f"The opposite of {option.flake8_flag}.", **off)

    @classmethod
    def parse_options(cls, manager: Any, options: argparse.Namespace, args: Any) -> None:
        """Settings from `[tool.torchlayout]`, then from flake8's options; a mistake ends the run with status 2."""
        from torchlayout.check import analysis, config, flake8_config

        analysis.own_process()

        try:
            arguments = flake8_config.command_line()
            places = flake8_config.places_in(files_of(options, arguments))
            flake8_config.refuse_unknown(places)
            configuration = config.load(config.start_folder(options.filenames or args or ()))
            given = {
                option.name: value
                for option in OPTIONS
                if option.flake8 and (value := getattr(options, option.flake8_dest, None)) is not None
            }
            configuration = flake8_config.with_options(configuration, given, flake8_config.not_given(places, arguments))
        except config.ConfigError as error:
            manager.parser.exit(2, f"{error}\n")
        cls._options, cls._flake8_shows = options, None
        cls._settings = cls._for_flake8(configuration.settings, options)
        cls._cache, cls._keeps = None, cls._settings.cache and "-" not in (options.filenames or ())

    @staticmethod
    def _for_flake8(settings: Settings, options: argparse.Namespace) -> Settings:
        """Our own selection, made to agree with flake8's: neither may silence what the other was told to show."""
        from dataclasses import replace

        settings = replace(settings, follow_imports=False)
        asked = settings.extend_select
        if settings.select == DEFAULT_SELECT:
            settings = replace(settings, select=("LAY",))
        else:
            asked += settings.select
        advice = [max(code, OFF_BY_DEFAULT, key=len) for code in asked if _overlaps(code, OFF_BY_DEFAULT)]
        if advice and options.select is None:
            options.extend_select = [*(options.extend_select or ()), *advice]
        return settings


def files_of(options: argparse.Namespace, arguments: Sequence[str]) -> list[str]:
    """The files that flake8's options come from, with these arguments on its command line."""
    from flake8.main.options import stage1_arg_parser
    from flake8.options.config import load_config

    from torchlayout.check import flake8_config

    first, _ = stage1_arg_parser().parse_known_args(list(arguments))
    _, folder = load_config(first.config, [], isolated=first.isolated)
    return flake8_config.files_of(options, first, folder)


def _overlaps(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
