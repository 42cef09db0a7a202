"""What the report says of where work fits now: each pod that waits, and each workload that is not
running whole.

"Now" means without preemption and without moving what runs. What is judged of a node stands in
``fleet.fits.node``. A pod that asks through ResourceClaims, or for a part of a board by KAI's
annotations, is judged by other schedulers' rules: ``None``, with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fleet.fits.ask import Ask, ask_of, with_flavor
from fleet.fits.cluster import Cluster, Fit, NodeClass
from fleet.fits.groups import Domain, Member
from fleet.fits.nominated import Asker, asker, priority_of
from fleet.inventory import Controller, Pod, PodRole, Quota
from fleet.inventory_report.gangs import required_level
from fleet.inventory_report.naming import by_unique_name
from fleet.inventory_report.queues import Queue, Queues, amount_of, flavors_of
from fleet.readiness.distributed import GROUP_INDEX, Distributed, distributed
from fleet.readiness.quota_keys import Key, classify, resource_of
from fleet.readiness.subject import Subject, wants_gpu

Report = dict[str, Any]

MOST_NODES = 50
"""Nodes and domains that are listed for one answer; counts beside them say how many there are."""

BY_CLAIM = "asks through ResourceClaims"
BY_ANNOTATION = "asks for a part of a board by annotation"
NO_NODES = "no node was read"
REFUSED = "the API server refuses its pods"


def fits_report(subject: Subject, queues: Queues) -> Report:
    """``pods`` and ``workloads``, both by namespace/name."""
    cluster = Cluster(subject.inventory)
    gangs = {(g.api_version, g.kind, g.name): g for g in distributed(subject)}
    return {
        "pods": {
            f"{pod.namespace}/{pod.name}": pod_fit(cluster, pod)
            for pod in subject.inventory.pods
            if pod.is_demand and wants_gpu(pod)
        },
        "workloads": _workloads(cluster, subject, queues, gangs),
    }


def pod_fit(cluster: Cluster, pod: Pod) -> Report:
    """Where one pod that waits could be bound now."""
    found: Report = {}
    if pod.gates:
        found["gates"] = list(pod.gates)  # nothing is bound before they are lifted
    if not cluster.inventory.nodes:
        return found | {"fits": None, "unknown": NO_NODES}
    if not pod.requests:
        unknown = BY_CLAIM if pod.claims or pod.claim_devices else BY_ANNOTATION
        return found | {"fits": None, "unknown": unknown}
    fit = cluster.fit(ask_of(pod), asker([pod], pod.priority))
    if (pod.claims or pod.claim_devices) and fit.nodes:
        return found | {"fits": None, "unknown": BY_CLAIM, "why_not": _why_not(fit.refused)}
    return found | _fit(fit)


def _fit(fit: Fit) -> Report:
    return {
        "fits": bool(fit.nodes),
        "nodes": list(fit.nodes[:MOST_NODES]),
        "node_count": len(fit.nodes),
        "why_not": _why_not(fit.refused),
    }


def _why_not(classes: Sequence[NodeClass]) -> list[Report]:
    return [
        {"reason": c.reason.value, "nodes": c.nodes, "examples": list(c.examples)}
        | ({"about": c.about} if c.about else {})
        | ({"most": c.most} if c.most is not None else {})
        | ({"nearest": c.nearest} if c.nearest else {})
        for c in classes
    ]


@dataclass(frozen=True, slots=True)
class _Work:
    """One workload with the groups that it still wants."""

    kind: str
    members: tuple[Member, ...]  # of one group, those that take devices
    others: tuple[Member, ...]  # of one group: a head or a leader without a device
    wanted: int  # groups that do not run whole
    running: int
    created: int  # of the wanted ones, those whose pods exist and wait
    halves: tuple[Pod, ...]  # that have a node, in groups that do not run whole
    level: str
    queue: Queue | None
    user: tuple[str, str, str]
    asker: Asker

    @property
    def needs(self) -> dict[str, int]:
        """What one group takes: devices by name, ``cpu`` in millicores, ``memory`` in MiB."""
        found: dict[str, int] = {}
        for member in (*self.members, *self.others):
            asked = member.asked
            for name, number in (
                *asked.requests,
                ("cpu", asked.cpu_milli),
                ("memory", asked.memory_mib),
            ):
                if number:
                    found[name] = found.get(name, 0) + number * member.pods
        return found


def _workloads(
    cluster: Cluster,
    subject: Subject,
    queues: Queues,
    gangs: dict[tuple[str, str, str], Distributed],
) -> Report:
    found: list[tuple[str, str, Report]] = []
    for c in subject.controllers:
        name = f"{c.namespace}/{c.name}"
        fit = workload_fit(cluster, subject, queues, c, gangs.get((c.api_version, c.kind, name)))
        if fit is not None:
            found.append((name, c.kind, fit))
    for (_, kind, name), gang in gangs.items():
        if gang.controller is None and gang.bound < gang.needed:
            found.append((name, kind, gang_fit(cluster, subject, queues, gang)))
    return by_unique_name(found)


def workload_fit(
    cluster: Cluster,
    subject: Subject,
    queues: Queues,
    controller: Controller,
    gang: Distributed | None,
) -> Report | None:
    """Where the groups of one workload fit now that do not run whole; None when it wants none.
    ``gang``: the distributed workload that it is, if it is one."""
    if controller.problems:
        return {"kind": controller.kind, "fits": False, "unknown": REFUSED}
    if any(role.claims for role in controller.roles):
        return {"kind": controller.kind, "fits": None, "unknown": BY_CLAIM}
    if controller.roles and not any(role.requests for role in controller.roles):
        return {"kind": controller.kind, "fits": None, "unknown": BY_ANNOTATION}
    work = _of_controller(subject, controller, queues, gang)
    return _work_fit(cluster, subject, work) if work is not None else None


def gang_fit(cluster: Cluster, subject: Subject, queues: Queues, gang: Distributed) -> Report:
    """Where a gang fits now that is known by its pods only."""
    return _work_fit(cluster, subject, _of_pods(gang, queues))


def _of_controller(
    subject: Subject, controller: Controller, queues: Queues, gang: Distributed | None
) -> _Work | None:
    """None when all of it runs, or when it wants nothing.

    ``fits`` is about the pods that take devices. Whether there is any place for the others is
    said beside it: the nodes without GPUs may not have been exported.
    """
    groups = controller.groups
    roles = [role for role in controller.roles if role.pods]
    if not groups or not roles or controller.kind == "CronJob":
        return None
    members = tuple(_member(role, groups) for role in roles if role.requests)
    pods = subject.pods_of(controller)
    each = sum(_per_group(role, groups) for role in roles if role.requests)
    running, halves = _started(pods, max(1, each), groups)
    if running >= groups:
        return None
    waiting = sum(1 for pod in pods if not pod.node) + len(halves)
    return _Work(
        kind=controller.kind,
        members=members,
        others=tuple(_member(role, groups) for role in roles if not role.requests),
        wanted=groups - running,
        running=running,
        created=min(groups - running, waiting // max(1, each)),
        halves=halves,
        level=(required_level(gang) if gang is not None else None) or _own_level(controller),
        queue=queues.of(controller.namespace, controller.queue),
        user=(controller.namespace, controller.kind, controller.name),
        asker=asker(pods, _priority(subject, roles)),
    )


def _priority(subject: Subject, roles: Sequence[PodRole]) -> int:
    """Of the pods that take devices; where templates differ, the lowest."""
    classes = subject.inventory.priority_classes
    return min(
        (priority_of(role.priority_class, classes) for role in roles if role.requests), default=0
    )


def _own_level(controller: Controller) -> str:
    wishes = controller.preferred_topology_keys
    return next((key for key in controller.topology_keys if key not in wishes), "")


def _per_group(role: PodRole, groups: int) -> int:
    return -(-role.pods // groups)


def _member(role: PodRole, groups: int) -> Member:
    return Member(ask_of(role), _per_group(role, groups))


def _started(pods: Sequence[Pod], each: int, groups: int) -> tuple[int, tuple[Pod, ...]]:
    """Groups of which every GPU pod has a node, and the pods with a node of the other groups."""
    bound: dict[str, list[Pod]] = {}
    for pod in sorted(pods, key=lambda pod: pod.name):
        if pod.node:
            bound.setdefault(pod.labels.get(GROUP_INDEX, ""), []).append(pod)
    running = min(groups, sum(len(found) // each for found in bound.values()))
    rest = (found[len(found) - len(found) % each :] for found in bound.values())
    return running, tuple(pod for found in rest for pod in found)


def _of_pods(gang: Distributed, queues: Queues) -> _Work:
    """A gang known by its pods only: those that wait, and those that do not exist yet."""
    counts: dict[Ask, int] = {}
    for pod in gang.pods:
        if not pod.node:
            counts[ask_of(pod)] = counts.get(ask_of(pod), 0) + 1
    missing = gang.needed - len(gang.pods)
    if missing > 0:
        usual = max(counts, key=lambda a: counts[a], default=ask_of(gang.pods[0]))
        counts[usual] = counts.get(usual, 0) + missing
    return _Work(
        kind=gang.kind,
        members=tuple(Member(a, number) for a, number in counts.items() if a.requests),
        others=tuple(Member(a, number) for a, number in counts.items() if not a.requests),
        wanted=1,
        running=0,
        created=int(missing <= 0),
        halves=tuple(pod for pod in gang.pods if pod.node),
        level=required_level(gang) or "",
        queue=queues.of(gang.namespace, gang.queue),
        user=(gang.namespace, gang.kind, gang.name.partition("/")[2]),
        asker=asker(gang.pods, min(pod.priority for pod in gang.pods)),
    )


def _work_fit(cluster: Cluster, subject: Subject, work: _Work) -> Report:
    if not work.members:
        return {"kind": work.kind, "fits": None, "unknown": BY_CLAIM}
    queue = _queue_limit(work)
    forms = _form(subject, work, work.members)
    most = work.wanted
    by = work.asker
    room = cluster.groups(forms[0], key=work.level, most=most, otherwise=forms[1:], by=by)
    by_nodes = sum(domain.groups for domain in room)
    limits = [
        limit
        for limit in (queue, *_quota_limits(subject, work))
        if limit is not None and limit["groups"] < work.wanted
    ]
    fit = min(work.wanted, by_nodes, *(limit["groups"] for limit in limits))
    found: Report = {
        "kind": work.kind,
        "fits": fit >= work.wanted,
        "groups_wanted": work.wanted,
        "groups_running": work.running,
        "groups_fit": fit,
        "required_level": work.level or None,
        "domains": [_domain(domain, work) for domain in room[:MOST_NODES]],
        "domain_count": len(room),
        "limits": limits,
        "needs_per_group": work.needs,
        "why_not": [],
    }
    if not subject.inventory.nodes:
        found |= {"fits": None, "unknown": NO_NODES}
    if work.queue is not None:
        let_in = queue is None or queue["groups"] >= work.wanted
        found["queue"] = {"kind": work.queue.kind, "name": work.queue.name, "fits": let_in}
    if work.halves and fit < work.wanted:
        again = cluster.groups(
            forms[0], key=work.level, most=most, gone=work.halves, otherwise=forms[1:], by=by
        )
        groups = sum(domain.groups for domain in again)
        found["groups_fit_if_restarted"] = min(work.wanted, groups)
    if work.others:
        alone = [cluster.fit(other.asked, by) for other in _form(subject, work, work.others)[0]]
        found["other_pods_fit"] = all(fit.nodes for fit in alone)
    if by_nodes < work.wanted:
        largest = max(forms[0], key=lambda m: sum(n for _, n in m.asked.devices))
        one = cluster.fit(largest.asked, by)
        found["one_pod_fits_on"] = len(one.nodes)
        found["why_not"] = _why_not(one.refused)
    return found


def _domain(domain: Domain, work: _Work) -> Report:
    return {
        "domain": "/".join(domain.path) or None,
        "groups": min(domain.groups, work.wanted),
        "nodes": list(domain.nodes[:MOST_NODES]),
    }


def _form(subject: Subject, work: _Work, members: tuple[Member, ...]) -> list[tuple[Member, ...]]:
    """The pods as they will be: once for each flavor that Kueue may choose for them."""
    flavors = flavors_of(subject.inventory, work.queue) if work.queue is not None else []
    if not flavors:
        return [members]
    return [
        tuple(
            Member(with_flavor(m.asked, flavor.tolerations, _labels(flavor.details)), m.pods)
            for m in members
        )
        for flavor in flavors
    ]


def _labels(details: dict[str, str]) -> dict[str, str]:
    prefix = "nodeLabel:"
    return {k.removeprefix(prefix): v for k, v in details.items() if k.startswith(prefix)}


def _queue_limit(work: _Work) -> Report | None:
    """How many groups the queue lets in; None without a limit. A queue of a cohort may borrow."""
    queue = work.queue
    if queue is None or queue.cohort:
        return None
    left = queue.left_for(work.user)
    tight = _tightest(left, work.needs)
    if tight is None:
        return None
    resource, groups = tight
    return {
        "kind": queue.kind,
        "name": queue.name,
        "resource": resource,
        "needed_per_group": work.needs[resource],
        "left": left[resource],
        "groups": max(0, groups - work.running),
    }


def _tightest(left: dict[str, int], needs: dict[str, int]) -> tuple[str, int] | None:
    """The resource that allows the fewest groups, and how many."""
    allowed = [(left[r] // n, r) for r, n in sorted(needs.items()) if r in left and n]
    return (min(allowed)[1], min(allowed)[0]) if allowed else None


def _quota_limits(subject: Subject, work: _Work) -> list[Report]:
    """ResourceQuotas that do not let the missing pods be created. Pods that exist are charged."""
    found: list[Report] = []
    if work.created >= work.wanted:
        return found
    for quota in subject.inventory.quotas:
        if quota.namespace == work.user[0] and not quota.scopes:
            left = _left(quota)
            tight = _tightest(left, work.needs)
            if tight is not None:
                found.append(
                    {
                        "kind": "ResourceQuota",
                        "name": quota.name,
                        "resource": tight[0],
                        "needed_per_group": work.needs[tight[0]],
                        "left": left[tight[0]],
                        "groups": work.created + tight[1],
                    }
                )
    return found


def _left(quota: Quota) -> dict[str, int]:
    """What a quota leaves of devices, CPU and memory requests."""
    found: dict[str, int] = {}
    for key, text in quota.hard.items():
        resource = resource_of(key)
        plain = key in ("cpu", "memory", "requests.cpu", "requests.memory")
        if not plain and classify(key) is not Key.ENFORCED:
            continue
        hard = amount_of(resource, text)
        used = amount_of(resource, quota.used.get(key, "0"), up=True)
        if hard is not None and used is not None:
            found[resource] = min(max(0, hard - used), found.get(resource, hard))
    return found
