"""From an inventory value to the rows of a snapshot: what pages browse, sort and filter.

Names and numbers come from a cluster and are hostile: texts lose what a database cannot hold
and are cut to their column, counts are cut to what an integer column holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from django.db.models import OuterRef, QuerySet, Subquery

from fleet import inventory as fi
from fleet.boards.asked import NOTHING_ASKED, Asked
from fleet.boards.states import NodeFigures, node_figures, node_squares
from planner.inventory.models import NodeRow, NodeValue, Snapshot
from planner.inventory.pod_facts import requests_of, reservations, stored_facts, units_of

LARGEST_COUNT = 2**31 - 1
MOST_SQUARES = 4000
SQUARE_LETTERS = {
    "requested": "r",
    "free": "f",
    "stranded": "s",
    "unschedulable": "u",
    "unknown": "x",
}


def storable(text: str, length: int | None = None) -> str:
    """``text`` as every database takes it: no NUL, no lone surrogate, at most ``length``."""
    clean = text
    if not text.isascii() or "\0" in text:
        clean = text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    return clean if length is None or len(clean) <= length else clean[: length - 1] + "…"


def storable_json(value: Any) -> Any:
    """``value`` with every text in it made storable."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(str(key)): storable_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable_json(item) for item in value]
    return value


def count(number: int | None) -> int | None:
    """A count as an integer column holds it; None stays unknown."""
    return None if number is None else min(max(number, 0), LARGEST_COUNT)


def node_rows(
    snapshot: Snapshot, nodes: tuple[fi.Node, ...], asked: Asked = NOTHING_ASKED
) -> Iterator[NodeRow]:
    """One row a node name. A second node of the same name is left to ``duplicates``.

    ``asked`` is what the workloads of the cluster ask for.
    """
    for name, node in _named(nodes):
        yield _node_row(snapshot, node, name, asked)


VALUE_COLUMNS = ("snapshot_id", "name", "value")


def value_rows(snapshot: Snapshot, nodes: tuple[fi.Node, ...]) -> Iterator[tuple[object, ...]]:
    """The whole of each node that has a row: the values of ``VALUE_COLUMNS``."""
    for name, node in _named(nodes):
        yield snapshot.pk, name, msgspec.msgpack.encode(node)


def _named(nodes: tuple[fi.Node, ...]) -> Iterator[tuple[str, fi.Node]]:
    """Nodes by the name that is stored, the first of each."""
    seen: set[str] = set()
    for node in nodes:
        name = storable(node.name, 253)
        if name not in seen:
            seen.add(name)
            yield name, node


def duplicates(nodes: tuple[fi.Node, ...]) -> list[str]:
    """One line for each node that shares its name with an earlier one."""
    seen: set[str] = set()
    lines = []
    for node in nodes:
        name = storable(node.name, 253)
        if name in seen:
            lines.append(f"node {name}: a second node of this name is left out of the table")
        seen.add(name)
    return lines


def _node_row(snapshot: Snapshot, node: fi.Node, name: str, asked: Asked) -> NodeRow:
    figures: NodeFigures = node_figures(node, asked)
    models = list(dict.fromkeys(group.model or "" for group in node.groups))
    labels = list(dict.fromkeys(g.model_label for g in node.groups if not g.model))
    return NodeRow(
        snapshot=snapshot,
        name=name,
        pool=storable(node.pool, 253),
        instance_type=storable(node.instance_type, 253),
        zone=storable(node.zone, 253),
        vendor=storable(node.groups[0].vendor if node.groups else "", 40),
        gpu_model=storable(" + ".join(filter(None, models)), 253),
        gpu_label=storable(" + ".join(filter(None, labels)), 253),
        sharing=storable(" + ".join(dict.fromkeys(g.sharing for g in node.groups)), 60),
        is_gpu_node=node.is_gpu_node,
        schedulable=node.schedulable,
        not_schedulable_reason=storable(node.not_schedulable_reason, 300),
        physical=count(figures.physical),
        allocatable=count(figures.schedulable),
        requested=count(figures.requested),
        free=count(figures.free),
        stranded=count(figures.stranded),
        unhealthy=count(figures.unhealthy),
        not_schedulable=count(figures.not_schedulable),
        partly_used=count(figures.unknown),
        stranded_cause=storable(figures.stranded_cause, 20),
        fragment=count(figures.fragment),
        usual_pod=count(figures.usual_pod),
        squares=_squares(node, figures, asked),
        topology={
            storable(level.name, 60): storable(level.value, 253)
            for level in node.topology
            if level.value is not None
        },
        problem_count=len(node.problems),
        physical_estimated=any(group.physical_estimated for group in node.groups),
        physical_source=storable(
            "; ".join(dict.fromkeys(filter(None, (g.physical_source for g in node.groups)))), 300
        ),
    )


def _squares(node: fi.Node, figures: NodeFigures, asked: Asked) -> str:
    # A node that claims a billion boards is not worth a billion letters.
    if figures.physical is None or figures.physical > MOST_SQUARES:
        return ""
    return "".join(SQUARE_LETTERS[state] for state in node_squares(node, asked))


POD_COLUMNS = (
    "snapshot_id",
    "node_name",
    "namespace",
    "name",
    "owner",
    "state",
    "gpu_units",
    "gpu_resource",
    "requests",
    "facts",
)


def pod_rows(snapshot: Snapshot, pods: tuple[fi.Pod, ...]) -> Iterator[tuple[object, ...]]:
    """One row a pod that the inventory keeps: the values of ``POD_COLUMNS``."""
    key, held_by = snapshot.pk, reservations(pods)
    for pod in pods:
        requests = requests_of(pod)
        units, resource = units_of(pod, requests)
        reservation = held_by.get(f"{pod.namespace}/{pod.name}", "") if held_by else ""
        facts = stored_facts(pod, reservation)
        yield (
            key,
            storable(pod.node, 253),
            storable(pod.namespace, 253),
            storable(pod.name, 253),
            storable(f"{pod.owner.kind} {pod.owner.name}".strip(), 300),
            storable(pod.state, 20),
            count(units) or 0,
            storable(resource, 253),
            {storable(name, 317): count(number) for name, number in requests.items()},
            storable_json(facts) if facts else facts,
        )


def node_value(row: NodeRow) -> fi.Node:
    """The whole node behind a row. One statement."""
    return _decoded(NodeValue.objects.get(snapshot=row.snapshot_id, name=row.name).value)


def with_nodes(rows: QuerySet[NodeRow]) -> list[tuple[NodeRow, fi.Node]]:
    """A few rows, each with its whole node. One statement for all of them."""
    whole = NodeValue.objects.filter(snapshot=OuterRef("snapshot"), name=OuterRef("name"))
    found = rows.annotate(encoded=Subquery(whole.values("value")))
    return [(row, _decoded(row.encoded)) for row in found]


def _decoded(value: bytes | memoryview) -> fi.Node:
    return msgspec.msgpack.decode(bytes(value), type=fi.Node)
