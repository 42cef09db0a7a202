"""What findings on declared workloads need of a cluster: its model servers with their probes, and
the models of its GPUs. They are stored beside the snapshot, since workloads are declared after a
sync, too, and decoding all of a large cluster takes seconds.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

import msgspec

from fleet.inventory import Inventory
from fleet.readiness.serving import Server, servers
from fleet.readiness.subject import Subject
from planner.inventory.models import ServingFacts, Snapshot


@dataclass(frozen=True, slots=True)
class Serving:
    """Of one snapshot."""

    servers: tuple[Server, ...]  # without their objects and measured loads
    models: tuple[str, ...]  # of the catalogue, sorted


def store(snapshot: Snapshot, inventory: Inventory) -> None:
    """Keep what ``inventory`` says with ``snapshot``, of which it is. One statement."""
    found = servers(Subject(inventory, date.min))  # servers are told without a date
    models = {group.model for node in inventory.nodes for group in node.groups if group.model}
    serving = Serving(
        tuple(replace(server, controller=None, loads=()) for server in found),
        tuple(sorted(models)),
    )
    value = zlib.compress(msgspec.msgpack.encode(serving))
    ServingFacts.objects.create(snapshot=snapshot, value=value)


def of_snapshots(snapshots: Iterable[int]) -> dict[int, Serving]:
    """By snapshot. One statement."""
    stored = ServingFacts.objects.filter(snapshot__in=snapshots).values_list("snapshot", "value")
    return {
        pk: msgspec.msgpack.decode(zlib.decompress(bytes(value)), type=Serving)
        for pk, value in stored
    }
