"""The command line: `torchlayout check`, `rule`, `rules`, `explain`, `config` and `ops`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit with its status (`torchlayout.cli.status`)."""
    import traceback

    import click

    from torchlayout.check.links import REPORT_URL
    from torchlayout.cli import status
    from torchlayout.cli.app import app

    try:
        code = app.main(list(arguments) if arguments is not None else None, "torchlayout", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        status.say("interrupted")
        code = status.INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone. Nothing is left to tell, neither now nor at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = status.FOUND
    except Exception:
        # Status 1 would say "findings"; what happened is our fault, and must not look like a result.
        traceback.print_exc()
        status.say(f"failed; please report this at {REPORT_URL}")
        code = status.FAILED
    sys.exit(code if isinstance(code, int) else status.OK)
