"""One node as its page shows it: what its devices are, who uses them, where it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from fleet import inventory as fi
from fleet.model_names import model_words
from fleet.other_accelerators import OtherAccelerators, other_accelerators
from fleet.tolerations import taint_text
from fleet.units import gib_text
from planner.inventory import stranded
from planner.inventory.models import Cluster, NodeRow, PodRow
from planner.inventory.pod_lines import pod_line
from planner.inventory.queries import node_list_url
from planner.inventory.rows import node_value
from planner.inventory.topology import domain_text, level_word

MOST_PODS = 500


@dataclass(frozen=True, slots=True)
class UnitLine:
    """One schedulable resource of a device group, in its own unit."""

    resource: str
    kind: str
    profile: str
    memory: str
    capacity: int | None  # None in all four: the node gives no number that can be read
    allocatable: int | None
    requested: int | None
    free: int | None


@dataclass(frozen=True, slots=True)
class GroupLine:
    """A device group with the place where each fact was read."""

    group: fi.DeviceGroup
    name: str
    memory: str
    units: list[UnitLine]


@dataclass(frozen=True, slots=True)
class OtherLine:
    """The accelerators of one maker that are no GPUs."""

    found: OtherAccelerators
    name: str
    units: list[UnitLine]


@dataclass(frozen=True, slots=True)
class Measure:
    """A node's CPU, memory or pod places: what can be had, what is asked for."""

    label: str
    allocatable: str
    requested: str
    free: str


def context(cluster: Cluster, row: NodeRow) -> dict[str, Any]:
    """What the page of a node shows. Two statements: the whole of it, and its pods."""
    node = node_value(row)
    pods = PodRow.objects.filter(snapshot=row.snapshot_id, node_name=row.name).order_by(
        "-gpu_units", "namespace", "name"
    )
    lines = [pod_line(pod) for pod in pods[:MOST_PODS]]
    return {
        "node": node,
        "groups": [_group(node, group) for group in node.groups],
        "others": [_other(node, found) for found in other_accelerators(node)],
        "measures": _measures(node),
        "taints": [taint_text(taint) for taint in node.taints],
        "levels": _levels(cluster, node),
        "has_zone_level": any(level.name == "zone" for level in node.topology),
        "pods": [line for line in lines if line.asks],
        "other_pods": [line for line in lines if not line.asks],
        # Kubernetes says 110 to 256 pods a node; beyond that a file may say anything.
        "hidden_pods": max(0, node.pods_count - MOST_PODS),
        "why_stranded": stranded.why(row, node),
        "why_fragment": stranded.why_fragment(row),
        "pool_url": node_list_url(cluster=cluster.name, pool=row.pool),
    }


def _levels(cluster: Cluster, node: fi.Node) -> list[tuple[str, fi.TopologyLevel, str]]:
    """Each level with its word and the address of the nodes that share it; no address where the
    node lacks the label."""
    levels = []
    names = [level.name for level in node.topology]
    path = [level.value for level in node.topology]
    for depth, level in enumerate(node.topology, start=1):
        url = ""
        if level.value is not None:
            url = node_list_url(cluster=cluster.name, domain=domain_text(names, path[:depth]))
        levels.append((level_word(level.name), level, url))
    return levels


def _group(node: fi.Node, group: fi.DeviceGroup) -> GroupLine:
    return GroupLine(
        group=group,
        name=_model(group),
        memory=gib_text(group.memory_mib, 0) if group.memory_mib is not None else "",
        units=[_unit(node, units) for units in group.units]
        + [
            UnitLine(name, _("unreadable"), "", "", None, None, None, None)
            for name in group.unreadable
        ],
    )


def _unit(node: fi.Node, units: fi.Units) -> UnitLine:
    return UnitLine(
        resource=units.resource,
        kind=str(units.kind),
        profile=units.profile or "",
        memory=gib_text(units.memory_mib) if units.memory_mib is not None else "",
        capacity=units.capacity,
        allocatable=units.allocatable,
        requested=units.requested,
        free=node.free_if_known(units),
    )


def _other(node: fi.Node, found: OtherAccelerators) -> OtherLine:
    return OtherLine(
        found=found,
        name=model_words(found.model, "", found.vendor),
        units=[_unit(node, units) for units in found.units],
    )


def _model(group: fi.DeviceGroup) -> str:
    if group.model or group.model_label:
        return model_words(group.model, group.model_label, group.vendor)
    return _("GPU of unknown model")


def _measures(node: fi.Node) -> list[Measure]:
    return [
        _measure(_("CPU"), node.cpu_allocatable, node.cpu_requested, lambda n: f"{n / 1000:g}"),
        _measure(_("Memory"), node.memory_allocatable_mib, node.memory_requested_mib, gib_text),
        _measure(_("Pods"), node.pods_allocatable, node.pods_count, str),
    ]


def _measure(label: str, allocatable: int, taken: int, text: Callable[[int], str]) -> Measure:
    return Measure(label, text(allocatable), text(taken), text(max(0, allocatable - taken)))
