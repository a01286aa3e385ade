"""Linting runs nothing of the linted project, imports nothing from it, follows no link out of the paths that were
given, reads nothing else of the machine, and needs no network.

Python's audit hooks tell of every file that is opened, module that is imported, code that is run, process that is
started and socket that is made.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

WATCH = """
import json, os, sys
seen = {"open": set(), "import": set(), "exec": set(), "network": set(), "process": set(), "write": set()}
def hook(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        path = os.path.abspath(os.fsdecode(arguments[0]))
        seen["open"].add(path)
        if isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
            seen["write"].add(path)
    elif event in ("os.listdir", "os.scandir") and isinstance(arguments[0], str):
        seen["open"].add(os.path.abspath(arguments[0]))
    elif event == "import":
        seen["import"].add(arguments[0])
    elif event == "exec":
        name = getattr(arguments[0], "co_filename", "?")
        seen["exec"].add(name if name.startswith("<") else os.path.abspath(name))
    elif event.startswith("socket.") and event not in ("socket.gethostname",):
        seen["network"].add(event)
    elif event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork"):
        seen["process"].add(event)
    elif event in ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "shutil.rmtree"):
        seen["write"].add(str(arguments[0]))
"""

TELL = """
sys.stdout.flush()
print("\\n" + json.dumps({kind: sorted(map(str, what)) for kind, what in seen.items()}))
"""

HARMFUL = """import pathlib
pathlib.Path(__file__ + ".trace").write_text("this code was run")
import torch
from helper import pack, SIZE
from linked import away
from . import sibling
from outside import gone

class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        y = away(pack(x)).transpose(1, 2).contiguous()
        return y.view(SIZE)

b = torch.randn(2, 3).t().view(6)
c = torch.randn(2, 3).contiguous()
"""

RUN = """
from torchlayout.cli import main
try:
    main({arguments})
except SystemExit as stop:
    assert stop.code == 1, stop.code
"""

CHECK = RUN.format(arguments=["check", "--no-cache", "."])

FRONT_ENDS = {
    "engine": "import torchlayout\nassert torchlayout.check(open('harmful.py').read(), 'harmful.py')\n",
    "flake8": (  # which follows links to files by itself
        "from flake8.main.cli import main\n"
        "options = ['-j1', '--isolated', '--select=LAY1', '--torchlayout-no-cache']\n"
        "assert main([*options, 'harmful.py', 'sibling.py']) == 1\n"
    ),
    "check": CHECK,
    "diff": RUN.format(arguments=["check", "--diff", "--no-cache", "."]),
    "statistics": RUN.format(arguments=["check", "--statistics", "--no-cache", "."]),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose every file leaves a trace when it is run, beside files that are not its own."""
    outside, inside = tmp_path / "outside", tmp_path / "project"
    outside.mkdir()
    (outside / "secret.py").write_text(HARMFUL + "\nLAY = 'secret'\n")
    (outside / "folder").mkdir()
    (outside / "folder" / "deep.py").write_text(HARMFUL)
    inside.mkdir()
    for name in (
        "harmful.py",
        "helper.py",
        "sibling.py",
        "conftest.py",
        "setup.py",
        "sitecustomize.py",
        "torch.py",
        "__init__.py",
    ):
        (inside / name).write_text(HARMFUL)
    (inside / "helper.py").write_text(HARMFUL + "\nSIZE = 6\ndef pack(x):\n    return x.t()\n")
    try:
        (inside / "linked.py").symlink_to(outside / "secret.py")
        (inside / "linked_folder").symlink_to(outside / "folder", target_is_directory=True)
        (inside / "circle").symlink_to(inside, target_is_directory=True)
    except OSError:
        pytest.skip("no links here")
    return inside


def watched(body: str, folder: Path) -> Mapping[str, list[str]]:
    code = WATCH + "sys.addaudithook(hook)\n" + body + TELL
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["PYTHONSAFEPATH"] = environment["PYTHONDONTWRITEBYTECODE"] = "1"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told: Mapping[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return told


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_nothing_is_run_imported_or_followed(project: Path, front_end: str) -> None:
    seen = watched(FRONT_ENDS[front_end], project)
    assert str(project / "harmful.py") in seen["open"]
    outside = str(project.parent / "outside")
    assert [path for path in seen["open"] if path.startswith(outside) or "linked" in path or "circle" in path] == []
    assert [path for path in seen["exec"] if path.startswith(str(project.parent))] == []
    assert {"torch", "numpy", "helper", "sibling", "linked", "outside", "harmful"}.isdisjoint(seen["import"])
    assert seen["network"] == seen["process"] == []
    written = [path for path in seen["write"] if not path.startswith(os.devnull)]
    assert written == []
    assert sorted(project.parent.rglob("*.trace")) == []


def test_what_is_read_is_the_project_and_the_linter(project: Path) -> None:
    """Settings are looked for upwards, and `.gitignore`; nothing else outside of the paths is opened."""
    seen = watched(CHECK, project)
    own = {sys.prefix, sys.base_prefix, str(Path(__file__).parents[2])}
    above = {
        str(folder / name)
        for folder in project.parents
        for name in ("pyproject.toml", "torchlayout.toml", ".gitignore")
    }
    system = ("/dev", "/proc", "/etc", "/usr", "/sys")
    strange = [
        path
        for path in seen["open"]
        if not path.startswith((str(project), *own, *system)) and path not in above and not Path(path).is_dir()
    ]
    assert strange == []


def test_several_processes_run_nothing_either(project: Path) -> None:
    for number in range(40):
        (project / f"more{number}.py").write_text(HARMFUL)
    body = RUN.format(arguments=["check", "--no-cache", "--jobs", "2", "."])
    seen = watched(body, project)
    assert [event for event in seen["network"] if event in ("socket.connect", "socket.getaddrinfo")] == []
    assert sorted(project.parent.rglob("*.trace")) == []


KEEPING = {
    "flake8": FRONT_ENDS["flake8"].replace(", '--torchlayout-no-cache'", ""),
    "check": CHECK.replace("'--no-cache', ", ""),
}


@pytest.mark.parametrize("front_end", KEEPING)
def test_what_is_kept_stays_in_the_cache(project: Path, front_end: str) -> None:
    for _ in range(2):
        seen = watched(KEEPING[front_end], project)
        written = [path for path in seen["write"] if not path.startswith(os.devnull)]
        assert [path for path in written if not path.startswith(str(project / ".torchlayout_cache"))] == []
        assert [path for path in seen["exec"] if path.startswith(str(project.parent))] == []
    assert written == []  # the second run found all that it needed
    assert list((project / ".torchlayout_cache").glob("*/*/*"))


def test_a_named_link_is_checked(project: Path) -> None:
    """Who names a link asks for what it points to."""
    seen = watched(RUN.format(arguments=["check", "--no-cache", "linked.py"]), project)
    assert str(project / "linked.py") in seen["open"]


def test_the_watch_would_notice(project: Path) -> None:
    body = (
        "import socket, subprocess\nsys.path.insert(0, os.getcwd())\n"
        "try:\n    import harmful\nexcept ImportError:\n    pass\n"
        "open('linked.py').close()\nsocket.socket().close()\nsubprocess.run([sys.executable, '-c', ''])\n"
    )
    seen = watched(body, project)
    assert "harmful" in seen["import"] and str(project / "harmful.py") in seen["exec"]
    assert str(project / "linked.py") in seen["open"] and seen["network"] and seen["process"]
    assert str(project / "harmful.py.trace") in seen["write"]
    assert sorted(project.rglob("*.trace")) != []
