"""What waits for GPUs: pods without a node, and pods that workload objects want and that nobody
has created. One line for those of one workload that wait for the same reason.

A large cluster may hold thousands of them. The largest are listed, the rest is counted; and of
those listed the first are judged: where they fit now, and why not elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cached_property
from typing import Any

from fleet.demand import Unborn, unborn
from fleet.fits.ask import Ask, ask_of
from fleet.fits.cluster import Cluster
from fleet.inventory import Controller, Inventory, Pod
from fleet.inventory_report.fits import REFUSED, gang_fit, pod_fit, workload_fit
from fleet.inventory_report.queues import Queues, queues_of
from fleet.inventory_totals import units_asked
from fleet.readiness.distributed import Distributed, distributed
from fleet.readiness.subject import Subject, wants_gpu

Report = dict[str, Any]

MOST_LINES = 200
MOST_JUDGED = 40

_PLACES = 3  # nodes that are named
_CLASSES = 4  # reasons that are kept; the rest is counted
_LONGEST = 300  # characters of one text in an answer


@dataclass(frozen=True, slots=True)
class Waiting:
    """Pods of one workload that wait for one reason.

    ``state``: "pending" and "gated" as of pods; "suspended" where somebody must resume the
    workload first, "missing" where its pods have not been created, "refused" where they cannot be.
    """

    namespace: str
    kind: str
    name: str
    state: str
    reason: str  # a fact in plain English, "" where the state says it all
    pods: int
    requests: dict[str, int]  # of all these pods, each resource in its own unit
    claim_devices: int = 0  # GPU devices that they ask for through ResourceClaims
    gpu_fraction: float | None = None  # boards that they ask for parts of, by annotation
    since: datetime | None = None  # when the first of them was created; None: unknown
    fit: Report | None = None  # as ``fits`` of the report says it, cut; None: not judged

    @property
    def devices(self) -> int:
        """Devices and shares whatever their kind: for the order, not a number of boards."""
        parts = 1 if self.gpu_fraction is not None else 0
        return max(parts, units_asked(self.requests) + self.claim_devices)


@dataclass(frozen=True, slots=True)
class WaitingList:
    """The largest of what waits, and how much more there is."""

    lines: tuple[Waiting, ...] = ()
    more: int = 0  # lines that are left out
    more_pods: int = 0  # their pods


_Key = tuple[str, str, str]  # namespace, kind, name


def waiting_in(inventory: Inventory) -> WaitingList:
    """What waits in a cluster, the most devices first."""
    subject = Subject(inventory, date.min)  # which day it is plays no part here
    found: list[tuple[Waiting, Pod | None]] = [
        *_pods(subject),
        *((_not_born(missing), None) for missing in unborn(inventory)),
        *(
            (_refused(controller), None)
            for controller in subject.controllers
            if controller.problems
        ),
    ]
    found.sort(key=lambda pair: _order(pair[0]))
    kept, rest = found[:MOST_LINES], found[MOST_LINES:]
    judge = _Judge(subject)
    lines = [
        replace(line, fit=_cut(judge.fit(line, pod))) if place < MOST_JUDGED else line
        for place, (line, pod) in enumerate(kept)
    ]
    return WaitingList(tuple(lines), len(rest), sum(line.pods for line, _ in rest))


def _order(line: Waiting) -> tuple[Any, ...]:
    since = line.since.timestamp() if line.since is not None else float("inf")
    return -line.devices, since, line.namespace, line.kind, line.name, line.state, line.reason


def _pods(subject: Subject) -> Iterator[tuple[Waiting, Pod]]:
    """Pods that wait, those of one owner, ask, state and reason together; with one of them."""
    found: dict[tuple[_Key, str, str, Ask], list[Pod]] = {}
    for pod in subject.inventory.pods:
        if pod.is_demand and wants_gpu(pod):
            owner = (pod.namespace, pod.owner.kind, pod.owner.name)
            key = (owner, pod.state, pod.state_reason, ask_of(pod))
            found.setdefault(key, []).append(pod)
    for (owner, state, reason, _), pods in found.items():
        yield _alike(owner, state, reason, pods), pods[0]


def _alike(owner: _Key, state: str, reason: str, pods: list[Pod]) -> Waiting:
    requests: Counter[str] = Counter()
    for pod in pods:
        requests.update(pod.requests)
    fractions = [pod.gpu_fraction for pod in pods if pod.gpu_fraction is not None]
    created = [pod.created for pod in pods if pod.created is not None]
    return Waiting(
        *owner,
        state=state,
        reason=reason,
        pods=len(pods),
        requests=dict(requests),
        claim_devices=_claimed(pods),
        gpu_fraction=round(sum(fractions), 6) if fractions else None,
        since=min(created, default=None),
    )


def _claimed(pods: Iterable[Pod]) -> int:
    """Devices through claims; a claim that several pods share counts once."""
    total, seen = 0, set()
    for pod in pods:
        counted = 0
        for name, devices in zip(pod.claims, pod.claim_counts, strict=False):
            counted += devices
            if name not in seen:
                seen.add(name)
                total += devices
        total += max(0, pod.claim_devices - counted)
    return total


def _not_born(missing: Unborn) -> Waiting:
    controller = missing.controller
    return Waiting(
        *_key(controller),
        state="suspended" if missing.is_suspended else "missing",
        reason="",
        pods=missing.pods,
        requests=missing.requests,
        claim_devices=missing.claim_devices,
        gpu_fraction=missing.gpu_fraction,
    )


def _refused(controller: Controller) -> Waiting:
    return Waiting(
        *_key(controller),
        state="refused",
        reason=f"{REFUSED}: {'; '.join(controller.problems)}"[:_LONGEST],
        pods=controller.pods_wanted or 0,
        requests=controller.total_requests,
    )


def _key(controller: Controller) -> _Key:
    return controller.namespace, controller.kind, controller.name


@dataclass(frozen=True)
class _Judge:
    """Where lines fit. What is costly to prepare is prepared when the first line asks for it."""

    subject: Subject
    _told: dict[_Key, Report | None] = field(default_factory=dict)

    @cached_property
    def cluster(self) -> Cluster:
        return Cluster(self.subject.inventory)

    @cached_property
    def controllers(self) -> dict[_Key, Controller]:
        return {_key(controller): controller for controller in self.subject.controllers}

    @cached_property
    def gangs(self) -> tuple[Distributed, ...]:
        return tuple(distributed(self.subject))

    @cached_property
    def by_controller(self) -> dict[_Key, Distributed]:
        return {_key(g.controller): g for g in self.gangs if g.controller is not None}

    @cached_property
    def by_pod(self) -> dict[tuple[str, str], Distributed]:
        """Gangs that are known by their pods only, by namespace and name of each pod."""
        found = (g for g in self.gangs if g.controller is None)
        return {(pod.namespace, pod.name): gang for gang in found for pod in gang.pods}

    def fit(self, line: Waiting, pod: Pod | None) -> Report | None:
        """The answer for the whole workload where there is one, else for one of the pods."""
        key = (line.namespace, line.kind, line.name)
        if key not in self._told:
            controller = self.controllers.get(key)
            self._told[key] = self._workload(controller) if controller is not None else None
        told = self._told[key]
        if told is not None or pod is None:
            return told
        gang = self.by_pod.get((pod.namespace, pod.name))
        if gang is not None and pod.requests:
            return gang_fit(self.cluster, self.subject, self._queues, gang)
        return pod_fit(self.cluster, pod)

    def _workload(self, controller: Controller) -> Report | None:
        gang = self.by_controller.get(_key(controller))
        return workload_fit(self.cluster, self.subject, self._queues, controller, gang)

    @cached_property
    def _queues(self) -> Queues:
        return queues_of(self.subject)


def _cut(fit: Report | None) -> Report | None:
    """What the words about an answer need, of bounded size."""
    if fit is None:
        return None
    found = {key: fit[key] for key in _KEPT if key in fit}
    nodes = fit.get("nodes") or [n for d in fit.get("domains", ()) for n in d["nodes"]]
    found["nodes"] = list(dict.fromkeys(nodes))[:_PLACES]
    found["limits"] = fit.get("limits", [])[:_PLACES]
    found["gates"] = [name[:_LONGEST] for name in fit.get("gates", [])[:_PLACES]]
    found["why_not"] = [
        {key: _short(value) for key, value in reason.items() if key != "examples"}
        for reason in fit.get("why_not", [])[:_CLASSES]
    ]
    found["other_reasons"] = max(0, len(fit.get("why_not", [])) - _CLASSES)
    return found


_KEPT = (
    "fits", "unknown", "node_count", "groups_wanted", "groups_running", "groups_fit",
    "groups_fit_if_restarted",
)  # fmt: skip


def _short(value: Any) -> Any:
    return value[:_LONGEST] if isinstance(value, str) else value
