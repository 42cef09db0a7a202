"""How a part tells what it found: one line of JSON on standard output."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

from fleet.kubernetes.kubeconfig import ClusterAccess

MIB = 2**20


def access_from_stdin() -> ClusterAccess:
    """The way into the cluster that the parent process sent."""
    given = json.load(sys.stdin)
    return ClusterAccess(server=given["server"], ca_pem=given["ca_pem"], token=given["token"])


def told(**found: Any) -> None:
    """Say what was found, as the last line."""
    print(json.dumps(found))


def measured_part(
    name: str, access: ClusterAccess, *arguments: str, env: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Run one part in a fresh interpreter. Its memory is its own, as it is for a worker."""
    given = {"server": access.server, "ca_pem": access.ca_pem, "token": access.token}
    done = subprocess.run(  # noqa: S603 (our own module)
        [sys.executable, "-m", f"benchmarks.sync_parts.{name}", *arguments],
        input=json.dumps(given),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, **(env or {})},
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


class Clock:
    """Wall and CPU seconds since it was made, and the largest memory so far."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def read(self) -> dict[str, float]:
        """wall_s, cpu_s, peak_mib (of the whole life of the process)."""
        return {
            "wall_s": time.perf_counter() - self._wall,
            "cpu_s": time.process_time() - self._cpu,
            "peak_mib": peak_mib(),
        }


def peak_mib() -> float:
    """The most memory that this process ever had, in MiB (Linux counts in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
