"""Dynamic Resource Allocation: is it served, is a GPU driver behind it, do claims find it?"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.catalogue.kubernetes_releases import maturity
from fleet.inventory import Node, Pod, ReadStatus, UnitKind
from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.subject import Subject
from fleet.readiness.wording import bounded, not_applicable, of_api_server, of_node, of_pod, unknown
from fleet.words import say, say_many

CHECK = "dra"
QUESTION = 1

_GROUP = "resource.k8s.io"
_SLICES = "resourceslices.resource.k8s.io"
_CLAIMS = "resourceclaims.resource.k8s.io"
_CLASSES = "deviceclasses.resource.k8s.io"
_SOURCE = "KEP-4381; kubernetes/api resource/v1"


def check(subject: Subject) -> Iterator[Finding]:
    both = [node for node in subject.gpu_nodes if _plugin_and_dra(node)]
    if both:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            say_many(
                "{n} node offers GPUs through the device plugin and through DRA",
                "{n} nodes offer GPUs through the device plugin and through DRA",
                len(both),
            ),
            say("The same boards can be handed out twice."),
            bounded(
                [
                    of_node(n, "status.allocatable", say("nvidia.com/gpu and ResourceSlices"))
                    for n in both
                ]
            ),
            say(
                "Switch one of the two off on these nodes: in the chart of the NVIDIA DRA driver, "
                "gpuResourcesEnabledOverride: false leaves GPUs to the device plugin."
            ),
            source=_SOURCE,
        )
    inventory = subject.inventory
    partial = [node for node in subject.gpu_nodes if any(g.incomplete for g in node.groups)]
    if partial and not inventory.uncounted:
        yield _incomplete(partial)
    hidden = [node for node in subject.gpu_nodes if any(g.use_unknown for g in node.groups)]
    if hidden:
        yield _use_unknown(subject, hidden)
    missing = _missing_classes(subject)
    if missing:
        yield _no_class(missing)
    if inventory.uncounted:
        title = say("GPUs offered through DRA are not counted")
        yield unknown(CHECK, QUESTION, title, _SLICES, inventory.read(_SLICES))
    else:
        yield _state(subject)


def _use_unknown(subject: Subject, nodes: list[Node]) -> Finding:
    title = say_many(
        "Who holds the DRA devices of {n} node is unknown",
        "Who holds the DRA devices of {n} nodes is unknown",
        len(nodes),
    )
    if not subject.was_read(_CLAIMS):
        return unknown(CHECK, QUESTION, title, _CLAIMS, subject.inventory.read(_CLAIMS))
    return Finding(
        CHECK,
        QUESTION,
        Verdict.UNKNOWN,
        title,
        say("ResourceClaims that were not read may hold them: none of them counts as free."),
        bounded(
            [
                of_node(n, "ResourceClaim", g.use_unknown)
                for n in nodes
                for g in n.groups
                if g.use_unknown
            ]
        ),
        say(
            "A claim that was made while the cluster was read is there at the next reading. In "
            "files, export resourceclaims of all namespaces at the same time as pods."
        ),
        source=_SOURCE,
    )


def _incomplete(nodes: list[Node]) -> Finding:
    return Finding(
        CHECK,
        QUESTION,
        Verdict.WARN,
        say_many(
            "{n} node has a DRA pool that is incomplete",
            "{n} nodes have DRA pools that are incomplete",
            len(nodes),
        ),
        say(
            "Slices of the pool's newest generation are missing: the scheduler takes nothing from "
            "it, and its devices are not counted here."
        ),
        bounded(
            [
                of_node(n, "ResourceSlice.spec.pool", reason)
                for n in nodes
                for g in n.groups
                for reason in g.incomplete
            ]
        ),
        say(
            "A pool is incomplete for seconds while its driver publishes it anew. If it stays so, "
            "read the log of the driver's pod on the node."
        ),
        source=_SOURCE,
    )


def _missing_classes(subject: Subject) -> list[tuple[Pod, str]]:
    """Pods that wait, with a DeviceClass that their claims ask and that is not there."""
    if not subject.was_read(_CLASSES) or not subject.inventory.device_classes:
        return []  # unknown, or none at all: another finding
    known = {item.name for item in subject.inventory.device_classes}
    return [
        (pod, name)
        for pod in subject.work_pods
        if not pod.node
        for name in pod.claim_classes
        if name not in known
    ]


def _no_class(missing: list[tuple[Pod, str]]) -> Finding:
    return Finding(
        CHECK,
        QUESTION,
        Verdict.FAIL,
        say_many(
            "{n} pod claims devices of a class that does not exist",
            "{n} pods claim devices of a class that does not exist",
            len({(pod.namespace, pod.name) for pod, _ in missing}),
        ),
        say("Such a claim is never allocated, and its pod never scheduled."),
        bounded([of_pod(pod, "spec.resourceClaims", f"deviceClassName {n}") for pod, n in missing]),
        say("Correct deviceClassName in the claim or its template, or create the class:"),
        "kubectl get deviceclasses\n",
        source=_SOURCE,
    )


def _state(subject: Subject) -> Finding:
    inventory = subject.inventory
    claiming = [pod for pod in subject.work_pods if pod.claims]
    offering = [node for node in subject.gpu_nodes if _has_dra(node)]
    if offering:
        return Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            say("Dynamic Resource Allocation is in use"),
            say_many(
                "{n} node publish GPUs in ResourceSlices; {waits} for claims.",
                "{n} nodes publish GPUs in ResourceSlices; {waits} for claims.",
                len(offering),
                waits=say_many("{n} pod holds or waits", "{n} pods hold or wait", len(claiming)),
            )
            + _beta_words(subject),
            bounded([of_node(n, "ResourceSlice", _dra_names(n)) for n in offering]),
            source=_SOURCE,
        )
    for resource in (_SLICES, _CLASSES):
        if subject.status(resource) in (ReadStatus.FORBIDDEN, ReadStatus.FAILED):
            return unknown(
                CHECK,
                QUESTION,
                say("Dynamic Resource Allocation: in use?"),
                resource,
                inventory.read(resource),
            )
    served = _served(subject)
    if claiming and served is False:
        return Finding(
            CHECK,
            QUESTION,
            Verdict.FAIL,
            say_many(
                "{n} pod claims devices from an API that is not served",
                "{n} pods claim devices from an API that is not served",
                len(claiming),
            ),
            say(
                "Pods name ResourceClaims, but the API server does not serve resource.k8s.io: they "
                "can never be scheduled."
            ),
            bounded([of_pod(p, "spec.resourceClaims", ", ".join(p.claims)) for p in claiming]),
            say(
                "Upgrade to 1.34 or later, where DRA is on by default, or ask for nvidia.com/gpu "
                "instead of a claim."
            ),
            source=_SOURCE,
        )
    if claiming and subject.was_read(_CLASSES) and not inventory.device_classes:
        return Finding(
            CHECK,
            QUESTION,
            Verdict.FAIL,
            say_many(
                "{n} pod claims devices and no DeviceClass exists",
                "{n} pods claim devices and no DeviceClass exists",
                len(claiming),
            ),
            say("Without a class no claim can be allocated."),
            bounded([of_pod(p, "spec.resourceClaims", ", ".join(p.claims)) for p in claiming]),
            say("Install the DRA driver of the GPU vendor: its chart brings the DeviceClasses."),
            source=_SOURCE,
        )
    if served is False:
        return not_applicable(
            CHECK,
            QUESTION,
            say("Dynamic Resource Allocation is not served"),
            say("Device plugins hand out the GPUs.") + _maturity_words(subject),
        )
    if served is None:
        return unknown(
            CHECK,
            QUESTION,
            say("Dynamic Resource Allocation: in use?"),
            _SLICES,
            inventory.read(_SLICES),
        )
    return Finding(
        CHECK,
        QUESTION,
        Verdict.WARN,
        say("Dynamic Resource Allocation is served, no GPU driver uses it"),
        say(
            "Device plugins hand out the GPUs. That works; claims, partitions on demand and NVLink "
            "domains need a DRA driver."
        )
        + _beta_words(subject),
        (of_api_server(f"/apis/{_GROUP}", say("served, no ResourceSlice with a GPU")),),
        say(
            "To use it, install the vendor's DRA driver on a few nodes first, never beside the "
            "device plugin on one node."
        ),
        source=_SOURCE,
    )


def _served(subject: Subject) -> bool | None:
    """Whether resource.k8s.io is served; None when that was not read."""
    apis = subject.inventory.apis
    if apis is not None:
        return any(name.startswith(f"{_GROUP}/") for name in apis)
    states = {subject.status(_SLICES), subject.status(_CLASSES)}
    if ReadStatus.READ in states:
        return True
    return False if ReadStatus.NOT_SERVED in states else None


def _beta_words(subject: Subject) -> str:
    apis = subject.inventory.apis
    if apis is None or f"{_GROUP}/v1" in apis:
        return ""
    return " " + say("Only beta versions of the API are served; v1 comes with 1.34.")


def _maturity_words(subject: Subject) -> str:
    minor = subject.inventory.version.minor
    found = maturity("DynamicResourceAllocation", minor) if minor is not None else None
    if found is None:
        return ""
    return " " + say("In 1.{minor} it is {words}.", minor=minor, words=found.words)


def _has_dra(node: Node) -> bool:
    return any(u.kind is UnitKind.DRA and u.capacity > 0 for g in node.groups for u in g.units)


def _plugin_and_dra(node: Node) -> bool:
    plugin = any(
        u.kind in (UnitKind.WHOLE, UnitKind.MIG, UnitKind.SHARE, UnitKind.VGPU)
        and u.allocatable > 0
        for g in node.groups
        for u in g.units
    )
    return plugin and _has_dra(node)


def _dra_names(node: Node) -> str:
    return ", ".join(
        f"{u.capacity} × {u.resource}"
        for g in node.groups
        for u in g.units
        if u.kind is UnitKind.DRA
    )
