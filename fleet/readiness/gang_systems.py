"""Which gang scheduling machinery a cluster has: what its API serves and what its objects use."""

from __future__ import annotations

from fleet.inventory import ReadStatus
from fleet.readiness.subject import Subject

RESOURCES: dict[str, tuple[str, ...]] = {
    "kueue": ("clusterqueues.kueue.x-k8s.io", "localqueues.kueue.x-k8s.io"),
    "volcano": ("podgroups.scheduling.volcano.sh", "queues.scheduling.volcano.sh"),
    "kai": ("podgroups.scheduling.run.ai",),
    "coscheduling": ("podgroups.scheduling.x-k8s.io",),
    "native": ("podgroups.scheduling.k8s.io",),
}
"""What shows each system, in the order in which a remedy prefers them."""

_API_GROUPS = {
    "kueue": "kueue.x-k8s.io/",
    "volcano": "scheduling.volcano.sh/",
    "kai": "scheduling.run.ai/",
    "coscheduling": "scheduling.x-k8s.io/",
}


def installed(subject: Subject) -> tuple[str, ...]:
    """Systems whose API is served or whose objects exist, best remedy first."""
    return tuple(name for name in RESOURCES if _is_installed(subject, name))


def _is_installed(subject: Subject, system: str) -> bool:
    if system in subject.gang_systems_in_use:
        return True
    apis = subject.inventory.apis
    if apis is not None:
        if system == "native":  # the group always exists, by PriorityClass
            return any(
                name.startswith("scheduling.k8s.io/") and "podgroups" in served
                for name, served in apis.items()
            )
        return any(name.startswith(_API_GROUPS[system]) for name in apis)
    return any(subject.was_read(resource) for resource in RESOURCES[system])


def unreadable(subject: Subject) -> str:
    """A resource that might show a system and could not be read; "" when there is none."""
    hidden: set[ReadStatus | None] = {ReadStatus.FORBIDDEN, ReadStatus.FAILED}
    if subject.inventory.apis is None:
        hidden |= {ReadStatus.NOT_IN_FILE, None}
    for resources in RESOURCES.values():
        for resource in resources:
            if subject.status(resource) in hidden:
                return resource
    return ""


def native_is_alpha(subject: Subject) -> bool:
    """Whether the native PodGroup API is served in an alpha version only."""
    versions = {
        o.api_version.rpartition("/")[2]
        for o in subject.inventory.gang_objects
        if o.api_version.startswith("scheduling.k8s.io/") and o.kind in ("PodGroup", "Workload")
    }
    versions |= {
        name.rpartition("/")[2]
        for name, served in (subject.inventory.apis or {}).items()
        if name.startswith("scheduling.k8s.io/") and "podgroups" in served
    }
    return bool(versions) and all("alpha" in version for version in versions)
