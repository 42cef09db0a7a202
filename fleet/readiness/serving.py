"""The model servers of a cluster, their serving containers, and how long they took to load.

Training pods are not judged by probes. Formulas: Kubernetes ``Probe``; the earliest kill is one
period before the usual formula, since the first probe runs at the end of the delay.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from fleet.inventory import ContainerProbes, Controller, Pod, ProbeTimes
from fleet.readiness.finding import Evidence
from fleet.readiness.subject import Subject
from fleet.readiness.wording import of_controller, of_pod
from fleet.words import say

SERVING_KINDS = frozenset(
    {"Deployment", "StatefulSet", "LeaderWorkerSet", "InferenceService", "RayService", "ReplicaSet"}
)
"""Owners whose GPU pods serve. Jobs of any kind train or run in batches."""


GENERATED_KINDS = frozenset({"InferenceService", "RayService"})
"""Owners whose operator writes the pod template: the pods are the truth, where there are any."""


@dataclass(frozen=True, slots=True)
class Server:
    """One model server: its object and one container that answers requests."""

    name: str  # "search/embed"
    object: str
    namespace: str
    short_name: str
    container: ContainerProbes
    loads: tuple[float, ...]  # measured seconds from start to ready, pods without a restart
    restarts: int  # most restarts of one pod
    controller: Controller | None

    @property
    def answers(self) -> bool:
        """Whether the container shows that it answers requests: by a port or a probe."""
        found = self.container
        return bool(found.ports or found.startup or found.readiness or found.liveness)

    @property
    def measured(self) -> float | None:
        """The 95th percentile of the measured loads (nearest rank); None without one."""
        if not self.loads:
            return None
        ranked = sorted(self.loads)
        return ranked[max(0, math.ceil(0.95 * len(ranked)) - 1)]

    def evidence(self, probe: str, value: str) -> Evidence:
        field = f"containers[{self.container.container}].{probe}"
        return Evidence(self.object, field, value)


def servers(subject: Subject) -> Iterator[Server]:
    """Every model server once: by its workload object, else by owner of the pods found."""
    for controller in subject.controllers:
        if controller.kind not in SERVING_KINDS:
            continue
        pods = subject.pods_of(controller)
        running = next((p.probes for p in pods if p.probes), ())
        # The operators of custom resources add probes when they make the pods.
        generated = controller.kind in GENERATED_KINDS and running
        probes = running if generated else controller.probes or running
        for container in serving_containers(probes):
            yield Server(
                name=f"{controller.namespace}/{controller.name}",
                object=of_controller(controller, "", "").object,
                namespace=controller.namespace,
                short_name=controller.name,
                container=container,
                loads=_loads(pods),
                restarts=max((p.restarts for p in pods), default=0),
                controller=controller,
            )
    seen: set[tuple[str, str, str]] = set()
    for pod in subject.orphan_pods():
        key = (pod.namespace, pod.owner.kind, pod.owner.name)
        if pod.owner.kind not in SERVING_KINDS or key in seen:
            continue
        seen.add(key)
        pods = subject.pods_by_owner[key]
        for container in serving_containers(pod.probes):
            yield Server(
                name=f"{pod.namespace}/{pod.owner.name}",
                object=of_pod(pod, "", "").object,
                namespace=pod.namespace,
                short_name=pod.owner.name,
                container=container,
                loads=_loads(pods),
                restarts=max((p.restarts for p in pods), default=0),
                controller=None,
            )


def serving_containers(probes: tuple[ContainerProbes, ...]) -> tuple[ContainerProbes, ...]:
    """The GPU containers that answer requests: those with a port or a probe, else all of them.

    A worker of a group without ports and probes answers its leader only."""
    gpu = tuple(dict.fromkeys(p for p in probes if p.wants_gpu))
    answering = tuple(p for p in gpu if p.ports or p.startup or p.readiness or p.liveness)
    return answering or gpu


def _loads(pods: tuple[Pod, ...]) -> tuple[float, ...]:
    return tuple(
        (pod.ready - pod.started).total_seconds()
        for pod in pods
        if pod.ready is not None
        and pod.started is not None
        and pod.restarts == 0
        and pod.ready >= pod.started
    )


def budget(probe: ProbeTimes) -> int:
    """Seconds that a probe allows by the documented formula: delay + threshold × period."""
    return probe.initial_delay_s + probe.failure_threshold * probe.period_s


def earliest_kill(probe: ProbeTimes) -> int:
    """Seconds after which the last counted failure can land: delay + (threshold - 1) × period."""
    return probe.initial_delay_s + max(0, probe.failure_threshold - 1) * probe.period_s


def probe_text(probe: ProbeTimes) -> str:
    """ "httpGet, delay 15 s, 30 × 10 s"."""
    if probe.initial_delay_s:
        return say(
            "{kind}, delay {delay} s, {threshold} × {period} s",
            kind=probe.kind,
            delay=probe.initial_delay_s,
            threshold=probe.failure_threshold,
            period=probe.period_s,
        )
    return say(
        "{kind}, {threshold} × {period} s",
        kind=probe.kind,
        threshold=probe.failure_threshold,
        period=probe.period_s,
    )
