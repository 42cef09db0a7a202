"""Probe timings of containers, with the defaults of the API filled in."""

from __future__ import annotations

from collections.abc import Iterable

from fleet.device_names import accelerators_only
from fleet.inventory import ContainerProbes, ProbeTimes
from fleet.kubernetes.objects_core import Container, PodSpec, Probe
from fleet.kubernetes.requests import container_amounts

_PERIOD_S = 10
_TIMEOUT_S = 1
_FAILURES = 3


def _times(probe: Probe | None) -> ProbeTimes | None:
    if probe is None:
        return None
    kinds = ("httpGet", "tcpSocket", "grpc", "exec")
    return ProbeTimes(
        kind=next((k for k in kinds if getattr(probe, k) is not None), "unknown"),
        initial_delay_s=probe.initialDelaySeconds or 0,
        period_s=probe.periodSeconds or _PERIOD_S,
        failure_threshold=probe.failureThreshold or _FAILURES,
        timeout_s=probe.timeoutSeconds or _TIMEOUT_S,
    )


def _wants_gpu(container: Container) -> bool:
    resources = container.resources
    if resources is None:
        return False
    asked = {name: int(amount) for name, amount in container_amounts(resources, []).items()}
    return bool(accelerators_only(asked) or resources.claims)


def probes_of(spec: PodSpec) -> tuple[ContainerProbes, ...]:
    """Probes of the containers that run: the app's and the sidecars'."""
    sidecars = (c for c in spec.initContainers or () if c.restartPolicy == "Always")
    running: Iterable[Container] = (*(spec.containers or ()), *sidecars)
    return tuple(
        ContainerProbes(
            container=c.name,
            startup=_times(c.startupProbe),
            readiness=_times(c.readinessProbe),
            liveness=_times(c.livenessProbe),
            wants_gpu=_wants_gpu(c),
            ports=len(c.ports or ()),
        )
        for c in running
    )
