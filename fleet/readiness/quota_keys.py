"""Is every GPU key of a ResourceQuota one that Kubernetes enforces?

Extended resources are limited only by ``requests.<name>``. Other spellings are accepted and
limit nothing: the tell-tale is a key in ``spec.hard`` without an entry in ``status.used``.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from enum import StrEnum

from fleet.inventory import Quota
from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.pasting import yaml_text
from fleet.readiness.subject import Subject
from fleet.readiness.wording import bounded_findings, not_applicable, of_object, unknown
from fleet.words import say, say_many

CHECK = "quota-keys"
QUESTION = 3

NOT_YET_COUNTED = timedelta(minutes=5)
"""A quota younger than this may have no ``used`` yet."""

DEVICE_CLASS_SUFFIX = ".deviceclass.resource.k8s.io/devices"
DEVICE_CLASS_PREFIX = "requests.deviceclass.resource.kubernetes.io/"

_LEGACY = "alpha.kubernetes.io/nvidia-gpu"
_SOURCE = "kubernetes pkg/quota/v1/evaluator/core/pods.go"


class Key(StrEnum):
    """What a key of ``spec.hard`` does to GPUs."""

    NONE = "none"  # not about GPUs
    ENFORCED = "enforced"
    BARE = "bare"  # nvidia.com/gpu
    LIMITS = "limits"  # limits.nvidia.com/gpu
    LEGACY = "legacy"  # alpha.kubernetes.io/nvidia-gpu


def classify(key: str) -> Key:
    """What Kubernetes does with one quota key."""
    if _LEGACY in key:
        return Key.LEGACY
    if key.endswith(DEVICE_CLASS_SUFFIX) or key.startswith(DEVICE_CLASS_PREFIX):
        return Key.ENFORCED
    if "/" not in key or key.startswith("count/") or _is_storage(key):
        return Key.NONE
    if key.startswith("requests."):
        return Key.ENFORCED
    if key.startswith("limits."):
        return Key.LIMITS
    return Key.BARE


def _is_storage(key: str) -> bool:
    return ".storageclass.storage.k8s.io/" in key


def resource_of(key: str) -> str:
    """The resource that a key speaks of, whatever its prefix: "nvidia.com/gpu"."""
    for prefix in ("requests.", "limits."):
        key = key.removeprefix(prefix)
    return key


def check(subject: Subject) -> Iterator[Finding]:
    resource = "resourcequotas"
    if not subject.was_read(resource):
        yield unknown(
            CHECK,
            QUESTION,
            say("Do the quota keys limit anything?"),
            resource,
            subject.inventory.read(resource),
        )
        return
    findings: list[Finding] = []
    good = 0
    for quota in subject.inventory.quotas:
        for key in quota.hard:
            kind = classify(key)
            if kind is Key.NONE:
                continue
            if kind is Key.ENFORCED:
                pending = _pending(subject, quota, key)
                if pending is None:
                    good += 1
                else:
                    findings.append(pending)
            else:
                findings.append(_dead(subject, quota, key, kind))
    yield from bounded_findings(findings, "key")
    if good:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            say_many("{n} GPU quota key enforced", "{n} GPU quota keys enforced", good)
            if findings
            else say("Every GPU key is enforced"),
            source=_SOURCE,
        )
    elif not findings:
        yield not_applicable(CHECK, QUESTION, say("No quota names a GPU"))


def _pending(subject: Subject, quota: Quota, key: str) -> Finding | None:
    """A right key that the quota controller has not counted; None when it has."""
    if key in quota.used:
        return None
    taken = subject.inventory.taken_at
    age = taken - quota.created if taken is not None and quota.created is not None else None
    fresh = age is None or age < NOT_YET_COUNTED
    name = f"{quota.namespace}/{quota.name}"
    if fresh and age is not None:
        title = say("{name}: {key} is not counted yet", name=name, key=key)
        why = say("The quota is new.")
    else:
        title = say("{name}: {key} is not counted", name=name, key=key)
        why = say("Nothing counts against it.")
    return Finding(
        CHECK,
        QUESTION,
        Verdict.WARN if fresh else Verdict.FAIL,
        title,
        say("The key stands in spec.hard and not in status.used.") + f" {why}",
        (of_object(_name(quota), f"spec.hard[{key}]", quota.hard[key]),),
        say("Look at the conditions of the quota and at the controller manager."),
        source=_SOURCE,
    )


def _dead(subject: Subject, quota: Quota, key: str, kind: Key) -> Finding:
    resource = resource_of(key)
    in_use = sum(
        pod.requests.get(resource, 0)
        for pod in subject.work_pods
        if pod.namespace == quota.namespace and pod.node
    )
    hard = quota.hard[key]
    use = (
        say(
            "{used} × {resource} are in use past a limit of {hard}.",
            used=in_use,
            resource=resource,
            hard=hard,
        )
        if in_use
        else ""
    )
    if kind is Key.LEGACY:
        detail = say("There is no such resource since Kubernetes 1.11.")
        resource = "nvidia.com/gpu"
    elif kind is Key.LIMITS:
        detail = say("Only HAMi reads this key; Kubernetes limits extended resources by requests.")
    else:
        detail = say("Kubernetes accepts the bare name and limits nothing by it.")
    return Finding(
        CHECK,
        QUESTION,
        Verdict.WARN if kind is Key.LIMITS else Verdict.FAIL,
        say(
            "{namespace}/{name}: {key} limits nothing",
            namespace=quota.namespace,
            name=quota.name,
            key=key,
        ),
        f"{detail} {use}".strip(),
        (
            of_object(_name(quota), f"spec.hard[{key}]", hard),
            of_object(_name(quota), f"status.used[{key}]", quota.used.get(key, say("no entry"))),
        ),
        say("Write the key with its prefix:"),
        f"spec:\n  hard:\n    {yaml_text('requests.' + resource)}: {yaml_text(hard)}\n",
        source=_SOURCE,
    )


def _name(quota: Quota) -> str:
    return f"v1 ResourceQuota {quota.namespace}/{quota.name}"
