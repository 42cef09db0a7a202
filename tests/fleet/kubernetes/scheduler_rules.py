"""The scheduler's arithmetic, written down a second time straight from its rule text.

An oracle for tests: it works on objects as JSON holds them, reads quantities in its own way and
shares nothing with the code that it judges. Sources: k8s.io/component-helpers v0.36.3 and v0.37.2,
resource/helpers.go (PodRequests, AggregateContainerRequests); k8s.io/kubernetes
pkg/apis/core/v1/defaults.go (SetDefaults_Pod, defaultPodRequests).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from fractions import Fraction
from typing import Any

Json = dict[str, Any]
Sums = dict[str, Fraction]

_POWERS = "kMGTPE"


def quantity(text: object) -> Fraction:
    """A quantity in base units: "1", 1, "1000m", "1e3", "1Ki"."""
    written = str(text)
    if written.endswith("i"):
        return Fraction(written[:-2]) * 1024 ** (_POWERS.upper().index(written[-2]) + 1)
    if written[-1] in _POWERS:
        return Fraction(written[:-1]) * 1000 ** (_POWERS.index(written[-1]) + 1)
    if written[-1] in "mun":
        return Fraction(written[:-1]) / 1000 ** ("mun".index(written[-1]) + 1)
    return Fraction(written)


def amounts(listed: Json | None) -> Sums:
    return {name: quantity(text) for name, text in (listed or {}).items()}


def add(total: Sums, more: Sums) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, Fraction(0)) + amount


def largest(*several: Sums) -> Sums:
    found: Sums = {}
    for one in several:
        for name, amount in one.items():
            if name not in found or amount > found[name]:
                found[name] = amount
    return found


def of_pod_level(name: str) -> bool:
    return name in ("cpu", "memory") or name.startswith("hugepages-")


def defaulted(pod: Json) -> Json:
    """The pod as the API server stores it: limits stand for missing requests."""
    pod = copy.deepcopy(pod)
    spec = pod["spec"]
    for container in (*spec.get("containers", ()), *spec.get("initContainers", ())):
        resources = container.setdefault("resources", {})
        resources["requests"] = {**resources.get("limits", {}), **resources.get("requests", {})}
    whole = spec.get("resources")
    if whole and whole.get("limits"):
        asked = dict(whole.get("requests") or {})
        for name, amount in _sum_of_containers(pod, _spec).items():
            if name in ("cpu", "memory"):  # those that may be overcommitted
                asked.setdefault(name, str(float(amount)))
        for name, limit in whole["limits"].items():
            if of_pod_level(name):
                asked.setdefault(name, limit)
        whole["requests"] = asked
    return pod


def pod_requests(pod: Json, minor: int) -> Sums:
    """What the scheduler of 1.36 or 1.37 takes from a node for a pod that the server stored."""
    spec, status = pod["spec"], pod.get("status", {})
    if minor >= 37:
        reqs = _by_sums(pod)
    else:
        reqs = _sum_of_containers(pod, _largest_of_one)
        for claim in status.get("nodeAllocatableResourceClaimStatuses", ()):
            add(reqs, amounts(claim.get("resources")))
    asked = amounts(spec.get("resources", {}).get("requests"))
    if any(map(of_pod_level, asked)):
        effective = asked
        if status.get("resources") is not None:
            given = amounts(status["resources"].get("requests"))
            allotted = amounts(status.get("allocatedResources"))
            effective = largest({} if infeasible(pod) else asked, given, allotted)
        for name in asked:
            if of_pod_level(name):
                reqs[name] = effective.get(name, Fraction(0))
    add(reqs, amounts(spec.get("overhead")))
    return reqs


def infeasible(pod: Json) -> bool:
    for condition in pod.get("status", {}).get("conditions", ()):
        if condition["type"] == "PodResizePending":
            return bool(condition["reason"] == "Infeasible")
    return False


def _by_sums(pod: Json) -> Sums:
    """1.37: the largest of three sums."""
    claims: Sums = {}
    for claim in pod.get("status", {}).get("nodeAllocatableResourceClaimStatuses", ()):
        for mapped in claim.get("mapping", ()):
            add(claims, {mapped["name"]: quantity(mapped["quantity"])})
        for more in claim.get("overhead", ()):
            each = quantity(more.get("perContainer", 0)) * len(claim.get("containers", ()))
            add(claims, {more["name"]: quantity(more.get("perPod", 0)) + each})
    asked = _sum_of_containers(pod, _spec)
    allotted = _sum_of_containers(pod, _allotted)
    given = _sum_of_containers(pod, _given)
    add(asked, claims)
    add(allotted, claims)
    return largest(given, allotted) if infeasible(pod) else largest(asked, given, allotted)


Of = Callable[[Json, Json, Json | None], Sums]


def _sum_of_containers(pod: Json, of: Of) -> Sums:
    spec, status = pod["spec"], pod.get("status", {})
    statuses = {
        s["name"]: s
        for s in (*status.get("containerStatuses", ()), *status.get("initContainerStatuses", ()))
    }
    result: Sums = {}
    for container in spec.get("containers", ()):
        add(result, of(pod, container, statuses.get(container["name"])))
    sidecars: Sums = {}
    peak: Sums = {}
    for container in spec.get("initContainers", ()):
        takes = of(pod, container, statuses.get(container["name"]))
        if container.get("restartPolicy") == "Always":
            add(result, takes)
            add(sidecars, takes)
            moment = dict(sidecars)
        else:
            moment = dict(takes)
            add(moment, sidecars)
        peak = largest(peak, moment)
    return largest(result, peak)


def _spec(_pod: Json, container: Json, _status: Json | None) -> Sums:
    return amounts(container["resources"].get("requests"))


def _allotted(pod: Json, container: Json, status: Json | None) -> Sums:
    if status is not None and status.get("allocatedResources") is not None:
        return amounts(status["allocatedResources"])
    return {} if infeasible(pod) else _spec(pod, container, status)


def _given(pod: Json, container: Json, status: Json | None) -> Sums:
    if status is not None and (status.get("resources") or {}).get("requests") is not None:
        return amounts(status["resources"]["requests"])
    return _allotted(pod, container, status)


def _largest_of_one(pod: Json, container: Json, status: Json | None) -> Sums:
    """1.36: the largest of three, container by container; ordinary init containers as asked."""
    asked = _spec(pod, container, status)
    ordinary = container in pod["spec"].get("initContainers", ()) and (
        container.get("restartPolicy") != "Always"
    )
    if ordinary or status is None or status.get("resources") is None:
        return asked
    given = amounts(status["resources"].get("requests"))
    allotted = amounts(status.get("allocatedResources"))
    return largest(given, allotted) if infeasible(pod) else largest(asked, given, allotted)
