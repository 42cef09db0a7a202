"""What every kind of workload object comes down to: roles, each so many pods of one template."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fleet.kubernetes.objects_core import Condition, Metadata, PodSpec
from fleet.kubernetes.objects_workloads import JobStatus, PodTemplate

_FINISHED = ("Complete", "Failed", "Succeeded", "Completed")
# A count in an object may be anything; beyond this it is no pod count.
_MOST = 100_000


@dataclass(frozen=True, slots=True)
class Role:
    pods: int
    spec: PodSpec
    metadata: Metadata = field(default_factory=Metadata)
    done: int = 0  # of ``pods``: have succeeded and do not come again


@dataclass(frozen=True, slots=True)
class Shape:
    """``together``: pods of one gang, None when nobody can say; ``groups``: such gangs."""

    roles: tuple[Role, ...]
    together: int | None = 1
    groups: int = 1
    suspended: bool = False
    is_finished: bool = False
    scheduler: str = ""
    gang_system: str = ""
    minimum: int | None = None  # stated by the object itself
    progress_deadline_s: int | None = None
    queue: str = ""  # of Volcano


def count(number: int | None, default: int = 1) -> int:
    """A number of pods as an object states it, never negative and never absurd."""
    return min(max(0, default if number is None else number), _MOST)


def role(pods: int, template: PodTemplate, done: int = 0) -> Role:
    """So many pods of that template, of which ``done`` have succeeded."""
    return Role(pods, template.spec, template.metadata or Metadata(), min(max(0, done), pods))


def pods_of(roles: Iterable[Role]) -> int:
    """Pods of all roles."""
    return sum(role.pods for role in roles)


def is_done(status: JobStatus | None) -> bool:
    """Whether the conditions say that the job has ended, well or not."""
    return status is not None and _ended(status.conditions)


def _ended(conditions: Iterable[Condition] | None) -> bool:
    return any(c.type in _FINISHED and c.status == "True" for c in conditions or ())
