"""Sessions for development; `nox -l` tells of each."""

from __future__ import annotations

import os
import re
from pathlib import Path

import nox

nox.options.sessions = ["tests", "lint", "docs"]
nox.options.default_venv_backend = "venv"

PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]
RUNTIME_TESTS = [
    "tests/check",
    "tests/cli",
    "tests/fixing",
    "tests/flake8",
    "tests/meta",
    "tests/program",
    "tests/rules",
]
"""Where the run-time dependencies matter; the other tests compare with torch alone."""


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The test suite with the newest dependencies of each Python."""
    session.install("-c", "constraints.txt", "-e", ".[test]")
    session.run("pytest", *session.posargs)


@nox.session
def oldest(session: nox.Session) -> None:
    """The tests that touch run-time dependencies, with the oldest of each that we declare."""
    session.install("-c", "constraints.txt", "-e", ".[test]")
    session.install(*oldest_requirements(session))
    session.run("pip", "list")
    session.run("pytest", *(session.posargs or [path for path in RUNTIME_TESTS if Path(path).exists()]))


def oldest_requirements(session: nox.Session) -> list[str]:
    """`name==version` for each `name>=version` of the run-time dependencies."""
    project = nox.project.load_toml("pyproject.toml")["project"]
    pinned = []
    for requirement in project["dependencies"]:
        name, version, marker = re.fullmatch(r"([\w-]+)>=([\d.]+)(;.*)?", requirement.replace(" ", "")).groups()
        pinned.append(f"{name}=={version}{marker or ''}")
    session.log("oldest: %s", ", ".join(pinned))
    return pinned


@nox.session
def lint(session: nox.Session) -> None:
    """Style and types."""
    session.install("-c", "constraints.txt", "-e", ".[dev]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation, in which every link must lead somewhere."""
    session.install("-c", "constraints.txt", "-e", ".[docs]")
    session.run("mkdocs", "build", "--strict")


@nox.session
def full(session: nox.Session) -> None:
    """The exhaustive tests that the default run leaves out."""
    session.install("-c", "constraints.txt", "-e", ".[test]")
    session.run("pytest", "-m", "full", *session.posargs)


@nox.session
def mutation(session: nox.Session) -> None:
    """Whether a test of `sizes` or `layouts` fails for each change of their code: docs/reliability.md."""
    session.install("-c", "constraints.txt", "-e", ".[test]")
    session.install("mutmut==3.8.1")
    session.run("python", "scripts/mutation.py", *session.posargs, env={"HYPOTHESIS_PROFILE": "mutation"})


BENCHMARKED = ("torchvision==0.29.1", "timm==1.0.31", "transformers==5.24.0")


@nox.session
def benchmark(session: nox.Session) -> None:
    """What linting costs beside flake8 and TorchFix: docs/performance.md with its curves."""
    folder = Path(session.create_tmp())
    pythons = {}
    for name, packages in {"plain": ["flake8"], "torchfix": ["flake8", "torchfix"]}.items():
        session.run("python", "-m", "venv", str(folder / name))
        pythons[name] = str(folder / name / ("Scripts" if os.name == "nt" else "bin") / "python")
        session.run(pythons[name], "-m", "pip", "install", "--quiet", *packages, external=True)
    session.install("-c", "constraints.txt", ".")
    sources = str(folder / "sources")
    session.run("pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", sources, *BENCHMARKED)
    names = [requirement.partition("==")[0] for requirement in BENCHMARKED]
    session.run(
        "python",
        "benchmarks/cost.py",
        *("--plain", pythons["plain"], "--torchfix", pythons["torchfix"], "--write", *session.posargs),
        *(f"{name}={sources}/{name}" for name in names),
    )
