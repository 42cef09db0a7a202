"""Starting real processes in tests, each in a process group of its own, and ending them surely."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def free_port() -> int:
    """A port of this machine that nothing listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(
    what: str, condition: Callable[[], bool], *, timeout_s: float = 60, every_s: float = 0.1
) -> None:
    """Poll until ``condition`` holds; fails with ``what`` when the time is over."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(every_s)
    raise AssertionError(f"not within {timeout_s} s: {what}")


class Process:
    """A child with its own group; its output goes to a file that a failure can show."""

    def __init__(self, name: str, command: list[str], env: Mapping[str, str], folder: Path) -> None:
        self.log = folder / f"{name}-{time.monotonic_ns()}.log"
        with self.log.open("wb") as output:
            self._child = subprocess.Popen(
                command,
                cwd=ROOT,
                env={**os.environ, **env, "PYTHONUNBUFFERED": "1"},
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._child.pid

    def is_alive(self) -> bool:
        return self._child.poll() is None

    def output(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def signal_group(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child.pid, number)

    def wait(self, timeout_s: float) -> int:
        """The exit code, once the child ends by itself."""
        return self._child.wait(timeout=timeout_s)

    def kill(self) -> None:
        """kill -9 of the whole group: nothing gets a chance to tidy up."""
        self.signal_group(signal.SIGKILL)
        self._child.wait(timeout=20)

    def end(self, timeout_s: float = 10) -> int:
        """Ask the group to end, kill what stays; the exit code of the child."""
        if self.is_alive():
            self.signal_group(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(timeout=timeout_s)
        self.signal_group(signal.SIGKILL)
        return self._child.wait(timeout=20)


def manage(*arguments: str) -> list[str]:
    """The command line of a manage.py verb in this environment."""
    return [sys.executable, str(ROOT / "manage.py"), *arguments]


def celery(*arguments: str) -> list[str]:
    """The command line of a Celery verb of the planner's application."""
    return [sys.executable, "-m", "celery", "-A", "planner", *arguments]
