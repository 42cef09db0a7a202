"""Web and job loop as two children that live and die with this process."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

from django.conf import settings

HOST = "127.0.0.1"
STOP_S = 5.0


class PortInUse(Exception):
    """Another program listens at the wanted port."""


def require_free(port: int) -> None:
    """Raises ``PortInUse`` when something listens at ``port`` of this machine."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise PortInUse(
                f"Port {port} of {HOST} is in use. Stop what listens there, or choose another: "
                f"make demo HOST_PORT={port + 1}"
            ) from error


class Children:
    """The web process and the job loop, in this process group: Ctrl-C reaches all of them."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._children: list[subprocess.Popen[bytes]] = []
        self._stopping = threading.Event()

    def start(self) -> None:
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        manage = str(settings.BASE_DIR / "manage.py")
        commands = (
            [
                sys.executable,
                "-m",
                "gunicorn",
                "planner.wsgi",
                f"--bind={HOST}:{self.port}",
                "--worker-class=gthread",
                "--threads=8",
                "--timeout=300",
                "--graceful-timeout=3",
                "--log-level=warning",
            ],
            [sys.executable, manage, "runjobs"],
        )
        for command in commands:
            # S603: the commands stand above, with no word from outside but a port number.
            child = subprocess.Popen(command, cwd=settings.BASE_DIR, env=environment)  # noqa: S603
            self._children.append(child)

    def wait_until_ready(self, timeout_s: float = 60) -> bool:
        """Whether the web process answers within the time; False when a child has ended."""
        end = time.monotonic() + timeout_s
        while time.monotonic() < end and not self._stopping.is_set():
            if any(child.poll() is not None for child in self._children):
                return False
            try:
                address = f"http://{HOST}:{self.port}/healthz"
                with urllib.request.urlopen(address, timeout=2) as answer:
                    return bool(answer.status == 200)
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        return False

    def wait(self) -> int:
        """Until a signal comes (0) or a child ends by itself (1); then ends the others."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_args: self._stopping.set())
        try:
            while not self._stopping.wait(0.3):
                if any(child.poll() is not None for child in self._children):
                    return 1
            return 0
        finally:
            self.stop()

    def stop(self) -> None:
        """End the children: asked first, killed after five seconds."""
        self._stopping.set()
        for child in self._children:
            if child.poll() is None:
                child.terminate()
        end = time.monotonic() + STOP_S
        for child in self._children:
            try:
                child.wait(timeout=max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
