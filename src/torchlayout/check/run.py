"""Many files: found, read, checked (in several processes where asked), results in the order of discovery."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from torchlayout.check.cache import Cache, conditions
from torchlayout.check.engine import analyze
from torchlayout.check.files import Found, discover
from torchlayout.check.reading import UnreadableSource, decode
from torchlayout.check.results import FileError, FileResult
from torchlayout.check.selection import codes_for
from torchlayout.check.settings import Settings

Reader = Callable[[bytes], str]
"""Makes Python text of the bytes of a file of another kind, or raises UnreadableSource. A module's function:
it travels to worker processes by name."""

CHUNK = 8
"""Files that travel to a worker at once."""

AHEAD = 4
"""Chunks waiting for each worker: enough to keep it busy, few enough that results come early."""

WORTH_A_PROCESS = 16
"""Files for each further process to pay for its start."""


def check_paths(
    paths: Sequence[str],
    settings: Settings,
    jobs: int = 1,
    cache: Cache | None = None,
    readers: Mapping[str, Reader] | None = None,
    counted: Callable[[int], object] | None = None,
) -> Iterator[FileResult]:
    """Check the files under `paths`; one result for each file, and for each path that cannot be read.

    The results and their order do not depend on `jobs` (0 for as many as there are cores) or on the cache.
    `readers` says by ending (".ipynb") how files that are not plain Python become text; of the endings that a
    walk looks for, those without a reader are left out. `counted` is told how many results there will be, before
    the first comes.
    """
    readers = dict(readers or {})
    work = partial(_check_found, settings=settings, cache=cache, readers=readers)
    found = [item for item in discover(paths, settings) if _readable(item, readers)]
    if counted is not None:
        counted(len(found))
    workers = min(jobs or _cores(), max(1, len(found) // WORTH_A_PROCESS))
    if workers <= 1:
        yield from map(work, found)
    else:
        yield from _in_processes(work, found, workers)


def check_file(
    path: str, settings: Settings, cache: Cache | None = None, readers: Mapping[str, Reader] | None = None
) -> FileResult:
    """Check one file."""
    return _check_found(Found(path, named=True), settings=settings, cache=cache, readers=dict(readers or {}))


def _readable(item: Found | FileResult, readers: Mapping[str, Reader]) -> bool:
    if isinstance(item, FileResult) or item.named:
        return True
    suffix = os.path.splitext(item.path)[1]
    return suffix == ".py" or suffix in readers


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _check_found(
    item: Found | FileResult, *, settings: Settings, cache: Cache | None, readers: Mapping[str, Reader]
) -> FileResult:
    if isinstance(item, FileResult):
        return item
    path = item.path
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        return FileResult(path, error=FileError(f"cannot read the file: {error.strerror or error}"))
    reader = readers.get(os.path.splitext(path)[1], _as_python)
    work = partial(_check_data, data, path, settings, reader)
    if cache is None:
        result = work()
    else:
        result = cache.result(data, path, conditions(settings, path, codes_for(settings, path)), work)
    if not result.findings:
        return replace(result, source=None)
    return result if result.source is not None else replace(result, source=reader(data))


def _check_data(data: bytes, path: str, settings: Settings, reader: Reader) -> FileResult:
    try:
        text = reader(data)
    except UnreadableSource as unreadable:
        return FileResult(path, error=unreadable.error)
    return analyze(text, path, settings, always_parse=True)


def _as_python(data: bytes) -> str:
    return decode(data).text


def _in_processes(
    work: Callable[[Found | FileResult], FileResult], found: list[Found | FileResult], workers: int
) -> Iterator[FileResult]:
    """The results of `work`, in order, from several processes; a process that dies costs one file."""
    from concurrent.futures import Future, ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    chunks = deque(found[start : start + CHUNK] for start in range(0, len(found), CHUNK))
    waiting: deque[tuple[list[Found | FileResult], Future[list[FileResult]]]] = deque()
    pool = ProcessPoolExecutor(workers, initializer=_leave_interrupts)
    try:
        while chunks or waiting:
            while chunks and len(waiting) < workers * AHEAD:
                chunk = chunks.popleft()
                waiting.append((chunk, pool.submit(_each, work, chunk)))
            chunk, future = waiting.popleft()
            try:
                yield from future.result()
            except BrokenProcessPool:
                yield from _one_by_one(work, chunk)
                # The others were lost with the pool, and go again through a new one.
                chunks.extendleft(other for other, _ in reversed(waiting))
                waiting.clear()
                pool.shutdown(cancel_futures=True)
                pool = ProcessPoolExecutor(workers, initializer=_leave_interrupts)
    finally:
        # Nobody waits for what was given up; but a pool that is left to itself may complain as Python ends.
        pool.shutdown(wait=not (chunks or waiting), cancel_futures=True)


def _leave_interrupts() -> None:
    """Ctrl-C is for the main process, which ends the others."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _each(work: Callable[[Found | FileResult], FileResult], chunk: list[Found | FileResult]) -> list[FileResult]:
    return [work(item) for item in chunk]


def _one_by_one(
    work: Callable[[Found | FileResult], FileResult], chunk: list[Found | FileResult]
) -> Iterator[FileResult]:
    """Each file in a process of its own, to find the one that ends it."""
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    for item in chunk:
        with ProcessPoolExecutor(1) as alone:
            try:
                yield alone.submit(work, item).result()
            except BrokenProcessPool:
                yield FileResult(item.path, error=FileError("the process that checked this file died"))
