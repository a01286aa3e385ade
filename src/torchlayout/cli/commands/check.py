"""`torchlayout check`: findings in files, folders, notebooks or standard input."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from torchlayout.check.cache import opened
from torchlayout.check.config import candidates, start_folder
from torchlayout.check.run import check_paths
from torchlayout.check.settings import Settings
from torchlayout.cli import formats, status
from torchlayout.cli.mending import Mender, with_notebook
from torchlayout.cli.options import configuration, settings_options
from torchlayout.cli.output import Out, standard_output, write_bytes
from torchlayout.cli.progress import progress
from torchlayout.cli.report import STDIN, Report
from torchlayout.cli.sources import READERS
from torchlayout.cli.status import Mistake
from torchlayout.cli.tally import Tally, print_statistics
from torchlayout.rules.finding import Safety


@click.command(short_help="Report findings, and fix them.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option("--stdin-filename", metavar="PATH", help="The name of what comes on standard input (with `-`).")
@click.option(
    "--output-format", type=click.Choice(formats.names()), default=formats.DEFAULT, show_default=True,
    help="How to print findings.",
)  # fmt: skip
@click.option("--output-file", "-o", metavar="FILE", help="Print findings to a file instead of standard output.")
@click.option("--fix", is_flag=True, help="Apply safe fixes.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: also fixes that may change what code does.")
@click.option("--diff", is_flag=True, help="Print what --fix would change, and change nothing.")
@click.option("--statistics", is_flag=True, help="Print how many findings each rule has, not the findings.")
@click.option("--exit-zero", is_flag=True, help="Exit with status 0 also when there are findings.")
@click.option("--quiet", "-q", is_flag=True, help="Print findings and errors only.")
@click.option(
    "--verbose", "-v", is_flag=True, help="Tell what was checked, in what time, and where the analysis gave up."
)
@click.option("--watch", "-w", is_flag=True, help="Check again whenever a file changes, until interrupted.")
@click.option("--jobs", "-j", type=click.IntRange(0), default=0, help="Processes to use; 0 for one a core (default).")
@settings_options
def command(paths: tuple[str, ...], **given: Any) -> int:
    """Report what is wrong with the memory layout of tensors in PATHS (default: the current folder).

    PATHS are files, folders and notebooks; `-` is standard input. Exit status: 0 no findings, 1 findings, 2 a mistake
    in options or settings, or a file that could not be checked (all others still are).
    """
    paths = paths or (os.curdir,)
    _refuse_contradictions(paths, given)
    if given["watch"]:
        return _watch(paths, given)
    return run(paths, given)


def _refuse_contradictions(paths: tuple[str, ...], given: dict[str, Any]) -> None:
    if STDIN in paths and len(paths) > 1:
        raise Mistake("`-` (standard input) cannot be combined with other paths")
    if given["stdin_filename"] and paths != (STDIN,):
        raise Mistake("--stdin-filename needs `-` as the only path")
    if given["fix"] and given["diff"]:
        raise Mistake("--fix and --diff exclude each other: --diff writes nothing")
    if given["unsafe_fixes"] and not (given["fix"] or given["diff"]):
        raise Mistake("--unsafe-fixes needs --fix or --diff")
    if given["watch"] and (STDIN in paths or given["fix"] or given["diff"]):
        raise Mistake("--watch excludes standard input, --fix and --diff")


def run(paths: tuple[str, ...], given: dict[str, Any]) -> int:
    """Check once; the exit status."""
    from torchlayout.cli import stdin

    settings = configuration(_config_paths(paths, given), given).settings
    limit = Safety.UNSAFE if given["unsafe_fixes"] else Safety.SAFE
    mender = Mender(settings, limit) if given["fix"] or given["diff"] else None
    tally = Tally(given["quiet"], given["verbose"])
    if paths == (STDIN,):
        reports = stdin.reports(settings, given["stdin_filename"], mender, diff=given["diff"])
    else:
        reports = _reports(paths, settings, given, mender)
    if mender is not None and given["diff"]:
        for _ in tally.watch(reports):
            pass  # the diffs are written on the way
        return tally.finish_diff(mender, exit_zero=given["exit_zero"])
    with _out(given, to_stderr=mender is not None and paths == (STDIN,)) as out:
        _print(tally.watch(reports), given, out)
    return tally.finish(mender, exit_zero=given["exit_zero"])


def _config_paths(paths: tuple[str, ...], given: dict[str, Any]) -> tuple[str, ...]:
    return (given["stdin_filename"],) if given["stdin_filename"] else paths


def _reports(
    paths: tuple[str, ...], settings: Settings, given: dict[str, Any], mender: Mender | None
) -> Iterator[Report]:
    totals: list[int] = []
    results = check_paths(paths, settings, given["jobs"], opened(settings), READERS, totals.append)
    reports = map(with_notebook, progress(results, "files", lambda: totals[0], wanted=not given["quiet"]))
    if mender is None:
        return reports
    return mender.as_diffs(reports, write_bytes) if given["diff"] else mender.on_disk(reports)


def _print(reports: Iterable[Report], given: dict[str, Any], out: Out) -> None:
    if given["statistics"]:
        print_statistics(reports, out, as_json=given["output_format"].startswith("json"))
    else:
        formats.renderer(given["output_format"])(reports, out)


@contextmanager
def _out(given: dict[str, Any], *, to_stderr: bool) -> Iterator[Out]:
    path = given["output_file"]
    if path is None:
        yield Out(sys.stderr if to_stderr else standard_output())
        return
    try:
        with open(path, "w", encoding="utf-8") as stream:
            yield Out(stream, colours=False)
    except OSError as error:
        raise Mistake(f"cannot write {path}: {error.strerror or error}") from None


def _settings_files(paths: tuple[str, ...], given: dict[str, Any]) -> list[str]:
    """The files that may hold the settings, whether they exist yet or not."""
    if given["isolated"]:
        return []
    return [given["config_file"]] if given["config_file"] else list(candidates(start_folder(paths)))


def _watch(paths: tuple[str, ...], given: dict[str, Any]) -> int:
    from torchlayout.check.files import SUFFIXES
    from torchlayout.cli.watch import changes

    waiting = changes([*paths, *_settings_files(paths, given)], SUFFIXES)
    while True:
        if Out(standard_output()).colours:
            click.clear()
        try:
            run(paths, given)
        except Mistake as mistake:  # such as one in the settings, which may be mended while we watch
            mistake.show()
        status.say(f"{time.strftime('%H:%M:%S')} waiting for changes (Ctrl-C ends)")
        next(waiting)
