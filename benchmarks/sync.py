"""How long a sync takes, beside what it could cost at least and what a typed client costs.

    python -m benchmarks.sync [--nodes 5000] [--pods 150000] [--minor 1.37] [--rounds 1]

Starts a real etcd and kube-apiserver (``tests/cluster``), creates the nodes, the pods bound to
them and the workloads that own the pods (``benchmarks.big_cluster``), and reads the cluster with
a ServiceAccount that holds only the ClusterRole that we print. Each part is measured in a process
of its own, one after the other, on the same machine as the server: read the ratios rather than
the seconds. 5,000 nodes with 150,000 pods take about 10 minutes and 14 GB of memory.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.sync_parts.filling import fill_cluster
from benchmarks.sync_parts.measuring import measured_part
from fleet.kubernetes.kubeconfig import ClusterAccess
from tests.cluster.control_plane import ControlPlane
from tests.cluster.product import reader_token

TYPED_SAMPLE = 5_000
MOST_TIMES_FLOOR = 2.0
MOST_PEAK_MIB = 400
LEAST_TIMES_TYPED = 20
ETCD_BYTES = 8 * 2**30


def main() -> int:
    options = _options()
    with (
        ControlPlane(options.minor, quota_bytes=ETCD_BYTES) as plane,
        plane.client(timeout_s=300) as admin,
    ):
        fill_cluster(plane.admin, admin, options.pods, options.nodes, _say)
        access = plane.access(reader_token(admin))
        sample = min(TYPED_SAMPLE, options.pods)
        rounds: dict[str, list[dict[str, Any]]] = {"floor": [], "product": []}
        for number in range(options.rounds):
            _say(f"round {number + 1}: the floor")
            rounds["floor"].append(measured_part("floor", access))
            _say(f"round {number + 1}: our sync")
            rounds["product"].append(_product(access))
        _say(f"the typed client, {sample} pods")
        typed = measured_part("typed", access, str(sample))
    floor, ours = (_middle(rounds[name]) for name in ("floor", "product"))
    print("\n".join(_report(options, floor, ours, typed)))
    typed_wall = typed["wall_s"] * options.pods / typed["pods"]
    return 0 if all(is_met for _, _, is_met in _goals(floor, ours, typed_wall)) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--pods", type=int, default=150_000)
    parser.add_argument("--minor", default="1.37", help="of Kubernetes, as in tests/cluster")
    parser.add_argument("--rounds", type=int, default=1, help="the middle one counts")
    return parser.parse_args()


def _say(words: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {words}", file=sys.stderr, flush=True)


# measuring and telling


def _product(access: ClusterAccess) -> dict[str, Any]:
    """A sync into a fresh database, as a worker does it."""
    with tempfile.TemporaryDirectory() as folder:
        env = {
            "PLANNER_DATA_DIR": folder,
            "PLANNER_LOG_LEVEL": "ERROR",
            "PLANNER_ALLOW_LOOPBACK": "true",
            "PLANNER_DATABASE_URL": "",
        }
        env = {name: value for name, value in env.items() if value}
        return measured_part("product", access, env=env)


def _middle(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The round whose wall time is the middle one."""
    return sorted(found, key=lambda each: each["wall_s"])[len(found) // 2]


def _report(
    options: argparse.Namespace,
    floor: dict[str, Any],
    ours: dict[str, Any],
    typed: dict[str, Any],
) -> list[str]:
    scale = options.pods / typed["pods"]
    typed_cpu = typed["cpu_s"] * scale
    typed_wall = typed["wall_s"] * scale
    lines = [
        f"{time.strftime('%Y-%m-%d')}, {_machine()}, Python {platform.python_version()}, "
        f"Kubernetes {options.minor}",
        f"{options.nodes:,} nodes, {options.pods:,} pods; "
        f"{floor['plain_mib']:,.0f} MiB of JSON in {floor['pages']} pages, "
        f"{floor['wire_mib']:,.0f} MiB on the wire",
        "",
        "| reader | wall s | CPU s | peak MiB |",
        "|---|---:|---:|---:|",
        _row("floor: fetch the pages, scan the JSON once", floor),
        _row("our sync, stored as a snapshot", ours),
        f"| typed client {typed['version']}, {typed['pods']:,} pods | {typed['wall_s']:.1f} | "
        f"{typed['cpu_s']:.1f} | {typed['peak_mib']:.0f} |",
        f"| typed client, scaled to {options.pods:,} pods, nothing stored | {typed_wall:.0f} | "
        f"{typed_cpu:.0f} | |",
        "",
        "| goal | measured | met |",
        "|---|---:|---|",
        *(
            f"| {words} | {measured} | {'yes' if is_met else 'no'} |"
            for words, measured, is_met in _goals(floor, ours, typed_wall)
        ),
        "",
        "The typed client only reads pods; our sync reads everything else too, judges and stores. "
        f"Reading alone (first step below) takes {typed_cpu / _reading_cpu(ours):.1f} times less "
        f"processor time than the typed client. The server's own work is in every wall time: the "
        f"floor is {typed_wall / floor['wall_s']:.1f} times as fast as the typed client.",
        "",
        f"Rows written: {ours['nodes']:,} nodes, {ours['pods']:,} of {ours['pods_read']:,} pods "
        f"(the others count in the sums of their nodes); the packed snapshot has "
        f"{ours['value_bytes'] / 2**20:.1f} MiB; {ours['problems']} odd objects. The worker has "
        f"{ours['idle_mib']:.0f} MiB before it begins.",
        "",
        "| step of our sync | calls | wall s | CPU s | peak MiB so far |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {each['phase']} | {each['calls']} | {each['wall_s']:.1f} | {each['cpu_s']:.1f} | "
        f"{each['peak_mib']:.0f} |"
        for each in ours["phases"]
    ]
    return lines


def _reading_cpu(ours: dict[str, Any]) -> float:
    return float(
        next(step["cpu_s"] for step in ours["phases"] if step["phase"].startswith("fetch"))
    )


def _row(name: str, found: dict[str, Any]) -> str:
    return f"| {name} | {found['wall_s']:.1f} | {found['cpu_s']:.1f} | {found['peak_mib']:.0f} |"


def _goals(
    floor: dict[str, Any], ours: dict[str, Any], typed_wall: float
) -> list[tuple[str, str, bool]]:
    """Each goal in words, what was measured, and whether it is met."""
    times_floor = ours["wall_s"] / floor["wall_s"]
    times_typed = typed_wall / ours["wall_s"]
    peak = ours["peak_mib"]
    return [
        (
            f"wall time at most {MOST_TIMES_FLOOR:g} times the floor",
            f"{times_floor:.2f}",
            times_floor <= MOST_TIMES_FLOOR,
        ),
        (
            f"peak memory of the worker at most {MOST_PEAK_MIB} MiB",
            f"{peak:.0f}",
            peak <= MOST_PEAK_MIB,
        ),
        (
            f"at least {LEAST_TIMES_TYPED} times as fast as the typed client (wall)",
            f"{times_typed:.1f}",
            times_typed >= LEAST_TIMES_TYPED,
        ),
    ]


def _machine() -> str:
    cpu = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores ({cpu}), {memory:.0f} GiB"


if __name__ == "__main__":
    sys.exit(main())
