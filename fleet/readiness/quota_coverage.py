"""Is every namespace that uses GPUs limited in how many it may take?

A namespace without a quota may take every GPU of the cluster. Kueue's queues count as a limit too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from fleet.inventory import Pod, Quota
from fleet.readiness.finding import Evidence, Finding, Verdict
from fleet.readiness.pasting import yaml_text
from fleet.readiness.queues import KUEUE_LABEL, LocalQueue, local_queues
from fleet.readiness.quota_keys import (
    DEVICE_CLASS_PREFIX,
    DEVICE_CLASS_SUFFIX,
    Key,
    classify,
    resource_of,
)
from fleet.readiness.subject import Subject
from fleet.readiness.wording import (
    bounded,
    bounded_findings,
    listed,
    not_applicable,
    of_object,
    of_pod,
    requests_text,
    unknown,
)
from fleet.units import QuantityError, whole
from fleet.words import say, say_many

CHECK = "quota-coverage"
QUESTION = 3

OVERSOLD = 2
"""Quotas that add up to more than this many times the cluster limit nothing in practice."""

CLAIMS = "ResourceClaims"
"""Stands for devices asked through claims among the resources in demand."""

_SOURCE = "kubernetes pkg/quota/v1/evaluator/core/pods.go; KEP-4381"


def demand(subject: Subject) -> dict[str, dict[str, int]]:
    """Accelerators in demand by namespace and resource: of workload objects as a whole, and of
    pods without one. Claims count under ``CLAIMS``."""
    found: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for controller in subject.controllers:
        for resource, number in controller.total_requests.items():
            found[controller.namespace][resource] += number
    for pod in subject.orphan_pods():
        for resource, number in pod.requests.items():
            found[pod.namespace][resource] += number
    for pod in subject.work_pods:
        if pod.claims:
            found[pod.namespace][CLAIMS] += len(pod.claims)
    return {namespace: dict(wants) for namespace, wants in found.items()}


def check(subject: Subject) -> Iterator[Finding]:
    wants = demand(subject)
    yield from _beside_quotas(subject)
    if not wants:
        yield not_applicable(CHECK, QUESTION, say("No namespace asks for whole GPUs or claims"))
        return
    queues = local_queues(subject)
    resource = "resourcequotas"
    if not subject.was_read(resource):
        # A Kueue queue is a limit that we can see without the quotas.
        open_ones = sorted(set(wants) - set(queues))
        if open_ones:
            yield unknown(
                CHECK,
                QUESTION,
                say("Are the namespaces with GPU work limited?"),
                resource,
                subject.inventory.read(resource),
            )
        if len(open_ones) < len(wants):
            yield _pass(len(wants) - len(open_ones), len(wants))
        return
    by_namespace: dict[str, list[Quota]] = defaultdict(list)
    for quota in subject.inventory.quotas:
        by_namespace[quota.namespace].append(quota)
    findings = []
    good = 0
    for namespace in sorted(wants):
        finding = _judge(
            subject,
            namespace,
            wants[namespace],
            by_namespace[namespace],
            queues.get(namespace, ()),
        )
        if finding is None:
            good += 1
        else:
            findings.append(finding)
    yield from bounded_findings(findings, "namespace")
    if good:
        yield _pass(good, len(wants))
    yield from _oversold(subject)


def _pass(good: int, total: int) -> Finding:
    title = (
        say_many(
            "{n} namespace with GPU work: all limited",
            "{n} namespaces with GPU work: all limited",
            total,
        )
        if good == total
        else say_many(
            "{good} of {n} namespace with GPU work is limited",
            "{good} of {n} namespaces with GPU work are limited",
            total,
            good=good,
        )
    )
    return Finding(CHECK, QUESTION, Verdict.PASS, title, source=_SOURCE)


def _covered(resource: str, quota: Quota) -> bool:
    for key in quota.hard:
        if classify(key) is not Key.ENFORCED:
            continue
        if resource == CLAIMS:
            if key.endswith(DEVICE_CLASS_SUFFIX) or key.startswith(DEVICE_CLASS_PREFIX):
                return True
        elif resource_of(key) == resource:
            return True
    return False


def _judge(
    subject: Subject,
    namespace: str,
    wants: dict[str, int],
    quotas: list[Quota],
    queues: tuple[LocalQueue, ...],
) -> Finding | None:
    """The finding on one namespace, None when it is limited."""
    unscoped = [q for q in quotas if not q.scopes]
    missing = {
        resource
        for resource in wants
        if not any(_covered(resource, q) for q in unscoped)
        and not any(not q.nominal or resource in q.nominal for q in queues)
    }
    if not missing:
        return None
    scoped = {r for r in missing if any(_covered(r, q) for q in quotas if q.scopes)}
    text = requests_text({r: wants[r] for r in missing})
    evidence = [_demand_evidence(namespace, text)]
    evidence += [
        of_object(
            f"v1 ResourceQuota {namespace}/{q.name}", "spec.hard", ", ".join(sorted(q.hard)) or "{}"
        )
        for q in quotas
    ]
    if len(missing) == len(wants) and not scoped:
        verdict = Verdict.FAIL
        title = say("{namespace} may take every GPU", namespace=namespace)
        detail = say("It asks for {text}, and no quota limits that.", text=text)
        if quotas:
            detail = say("It asks for {text}, and none of its quotas names that.", text=text)
    elif scoped:
        verdict = Verdict.WARN
        title = say("{namespace} is limited for some pods only", namespace=namespace)
        detail = say(
            "The quota for {names} has a scope; other pods are free of it.",
            names=listed(sorted(scoped)),
        )
    else:
        verdict = Verdict.WARN
        title = say("{namespace} is limited for some kinds of GPU only", namespace=namespace)
        detail = say("No quota names {names}.", names=listed(sorted(missing)))
    return Finding(
        CHECK,
        QUESTION,
        verdict,
        title,
        detail,
        tuple(evidence[:6]),
        *_remedy(subject, namespace, missing, wants),
        source=_SOURCE,
    )


def _demand_evidence(namespace: str, text: str) -> Evidence:
    return of_object(f"v1 Namespace {namespace}", say("requests of its workloads"), text)


def _remedy(
    subject: Subject, namespace: str, missing: set[str], wants: dict[str, int]
) -> tuple[str, str]:
    lines = [
        "apiVersion: v1",
        "kind: ResourceQuota",
        "metadata:",
        "  name: gpus",
        f"  namespace: {yaml_text(namespace)}",
        "spec:",
        "  hard:",
    ]
    for resource in sorted(missing):
        if resource == CLAIMS:
            names = [c.name for c in subject.inventory.device_classes] or ["CLASS"]
            lines += [
                f'    {yaml_text(n + DEVICE_CLASS_SUFFIX)}: "{wants[resource]}"' for n in names[:4]
            ]
        else:
            lines.append(f'    {yaml_text("requests." + resource)}: "{wants[resource]}"')
    words = say("A quota of what it asks for today; choose the number that it may have:")
    queue_owners = sorted(local_queues(subject))
    if queue_owners:
        words = say(
            "This cluster runs Kueue: give the namespace a LocalQueue and its workloads the label "
            "{label}, or set a quota:",
            label=KUEUE_LABEL,
        )
    return words, "\n".join(lines) + "\n"


def _beside_quotas(subject: Subject) -> Iterator[Finding]:
    """Pods that take parts of boards by annotation: no quota key counts those."""
    found: dict[str, list[Pod]] = defaultdict(list)
    for pod in subject.work_pods:
        if pod.gpu_fraction is not None and not pod.requests and not pod.claims:
            found[pod.namespace].append(pod)
    for namespace, pods in sorted(found.items()):
        boards = sum(pod.gpu_fraction or 0 for pod in pods)
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            say("{namespace} takes parts of GPUs that no quota counts", namespace=namespace),
            say_many(
                "{n} pod asks by annotation for {boards} of a board in all; "
                "requests.nvidia.com/gpu does not see them.",
                "{n} pods ask by annotation for {boards} of a board in all; "
                "requests.nvidia.com/gpu does not see them.",
                len(pods),
                boards=f"{boards:g}",
            ),
            bounded(
                [
                    of_pod(p, say("annotation of the sharing system"), f"{p.gpu_fraction:g}")
                    for p in pods
                ]
            ),
            say("Limit the namespace in the sharing system's own queue."),
            source=_SOURCE,
        )


def _oversold(subject: Subject) -> Iterator[Finding]:
    sums: dict[str, int] = defaultdict(int)
    names: dict[str, list[str]] = defaultdict(list)
    for quota in subject.inventory.quotas:
        for key, value in quota.hard.items():
            if classify(key) is Key.ENFORCED and key.startswith("requests."):
                try:
                    sums[resource_of(key)] += whole(value)
                except QuantityError:
                    continue
                names[resource_of(key)].append(f"{quota.namespace}/{quota.name}")
    for resource, total in sorted(sums.items()):
        have = subject.offered.get(resource, 0)
        if have and total > OVERSOLD * have:
            yield Finding(
                CHECK,
                QUESTION,
                Verdict.WARN,
                say(
                    "Quotas promise {total} × {resource}; the cluster has {have}",
                    total=total,
                    resource=resource,
                    have=have,
                ),
                say(
                    "That is {times} times as many: the quotas will not decide who gets GPUs.",
                    times=f"{total / have:.1f}",
                ),
                tuple(
                    of_object(
                        f"v1 ResourceQuota {name}",
                        f"spec.hard[requests.{resource}]",
                        "",
                    )
                    for name in names[resource][:6]
                ),
                say(
                    "Lower them to at most {limit} times what there is, or share by Kueue with "
                    "borrowing.",
                    limit=OVERSOLD,
                ),
                source=_SOURCE,
            )
