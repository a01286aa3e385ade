"""The command line: `torchlayout check`, `rule`, `rules`, `explain`, `config` and `ops`."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence

_REFUSED = (errno.EBADF, errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit with its status (`torchlayout.cli.status`)."""
    import traceback

    import click

    from torchlayout.check.links import REPORT_URL
    from torchlayout.cli import status
    from torchlayout.cli.app import app

    if sys.stderr is None:  # closed: nobody is listening
        sys.stderr = open(os.devnull, "w")
    try:
        code = app.main(list(arguments) if arguments is not None else None, "torchlayout", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        status.say("interrupted")
        code = status.INTERRUPTED
    except BrokenPipeError:
        _close_output()  # whoever read it has gone
        code = status.FOUND
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _REFUSED:
            _close_output()
            status.say(f"cannot write the output: {error.strerror}")
            sys.exit(status.FAILED)
        # Status 1 would say "findings"; what happened is our fault, and must not look like a result.
        traceback.print_exc()
        status.say(f"failed; please report this at {REPORT_URL}")
        code = status.FAILED
    sys.exit(code if isinstance(code, int) else status.OK)


def _close_output() -> None:
    """Let what is not yet written of standard output go, now and at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
