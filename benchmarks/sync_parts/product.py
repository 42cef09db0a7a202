"""Our own sync, as a worker does it: the job of a cluster, from the queue into the database."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from benchmarks.sync_parts.measuring import Clock, access_from_stdin, peak_mib, told


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "planner.settings"
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    access = access_from_stdin()
    clusters, runner, models = _imported()
    team = models["Team"].objects.create(name="Bench", slug="bench")
    source = models["Cluster"].Source.KUBECONFIG
    cluster, job = clusters.create_live(
        team=team, name="big", source=source, access=access, by=None, sync_interval_s=0
    )
    phases = _timed_phases()
    idle_mib = peak_mib()
    clock = Clock()
    if not runner.run(job.pk):
        raise SystemExit("the job could not be claimed")
    found = clock.read()
    job.refresh_from_db()
    cluster.refresh_from_db()
    snapshot = cluster.current_snapshot
    if snapshot is None:
        raise SystemExit(f"the sync failed: {job.state} {job.error_code} {job.error_message}")
    told(
        **found,
        idle_mib=idle_mib,
        phases=phases,
        nodes=snapshot.nodes.count(),
        pods=snapshot.pods.count(),
        pods_read=snapshot.pod_count,
        value_bytes=len(bytes(snapshot.value)),
        problems=snapshot.problem_count,
        objects={r["resource"]: r["count"] for r in snapshot.reads if r["count"]},
    )


def _imported() -> tuple[Any, Any, dict[str, Any]]:
    from planner.accounts.models import Team
    from planner.inventory import clusters
    from planner.inventory.models import Cluster
    from planner.jobs import runner

    return clusters, runner, {"Team": Team, "Cluster": Cluster}


def _timed_phases() -> list[dict[str, Any]]:
    """Put a clock around each step of the sync; what they read, in the order of their ends."""
    from fleet.kubernetes import api, reader
    from fleet.readiness import report
    from planner.inventory import (
        bulk,
        history,
        serving_facts,
        snapshots,
        stored_figures,
        topology_facts,
    )
    from planner.inventory.models import NodeRow, Snapshot

    found: list[dict[str, Any]] = []
    steps: list[tuple[Any, str, str]] = [
        (api, "fetch", "fetch, decode and reduce"),
        (reader, "read", "inventory"),
        (report, "check", "readiness checks"),
        (stored_figures, "figures_of", "totals and figures by pool"),
        (topology_facts, "facts", "domains and slots"),
        (snapshots, "waiting_in", "where what waits would fit"),
        (Snapshot, "set_inventory", "encode the snapshot"),
        (NodeRow.objects, "bulk_create", "write node rows"),
        (serving_facts, "store", "model servers"),
        (bulk, "insert", "write whole nodes and pod rows"),
        (snapshots, "build", "build the snapshot, all in all"),
        (history, "prune", "prune old snapshots"),
    ]
    for owner, name, words in steps:
        _time(owner, name, words, found)
    return found


def _time(owner: Any, name: str, words: str, found: list[dict[str, Any]]) -> None:
    original: Callable[..., Any] = getattr(owner, name)
    line: dict[str, Any] = {"phase": words, "calls": 0, "wall_s": 0.0, "cpu_s": 0.0}

    def timed(*args: Any, **kwargs: Any) -> Any:
        clock = Clock()
        try:
            return original(*args, **kwargs)
        finally:
            read = clock.read()
            if line not in found:
                found.append(line)
            line["calls"] += 1
            line["wall_s"] += read["wall_s"]
            line["cpu_s"] += read["cpu_s"]
            line["peak_mib"] = read["peak_mib"]

    setattr(owner, name, timed)


if __name__ == "__main__":
    main()
