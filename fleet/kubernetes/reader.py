"""From raw objects to the inventory: the one place where all rules meet."""

from __future__ import annotations

from datetime import datetime

from fleet.inventory import (
    DeviceClass,
    Inventory,
    PriorityClass,
    Quota,
    ReadStatus,
)
from fleet.kubernetes.controllers import controllers_of
from fleet.kubernetes.dra import read_dra
from fleet.kubernetes.dra_demand import class_drivers
from fleet.kubernetes.dra_groups import attached_devices
from fleet.kubernetes.dra_unread import unknown_use, unread_slices
from fleet.kubernetes.dra_use import pods_with_claims
from fleet.kubernetes.gangs import gang_objects, minima_of
from fleet.kubernetes.gathered import NodeUse
from fleet.kubernetes.nodes import node_value
from fleet.kubernetes.objects import RawCluster, note
from fleet.kubernetes.objects_core import (
    NamespaceObject,
    NodeObject,
    PriorityClassObject,
    Quantities,
    QuotaObject,
)
from fleet.kubernetes.objects_dra import (
    DeviceClassObject,
    DeviceTaintRuleObject,
    ResourceClaimObject,
    ResourceSliceObject,
)
from fleet.kubernetes.placing import placed
from fleet.kubernetes.reservations import attributed
from fleet.kubernetes.times import time_of
from fleet.kubernetes.topology import Keys
from fleet.kubernetes.versions import provider_of, server_version


def read(raw: RawCluster, *, taken_at: datetime | None = None, levels: Keys = ()) -> Inventory:
    """The inventory of one cluster. Never raises on odd objects: they end in ``problems``.

    ``levels`` are the levels of topology that a person chose; without any, they are proposed.
    """
    problems = list(raw.problems)
    node_objects = raw.of(NodeObject, "nodes")
    use = raw.pods.use
    claims = raw.of(ResourceClaimObject, "resourceclaims.resource.k8s.io")
    slices = raw.of(ResourceSliceObject, "resourceslices.resource.k8s.io")
    dra = read_dra(
        slices,
        claims,
        nodes=node_objects,
        rules=raw.of(DeviceTaintRuleObject, "devicetaintrules.resource.k8s.io"),
        pods=pods_with_claims(raw.pods.pods) if raw.pods.total else None,
        unknown=unknown_use(raw),
        unread=(unread := unread_slices(raw)),
    )
    for line in dra.problems:
        note(problems, line)
    nodes = tuple(
        node_value(
            n,
            use.get(n.metadata.name, NodeUse()),
            dra.by_node.get(n.metadata.name, ()),
            others=dra.others.get(n.metadata.name),
            now=taken_at or raw.taken_at,
        )
        for n in node_objects
    )
    for node in nodes:
        for line in node.problems:
            note(problems, f"node {node.name}: {line}")
    gpu_nodes = {node.name for node in nodes if node.is_gpu_node}
    minima = minima_of(raw)
    kept = attributed(raw.pods.kept(gpu_nodes), nodes)
    if raw.pods.orphans and _is_read(raw, "nodes"):
        count = raw.pods.orphans
        note(
            problems,
            f"{count} {'pod is' if count == 1 else 'pods are'} bound to nodes that are not there",
        )
    version = server_version(raw.version, node_objects)
    found = Inventory(
        version=version,
        provider=provider_of(version.git_version, node_objects),
        apis=raw.apis,
        nodes=nodes,
        pods=kept,
        controllers=controllers_of(raw, minima),
        quotas=tuple(_quota(q) for q in raw.of(QuotaObject, "resourcequotas")),
        namespaces=_namespaces(raw),
        priority_classes=tuple(
            PriorityClass(
                name=p.metadata.name,
                value=p.value,
                preemption_policy=p.preemptionPolicy or "PreemptLowerPriority",
                is_default=bool(p.globalDefault),
            )
            for p in raw.of(PriorityClassObject, "priorityclasses.scheduling.k8s.io")
        ),
        device_classes=tuple(
            _device_class(c) for c in raw.of(DeviceClassObject, "deviceclasses.resource.k8s.io")
        ),
        gang_objects=gang_objects(raw),
        topology_keys=(),
        reads=raw.reads,
        problems=tuple(problems),
        taken_at=taken_at or raw.taken_at,
        other_pods=raw.pods.total - len(kept),
        attached=attached_devices(dra.attached),
        others_attached=dra.others_attached,
        uncounted=unread,
    )
    return placed(found, raw, levels)


def _is_read(raw: RawCluster, key: str) -> bool:
    """Whether that list was read, so that what is not in it is not there: a file of pods alone
    says nothing of nodes."""
    return any(read.resource == key and read.status is ReadStatus.READ for read in raw.reads)


def _namespaces(raw: RawCluster) -> tuple[str, ...]:
    listed = {item.metadata.name for item in raw.of(NamespaceObject, "namespaces")}
    if not listed:  # not in the file: those that anything lives in
        listed = set(raw.pods.namespaces)
        for items in raw.objects.values():
            listed |= {item.metadata.namespace for item in items}
    return tuple(sorted(name for name in listed if name))


def _quota(item: QuotaObject) -> Quota:
    spec, status = item.spec, item.status
    scopes = list((spec.scopes if spec else None) or ())
    selector = spec.scopeSelector if spec else None
    for expression in (selector.matchExpressions if selector else None) or ():
        values = ",".join(expression.values or ())
        scopes.append(f"{expression.scopeName} {expression.operator} {values}".strip()[:400])
    return Quota(
        namespace=item.metadata.namespace,
        name=item.metadata.name,
        hard=_as_written(spec.hard if spec else None),
        used=_as_written(status.used if status else None),
        scopes=tuple(scopes),
        created=time_of(item.metadata.creationTimestamp),
    )


def _as_written(quantities: Quantities | None) -> dict[str, str]:
    return {name[:317]: str(amount)[:64] for name, amount in (quantities or {}).items()}


def _device_class(item: DeviceClassObject) -> DeviceClass:
    return DeviceClass(
        name=item.metadata.name,
        extended_resource=(item.spec.extendedResourceName if item.spec else None) or "",
        drivers=class_drivers(item),
        created=time_of(item.metadata.creationTimestamp),
    )
