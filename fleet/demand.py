"""Pods that workload objects want and that are not there: the demand that no pod shows.

A suspended job has no pods; its demand lives in its template. A workload that runs has some, and
what it still waits for is wanted minus present: the pods that exist are counted by themselves, as
use or as waiting, and never a second time here. Only pods that ask for accelerators are looked at:
of others an inventory keeps no names.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fleet.inventory import Controller, Inventory, Pod, PodRole

_GONE = ("finished", "terminating", "orphaned")
"""Pods in these states stand for no wanted one: their controller makes another in their place."""

_AT_ITS_TIME = "CronJob"
"""Wants pods when its hour comes, not now: resuming it makes none before that."""

_Place = tuple[str, str, str]  # namespace, kind, name; two API groups may share all three


@dataclass(frozen=True, slots=True)
class Unborn:
    """What one workload wants beyond its pods. ``is_suspended``: somebody must resume it first;
    otherwise its pods are refused, or on their way."""

    controller: Controller
    pods: int
    requests: dict[str, int]  # accelerators of these pods
    cpu_milli: int
    memory_mib: int
    claim_devices: int  # GPU devices that they get through claim templates
    gpu_fraction: float | None  # boards that they ask for parts of; None: they state none
    roles: tuple[PodRole, ...]  # of the workload, those that ask for accelerators
    present: tuple[Pod, ...]  # pods of these roles that are there

    @property
    def is_suspended(self) -> bool:
        return self.controller.suspended


def unborn(inventory: Inventory) -> tuple[Unborn, ...]:
    """What each workload wants and has no pod for; workloads that have all their pods are left
    out, and so are those whose pods could never exist (``problems``)."""
    present: dict[_Place, list[Pod]] = defaultdict(list)
    for pod in inventory.pods:
        if pod.state not in _GONE and pod.wants_gpu:
            present[pod.namespace, pod.owner.kind, pod.owner.name].append(pod)
    return tuple(_unborn(inventory.controllers, present))


def _unborn(
    controllers: Iterable[Controller], present: dict[_Place, list[Pod]]
) -> Iterator[Unborn]:
    for controller in controllers:
        if controller.problems or controller.pods_wanted is None:
            continue
        if controller.kind == _AT_ITS_TIME:
            continue
        # Two objects may have one top; pods that the first one needs not are the second one's.
        top = controller.known_as
        pods = present.get((controller.namespace, top.kind, top.name), [])
        found = _missing(controller, pods)
        if found is not None:
            yield found


def _missing(controller: Controller, pods: list[Pod]) -> Unborn | None:
    """Wanted minus present. Takes the pods that it counted out of the list."""
    top = controller.known_as
    roles = [role for role in controller.roles if role.wants_gpu]
    wanted = sum(role.left for role in roles)
    mine = [pod for pod in pods if top.may_be(pod.owner)][:wanted]
    if mine:
        counted = set(map(id, mine))
        pods[:] = [pod for pod in pods if id(pod) not in counted]
    if wanted <= len(mine):
        return None
    requests: Counter[str] = Counter()
    cpu = memory = devices = 0
    for role in roles:
        left = role.left
        cpu += role.cpu_milli * left
        memory += role.memory_mib * left
        devices += role.claim_devices * left
        for name, amount in role.requests.items():
            requests[name] += amount * left
    for pod in mine:
        requests.subtract(pod.requests)
    return Unborn(
        controller=controller,
        pods=wanted - len(mine),
        requests={name: amount for name, amount in requests.items() if amount > 0},
        cpu_milli=max(0, cpu - sum(pod.cpu_milli for pod in mine)),
        memory_mib=max(0, memory - sum(pod.memory_mib for pod in mine)),
        claim_devices=max(0, devices - sum(pod.claim_devices for pod in mine)),
        gpu_fraction=_fraction(roles, mine),
        roles=tuple(roles),
        present=tuple(mine),
    )


def _fraction(roles: Iterable[PodRole], mine: Iterable[Pod]) -> float | None:
    parts = [role.gpu_fraction * role.left for role in roles if role.gpu_fraction is not None]
    there = sum(pod.gpu_fraction or 0 for pod in mine)
    return max(0.0, round(sum(parts) - there, 6)) if parts else None
