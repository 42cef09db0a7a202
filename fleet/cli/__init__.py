"""The ``gpu-fleet`` command: what kubectl printed goes in, tables, JSON or CSV come out.

Exit codes: 0 all well; 3 something could not be placed or a check failed; 2 bad input, with one
line on standard error that names the file and the place.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from fleet.cli.arguments import Options, parse
from fleet.cli.sources import BadInput
from fleet.cli.terminal import escaped

BAD_INPUT = 2
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code. ``argv`` defaults to the process's arguments."""
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal's encoding lacks is written as an escape, not as a traceback.
        with contextlib.suppress(AttributeError, ValueError):
            # Typed as any text stream; the standard ones can be reconfigured.
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    options = parse(argv)
    try:
        code = _runner(options.command)(options)
        sys.stdout.flush()
    except BadInput as error:
        print(f"gpu-fleet: {escaped(str(error))}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        # The reader has seen enough (`| head`). Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _runner(command: str) -> Callable[[Options], int]:
    """The command's ``run``. Only its own module is loaded: the solver behind ``plan`` takes
    longer to load than an inventory takes to read."""
    run: Callable[[Options], int] = import_module(f"fleet.cli.{command}_command").run
    return run
