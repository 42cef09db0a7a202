"""What the report says of the probes of each workload that serves: the time to start, and when a
server is killed. Seconds from the start of the container, or from the end of a startup probe."""

from __future__ import annotations

from typing import Any

from fleet.inventory import ContainerProbes, Controller, Inventory
from fleet.inventory_report.naming import by_unique_name
from fleet.readiness.serving import SERVING_KINDS, budget, earliest_kill, serving_containers

Report = dict[str, Any]


def probes_report(inventory: Inventory) -> Report:
    """Workloads by namespace/name; those that neither ask for a GPU nor have a startup or
    liveness probe are left out."""
    return by_unique_name(
        (f"{c.namespace}/{c.name}", c.kind, _workload(containers))
        for c in inventory.controllers
        if c.kind in SERVING_KINDS and (containers := _judged(c))
    )


def _workload(containers: tuple[ContainerProbes, ...]) -> Report:
    rows = {c.container: container_times(c) for c in containers}
    # The container that is killed first decides what is said of the workload.
    first = min(containers, key=_first_kill)
    found = {"container": first.container, **rows[first.container]}
    return found | ({"containers": rows} if len(rows) > 1 else {})


def _judged(controller: Controller) -> tuple[ContainerProbes, ...]:
    """GPU containers that answer requests; without any, those that a probe can kill."""
    return serving_containers(controller.probes) or tuple(
        p for p in dict.fromkeys(controller.probes) if p.startup or p.liveness
    )


def _first_kill(probes: ContainerProbes) -> float:
    killer = probes.startup or probes.liveness
    return earliest_kill(killer) if killer is not None else float("inf")


def container_times(probes: ContainerProbes) -> Report:
    """Times of one container. While a startup probe runs, it alone kills; after it, and without
    one, the liveness probe does. ``nominal`` is the documented formula, delay + failures ×
    period; the first probe runs at the end of the delay, so that the last counted failure can
    come one period earlier: ``earliest``. A probe that times out adds up to its timeout."""
    killer = probes.startup or probes.liveness
    found: Report = {
        "startup_probe": probes.startup is not None,
        "readiness_probe": probes.readiness.kind if probes.readiness is not None else None,
    }
    if probes.startup is not None:
        found["startup_budget_nominal_s"] = budget(probes.startup)
        found["startup_budget_earliest_s"] = earliest_kill(probes.startup)
    if killer is not None:
        found["kill_nominal_s"] = budget(killer)
        found["kill_earliest_s"] = earliest_kill(killer)
        found["probe_timeout_s"] = killer.timeout_s
    if probes.liveness is not None:
        found["failures_to_restart"] = probes.liveness.failure_threshold
    return found
